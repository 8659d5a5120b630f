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
    CauseRow,
    Lack,
    Remedy,
    Verdict,
    Why,
    counted,
    documents,
    members,
    numbers,
)
from ragauge.diagnosis.causes.evidence import SUPPORT, UNTOLD, holding, judged, labelled
from ragauge.diagnosis.causes.labeled import evidence_is_labeled
from ragauge.diagnosis.causes.remedied import Counterfactual
from ragauge.diagnosis.causes.system import NOT_IN_INDEX
from ragauge.metrics.topics import names_topic

SPANS = "gold spans: where in the documents the evidence stands"
READINGS = 0.5  # a claim that is in none of the gold documents has two readings, and nothing tells them apart
POSITIONS = "where the passages stand in their documents"


def _cut(seen: CauseContext) -> Verdict:
    """The right documents came, but not the right part of them.

    Applies when no gold document is missed, yet a labelled span is not covered by the passages; or, where spans are not
    labelled, a reference claim is in no passage. The latter is a guess: the reference may say more than the documents.
    """
    if seen.missed is None or seen.missed:
        return None
    there, mends = documents(seen.relevant), Counterfactual(evidence=True)
    if seen.cut_spans:
        span = seen.cut_spans[0]
        text = f"{there} handed on, but not all of the evidence in {_stretch(span)}"
        return Why(text, "labels", mends)
    if seen.lost:
        claims = f"{len(seen.lost)} of {len(seen.reference or ())} reference claims"
        text = f"{there} handed on, yet {claims} in none of the passages"
        other = "cut away, or the reference says more than the documents"
        lacking = POSITIONS if seen.spans else SPANS
        return Why(f"{text}: {other}", "guess", mends, lacking, evidence.unmet(seen) * READINGS)
    if seen.unmet:
        claims = counted("reference claim", [claim.n for claim in seen.unmet])
        return Lack(f"where {claims} should stand: every labelled span was handed on")
    if seen.spans and not seen.spans_known:
        return Lack(POSITIONS)
    if seen.open_claims and not seen.spans_whole:
        return Lack(UNTOLD)
    return None if seen.reference is None or seen.evidence_whole else Lack(seen.lack("verify_reference.claims"))


def _noise(seen: CauseContext) -> Verdict:
    """The answer rests on passages that lead astray.

    Applies when a claim contradicts the reference and stands in passages that do not hold the evidence, which others
    do; or when the answer uses passages, and none of those that hold the evidence. An answer that follows a passage
    with the evidence in it has misread it, which no ranking mends: see wrong_answer. Where the evidence ranks above the
    passages that the answer follows, the fault is the generator's: no reranking mends it.
    """
    held = holding(seen)
    follows = [claim for claim in seen.wrong if claim.supporting]
    astray = [claim for claim in follows if held and held.isdisjoint(claim.supporting)]
    if astray:
        where, mends = counted("passage", astray[0].supporting), Counterfactual(claims=frozenset(c.n for c in astray))
        text = f"claim {astray[0].n} follows {where} but contradicts the reference"
        above = _above(seen, astray[0].supporting)
        return Why(f"{text}{above}", "judge", mends, p=evidence.disagrees(seen, astray), elsewhere=bool(above))
    if seen.mended.usage:
        return None
    if seen.used and judged(seen) and seen.used.isdisjoint(held):
        if not (seen.claims_whole and seen.evidence_whole):
            return Lack("some verdicts on claims or passages")
        above, mends = _above(seen, seen.used), Counterfactual(usage=True, answer=True)
        text = f"the answer uses {counted('passage', seen.used)}; the evidence is in {numbers(sorted(held))}{above}"
        return Why(text, "judge", mends, elsewhere=bool(above))
    if seen.claims is None:
        return Lack(seen.lack("verify_answer.support"))
    if follows and not held:
        return Lack("which passages hold the evidence")
    supported = any(claim.supporting for claim in seen.claims)
    return Lack(seen.lack("agree.answer")) if supported and seen.agreement is None else None


def _above(seen: CauseContext, followed: Collection[int]) -> str:
    """That the evidence ranks above every passage that the answer follows, in words; "" where it does not.

    A labelled passage is the evidence, of several those that a reference claim rests on; without labelled ones, those
    that hold it by the judge.
    """
    gold = labelled(seen)
    first = min((gold & judged(seen)) or gold or judged(seen), default=None)
    if first is None or first >= min(followed):
        return ""
    by = "labelled" if first in gold else "with evidence"
    return f"; passage {first}, {by}, ranks above"


SPAN_CUT = CauseRow(
    "span_cut", "retrieval", "Change how documents are cut: larger chunks, boundaries at sections, some overlap.", _cut
)
NOISE = CauseRow(
    "noise",
    "retrieval",
    "Rerank, filter more tightly, or hand on fewer or smaller passages.",
    _noise,
    Remedy(
        "generation",
        "Reranking cannot help, for the evidence ranks above what misled: tell the model to prefer the passages ranked "
        "first and to cite what it rests on; hand on fewer passages; try a stronger model.",
        "the evidence ranks above what the answer follows, which no reranking mends",
    ),
)


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
    verdict = _part(seen)
    if not seen.bare:
        if verdict and not seen.claims_whole:
            return Lack(seen.lack("verify_answer.support"))
        return Lack(SUPPORT) if verdict and seen.open_support else None
    if not verdict:
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
    text = f"{half} and hallucinated at once: {verdict} ({how.text}), and {filled}"
    return Why(text, basis, mends, p=min(how.p, evidence.unsupported(seen.bare)))


def _part(seen: CauseContext) -> str:
    """Which part of the evidence was handed on, in words; "" for all or none of it, or where it is not known."""
    if seen.missed is not None and 0 < len(seen.missed) < len(seen.relevant):
        return f"{len(seen.relevant) - len(seen.missed)} of {len(seen.relevant)} gold documents were found"
    there = [claim for claim in seen.reference or () if seen.is_found(claim) == "yes"]
    if seen.lost and there:
        return f"the passages hold {len(there)} of {len(seen.reference or ())} reference claims"
    return ""


def _miss(seen: CauseContext) -> Verdict:
    """The evidence was not found.

    Applies when a missed document is not among the candidates, the ranking before the cut; where none were recorded,
    the depth is unknown. Without labels: when a reference claim is in no passage; without a reference, too: when no
    passage is relevant to the question. A judge with probabilities must be able to read the texts, and its score must
    lie among those of its control pairs that are known to be false. A question without a topic, such as a greeting or
    a request to summarise what is given, has no evidence that a search could find.
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
        if seen.lost:
            claims = f"{len(seen.lost)} of {len(seen.reference)} reference claims"
            text = f"{claims} in none of the {seen.n} passages; retrieval miss, depth unknown"
            return Why(text, "judge", Counterfactual(evidence=True), "relevance labels", evidence.unmet(seen))
        if seen.open_claims:
            return Lack(UNTOLD)
        return None if seen.evidence_whole else Lack(seen.lack("verify_reference.claims"))
    if seen.marks is None:
        return Lack("relevance labels or a reference answer")
    if any(seen.marks.values()) or not seen.n or not names_topic(seen.example.query, seen.facts.readability):
        return None
    if None in seen.marks.values():
        return Lack(seen.lack("rate_passages.ratings"))
    if not evidence.none_relevant(seen):
        return Lack(UNTOLD)
    text = f"none of the {seen.n} passages is relevant to the question; retrieval miss, depth unknown"
    if evidence_is_labeled(seen.facts):
        return Why(f"people labeled that {text}", "labels", Counterfactual(evidence=True), DEPTH)
    missing = "relevance labels or a reference answer"
    return Why(text, "judge", Counterfactual(evidence=True), missing, evidence.irrelevant(seen))


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


def _stretch(span: Span) -> str:
    """A labelled span in words: pairing-devices (characters 920 to 952)."""
    return f"{span.doc_id} (characters {span.start} to {span.end})"


def _other_part(seen: CauseContext) -> Verdict:
    """Another part of the right document came: the pieces are cut well, and ranked badly."""
    deep = seen.deep_spans
    if seen.missed is None or seen.missed or not deep or len(deep) < len(seen.cut_spans):
        return None
    span, ranks = deep[0][0], counted("rank", sorted({rank for _, rank in deep}))
    text = f"the evidence in {_stretch(span)} stands whole at {ranks}"
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
    "empty_retrieval",
    "retrieval",
    "Check that the documents are ingested and that no filter excludes them all.",
    _empty,
)
COMPOUND = CauseRow(
    "compound",
    "retrieval",
    "Fix retrieval first; then tell the model to leave open what the passages do not say.",
    _compound,
)
RETRIEVAL_MISS = CauseRow(
    "retrieval_miss",
    "retrieval",
    "Try hybrid search (words and vectors), metadata filters, query rewriting or embeddings tuned to the domain.",
    _miss,
)
RANKED_LOW = CauseRow("ranked_low", "retrieval", "Hand on more passages (larger k), or rerank the candidates.", _low)
LOST_BEFORE_PROMPT = CauseRow(
    "lost_before_prompt",
    "retrieval",
    "Check the reranker, the filters and the truncation between search and prompt.",
    _lost,
)

# what may have gone wrong in the retrieval half of a compound failure, in the order of the table
HALVES = (NOT_IN_INDEX, RETRIEVAL_MISS, RANKED_LOW, LOST_BEFORE_PROMPT, SPAN_CUT)
