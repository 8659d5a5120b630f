"""The bootstrap of many metrics: against SciPy, by hand, laws, and coverage."""

from __future__ import annotations

from math import nan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats

from ragauge.core.errors import UsageError
from ragauge.stats import bootstrap as resampling
from ragauge.stats.bootstrap import bootstrap, resample_differences, resample_means
from ragauge.stats.weighted import Interval


def ends(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


def test_bootstrap_is_near_scipy() -> None:
    """The percentile bootstrap of mean and median agrees with SciPy's up to resampling noise."""
    x = np.random.default_rng(5).exponential(1, 80)
    for statistic in (np.mean, np.median):
        theirs = scipy.stats.bootstrap(
            (x,), statistic, method="percentile", n_resamples=9_999, rng=np.random.default_rng(1)
        ).confidence_interval
        ours = bootstrap(x, lambda s, of=statistic: of(s, axis=1), resamples=9_999)  # type: ignore[misc]
        assert ends(ours) == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_bootstrap_is_seeded_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same seed gives the same interval, another seed another; rows of pairs stay together in a ratio."""
    x = np.random.default_rng(0).normal(0, 1, 30)
    assert bootstrap(x, resamples=500) == bootstrap(x, resamples=500)
    assert bootstrap(x, resamples=500) != bootstrap(x, resamples=500, seed=1)
    whole = bootstrap(x, resamples=500)
    monkeypatch.setattr(resampling, "MAX_CELLS", 30 * 7)
    assert ends(bootstrap(x, resamples=500)) == pytest.approx(ends(whole), abs=0.08)
    pairs = np.array([[1, 2], [2, 4], [3, 6]])  # 1/2 in every row, so the ratio of sums is 1/2 in every sample
    assert ends(bootstrap(pairs, lambda s: s[:, :, 0].sum(1) / s[:, :, 1].sum(1), resamples=200)) == (0.5, 0.5)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_differences_of_pairs_are_near_scipys(method: Any) -> None:
    """Intervals of paired differences of several metrics agree with scipy.stats.bootstrap, column by column."""
    g = np.random.default_rng(8)
    base = g.beta(8, 2, (60, 3))
    new = np.clip(base + g.exponential(0.1, (60, 3)) - 0.05, 0, 1)
    ours = resample_differences(new, base).intervals(method)
    for column, found in enumerate(ours):
        theirs = scipy.stats.bootstrap(
            (new[:, column], base[:, column]),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            paired=True,
            method=method,
            n_resamples=10_000,
            rng=np.random.default_rng(2),
        ).confidence_interval
        width = theirs.high - theirs.low
        assert ends(found) == pytest.approx((theirs.low, theirs.high), abs=0.04 * width)


def test_acceleration_by_hand() -> None:
    """The acceleration is the jackknife's."""
    # without one of 0, 0, 3: means 1.5, 1.5, 0, their mean 1; d = -.5, -.5, 1: (1 - .25) / (6 * 1.5^1.5)
    assert resample_means([0.0, 0.0, 3.0]).accelerations[0] == pytest.approx(0.75 / (6 * 1.5**1.5))


def test_metrics_share_their_resamples() -> None:
    """A metric's draws do not depend on the others, so that equal metrics differ by 0 in every resample."""
    x = np.random.default_rng(1).random((40, 3))
    x[:, 2] = x[:, 0] + 0.25
    all_three = resample_means(x, resamples=500)
    alone = resample_means(x[:, 0], resamples=500)
    assert all_three.draws[:, 0] == pytest.approx(alone.draws[:, 0])
    assert all_three.draws[:, 2] - all_three.draws[:, 0] == pytest.approx(np.full(500, 0.25))
    assert np.corrcoef(all_three.draws[:, 0], resample_means(x[:, 0], resamples=500, seed=1).draws[:, 0])[0, 1] < 0.2


def test_draws_are_means_of_counted_rows() -> None:
    """Every draw is the mean over rows drawn with replacement; their spread is the standard error of the mean."""
    x = np.array([1.0, 10.0, 100.0, 1_000.0])
    found = resample_means(x, resamples=20_000)
    sums = np.rint(found.draws[:, 0] * 4).astype(int)
    assert (np.abs(found.draws[:, 0] * 4 - sums) < 1e-6).all()
    assert all(sum(int(digit) for digit in str(total)) == 4 for total in np.unique(sums))  # four rows each
    assert np.unique(sums).size == 35  # C(7, 3) ways to draw four of four
    assert found.draws.std() == pytest.approx(x.std() / sqrt(4), rel=0.02)


def test_missing_scores_are_left_out() -> None:
    """A metric without a score for some examples is the mean over those it has, resample by resample."""
    g = np.random.default_rng(2)
    x = g.random((50, 2))
    x[::2, 1] = nan
    found = resample_means(x, resamples=4_000)
    assert found.estimates == pytest.approx(np.nanmean(x, axis=0))
    assert found.units.tolist() == [50, 25]
    counts = np.vstack([np.bincount(row, minlength=50) for row in rows_drawn(50, 4_000)])
    there = ~np.isnan(x[:, 1])
    wanted = (counts[:, there] @ x[there, 1]) / counts[:, there].sum(axis=1)
    assert found.draws[:, 1] == pytest.approx(wanted)
    differences = resample_differences(x, x[:, ::-1], resamples=50)
    assert differences.units.tolist() == [25, 25]


def rows_drawn(n: int, resamples: int) -> list[npt.NDArray[np.int64]]:
    """The rows that seed 0 draws."""
    generator = np.random.default_rng(0)
    return [generator.integers(0, n, size=n) for _ in range(resamples)]


def test_weights_and_clusters() -> None:
    """A weight of 2 is two copies within one draw; copies in a cluster add nothing; weight 0 leaves a row out."""
    x = np.random.default_rng(3).normal(0, 1, 30)
    copies, labels = np.repeat(x, 5), np.repeat([f"doc-{i:02}" for i in range(30)], 5)
    alone, grouped = resample_means(x, resamples=300), resample_means(copies, clusters=labels, resamples=300)
    assert grouped.draws == pytest.approx(alone.draws)
    assert grouped.accelerations == pytest.approx(alone.accelerations)
    assert grouped.units.tolist() == [30]
    w = np.repeat([1.0, 3.0], 15)
    heavy = resample_means(x, weights=w, resamples=300)
    thrice = np.repeat(np.arange(30), w.astype(int))
    assert heavy.draws == pytest.approx(resample_means(x[thrice], clusters=thrice, resamples=300).draws)
    kept = resample_means(np.append(x, 99.0), weights=[1.0] * 30 + [0.0], resamples=300)
    assert kept.draws == pytest.approx(alone.draws)


def test_blocks_and_tiles_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of the blocks changes no draw."""
    x = np.random.default_rng(4).random((300, 3))
    whole = resample_means(x, resamples=101).draws
    monkeypatch.setattr(resampling, "MAX_CELLS", 300 * 7)
    monkeypatch.setattr(resampling, "TILE_PRODUCTS", 7 * 3 * 11 * 2)
    assert resample_means(x, resamples=101).draws == pytest.approx(whole)
    many = resample_means(np.tile(x, (1, 40)), resamples=101).draws
    assert many[:, :3] == pytest.approx(whole)


def test_too_few_or_equal_values_have_no_interval() -> None:
    """Fewer than two scores or clusters have no interval, nor values all alike: never one of width 0 (case 72)."""
    x = np.array([[1.0, nan, 0.5, nan], [2.0, nan, 0.5, 1.0], [4.0, nan, 0.5, nan]])
    for method in ("percentile", "bca"):
        found = resample_means(x, resamples=200).intervals(method)
        assert found[0] is not None
        assert found[1:] == (None, None, None)
        assert resample_means([], resamples=10).intervals(method) == (None,)
        one = resample_means([1.0, 2.0], clusters=["a", "a"], resamples=10)
        assert one.intervals(method) == (None,)
    assert bootstrap([1.0]) is None
    assert bootstrap([0.3] * 20) is None


def test_bca_shifts_towards_the_long_tail() -> None:
    """Of right-skewed values BCa lies above percentile at both ends; of symmetric ones they agree."""
    g = np.random.default_rng(6)
    skewed = resample_means(g.exponential(1, 30))
    plain, moved = (ends(skewed.intervals(method)[0]) for method in ("percentile", "bca"))
    assert moved[0] > plain[0]
    assert moved[1] > plain[1]
    half = g.normal(0, 1, 30)
    even = resample_means(np.concatenate([half, -half]))
    plain, moved = (ends(even.intervals(method)[0]) for method in ("percentile", "bca"))
    assert moved == pytest.approx(plain, abs=0.02)


@pytest.mark.parametrize(
    "call",
    [
        lambda: resample_means([1.0, 2.0], weights=[1.0]),
        lambda: resample_means([1.0, 2.0], weights=[1.0, -1.0]),
        lambda: resample_means([1.0, 2.0], clusters=["a"]),
        lambda: resample_means([1.0, 2.0], resamples=0),
        lambda: resample_means([1.0, 2.0]).intervals(level=1.0),
        lambda: resample_differences([1.0, 2.0], [1.0]),
        lambda: bootstrap([1.0, 2.0], level=0.0),
    ],
)
def test_wrong_arguments_are_named(call: Any) -> None:
    """Wrong lengths, weights, levels and numbers of resamples are UsageErrors."""
    with pytest.raises(UsageError, match=r"must|differ in length"):
        call()
