"""Which of the passages that were handed on hold the evidence, as far as labels, a reference or plain ratings tell.

How likely the facts behind a cause are so: certain by the verdict where the judge has no probabilities.

Several facts of one example stand or fall together more often than not, so their probabilities are not multiplied:
that one of them is so is as likely as the likeliest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragauge.core.example import Relevant
from ragauge.core.facts import Claim, RelevanceFacts
from ragauge.core.response import Passage
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import counted
from ragauge.diagnosis.causes.decided_facts import EVEN
from ragauge.metrics.topics import is_task, names_topic

UNTOLD = "whether the passages hold the answer"
SUPPORT = "whether the answer takes anything from the passages"


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
    there = {n: passage for n, passage in enumerate(seen.passages or (), 1) if passage.doc_id in item.doc_ids}
    yield from {n for n, passage in there.items() if _crossed(seen, passage)} or (there.keys() & judged(seen)) or there


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


def are_there(seen: CauseContext) -> bool:
    """Whether something says that the passages hold the answer.

    Labelled spans that came whole do, half or more of the reference claims, and a verdict that a passage helps to
    answer. Without a reference labelled documents do, unless pieces of them were handed on: those may be the wrong
    ones. A probability of relevance does not: it tells the topic.
    """
    if seen.spans_whole:
        return True
    if seen.reference is not None:
        return seen.evidence_whole and sum(claim.chance for claim in seen.reference) >= EVEN * len(seen.reference)
    if seen.missed is not None:
        pieces = any(_is_piece(seen, passage) for passage in seen.passages or ())
        return not seen.missed and not seen.spans and not pieces
    return not seen.likely_only and any((seen.marks or {}).values())


def _is_piece(seen: CauseContext, passage: Passage) -> bool:
    """Whether a passage is known to be one of several pieces of a labelled document."""
    if not any(passage.doc_id in item.doc_ids for item in seen.relevant):
        return False
    others = (*(seen.passages or ()), *(seen.response.candidates or ()))
    ids = {other.passage_id for other in others if other.doc_id == passage.doc_id}
    return passage.span is not None or len(ids) > 1


def in_the_dark(seen: CauseContext) -> bool:
    """Whether the answer declines, and nothing tells if the passages held what it would have needed."""
    return bool(seen.refuse) and seen.is_answerable is not False and not are_there(seen)


def unsupported(claims: Iterable[Claim]) -> float:
    """Probability that one of these claims has no support."""
    return max((1 - claim.chance for claim in claims), default=1.0)


def unmet(seen: CauseContext) -> float:
    """Probability that some reference claim is in no passage; 0 where none has a verdict."""
    if seen.mended.evidence:
        return 0.0
    return max((1 - claim.chance for claim in seen.doubtful), default=0.0)


def irrelevant(seen: CauseContext) -> float:
    """Probability that no passage is relevant to the question; 0 where a rating is missing, or it names no topic."""
    facts = seen.asked("rate_passages")
    if not isinstance(facts, RelevanceFacts) or facts.unit != "passage" or not seen.n:
        return 0.0
    if not names_topic(seen.example.query, seen.facts.readability):
        return 0.0
    known = [rating.chance for rating in facts.ratings if rating.chance is not None]
    return 1 - max(known) if len(known) == seen.n else 0.0


def is_unread(seen: CauseContext) -> bool:
    """Whether neither labels tell if evidence is missing nor the judge can read what would: nothing clears retrieval.

    That are the reference claims, without a reference the relevance of the passages, which a request that the run makes
    of several documents leaves open.
    """
    question = "verify_reference" if "verify_reference" in seen.facts.evidence else "rate_passages"
    if seen.missed is not None or question not in seen.facts.evidence:
        return False
    return not seen.reads(question) or (question == "rate_passages" and is_task(seen.facts.readability))


def none_relevant(seen: CauseContext) -> bool:
    """Whether every rating decides that its passage is not relevant to the question; never to one without a topic."""
    facts = seen.asked("rate_passages")
    known = isinstance(facts, RelevanceFacts) and names_topic(seen.example.query, seen.facts.readability)
    return known and all(rating.relevant is False and seen.is_no("relevance", rating.p) for rating in facts.ratings)


def disagrees(seen: CauseContext, claims: Iterable[Claim]) -> float:
    """Probability that one of these claims does not agree with the reference."""
    known = seen.agreement.answer_p if seen.agreement is not None else ()
    verdicts = [known[claim.n - 1] if claim.n <= len(known) else None for claim in claims]
    return max((1.0 if p is None else 1 - p for p in verdicts), default=1.0)


def unstated(seen: CauseContext) -> float:
    """Probability that the answer leaves out one of the reference claims that it does not state."""
    known = seen.agreement.reference_p if seen.agreement is not None else ()
    verdicts = [known[n - 1] if n <= len(known) else None for n in seen.unstated]
    return max((1.0 if p is None else 1 - p for p in verdicts), default=1.0)


def none_stated(seen: CauseContext) -> float:
    """Probability that the answer states none of the reference claims."""
    known = seen.agreement.reference_p if seen.agreement is not None else ()
    return min((1 - p for p in known if p is not None), default=1.0)


def addresses(seen: CauseContext) -> tuple[float, float, float]:
    """Probabilities that the answer addresses the question fully, partly, and not."""
    known = seen.answer.address_p if seen.answer is not None else None
    return known or (float(seen.address == "fully"), float(seen.address == "partly"), float(seen.address == "no"))
