"""What a difference between two runs is called, and when it may be."""

from __future__ import annotations

from ragauge.analysis.results.overview import MeanEstimate

BETTER, WORSE, CHANGED = "better", "worse", "changed"
SAME, UNKNOWN = "no change seen", "not enough data"
LEAST_SEEN = 10        # examples, or clusters, without which "no change seen" would claim more than anybody can see


def verdict_of(direction: str, difference: MeanEstimate, sums: tuple[float, float], units: int) -> str:
    """What the interval of a difference says, before anything is corrected for many looks.

    Better or worse where the whole interval, with the judge's error where that is known, lies on that side of 0, and no
    failed score, wherever it might lie, could turn the sign.

    Args:
        direction: of the metric: higher, lower or neither.
        difference: new − base, over how many examples; without an interval nothing is known.
        sums: the least and greatest sum of differences that failed scores allow.
        units: what is independent: examples, or their clusters.
    """
    interval = difference.widest
    if interval is None:
        return UNKNOWN
    if interval.low <= 0 <= interval.high:
        return SAME if units >= LEAST_SEEN else UNKNOWN
    rose = interval.low > 0
    if not (sums[0] > 0 if rose else sums[1] < 0):
        return UNKNOWN
    good = {"higher": rose, "lower": not rose}.get(direction)
    return CHANGED if good is None else BETTER if good else WORSE
