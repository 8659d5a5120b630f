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


def test_ends_are_the_means_that_halls_statistic_does_not_reject() -> None:
    """The ends solve the formula of the docstring, written down here once more, with SciPy's skewness and quantile."""
    for seed, n in enumerate((8, 20, 60)):
        x = np.random.default_rng(seed).exponential(1, n)
        k = min(1, n / 20) * scipy.stats.skew(x) / n**0.5
        assert k > 0
        error, t = scipy.stats.sem(x), scipy.stats.t.ppf(0.975, n - 1)

        def statistic(mean: float, k: float, x: Any = x, error: float = error) -> float:
            s = (x.mean() - mean) / error
            return float(s + k * s**2 / 3 + k**2 * s**3 / 27 + k / 6)

        longer = min(0.45, (1 + 5 / max(n, 20)) * k)
        low = scipy.optimize.brentq(lambda m, k=k, t=t: statistic(m, k / 2) - t, x.mean() - 9 * error, x.mean())
        high = scipy.optimize.brentq(lambda m, k=longer, t=t: statistic(m, k) + t, x.mean(), x.mean() + 99 * error)
        found = skew_corrected_t(x)
        assert found is not None
        assert (found.low, found.high) == pytest.approx((low, high))
        mirrored = skew_corrected_t(-x)
        assert mirrored is not None
        assert (mirrored.low, mirrored.high) == pytest.approx((-high, -low))


def test_without_skewness_it_is_students() -> None:
    """Symmetric values have Student's interval and test."""
    x = np.array([-3.0, -1, 0, 1, 3]) + 0.7
    mine, students = skew_corrected_t(x), student_t(x)
    assert mine is not None
    assert students is not None
    assert (mine.low, mine.high) == pytest.approx((students.low, students.high))
    one, other = skew_corrected_test(x), paired_t(x)
    assert one is not None
    assert other is not None
    assert one.p_value == pytest.approx(other.p_value)


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
def test_either_side_reaches_at_least_the_least(x: list[float]) -> None:
    """However skewed the values, neither end lies nearer to the mean than `least_reach` standard errors."""
    found, students = skew_corrected_t(x), estimate(x)
    assert found is not None
    assert students is not None
    nearest = least_reach(float(scipy.stats.t.ppf(0.975, students.df))) * students.error
    assert students.mean - found.low >= nearest * (1 - 1e-9)
    assert found.high - students.mean >= nearest * (1 - 1e-9)


def test_clusters_and_weights_count() -> None:
    """Copies within clusters change nothing; a weight of 2 is not two pairs, a weight of 0 is none."""
    x = np.random.default_rng(2).exponential(1, 25)
    alone, copied = skew_corrected_t(x), skew_corrected_t(np.repeat(x, 4), clusters=np.repeat(np.arange(25), 4))
    assert alone is not None
    assert copied is not None
    assert (alone.low, alone.high) == pytest.approx((copied.low, copied.high))
    assert copied.method == "skew-corrected clustered t"
    weighted = skew_corrected_t(np.append(x, 99.0), weights=[3.0] * 25 + [0.0])
    assert weighted is not None
    assert (alone.low, alone.high) == pytest.approx((weighted.low, weighted.high))


def test_too_little_has_none() -> None:
    """Fewer than two values have no interval and no test; values all alike but not 0 no test."""
    assert skew_corrected_t([1.0]) is None
    assert skew_corrected_test([1.0]) is None
    assert skew_corrected_test([1.0, 1.0, 1.0]) is None
    found = skew_corrected_test([0.0, 0.0])
    assert found is not None
    assert found.p_value == 1.0


@pytest.mark.parametrize(("name", "least", "most"), [("normal", 0.040, 0.055), ("skewed", 0.036, 0.055)])
def test_false_alarms_at_twenty_pairs(name: str, least: float, most: float) -> None:
    """Of 4,000 draws of 20 pairs without any difference the default cries wolf in about 5 %, skewed or not."""
    g = np.random.default_rng(8)
    d = g.normal(0, 1, (4_000, 20)) if name == "normal" else g.exponential(1, (4_000, 20)) - 1
    wolf = held = 0
    for row in d:
        tested = paired_test(row, 0 * row, kind="amount")
        interval = paired_interval(row, 0 * row, kind="amount")
        assert tested is not None
        assert interval is not None
        wolf += tested.p_value <= 0.05
        held += interval.low <= 0 <= interval.high
    assert least <= wolf / 4_000 <= most
    assert held + wolf == 4_000
