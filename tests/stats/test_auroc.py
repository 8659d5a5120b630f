"""The AUROC equals the Mann–Whitney statistic, and that of cross-fitted scores covers the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import mannwhitneyu, norm

from ragauge.stats.auroc import compute_auroc
from ragauge.stats.logistic import assign_balanced_folds, fit_logistic


@pytest.mark.parametrize("seed", range(5))
def test_equals_mann_whitney(seed: int) -> None:
    """The value is scipy's U over m·n, ties included; over groups it is the mean of the groups' by their pairs."""
    rng = np.random.default_rng(seed)
    positive = rng.random(60) < 0.4
    scores = rng.integers(0, 9, 60).astype(float) + 2 * positive
    groups = rng.integers(0, 3, 60)
    found = compute_auroc(positive, scores)
    assert found is not None
    u = mannwhitneyu(scores[positive], scores[~positive]).statistic
    assert found[0] == pytest.approx(u / (positive.sum() * (~positive).sum()))
    within = compute_auroc(positive, scores, within=groups)
    parts = [(scores[(groups == g) & positive], scores[(groups == g) & ~positive]) for g in range(3)]
    us, pairs = sum(mannwhitneyu(a, b).statistic for a, b in parts), sum(a.size * b.size for a, b in parts)
    assert within is not None
    assert within[0] == pytest.approx(us / pairs)


def test_interval_covers_and_ends_inside() -> None:
    """Of 300 draws with a true AUROC of 0.76 the interval holds it in 95 of 100; perfect scores have one below 1."""
    true, held = norm.cdf(1 / np.sqrt(2)), 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        positive = np.arange(80) < 30
        found = compute_auroc(positive, rng.normal(size=80) + positive)
        assert found is not None
        assert found[1] is not None
        held += found[1].low <= true <= found[1].high
    assert 0.92 <= held / 300 <= 0.98
    perfect = compute_auroc(positive, positive.astype(float))
    assert perfect is not None
    assert perfect[1] is not None
    assert (perfect[0], perfect[1].low < 0.95, perfect[1].high) == (1.0, True, 1.0)
    assert compute_auroc(positive, positive.astype(float), within=np.arange(80)) is None


def test_clusters_widen_the_interval() -> None:
    """Every item four times in one cluster has the interval of the items once; without clusters it is half as wide."""
    rng = np.random.default_rng(3)
    positive, of = np.arange(100) < 50, np.repeat(np.arange(100), 4)
    scores = rng.normal(size=100) + 0.5 * positive
    once, four = compute_auroc(positive, scores), compute_auroc(positive[of], scores[of], of)
    alone = compute_auroc(positive[of], scores[of])
    assert once is not None
    assert four is not None
    assert alone is not None
    widths = [found[1].high - found[1].low for found in (once, four, alone) if found[1] is not None]
    assert widths[1] == pytest.approx(widths[0], rel=0.01)
    assert widths[2] == pytest.approx(widths[0] / 2, rel=0.02)


def test_logistic_equals_a_general_optimiser() -> None:
    """The coefficients minimise the stated loss as scipy's BFGS does, and stay finite where items are separable."""
    rng = np.random.default_rng(5)
    table = rng.normal(size=(200, 4))
    y = rng.random(200) < 1 / (1 + np.exp(-(table @ [1.0, -2.0, 0.0, 0.5] + 0.3)))

    def loss(b: np.ndarray) -> float:
        z = table @ b[:-1] + b[-1]
        return float(np.logaddexp(0, np.where(y, -z, z)).sum() + 3.0 / 2 * (b[:-1] ** 2).sum())

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    assert fit_logistic(table, y, 3.0) == pytest.approx(best.x, abs=1e-4)
    assert np.isfinite(fit_logistic(10 * table, table[:, 0] > 0, 1e-3)).all()


def test_folds_keep_clusters_whole() -> None:
    """No cluster is in two folds, and each fold has both kinds in about their shares."""
    rng = np.random.default_rng(6)
    clusters, positive = rng.integers(0, 60, 300), rng.random(300) < 0.2
    fold = assign_balanced_folds(clusters, positive)
    assert all(np.unique(fold[clusters == one]).size == 1 for one in np.unique(clusters))
    for side in (positive, ~positive):
        counts = np.bincount(fold[side], minlength=5)
        assert counts.max() - counts.min() <= 0.25 * side.sum() / 5 + 2
