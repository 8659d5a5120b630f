"""How much of the labelled evidence is still there after each stage of retrieval."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from ragauge.core.example import Relevant
from ragauge.core.response import Passage
from ragauge.evaluation.overview.alignment import Use
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.estimates import estimate
from ragauge.scores.results.overview import Stage

STAGES = ("candidates", "top n of the candidates", "handed on", "used")
UNKNOWN = -1


class StageGatherer:
    """Takes in how many labelled documents of each response are left at each stage: 24 bytes a response.

    candidates               the ranking before the cut
    top n of the candidates  as many of them as were handed on
    handed on                what the generator saw
    used                     what the answer rests on
    """

    def __init__(self) -> None:
        self._places = array("i")
        self._labelled = array("i")
        self._left = [array("i") for _ in STAGES]

    def add(self, use: Use) -> None:
        """Takes in a response; one without labels, and one of a failed system, is left out."""
        seen = use.seen
        if not seen.relevant or seen.response.error is not None:
            return
        candidates = _documents(seen.response.candidates)
        handed = _documents(seen.passages)
        top = None if candidates is None or handed is None else candidates[: len(handed)]
        used = [doc_id for doc_id, mark in zip(handed or (), use.used or (), strict=False) if mark]
        self._places.append(use.place)
        self._labelled.append(len(seen.relevant))
        for left, documents in zip(
            self._left, (candidates, top, handed, None if use.used is None else used), strict=True
        ):
            left.append(UNKNOWN if documents is None else still_there(seen.relevant, documents))

    def kept(self, places: Iterable[int]) -> dict[int, dict[str, float]]:
        """Place -> stage -> share of the labelled documents still there, of those of these responses with labels."""
        wanted, by_index = set(places), {}
        for index, labelled, *left in zip(self._places, self._labelled, *self._left, strict=True):
            if index in wanted:
                known = zip(STAGES, left, strict=True)
                by_index[index] = {name: count / labelled for name, count in known if count != UNKNOWN}
        return by_index

    def stages(self, index: ResponseIndex, level: float = 0.95) -> tuple[Stage, ...]:
        """The stages that something was recorded of, in order: mean over examples of the share that is left.

        Args:
            index: the responses, by place.
            level: of the intervals.
        """
        import numpy as np

        places, labelled = np.array(self._places, dtype=np.int64), np.array(self._labelled)
        kept = []
        for name, left in zip(STAGES, self._left, strict=True):
            counts = np.array(left)
            known = counts != UNKNOWN
            if known.any():
                shares = counts[known] / labelled[known]
                kept.append(Stage(name, estimate(shares, places[known], index, bounds=(0.0, 1.0), level=level)))
        return tuple(kept)


def still_there(items: Iterable[Relevant], documents: Iterable[str]) -> int:
    """How many labelled items have a member among the documents.

    >>> still_there([Relevant(("a", "b")), Relevant(("c",))], ["b", "x"])
    1
    """
    there = set(documents)
    return sum(not there.isdisjoint(item.doc_ids) for item in items)


def _documents(passages: Sequence[Passage] | None) -> list[str] | None:
    return None if passages is None else [passage.doc_id for passage in passages]
