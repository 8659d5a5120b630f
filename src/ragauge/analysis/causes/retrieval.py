"""Causes that lie in finding the evidence."""

from __future__ import annotations

from ragauge.analysis.causes.row import Lack, Row, Verdict, Why
from ragauge.analysis.causes.seen import Seen, counted, documents

DEPTH = "candidates (the ranking before the cut) not recorded"


def _empty(seen: Seen) -> Verdict:
    """Nothing was retrieved."""
    if seen.passages is None:
        return Lack(seen.lack("response.passages"))
    return None if seen.passages else Why("retrieval returned nothing", "record")


def _compound(seen: Seen) -> Verdict:
    """Part of the evidence was found, and the answer fills the rest from nowhere."""
    if not seen.bare:
        return None if seen.claims_whole or not _partial(seen) else Lack(seen.lack("verify_answer.support"))
    claims = counted("claim", [claim.n for claim in seen.bare])
    has = "have" if len(seen.bare) > 1 else "has"
    if seen.missed is not None and 0 < len(seen.missed) < len(seen.relevant):
        found = len(seen.relevant) - len(seen.missed)
        part = f"{found} of {len(seen.relevant)} gold documents were found"
        return Why(f"{part}, and {claims} {has} no support in any passage", "judge")
    if seen.unmet and seen.met:
        part = f"the passages hold {len(seen.met)} of {len(seen.reference or ())} reference claims"
        return Why(f"{part}, and {claims} {has} no support in any passage", "judge")
    if seen.reference is None and seen.missed is None:
        return Lack("relevance labels or a reference answer")
    return None


def _partial(seen: Seen) -> bool:
    return bool(seen.missed and len(seen.missed) < len(seen.relevant)) or bool(seen.unmet and seen.met)


def _miss(seen: Seen) -> Verdict:
    """The evidence is not even among the candidates."""
    if seen.missed is not None:
        if not seen.missed:
            return None
        if seen.ranks is None:
            text = f"{documents(seen.missed)} not among the {seen.n} passages; retrieval miss, depth unknown"
            return Why(text, "labels", DEPTH)
        absent = [item for item in seen.missed if seen.rank(item) is None]
        text = f"{documents(absent)} not among the {len(seen.response.candidates or ())} candidates"
        return Why(text, "labels") if absent else None
    if seen.passages is None:
        return Lack(seen.lack("response.passages"))
    if seen.reference is not None:
        if seen.unmet:
            claims = f"{len(seen.unmet)} of {len(seen.reference)} reference claims"
            text = f"{claims} in none of the {seen.n} passages; retrieval miss, depth unknown"
            return Why(text, "judge", "relevance labels")
        return None if seen.evidence_whole else Lack(seen.lack("verify_reference.claims"))
    if seen.marks is None:
        return Lack("relevance labels or a reference answer")
    if any(seen.marks.values()) or not seen.n:
        return None
    if None in seen.marks.values():
        return Lack(seen.lack("rate_passages.ratings"))
    text = f"none of the {seen.n} passages is relevant to the question; retrieval miss, depth unknown"
    return Why(text, "judge", "relevance labels or a reference answer")


def _low(seen: Seen) -> Verdict:
    """The evidence is among the candidates, but too far down to be handed on."""
    for item in seen.missed or ():
        rank = seen.rank(item)
        if rank is not None and rank > seen.n > 0:
            of = f"rank {rank} of {len(seen.response.candidates or ())} candidates"
            return Why(f"{documents([item])} at {of}; {seen.n} passages were handed on", "labels")
    return None


def _lost(seen: Seen) -> Verdict:
    """The evidence ranked high enough and was dropped afterwards."""
    for item in seen.missed or ():
        rank = seen.rank(item)
        if rank is not None and (rank <= seen.n or not seen.n):
            return Why(f"{documents([item])} at rank {rank} of the candidates, but not handed on", "labels")
    return None


EMPTY_RETRIEVAL = Row(
    "empty_retrieval", "retrieval", "Check that the documents are ingested and that no filter excludes them all.",
    _empty,
)     # fmt: skip
COMPOUND = Row(
    "compound", "retrieval", "Fix retrieval first; then tell the model to leave open what the passages do not say.",
    _compound,
)     # fmt: skip
RETRIEVAL_MISS = Row(
    "retrieval_miss", "retrieval",
    "Try hybrid search (words and vectors), metadata filters, query rewriting or embeddings tuned to the domain.",
    _miss,
)     # fmt: skip
RANKED_LOW = Row("ranked_low", "retrieval", "Hand on more passages (larger k), or rerank the candidates.", _low)
LOST_BEFORE_PROMPT = Row(
    "lost_before_prompt", "retrieval", "Check the reranker, the filters and the truncation between search and prompt.",
    _lost,
)     # fmt: skip
