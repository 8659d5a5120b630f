"""Wilcoxon's signed-rank test of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ragauge.errors import UsageError
from ragauge.stats.result import Alternative, Tested

if TYPE_CHECKING:
    from ragauge.stats.weighted import Values


def wilcoxon(
    differences: Values,
    *,
    alternative: Alternative = "two-sided",
    zeros: Literal["wilcox", "pratt", "zsplit"] = "wilcox",
) -> Tested | None:
    """Wilcoxon's signed-rank test that differences lie evenly around 0.

    W₊ = Σ_{dᵢ > 0} rank(|dᵢ|),  W₋ likewise; the statistic is the smaller of the two, for one-sided tests W₊

    It asks about the middle of the differences, not their mean: many small losses against few large gains can be
    significant the other way round than the mean says. So it is not chosen by `difference.paired_test`, whose question
    is the mean that the interval is about; it stands beside it where a few outliers should not decide (latency, cost).

    Args:
        differences: shape (n,), new − base, any unit.
        alternative: "greater" asks whether they lie above 0.
        zeros: differences of 0 are left out ("wilcox"), ranked and then left out ("pratt"), or their ranks split
            between both sides ("zsplit").

    Returns:
        The test, its estimate the mean difference; None for fewer than two pairs; p = 1 where all are 0.

    Assumes independent pairs and differences as likely as their opposites if nothing changed. Without ties and zeros
    exact up to n = 50; with them every pattern of signs is taken up to n = 13, beyond that the normal distribution
    with its variance corrected for ties.
    Source: Wilcoxon (1945); computed by scipy.stats.wilcoxon with method="auto".

    >>> wilcoxon([1, 2, 3, 4, 5, 6]).p_value
    0.03125
    """
    import numpy as np

    d = np.asarray(differences, dtype=float)
    if d.size and not bool(np.isfinite(d).all()):
        raise UsageError("wilcoxon: differences must be finite. Leave out the pairs of which one side has no score.")
    if d.size < 2:
        return None
    method, mean = "Wilcoxon signed rank", float(d.mean())
    if not d.any():
        return Tested(1.0, method, mean, d.size, alternative, 0.0)
    from scipy.stats import wilcoxon as signed_rank

    found = signed_rank(d, zero_method=zeros, alternative=alternative)
    return Tested(min(1.0, float(found.pvalue)), method, mean, d.size, alternative, float(found.statistic))
