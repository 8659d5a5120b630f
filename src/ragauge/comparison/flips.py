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

MAX_FLIPS = 60  # examples shown, half of them those that lost most


class ChosenFlip(NamedTuple):
    """An example to show: its number in the new run, the change of its quality, and what flipped."""

    query: int
    change: float
    scores: tuple[Flipped, ...]


@dataclass(frozen=True, slots=True)
class FlippedExamples:
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
        sign = 1.0 if pairs.metric.direction == "higher" else -1.0
        self._sum[pairs.query] += sign * (pairs.new - pairs.base) / (high - low)
        self._count[pairs.query] += 1
        if all(bool(((scores == 0) | (scores == 1)).all()) for scores in (pairs.new, pairs.base)):
            rows = np.flatnonzero(pairs.new != pairs.base)
            self._turned[str(pairs.metric)] = pairs.query[rows], pairs.base[rows], pairs.new[rows]

    def find_flips(
        self, failed_new: Collection[str], failed_base: Collection[str], matched: Collection[str]
    ) -> FlippedExamples:
        """The examples that flipped.

        Args:
            failed_new: ids of the examples that failed in the new run.
            failed_base: of those that failed in the baseline.
            matched: of those in both.
        """
        import numpy as np

        among = set(matched)
        newly_failed, mended = (
            {query_id for query_id in failures if query_id not in other and query_id in among}
            for failures, other in ((failed_new, failed_base), (failed_base, failed_new))
        )
        flipped_ids = newly_failed | mended
        numbers = {query_id: number for number, query_id in enumerate(self._ids) if query_id in flipped_ids}
        numbers_seen = {number for queries, _, _ in self._turned.values() for number in queries.tolist()}
        flipped_numbers = np.array(sorted(numbers_seen | set(numbers.values())), dtype=np.int64)
        change = self._sum[flipped_numbers] / np.maximum(self._count[flipped_numbers], 1)
        fell = np.array([self._ids[number] in newly_failed for number in flipped_numbers], dtype=bool)
        got_worse = (change < 0) | ((change == 0) & fell)
        # of equal ones those that newly failed first, then in the order of the run
        order = np.lexsort((flipped_numbers, ~fell, change, ~got_worse))
        shown_rows = _select_ends(order, int(got_worse.sum()))
        scores = self._select_scores({int(flipped_numbers[row]) for row in shown_rows})
        selected = tuple(
            ChosenFlip(int(flipped_numbers[row]), float(change[row]), scores.get(int(flipped_numbers[row]), ()))
            for row in shown_rows
        )
        return FlippedExamples(int(got_worse.sum()), int((~got_worse).sum()), len(newly_failed), len(mended), selected)

    def _select_scores(self, numbers: Collection[int]) -> Mapping[int, tuple[Flipped, ...]]:
        """Number of an example -> its scores that flipped, of those wanted."""
        import numpy as np

        by_query: dict[int, tuple[Flipped, ...]] = {}
        sorted_numbers = np.array(sorted(numbers), dtype=np.int64)
        for metric, (queries, base, new) in self._turned.items():
            for row in np.flatnonzero(np.isin(queries, sorted_numbers)):
                flipped = Flipped(metric, float(base[row]), float(new[row]))
                by_query[int(queries[row])] = (*by_query.get(int(queries[row]), ()), flipped)
        return by_query


def _select_ends(order: Codes, n_lost: int) -> list[int]:
    """The first ones and the last ones of an order, half of each where there are enough of both."""
    n_gained = order.size - n_lost
    n_front = min(n_lost, max(MAX_FLIPS // 2, MAX_FLIPS - n_gained))
    n_back = min(n_gained, MAX_FLIPS - n_front)
    return [*order[:n_front].tolist(), *order[order.size - n_back :].tolist()] if n_back else order[:n_front].tolist()
