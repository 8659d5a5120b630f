"""Causes that lie in the system as a whole or in its data."""

from __future__ import annotations

from ragauge.diagnosis.causes import evidence
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import (
    CauseMatch,
    CauseRow,
    MissingFact,
    Verdict,
    collect_members,
    format_documents,
    format_numbered_noun,
)
from ragauge.diagnosis.causes.labeled_context import Counterfactual

MAX_ERROR_CHARS = 200  # characters of an error that are shown


def _decide_system_failed(context: CauseContext) -> Verdict:
    """The system returned an error instead of an answer.

    Applies when the response carries an error.
    """
    error = context.response.error
    if error is None:
        return None
    text = f"the system failed: {error if len(error) <= MAX_ERROR_CHARS else error[:MAX_ERROR_CHARS] + ' …'}"
    return CauseMatch(text, "record", Counterfactual(everything=True))


def _decide_stale_source(context: CauseContext) -> Verdict:
    """The answer or the retrieved evidence is outdated.

    Applies when a claim contradicts the reference and only outdated passages support it; or when every gold document
    that is missing came in an outdated version instead, and a reference claim is in no passage. A passage is outdated
    when it is superseded, or older than the newest version of its document among passages and candidates.
    """
    wrong = [claim for claim in context.wrong if claim.supporting]
    if not context.has_dates:
        suspect = wrong or (
            context.missing_reference_claims and any(any(context.split_by_version(item)) for item in context.relevant)
        )
        return MissingFact("dates or versions of the passages were not recorded") if suspect else None
    outdated_claims = [claim for claim in wrong if context.stale.issuperset(claim.supporting)]
    if outdated_claims:
        where = format_numbered_noun("passage", outdated_claims[0].supporting)
        text = f"claim {outdated_claims[0].n} contradicts the reference and is based on outdated {where}"
        remedy = Counterfactual(claims=frozenset(claim.n for claim in outdated_claims))
        return CauseMatch(text, "judge", remedy, p=evidence.compute_disagreement_probability(context, outdated_claims))
    outdated_items = {
        item: old
        for item in context.relevant
        for current, old in [context.split_by_version(item)]
        if old and not current
    }
    explained = (
        bool(outdated_items) and set(context.missed or ()) <= outdated_items.keys()
    )  # nothing is missed but for its old version
    if explained and context.missing_reference_claims:
        old = {n for numbers in outdated_items.values() for n in numbers}
        text = (
            f"only an outdated version of {format_documents(list(outdated_items))} was retrieved "
            f"({format_numbered_noun('passage', old)})"
        )
        claims = format_numbered_noun("reference claim", [claim.n for claim in context.missing_reference_claims])
        return CauseMatch(
            f"{text}; {claims} in no passage", "labels", Counterfactual(evidence=True)
        )  # how the new one was missed
    if explained and not context.has_all_evidence_verdicts:
        return MissingFact(context.describe_missing_fact("verify_reference.claims"))
    on_old = any(claim.supporting and context.stale.issuperset(claim.supporting) for claim in context.claims or ())
    return MissingFact(context.describe_missing_fact("agree.answer")) if on_old and context.agreement is None else None


def _decide_not_in_index(context: CauseContext) -> Verdict:
    """A gold document was never ingested.

    Applies when a missed document is not in the listing of the index; it needs one (`--index`).
    """
    if not context.missed:
        return None
    if context.indexed is None:
        return MissingFact("a listing of the index")
    absent = [item for item in context.missed if not any(doc_id in context.indexed for doc_id in item.doc_ids)]
    remedy = Counterfactual(documents=collect_members(absent), evidence=True)
    return CauseMatch(f"{format_documents(absent)} not in the index", "labels", remedy) if absent else None


SYSTEM_FAILED = CauseRow(
    "system_failed", "system", "Check the system's logs for this error, starting with timeouts.", _decide_system_failed
)
STALE_SOURCE = CauseRow(
    "stale_source", "data", "Re-index the documents and remove or demote their old versions.", _decide_stale_source
)
NOT_IN_INDEX = CauseRow(
    "not_in_index", "data", "Ingest the missing documents; check what ingestion skips.", _decide_not_in_index
)
