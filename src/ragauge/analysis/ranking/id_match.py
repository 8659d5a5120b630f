"""How far labelled document ids are found among retrieved ones: ids written in two ways make recall silently 0."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING

from ragauge.analysis.scores.gather import Visit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_WAITING = 65_536     # hashes gathered before equal ones are put together
MOST_SHOWN = 512          # ids kept as text, to show one that the other side does not have


@dataclass(frozen=True, slots=True)
class IdMatch:
    """How far labelled document ids are found among retrieved ones.

    Attributes:
        labelled: different labelled documents.
        matched: those that some response retrieved.
        example_labelled: a labelled id that none did, the first of the alphabet where there are few.
        example_retrieved: a retrieved id that is not labelled, likewise.
    """

    labelled: int
    matched: int
    example_labelled: str = ""
    example_retrieved: str = ""


class IdGatherer:
    """Compares the labelled ids (grade above 0) of the responses with everything that they retrieved."""

    def __init__(self) -> None:
        self._labelled, self._retrieved = _Ids(), _Ids()

    def add(self, visit: Visit) -> None:
        """Takes in the ids of one response and its example."""
        for item in visit.example.relevant or ():
            if item.grade > 0:
                self._labelled.add(item.doc_ids)
        for passages in (visit.response.passages, visit.response.candidates):
            self._retrieved.add(passage.doc_id for passage in passages or ())

    def found(self) -> IdMatch:
        """The comparison."""
        import numpy as np

        labelled, retrieved = self._labelled.distinct(), self._retrieved.distinct()
        matched = int(np.isin(labelled, retrieved, assume_unique=True).sum())
        return IdMatch(
            int(labelled.size), matched, self._labelled.first_outside(retrieved),
            self._retrieved.first_outside(labelled),
        )     # fmt: skip


class _Ids:
    """Different ids, by 64 bits of hash: eight bytes each, and the first few of the alphabet as text."""

    def __init__(self) -> None:
        self._waiting = array("q")
        self._sorted: npt.NDArray[np.int64] | None = None
        self._first: set[str] = set()
        self._last_kept: str | None = None

    def add(self, ids: Iterable[str]) -> None:
        """Takes in ids, new or not."""
        for one in ids:
            self._waiting.append(hash(one))
            if self._last_kept is None or one < self._last_kept:
                self._first.add(one)
        if len(self._first) > 2 * MOST_SHOWN:
            kept = nsmallest(MOST_SHOWN, self._first)
            self._first, self._last_kept = set(kept), kept[-1]
        if len(self._waiting) > MOST_WAITING:
            self._sorted = self.distinct()

    def distinct(self) -> npt.NDArray[np.int64]:
        """Their hashes, ascending, each once."""
        import numpy as np

        waiting = np.frombuffer(self._waiting, dtype=np.int64) if self._waiting else np.empty(0, dtype=np.int64)
        found = np.unique(waiting if self._sorted is None else np.concatenate([self._sorted, waiting]))
        self._sorted, self._waiting = found, array("q")
        return found

    def first_outside(self, hashes: npt.NDArray[np.int64]) -> str:
        """The first id that is not among these hashes, of those kept as text; "" when there is none."""
        import numpy as np

        names = sorted(self._first)
        outside = ~np.isin(np.fromiter((hash(name) for name in names), dtype=np.int64, count=len(names)), hashes)
        return next((name for name, is_outside in zip(names, outside, strict=True) if is_outside), "")
