"""Intervals of differences: golden values, laws, and coverage by seeded simulation."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ragauge.core.errors import UsageError
from ragauge.stats.intervals import wilson_interval
from ragauge.stats.mean_difference import agresti_min, paired_interval, unpaired_interval
from ragauge.stats.skew_corrected_t import skew_corrected_t
from ragauge.stats.weighted import Interval

Pairs = tuple[Any, Any, dict[str, Any]]


def ends(found: Interval | None) -> tuple[float, float]:
    assert found is not None
    return found.low, found.high


def test_paired_interval_is_scipys_but_for_skewness() -> None:
    """The interval of amounts is the corrected t of the differences; of many even ones scipy.stats.ttest_rel's."""
    g = np.random.default_rng(1)
    for n in (2, 7, 3_000):
        base, shift = g.gamma(2, 300, 2 * n), g.normal(0, 100, n)
        even = np.concatenate([shift, -shift]) + 20
        for level in (0.8, 0.95, 0.999):
            if n > 1_000:
                theirs = scipy.stats.ttest_rel(base + even, base).confidence_interval(level)
                assert ends(paired_interval(base + even, base, kind="amount", level=level)) == pytest.approx(
                    (theirs.low, theirs.high), rel=2e-3
                )
            skewed = even**2
            found = paired_interval(base + skewed, base, kind="amount", level=level)
            assert ends(found) == pytest.approx(ends(skew_corrected_t(skewed, level=level)))
    assert found is not None
    assert found.method == "paired skew-corrected t"


def test_clusters_are_those_of_the_differences() -> None:
    """Pairs of one cluster are not independent: the interval is the clustered corrected t of the differences."""
    g = np.random.default_rng(2)
    labels = np.repeat(np.arange(12), 4)
    base, shift = g.random(48), g.normal(0, 0.1, 12)[labels]
    new = base + shift
    found = paired_interval(new, base, kind="mean", clusters=labels, bounds=(0, 1))
    assert ends(found) == pytest.approx(ends(skew_corrected_t(new - base, clusters=labels)))
    assert found is not None
    assert found.method == "paired skew-corrected clustered t by sign flips"
    alone = paired_interval(new, base, kind="mean", clusters=np.arange(48), bounds=(0, 1))
    assert alone == paired_interval(new, base, kind="mean", bounds=(0, 1))
    assert ends(found)[1] - ends(found)[0] > ends(alone)[1] - ends(alone)[0]


def test_agresti_min_by_hand() -> None:
    """Two gained and eight lost of 50: half a pair added to each of four cells."""
    # q = 2.5/52 = .048077, p = 8.5/52 = .163462, d = -.115385
    # variance (.048077 + .163462 - .013314) / 52 = .0038120, times 1.959964 after the root: .121012
    assert ends(agresti_min(2, 8, 50)) == pytest.approx((-0.236396, 0.005627), abs=1e-6)
    new = [1] * 2 + [0] * 8 + [1] * 30 + [0] * 10
    base = [0] * 2 + [1] * 8 + [1] * 30 + [0] * 10
    assert paired_interval(new, base, kind="rate") == agresti_min(2, 8, 50)
    assert paired_interval(new, base, kind="mean", bounds=(0, 1)) == agresti_min(2, 8, 50)
    assert paired_interval(new, base, kind="amount") != agresti_min(2, 8, 50)
    assert agresti_min(0, 0, 0) is None
    # no pair differs: 0 +- z sqrt(1/(n+2)) / sqrt(n+2)
    assert ends(agresti_min(0, 0, 98)) == pytest.approx((-0.01959964, 0.01959964))


def test_weighted_rate_counts_effective_pairs() -> None:
    """Equal weights change nothing; unequal ones count Kish's effective number of pairs."""
    new, base = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0, 0.0]
    assert paired_interval(new, base, kind="rate", weights=[3.0] * 6) == paired_interval(new, base, kind="rate")
    weights = [1.0, 1.0, 1.0, 1.0, 1.0, 4.0]  # sum 9, squares 21: n = 81/21; gained 5/9, lost 1/9
    n = 81 / 21
    assert paired_interval(new, base, kind="rate", weights=weights) == agresti_min(5 / 9 * n, 1 / 9 * n, n)
    without = paired_interval([*new, 0.0], [*base, 1.0], kind="rate", weights=[1.0] * 6 + [0.0])
    assert without == paired_interval(new, base, kind="rate")


def test_equal_runs_keep_a_width() -> None:
    """The same run twice has the difference 0, and an interval as wide as the rule of three says."""
    values = np.random.default_rng(3).random(100)
    share = ends(wilson_interval(0, 100))[1]
    assert ends(paired_interval(values, values, kind="mean", bounds=(0, 1))) == pytest.approx((-share, share))
    clusters = [i // 5 for i in range(100)]
    few = ends(wilson_interval(0, 20))[1]
    found = paired_interval(values, values, kind="mean", bounds=(0, 1), clusters=clusters)
    assert ends(found) == pytest.approx((-few, few))
    low, high = ends(paired_interval([1.0] * 30, [0.5] * 30, kind="mean", bounds=(0, 1)))
    share = ends(wilson_interval(0, 30))[1]
    assert (low, high) == pytest.approx((0.5 - 1.5 * share, 0.5 + 0.5 * share))


def test_amounts_that_all_moved_alike() -> None:
    """A cost that doubled on each of 200 examples has risen; others differ by no more than the largest amount seen."""
    share = ends(wilson_interval(0, 200))[1]
    found = ends(paired_interval([0.0042] * 200, [0.0021] * 200, kind="amount", bounds=(0, inf)))
    assert found == pytest.approx((0.0021 - share * (0.0021 + 0.0042), 0.0021 + share * (0.0042 - 0.0021)))
    assert found[0] > 0
    same = np.linspace(1, 9, 50)
    share = ends(wilson_interval(0, 50))[1]
    assert ends(paired_interval(same, same, kind="amount", bounds=(0, inf))) == pytest.approx((-9 * share, 9 * share))
    assert paired_interval([0.0] * 9, [0.0] * 9, kind="amount", bounds=(0, inf)) is None


def test_too_few_pairs_have_no_interval() -> None:
    """Fewer than two pairs, or than two clusters, have none: never one of width 0."""
    assert paired_interval([], [], kind="mean", bounds=(0, 1)) is None
    assert paired_interval([1.0], [0.0], kind="rate") is None
    assert paired_interval([1.0, 0.5], [0.0, 0.0], kind="mean", clusters=["a", "a"], bounds=(0, 1)) is None
    assert paired_interval([1.0, 0.5], [0.0, 0.0], kind="mean", weights=[1.0, 0.0], bounds=(0, 1)) is None
    assert unpaired_interval([1.0], [0.0, 1.0, 0.0], kind="rate") is None


def test_unpaired_rates_equal_newcombe() -> None:
    """56 of 70 against 48 of 80: the interval that Newcombe (1998) prints for his method 10."""
    new, base = [1.0] * 56 + [0.0] * 14, [1.0] * 48 + [0.0] * 32
    assert ends(unpaired_interval(new, base, kind="rate")) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_unpaired_means_are_near_welch() -> None:
    """For amounts the interval is within 3 % of the width of scipy's Welch interval."""
    g = np.random.default_rng(5)
    new, base = g.normal(3, 1, 40), g.normal(2, 3, 60)
    theirs = scipy.stats.ttest_ind(new, base, equal_var=False).confidence_interval()
    low, high = ends(unpaired_interval(new, base, kind="amount"))
    width = theirs.high - theirs.low
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.03 * width)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30),
    st.sampled_from(["rate", "mean"]),
    st.floats(0.5, 0.99),
)
def test_laws_of_paired_intervals(pairs: list[tuple[float, float]], kind: Any, level: float) -> None:
    """It lies in [-1, 1], turns its sign with the sides, widens with the level, and holds 0 for equal sides."""
    new, base = ([pair[side] for pair in pairs] for side in (0, 1))
    low, high = ends(paired_interval(new, base, kind=kind, level=level, bounds=(0, 1)))
    assert -1 <= low <= high <= 1
    back = ends(paired_interval(base, new, kind=kind, level=level, bounds=(0, 1)))
    assert back == pytest.approx((-high, -low), abs=1e-9)
    wider = ends(paired_interval(new, base, kind=kind, level=(1 + level) / 2, bounds=(0, 1)))
    unsure = 1e-9 if len(pairs) <= 13 else 2e-3 * (high - low)  # of random patterns of signs
    assert wider[0] <= low + unsure
    assert high <= wider[1] + unsure
    same = ends(paired_interval(new, new, kind=kind, level=level, bounds=(0, 1)))
    assert same[0] < 0 < same[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda: paired_interval([1, 2], [1], kind="mean"),
        lambda: paired_interval([1, 2], [1, 3], kind="mean", level=1.0),
        lambda: paired_interval([1, 2], [1, 3], kind="mean", weights=[1, -1]),
        lambda: paired_interval([1, 2], [1, 3], kind="mean", clusters=["a"]),
        lambda: agresti_min(5, 6, 10),
        lambda: agresti_min(-1, 0, 10),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], object]) -> None:
    """Sides of unequal length, wrong levels, weights, clusters and counts are UsageErrors."""
    with pytest.raises(UsageError, match=r"must|differ in length"):
        call()


# --- coverage ---


def amounts(n: int) -> Callable[[np.random.Generator], Pairs]:
    """Normal differences with mean 0.3."""

    def draw(g: np.random.Generator) -> Pairs:
        base = g.normal(5, 3, n)
        return base + g.normal(0.3, 1, n), base, {}

    return draw


def shares(n: int) -> Callable[[np.random.Generator], Pairs]:
    """Shares of four claims; two of three examples keep their value, the others are drawn anew, a little lower."""

    def draw(g: np.random.Generator) -> Pairs:
        base = g.binomial(4, 0.8, n) / 4
        again = g.random(n) < 1 / 3
        return np.where(again, g.binomial(4, 0.8 - 0.09, n) / 4, base), base, {}

    return draw


def rates(n: int) -> Callable[[np.random.Generator], Pairs]:
    """0 or 1; 10 % of the pairs are lost and 4 % gained, so that the difference is -0.06."""

    def draw(g: np.random.Generator) -> Pairs:
        u = g.random(n)
        base = np.where(u < 0.10, 1.0, np.where(u < 0.14, 0.0, (g.random(n) < 0.7).astype(float)))
        new = np.where(u < 0.10, 0.0, np.where(u < 0.14, 1.0, base))
        return new, base, {}

    return draw


def grouped(groups: int) -> Callable[[np.random.Generator], Pairs]:
    """Five pairs a cluster that share half of the variance of their difference; mean 0.3."""

    def draw(g: np.random.Generator) -> Pairs:
        labels = np.repeat(np.arange(groups), 5)
        base = g.normal(5, 3, labels.size)
        shift = 0.3 + g.normal(0, 1, groups)[labels] + g.normal(0, 1, labels.size)
        return base + shift, base, {"clusters": labels}

    return draw


COVERAGE: dict[str, tuple[Callable[[np.random.Generator], Pairs], float, Any, tuple[float, float]]] = {
    "t, n=10": (amounts(10), 0.3, "amount", (-inf, inf)),
    "t, shares, n=60": (shares(60), -0.03, "mean", (0, 1)),
    "t, shares, n=400": (shares(400), -0.03, "mean", (0, 1)),
    "Agresti-Min, n=40": (rates(40), -0.06, "rate", (0, 1)),
    "Agresti-Min, n=200": (rates(200), -0.06, "rate", (0, 1)),
    "clustered, 20": (grouped(20), 0.3, "amount", (-inf, inf)),
}


def missed(case: str, times: int) -> tuple[float, float]:
    """Shares of intervals wholly above and wholly below the truth."""
    draw, truth, kind, bounds = COVERAGE[case]
    g, above, below = np.random.default_rng(17), 0, 0
    for _ in range(times):
        new, base, more = draw(g)
        low, high = ends(paired_interval(new, base, kind=kind, bounds=bounds, **more))
        above += truth < low
        below += truth > high
    return above / times, below / times


@pytest.mark.parametrize(("times", "off"), [(300, 0.038), pytest.param(1_000, 0.025, marks=pytest.mark.prove)])
@pytest.mark.parametrize("case", COVERAGE)
def test_coverage_of_paired_intervals(case: str, times: int, off: float) -> None:
    """At level 0.95 between 92.5 and 97.5 % of 1,000 intervals hold the true difference, of 300 nearly as many."""
    above, below = missed(case, times)
    assert abs(1 - above - below - 0.95) <= off


@pytest.mark.prove
@pytest.mark.parametrize("case", COVERAGE)
def test_coverage_of_paired_intervals_in_the_long_run(case: str) -> None:
    """At level 0.95 between 94 and 96.5 % of 4,000 intervals hold the true difference, and no side misses 4 %."""
    above, below = missed(case, 4_000)
    assert 0.94 <= 1 - above - below <= 0.965
    assert max(above, below) <= 0.04


@pytest.mark.prove
def test_coverage_of_unpaired_intervals() -> None:
    """At level 0.95 between 94 and 96.5 % of 5,000 intervals hold the difference of two rates, and of two means."""
    for kind in ("rate", "mean"):
        g, held = np.random.default_rng(8), 0
        for _ in range(5_000):
            if kind == "rate":
                new, base = ((g.random(n) < p).astype(float) for n, p in ((80, 0.8), (120, 0.7)))
            else:
                new, base = g.binomial(4, 0.8, 80) / 4, g.binomial(4, 0.7, 120) / 4
            low, high = ends(unpaired_interval(new, base, kind=kind, bounds=(0, 1)))
            held += low <= 0.1 <= high
        assert 0.94 <= held / 5_000 <= 0.965


def test_ignoring_the_pairs_is_wider() -> None:
    """The simulation has teeth: of correlated pairs the unpaired interval is more than twice as wide."""
    g = np.random.default_rng(9)
    base = g.random(200)
    new = base + g.normal(0, 0.05, 200)
    low, high = ends(paired_interval(new, base, kind="amount"))
    far = ends(unpaired_interval(new, base, kind="amount"))
    assert far[1] - far[0] > 2 * (high - low)
    assert far[1] - far[0] == pytest.approx(2 * 1.97 * sqrt((new.var() + base.var()) / 199), rel=0.04)
