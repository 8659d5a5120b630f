"""What a number of examples can decide: so many that a change which leaves the mean alone passes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ragauge.analysis.estimating import ScoreSample, interval_of_difference
from ragauge.gating.decide import ALPHA
from ragauge.stats.intervals import order_statistics

CHANGED = 0.1     # share of the examples whose score a usual change turns over, half of them for the better
USUAL = 3         # points of a drop, where there are examples enough for it
LEAST = 10        # examples; below, the least that is decided of these
DROPS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
SIZES = (10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000)
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@cache
def uncertainty(n: int) -> float:
    """How far the interval of a difference reaches below 0 where CHANGED of n scores turn over and the mean stays.

    Scores of 0 and 1, an even number of them turned over, at least two; the interval is the gate's own.

    >>> round(uncertainty(20), 2), round(uncertainty(500), 3)
    (0.13, 0.023)
    """
    import numpy as np

    turned = max(1, round(n * CHANGED / 2))
    base, new = np.ones(n), np.ones(n)
    base[:turned], new[-turned:] = 0.0, 0.0
    found = interval_of_difference(ScoreSample(new, "rate"), ScoreSample(base, "rate"), 1 - 2 * ALPHA)
    return 1.0 if found is None else max(0.0, -found.low)


def least_drop(n: int) -> float:
    """The least max_drop, as a share, that n examples decide of a usual change; see `uncertainty`.

    >>> least_drop(20), least_drop(300)
    (0.15, 0.04)
    """
    needed = uncertainty(max(n, LEAST))
    return next((drop for drop in DROPS if drop >= needed), DROPS[-1])


def points(n: int) -> int:
    """The drop, in points, that a rule may ask of n examples: the usual one, or the least that so many decide.

    >>> points(20), points(1_000)
    (15, 3)
    """
    return max(USUAL, round(100 * least_drop(n)))


def examples_for(drop: float, sizes: Sequence[int] = SIZES) -> int | None:
    """How many examples decide a drop; None where more than 10,000 would."""
    return next((n for n in sizes if uncertainty(n) <= drop), None)


def examples_for_quantile(statistic: str) -> int:
    """How many examples it takes for a quantile to have an upper end at all, and so to pass.

    >>> examples_for_quantile("p95")
    59
    """
    import numpy as np

    n, q = 1, QUANTILES[statistic]
    while order_statistics(np.arange(float(n)), q, 1 - 2 * ALPHA) is None:
        n += 1
    return n
