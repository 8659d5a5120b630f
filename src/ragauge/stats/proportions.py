"""Tests of counts."""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING

from ragauge.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


def fisher_greater(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Fisher's exact test that a rate is greater than another one; one-sided p-value.

    p = Σ_{x >= hits} C(n, x) C(other_n, K − x) / C(n + other_n, K),  K = hits + other_hits

    Args:
        hits: in the first group, 0 to n.
        n: size of the first group.
        other_hits: in the other group.
        other_n: its size.

    Returns:
        The chance, in (0, 1], of so many hits or more in the first group if the rates are equal; 1 where a group is
        empty. Exact for any counts.

    Source: Fisher (1935); equals scipy.stats.fisher_exact with alternative="greater".

    >>> round(fisher_greater(8, 10, 1, 10), 4)
    0.0027
    """
    import numpy as np

    for count, size in ((hits, n), (other_hits, other_n)):
        if not 0 <= count <= size:
            raise UsageError(f"fisher_greater: hits must be between 0 and the group's size {size}, got {count}.")
    total, every_n = hits + other_hits, n + other_n
    if not n or not other_n:
        return 1.0
    expected = n * total / every_n
    spread = sqrt(expected * (other_n / every_n) * (1 - total / every_n))
    top = min(n, total, ceil(max(hits, expected) + 40 * spread) + 40)     # what lies beyond is below any float
    x = np.arange(hits, top + 1, dtype=float)
    every = _log_choose(every_n, np.array([float(total)]))
    logs = _log_choose(n, x) + _log_choose(other_n, total - x) - every
    return min(1.0, float(np.exp(logs).sum()))


def _log_choose(n: int, k: Array) -> Array:
    import numpy as np
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1) - gammaln(n - k + 1))
