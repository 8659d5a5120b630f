"""Values kept small, and the bins that they are shown in."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.core.score import Score
from ragauge.evaluation.overview.timings import MAX_BINS, build_amount_bins, build_distributions, build_metric_bins
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import ScoreArrays
from ragauge.scores.results.overview import Bin
from ragauge.scores.summarize import build_score_frame
from ragauge.scores.values import MetricValues


def values_of(**metrics: list[float | None]) -> MetricValues:
    """Values of some metrics, a response each; None = undefined."""
    scores = [
        Score("r", f"q{n}", 0, name, 1, None, 0, "undefined" if value is None else "scored", value)
        for name, column in metrics.items()
        for n, value in enumerate(column)
    ]
    arrays = ScoreArrays.of(build_score_frame(scores))
    values = MetricValues(arrays.index)
    for name in (*metrics, "recall@5"):
        values.read(parse_metric(name), arrays.column(name))
    return values


def binned(values: list[float], kind: str, bounds: tuple[float, float] = (0.0, 1.0)) -> tuple[tuple[Bin, ...], bool]:
    different, counts = np.unique(np.array(values, dtype=float), return_counts=True)
    return build_metric_bins(different, counts, kind, bounds)


def test_values_come_back_exactly() -> None:
    """Every value of every response is kept to the last bit, and what is not scored is not there."""
    thirds = [1 / 3, None, 2 / 3, 1.0]
    values = values_of(faithfulness=thirds, latency=[12.5, 0.1, None, 1e9])
    assert [str(metric) for metric in values.metrics] == ["faithfulness", "latency"]  # recall@5 was not computed
    assert [values.at(n) for n in range(4)] == [
        {"faithfulness": 1 / 3, "latency": 12.5},
        {"latency": 0.1},
        {"faithfulness": 2 / 3},
        {"faithfulness": 1.0, "latency": 1e9},
    ]
    assert values.of("faithfulness").tolist() == pytest.approx([1 / 3, np.nan, 2 / 3, 1], nan_ok=True)
    assert np.isnan(values.of("recall@5")).all()


def test_values_are_small() -> None:
    """20,000 values of a share of claims take a byte each, and 20,000 different ones two bytes beside the list."""
    values = values_of(faithfulness=[n % 7 / 7 for n in range(20_000)], latency=[n + 0.5 for n in range(20_000)])
    sizes = {name: codes.nbytes for name, (_, codes) in values._found.items()}
    assert sizes == {"faithfulness": 20_000, "latency": 40_000}
    assert values.at(19_999) == {"faithfulness": 19_999 % 7 / 7, "latency": 19_999.5}


def test_a_rate_has_its_two_bins() -> None:
    """A rate shows 0 and 1, also where one of them is empty."""
    assert binned([1.0, 1.0], "rate") == ((Bin(0, 0, 0), Bin(1, 1, 2)), True)


def test_few_values_have_a_bin_each() -> None:
    """Three different grades are three bins."""
    assert binned([0.0, 0.5, 0.5, 1.0], "mean") == ((Bin(0, 0, 1), Bin(0.5, 0.5, 2), Bin(1, 1, 1)), True)


def test_means_lie_in_twentieths() -> None:
    """A value on an edge is in the bin above it, and 1 in the last."""
    bins, exact = binned([0.0, 0.01, 0.15, 0.3, 0.55, 0.9, 0.99, 1.0], "mean")
    assert not exact
    assert [round(b.low, 2) for b in bins] == [round(n / 20, 2) for n in range(20)]
    assert {n: b.count for n, b in enumerate(bins) if b.count} == {0: 2, 3: 1, 6: 1, 11: 1, 18: 1, 19: 2}
    assert bins[-1].high == 1.0


def test_a_range_below_zero() -> None:
    """A cosine's bins go from -1 to 1."""
    bins, _ = binned([-1.0, -0.5, -0.45, 0.0, 0.2, 0.3, 1.0], "mean", (-1.0, 1.0))
    assert (bins[0].low, bins[0].high, bins[-1].high) == (-1.0, -0.9, 1.0)
    assert sum(b.count for b in bins) == 7


def test_amounts_have_round_edges() -> None:
    """0 to 990 in steps of 10: 1 % of the values reach beyond 970; a twentieth of that is 49, so the width is 50."""
    bins, exact = binned([10.0 * n for n in range(100)], "amount", (0, np.inf))
    assert not exact
    assert [(b.low, b.high) for b in bins] == [(50.0 * n, 50.0 * (n + 1)) for n in range(20)]
    assert {b.count for b in bins} == {5}


def test_a_long_tail_is_one_bin() -> None:
    """One answer of ten minutes does not press a hundred of a second into one bar."""
    bins, _ = binned([1.0 + n / 100 for n in range(100)] + [600.0], "amount", (0, np.inf))
    assert bins[-1] == Bin(2.0, 600.0, 1)
    assert all(b.high - b.low == pytest.approx(0.05) for b in bins[:-1])
    assert sum(b.count for b in bins) == 101


def test_small_amounts_keep_their_digits() -> None:
    """Edges of costs far below a cent are the decimals that are shown."""
    bins, _ = binned([n * 0.00031 for n in range(1, 30)], "amount", (0, np.inf))
    assert bins[0].low == 0.0
    assert [b.high for b in bins[:3]] == [0.0005, 0.001, 0.0015]


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None)
@given(st.lists(st.floats(-1e12, 1e12) | st.sampled_from([0.0, 1.0, 5.0]) | FINITE, min_size=1, max_size=200))
def test_every_amount_is_in_one_bin(values: list[float]) -> None:
    """Counts add up, bins touch, and each bin holds what lies between its ends."""
    different, counts = np.unique(np.array(values), return_counts=True)
    bins = build_amount_bins(different, counts)
    assert sum(b.count for b in bins) == len(values)
    assert len(bins) <= MAX_BINS + 1
    assert all(a.high == b.low for a, b in pairwise(bins))
    for n, part in enumerate(bins):
        last = n == len(bins) - 1
        assert part.count == sum(part.low <= v < part.high or (last and v == part.high) for v in values)


def test_one_distribution_a_metric() -> None:
    """In the order read, over scored values only; a metric without any has none."""
    values = values_of(faithfulness=[0.0, None, 1.0], ignored_top_ranked=[1.0, 1.0, None], token_f1=[None] * 3)
    found = build_distributions(values)
    assert [(d.metric, d.kind, d.exact, sum(b.count for b in d.bins)) for d in found] == [
        ("faithfulness", "mean", True, 2),
        ("ignored_top_ranked", "rate", True, 2),
    ]
