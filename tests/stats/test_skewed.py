"""The skewness-corrected t: against its formula by root finding, its interval against its test, and by simulation."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ragauge.stats import quantiles, skewed
from ragauge.stats.difference import paired_test
from ragauge.stats.intervals import student_t
from ragauge.stats.outliers import by_signs
from ragauge.stats.paired import paired_interval
from ragauge.stats.skewed import least_reach, skew_corrected_t, skew_corrected_test
from ragauge.stats.student import paired_t
from ragauge.stats.weighted import estimate

numbers = st.integers(-10_000, 10_000).map(lambda x: x / 100)
lists = st.lists(numbers, min_size=3, max_size=40).filter(lambda x: len(set(x)) > 1)


@pytest.mark.parametrize("module", [skewed, quantiles])
def test_docstring_examples(module: Any) -> None:
    """Every example in the docstrings gives what it says."""
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


def bent(x: Any, side: float, *, shorten: bool) -> tuple[float, float]:
    """What k and y are at that end of the 95 % interval, as the docstring has them, with SciPy's moments."""
    n, at = len(x), side * scipy.stats.t.ppf(0.975, len(x) - 1)
    share, skewness = min(1, n / 20), scipy.stats.skew(x) / n**0.5
    if not shorten:
        k = max(-0.44, min(0.44, share * skewness))
        return (k if k * side < 0 else 0.0), at
    excess = scipy.stats.kurtosis(x, fisher=False) / n - 3 * (n - 1) / (n * (n + 1))
    leaning = 2.25 * (excess - 3 * n / (2 * n + 90) * skewness**2)
    k = share * skewness - share**2 * leaning * max(-2, min(2, at))
    k = k if k * skewness > 0 or leaning < 0 else 0.0
    if k * side < 0:
        k = (1 + 10 * share / n) * (share * skewness if abs(k) > abs(share * skewness) else k)
    y = at * (1 + (share**2 * min(4, abs(at)) ** 2 / n) ** 2) ** 0.5
    return max(-0.44, -0.945 / abs(y), min(0.44, 0.945 / abs(y), k)), y


@pytest.mark.parametrize("shorten", [True, False])
def test_ends_are_the_means_that_halls_statistic_does_not_reject(shorten: bool) -> None:
    """The ends solve the formula of the docstring, written down here once more, with SciPy's moments and quantile."""
    for seed, n in enumerate((8, 20, 60)):
        x = np.random.default_rng(seed).gamma(3, 1, n)
        error, plain = scipy.stats.sem(x), estimate(x)
        assert plain is not None
        assert not any(by_signs(plain))

        def over(t: float, side: float, x: Any = x) -> float:
            k, y = bent(x, side, shorten=shorten)
            return float(t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6 - y)

        low = x.mean() - error * scipy.optimize.brentq(over, 0, 99, args=(1.0,))
        high = x.mean() - error * scipy.optimize.brentq(over, -99, 0, args=(-1.0,))
        found = skew_corrected_t(x, shorten=shorten)
        assert found is not None
        assert (found.low, found.high) == pytest.approx((low, high))
        assert found.high - x.mean() > x.mean() - found.low     # the long tail is above
        mirrored = skew_corrected_t(-x, shorten=shorten)
        assert mirrored is not None
        assert (mirrored.low, mirrored.high) == pytest.approx((-high, -low))


def test_without_skewness_both_sides_are_alike() -> None:
    """Symmetric values have as much on either side; of 5,000 normal values it is Student's interval and test."""
    even = skew_corrected_t(np.array([-3.0, -1, 0, 1, 3]) + 0.7)
    assert even is not None
    assert even.high - 0.7 == pytest.approx(0.7 - even.low)
    x = np.random.default_rng(3).normal(0.02, 1, 5_000)
    mine, students = skew_corrected_t(x), student_t(x)
    assert mine is not None
    assert students is not None
    assert (mine.low, mine.high) == pytest.approx((students.low, students.high), abs=2e-4)     # of a width of 0.055
    one, other = skew_corrected_test(x), paired_t(x)
    assert one is not None
    assert other is not None
    assert one.p_value == pytest.approx(other.p_value, abs=2e-3)


@pytest.mark.parametrize("name", ["light tails", "heavy tails"])
def test_a_hair_of_skewness_changes_nothing(name: str) -> None:
    """Values skewed by a millionth to either side have one interval: nothing jumps at a skewness of 0."""
    half = np.linspace(0, 1, 12) ** (1 if name == "light tails" else 6)
    found = [skew_corrected_t(np.concatenate([-half, half * (1 + nudge)])) for nudge in (-1e-6, 0, 1e-6)]
    ends = [(one.low, one.high) for one in found if one is not None]
    assert len(ends) == 3
    assert np.ptp(np.array(ends), axis=0) == pytest.approx(0, abs=1e-5)


@given(lists, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_interval_and_test_agree(x: list[float], level: float) -> None:
    """0 lies outside exactly where p < 1 − level, and one side of it where the one-sided p is below half of that."""
    found, two = skew_corrected_t(x, level=level), skew_corrected_test(x)
    if found is None or two is None or min(abs(found.low), abs(found.high)) < 1e-9:
        return
    assert (two.p_value < 1 - level) == (found.low > 0 or found.high < 0)
    above, below = (skew_corrected_test(x, alternative=side) for side in ("greater", "less"))
    assert above is not None
    assert below is not None
    assert (above.p_value < (1 - level) / 2) == (found.low > 0)
    assert (below.p_value < (1 - level) / 2) == (found.high < 0)


@given(lists)
def test_how_near_and_how_far_an_end_can_be(x: list[float]) -> None:
    """However skewed the values, an end lies at least `least_reach` standard errors from the mean, at most 2.3 y.

    Where signs may decide the nearest is 1.
    """
    found, students = skew_corrected_t(x), estimate(x)
    assert found is not None
    assert students is not None
    reach = 1.0 if any(by_signs(students)) else least_reach(float(scipy.stats.t.ppf(0.975, students.df)))
    nearest = reach * students.error
    assert students.mean - found.low >= nearest * (1 - 1e-9)
    assert found.high - students.mean >= nearest * (1 - 1e-9)
    furthest = 2.3 * bent(x, 1.0, shorten=True)[1] * students.error
    assert students.mean - found.low <= furthest
    assert found.high - students.mean <= furthest


@pytest.mark.parametrize("n", [12, 20, 30, 60])
@pytest.mark.parametrize("largest", [2.0, 3.0, 5.0])
def test_one_large_gain_among_small_ones_is_no_doubt(n: int, largest: float) -> None:
    """Where every pair gained, one that gained much more leaves it a gain: p < 0.01, and the interval above 0."""
    x = np.append(np.random.default_rng(4).uniform(0.5, 1.5, n - 1), largest)
    found, interval = skew_corrected_test(x), skew_corrected_t(x)
    assert found is not None
    assert interval is not None
    assert found.p_value < 0.01
    assert interval.low > 0.25


def test_clusters_and_weights_count() -> None:
    """Of copies in 25 clusters only the error grows, by 1/34; weights that are alike change nothing, of 0 leave out."""
    x = np.random.default_rng(2).exponential(1, 25)
    alone, copied = skew_corrected_t(x), skew_corrected_t(np.repeat(x, 4), clusters=np.repeat(np.arange(25), 4))
    assert alone is not None
    assert copied is not None
    wider = [(end - x.mean()) * 35 / 34 + x.mean() for end in (alone.low, alone.high)]
    assert [copied.low, copied.high] == pytest.approx(wider)
    assert copied.method == "skew-corrected clustered t"
    weighted = skew_corrected_t(np.append(x, 99.0), weights=[3.0] * 25 + [0.0])
    assert weighted is not None
    assert (alone.low, alone.high) == pytest.approx((weighted.low, weighted.high))


def test_a_mean_that_is_next_to_nothing_is_no_evidence() -> None:
    """Differences of 1e150 whose mean is 2.5e-171 have p of about 1, and an interval around 0 at any level."""
    x = [1e150, -1e150, 1e-170, 0.0]
    found, narrow = skew_corrected_test(x), skew_corrected_t(x, level=1e-17)
    assert found is not None
    assert narrow is not None
    assert found.p_value == pytest.approx(1.0)
    assert narrow.low <= 0 <= narrow.high


def test_too_little_has_none() -> None:
    """Fewer than two values have no interval and no test; values all alike but not 0 no test."""
    assert skew_corrected_t([1.0]) is None
    assert skew_corrected_test([1.0]) is None
    assert skew_corrected_test([1.0, 1.0, 1.0]) is None
    found = skew_corrected_test([0.0, 0.0])
    assert found is not None
    assert found.p_value == 1.0


DRAWN = {
    "normal": lambda g, n: g.normal(0, 1, n),
    "skewed": lambda g, n: g.exponential(1, n) - 1,
    "long tails": lambda g, n: g.lognormal(0, 1, n) - g.lognormal(0, 1, n),
    "no tails": lambda g, n: g.uniform(-1, 1, n),
}


@pytest.mark.parametrize("name", DRAWN)
def test_false_alarms_at_twenty_pairs(name: str) -> None:
    """Of 4,000 draws of 20 pairs without a difference the default cries wolf in about 5 %, whatever their tails.

    At a level of 1 %, which families of tests come to, in 2 % at most. Where the interval leaves 0 out the test does.
    """
    g = np.random.default_rng(8)
    found = []
    for _ in range(4_000):
        row = DRAWN[name](g, 20)
        tested = paired_test(row, 0 * row, kind="amount")
        interval = paired_interval(row, 0 * row, kind="amount")
        assert tested is not None
        assert interval is not None
        assert (interval.low <= 0 <= interval.high) == (tested.p_value > 0.05)
        found.append(tested.p_value)
    assert 0.036 <= np.mean(np.array(found) <= 0.05) <= 0.058
    assert np.mean(np.array(found) <= 0.01) <= 0.02


def test_weights_alone_are_not_taken_for_heavy_tails() -> None:
    """Of 30 normal values of unequal weight as many intervals in 4,000 hold the mean as Student's, to a point."""
    g, weights = np.random.default_rng(9), np.tile([1.0, 2.0, 5.0], 10)
    held = [0, 0]
    for _ in range(4_000):
        x = g.normal(0, 1, 30)
        for place, found in enumerate((skew_corrected_t(x, weights), student_t(x, weights))):
            assert found is not None
            held[place] += found.low <= 0 <= found.high
    assert abs(held[0] - held[1]) <= 40


@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("name", ["t of 3 degrees", "long tails"])
def test_heavy_tails_leave_the_power_to_find_a_change(name: str, n: int) -> None:
    """Of symmetric differences with heavy tails it finds at least four of five changes that Student's t finds."""
    g, found = np.random.default_rng(10), [0, 0]
    for _ in range(2_000):
        row = g.standard_t(3, n) / 3**0.5 if name == "t of 3 degrees" else DRAWN[name](g, n) / 3.056
        for place, tested in enumerate((skew_corrected_test(row + 2.6 / n**0.5), paired_t(row + 2.6 / n**0.5))):
            assert tested is not None
            found[place] += tested.p_value <= 0.05
    assert found[0] >= 0.8 * found[1]
