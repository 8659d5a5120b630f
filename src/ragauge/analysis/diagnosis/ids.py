"""Labels and passages that name documents in different ways: said before anything that labels would say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragauge.analysis.ranking.id_match import IdMatch
from ragauge.analysis.results.scorecard import Finding
from ragauge.analysis.scores.failed import FailedResponses
from ragauge.metrics.catalogue import parse
from ragauge.text.messages import plural

CAUSE = "ids_differ"
FIX = (
    "Give labels and passages the same ids: label the documents by the doc_id that the system returns, or let it "
    "return the id of the document that a passage is from (--map relevant=COLUMN, --map relevant_chunks=COLUMN or "
    "--map passages=COLUMN reads others). Then evaluate again."
)
FIX_OF_TEXTS = "Give ids to passages and labels, or label with the passages' texts as they are. Then evaluate again."


def before_labels(
    matches: Sequence[IdMatch], failed: FailedResponses, findings: Sequence[Finding]
) -> tuple[Finding, ...]:
    """The findings; where not one labelled id can have been met, that comes first, and what rests on labels is unsure.

    Args:
        matches: of labelled with retrieved ids.
        failed: the failed examples.
        findings: of the diagnosis.
    """
    match = next((one for one in matches if one.kind == "document" and one.apart), None)
    if match is None:
        return tuple(findings)
    doubted = (_doubted(finding, failed.of_cause(finding.cause)) for finding in findings)
    return (_ids_differ(match, failed), *doubted)


def _ids_differ(match: IdMatch, failed: FailedResponses) -> Finding:
    """One id of each side, and what makes them meet."""
    labelled, retrieved = match.shown
    which = f"labelled {labelled!r}, retrieved {retrieved!r}"
    none = f"none of the {plural(match.labelled, 'labelled id')} is among those retrieved"
    sure = match.differ or bool(match.respelled)
    or_missed = "" if sure else ", or retrieval finds none of the evidence"
    headline = f"labels and passages use different ids{or_missed} ({which}): {none}"
    if match.by_text:
        headline = f"labels are texts, and no passage is one of them word for word ({which})"
    return Finding(
        cause=CAUSE,
        headline=headline,
        evidence="Until ids meet, recall and all that rests on labels is 0 whatever was retrieved, and no failure "
        "that labels show is one for sure.",
        fix=FIX_OF_TEXTS if match.by_text else FIX,
        measure_again="recall",
        explains=sum(shown_by == "labels" for shown_by in failed.shown_by),
        failures=len(failed),
        confidence="high" if sure else "low",
    )


def _doubted(finding: Finding, rows: FailedResponses) -> Finding:
    """A finding that rests on labels, of low confidence while ids do not meet; `rows` are the failures of its cause."""
    by_labels = 2 * list(rows.basis).count("labels") > len(rows)
    read = any(fact.startswith("labels.") for one in finding.readings for fact in parse(one.metric).needs.values())
    if not (by_labels or read):
        return finding
    more = "Not known while labels and passages use different ids."
    return replace(finding, confidence="low", evidence=f"{finding.evidence} {more}".strip())
