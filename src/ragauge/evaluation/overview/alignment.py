"""How well the ranking and the generator agree: which ranks the answers rest on, and what they pass over.

What one response's answer made of its passages, found once for everything that counts it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.metrics.facts import Facts, resolve_fact
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.estimates import estimate_response_mean, get_cluster_codes
from ragauge.scores.gather import Visit
from ragauge.scores.indicators import STARTING_POINTS
from ragauge.scores.results.overview import Alignment, MeanEstimate, RankUse, has_little_relevant
from ragauge.stats.correlation import spearman_of_marks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.scores.arrays import Codes

    Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class UsedPassages:
    """One response with the marks of its passages."""

    place: int  #: of the response in its index.
    seen: CauseContext  #: the facts.
    #: per passage handed on, whether it supports a claim or is cited for one; None where that is not known of every
    #: passage.
    used: tuple[bool, ...] | None

    @staticmethod
    def of(visit: Visit) -> UsedPassages:
        """Reads the marks from the evidence."""
        facts = Facts(visit.example, visit.response, visit.evidence)
        used = resolve_fact("verify_answer.used", facts)
        is_known = isinstance(used, tuple) and None not in used
        return UsedPassages(visit.place, CauseContext(facts), used if is_known else None)

    @property
    def answers(self) -> bool:
        """Whether it counts for alignment, as for ignored_top_ranked: claims over at least two passages.

        No refusal counts, nor an answer to a question that has none.
        """
        if self.used is None or len(self.used) < MIN_RANKED or self.seen.answer is None or not self.seen.answer.claims:
            return False
        return self.seen.is_answerable is not False and self.seen.is_refusal is False


MIN_RANKED = 2  # passages: of one nothing tells whether ranking and generator agree
USED, RELEVANT, RELEVANCE_KNOWN = 1, 2, 4  # bits of a passage's mark; KNOWN: whether it is relevant is known
FLAG_SHARE = STARTING_POINTS["ignored_top_ranked"].value
THIRDS = ("first", "middle", "last")


class AlignmentGatherer:
    """Takes in which passages each answer used: a byte a passage, and nine bytes a response."""

    def __init__(self) -> None:
        self._places = array("i")
        self._lengths = array("i")
        self._answers = bytearray()
        self._marks = bytearray()

    def add(self, use: UsedPassages) -> None:
        """Takes in a response; one of which it is not known what it used is left out."""
        if use.used is None:
            return
        self._places.append(use.place)
        self._lengths.append(len(use.used))
        self._answers.append(use.answers)
        self._marks.extend(
            USED * used + (0 if mark is None else RELEVANCE_KNOWN + RELEVANT * mark)
            for used, mark in zip(use.used, list_relevance(use), strict=True)
        )

    def used(self, indices: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """Place -> ranks of the passages used, of those of these responses of which it is known."""
        return {index: _list_marked_ranks(marks, USED) for index, _, marks in self._select_marks(indices)}

    def relevant(self, indices: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """Place -> ranks of the passages known to be relevant, of those of these responses that count."""
        return {
            index: _list_marked_ranks(marks, RELEVANT) for index, counts, marks in self._select_marks(indices) if counts
        }

    def count_passages(self, indices: Iterable[int]) -> dict[int, int]:
        """Place -> passages handed on, of the same responses as `used`."""
        return {index: len(marks) for index, _, marks in self._select_marks(indices)}

    def _select_marks(self, indices: Iterable[int]) -> Iterator[tuple[int, bool, bytearray]]:
        """Place, whether it counts, and marks of these responses."""
        requested, start = set(indices), 0
        for index, length, counts in zip(self._places, self._lengths, self._answers, strict=True):
            if index in requested:
                yield index, bool(counts), self._marks[start : start + length]
            start += length

    def alignment(self, index: ResponseIndex, level: float = 0.95, scored: Marks | None = None) -> Alignment | None:
        """What was found; None where no response counts.

        Args:
            index: the responses, by place.
            level: of the intervals.
            scored: of each place, whether ignored_top_ranked has a value there: no other counts; None = not measured.
        """
        import numpy as np

        counts = np.array(self._answers, dtype=bool)
        if scored is not None:
            counts &= scored[np.array(self._places, dtype=np.int32)]
        if not counts.any():
            return None
        marked = self._collect_passages(counts)
        first = marked.rank == 1
        ignored = ~marked.used[first]
        share = _estimate_rate(ignored, marked.place[first], index, level)
        rho, interval = spearman_of_marks(marked.rank, marked.used, get_cluster_codes(index)[marked.place], level)
        best = _find_best_ranks(marked)
        ranks, answers = tuple(_count_rank_use(marked, best)), int(first.sum())
        is_above = share.interval is not None and share.interval.low > FLAG_SHARE
        return Alignment(
            ranks=ranks,
            answers=answers,
            ignored_top=int(ignored.sum()),
            ignored_share=share,
            flagged=is_above and not has_little_relevant(ranks, answers),
            unused=int((best == 0).sum()),
            correlation=rho,
            correlation_interval=interval,
            positions=dict(_estimate_thirds(marked, index, level)),
        )

    def _collect_passages(self, counts: Marks) -> _Passages:
        """The passages of the answers that count."""
        import numpy as np

        length = np.array(self._lengths, dtype=np.int32)
        mark = np.array(self._marks, dtype=np.uint8)[np.repeat(counts, length)]
        length, index = length[counts], np.array(self._places, dtype=np.int32)[counts]
        starts = np.cumsum(length, dtype=np.int64) - length
        first = np.repeat(starts.astype(np.int32), length)  # half the room of whole numbers as they are
        return _Passages(
            starts=starts,
            place=np.repeat(index, length),
            rank=np.arange(1, mark.size + 1, dtype=np.int32) - first,
            of=np.repeat(length, length),
            used=(mark & USED) > 0,
            known=(mark & RELEVANCE_KNOWN) > 0,
            relevant=(mark & RELEVANT) > 0,
        )


def _list_marked_ranks(marks: Iterable[int], bit: int) -> tuple[int, ...]:
    return tuple(rank for rank, mark in enumerate(marks, 1) if mark & bit)


def find_third(rank: int, n_passages: int) -> str:
    """In which third of a context of several passages one lies, by its middle; "" for a context of one.

    >>> [find_third(rank, 4) for rank in (1, 2, 3, 4)], find_third(1, 1)
    (['first', 'middle', 'middle', 'last'], '')
    """
    return THIRDS[3 * (2 * rank - 1) // (2 * n_passages)] if n_passages > 1 else ""


def list_relevance(use: UsedPassages) -> list[bool | None]:
    """Per passage handed on, whether it is relevant: as the judge rated it, else as its document is labelled.

    With labels, a document that has none is not relevant. None where there is neither rating nor label.
    """
    context = use.seen
    rated = context.relevance_by_passage or {}
    is_labeled = bool(context.example.relevant or context.gold_spans)
    gold = {doc_id for item in context.relevant for doc_id in item.doc_ids}
    verdicts: list[bool | None] = []
    for n, passage in enumerate(context.passages or (), 1):
        mark = rated.get(n)
        verdicts.append(passage.doc_id in gold if mark is None and is_labeled else mark)
    return verdicts


class _Passages(NamedTuple):
    """The passages of all answers that count, one entry each."""

    starts: Codes  #: where each answer's passages begin.
    place: Codes  #: of the response.
    rank: Codes  #: from 1.
    of: Codes  #: how many passages the answer had.
    used: Marks  #: it supports a claim or is cited for one.
    known: Marks  #: whether it is relevant is known.
    relevant: Marks  #: it is.


def _find_best_ranks(marked: _Passages) -> Codes:
    """The highest rank that each answer used; 0 where it used none."""
    import numpy as np

    unused_rank = int(marked.rank.max()) + 1
    best_ranks = np.minimum.reduceat(np.where(marked.used, marked.rank, unused_rank), marked.starts)
    return np.where(best_ranks == unused_rank, 0, best_ranks)


def _count_rank_use(marked: _Passages, best_ranks: Codes) -> Iterator[RankUse]:
    import numpy as np

    max_rank = int(marked.rank.max())

    def count_by_rank(ranks: Codes) -> list[int]:
        return [int(n) for n in np.bincount(ranks, minlength=max_rank + 1)]

    n, used, first = count_by_rank(marked.rank), count_by_rank(marked.rank[marked.used]), count_by_rank(best_ranks)
    n_known, relevant = count_by_rank(marked.rank[marked.known]), count_by_rank(marked.rank[marked.relevant])
    both = count_by_rank(marked.rank[marked.relevant & marked.used])
    for rank in range(1, max_rank + 1):
        is_known = bool(n_known[rank])
        yield RankUse(
            rank,
            n[rank],
            used[rank],
            first[rank],
            relevant[rank] if is_known else None,
            both[rank] if is_known else None,
        )


def _estimate_thirds(marked: _Passages, index: ResponseIndex, level: float) -> Iterator[tuple[str, MeanEstimate]]:
    """Thirds of the context, by where a passage's middle lies; a context of one passage has none.

    Of two passages one is first and one last; of four, two are in the middle.
    """
    middle = (2 * marked.rank - 1) / (2 * marked.of)
    third_index = (3 * middle).astype(int)
    for number, name in enumerate(THIRDS):
        selected = marked.relevant & (marked.of > 1) & (third_index == number)
        yield name, _estimate_rate(marked.used[selected], marked.place[selected], index, level)


def _estimate_rate(
    marks: npt.NDArray[np.bool_], indices: npt.NDArray[np.int64], index: ResponseIndex, level: float
) -> MeanEstimate:
    """The share of what a judge marked."""
    return estimate_response_mean(marks.astype(float), indices, index, kind="rate", level=level, sampled=True)
