"""Causes that lie in what was handed on: pieces cut through, evidence among noise."""

from __future__ import annotations

from ragauge.analysis.causes.row import Lack, Row, Verdict, Why
from ragauge.analysis.causes.seen import Seen, counted, documents, numbers


def _cut(seen: Seen) -> Verdict:
    """The right documents came, but not the right part of them."""
    if seen.missed is None or seen.missed:
        return None
    there = documents(seen.relevant)
    if seen.cut_spans:
        span = seen.cut_spans[0]
        text = f"{there} handed on, but not all of the evidence at {span.doc_id} [{span.start}, {span.end})"
        return Why(text, "labels")
    if seen.unmet:
        claims = f"{len(seen.unmet)} of {len(seen.reference or ())} reference claims"
        return Why(f"{there} handed on, yet {claims} in none of the passages", "judge")
    if seen.spans and not seen.spans_known:
        return Lack("where the passages stand in their documents")
    return None if seen.reference is None or seen.evidence_whole else Lack(seen.lack("verify_reference.claims"))


def _noise(seen: Seen) -> Verdict:
    """The answer rests on passages that lead astray."""
    for claim in seen.wrong:
        if claim.supporting:
            where = counted("passage", claim.supporting)
            return Why(f"claim {claim.n} follows {where} but contradicts the reference", "judge")
    if seen.used and seen.evidence and seen.used.isdisjoint(seen.evidence):
        if not (seen.claims_whole and seen.evidence_whole):
            return Lack("some verdicts on claims or passages")
        used, held = counted("passage", seen.used), numbers(sorted(seen.evidence))
        return Why(f"the answer uses {used}; the evidence is in {held}", "judge")
    if seen.claims is None:
        return Lack(seen.lack("verify_answer.support"))
    supported = any(claim.supporting for claim in seen.claims)
    return Lack(seen.lack("agree.answer")) if supported and seen.agreement is None else None


SPAN_CUT = Row(
    "span_cut", "retrieval", "Change how documents are cut: larger chunks, boundaries at sections, some overlap.", _cut
)     # fmt: skip
NOISE = Row(
    "noise", "retrieval", "Rerank, filter more tightly, or hand on fewer or smaller passages.", _noise
)     # fmt: skip
