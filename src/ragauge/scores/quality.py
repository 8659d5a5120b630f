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


class Quality:
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
        scale = scale_of(metric)
        if scale is None or responses is None:
            return
        worst, best = scale
        scored = responses.status == SCORED
        place = responses.place[scored]
        self._sum[place] += (responses.value[scored] - worst) / (best - worst)
        self._count[place] += 1

    def values(self) -> Floats:
        """The quality of every response, NaN where it has none."""
        import numpy as np

        found = np.full(len(self.index), np.nan)
        np.divide(self._sum, self._count, out=found, where=self._count > 0)
        return np.round(found, 12)  # the same in whatever order the metrics came


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
    known = np.nan_to_num(quality, nan=0.0)
    turns = sorted(
        (turn, -often[number], cause, place)
        for number, cause in enumerate(failed.cause.values)
        for turn, place in enumerate(worst_first(index, failed.of_cause(cause).place, known, count))
    )
    below = quality < 1  # NaN is not
    below[failed.place] = False
    rest = worst_first(index, np.flatnonzero(below), quality, max(0, count - len(failed)))
    places = [*(place for *_, place in turns[:count]), *rest]
    return [(index.query_ids[index.query[place]], int(index.repeat[place])) for place in places]


def worst_first(index: ResponseIndex, places: Codes, quality: Floats, most: int) -> list[int]:
    """The places of the lowest quality, in order of it, of query id and of repeat; no more than asked for.

    All but those wanted are only looked at, never put in order: there may be very many.

    Args:
        index: the responses.
        places: shape (n,), among which.
        quality: shape (responses,), a number for each of the places.
        most: how many at most.
    """
    import numpy as np

    if 0 < most < places.size:
        mine = quality[places]
        places = places[mine <= np.partition(mine, most - 1)[most - 1]]
    return nsmallest(most, places.tolist(), key=lambda at: rank(index, at, quality))


def rank(index: ResponseIndex, place: int, quality: Floats) -> tuple[float, str, int]:
    """What responses are put in order by: quality, and where it is equal query id and repeat."""
    return float(quality[place]), index.query_ids[index.query[place]], int(index.repeat[place])


def scale_of(metric: Metric) -> tuple[float, float] | None:
    """A metric's worst and best value; None where it has none, so that it is no part of quality."""
    low, high = metric.range
    if metric.direction == "neither" or not (isfinite(low) and isfinite(high)):
        return None
    return (low, high) if metric.direction == "higher" else (high, low)
