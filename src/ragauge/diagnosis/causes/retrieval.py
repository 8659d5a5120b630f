"""Causes that lie in finding the evidence.

Causes that lie in what was handed on: pieces cut through, evidence among noise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ragauge.core.example import Relevant, Span
from ragauge.diagnosis.causes import evidence
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import (
    Basis,
    CauseMatch,
    CauseRow,
    MissingFact,
    Remedy,
    Verdict,
    collect_members,
    format_documents,
    format_numbered_noun,
)
from ragauge.diagnosis.causes.evidence import (
    EVIDENCE_QUESTION,
    SUPPORT_QUESTION,
    find_evidence_passages,
    find_judged_evidence,
    find_labeled_evidence,
)
from ragauge.diagnosis.causes.labeled_context import Counterfactual, evidence_is_labeled
from ragauge.diagnosis.causes.system import NOT_IN_INDEX
from ragauge.metrics.topics import has_named_topic

SPANS_NEEDED = "gold spans: the location of the evidence in the documents"
CUT_READING_P = 0.5  # a claim that is in none of the gold documents has two readings, and nothing tells them apart
POSITIONS_NEEDED = "where the passages are located in their documents"


def _decide_span_cut(context: CauseContext) -> Verdict:
    """The right documents were retrieved, but not the right part of them.

    Applies when no gold document is missed, but the passages do not cover a gold span; or, where spans are not
    labeled, a reference claim is in no passage. The latter is a guess: the reference may say more than the documents.
    """
    if context.missed is None or context.missed:
        return None
    documents_text, remedy = format_documents(context.relevant), Counterfactual(evidence=True)
    if context.cut_spans:
        span = context.cut_spans[0]
        text = f"{documents_text} retrieved, but not all of the evidence in {_format_span(span)}"
        return CauseMatch(text, "labels", remedy)
    if context.lost:
        claims = f"{len(context.lost)} of {len(context.reference or ())} reference claims"
        text = f"{documents_text} retrieved, but {claims} are in none of the passages"
        other = "they were cut off, or the reference says more than the documents"
        lacking = POSITIONS_NEEDED if context.gold_spans else SPANS_NEEDED
        return CauseMatch(
            f"{text}: {other}", "guess", remedy, lacking, evidence.compute_missing_probability(context) * CUT_READING_P
        )
    if context.missing_reference_claims:
        claims = format_numbered_noun("reference claim", [claim.n for claim in context.missing_reference_claims])
        return MissingFact(f"where {claims} should be found: every gold span was retrieved")
    if context.gold_spans and not context.has_span_positions:
        return MissingFact(POSITIONS_NEEDED)
    if context.unclear_reference_claims and not context.has_all_spans:
        return MissingFact(EVIDENCE_QUESTION)
    return (
        None
        if context.reference is None or context.has_all_evidence_verdicts
        else MissingFact(context.describe_missing_fact("verify_reference.claims"))
    )


def _decide_noise(context: CauseContext) -> Verdict:
    """The answer is based on misleading passages.

    Applies when a claim contradicts the reference and is supported by passages without the evidence, while others
    contain it; or when the answer uses passages, but none that contain the evidence. An answer that is based on a
    passage with the evidence misread it, which reranking cannot fix: see wrong_answer. If the evidence ranks above the
    passages that the answer is based on, the generator is at fault, because reranking cannot help.
    """
    evidence_numbers = find_evidence_passages(context)
    supported_wrong = [claim for claim in context.wrong if claim.supporting]
    misled = [claim for claim in supported_wrong if evidence_numbers and evidence_numbers.isdisjoint(claim.supporting)]
    if misled:
        where, remedy = (
            format_numbered_noun("passage", misled[0].supporting),
            Counterfactual(claims=frozenset(c.n for c in misled)),
        )
        text = f"claim {misled[0].n} is based on {where} but contradicts the reference"
        ranking_text = _describe_evidence_above(context, misled[0].supporting)
        return CauseMatch(
            f"{text}{ranking_text}",
            "judge",
            remedy,
            p=evidence.compute_disagreement_probability(context, misled),
            elsewhere=bool(ranking_text),
        )
    if context.mended.usage:
        return None
    if context.used and find_judged_evidence(context) and context.used.isdisjoint(evidence_numbers):
        if not (context.has_all_claim_verdicts and context.has_all_evidence_verdicts):
            return MissingFact("some verdicts on claims or passages")
        ranking_text, remedy = _describe_evidence_above(context, context.used), Counterfactual(usage=True, answer=True)
        text = (
            f"the answer uses {format_numbered_noun('passage', context.used)}; the evidence is in "
            f"{format_numbered_noun('passage', evidence_numbers)}{ranking_text}"
        )
        return CauseMatch(text, "judge", remedy, elsewhere=bool(ranking_text))
    if context.claims is None:
        return MissingFact(context.describe_missing_fact("verify_answer.support"))
    if supported_wrong and not evidence_numbers:
        return MissingFact("which passages contain the evidence")
    supported = any(claim.supporting for claim in context.claims)
    return (
        MissingFact(context.describe_missing_fact("agree.answer")) if supported and context.agreement is None else None
    )


def _describe_evidence_above(context: CauseContext, followed: Collection[int]) -> str:
    """That the evidence ranks above every passage that the answer follows, in words; "" where it does not.

    A labelled passage is the evidence, of several those that a reference claim rests on; without labelled ones, those
    that hold it by the judge.
    """
    gold_numbers = find_labeled_evidence(context)
    first = min(
        (gold_numbers & find_judged_evidence(context)) or gold_numbers or find_judged_evidence(context), default=None
    )
    if first is None or first >= min(followed):
        return ""
    evidence_kind = "a gold passage" if first in gold_numbers else "which contains the evidence"
    return f"; passage {first}, {evidence_kind}, ranks higher"


SPAN_CUT = CauseRow(
    "span_cut",
    "retrieval",
    "Change the chunking: larger chunks, boundaries at sections, some overlap.",
    _decide_span_cut,
)
NOISE = CauseRow(
    "noise",
    "retrieval",
    "Rerank, filter more strictly, or pass fewer or smaller passages to the generator.",
    _decide_noise,
    Remedy(
        "generation",
        "Reranking cannot help, because the evidence already ranks higher: tell the model to prefer the top-ranked "
        "passages and to cite its sources; pass fewer passages to the generator; try a stronger model.",
        "the evidence already ranks above the misleading passages, so reranking cannot help",
    ),
)


DEPTH_UNKNOWN = "candidates (the ranking before the cutoff) were not recorded"


def _decide_empty_retrieval(context: CauseContext) -> Verdict:
    """Nothing was retrieved.

    Applies when passages were recorded and there are none.
    """
    if context.passages is None:
        return MissingFact(context.describe_missing_fact("response.passages"))
    mends = Counterfactual(documents=collect_members(context.relevant), evidence=True)
    return None if context.passages else CauseMatch("retrieval returned nothing", "record", mends)


def _decide_compound(context: CauseContext) -> Verdict:
    """Part of the evidence is missing, and the answer makes up the missing part.

    Applies when some but not all gold documents, or some but not all reference claims, are among the passages, and a
    claim has no support in any. The retrieval half is named by its own row.
    """
    verdict = _describe_partial_evidence(context)
    if not context.bare:
        if verdict and not context.has_all_claim_verdicts:
            return MissingFact(context.describe_missing_fact("verify_answer.support"))
        return MissingFact(SUPPORT_QUESTION) if verdict and context.unclear_claims else None
    if not verdict:
        unknown = context.reference is None and context.missed is None
        return MissingFact("relevance labels or a reference answer") if unknown else None
    # where a part is missing, one of these rows says how; none does where the passages were not recorded
    matches = ((row.name, row.decide(context)) for row in RETRIEVAL_HALF_ROWS)
    half = next(((name, match) for name, match in matches if isinstance(match, CauseMatch)), None)
    if half is None:
        return None
    half_name, half_match = half
    claims = format_numbered_noun("claim", [claim.n for claim in context.bare])
    claims_text = f"{claims} {'have' if len(context.bare) > 1 else 'has'} no support in any passage"
    remedy = Counterfactual(
        documents=collect_members(context.missed or ()),
        evidence=True,
        claims=frozenset(claim.n for claim in context.bare),
    )
    basis: Basis = "guess" if half_match.basis == "guess" else "judge"
    text = f"{half_name} and hallucinated at once: {verdict} ({half_match.text}), and {claims_text}"
    return CauseMatch(text, basis, remedy, p=min(half_match.p, evidence.compute_unsupported_probability(context.bare)))


def _describe_partial_evidence(context: CauseContext) -> str:
    """Which part of the evidence was handed on, in words; "" for all or none of it, or where it is not known."""
    if context.missed is not None and 0 < len(context.missed) < len(context.relevant):
        return f"{len(context.relevant) - len(context.missed)} of {len(context.relevant)} gold documents were found"
    found_claims = [claim for claim in context.reference or () if context.is_found(claim) == "yes"]
    if context.lost and found_claims:
        return f"the passages contain {len(found_claims)} of {len(context.reference or ())} reference claims"
    return ""


def _decide_retrieval_miss(context: CauseContext) -> Verdict:
    """Retrieval did not find the evidence.

    Applies when a missed document is not among the candidates, the ranking before the cutoff; if none were recorded,
    the rank is unknown. Without labels: when a reference claim is in no passage; without a reference, too: when no
    passage is relevant to the question. A judge with probabilities must be able to read the texts, and its score must
    lie among those of its control pairs that are known to be false. A question without a topic, such as a greeting or a
    request to summarize a text, has no evidence that a search could find.
    """
    if context.missed is not None:
        return _decide_labeled_miss(context, context.missed)
    if context.passages is None:
        return MissingFact(context.describe_missing_fact("response.passages"))
    if context.reference is not None:
        if context.lost:
            claims = f"{len(context.lost)} of {len(context.reference)} reference claims"
            text = f"{claims} in none of the {context.n} passages; rank unknown"
            return CauseMatch(
                text,
                "judge",
                Counterfactual(evidence=True),
                "relevance labels",
                evidence.compute_missing_probability(context),
            )
        if context.unclear_reference_claims:
            return MissingFact(EVIDENCE_QUESTION)
        return (
            None
            if context.has_all_evidence_verdicts
            else MissingFact(context.describe_missing_fact("verify_reference.claims"))
        )
    if context.relevance_by_passage is None:
        return MissingFact("relevance labels or a reference answer")
    if (
        any(context.relevance_by_passage.values())
        or not context.n
        or not has_named_topic(context.example.query, context.facts.readability)
    ):
        return None
    if None in context.relevance_by_passage.values():
        return MissingFact(context.describe_missing_fact("rate_passages.ratings"))
    if not evidence.has_no_relevant_passage(context):
        return MissingFact(EVIDENCE_QUESTION)
    text = f"none of the {context.n} passages is relevant to the question; rank unknown"
    if evidence_is_labeled(context.facts):
        return CauseMatch(f"according to human labels, {text}", "labels", Counterfactual(evidence=True), DEPTH_UNKNOWN)
    missing = "relevance labels or a reference answer"
    return CauseMatch(
        text, "judge", Counterfactual(evidence=True), missing, evidence.compute_irrelevant_probability(context)
    )


def _decide_labeled_miss(context: CauseContext, missed: Sequence[Relevant]) -> CauseMatch | None:
    if not missed:
        return None
    if context.ranks is None:
        text = f"{format_documents(missed)} not among the {context.n} passages; rank unknown"
        return CauseMatch(text, "labels", _assume_retrieved(missed), DEPTH_UNKNOWN)
    not_ranked = [item for item in missed if context.rank(item) is None]
    text = f"{format_documents(not_ranked)} not among the {len(context.response.candidates or ())} candidates"
    return CauseMatch(text, "labels", _assume_retrieved(not_ranked)) if not_ranked else None


def _decide_ranked_low(context: CauseContext) -> Verdict:
    """The evidence was retrieved but ranked below the cutoff.

    Applies when a missed document is among the candidates below the first n, where n is the number of passages; or
    when no document is missed, and each gold span that is not covered is complete in one of those candidates.
    """
    low_ranked = [(item, rank) for item, rank in _list_ranked_missed(context) if rank > context.n > 0]
    if not low_ranked:
        return _decide_other_part(context)
    items = [item for item, _ in low_ranked]
    text = (
        f"{format_documents(items)} at {_format_ranks(low_ranked)} of {len(context.response.candidates or ())} "
        "candidates"
    )
    return CauseMatch(f"{text}; {context.n} passages were passed to the generator", "labels", _assume_retrieved(items))


def _format_span(span: Span) -> str:
    """A labelled span in words: pairing-devices (characters 920 to 952)."""
    return f"{span.doc_id} (characters {span.start} to {span.end})"


def _decide_other_part(context: CauseContext) -> Verdict:
    """Another part of the right document came: the pieces are cut well, and ranked badly."""
    low_ranked = context.low_ranked_spans
    if context.missed is None or context.missed or not low_ranked or len(low_ranked) < len(context.cut_spans):
        return None
    span, ranks = low_ranked[0][0], format_numbered_noun("rank", sorted({rank for _, rank in low_ranked}))
    text = f"the complete evidence in {_format_span(span)} is at {ranks}"
    shown_depth = f"of {len(context.response.candidates or ())} candidates; the {context.n} passages"
    return CauseMatch(
        f"{text} {shown_depth} passed to the generator are other parts of the document",
        "labels",
        Counterfactual(evidence=True),
    )


def _decide_lost_before_prompt(context: CauseContext) -> Verdict:
    """The evidence ranked high enough but was dropped before it reached the prompt.

    Applies when a missed document is among the first n candidates but not among the n passages.
    """
    ranked_items = [(item, rank) for item, rank in _list_ranked_missed(context) if rank <= context.n or not context.n]
    items = [item for item, _ in ranked_items]
    text = (
        f"{format_documents(items)} at {_format_ranks(ranked_items)} of the candidates, but not passed to the generator"
    )
    return CauseMatch(text, "labels", _assume_retrieved(items)) if ranked_items else None


def _list_ranked_missed(context: CauseContext) -> list[tuple[Relevant, int]]:
    """The missed documents that are among the candidates, each with its best rank there."""
    return [(item, rank) for item in context.missed or () for rank in [context.rank(item)] if rank is not None]


def _format_ranks(ranked: Sequence[tuple[Relevant, int]]) -> str:
    return format_numbered_noun("rank", sorted({rank for _, rank in ranked}))


def _assume_retrieved(missed: Iterable[Relevant]) -> Counterfactual:
    return Counterfactual(documents=collect_members(missed), evidence=True)


EMPTY_RETRIEVAL = CauseRow(
    "empty_retrieval",
    "retrieval",
    "Check that the documents are ingested and that no filter excludes them all.",
    _decide_empty_retrieval,
)
COMPOUND = CauseRow(
    "compound",
    "retrieval",
    "Fix retrieval first; then tell the model to say so when the passages lack part of the answer.",
    _decide_compound,
)
RETRIEVAL_MISS = CauseRow(
    "retrieval_miss",
    "retrieval",
    "Try hybrid search (words and vectors), metadata filters, query rewriting or embeddings tuned to the domain.",
    _decide_retrieval_miss,
)
RANKED_LOW = CauseRow(
    "ranked_low",
    "retrieval",
    "Pass more passages to the generator (larger k), or rerank the candidates.",
    _decide_ranked_low,
)
LOST_BEFORE_PROMPT = CauseRow(
    "lost_before_prompt",
    "retrieval",
    "Check the reranker, the filters and the truncation between search and prompt.",
    _decide_lost_before_prompt,
)

# what may have gone wrong in the retrieval half of a compound failure, in the order of the table
RETRIEVAL_HALF_ROWS = (NOT_IN_INDEX, RETRIEVAL_MISS, RANKED_LOW, LOST_BEFORE_PROMPT, SPAN_CUT)
