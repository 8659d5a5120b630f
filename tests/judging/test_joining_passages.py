"""A passage that joins never lowers the support of a claim, by whatever way a verdict is reached."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any

import pytest

from ragauge.core.facts import AnswerFacts, ReferenceFacts
from ragauge.judges.inputs import VerifyAnswer, VerifyReference
from ragauge.judges.local.support import MIN_SURE_P
from ragauge.judges.local.verify_answer import verify_answer
from ragauge.judges.local.verify_reference import verify_reference

LEAST = 1e-6  # a probability is rounded so far
ROWS = ("Ferry tickets", "Harbour dues", "Crane hire", "Net loss on dredging", "Total revenue", "Mooring fees")
YEARS = (2019, 2020, 2021, 2022)
SCALES = ("", "(in thousands)", "(in millions)", "Berths and fees")
PROSE = (
    "Harbour dues came to 990 in 2021, when the north quay was closed for repairs.",
    "The port of Havel charges harbour dues to every ship that stays longer than two hours.",
    "Figures below are shown in thousands.",
    "Amounts are given in millions of dollars unless stated otherwise.",
    "Crane hire rose from 490 in 2020 to 530 in 2021.",
    "The warranty of the hub lasts 24 months from the date of purchase.",
    "The warranty of the hub lasts 36 months from the date of purchase.",
    "Ferry tickets are sold at the north quay by Lena Ortiz, who has run the kiosk since 1998.",
    "Der Hafen wurde im Jahre 1998 von der Stadt gebaut und ist seitdem jeden Tag geöffnet.",
    "Total revenue of the port was $5.5 million in 2021.",
    "",
)
ASKED = (
    ("What were the harbour dues in 2021?", ("990", "$990 thousand", "Harbour dues were $990 million in 2021.")),
    ("How much was crane hire in 2021?", ("530", "Crane hire was 530, up from 490 in 2020.", "$530")),
    ("What was total revenue in 2021?", ("$5.5 million", "Total revenue was 5,500 in 2021.")),
    ("What was the change in crane hire from 2020 to 2021?", ("40", "It rose by 40, and dues came to 990.")),
    ("In which year was total revenue highest?", ("2022", "2021")),
    ("Who sells ferry tickets?", ("Lena Ortiz sells them at the north quay, where she began in 1998.",)),
    ("How long is the warranty?", ("The warranty of the hub lasts 24 months, and it begins on the day of purchase.",)),
)


def table(draw: random.Random) -> str:
    """A table with some of the rows and years; half of its numbers are those of the claims."""
    shown = sorted(draw.sample(YEARS, draw.randint(1, 4)), reverse=draw.random() < 0.5)
    lines = ["\t".join([draw.choice(SCALES), *map(str, shown)])]
    for row in draw.sample(ROWS, draw.randint(1, 5)):
        known = {"Harbour dues": 990, "Crane hire": 530, "Total revenue": 5_500}.get(row, 310)
        cells = [known if draw.random() < 0.5 else draw.randint(100, 9_999) for _ in shown]
        lines.append("\t".join([row, *(f"{cell:,}" for cell in cells)]))
    return "\n".join(lines)


def passage(draw: random.Random) -> str:
    """A table, prose, or both."""
    kind = draw.random()
    if kind < 0.5:
        return table(draw)
    return draw.choice(PROSE) if kind < 0.9 else f"{draw.choice(PROSE)}\n\n{table(draw)}"


def facts(asking: Generator[Any, Any, Any]) -> Any:
    """What a question comes to when every vector it asks for is the same."""
    try:
        wanted = next(asking)
        while True:
            wanted = asking.send([[(1.0, 0.0) for _ in one.texts] for one in wanted])
    except StopIteration as end:
        return end.value


def of_answer(claim: str, passages: list[str]) -> AnswerFacts:
    """The verdict on an answer; without a question no vector is asked for."""
    found = facts(verify_answer(VerifyAnswer("", tuple(passages), claim)))
    assert isinstance(found, AnswerFacts)
    return found


def of_reference(query: str, claim: str, passages: list[str]) -> ReferenceFacts:
    """The verdict on a reference claim."""
    found = facts(verify_reference(VerifyReference(query, (claim,), tuple(passages))))
    assert isinstance(found, ReferenceFacts)
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_a_passage_that_joins_never_lowers_a_verdict(seed: int) -> None:
    """Law, 500 random fillers: p of no claim of an answer or reference falls when a table or prose joins, anywhere.

    What was supported stays so, but for what was not sure beside a near-copy that says otherwise.
    """
    draw = random.Random(seed)
    raised = 0
    for n in range(500):
        query, claims = ASKED[n % len(ASKED)]
        claim = draw.choice(claims)
        passages = [passage(draw) for _ in range(draw.randint(1, 3))]
        more = list(passages)
        more.insert(draw.randint(0, len(more)), passage(draw))
        lower, higher = (of_reference(query, claim, some).claims[0] for some in (passages, more))
        assert (higher.p or 0.0) >= (lower.p or 0.0) - LEAST, (query, claim, passages, more)
        raised += (higher.p or 0.0) > (lower.p or 0.0)
        for before, after in zip(of_answer(claim, passages).claims, of_answer(claim, more).claims, strict=True):
            assert (after.p or 0.0) >= (before.p or 0.0) - LEAST, (claim, passages, more)
            kept = bool(after.supporting) >= bool(before.supporting)
            contradicted = len(after.contradicting) > len(before.contradicting)
            assert kept or (contradicted and (after.p or 0.0) < MIN_SURE_P), (claim, passages, more)
    assert raised > 50  # the fillers are near enough to matter
