"""Quantiles where some values are known by bounds alone."""

from __future__ import annotations

from itertools import product
from math import inf

import numpy as np
import pytest

from ragauge.core.errors import UsageError
from ragauge.stats.intervals import compute_quantile_reach

LEVELS = (0.05, 0.5, 0.9, 0.95, 0.99)


@pytest.mark.parametrize("q", LEVELS)
def test_ends_are_those_of_every_mixture(q: float) -> None:
    """Both ends are the extremes of NumPy's quantile over every choice of low, high or left out for each value."""
    generator = np.random.default_rng(round(100 * q))
    for n in [0, 1, 2, 3, 8, 21] * 5:
        known = generator.integers(0, 8, n).astype(float)
        low = generator.integers(-3, 9, 5).astype(float)
        high = low + generator.integers(0, 6, 5)
        mixed = [
            np.quantile([*known, *(one for one in chosen if one is not None)], q)
            for chosen in product(*((a, b, None) for a, b in zip(low, high, strict=True)))
            if n or any(one is not None for one in chosen)
        ]
        assert compute_quantile_reach(known, low, high, q) == pytest.approx((min(mixed), max(mixed)), abs=1e-9)


@pytest.mark.parametrize("q", LEVELS)
@pytest.mark.parametrize("n", [1, 20, 57, 100, 1_001])
def test_nothing_unknown_is_the_quantile(n: int, q: float) -> None:
    """Where everything is known both ends are NumPy's quantile."""
    x = np.random.default_rng(n).exponential(100, n)
    assert compute_quantile_reach(x, [], [], q) == pytest.approx([np.quantile(x, q)] * 2, rel=1e-9)


@pytest.mark.parametrize(("q", "most"), [(0.5, 99), (0.9, 19), (0.95, 9), (0.99, 1)])
def test_unknown_values_move_ranks_only(q: float, most: int) -> None:
    """Of 200 values fewer than a share of 1 − q may lie anywhere from 0 on with both ends finite, and no more."""
    for unknown in (1, most):
        known = np.arange(1.0, 201 - unknown)
        least, greatest = compute_quantile_reach(known, [0.0] * unknown, [inf] * unknown, q)
        # all there: ranks q·199 of 200 from 0, of which the unknown ones are the first, or the last
        assert (least, greatest) == pytest.approx((max(q * 199 - unknown + 1, 0), q * 199 + 1))
    known = np.arange(1.0, 200 - most)
    assert compute_quantile_reach(known, [0.0] * (most + 1), [inf] * (most + 1), q)[1] == inf


@pytest.mark.parametrize("q", [0.1, 0.55, 0.7, 0.9, 0.95])
def test_a_whole_rank_has_no_share_of_its_neighbour(q: float) -> None:
    """A quantile that is one of the values is finite though the next one is not, however its rank is rounded."""
    for n in range(21, 2_000, 20):
        rank = (n - 1) // 20 * round(20 * q)
        known, unknown = np.arange(rank + 1.0), n - 1 - rank
        assert compute_quantile_reach(known, [0.0] * unknown, [inf] * unknown, q)[1] == pytest.approx(rank)


def test_no_end_without_bounds() -> None:
    """Unknown without bounds, one of two leaves no end, and nothing at all has none."""
    assert compute_quantile_reach([1.0], [-inf], [inf], 0.5) == (-inf, inf)
    assert compute_quantile_reach([], [], [], 0.5) == (-inf, inf)
    assert compute_quantile_reach([], [0.0, 2.0], [inf, 5.0], 0.5) == (0.0, inf)


def test_no_quantile_outside() -> None:
    """A quantile of 0 or of 1 is refused."""
    with pytest.raises(UsageError, match="quantile_reach: q must lie between 0 and 1, got 1"):
        compute_quantile_reach([1.0], [], [], 1.0)
