"""Sign flips where a few values carry the spread: against SciPy, against every pattern, and by simulation."""

from __future__ import annotations

import doctest
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ragauge.stats import outliers
from ragauge.stats.outliers import MOST_BLOCKS, PATTERNS, Sides, Subsets, by_signs, least_by_signs
from ragauge.stats.result import Alternative
from ragauge.stats.skewed import corrected, skew_corrected_t, skew_corrected_test
from ragauge.stats.student import paired_t
from ragauge.stats.weighted import estimate

sizes = st.integers(-99, 99).map(lambda x: x**3 / 100.0)
far = st.lists(sizes, min_size=6, max_size=30).filter(lambda x: len(set(x)) > 1)


def sides(x: Any, **options: Any) -> Sides:
    """At which ends signs decide for these values."""
    found = estimate(x, **options)
    assert found is not None
    return by_signs(found)


def test_docstring_examples() -> None:
    """Every example in the docstrings gives what it says."""
    found = doctest.testmod(outliers)
    assert found.attempted
    assert not found.failed


def test_who_carries_the_spread() -> None:
    """Signs decide where few values carry the spread: towards the others, at both ends where the far values balance."""
    near = list(np.random.default_rng(1).normal(0, 1, 18))
    assert sides(near) == (False, False)
    assert sides([*near, 60, 70]) == (True, False)
    assert sides([*near, -60, -70]) == (False, True)
    assert sides([*near, -60, 60]) == (True, True)
    assert sides([1, 2, 3, 4, 90]) == (False, False)     # of five values no pattern is rare enough
    assert sides([3.0] * 20) == (False, False)
    found = estimate([*near, 60, 70])
    assert found is not None
    parts = np.array([*near, 60, 70]) - found.mean
    assert found.carriers == pytest.approx((parts**2).sum() ** 2 / (parts**4).sum())


@pytest.mark.parametrize("above", [True, False])
def test_p_is_that_of_every_pattern(above: bool) -> None:
    """Of twelve values the p-value is SciPy's permutation test of their mean, every pattern of signs once."""
    for seed in range(5):
        x = np.random.default_rng(seed).standard_t(1, 12) + 0.7
        options: Any = {"n_resamples": np.inf, "alternative": "greater" if above else "less"}
        theirs: Any = scipy.stats.permutation_test((x,), np.mean, permutation_type="samples", **options)
        assert Subsets(x, None, None).p_value(above=above) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_ends_are_where_a_shifted_test_begins_to_reject() -> None:
    """At an end of the interval sign flips of what is left say alpha or more, a hair outside it alpha or less."""
    x = np.random.default_rng(7).standard_cauchy(10)
    patterns = np.array(list(product((-1, 1), repeat=10)))
    subsets = Subsets(x, None, None)
    for alpha in (0.2, 0.05, 0.025, 0.01):
        for low in (True, False):
            end, outwards = subsets.end(alpha, np.nan, low=low), -1 if low else 1

            def p_at(mean: float, turned: int = outwards) -> float:
                shifted = turned * (mean - x)
                return float((patterns @ shifted >= shifted.sum() - 1e-9).mean())

            assert p_at(end) > alpha
            assert p_at(end + outwards * 1e-6) <= alpha


@given(far, st.sampled_from([0.8, 0.9, 0.95, 0.99, 0.9999]))
def test_interval_and_test_agree(x: list[float], level: float) -> None:
    """0 lies outside exactly where p <= 1 − level, also where values lie far off, on one side or on both."""
    found, two = skew_corrected_t(x, level=level), skew_corrected_test(x)
    if found is None or two is None or min(abs(found.low), abs(found.high)) < 1e-9:
        return
    assert (two.p_value <= (1 - level) * (1 + 1e-9)) == (found.low > 0 or found.high < 0)
    assert ("sign flips" in found.method) == any(sides(x))
    outsides: dict[Alternative, bool] = {"greater": found.low > 0, "less": found.high < 0}
    for alternative, outside in outsides.items():
        one = skew_corrected_test(x, alternative=alternative)
        assert one is not None
        assert (one.p_value <= (1 - level) / 2 * (1 + 1e-9)) == outside


@given(far, st.sampled_from([0.85, 0.9, 0.95, 0.99]))
def test_no_end_is_nearer_than_a_standard_error(x: list[float], level: float) -> None:
    """An end that signs decide lies at least `least_by_signs` standard errors from the mean, on its own side of it."""
    found, plain = skew_corrected_t(x, level=level), estimate(x)
    assert found is not None
    assert plain is not None
    least = least_by_signs((1 - level) / 2, len(x))
    assert least == 1
    for decided, far_off in zip(by_signs(plain), (plain.mean - found.low, found.high - plain.mean), strict=True):
        if decided:
            assert far_off >= least * plain.error * (1 - 1e-9)


def test_what_patterns_cannot_tell_t_does() -> None:
    """Where none of 9,999 patterns gets as far as the mean, p is what t says if that is less; so with a far end."""
    x = np.concatenate([np.random.default_rng(1).uniform(60, 61, 38), [1_000, 1_000]])
    assert sides(x) == (True, False)
    found, plain = skew_corrected_test(x), estimate(x)
    assert found is not None
    assert plain is not None
    assert found.method == "paired skew-corrected t with p by sign flips"
    by_t = corrected(plain.mean / plain.error, plain)
    assert found.p_value == pytest.approx(min(2 / (PATTERNS + 1), 2 * float(scipy.stats.t.sf(by_t, plain.df))))
    for level in (0.999, 0.9999, 0.99999):
        interval = skew_corrected_t(x, level=level)
        assert interval is not None
        assert (interval.low > 0) == (found.p_value <= 1 - level)


def test_weights_and_clusters_flip_together() -> None:
    """Copies in clusters and weights that are alike change nothing; a cluster changes its sign as one."""
    x = np.random.default_rng(4).standard_cauchy(20)
    alone = Subsets(x, None, None)
    for copied in (Subsets(np.repeat(x, 3), None, np.repeat(np.arange(20), 3)), Subsets(x, [2.0] * 20, None)):
        assert copied.p_value(above=True) == alone.p_value(above=True)
        assert copied.end(0.025, 0, low=True) == pytest.approx(alone.end(0.025, 0, low=True))
    in_twos = Subsets(x, None, np.arange(20) // 2)
    summed = Subsets(x.reshape(10, 2).sum(axis=1), None, None)
    assert in_twos.p_value(above=False) == summed.p_value(above=False)
    heavier = Subsets([*x, 5.0], [*[1.0] * 20, 0.0], None)
    assert heavier.end(0.05, 0, low=False) == pytest.approx(alone.end(0.05, 0, low=False))


def test_of_many_values_neighbours_flip_together() -> None:
    """Of more than 1,000 values blocks flip, with an interval like that of all; nothing is promised of its width."""
    x = np.random.default_rng(5).standard_cauchy(2 * MOST_BLOCKS)
    blocks, all_of_them = Subsets(x, None, None), Subsets(x[:MOST_BLOCKS], None, None)
    assert blocks.end(0.025, 0, low=True) < x.mean() < blocks.end(0.025, 0, low=False)
    assert least_by_signs(0.05, MOST_BLOCKS) == 1
    assert least_by_signs(0.05, MOST_BLOCKS + 1) == 0
    assert all_of_them.least == 1 / (PATTERNS + 1)


@pytest.mark.parametrize("n", [10, 20, 100, 3_000])
@pytest.mark.parametrize("name", ["Cauchy", "a hundred times as wide"])
def test_far_values_that_mean_nothing(n: int, name: str) -> None:
    """Where values lie far off and nothing changed 5 % are called changed, be it of 10 values or of 3,000.

    Student's t calls 1 to 3 % of Cauchy's so.
    """
    g, draws = np.random.default_rng([11, n]), 2_000 if n < 3_000 else 400
    wide = None if name == "Cauchy" else 100
    alarms = {skew_corrected_test: 0, paired_t: 0}
    for _ in range(draws):
        x = g.standard_cauchy(n) if wide is None else g.normal(0, np.where(g.random(n) < 0.05, wide, 1))
        for test in alarms:
            one = test(x)
            assert one is not None
            alarms[test] += one.p_value <= 0.05
    ours, students = (100 * count / draws for count in alarms.values())
    assert ours == pytest.approx(5, abs=300 * (0.05 * 0.95 / draws) ** 0.5)     # three standard errors
    assert wide or students < 3.5
