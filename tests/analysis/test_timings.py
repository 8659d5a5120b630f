"""Latency by stage, tokens and cost."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tests.building import example, response

from ragauge.evaluation.overview.timings import SpendingGatherer, TimingGatherer
from ragauge.metrics.answer.latency import Latency
from ragauge.metrics.facts import Facts
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.gather import Visit

IndexOf = Callable[[Sequence[Facts]], ResponseIndex]
VisitsOf = Callable[[Sequence[Facts]], list[Visit]]


def took(n: int, latency: dict[str, float] | None = None, **more: Any) -> Facts:
    return Facts(example(query_id=f"q{n}"), response(1, query_id=f"q{n}", latency_ms=latency or {}, **more))


def timed(every: Sequence[Facts], index_of: IndexOf, visits_of: VisitsOf) -> Any:
    gatherer = TimingGatherer()
    for visit in visits_of(every):
        gatherer.add(visit)
    return gatherer.timings(index_of(every)), gatherer


def test_stages_of_latency(index_of: IndexOf, visits_of: VisitsOf) -> None:
    """The total comes first, then the slowest stage; quantiles are NumPy's; what was not recorded is left out."""
    generator = np.random.default_rng(1)
    search, write = generator.exponential(30, 200), generator.lognormal(6, 1, 200)
    every = [took(n, {"retrieval": s, "generation": w}) for n, (s, w) in enumerate(zip(search, write, strict=True))]
    found, gatherer = timed([*every, took(200), took(201, {"total": 5.0})], index_of, visits_of)
    assert [(t.stage, t.n) for t in found] == [("total", 201), ("generation", 200), ("retrieval", 200)]
    assert (found[1].p50, found[1].p95, found[1].p99) == pytest.approx(tuple(np.quantile(write, (0.5, 0.95, 0.99))))
    for timing in found:
        assert sum(part.count for part in timing.bins) == timing.n
    totals = gatherer.of("total", [0, 200, 201])
    assert totals == {0: Latency().value(every[0].response.latency_ms), 201: 5.0}


def test_weights_move_quantiles(index_of: IndexOf, visits_of: VisitsOf) -> None:
    """A sampled response of 1 s that stands for nine beside one of 2 s: the median is 1 s, the 95th percentile 2 s."""
    every = [took(1, {"total": 1_000.0}, weight=9.0), took(2, {"total": 2_000.0})]
    (timing,), _ = timed(every, index_of, visits_of)
    assert (timing.p50, timing.p95, timing.p99) == (1_000.0, 2_000.0, 2_000.0)


def test_nothing_timed(index_of: IndexOf, visits_of: VisitsOf) -> None:
    """Without recorded latency there is nothing to show, and a time that is no number is not one."""
    assert timed([took(1)], index_of, visits_of)[0] == ()
    assert timed([took(1, {"retrieval": float("nan"), "total": 3.0})], index_of, visits_of)[0][0].n == 1


def spent(every: Sequence[Facts], visits_of: VisitsOf) -> Any:
    gatherer = SpendingGatherer()
    for visit in visits_of(every):
        gatherer.add(visit)
    return gatherer.spending()


def test_spending_by_hand(visits_of: VisitsOf) -> None:
    """Totals are over what was recorded, with how many responses recorded it."""
    found = spent(
        [
            took(1, tokens={"input": 900, "output": 60}, cost=0.25),
            took(2, tokens={"output": 40}),
            took(3, cost=0.5),
            took(4),
        ],
        visits_of,
    )
    assert (dict(found.tokens), found.counted, found.cost, found.costed) == ({"input": 900, "output": 100}, 2, 0.75, 2)


def test_unknown_cost_is_not_zero(visits_of: VisitsOf) -> None:
    """A cost that nobody recorded stays unknown; one of 0 is 0."""
    assert spent([took(1, tokens={"input": 5})], visits_of).cost is None
    assert spent([took(1, cost=0.0)], visits_of).cost == 0.0
    assert spent([took(1)], visits_of) is None


def test_order_does_not_matter(index_of: IndexOf, visits_of: VisitsOf) -> None:
    """Any order gives the same quantiles, bins and, to the last bit, the same cost."""
    draw = random.Random(3)
    every = [took(n, {"a": draw.random(), "b": draw.random()}, cost=draw.random(), tokens={"x": n}) for n in range(99)]
    shuffled = draw.sample(every, len(every))
    assert spent(every, visits_of) == spent(shuffled, visits_of)
    assert timed(every, index_of, visits_of)[0] == timed(shuffled, index_of, visits_of)[0]
