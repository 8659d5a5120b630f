"""When a check passes, fails, or knows neither; how often it fails when nothing got worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from tests.gating.scores import columns, pairs, twins

from ragauge.gating.compute.decision import CheckCell, split_alpha, step_down
from ragauge.gating.compute.sample import MeanDifference, MetricLevel
from ragauge.metrics.catalogue import parse_metric
from ragauge.stats.weighted import Interval

FAITHFULNESS, RECALL, HIT, LATENCY = (parse_metric(name) for name in ("faithfulness", "recall@5", "hit@5", "latency"))


def drop(new: Any, base: Any, points: float, *, point: bool = False, min_n: int = 10) -> CheckCell:
    sample = MeanDifference(pairs(RECALL, columns(new), columns(base)))
    return CheckCell(sample, -points, above=True, min_n=min_n, point=point)


def test_interval_decides_as_by_hand() -> None:
    """40 differences of mean −0.1 and standard deviation 0.1: ends by hand, and limits on either side of them."""
    # d = −0.2 and 0 by turns: mean −0.1, s = 0.1·sqrt(40/39), se = 0.1/sqrt(39) = 0.0160128
    # t(39) at two-sided 90 % is 1.684875: −0.1 ± 0.0269796
    base = np.full(40, 0.9)
    new = base - np.tile([0.2, 0.0], 20)
    half = 1.684875 / sqrt(39) * 0.1
    found = drop(new, base, 0.03).sample.interval(0.9)
    assert found is not None
    assert [found.low, found.high] == pytest.approx([-0.1 - half, -0.1 + half], abs=1e-6)
    verdicts = {points: drop(new, base, points).verdict() for points in (0.0, 0.03, 0.072, 0.074, 0.126, 0.128, 0.5)}
    assert verdicts == {
        0.0: ("fail", "interval"),
        0.03: ("fail", "interval"),
        0.072: ("fail", "interval"),
        0.074: ("not_enough_data", "interval"),
        0.126: ("not_enough_data", "interval"),
        0.128: ("pass", "interval"),
        0.5: ("pass", "interval"),
    }


def test_point_looks_at_the_estimate_alone() -> None:
    """With decide: point a mean difference of −0.1 fails at 9 points, and meets 10 points exactly."""
    base = np.full(40, 0.9)
    new = base - np.tile([0.2, 0.0], 20)
    assert drop(new, base, 0.09, point=True).verdict() == ("fail", "point")
    assert drop(new, base, 0.10, point=True).verdict() == ("pass", "point")


def test_lower_is_better_turns_round() -> None:
    """A rise of a metric where lower is better fails, a fall passes."""
    more, less = np.tile([0.4, 0.2], 30), np.tile([0.2, 0.1], 30)
    worse = MeanDifference(pairs(parse_metric("contradicted"), columns(more), columns(less)))
    better = MeanDifference(pairs(parse_metric("contradicted"), columns(less), columns(more)))
    assert CheckCell(worse, 0.03, above=False, min_n=10).verdict()[0] == "fail"
    assert CheckCell(better, 0.03, above=False, min_n=10).verdict()[0] == "pass"


def test_few_examples_are_not_enough_data() -> None:
    """Case 79: 8 examples with a small change are not enough data, by their interval and by min_n."""
    base = np.array([1, 1, 0.5, 1, 0, 1, 0.5, 1])
    new = base.copy()
    new[0], new[4] = 0.5, 0.25
    assert drop(new, base, 0.03, min_n=2).verdict() == ("not_enough_data", "interval")
    assert drop(new, base, 0.03).verdict() == ("not_enough_data", "few")
    assert drop(new, base, 0.03, point=True).verdict() == ("not_enough_data", "few")


def test_exactly_the_fewest_examples_are_enough() -> None:
    """min_n examples decide and count in their family, one fewer does neither; a point estimate is in no family."""
    base = np.full(8, 0.9)
    new = base - 0.5
    assert drop(new, base, 0.03, point=True, min_n=8).verdict() == ("fail", "point")
    assert drop(new, base, 0.03, point=True, min_n=9).verdict() == ("not_enough_data", "few")
    assert [drop(new, base, 0.03, min_n=n).tested for n in (8, 9)] == [True, False]
    assert not drop(new, base, 0.03, point=True, min_n=8).tested


def test_limits_that_a_failed_baseline_allows() -> None:
    """A mean of −0.1 fails only beyond the easiest limit, passes only within the hardest, and meets either exactly."""
    base = np.full(40, 0.9)
    sample = MeanDifference(pairs(RECALL, columns(base - np.tile([0.2, 0.0], 20)), columns(base)))

    def verdict(limit: float, **more: Any) -> str:
        return CheckCell(sample, limit, above=True, min_n=10, point=True, **more).verdict()[0]

    assert [verdict(-0.05), verdict(-0.05, lax=-0.08), verdict(-0.05, lax=-0.2)] == ["fail", "fail", "not_enough_data"]
    assert [verdict(-0.2), verdict(-0.2, strict=-0.1), verdict(-0.2, strict=-0.05)] == [
        "pass",
        "pass",
        "not_enough_data",
    ]
    rise = MeanDifference(
        pairs(parse_metric("contradicted"), columns(np.tile([0.4, 0.2], 30)), columns(np.tile([0.2, 0.1], 30)))
    )
    at = [CheckCell(rise, limit, above=False, min_n=10, point=True).verdict()[0] for limit in (0.14, 0.15, 0.16)]
    assert at == ["fail", "pass", "pass"]


def test_unchanged_scores_pass() -> None:
    """Where no example's score changed there is no difference: a pass, even at max_drop: 0; too few do not."""
    base = np.tile([1.0, 0.5], 10)
    assert drop(base, base, 0.0).verdict() == ("pass", "unchanged")
    assert drop(base[:6], base[:6], 0.0).verdict() == ("not_enough_data", "few")


def test_levels() -> None:
    """Limits on a mean decide by the interval of the mean: Wilson's for a rate, and order statistics for a p95."""
    hits = MetricLevel.of(HIT, columns([1.0] * 90 + [0.0] * 10))
    # Wilson at 90 %, z = 1.644854: (0.9 + .013528)/(1.027055) ± ... = [0.8403, 0.9390]
    found = hits.interval(0.9)
    assert found is not None
    assert [found.low, found.high] == pytest.approx([0.8403, 0.9390], abs=1e-3)
    assert [CheckCell(hits, least, above=True, min_n=10).verdict()[0] for least in (0.83, 0.9, 0.95)] == [
        "pass",
        "not_enough_data",
        "fail",
    ]
    times = MetricLevel.of(LATENCY, columns(np.arange(1.0, 201.0)), "p95")
    assert times.estimate == pytest.approx(190.05)
    assert CheckCell(times, 200.0, above=False, min_n=10).verdict()[0] == "pass"
    assert CheckCell(times, 190.0, above=False, min_n=10).verdict()[0] == "not_enough_data"
    assert CheckCell(times, 150.0, above=False, min_n=10).verdict()[0] == "fail"
    few = MetricLevel.of(LATENCY, columns(np.arange(1.0, 21.0)), "p95")
    assert few.interval(0.9) == Interval(17.0, inf, "order statistics", 0.9)
    # of 20 values 16 or fewer lie below the p95 with chance 0.016, 17 or fewer with 0.075; and all 20 with 0.36 > 0.05
    assert CheckCell(few, 500.0, above=False, min_n=10).verdict() == ("not_enough_data", "interval")
    assert CheckCell(few, 15.0, above=False, min_n=10).verdict() == ("fail", "interval")


def test_failed_scores_take_a_verdict_away() -> None:
    """A pass or a failure that a failed score could turn is not enough data; one that it cannot turn stands."""
    base, better = np.tile([0.8, 0.6], 20), np.tile([0.85, 0.65], 20)
    better[3] += 0.01
    new, old = columns(better, failed={0: (0.0, 1.0), 1: (0.0, 1.0)}), columns(base)
    sample = MeanDifference(pairs(RECALL, new, old))
    # means of 40: 38 of +0.05 and two between −0.8 (−0.6) and +0.2 (+0.4): from 0.0125 to 0.0625
    assert list(sample.reach()) == pytest.approx([(1.9 + 0.01 - 1.4) / 40, (1.9 + 0.01 + 0.6) / 40])
    assert CheckCell(sample, 0.0, above=True, min_n=10).verdict() == ("not_enough_data", "failed")
    assert CheckCell(sample, -0.05, above=True, min_n=10).verdict() == ("not_enough_data", "failed")
    assert CheckCell(sample, -0.10, above=True, min_n=10).verdict()[0] == "pass"
    worse = MeanDifference(pairs(RECALL, columns(base - 0.3 * (base > 0.7), failed={0: (0.0, 1.0)}), columns(base)))
    assert CheckCell(worse, -0.03, above=True, min_n=10).verdict()[0] == "fail"
    none = MeanDifference(pairs(RECALL, columns(base, failed=dict.fromkeys(range(40), (0.0, 1.0))), columns(base)))
    assert CheckCell(none, -0.03, above=True, min_n=10).verdict() == ("not_enough_data", "failed")


def test_few_that_differ_need_more_than_t() -> None:
    """Four of 1,000 examples that all got worse fail by Student's interval; sign flips say 1/16, so it is not known."""
    base = np.ones(1_000)
    new = base.copy()
    new[:4] = 0.5
    cell = drop(new, base, 0.0)
    found = cell.sample.interval(0.9)
    assert found is not None
    assert found.high < 0
    assert cell.verdict() == ("not_enough_data", "unsupported")


@pytest.mark.parametrize(
    ("n", "fallen", "verdict"),
    [
        (4, 4, ("not_enough_data", "unsupported")),
        (5, 5, ("fail", "interval")),
        (5, 4, ("not_enough_data", "unsupported")),
        (6, 6, ("fail", "interval")),
    ],
)
def test_few_pairs_need_more_than_t(n: int, fallen: int, verdict: tuple[str, str]) -> None:
    """Four examples that all got worse by about as much are a coin that fell four times on one side; five are 1/32."""
    base = np.full(n, 0.9)
    new = base - 0.3 - 0.01 * np.arange(n)
    new[fallen:] = 0.95
    assert drop(new, base, 0.0, min_n=2).verdict() == verdict


@pytest.mark.parametrize(("clusters", "verdict"), [(4, "not_enough_data"), (5, "fail")])
def test_few_clusters_need_more_than_t(clusters: int, verdict: str) -> None:
    """Forty examples that all got worse are as many observations as they have clusters: four tell nothing."""
    base, of = np.full(40, 0.9), [i % clusters for i in range(40)]
    new = base - 0.3 - 0.002 * np.arange(40)
    sample = MeanDifference(pairs(RECALL, columns(new, cluster=of), columns(base, cluster=of)))
    assert CheckCell(sample, 0.0, above=True, min_n=10).verdict()[0] == verdict


@pytest.mark.parametrize("level", [0.9, 0.99])
def test_least_width_is_one_whatever_the_failed_scores_were(level: float) -> None:
    """Whatever the failed scores would have been, the interval reaches so far to either side of the mean, or to 1."""
    g = np.random.default_rng(5)
    above_zero = 0
    for _ in range(100):
        n, lost = int(g.integers(4, 60)), int(g.integers(1, 5))
        new, other = g.random((2, n))
        if g.random() < 0.7:
            new, other = np.round(new), np.round(other)
        base = np.where(g.random(n) < g.random(), other, 1.0)
        known = MeanDifference(
            pairs(RECALL, columns(new, failed=dict.fromkeys(range(lost), (0.0, 1.0))), columns(base))
        )
        width = known.compute_min_width(level)
        above_zero += width > 0
        for more in (g.random(lost), np.round(g.random(lost)), np.zeros(lost), np.ones(lost)):
            full, out = np.concatenate([more, new[lost:]]), [k for k in range(lost) if g.random() < 0.2]
            whole = MeanDifference(pairs(RECALL, columns(full, undefined=out), columns(base)))
            found = whole.interval(level)
            if found is None or whole.estimate is None:
                continue
            assert found.high >= min(1.0, whole.estimate + width) - 1e-12
            assert found.low <= max(-1.0, whole.estimate - width) + 1e-12
    assert above_zero > 50


def test_shares_and_steps() -> None:
    """Half of the 5 % is for the whole run; what has failed hands its share on, as in Holm's procedure."""
    assert split_alpha([False, False, True, True, True, True]) == [0.25, 0.25, 0.125, 0.125, 0.125, 0.125]
    assert split_alpha([False]) == [1.0]
    p_values = [0.011, 0.02, 0.04]  # Holm by hand: 0.011 <= .05/3, 0.02 <= .05/2, 0.04 <= .05
    assert step_down([1, 1, 1], lambda n, level: p_values[n] <= level)[0] == {0, 1, 2}
    p_values = [0.011, 0.03, 0.02]  # 0.011 <= .0167, 0.02 <= .025, then 0.03 <= .05
    assert step_down([1, 1, 1], lambda n, level: p_values[n] <= level)[0] == {0, 1, 2}
    p_values = [0.011, 0.04, 0.03]  # 0.03 > .025: it stops there
    failed, levels = step_down([1, 1, 1], lambda n, level: p_values[n] <= level)
    assert failed == {0}
    assert levels[1:] == [0.025, 0.025]


@pytest.mark.slow
@pytest.mark.parametrize(("draws", "off"), [(500, 0.029), pytest.param(10_000, 0.005, marks=pytest.mark.prove)])
def test_same_system_seldom_fails(draws: int, off: float, record_property: Callable[[str, object], None]) -> None:
    """Case 76, A/A: of 10,000 comparisons of a run with a noisy twin under max_drop: 0, 4.5 to 5.5 % fail.

    Of 500 as many within three standard errors.
    """
    generator = np.random.default_rng(20_260_101)
    counts: Counter[str] = Counter()
    for _ in range(draws):
        new, base = twins(generator, 240)
        counts[drop(new, base, 0.0).verdict()[0]] += 1
    share = counts["fail"] / draws
    record_property("figure", f"A/A, {draws:,} comparisons, n = 240, max_drop: 0: {share:.2%} fail, {dict(counts)}")
    assert abs(share - 0.05) <= off
    assert abs(counts["pass"] / draws - 0.05) <= off


@pytest.mark.slow
@pytest.mark.parametrize("draws", [400, pytest.param(2_000, marks=pytest.mark.prove)])
@pytest.mark.parametrize(
    "n", [20, pytest.param(60, marks=pytest.mark.prove), pytest.param(240, marks=pytest.mark.prove)]
)
@pytest.mark.parametrize("flips", [pytest.param(0.05, marks=pytest.mark.prove), 0.3])
def test_same_system_with_scores_of_0_and_1(
    n: int, flips: float, draws: int, record_property: Callable[[str, object], None]
) -> None:
    """Scores of 0 and 1, of which few differ, fail no more often than 5 %, within the simulation's error."""
    generator = np.random.default_rng(n)
    failed = 0
    for _ in range(draws):
        new, base = twins(generator, n, binary=True, flips=flips)
        failed += drop(new, base, 0.0).verdict()[0] == "fail"
    record_property("figure", f"A/A, 0/1 scores, n = {n}, {flips:.0%} drawn anew: {failed / draws:.2%} fail")
    assert failed / draws <= 0.05 + 3 * sqrt(0.05 * 0.95 / draws)
