"""Causes that lie in what was handed on: pieces cut through, evidence among noise."""

from __future__ import annotations

from collections.abc import Collection

from ragauge.analysis.causes import likely
from ragauge.analysis.causes.cause_context import CauseContext, Counterfactual
from ragauge.analysis.causes.evidence import holding, judged, labelled
from ragauge.analysis.causes.listing import counted, documents, numbers
from ragauge.analysis.causes.row import CauseRow, Lack, Remedy, Verdict, Why

SPANS = "gold spans: where in the documents the evidence stands"
READINGS = 0.5     # a claim that is in none of the gold documents has two readings, and nothing tells them apart
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
        text = f"{there} handed on, but not all of the evidence at {span.doc_id} [{span.start}, {span.end})"
        return Why(text, "labels", mends)
    if seen.lost:
        claims = f"{len(seen.lost)} of {len(seen.reference or ())} reference claims"
        text = f"{there} handed on, yet {claims} in none of the passages"
        other = "cut away, or the reference says more than the documents"
        lacking = POSITIONS if seen.spans else SPANS
        return Why(f"{text}: {other}", "guess", mends, lacking, likely.unmet(seen) * READINGS)
    if seen.unmet:
        claims = counted("reference claim", [claim.n for claim in seen.unmet])
        return Lack(f"where {claims} should stand: every labelled span was handed on")
    if seen.spans and not seen.spans_known:
        return Lack(POSITIONS)
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
        return Why(f"{text}{above}", "judge", mends, p=likely.disagrees(seen, astray), elsewhere=bool(above))
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
)     # fmt: skip
NOISE = CauseRow(
    "noise", "retrieval", "Rerank, filter more tightly, or hand on fewer or smaller passages.", _noise,
    Remedy(
        "generation",
        "Reranking cannot help, for the evidence ranks above what misled: tell the model to prefer the passages ranked "
        "first and to cite what it rests on; hand on fewer passages; try a stronger model.",
        "the evidence ranks above what the answer follows, which no reranking mends",
    ),
)     # fmt: skip
