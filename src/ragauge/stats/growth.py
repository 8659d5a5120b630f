"""How a share falls while what it is a share of grows: measured at several sizes, predicted at larger ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.stats.distributions import t_quantile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

N_RESAMPLES = 1_000
MIN_SIZES = 3


def predict_shares(
    sizes: Sequence[int], shares: Floats, new_sizes: Sequence[int], *, weight: int = 1, seed: int = 7
) -> list[tuple[float, float, float]]:
    """Shares at sizes that were not measured: the log odds of the mean lie on a line over log2 of the size.

    The 95 % interval adds two variances: that of the prediction over resampled queries, the same at every size, and
    that of a new point about the line (t, sizes − 2 degrees of freedom). It says nothing of vectors of another kind.

    Args:
        sizes: m of them, at least 3, all different.
        shares: shape (m, q), of each query at each size, from 0 to 1; no NaN.
        new_sizes: the sizes to predict.
        weight: how many things each share counts, such as k neighbours; keeps the odds of 0 and 1 finite.
        seed: of the resampling.

    Returns:
        Value, low and high of each size in `new_sizes`, all within 0 and 1.

    Raises:
        ValueError: fewer than 3 sizes, equal ones, or no query.

    Source: the empirical logit of Cox and Snell, Analysis of Binary Data, 1989, 2.1.6.
    >>> import numpy as np
    >>> rows = np.repeat([[0.98], [0.97], [0.955]], 50, axis=1)
    >>> [round(one, 3) for one in predict_shares([1000, 2000, 4000], rows, [8000], weight=10)[0]]
    [0.933, 0.926, 0.939]
    """
    import numpy as np

    m, q = shares.shape
    if m < MIN_SIZES or len(set(sizes)) < m or not q:
        raise ValueError(f"growth needs {MIN_SIZES} different sizes and a query, got {list(sizes)} and {q}.")
    x, new = np.log2(np.asarray(sizes, dtype=float)), np.log2(np.asarray(new_sizes, dtype=float))
    design, beyond = np.column_stack([np.ones(m), x]), np.column_stack([np.ones(len(new)), new])
    solve, counted = np.linalg.pinv(design), q * weight

    def compute_log_odds(means: Floats) -> Floats:
        filled = (means * counted + 0.5) / (counted + 1)
        return np.asarray(np.log(filled / (1 - filled)))

    observed = compute_log_odds(shares.mean(axis=1))
    line = solve @ observed
    draws = np.random.default_rng(seed).multinomial(q, np.full(q, 1 / q), size=N_RESAMPLES) @ shares.T / q
    resampled = beyond @ (solve @ compute_log_odds(draws).T)
    spread = float(((observed - design @ line) ** 2).sum()) / (m - 2)
    reach = 1 + ((beyond @ solve) ** 2).sum(axis=1)
    wide = np.hypot(t_quantile(m - 2, 0.95) * np.sqrt(spread * reach), 1.96 * resampled.std(axis=1))
    value = beyond @ line
    bounds = 1 / (1 + np.exp(-np.stack([value, value - wide, value + wide])))
    return [(float(v), float(low), float(high)) for v, low, high in bounds.T]
