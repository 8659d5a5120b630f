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
from ragauge.diagnosis.causes.cause_rule import format_numbered_noun
from ragauge.diagnosis.causes.decided_facts import EVEN_P
from ragauge.metrics.topics import has_named_topic, is_task

EVIDENCE_QUESTION = "whether the passages contain the answer"
SUPPORT_QUESTION = "whether the answer uses anything from the passages"


def find_judged_evidence(context: CauseContext) -> frozenset[int]:
    """Numbers of the passages that hold the evidence by the judge; those that are but likely on the topic are none."""
    return frozenset() if context.reference is None and context.has_relevance_probabilities else context.evidence


def find_labeled_evidence(context: CauseContext) -> frozenset[int]:
    """Numbers of the passages that hold the evidence by the labels.

    Of several passages of one labelled document these are the ones that a labelled span runs through; where none is
    known to, those that a reference claim rests on; else all of them.
    """
    return frozenset(n for item in context.relevant for n in _find_item_passages(context, item))


def _find_item_passages(context: CauseContext, item: Relevant) -> Iterator[int]:
    item_passages = {
        n: passage for n, passage in enumerate(context.passages or (), 1) if passage.doc_id in item.doc_ids
    }
    yield from (
        {n for n, passage in item_passages.items() if _crosses_gold_span(context, passage)}
        or (item_passages.keys() & find_judged_evidence(context))
        or item_passages
    )


def _crosses_gold_span(context: CauseContext, passage: Passage) -> bool:
    passage_span = passage.span
    return passage_span is not None and any(
        span.doc_id == passage.doc_id and passage_span.start < span.end and span.start < passage_span.end
        for span in context.gold_spans
    )


def find_evidence_passages(context: CauseContext) -> frozenset[int]:
    """Numbers of all passages that hold the evidence, by the labels or by the judge."""
    return find_labeled_evidence(context) | find_judged_evidence(context)


def describe_misreading(context: CauseContext, followed: frozenset[int]) -> str:
    """That an answer follows a passage that also holds the evidence, so that no ranking is to blame; "" for none."""
    evidence_followed = followed & find_evidence_passages(context)
    if not evidence_followed:
        return ""
    verb = "contains" if len(evidence_followed) == 1 else "contain"
    holds_text = (
        f"also {verb} the evidence"
        if evidence_followed & find_judged_evidence(context)
        else f"{verb} the evidence according to the labels"
    )
    return f"misreads {format_numbered_noun('passage', evidence_followed)}, which {holds_text}"


def has_evidence(context: CauseContext) -> bool:
    """Whether something says that the passages hold the answer.

    Labelled spans that came whole do, half or more of the reference claims, and a verdict that a passage helps to
    answer. Without a reference labelled documents do, unless pieces of them were handed on: those may be the wrong
    ones. A probability of relevance does not: it tells the topic.
    """
    if context.has_all_spans:
        return True
    if context.reference is not None:
        return context.has_all_evidence_verdicts and sum(claim.chance for claim in context.reference) >= EVEN_P * len(
            context.reference
        )
    if context.missed is not None:
        has_pieces = any(_is_piece(context, passage) for passage in context.passages or ())
        return not context.missed and not context.gold_spans and not has_pieces
    return not context.has_relevance_probabilities and any((context.relevance_by_passage or {}).values())


def _is_piece(context: CauseContext, passage: Passage) -> bool:
    """Whether a passage is known to be one of several pieces of a labelled document."""
    if not any(passage.doc_id in item.doc_ids for item in context.relevant):
        return False
    others = (*(context.passages or ()), *(context.response.candidates or ()))
    ids = {other.passage_id for other in others if other.doc_id == passage.doc_id}
    return passage.span is not None or len(ids) > 1


def is_unclear_refusal(context: CauseContext) -> bool:
    """Whether the answer declines, and nothing tells if the passages held what it would have needed."""
    return bool(context.is_refusal) and context.is_answerable is not False and not has_evidence(context)


def compute_unsupported_probability(claims: Iterable[Claim]) -> float:
    """Probability that one of these claims has no support."""
    return max((1 - claim.chance for claim in claims), default=1.0)


def compute_missing_probability(context: CauseContext) -> float:
    """Probability that some reference claim is in no passage; 0 where none has a verdict."""
    if context.mended.evidence:
        return 0.0
    return max((1 - claim.chance for claim in context.doubtful_reference_claims), default=0.0)


def compute_irrelevant_probability(context: CauseContext) -> float:
    """Probability that no passage is relevant to the question; 0 where a rating is missing, or it names no topic."""
    facts = context.asked("rate_passages")
    if not isinstance(facts, RelevanceFacts) or facts.unit != "passage" or not context.n:
        return 0.0
    if not has_named_topic(context.example.query, context.facts.readability):
        return 0.0
    probabilities = [rating.chance for rating in facts.ratings if rating.chance is not None]
    return 1 - max(probabilities) if len(probabilities) == context.n else 0.0


def is_evidence_unread(context: CauseContext) -> bool:
    """Whether neither labels tell if evidence is missing nor the judge can read what would: nothing clears retrieval.

    That are the reference claims, without a reference the relevance of the passages, which a request that the run makes
    of several documents leaves open.
    """
    question = "verify_reference" if "verify_reference" in context.facts.evidence else "rate_passages"
    if context.missed is not None or question not in context.facts.evidence:
        return False
    return not context.can_read(question) or (question == "rate_passages" and is_task(context.facts.readability))


def has_no_relevant_passage(context: CauseContext) -> bool:
    """Whether every rating decides that its passage is not relevant to the question; never to one without a topic."""
    facts = context.asked("rate_passages")
    can_decide = isinstance(facts, RelevanceFacts) and has_named_topic(context.example.query, context.facts.readability)
    return can_decide and all(
        rating.relevant is False and context.is_clear_no("relevance", rating.p) for rating in facts.ratings
    )


def compute_disagreement_probability(context: CauseContext, claims: Iterable[Claim]) -> float:
    """Probability that one of these claims does not agree with the reference."""
    answer_p = context.agreement.answer_p if context.agreement is not None else ()
    verdicts = [answer_p[claim.n - 1] if claim.n <= len(answer_p) else None for claim in claims]
    return max((1.0 if p is None else 1 - p for p in verdicts), default=1.0)


def compute_unstated_probability(context: CauseContext) -> float:
    """Probability that the answer leaves out one of the reference claims that it does not state."""
    reference_p = context.agreement.reference_p if context.agreement is not None else ()
    verdicts = [reference_p[n - 1] if n <= len(reference_p) else None for n in context.unstated_claim_numbers]
    return max((1.0 if p is None else 1 - p for p in verdicts), default=1.0)


def compute_none_stated_probability(context: CauseContext) -> float:
    """Probability that the answer states none of the reference claims."""
    reference_p = context.agreement.reference_p if context.agreement is not None else ()
    return min((1 - p for p in reference_p if p is not None), default=1.0)


def compute_address_probabilities(context: CauseContext) -> tuple[float, float, float]:
    """Probabilities that the answer addresses the question fully, partly, and not."""
    address_p = context.answer.address_p if context.answer is not None else None
    return address_p or (
        float(context.address_level == "fully"),
        float(context.address_level == "partly"),
        float(context.address_level == "no"),
    )
