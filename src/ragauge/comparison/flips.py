"""Which examples flipped between two runs, ordered by how much they lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from ragauge.comparison.pairs import Pairs
from ragauge.scores.results.comparison import Flipped

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]

MOST_FLIPS = 60  # examples shown, half of them those that lost most


class ChosenFlip(NamedTuple):
    """An example to show: its number in the new run, the change of its quality, and what flipped."""

    query: int
    change: float
    scores: tuple[Flipped, ...]


@dataclass(frozen=True, slots=True)
class Sides:
    """The examples that flipped: how many, and which to show, those that lost most first."""

    lost: int
    gained: int
    newly_failed: int
    mended: int
    chosen: tuple[ChosenFlip, ...]


class FlipGatherer:
    """Takes in one metric's pairs after another.

    Args:
        query_ids: the examples of the new run, by number.
    """

    def __init__(self, query_ids: Sequence[str]) -> None:
        import numpy as np

        self._ids = query_ids
        self._sum, self._count = np.zeros(len(query_ids)), np.zeros(len(query_ids), dtype=np.int64)
        self._turned: dict[str, tuple[Codes, Floats, Floats]] = {}

    def read(self, pairs: Pairs) -> None:
        """Takes in a metric; one without bounds or direction says nothing about which side is better."""
        import numpy as np

        low, high = pairs.metric.range
        if pairs.metric.direction == "neither" or not (isfinite(low) and isfinite(high)) or not len(pairs):
            return
        up = 1.0 if pairs.metric.direction == "higher" else -1.0
        self._sum[pairs.query] += up * (pairs.new - pairs.base) / (high - low)
        self._count[pairs.query] += 1
        if all(bool(((side == 0) | (side == 1)).all()) for side in (pairs.new, pairs.base)):
            rows = np.flatnonzero(pairs.new != pairs.base)
            self._turned[str(pairs.metric)] = pairs.query[rows], pairs.base[rows], pairs.new[rows]

    def sides(self, failed_new: Collection[str], failed_base: Collection[str], matched: Collection[str]) -> Sides:
        """The examples that flipped.

        Args:
            failed_new: ids of the examples that failed in the new run.
            failed_base: of those that failed in the baseline.
            matched: of those in both.
        """
        import numpy as np

        among = set(matched)
        newly, mended = (
            {query_id for query_id in failures if query_id not in other and query_id in among}
            for failures, other in ((failed_new, failed_base), (failed_base, failed_new))
        )
        turned = newly | mended
        numbers = {query_id: number for number, query_id in enumerate(self._ids) if query_id in turned}
        numbers_seen = {number for queries, _, _ in self._turned.values() for number in queries.tolist()}
        every = np.array(sorted(numbers_seen | set(numbers.values())), dtype=np.int64)
        change = self._sum[every] / np.maximum(self._count[every], 1)
        fell = np.array([self._ids[number] in newly for number in every], dtype=bool)
        lost = (change < 0) | ((change == 0) & fell)
        # of equal ones those that newly failed first, then in the order of the run
        order = np.lexsort((every, ~fell, change, ~lost))
        shown = _ends(order, int(lost.sum()))
        scores = self._scores({int(every[at]) for at in shown})
        chosen = tuple(ChosenFlip(int(every[at]), float(change[at]), scores.get(int(every[at]), ())) for at in shown)
        return Sides(int(lost.sum()), int((~lost).sum()), len(newly), len(mended), chosen)

    def _scores(self, wanted: Collection[int]) -> Mapping[int, tuple[Flipped, ...]]:
        """Number of an example -> its scores that flipped, of those wanted."""
        import numpy as np

        by_query: dict[int, tuple[Flipped, ...]] = {}
        few = np.array(sorted(wanted), dtype=np.int64)
        for metric, (queries, base, new) in self._turned.items():
            for at in np.flatnonzero(np.isin(queries, few)):
                flipped = Flipped(metric, float(base[at]), float(new[at]))
                by_query[int(queries[at])] = (*by_query.get(int(queries[at]), ()), flipped)
        return by_query


def _ends(order: Codes, lost: int) -> list[int]:
    """The first ones and the last ones of an order, half of each where there are enough of both."""
    gained = order.size - lost
    front = min(lost, max(MOST_FLIPS // 2, MOST_FLIPS - gained))
    back = min(gained, MOST_FLIPS - front)
    return [*order[:front].tolist(), *order[order.size - back :].tolist()] if back else order[:front].tolist()
