"""How good each response is over all its scores, and which to look at first."""

from __future__ import annotations

from heapq import nsmallest
from math import isfinite
from typing import TYPE_CHECKING

from ragauge.metrics.base import Metric
from ragauge.scores.arrays import SCORED, Columns, ResponseIndex
from ragauge.scores.failures import FailedResponses

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.scores.arrays import Codes

    Floats = npt.NDArray[np.float64]


class QualityScores:
    """The mean of each response's scores on their ranges, 1 = best, made one metric at a time; amounts left out.

    Attributes:
        index: the responses.
    """

    def __init__(self, index: ResponseIndex) -> None:
        import numpy as np

        self.index = index
        self._sum, self._count = np.zeros(len(index)), np.zeros(len(index), dtype=np.int32)

    def read(self, metric: Metric, responses: Columns | None) -> None:
        """Takes in a metric's scores, one entry a response."""
        scale = find_scale(metric)
        if scale is None or responses is None:
            return
        worst, best = scale
        scored = responses.status == SCORED
        positions = responses.place[scored]
        self._sum[positions] += (responses.value[scored] - worst) / (best - worst)
        self._count[positions] += 1

    def values(self) -> Floats:
        """The quality of every response, NaN where it has none."""
        import numpy as np

        quality = np.full(len(self.index), np.nan)
        np.divide(self._sum, self._count, out=quality, where=self._count > 0)
        return np.round(quality, 12)  # the same in whatever order the metrics came


def pick_worst(failed: FailedResponses, quality: Floats, count: int = 20) -> list[tuple[str, int]]:
    """The responses to look at first: (query_id, repeat), spread over the causes.

    One of each cause in turn, the most frequent cause first, within a cause the lowest quality first. Where fewer
    responses failed than asked for, those of the lowest quality below 1 follow.

    Args:
        failed: the failed responses; without a quality they count as 0.
        quality: shape (responses,), as `Quality.values` gives it.
        count: how many at most.
    """
    import numpy as np

    index, often = failed.index, failed.cause.counts()
    filled_quality = np.nan_to_num(quality, nan=0.0)
    turns = sorted(
        (turn, -often[number], cause, position)
        for number, cause in enumerate(failed.cause.values)
        for turn, position in enumerate(select_worst(index, failed.select_cause(cause).place, filled_quality, count))
    )
    below = quality < 1  # NaN is not
    below[failed.place] = False
    remaining = select_worst(index, np.flatnonzero(below), quality, max(0, count - len(failed)))
    positions = [*(position for *_, position in turns[:count]), *remaining]
    return [(index.query_ids[index.query[position]], int(index.repeat[position])) for position in positions]


def select_worst(index: ResponseIndex, positions: Codes, quality: Floats, max_n: int) -> list[int]:
    """The places of the lowest quality, in order of it, of query id and of repeat; no more than asked for.

    All but those wanted are only looked at, never put in order: there may be very many.

    Args:
        index: the responses.
        positions: shape (n,), among which.
        quality: shape (responses,), a number for each of the places.
        max_n: how many at most.
    """
    import numpy as np

    if 0 < max_n < positions.size:
        qualities = quality[positions]
        positions = positions[qualities <= np.partition(qualities, max_n - 1)[max_n - 1]]
    return nsmallest(max_n, positions.tolist(), key=lambda position: build_sort_key(index, position, quality))


def build_sort_key(index: ResponseIndex, position: int, quality: Floats) -> tuple[float, str, int]:
    """What responses are put in order by: quality, and where it is equal query id and repeat."""
    return float(quality[position]), index.query_ids[index.query[position]], int(index.repeat[position])


def find_scale(metric: Metric) -> tuple[float, float] | None:
    """A metric's worst and best value; None where it has none, so that it is no part of quality."""
    low, high = metric.range
    if metric.direction == "neither" or not (isfinite(low) and isfinite(high)):
        return None
    return (low, high) if metric.direction == "higher" else (high, low)
