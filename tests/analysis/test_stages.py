"""How much labelled evidence is left after each stage, on cases counted by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.building import answer_facts, claim, evidence, example, passage, response

from ragauge.core.example import Example, Relevant, Span
from ragauge.evaluation.overview.alignment import UsedPassages
from ragauge.evaluation.overview.stages import StageGatherer
from ragauge.metrics.facts import Facts
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.gather import Visit
from ragauge.scores.results.overview import Stage

IndexOf = Callable[[Sequence[Facts]], ResponseIndex]
VisitsOf = Callable[[Sequence[Facts]], list[Visit]]
Measure = Callable[[Sequence[Facts]], tuple[Stage, ...]]


@pytest.fixture
def funnel(index_of: IndexOf, visits_of: VisitsOf) -> Measure:
    """What the gatherer finds in some responses."""

    def made(every: Sequence[Facts]) -> tuple[Stage, ...]:
        gatherer = StageGatherer()
        for visit in visits_of(every):
            gatherer.add(UsedPassages.of(visit))
        return gatherer.stages(index_of(every))

    return made


def asked(n: int, labels: Any, passages: Any, candidates: Any, *claims: Any, **more: Any) -> Facts:
    """Question n, whose labels are documents; documents handed on and among the candidates; claims on passages."""
    returned = response(
        passages,
        query_id=f"q{n}",
        candidates=None if candidates is None else tuple(passage(doc) for doc in candidates),
        **more,
    )
    found = evidence(answer_facts(*claims)) if claims else {}
    return Facts(example(query_id=f"q{n}", relevant=labels), returned, found)


def means(found: Sequence[Stage]) -> dict[str, tuple[Any, int]]:
    return {stage.name: (stage.recall.mean, stage.recall.n) for stage in found}


def test_stages_by_hand(funnel: Measure) -> None:
    """Of a, b: both candidates, a among the first two, b handed on after reranking, nothing used; of c: all the way."""
    every = [asked(1, ["a", "b"], ["x", "b"], ["a", "x", "b"], claim(1)), asked(2, ["c"], ["c"], ["c", "y"], claim(1))]
    # candidates (1 + 1) / 2; the first as many as handed on (1/2 + 1) / 2; handed on likewise; used (0 + 1) / 2
    assert means(funnel(every)) == {
        "candidates": (1.0, 2),
        "top n of the candidates": (0.75, 2),
        "handed on": (0.75, 2),
        "used": (0.5, 2),
    }


def test_only_what_was_recorded(funnel: Measure) -> None:
    """Without candidates there are two stages, without evidence one less, without labels or passages none."""
    assert list(means(funnel([asked(1, ["a"], ["a"], None, claim(1))]))) == ["handed on", "used"]
    assert list(means(funnel([asked(1, ["a"], ["a"], None)]))) == ["handed on"]
    assert funnel([asked(1, ["a"], None, None)]) == ()
    assert funnel([asked(1, None, ["a"], ["a"], claim(1))]) == ()
    assert funnel([asked(1, ["a"], ["a"], ["a"], claim(1), error="down")]) == ()
    assert list(means(funnel([asked(1, ["a"], None, ["a"])]))) == ["candidates"]  # no telling how many are handed on


def test_each_stage_is_over_those_that_recorded_it(funnel: Measure) -> None:
    """Candidates of one response in three make a mean over one."""
    every = [asked(1, ["a"], ["b"], ["a"]), asked(2, ["a"], ["a"], None), asked(3, ["a"], [], None)]
    assert means(funnel(every)) == {
        "candidates": (1.0, 1),
        "top n of the candidates": (1.0, 1),
        "handed on": (pytest.approx(1 / 3), 3),
    }


def test_a_group_is_there_with_any_member(funnel: Measure) -> None:
    """One of several equal documents is enough; grade 0 is not evidence; gold spans name documents too."""
    group = Example("q1", "?", relevant=(Relevant(("a", "b")), Relevant(("c",), 0.0)))
    spans = Example("q2", "?", gold_spans=(Span("d", 0, 9), Span("d", 20, 29), Span("e", 0, 9)))
    every = [Facts(group, response(["b"], query_id="q1")), Facts(spans, response(["d"], query_id="q2"))]
    assert means(funnel(every)) == {"handed on": (0.75, 2)}  # (1 + 1/2) / 2


def test_interval_is_wilsons_with_the_spread_of_the_shares(funnel: Measure) -> None:
    """Shares of 1, 0.5, 0.5 and 0: mean 0.5, s² = 1/6, k = 3.182² / 24 / 0.25 = 1.688, ends 0.5 ∓ 0.396."""
    (stage,) = funnel([asked(n, "ab", handed, None) for n, handed in enumerate(("ab", "a", "b", "x"))])
    assert stage.recall.mean == 0.5
    assert stage.recall.interval is not None
    # sqrt(k/4 + k²/4) / (1 + k) = sqrt(0.42200 + 0.71226) / 2.68799 = 0.39622
    assert (stage.recall.interval.low, stage.recall.interval.high) == pytest.approx((0.10378, 0.89622), abs=1e-4)
    more = [asked(n, "ab", "a" if n % 2 else "ab", None) for n in range(20)]
    (stage,) = funnel(more)
    # mean 0.75, s² = 0.0625 · 20/19, k = 2.0930² · s² / 20 / 0.1875
    k = 2.0930**2 * 0.0625 / 19 / 0.1875
    assert stage.recall.interval is not None
    wanted = (0.75 + k / 2 - (k * 0.1875 + k * k / 4) ** 0.5) / (1 + k)
    assert stage.recall.interval.low == pytest.approx(wanted, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_what_is_used_was_handed_on(seed: int) -> None:
    """What is used <= handed on, and top n <= candidates, whatever was retrieved; any order gives the same."""
    draw, every = random.Random(seed), []
    for n in range(20):
        documents = draw.sample("abcdefgh", 6)
        handed = draw.sample(documents, draw.randint(1, 4))
        claims = [claim(draw.randint(1, len(handed))) for _ in range(draw.randint(1, 2))]
        every.append(asked(n, draw.sample("abcdefgh", draw.randint(1, 3)), handed, documents, *claims))

    def shares(order: Sequence[int]) -> dict[str, float]:
        import numpy as np

        gatherer = StageGatherer()
        for n in order:
            gatherer.add(UsedPassages.of(Visit(n, n, every[n].example, every[n].response, every[n].evidence)))
        numbers = np.arange(len(every))
        index = ResponseIndex(numbers, numbers, numbers * 0, None, None, tuple(f"q{n}" for n in numbers))
        return {stage.name: stage.recall.mean or 0.0 for stage in gatherer.stages(index)}

    found = shares(range(20))
    assert found["used"] <= found["handed on"]
    assert found["top n of the candidates"] <= found["candidates"]
    assert shares(draw.sample(range(20), 20)) == pytest.approx(found)
