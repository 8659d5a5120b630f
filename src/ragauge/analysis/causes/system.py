"""Causes that lie in the system as a whole or in its data."""

from __future__ import annotations

from ragauge.analysis.causes.row import Lack, Row, Verdict, Why
from ragauge.analysis.causes.seen import Seen, counted, documents

LONGEST = 200     # characters of an error that are shown


def _failed(seen: Seen) -> Verdict:
    """The system gave an error instead of an answer."""
    error = seen.response.error
    if error is None:
        return None
    return Why(f"the system failed: {error if len(error) <= LONGEST else error[:LONGEST] + ' …'}", "record")


def _stale(seen: Seen) -> Verdict:
    """A wrong claim rests on outdated passages alone, or the gold documents came only in outdated versions."""
    wrong = [claim for claim in seen.wrong if claim.supporting]
    if not seen.dated:
        suspect = wrong or (seen.unmet and any(any(seen.versions(item)) for item in seen.relevant))
        return Lack("dates or versions of the passages not recorded") if suspect else None
    for claim in wrong:
        if seen.stale.issuperset(claim.supporting):
            where = counted("passage", claim.supporting)
            return Why(f"claim {claim.n} contradicts the reference and rests on {where}, outdated", "judge")
    if seen.unmet:
        came = [(item, *seen.versions(item)) for item in seen.relevant]
        old = {n for _, _, numbers in came for n in numbers}
        if old and not any(current for _, current, _ in came):
            items = documents([item for item, _, numbers in came if numbers])
            text = f"{items} came only as an outdated version ({counted('passage', old)})"
            return Why(f"{text}; {counted('reference claim', [c.n for c in seen.unmet])} in no passage", "labels")
    on_old = any(claim.supporting and seen.stale.issuperset(claim.supporting) for claim in seen.claims or ())
    return Lack(seen.lack("agree.answer")) if on_old and seen.agreement is None else None


def _not_indexed(seen: Seen) -> Verdict:
    """A missed document is not in the index at all."""
    if not seen.missed:
        return None
    if seen.indexed is None:
        return Lack("a listing of the index")
    absent = [item for item in seen.missed if not any(doc_id in seen.indexed for doc_id in item.doc_ids)]
    return Why(f"{documents(absent)} not in the index", "labels") if absent else None


SYSTEM_FAILED = Row(
    "system_failed", "system", "Read the system's logs for this error; look at time-outs first.", _failed
)     # fmt: skip
STALE_SOURCE = Row(
    "stale_source", "data", "Re-index the documents and drop or demote their old versions.", _stale
)     # fmt: skip
NOT_IN_INDEX = Row("not_in_index", "data", "Ingest the missing documents; check what ingestion skips.", _not_indexed)
