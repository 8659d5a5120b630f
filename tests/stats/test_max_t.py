"""The set that may be best holds the best, and not everything."""

from __future__ import annotations

import numpy as np
import pytest

from ragauge.core.errors import UsageError
from ragauge.stats.families import find_possible_best


@pytest.mark.parametrize("n", [40, 200])
def test_true_best_is_kept(n: int) -> None:
    """Of five settings, three of them truly best and alike, each is kept in 95 % of 400 samples and seldom in all."""
    rng, kept, samples = np.random.default_rng(n), np.zeros(5), 400
    for seed in range(samples):
        common = rng.normal(size=(n, 1))
        values = np.array([0.5, 0.5, 0.5, 0.3, 0.0]) + common + rng.normal(scale=0.7, size=(n, 5))
        kept += find_possible_best(values, draws=400, seed=seed)
    shares = kept / samples
    spread = 3 * (0.95 * 0.05 / samples) ** 0.5
    assert (shares[:3] >= 0.95 - spread).all(), shares
    assert (shares[:3] < 1.0).any(), shares
    assert shares[4] < 0.05


def test_clusters_stay_whole() -> None:
    """Examples copied twenty times are no more evidence than one where they share a cluster, and are without."""
    rng = np.random.default_rng(1)
    values = np.repeat(rng.normal(size=(12, 2)) * 0.5 + np.array([0.2, 0.0]), 20, axis=0)
    labels = np.repeat(np.arange(12), 20)
    assert find_possible_best(values) != find_possible_best(values, labels)
    assert find_possible_best(values, labels) == find_possible_best(values[::20]) == (True, True)


def test_edges() -> None:
    """Equal settings stay together, a constant loss goes, gaps leave an example out, one example says nothing."""
    values = np.random.default_rng(2).normal(size=(30, 1))
    assert find_possible_best(np.hstack([values, values])) == (True, True)
    assert find_possible_best(np.hstack([values, values - 0.1])) == (True, False)
    with_gap = np.vstack([np.hstack([values, values - 0.1]), [[np.nan, 99.0]]])
    assert find_possible_best(with_gap) == (True, False)
    assert find_possible_best([[1.0, 0.0]]) == (True, True)
    with pytest.raises(UsageError, match=r"shape \(n, m\)"):
        find_possible_best([1.0, 2.0])
    with pytest.raises(UsageError, match="between 0 and 1"):
        find_possible_best([[1.0], [2.0]], level=95)
