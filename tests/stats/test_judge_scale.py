"""Both ends of a judge's scale on labeled sources, and the shares of right texts that a mean allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.judges.local.judge import read_mean_errors
from ragauge.stats.judge_error import SOURCE_SPREAD, JudgeMeanError, SourceScale, find_likely_shares, widen_interval
from ragauge.stats.weighted import Interval

shares = st.floats(0, 1)


@st.composite
def scales(draw: st.DrawFn) -> tuple[SourceScale, ...]:
    """One to six sources, some of which the judge reads the wrong way round."""
    kinds = st.tuples(st.sampled_from(["prose", "table"]), st.sampled_from(["en", "ko"]), shares, shares)
    return tuple(SourceScale(*kind, 0.001, 0.002) for kind in draw(st.lists(kinds, min_size=1, max_size=6)))


def known(scales: tuple[SourceScale, ...]) -> JudgeMeanError:
    return JudgeMeanError((), (0.0,), (0.0,), 0.0, 0.0, len(scales), scales=scales)


@given(shares, scales())
def test_scales_never_narrow_an_interval_or_move_it_off_the_mean(mean: float, ends: tuple[SourceScale, ...]) -> None:
    """Whatever the sources, the interval holds all of the sampling interval, so no lower end ever rises."""
    sampled = Interval(max(0.0, mean - 0.05), min(1.0, mean + 0.05), "t")
    found = widen_interval(sampled, mean, known(ends), np.array([mean]))
    assert 0 <= found.low <= sampled.low + 1e-9
    assert sampled.high - 1e-9 <= found.high <= 1


@given(shares, scales())
def test_a_mirrored_metric_allows_the_mirrored_shares(mean: float, ends: tuple[SourceScale, ...]) -> None:
    """The shares that 1 − x allows by the mirrored scales are 1 less those of x, up to a step of the grid."""
    low, high = find_likely_shares(mean, 0.001, ends)
    turned = find_likely_shares(1 - mean, 0.001, [scale.mirror() for scale in ends])
    assert turned == pytest.approx((1 - high, 1 - low), abs=0.0051)


def test_ends_that_lie_together_say_nothing() -> None:
    """Where right and wrong texts score alike, a mean allows every share; ends that lie apart exclude most of them."""
    assert find_likely_shares(0.98, 1e-4, [SourceScale("prose", "ko", 0.996, 0.976, 1e-4, 1e-4)]) == (0.0, 1.0)
    low, high = find_likely_shares(0.98, 1e-4, [SourceScale("prose", "ko", 0.98, 0.05, 1e-4, 1e-4)])
    assert low > 0.8
    assert high == 1.0


def test_a_run_is_held_to_sources_like_it() -> None:
    """The sources of a run's layout and language decide; those of a mixed run count by the shares of its texts."""
    ends = SourceScale("prose", "en", 0.9, 0.1, 1e-3, 1e-3), SourceScale("cells", "en", 0.3, 0.1, 1e-3, 1e-3)
    sources = known(ends)
    sampled = Interval(0.27, 0.33, "t")
    prose, cells, mixed = (
        widen_interval(sampled, 0.3, sources.weight_by_texts(mix), np.array([0.3]))
        for mix in ({("prose", "en"): 1.0}, {("cells", "en"): 1.0}, {("prose", "en"): 0.5, ("cells", "en"): 0.5})
    )
    assert prose.high < 0.6
    assert cells.high == mixed.high == 1.0
    assert mixed.low < cells.low


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_the_set_covers_every_share_alike(share: float) -> None:
    """Of sources drawn around two ends it holds the true share in 85 to 100 % of draws, all right and none right too.

    The sources that are known are nineteen others, drawn likewise.
    """
    draw = np.random.default_rng(int(10 * share))
    held = 0
    for _ in range(300):
        ends = np.clip(draw.normal([0.75, 0.25], SOURCE_SPREAD, (20, 2)), 0, 1)
        rest = [SourceScale("prose", "en", right, wrong, 1e-4, 1e-4) for right, wrong in ends[1:].tolist()]
        mean = share * ends[0, 0] + (1 - share) * ends[0, 1]
        low, high = find_likely_shares(float(mean), 1e-4, rest)
        held += low <= share <= high
    assert held >= 0.85 * 300


def test_a_higher_level_is_wider() -> None:
    """The set of a higher level holds that of a lower one."""
    ends = [SourceScale("prose", "en", 0.8, 0.2, 1e-3, 1e-3)]
    (low, high), (lower, higher) = find_likely_shares(0.5, 1e-3, ends, 0.8), find_likely_shares(0.5, 1e-3, ends, 0.99)
    assert lower < low < high < higher


def test_shipped_scales_hold_gold_pages_and_replaced_ones() -> None:
    """By the shipped scales, 80 % of the sources' right texts of every metric may all be right, and wrong ones none."""
    for name, error in read_mean_errors().items():
        of_right, of_wrong = [], []
        for scale in error.scales:
            mix = {(scale.layout, scale.language): 1.0}
            alike = error.weight_by_texts(mix).scales
            of_right.append(find_likely_shares(scale.right, scale.right_variance, alike)[1] == 1.0)
            of_wrong.append(find_likely_shares(scale.wrong, scale.wrong_variance, alike)[0] == 0.0)
        assert min(np.mean(of_right), np.mean(of_wrong)) >= 0.8, name
    both = [error for name, error in read_mean_errors().items() if name in ("context_recall", "faithfulness")]
    assert all({scale.layout for scale in error.scales} == {"prose", "table", "cells"} for error in both)
    assert all(len({scale.language for scale in error.scales}) >= 11 for error in both)
