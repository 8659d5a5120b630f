"""The judge's error: random effects of sources, and intervals widened by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import UsageError
from ragauge.stats.instrument import JudgeError, pooled, widened, widened_difference
from ragauge.stats.result import Interval

PERFECT = JudgeError(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9)
USUAL = JudgeError(0.8, 0.25, 0.08, 0.06, 0.2, 0.02, 0.05, 9)

shares = st.floats(0, 1)
spreads = st.floats(0, 0.3)


@st.composite
def errors(draw: st.DrawFn) -> JudgeError:
    """Any judge whose mean rises with the true share."""
    wrong = draw(st.floats(0, 0.6))
    right = draw(st.floats(min(1.0, wrong + 0.1), 1))
    parts = [draw(spreads) for _ in range(4)]
    return JudgeError(right, wrong, parts[0], parts[1], draw(shares), parts[2], parts[2] + parts[3],
                      draw(st.integers(3, 20)))  # fmt: skip


@st.composite
def estimates(draw: st.DrawFn) -> tuple[Interval, float]:
    """A mean in [0, 1] with its interval by sampling."""
    low, mean, high = sorted(draw(shares) for _ in range(3))
    return Interval(low, high, "t"), mean


def test_the_pooled_mean_is_that_of_paule_and_mandel() -> None:
    """Thirteen trials of the BCG vaccine: tau², mean and error as statsmodels 0.15 gives them.

    combine_effects(effects, variances, method_re="iterated", atol=1e-12): tau2, mean_effect_re, sd_eff_w_re. The log
    relative risks and variances are those of Colditz et al. (1994), JAMA 271, 698, to four decimals.
    """
    effects = [-0.8893, -1.5854, -1.3481, -1.4416, -0.2175, -0.7861, -1.6209, 0.012, -0.4694, -1.3713, -0.3394, 0.4459,
               -0.0173]  # fmt: skip
    variances = [0.3256, 0.1946, 0.4154, 0.02, 0.0512, 0.0069, 0.223, 0.004, 0.0564, 0.073, 0.0124, 0.5325, 0.0714]
    found = pooled(effects, variances)
    assert found.tau**2 == pytest.approx(0.31808243987504614, abs=1e-9)
    assert found.mean == pytest.approx(-0.7149703054401032, abs=1e-9)
    assert found.error == pytest.approx(0.18089453337148503, abs=1e-9)
    assert found.spread == pytest.approx((found.tau**2 + found.error**2) ** 0.5)


def test_sources_no_farther_apart_than_chance_have_no_spread() -> None:
    """Where Σ w (y − m)² is below k − 1 already at tau² = 0, tau is 0 and the mean that of fixed effects."""
    found = pooled([0.5, 0.52, 0.48], [0.01, 0.02, 0.01])
    assert found.tau == 0
    assert found.mean == pytest.approx((0.5 / 0.01 + 0.52 / 0.02 + 0.48 / 0.01) / 250)
    assert pooled([0.3], [0.04]).error == pytest.approx(0.2)


@pytest.mark.parametrize(("effects", "variances"), [([], []), ([0.1], [0.0]), ([0.1, 0.2], [0.1])])
def test_effects_need_variances_above_zero(effects: list[float], variances: list[float]) -> None:
    """No effects, a variance of 0, and unequal numbers are refused."""
    with pytest.raises(UsageError, match="pooled"):
        pooled(effects, variances)


def test_a_judge_without_error_widens_nothing() -> None:
    """With both ends right and no spread, the interval keeps its ends; only the method says that it was looked at."""
    sampled = Interval(0.6, 0.8, "t", 0.9)
    assert widened(sampled, 0.7, PERFECT) == Interval(0.6, 0.8, "t, with the judge's error", 0.9)
    apart = Interval(-0.1, 0.3, "t", 0.9)
    found = widened_difference(apart, 0.1, PERFECT)
    assert (found.low, found.high) == pytest.approx((-0.1, 0.3))


@given(estimates(), errors())
def test_the_wide_interval_holds_the_sampling_interval(one: tuple[Interval, float], error: JudgeError) -> None:
    """Whatever the judge's error, nothing of the sampling interval is lost, and the ends stay in [0, 1]."""
    sampled, mean = one
    found = widened(sampled, mean, error)
    assert 0 <= found.low <= sampled.low + 1e-9
    assert sampled.high - 1e-9 <= found.high <= 1


@given(estimates(), errors())
def test_a_mirrored_metric_has_the_mirrored_interval(one: tuple[Interval, float], error: JudgeError) -> None:
    """The interval of 1 − x with the mirrored error is 1 less that of x."""
    sampled, mean = one
    found = widened(sampled, mean, error)
    turned = widened(Interval(1 - sampled.high, 1 - sampled.low, "t"), 1 - mean, error.mirrored())
    assert turned.low == pytest.approx(1 - found.high, abs=1e-6)
    assert turned.high == pytest.approx(1 - found.low, abs=1e-6)


@given(estimates(), errors())
def test_every_share_in_the_set_could_have_given_the_mean(one: tuple[Interval, float], error: JudgeError) -> None:
    """The hull of the shares that satisfy the inequality, tried one by one on a grid, lies within the interval."""
    sampled, mean = one
    found = widened(sampled, mean, error)
    s = np.linspace(0, 1, 401)
    line = error.wrong + (error.right - error.wrong) * s
    v = (s * error.right_spread) ** 2 + ((1 - s) * error.wrong_spread) ** 2
    v = v + 2 * s * (1 - s) * error.together * error.right_spread * error.wrong_spread
    half = np.where(line < mean, mean - sampled.low, sampled.high - mean)
    inside = s[np.abs(mean - line) <= np.sqrt(half**2 + error.factor(0.95) ** 2 * v) - 1e-9]
    if inside.size:
        assert found.low <= inside.min() + 1e-6
        assert found.high >= inside.max() - 1e-6


def test_each_part_of_the_error_moves_the_interval() -> None:
    """Both ends, both spreads, their correlation and the number of sources change the interval."""
    sampled = Interval(0.55, 0.61, "t")
    usual = widened(sampled, 0.58, USUAL)
    for change in ({"right": 0.9}, {"wrong": 0.1}, {"right_spread": 0.12}, {"wrong_spread": 0.12}, {"together": 0.9},
                   {"sources": 4}):  # fmt: skip
        other = widened(sampled, 0.58, replace(USUAL, **change))
        assert (other.low, other.high) != pytest.approx((usual.low, usual.high), abs=1e-3), change


def test_a_mean_beyond_all_that_was_seen_is_at_the_end() -> None:
    """A mean above what any share could have given speaks for the greatest share."""
    found = widened(Interval(0.97, 0.99, "t"), 0.98, replace(USUAL, right_spread=0.02, wrong_spread=0.02))
    assert (found.low, found.high) == (0.97, 1.0)


def coverage(error: JudgeError, draw: np.random.Generator, tries: int = 4_000, n: int = 150) -> float:
    """How often the interval holds the true share, on sources drawn as the error says."""
    held = 0
    cov = error.together * error.right_spread * error.wrong_spread
    ends = draw.multivariate_normal(
        [error.right, error.wrong], [[error.right_spread**2, cov], [cov, error.wrong_spread**2]], tries
    )
    for right, wrong in ends:
        share = draw.uniform(0.05, 0.95)
        mean = wrong + (right - wrong) * share
        error_of_mean = 0.4 / n**0.5
        seen = mean + draw.normal(0, error_of_mean)
        half = 1.959964 * error_of_mean
        found = widened(Interval(seen - half, seen + half, "normal"), float(np.clip(seen, 0, 1)), error)
        held += found.low <= share <= found.high
    return held / tries


@pytest.mark.parametrize("together", [0.0, 0.8])
def test_the_interval_covers_what_it_says(together: float) -> None:
    """With a known distribution of sources it holds 95 % of the true shares: no fewer than 92, no more than 98 %."""
    error = replace(USUAL, together=together, sources=400)
    assert 0.92 <= coverage(error, np.random.default_rng(7)) <= 0.98


def test_an_interval_that_forgets_the_sources_covers_too_little() -> None:
    """The same without the spread between sources holds far fewer: the simulation can tell."""
    draw, held, n = np.random.default_rng(8), 0, 1_000
    blind = replace(USUAL, right_spread=0.0, wrong_spread=0.0)
    for _ in range(n):
        right, wrong = draw.normal(USUAL.right, USUAL.right_spread), draw.normal(USUAL.wrong, USUAL.wrong_spread)
        share = draw.uniform(0.05, 0.95)
        seen = float(np.clip(wrong + (right - wrong) * share + draw.normal(0, 0.03), 0, 1))
        found = widened(Interval(max(0.0, seen - 0.059), min(1.0, seen + 0.059), "normal"), seen, blind)
        held += found.low <= share <= found.high
    assert held / n < 0.9


def test_estimated_from_few_sources_it_covers_too() -> None:
    """With both ends estimated from eight sources of 60 texts each, it holds 92 to 98 % of the shares of a ninth."""
    draw, held, n = np.random.default_rng(9), 0, 1_500
    for _ in range(n):
        rights, wrongs = draw.normal(0.75, 0.09, 9), draw.normal(0.25, 0.07, 9)
        seen_right, seen_wrong = (draw.normal(ends[:8], 0.03) for ends in (rights, wrongs))
        one, other = (pooled(seen.tolist(), [0.0009] * 8) for seen in (seen_right, seen_wrong))
        error = JudgeError(one.mean, other.mean, one.spread, other.spread, 0.0, 0.0, 0.0, 8)
        share = draw.choice([0.0, 0.25, 0.5, 0.75, 1.0])
        mean = wrongs[8] + (rights[8] - wrongs[8]) * share + draw.normal(0, 0.02)
        found = widened(Interval(mean - 0.0392, mean + 0.0392, "normal"), mean, error)
        held += found.low <= share <= found.high
    assert 0.92 <= held / n <= 0.98


@given(st.floats(-0.5, 0.5), st.floats(0, 0.2), st.floats(0, 0.2), errors(), shares)
def test_a_wide_difference_holds_the_narrow_one(
    middle: float, below: float, above: float, error: JudgeError, changed: float
) -> None:
    """A difference's interval only grows, less where only what is seen counts, and both hold 0 or neither does."""
    sampled = Interval(middle - below, middle + above, "t")
    found = widened_difference(sampled, middle, error, changed)
    seen = widened_difference(sampled, middle, error, changed, seen=True)
    assert found.low <= seen.low + 1e-9 <= sampled.low + 2e-9
    assert sampled.high - 2e-9 <= seen.high - 1e-9 <= found.high
    assert (found.low > 0) == (seen.low > 0)
    assert (found.high < 0) == (seen.high < 0)


def test_what_did_not_change_has_no_error() -> None:
    """Where no value differs, the judge's error is the same on both sides and drops out."""
    sampled = Interval(-0.02, 0.06, "t")
    found = widened_difference(sampled, 0.02, USUAL, 0.0)
    assert (found.low, found.high) == pytest.approx((-0.02, 0.06))
    assert widened_difference(sampled, 0.02, USUAL, 1.0).high > 0.1


def test_a_true_difference_may_be_larger_than_what_is_seen() -> None:
    """Away from 0 the interval reaches farther than towards it: a judge sees a difference too small."""
    found = widened_difference(Interval(0.06, 0.14, "t"), 0.1, USUAL)
    assert 0 < found.low < 0.06
    assert found.high - 0.1 > 0.1 - found.low
