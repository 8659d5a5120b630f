"""Which of the passages that were handed on hold the evidence, as far as labels, a reference or plain ratings tell."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.analysis.causes.cause_context import CauseContext
from ragauge.analysis.causes.listing import counted
from ragauge.data.example import Relevant
from ragauge.data.response import Passage

UNTOLD = "whether the passages hold the answer"


def judged(seen: CauseContext) -> frozenset[int]:
    """Numbers of the passages that hold the evidence by the judge; those that are but likely on the topic are none."""
    return frozenset() if seen.reference is None and seen.likely_only else seen.evidence


def labelled(seen: CauseContext) -> frozenset[int]:
    """Numbers of the passages that hold the evidence by the labels.

    Of several passages of one labelled document these are the ones that a labelled span runs through; where none is
    known to, those that a reference claim rests on; else all of them.
    """
    return frozenset(n for item in seen.relevant for n in _of(seen, item))


def _of(seen: CauseContext, item: Relevant) -> Iterator[int]:
    there = {n: one for n, one in enumerate(seen.passages or (), 1) if one.doc_id in item.doc_ids}
    yield from {n for n, one in there.items() if _crossed(seen, one)} or (there.keys() & judged(seen)) or there


def _crossed(seen: CauseContext, passage: Passage) -> bool:
    piece = passage.span
    return piece is not None and any(
        span.doc_id == passage.doc_id and piece.start < span.end and span.start < piece.end for span in seen.spans
    )


def holding(seen: CauseContext) -> frozenset[int]:
    """Numbers of all passages that hold the evidence, by the labels or by the judge."""
    return labelled(seen) | judged(seen)


def misread(seen: CauseContext, followed: frozenset[int]) -> str:
    """That an answer follows a passage that also holds the evidence, so that no ranking is to blame; "" for none."""
    both = followed & holding(seen)
    if not both:
        return ""
    verb = "holds" if len(both) == 1 else "hold"
    by = f"also {verb} the evidence" if both & judged(seen) else f"by the labels {verb} the evidence"
    return f"follows {counted('passage', both)}, which {by}: misread"


def told(seen: CauseContext) -> bool:
    """Whether anything tells if the passages hold the answer.

    Labelled documents do, reference claims that were looked for in the passages, and a verdict that a passage helps to
    answer. A probability of relevance does not: it tells the topic.
    """
    if seen.missed is not None:
        return True
    if seen.reference is not None:
        return seen.evidence_whole
    return not seen.likely_only and any((seen.marks or {}).values())


def in_the_dark(seen: CauseContext) -> bool:
    """Whether the answer declines, and nothing tells if the passages held what it would have needed."""
    return bool(seen.refuse) and seen.example.answerable is not False and not told(seen)
