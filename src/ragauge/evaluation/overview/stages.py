"""How much of the labelled evidence is still there after each stage of retrieval."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from ragauge.core.example import Relevant
from ragauge.core.response import Passage
from ragauge.evaluation.overview.alignment import UsedPassages
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.estimates import estimate_response_mean
from ragauge.scores.results.overview import Stage

STAGES = ("candidates", "top n of the candidates", "handed on", "used")
UNKNOWN_COUNT = -1


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

    def add(self, use: UsedPassages) -> None:
        """Takes in a response; one without labels, and one of a failed system, is left out."""
        context = use.seen
        if not context.relevant or context.response.error is not None:
            return
        candidates = _list_doc_ids(context.response.candidates)
        handed = _list_doc_ids(context.passages)
        top = None if candidates is None or handed is None else candidates[: len(handed)]
        used = [doc_id for doc_id, mark in zip(handed or (), use.used or (), strict=False) if mark]
        self._places.append(use.place)
        self._labelled.append(len(context.relevant))
        for stage_counts, documents in zip(
            self._left, (candidates, top, handed, None if use.used is None else used), strict=True
        ):
            stage_counts.append(UNKNOWN_COUNT if documents is None else count_retrieved(context.relevant, documents))

    def find_kept_shares(self, indices: Iterable[int]) -> dict[int, dict[str, float]]:
        """Place -> stage -> share of the labelled documents still there, of those of these responses with labels."""
        requested, by_index = set(indices), {}
        for index, labelled, *stage_counts in zip(self._places, self._labelled, *self._left, strict=True):
            if index in requested:
                counts_by_stage = zip(STAGES, stage_counts, strict=True)
                by_index[index] = {name: count / labelled for name, count in counts_by_stage if count != UNKNOWN_COUNT}
        return by_index

    def stages(self, index: ResponseIndex, level: float = 0.95) -> tuple[Stage, ...]:
        """The stages that something was recorded of, in order: mean over examples of the share that is left.

        Args:
            index: the responses, by place.
            level: of the intervals.
        """
        import numpy as np

        indices, labelled = np.array(self._places, dtype=np.int64), np.array(self._labelled)
        stage_estimates = []
        for name, stage_counts in zip(STAGES, self._left, strict=True):
            counts = np.array(stage_counts)
            is_known = counts != UNKNOWN_COUNT
            if is_known.any():
                shares = counts[is_known] / labelled[is_known]
                stage_estimates.append(
                    Stage(
                        name, estimate_response_mean(shares, indices[is_known], index, bounds=(0.0, 1.0), level=level)
                    )
                )
        return tuple(stage_estimates)


def count_retrieved(items: Iterable[Relevant], documents: Iterable[str]) -> int:
    """How many labelled items have a member among the documents.

    >>> count_retrieved([Relevant(("a", "b")), Relevant(("c",))], ["b", "x"])
    1
    """
    doc_ids = set(documents)
    return sum(not doc_ids.isdisjoint(item.doc_ids) for item in items)


def _list_doc_ids(passages: Sequence[Passage] | None) -> list[str] | None:
    return None if passages is None else [passage.doc_id for passage in passages]
