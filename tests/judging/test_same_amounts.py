"""A number of a reference and one of an answer: whether they are one amount, and whether it is an amount at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragauge.data.example import Example
from ragauge.data.facts import AgreementFacts, AnswerFacts, FactsOf
from ragauge.data.response import Response
from ragauge.judging.inputs import Agree, Inputs, VerifyAnswer, inputs_for

Put = Callable[[Inputs], FactsOf]


def stated(put: Put, query: str, answer: str, reference: str) -> bool:
    """Whether an answer is held to state a reference, by the way that an evaluation takes."""
    verified = put(VerifyAnswer(query, None, answer))
    assert isinstance(verified, AnswerFacts)
    example, response = Example("q", query, references=(reference,)), Response("q", answer=answer)
    inputs = inputs_for("agree", example, response, {"verify_answer": verified})
    assert isinstance(inputs, Agree)
    facts = put(inputs)
    assert isinstance(facts, AgreementFacts)
    return facts.reference == (True,)


GATES = "How many gates does the lock have?"

WITHIN = [
    (GATES, "The lock was mended after a 7-hour flood.", "7"),
    (GATES, "It is a 7-step lock.", "7"),
    (GATES, "A seven-step lock lies in Orle.", "seven"),
    (GATES, "The lock stands at the 7th mile of the canal.", "7"),
    (GATES, "It was the third lock that the firm built.", "3"),
    (GATES, "The crew of the lock won 7-3.", "7"),
    (GATES, "The crew of the lock won 9\u20133.", "3"),
    ("Which lane is shut?", "The lane at the 3-storey shed is shut.", "3"),
]

ALONE = [
    (GATES, "It has 7 gates.", "7"),
    (GATES, "It is a 7-gate lock.", "7"),
    (GATES, "It is a seven-gate lock.", "7"),
    (GATES, "The 7-step lock has 7 gates.", "7"),
    (GATES, "The 7th lock, the largest, has seven gates.", "7"),
    ("How long did the flood last, in hours?", "It was a 7-hour flood.", "7"),
    ("Which race did the crew win?", "It won the 400-metre race.", "400"),
    ("Which lock is the largest?", "The 7th lock is.", "7"),
    ("What was the score of the match?", "Orle won 7-3.", "7-3"),
    ("How high is the lock?", "It is 7-8 metres high.", "7-8 metres"),
]


@pytest.mark.parametrize(("query", "answer", "reference"), WITHIN)
def test_a_number_within_a_word_is_no_amount(put: Put, query: str, answer: str, reference: str) -> None:
    """A number in a compound, an ordinal or a score does not meet a reference that is a count."""
    assert not stated(put, query, answer, reference)


@pytest.mark.parametrize(("query", "answer", "reference"), ALONE)
def test_a_number_of_its_own_is_an_amount(put: Put, query: str, answer: str, reference: str) -> None:
    """A number that stands alone, or in a compound with what the question asks for, meets its reference."""
    assert stated(put, query, answer, reference)
