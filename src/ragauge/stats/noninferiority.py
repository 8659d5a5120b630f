"""Decisions about a margin: not worse by more than it, or equal within it; or not enough data to say."""

from __future__ import annotations

from math import isfinite
from typing import Literal

from ragauge.errors import UsageError
from ragauge.stats.weighted import Interval

NOT_ENOUGH: Literal["not enough data"] = "not enough data"

NonInferiority = Literal["not inferior", "inferior", "not enough data"]
Equivalence = Literal["equivalent", "different", "not enough data"]


def non_inferior(interval: Interval | None, margin: float) -> NonInferiority:
    """Whether new is not worse than base by more than a margin.

    low > −margin: not inferior;  high < −margin: inferior;  else, and without an interval: not enough data

    With an interval at level 1 − 2·alpha each of the two answers is wrong in at most a share alpha of all comparisons:
    it is the one-sided test of a difference of −margin, either way. A margin of 0 asks for proof that new is not worse
    at all: two equal systems get "not inferior" in a share alpha only, so leave room for what does not matter.

    Args:
        interval: of the difference new − base, for a metric that should be high; of base − new for one that should be
            low. A 90 % interval for alpha = 0.05. None = there are too few pairs for one.
        margin: the largest loss that does not matter, in the metric's unit, at least 0. Set before looking at the data.

    Returns:
        "not inferior", "inferior" or "not enough data".

    Assumes what the interval assumes.
    Source: Piaggio et al. (2012), JAMA 308, 2594 (the CONSORT statement on non-inferiority).

    >>> non_inferior(Interval(-0.02, 0.01, "t", 0.9), margin=0.03)
    'not inferior'
    >>> non_inferior(Interval(-0.05, 0.01, "t", 0.9), margin=0.03)
    'not enough data'
    """
    _check(margin)
    if interval is None:
        return NOT_ENOUGH
    if interval.low > -margin:
        return "not inferior"
    return "inferior" if interval.high < -margin else NOT_ENOUGH


def equivalent(interval: Interval | None, margin: float) -> Equivalence:
    """Whether new and base are equal within a margin.

    −margin < low and high < margin: equivalent;  high < −margin or low > margin: different;  else not enough data

    With an interval at level 1 − 2·alpha this is the test by two one-sided tests: "equivalent" is wrong in at most a
    share alpha of all comparisons. That an interval holds 0 is no proof of equality; that it lies within the margin is.

    Args:
        interval: of the difference; a 90 % interval for alpha = 0.05. None = there are too few pairs for one.
        margin: the largest difference that does not matter, above 0. Set before looking at the data.

    Returns:
        "equivalent", "different" or "not enough data".

    Assumes what the interval assumes.
    Source: Schuirmann (1987).

    >>> equivalent(Interval(-0.02, 0.01, "t", 0.9), margin=0.03)
    'equivalent'
    """
    _check(margin)
    if margin == 0:
        raise UsageError("equivalent: margin must be above 0. No sample proves that two systems are exactly equal.")
    if interval is None:
        return NOT_ENOUGH
    if -margin < interval.low and interval.high < margin:
        return "equivalent"
    return "different" if interval.high < -margin or interval.low > margin else NOT_ENOUGH


def _check(margin: float) -> None:
    if not (margin >= 0 and isfinite(margin)):
        raise UsageError(f"margin must be at least 0, got {margin:g}. Write 0.03 for three points.")
