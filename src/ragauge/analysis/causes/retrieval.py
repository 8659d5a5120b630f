"""Causes that lie in finding the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragauge.analysis.causes import likely
from ragauge.analysis.causes.cause_context import CauseContext, Counterfactual
from ragauge.analysis.causes.context import SPAN_CUT
from ragauge.analysis.causes.listing import counted, documents, members
from ragauge.analysis.causes.row import Basis, CauseRow, Lack, Verdict, Why
from ragauge.analysis.causes.system import NOT_IN_INDEX
from ragauge.data.example import Relevant

DEPTH = "candidates (the ranking before the cut) not recorded"


def _empty(seen: CauseContext) -> Verdict:
    """Nothing was retrieved.

    Applies when passages were recorded and there are none.
    """
    if seen.passages is None:
        return Lack(seen.lack("response.passages"))
    mends = Counterfactual(documents=members(seen.relevant), evidence=True)
    return None if seen.passages else Why("retrieval returned nothing", "record", mends)


def _compound(seen: CauseContext) -> Verdict:
    """Part of the evidence is missing, and the answer fills the gap from nowhere.

    Applies when some but not all gold documents, or some but not all reference claims, are among the passages, and a
    claim has no support in any. The retrieval half is named by its own row.
    """
    found = _part(seen)
    if not seen.bare:
        return Lack(seen.lack("verify_answer.support")) if found and not seen.claims_whole else None
    if not found:
        unknown = seen.reference is None and seen.missed is None
        return Lack("relevance labels or a reference answer") if unknown else None
    # where a part is missing, one of these rows says how
    half, how = next((row.name, why) for row in HALVES for why in [row.decide(seen)] if isinstance(why, Why))
    claims = counted("claim", [claim.n for claim in seen.bare])
    filled = f"{claims} {'have' if len(seen.bare) > 1 else 'has'} no support in any passage"
    mends = Counterfactual(
        documents=members(seen.missed or ()), evidence=True, claims=frozenset(claim.n for claim in seen.bare)
    )
    basis: Basis = "guess" if how.basis == "guess" else "judge"
    text = f"{half} and hallucinated at once: {found} ({how.text}), and {filled}"
    return Why(text, basis, mends, p=min(how.p, likely.unsupported(seen.bare)))


def _part(seen: CauseContext) -> str:
    """Which part of the evidence was handed on, in words; "" for all or none of it, or where it is not known."""
    if seen.missed is not None and 0 < len(seen.missed) < len(seen.relevant):
        return f"{len(seen.relevant) - len(seen.missed)} of {len(seen.relevant)} gold documents were found"
    if seen.lost and seen.met:
        return f"the passages hold {len(seen.met)} of {len(seen.reference or ())} reference claims"
    return ""


def _miss(seen: CauseContext) -> Verdict:
    """The evidence was not found.

    Applies when a missed document is not among the candidates, the ranking before the cut; where none were recorded,
    the depth is unknown. Without labels: when a reference claim is in no passage; without a reference, too: when no
    passage is relevant to the question.
    """
    if seen.missed is not None:
        if not seen.missed:
            return None
        if seen.ranks is None:
            text = f"{documents(seen.missed)} not among the {seen.n} passages; retrieval miss, depth unknown"
            return Why(text, "labels", _without(seen.missed), DEPTH)
        absent = [item for item in seen.missed if seen.rank(item) is None]
        text = f"{documents(absent)} not among the {len(seen.response.candidates or ())} candidates"
        return Why(text, "labels", _without(absent)) if absent else None
    if seen.passages is None:
        return Lack(seen.lack("response.passages"))
    if seen.reference is not None:
        if seen.unmet:
            claims = f"{len(seen.unmet)} of {len(seen.reference)} reference claims"
            text = f"{claims} in none of the {seen.n} passages; retrieval miss, depth unknown"
            return Why(text, "judge", Counterfactual(evidence=True), "relevance labels", likely.unmet(seen))
        return None if seen.evidence_whole else Lack(seen.lack("verify_reference.claims"))
    if seen.marks is None:
        return Lack("relevance labels or a reference answer")
    if any(seen.marks.values()) or not seen.n:
        return None
    if None in seen.marks.values():
        return Lack(seen.lack("rate_passages.ratings"))
    text = f"none of the {seen.n} passages is relevant to the question; retrieval miss, depth unknown"
    return Why(
        text, "judge", Counterfactual(evidence=True), "relevance labels or a reference answer", likely.irrelevant(seen)
    )


def _low(seen: CauseContext) -> Verdict:
    """The evidence was found, but too far down to be handed on.

    Applies when a missed document is among the candidates beyond the first n, n being the passages handed on; or when
    no document is missed, and each labelled span that is not covered stands whole in one of those candidates.
    """
    low = [(item, rank) for item, rank in _ranked(seen) if rank > seen.n > 0]
    if not low:
        return _other_part(seen)
    items = [item for item, _ in low]
    text = f"{documents(items)} at {_at(low)} of {len(seen.response.candidates or ())} candidates"
    return Why(f"{text}; {seen.n} passages were handed on", "labels", _without(items))


def _other_part(seen: CauseContext) -> Verdict:
    """Another part of the right document came: the pieces are cut well, and ranked badly."""
    deep = seen.deep_spans
    if seen.missed is None or seen.missed or not deep or len(deep) < len(seen.cut_spans):
        return None
    span, ranks = deep[0][0], counted("rank", sorted({rank for _, rank in deep}))
    text = f"the evidence at {span.doc_id} [{span.start}, {span.end}) stands whole at {ranks}"
    of = f"of {len(seen.response.candidates or ())} candidates; {seen.n} passages were handed on"
    return Why(f"{text} {of}, others of the same document", "labels", Counterfactual(evidence=True))


def _lost(seen: CauseContext) -> Verdict:
    """The evidence ranked high enough and was dropped on the way to the prompt.

    Applies when a missed document is among the first n candidates and not among the n passages handed on.
    """
    lost = [(item, rank) for item, rank in _ranked(seen) if rank <= seen.n or not seen.n]
    items = [item for item, _ in lost]
    text = f"{documents(items)} at {_at(lost)} of the candidates, but not handed on"
    return Why(text, "labels", _without(items)) if lost else None


def _ranked(seen: CauseContext) -> list[tuple[Relevant, int]]:
    """The missed documents that are among the candidates, each with its best rank there."""
    return [(item, rank) for item in seen.missed or () for rank in [seen.rank(item)] if rank is not None]


def _at(ranked: Sequence[tuple[Relevant, int]]) -> str:
    return counted("rank", sorted({rank for _, rank in ranked}))


def _without(missed: Iterable[Relevant]) -> Counterfactual:
    return Counterfactual(documents=members(missed), evidence=True)


EMPTY_RETRIEVAL = CauseRow(
    "empty_retrieval", "retrieval", "Check that the documents are ingested and that no filter excludes them all.",
    _empty,
)     # fmt: skip
COMPOUND = CauseRow(
    "compound", "retrieval", "Fix retrieval first; then tell the model to leave open what the passages do not say.",
    _compound,
)     # fmt: skip
RETRIEVAL_MISS = CauseRow(
    "retrieval_miss", "retrieval",
    "Try hybrid search (words and vectors), metadata filters, query rewriting or embeddings tuned to the domain.",
    _miss,
)     # fmt: skip
RANKED_LOW = CauseRow("ranked_low", "retrieval", "Hand on more passages (larger k), or rerank the candidates.", _low)
LOST_BEFORE_PROMPT = CauseRow(
    "lost_before_prompt", "retrieval", "Check the reranker, the filters and the truncation between search and prompt.",
    _lost,
)     # fmt: skip

# what may have gone wrong in the retrieval half of a compound failure, in the order of the table
HALVES = (NOT_IN_INDEX, RETRIEVAL_MISS, RANKED_LOW, LOST_BEFORE_PROMPT, SPAN_CUT)
