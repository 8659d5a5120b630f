"""The judge's error: random effects of sources, and intervals widened by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.core.errors import UsageError
from ragauge.stats.effects import pool_effects
from ragauge.stats.judge_error import JudgeMeanError, widen_difference_interval, widen_interval
from ragauge.stats.weighted import Interval

Floats = npt.NDArray[np.float64]
Estimate = tuple[Interval, float, Floats]

PERFECT = JudgeMeanError((0.5,), (0.0, 0.0), (0.0, 0.0), 0.0, 0.0, 9)
USUAL = JudgeMeanError((0.3, 0.7), (-0.05, -0.1, 0.05), (0.06, 0.1, 0.05), 0.02, 0.05, 9)

shares = st.floats(0, 1)
spreads = st.floats(0, 0.3)


@st.composite
def errors(draw: st.DrawFn) -> JudgeMeanError:
    """Any judge, by three bands."""
    shifts = tuple(draw(st.floats(-0.4, 0.4)) for _ in range(3))
    wide = tuple(draw(spreads) for _ in range(3))
    paired = draw(spreads)
    return JudgeMeanError((0.3, 0.7), shifts, wide, paired, paired + draw(spreads), draw(st.integers(3, 20)))


@st.composite
def estimates(draw: st.DrawFn) -> tuple[Interval, float, Floats]:
    """Scores, none on an edge of a band, their mean, and an interval around it by sampling."""
    scores = st.sampled_from([0.0, 0.05, 0.29, 0.31, 0.5, 0.69, 0.71, 0.95, 1.0])
    values = np.array(draw(st.lists(scores, min_size=1, max_size=8)))
    mean = float(values.mean())
    return Interval(mean * draw(shares), mean + (1 - mean) * draw(shares), "t"), mean, values


def test_the_pooled_mean_is_that_of_paule_and_mandel() -> None:
    """Thirteen trials of the BCG vaccine: tau², mean and error as statsmodels 0.15 gives them.

    combine_effects(effects, variances, method_re="iterated", atol=1e-12): tau2, mean_effect_re, sd_eff_w_re. The log
    relative risks and variances are those of Colditz et al. (1994), JAMA 271, 698, to four decimals.
    """
    effects = [
        -0.8893,
        -1.5854,
        -1.3481,
        -1.4416,
        -0.2175,
        -0.7861,
        -1.6209,
        0.012,
        -0.4694,
        -1.3713,
        -0.3394,
        0.4459,
        -0.0173,
    ]
    variances = [0.3256, 0.1946, 0.4154, 0.02, 0.0512, 0.0069, 0.223, 0.004, 0.0564, 0.073, 0.0124, 0.5325, 0.0714]
    found = pool_effects(effects, variances)
    assert found.tau**2 == pytest.approx(0.31808243987504614, abs=1e-9)
    assert found.mean == pytest.approx(-0.7149703054401032, abs=1e-9)
    assert found.error == pytest.approx(0.18089453337148503, abs=1e-9)
    assert found.spread == pytest.approx((found.tau**2 + found.error**2) ** 0.5)


def test_sources_no_farther_apart_than_chance_have_no_spread() -> None:
    """Where Σ w (y − m)² is below k − 1 already at tau² = 0, tau is 0 and the mean that of fixed effects."""
    found = pool_effects([0.5, 0.52, 0.48], [0.01, 0.02, 0.01])
    assert found.tau == 0
    assert found.mean == pytest.approx((0.5 / 0.01 + 0.52 / 0.02 + 0.48 / 0.01) / 250)
    assert pool_effects([0.3], [0.04]).error == pytest.approx(0.2)


@pytest.mark.parametrize(("effects", "variances"), [([], []), ([0.1], [0.0]), ([0.1, 0.2], [0.1])])
def test_effects_need_variances_above_zero(effects: list[float], variances: list[float]) -> None:
    """No effects, a variance of 0, and unequal numbers are refused."""
    with pytest.raises(UsageError, match="pooled"):
        pool_effects(effects, variances)


def test_a_judge_without_error_widens_nothing() -> None:
    """Without shift and spread the interval keeps its ends; only the method says that it was looked at."""
    sampled = Interval(0.6, 0.8, "t", 0.9)
    values = np.array([0.4, 1.0])
    assert widen_interval(sampled, 0.7, PERFECT, values) == Interval(0.6, 0.8, "t, including judge error", 0.9)
    apart = Interval(-0.1, 0.3, "t", 0.9)
    found = widen_difference_interval(apart, 0.1, PERFECT)
    assert (found.low, found.high) == pytest.approx((-0.1, 0.3))


@given(estimates(), errors())
def test_the_wide_interval_holds_the_sampling_interval(one: Estimate, error: JudgeMeanError) -> None:
    """Whatever the judge's error, nothing of the sampling interval is lost, and the ends stay in [0, 1]."""
    sampled, mean, values = one
    found = widen_interval(sampled, mean, error, values)
    assert 0 <= found.low <= sampled.low + 1e-9
    assert sampled.high - 1e-9 <= found.high <= 1


@given(estimates(), errors())
def test_a_mirrored_metric_has_the_mirrored_interval(one: Estimate, error: JudgeMeanError) -> None:
    """The interval of 1 − x with the mirrored error is 1 less that of x."""
    sampled, mean, values = one
    found = widen_interval(sampled, mean, error, values)
    turned = widen_interval(Interval(1 - sampled.high, 1 - sampled.low, "t"), 1 - mean, error.mirror(), 1 - values)
    assert turned.low == pytest.approx(1 - found.high, abs=1e-6)
    assert turned.high == pytest.approx(1 - found.low, abs=1e-6)


def test_the_interval_by_hand() -> None:
    """Half of the weight in the first band, half in the third: shift 0, spread by both shares, t of 7 degrees."""
    values, weights = np.array([0.1, 0.9, 0.9]), np.array([2.0, 1.0, 1.0])
    ((shift, spread, _),) = USUAL.compute_offsets(values, weights)
    assert shift == pytest.approx(0.5 * -0.05 + 0.5 * 0.05)
    # half of (0.03 + 0.025)² and half of 0.03² + 0.025²
    assert spread == pytest.approx((0.5 * 0.055**2 + 0.5 * (0.03**2 + 0.025**2)) ** 0.5)
    found = widen_interval(Interval(0.46, 0.54, "t"), 0.5, USUAL, values, weights)
    assert found.high - 0.5 == pytest.approx((0.04**2 + (2.364624 * spread) ** 2) ** 0.5, abs=1e-6)


def test_each_part_of_the_error_moves_the_interval() -> None:
    """Shift and spread of a band that scores lie in, and the number of sources, change the interval; others do not."""
    sampled, values = Interval(0.55, 0.61, "t"), np.array([0.2, 0.96])
    usual = widen_interval(sampled, 0.58, USUAL, values)
    for change in ({"shifts": (0.1, -0.1, 0.05)}, {"spreads": (0.06, 0.1, 0.15)}, {"sources": 4}):
        other = widen_interval(sampled, 0.58, replace(USUAL, **change), values)
        assert (other.low, other.high) != pytest.approx((usual.low, usual.high), abs=1e-3), change
    empty = replace(USUAL, shifts=(-0.05, 0.4, 0.05), spreads=(0.06, 0.4, 0.05))
    assert widen_interval(sampled, 0.58, empty, values) == usual


def simulated(spread: float, draw: np.random.Generator, tries: int = 2_000, known: int = 400) -> float:
    """How often the interval holds people's mean, on sources whose bands are off together in half, as is assumed."""
    held = 0
    error = replace(USUAL, spreads=tuple(part * spread for part in USUAL.spreads), sources=known)
    for _ in range(tries):
        values = draw.choice([0.15, 0.5, 0.9], 400, p=draw.dirichlet([1, 1, 1]))
        common, own = draw.normal(), draw.normal(size=3)
        off = np.array(USUAL.shifts) + np.array(USUAL.spreads) * (0.5**0.5 * common + 0.5**0.5 * own)
        chance = np.clip(values + off[np.searchsorted(USUAL.edges, values)], 0, 1)
        mean, half = float(values.mean()), 1.96 * float(values.std()) / 20
        found = widen_interval(Interval(mean - half, mean + half, "normal"), mean, error, values)
        held += found.low <= chance.mean() <= found.high
    return held / tries


def test_the_interval_covers_what_it_says() -> None:
    """With a known distribution of sources it holds 95 % of people's means: no fewer than 92, no more than 98.5 %."""
    assert 0.92 <= simulated(1.0, np.random.default_rng(7)) <= 0.985


def test_an_interval_that_forgets_the_sources_covers_too_little() -> None:
    """Without the spread between sources it holds far fewer, with twice of it nearly all: the simulation can tell."""
    assert simulated(0.0, np.random.default_rng(8), 1_000) < 0.75
    assert simulated(2.0, np.random.default_rng(8), 1_000) > 0.985


@given(st.floats(-0.5, 0.5), st.floats(0, 0.2), st.floats(0, 0.2), errors(), shares)
def test_a_wide_difference_holds_the_narrow_one(
    middle: float, below: float, above: float, error: JudgeMeanError, changed: float
) -> None:
    """A difference's interval only grows, less where only what is seen counts, and both hold 0 or neither does."""
    sampled = Interval(middle - below, middle + above, "t")
    found = widen_difference_interval(sampled, middle, error, changed)
    seen = widen_difference_interval(sampled, middle, error, changed, is_observed=True)
    assert found.low <= seen.low + 1e-9 <= sampled.low + 2e-9
    assert sampled.high - 2e-9 <= seen.high - 1e-9 <= found.high
    assert (found.low > 0) == (seen.low > 0)
    assert (found.high < 0) == (seen.high < 0)


def test_what_did_not_change_has_no_error() -> None:
    """Where no value differs, the judge's error is the same on both sides and drops out."""
    sampled = Interval(-0.02, 0.06, "t")
    found = widen_difference_interval(sampled, 0.02, USUAL, 0.0)
    assert (found.low, found.high) == pytest.approx((-0.02, 0.06))
    assert widen_difference_interval(sampled, 0.02, USUAL, 1.0).high > 0.1


def test_a_true_difference_may_be_larger_than_what_is_seen() -> None:
    """Away from 0 the interval reaches farther than towards it: a judge sees a difference too small."""
    found = widen_difference_interval(Interval(0.06, 0.14, "t"), 0.1, USUAL)
    assert 0 < found.low < 0.06
    assert found.high - 0.1 > 0.1 - found.low
