"""The skewness-corrected t: against its formula by root finding, its interval against its test, and by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from tests.stats.students import paired_t, student_t

from ragauge.stats.difference import paired_test
from ragauge.stats.skew_corrected_t import is_decided_by_signs, skew_corrected_t, skew_corrected_test
from ragauge.stats.weighted import Estimate, estimate_mean

numbers = st.integers(-10_000, 10_000).map(lambda x: x / 100)
lists = st.lists(numbers, min_size=3, max_size=40).filter(lambda x: len(set(x)) > 1)


def statistic(t: float, x: Any, *, shorten: bool) -> float:
    """T of the docstring for a mean above μ, written down here once more, with SciPy's moments."""
    n = len(x)
    share, skewness = min(1, n / 18), scipy.stats.skew(x) / n**0.5
    k = share * skewness
    if shorten:
        excess = scipy.stats.kurtosis(x, fisher=False) / n - 3 * (n - 1) / (n * (n + 1))
        leaning = share**2 * 3.5 * (excess - 3 * n / (2 * n + 90) * skewness**2) * t
        k = k - leaning if leaning < 0 else max(0, k - leaning) if skewness > 0 else k
        k = k if k > 0 else (1 + 12 * share / n) * k
    else:
        k = min(0, k)
    k = max(-0.5, min(0.5, k))
    return float(max(t / 1.9, t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6))


@pytest.mark.parametrize("shorten", [True, False])
def test_ends_are_the_means_that_are_not_rejected(shorten: bool) -> None:
    """Where Student's distribution is asked the ends solve the formula of the docstring, with SciPy's quantile."""
    for seed, n in enumerate((4, 5, 2_000) if shorten else (4, 20, 60)):
        x = np.random.default_rng(seed).gamma(3, 1, n)
        error, quantile = scipy.stats.sem(x), scipy.stats.t.ppf(0.975, n - 1)
        assert not is_decided_by_signs(estimated(x), shorten)
        found, mirrored = skew_corrected_t(x, shorten=shorten), skew_corrected_t(-x, shorten=shorten)
        assert found is not None
        assert mirrored is not None
        for side, end in ((1, found.low), (-1, found.high)):

            def over(t: float, values: Any = side * x, wanted: float = float(quantile)) -> float:
                return statistic(t, values, shorten=shorten) - wanted

            reached = scipy.optimize.brentq(over, 0, 99)
            assert end == pytest.approx(x.mean() - side * error * reached)
        assert n < 20 or found.high - x.mean() > x.mean() - found.low  # the long tail is above
        assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))
        tested = skew_corrected_test(x - 2.5, shorten=shorten)
        assert tested is not None
        side, t = np.sign(x.mean() - 2.5), abs(x.mean() - 2.5) / error
        assert tested.statistic == pytest.approx(side * statistic(t, side * (x - 2.5), shorten=shorten))


def estimated(x: Any) -> Estimate:
    """The estimate of values of which there is one."""
    found = estimate_mean(x)
    assert found is not None
    return found


def test_without_skewness_both_sides_are_alike() -> None:
    """Symmetric values have as much on either side; of 5,000 normal values it is Student's interval and test."""
    even = skew_corrected_t(np.array([-3.0, -1, 0, 1, 3]) + 0.7)
    assert even is not None
    assert even.high - 0.7 == pytest.approx(0.7 - even.low)
    x = np.random.default_rng(3).normal(0.02, 1, 5_000)
    mine, students = skew_corrected_t(x), student_t(x)
    assert mine is not None
    assert students is not None
    assert (mine.low, mine.high) == pytest.approx((students.low, students.high), abs=2e-4)  # of a width of 0.055
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
    assert np.ptp(np.array(ends), axis=0) == pytest.approx(0, abs=1e-3 * (ends[0][1] - ends[0][0]))


@given(lists, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_interval_and_test_agree(x: list[float], level: float) -> None:
    """0 lies outside exactly where p <= 1 − level, and one side of it where the one-sided p is below half of that."""
    found, two = skew_corrected_t(x, level=level), skew_corrected_test(x)
    if found is None or two is None or min(abs(found.low), abs(found.high)) < 1e-9:
        return
    assert (two.p_value <= (1 - level) * (1 + 1e-9)) == (found.low > 0 or found.high < 0)
    above, below = (skew_corrected_test(x, alternative=side) for side in ("greater", "less"))
    assert above is not None
    assert below is not None
    assert (above.p_value <= (1 - level) / 2 * (1 + 1e-9)) == (found.low > 0)
    assert (below.p_value <= (1 - level) / 2 * (1 + 1e-9)) == (found.high < 0)


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
    """Copies in clusters have the interval of one each; of 4 the error grows by 1/13. Weights of 0 leave out."""
    x = np.random.default_rng(2).exponential(1, 25)
    for n, wider in ((25, 1.0), (4, 14 / 13)):
        copies, labels = np.repeat(x[:n], 4), np.repeat(np.arange(n), 4)
        alone, copied = skew_corrected_t(x[:n]), skew_corrected_t(copies, clusters=labels)
        assert alone is not None
        assert copied is not None
        mean = x[:n].mean()
        wanted = [(end - mean) * wider + mean for end in (alone.low, alone.high)]
        assert [copied.low, copied.high] == pytest.approx(wanted)
        assert copied.method == "skew-corrected clustered t" + " by sign flips" * (n == 25)
        weighted = skew_corrected_t(np.append(x[:n], 99.0), weights=[3.0] * n + [0.0])
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


@pytest.mark.parametrize(
    ("draws", "off", "rare"), [(500, 0.03, 0.028), pytest.param(4_000, 0.011, 0.02, marks=pytest.mark.prove)]
)
@pytest.mark.parametrize("name", DRAWN)
def test_false_alarms_at_twenty_pairs(name: str, draws: int, off: float, rare: float) -> None:
    """Of thousands of draws of 20 pairs without a difference the default cries wolf in about 5 %, whatever their tails.

    At a level of 1 %, which families of tests come to, in 2 % at most; of 500 within three standard errors.
    """
    g = np.random.default_rng(8)
    found = []
    for _ in range(draws):
        row = DRAWN[name](g, 20)
        tested = paired_test(row, 0 * row, kind="amount")
        assert tested is not None
        found.append(tested.p_value)
    assert abs(np.mean(np.array(found) <= 0.05) - 0.047) <= off
    assert np.mean(np.array(found) <= 0.01) <= rare


@pytest.mark.parametrize(("draws", "off"), [(300, 0.035), pytest.param(2_000, 0.01, marks=pytest.mark.prove)])
def test_weights_alone_are_not_taken_for_heavy_tails(draws: int, off: float) -> None:
    """Of 30 normal values of unequal weight 94 to 96 % of 2,000 intervals hold the mean, of 300 as many nearly."""
    g, weights = np.random.default_rng(9), np.tile([1.0, 2.0, 5.0], 10)
    held = 0
    for _ in range(draws):
        found = skew_corrected_t(g.normal(0, 1, 30), weights)
        assert found is not None
        held += found.low <= 0 <= found.high
    assert abs(held / draws - 0.95) <= off


@pytest.mark.parametrize("draws", [500, pytest.param(2_000, marks=pytest.mark.prove)])
@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("name", ["t of 3 degrees", "long tails"])
def test_heavy_tails_leave_the_power_to_find_a_change(name: str, n: int, draws: int) -> None:
    """Of symmetric differences with heavy tails it finds at least four of five changes that Student's t finds."""
    g, found = np.random.default_rng(10), [0, 0]
    for _ in range(draws):
        row = g.standard_t(3, n) / 3**0.5 if name == "t of 3 degrees" else DRAWN[name](g, n) / 3.056
        for place, tested in enumerate((skew_corrected_test(row + 2.6 / n**0.5), paired_t(row + 2.6 / n**0.5))):
            assert tested is not None
            found[place] += tested.p_value <= 0.05
    assert found[0] >= 0.8 * found[1]
