"""Effect sizes."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest
import scipy.stats

from ragauge.core.errors import UsageError
from ragauge.stats.effects import cohens_h, standardized_difference, win_tie_loss
from ragauge.stats.intervals import mean_interval


def test_standardized_difference_by_hand() -> None:
    """Mean over deviation, times Hedges' factor, which is near 1 − 3/(4·df − 1)."""
    d = [0.5, 1.0, -0.5, 2.0, 1.5, 0.0]  # mean 0.75, sum of squared deviations 4.375, s² = 0.875
    found = standardized_difference(d)
    assert found is not None
    assert found.value == pytest.approx(0.75 / 0.875**0.5 * (1 - 3 / 19), rel=0.002)
    assert found.n == 6


@pytest.mark.parametrize(
    ("shift", "n"), [(0.0, 10), (0.5, 25), (-3.0, 8), (2.0, 3), (1.0, 4), (0.05, 3_000), (0.4, 10_000)]
)
def test_interval_is_where_the_noncentral_t_puts_it(shift: float, n: int) -> None:
    """At either end the t that was seen is the 97.5 or 2.5 % quantile of SciPy's noncentral t."""
    d = np.random.default_rng(n).normal(shift, 1, n)
    found = standardized_difference(d)
    assert found is not None
    t = float(scipy.stats.ttest_1samp(d, 0).statistic)
    assert found.interval.low < found.value < found.interval.high
    for end, share in ((found.interval.low, 0.975), (found.interval.high, 0.025)):
        assert scipy.stats.nct.cdf(t, n - 1, end * n**0.5) == pytest.approx(share, abs=1e-8)


def test_coverage_of_the_standardized_difference() -> None:
    """Of 1,000 intervals at n = 12, 93.5 to 96.5 % hold the true effect, and Hedges' estimate is unbiased."""
    g = np.random.default_rng(5)
    found: list[Any] = [standardized_difference(g.normal(0.6, 1, 12)) for _ in range(1_000)]
    assert 0.935 <= np.mean([one.interval.low <= 0.6 <= one.interval.high for one in found]) <= 0.965
    assert np.mean([one.value for one in found]) == pytest.approx(0.6, abs=0.03)


def test_cohens_h_is_statsmodels() -> None:
    """H is proportion_effectsize of statsmodels 0.15.0; from 0 to 1 it is π; swapping the rates turns its sign."""
    assert cohens_h(0.99, 0.98) == pytest.approx(0.0834592668852081)
    assert cohens_h(0.2, 0.5) == pytest.approx(-0.6435011087932846)
    assert cohens_h(1, 0) == pytest.approx(pi)
    assert cohens_h(0.3, 0.4) == -cohens_h(0.4, 0.3)


def test_wins_ties_and_losses() -> None:
    """Counts add up to the pairs, ties count half, a width makes small differences ties, sides swap."""
    new, base = [0.9, 0.5, 0.4, 0.8, 0.7], [0.5, 0.5, 0.6, 0.79, 0.1]
    found = win_tie_loss(new, base)
    assert found is not None
    assert (found.wins, found.ties, found.losses, found.superiority) == (3, 1, 1, 0.7)
    assert found.interval == mean_interval([1, 0.5, 0, 1, 1], kind="mean", bounds=(0, 1))
    wide = win_tie_loss(new, base, within=0.05)
    assert wide is not None
    assert (wide.wins, wide.ties, wide.losses) == (2, 2, 1)
    back = win_tie_loss(base, new)
    assert back is not None
    assert (back.wins, back.losses, back.superiority) == (1, 3, 0.3)
    heavy = win_tie_loss(new, base, weights=[0.0, 1, 1, 0, 2])
    assert heavy is not None
    assert (heavy.wins, heavy.ties, heavy.losses, heavy.superiority) == (1, 1, 1, 0.625)
    grouped = win_tie_loss(new, base, clusters=["a", "a", "b", "b", "c"])
    assert grouped is not None
    assert grouped.interval == mean_interval([1, 0.5, 0, 1, 1], kind="mean", bounds=(0, 1), clusters=list("aabbc"))


def test_few_pairs_have_no_effect_size() -> None:
    """No pairs, too few for a correction, and differences all alike have none, never 0 with an interval of 0."""
    assert standardized_difference([]) is None
    assert standardized_difference([1.0, 2.0]) is None
    assert standardized_difference([0.1] * 30) is None
    assert win_tie_loss([], []) is None
    single = win_tie_loss([1.0], [0.0])
    assert single is not None
    assert single.interval is None
    level = win_tie_loss([1.0] * 50, [1.0] * 50)
    assert level is not None
    assert level.interval is not None
    assert level.interval.high - level.interval.low > 0.1


@pytest.mark.parametrize(
    "call",
    [
        lambda: cohens_h(1.2, 0.5),
        lambda: win_tie_loss([1.0], [1.0, 2.0]),
        lambda: standardized_difference([1.0, 2.0, 4.0], level=1.0),
    ],
)
def test_wrong_arguments_are_named(call: Any) -> None:
    """Rates beyond [0, 1], unequal sides and wrong levels are UsageErrors."""
    with pytest.raises(UsageError, match=r"must|differ in length"):
        call()
