"""A bare answer is read together with its question: a mention of the word elsewhere supports nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragauge.core.facts import AnswerFacts, JudgeFacts
from ragauge.judges.inputs import Inputs, VerifyAnswer

Put = Callable[[Inputs], JudgeFacts]

CASES = [
    (
        "Which town holds the regatta?",
        "Lindau",
        "The regatta is held by the town of Lindau.",
        "She bought her coat in Lindau. It was blue.",
    ),
    ("How many berths does the harbour have?", "36", "The harbour has 36 berths.", "Page 36 shows the crew at supper."),
    (
        "Who built the lighthouse?",
        "Nora Falk",
        "The lighthouse was built by Nora Falk in 1911.",
        "Nora Falk won the race by a minute. It rained.",
    ),
    (
        "Wann wurde die Brücke eröffnet?",
        "1887",
        "Die Brücke wurde 1887 eröffnet.",
        "Das Museum bekam 1887 Besuch vom König.",
    ),
    (
        "¿Quién dirige la escuela?",
        "Marta Ruiz",
        "La escuela la dirige Marta Ruiz desde 2019.",
        "Marta Ruiz ganó la carrera de ayer.",
    ),
    ("Qui a peint la fresque ?", "Luc Morel", "La fresque a été peinte par Luc Morel.", "Luc Morel habite à Lyon."),
]


def chance(put: Put, query: str, answer: str, *passages: str) -> float:
    """The probability of the one claim of an answer."""
    facts = put(VerifyAnswer(query, passages, answer))
    assert isinstance(facts, AnswerFacts)
    (claim,) = facts.claims
    assert claim.p is not None
    assert bool(claim.supporting) == (claim.p >= 0.5)
    return claim.p


@pytest.mark.parametrize(("query", "answer", "right", "mention"), CASES)
def test_a_mention_is_less_than_an_answer(put: Put, query: str, answer: str, right: str, mention: str) -> None:
    """The passage that answers supports a bare answer; one that only has its word leaves it unclear at most."""
    assert chance(put, query, answer, right) >= 0.7
    assert chance(put, query, answer, mention) <= 0.6


@pytest.mark.parametrize(("query", "answer", "right", "mention"), CASES)
def test_another_mention_takes_nothing_away(put: Put, query: str, answer: str, right: str, mention: str) -> None:
    """Beside the passage that answers, one with a mere mention changes little."""
    assert chance(put, query, answer, mention, right) == pytest.approx(chance(put, query, answer, right), abs=0.05)


def test_a_whole_sentence_is_read_alone(put: Put) -> None:
    """An answer that repeats the question needs no help of it: its p is the same beside another question."""
    answer, passage = "The harbour has 36 berths.", "The harbour has 36 berths."
    same = {chance(put, query, answer, passage) for query in ("How many berths does it have?", "What is the harbour?")}
    assert len(same) == 1
