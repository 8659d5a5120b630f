"""Seeded random examples with everything that a metric may read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.building import (
    agreement_facts,
    answer_facts,
    claim,
    evidence,
    example,
    passage,
    reference_facts,
    relevance_facts,
    response,
)

from ragauge.core.example import Example
from ragauge.core.facts import (
    AgreementFacts,
    AnswerFacts,
    CoverFacts,
    GuessedFacts,
    ReferenceFacts,
    RelevanceFacts,
    SimilarityFacts,
    Strength,
    Window,
)
from ragauge.core.ranking import Ranking
from ragauge.core.response import Passage, Response
from ragauge.metrics.facts import Facts

Draw = Callable[..., Facts]


def ranked(one: Example, handed_on: tuple[Passage, ...]) -> Ranking:
    """First ranks of the judged documents, read off one by one."""
    first: dict[str, int] = {}
    for rank, each in enumerate(handed_on, 1):
        first.setdefault(each.doc_id, rank)
    items = tuple(
        (item.grade, min((first[doc] for doc in item.doc_ids if doc in first), default=None))
        for item in one.relevant or ()
    )
    judged = {doc for item in one.relevant or () for doc in item.doc_ids}
    return Ranking(len(handed_on), items, tuple(sorted(first[doc] for doc in judged if doc in first)))


def subset(rng: Random, n: int, share: float = 0.4) -> list[int]:
    return [i for i in range(1, n + 1) if rng.random() < share]


def answered(rng: Random, n: int, c: int) -> AnswerFacts:
    claims = []
    for _ in range(c):
        supporting = subset(rng, n)
        strength: Strength = rng.choice(["direct", "implied"])
        drawn = claim(*supporting, contradicting=subset(rng, n, 0.2), joint=rng.random() < 0.2)
        claims.append(replace(drawn, strength=strength) if supporting else drawn)
    return answer_facts(*claims, address=rng.choice(["fully", "partly", "no"]), refuse=rng.random() < 0.2)


def system(rng: Random, n: int, c: int) -> Response:
    """Passages of few documents, so that documents and even passages repeat; citations of known and unknown ids."""
    handed_on = [
        passage(
            f"d{rng.randint(1, 4)}",
            rng.choice(["Bern is the capital of Switzerland.", "The line opened on 3 Jan 2024 with 1,000 trains."]),
            passage_id=f"p{rng.randint(1, 6)}",
            score=rng.random(),
            updated_at=rng.choice(["2024-01-03", "2025-01-03"]),
        )
        for _ in range(n)
    ]
    places = range(1 + 10 * c)
    spans = [sorted((rng.choice(places), rng.choice(places))) for _ in range(rng.randint(0, 4))]
    citations = [(start, end, rng.choice(["p1", "p2", "p9", "d1", "d2"])) for start, end in spans]
    return response(
        handed_on,
        rng.choice(["Bern.", "It opened on 2024-01-03 with 900 trains, 20 percent more.", ""]),
        citations=rng.choice([citations, citations, None]),
        candidates=tuple(handed_on),
        latency_ms={"retrieval": 30.0, "generation": 820.0, "sample": 5.0, "total": 850.0},
        tokens={"input": 900, "output": 60},
        cost=0.002,
    )


def drawn(rng: Random, *, passages: int = 4, claims: int = 4, reference: int = 4) -> Facts:
    """One example with all of its evidence, no verdict missing."""
    n, c, m = rng.randint(0, passages), rng.randint(0, claims), rng.randint(1, reference)
    one = example(
        *(f"Reference claim {h}." for h in range(1, m + 1)),
        query="Where does the ferry land?",
        relevant={f"d{i}": rng.choice([0, 1, 2, 3]) for i in range(1, rng.randint(1, 4) + 1)},
        answerable=rng.choice([True, True, False, None]),
        aspects=tuple("abc"[: rng.randint(1, 3)]),
        criteria=tuple("abc"[: rng.randint(1, 3)]),
    )
    returned = system(rng, n, c)
    found = evidence(
        answered(rng, n, c),
        reference_facts(*(subset(rng, n) for _ in range(m))),
        relevance_facts(*(rng.random() < 0.5 for _ in range(n))),
        relevance_facts(*(rng.random() < 0.5 for _ in range(2 * n)), unit="sentence"),
        agreement_facts(
            [rng.choice(["agrees", "contradicts", "absent"]) for _ in range(c)], [rng.random() < 0.5 for _ in range(m)]
        ),
        GuessedFacts(tuple(rng.uniform(-1, 1) for _ in range(3))),
        cover_aspects=CoverFacts(tuple(rng.random() < 0.5 for _ in one.aspects or ())),
        cover_criteria=CoverFacts(tuple(rng.random() < 0.5 for _ in one.criteria or ())),
    )
    found |= evidence(SimilarityFacts(rng.uniform(-1, 1)))
    if rng.random() < 0.5:
        found = {question: replace(one, facts=likely(rng, one.facts, n)) for question, one in found.items()}
    return Facts(one, returned, found, ranked(one, returned.passages or ()))


def likely(rng: Random, facts: Any, n: int) -> Any:
    """The same facts from a judge that has probabilities, on the side of its verdicts; n passages."""

    def beside(verdict: object) -> float:
        return rng.uniform(0.5, 1.0) if verdict else rng.uniform(0.0, 0.49)

    match facts:
        case AnswerFacts():
            claims = tuple(
                replace(one, p=beside(one.supporting), window=Window(rng.randint(1, n), 0, 9)) if n else one
                for one in facts.claims
            )
            fully, partly = rng.random(), rng.random()
            return replace(facts, claims=claims, address_p=(fully, (1 - fully) * partly, (1 - fully) * (1 - partly)))
        case ReferenceFacts():
            return ReferenceFacts(tuple(replace(one, p=beside(one.supporting) if n else 0.0) for one in facts.claims))
        case RelevanceFacts():
            return replace(facts, ratings=tuple(replace(one, p=beside(one.relevant)) for one in facts.ratings))
        case AgreementFacts():
            answer_p = tuple(beside(one == "agrees") for one in facts.answer)
            return replace(facts, answer_p=answer_p, reference_p=tuple(map(beside, facts.reference)))
    return facts


@pytest.fixture(scope="session")
def draw() -> Draw:
    """What draws one example; passages, claims and reference are the most there are of each."""
    return drawn
