"""Causes that lie in the system as a whole or in its data."""

from __future__ import annotations

from ragauge.diagnosis.causes import evidence
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import CauseRow, Lack, Verdict, Why, counted, documents, members
from ragauge.diagnosis.causes.remedied import Counterfactual

LONGEST = 200  # characters of an error that are shown


def _failed(seen: CauseContext) -> Verdict:
    """The system gave an error instead of an answer.

    Applies when the response carries an error.
    """
    error = seen.response.error
    if error is None:
        return None
    text = f"the system failed: {error if len(error) <= LONGEST else error[:LONGEST] + ' …'}"
    return Why(text, "record", Counterfactual(everything=True))


def _stale(seen: CauseContext) -> Verdict:
    """The answer, or what was found for it, is out of date.

    Applies when a claim contradicts the reference and only outdated passages support it; or when every gold document
    that is missing came in an outdated version instead, and a reference claim is in no passage. A passage is outdated
    when it is superseded, or older than the newest version of its document among passages and candidates.
    """
    wrong = [claim for claim in seen.wrong if claim.supporting]
    if not seen.dated:
        suspect = wrong or (seen.unmet and any(any(seen.versions(item)) for item in seen.relevant))
        return Lack("dates or versions of the passages not recorded") if suspect else None
    resting = [claim for claim in wrong if seen.stale.issuperset(claim.supporting)]
    if resting:
        where = counted("passage", resting[0].supporting)
        text = f"claim {resting[0].n} contradicts the reference and rests on {where}, outdated"
        mends = Counterfactual(claims=frozenset(claim.n for claim in resting))
        return Why(text, "judge", mends, p=evidence.disagrees(seen, resting))
    aged = {item: old for item in seen.relevant for current, old in [seen.versions(item)] if old and not current}
    explained = bool(aged) and set(seen.missed or ()) <= aged.keys()  # nothing is missed but for its old version
    if explained and seen.unmet:
        old = {n for numbers in aged.values() for n in numbers}
        text = f"{documents(list(aged))} came only as an outdated version ({counted('passage', old)})"
        claims = counted("reference claim", [claim.n for claim in seen.unmet])
        return Why(
            f"{text}; {claims} in no passage", "labels", Counterfactual(evidence=True)
        )  # how the new one was missed
    if explained and not seen.evidence_whole:
        return Lack(seen.lack("verify_reference.claims"))
    on_old = any(claim.supporting and seen.stale.issuperset(claim.supporting) for claim in seen.claims or ())
    return Lack(seen.lack("agree.answer")) if on_old and seen.agreement is None else None


def _not_indexed(seen: CauseContext) -> Verdict:
    """A gold document was never ingested.

    Applies when a missed document is not in the listing of the index; it needs one (`--index`).
    """
    if not seen.missed:
        return None
    if seen.indexed is None:
        return Lack("a listing of the index")
    absent = [item for item in seen.missed if not any(doc_id in seen.indexed for doc_id in item.doc_ids)]
    mends = Counterfactual(documents=members(absent), evidence=True)
    return Why(f"{documents(absent)} not in the index", "labels", mends) if absent else None


SYSTEM_FAILED = CauseRow(
    "system_failed", "system", "Read the system's logs for this error; look at time-outs first.", _failed
)
STALE_SOURCE = CauseRow("stale_source", "data", "Re-index the documents and drop or demote their old versions.", _stale)
NOT_IN_INDEX = CauseRow(
    "not_in_index", "data", "Ingest the missing documents; check what ingestion skips.", _not_indexed
)
