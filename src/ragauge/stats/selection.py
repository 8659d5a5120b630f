"""What the setting that was chosen as the best is worth on examples that had no part in the choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.stats.weighted import Clusters

    Array = npt.NDArray[np.float64]
    Choose = Callable[[Array], int]

N_RESAMPLES = 1_000


def estimate_on_new(
    values: npt.ArrayLike,
    choose: Choose | None = None,
    clusters: Clusters | None = None,
    *,
    resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> float | None:
    """Mean score, on new examples, of the setting that a rule of choice takes.

    The highest of many means is too high by luck, by about 3 points among 24 equal settings on 200 examples. So the
    rule chooses on a resample and its choice is valued on the examples left out; the mean over resamples is returned.

    Args:
        values: shape (n, m), a row an example, a column a setting, larger is better; NaN where there is no score.
        choose: takes the means of the settings, shape (m,), and returns the number of one; None = the greatest.
        clusters: shape (n,), labels; drawn, and left out, whole.
        resamples: how many.
        seed: of the resamples.

    Returns:
        None with fewer than two examples (or clusters) or no score.

    Source: bootstrap bias corrected cross-validation, Tsamardinos, Greasidou and Borboudakis (2018), with scores in
    place of out-of-fold predictions. Conservative by a little: a resample holds 63 % of the examples.

    >>> import numpy as np
    >>> equal = np.random.default_rng(0).normal(0.7, 0.2, (200, 24))
    >>> round(equal.mean(axis=0).max(), 2), round(estimate_on_new(equal), 2)
    (np.float64(0.72), 0.69)
    """
    import numpy as np

    x = np.asarray(values, dtype=float)
    groups = np.arange(len(x)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    size = int(groups.max()) + 1 if len(x) else 0
    is_scored = ~np.isnan(x)
    if size < 2 or not is_scored.any():
        return None
    sums, counts = np.zeros((size, x.shape[1])), np.zeros((size, x.shape[1]))
    np.add.at(sums, groups, np.where(is_scored, x, 0.0))
    np.add.at(counts, groups, is_scored)
    draws = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=resamples)
    left_out = (draws == 0).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside, outside = (draws @ sums) / (draws @ counts), (left_out @ sums) / (left_out @ counts)
    inside = np.where(np.isnan(inside), -np.inf, inside)
    selected = inside.argmax(axis=1) if choose is None else np.array([choose(row) for row in inside])
    chosen_outside = outside[np.arange(resamples), selected]
    return None if np.isnan(chosen_outside).all() else float(np.nanmean(chosen_outside))
