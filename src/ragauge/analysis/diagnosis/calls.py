"""Calls that the system failed: said with their error, which tells more than any metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ragauge.analysis.causes.system import SYSTEM_FAILED
from ragauge.analysis.results.scorecard import Finding
from ragauge.analysis.scores.failed import FailedResponses, calls_failed
from ragauge.text.messages import command

MOST_READ = 1_000     # failed calls whose errors are read for the most frequent one
HEAD = "the system failed: "


def with_errors(findings: Sequence[Finding], failed: FailedResponses, run_name: str) -> tuple[Finding, ...]:
    """The findings; that of failed calls with how many they are, their most frequent error, and where to look.

    Args:
        findings: of the diagnosis.
        failed: every failed response.
        run_name: of the run.
    """
    rows = failed.of_cause(SYSTEM_FAILED.name)
    if not len(rows):
        return tuple(findings)
    errors = Counter(rows.decided_by(rows.place[:MOST_READ].tolist()).values())
    ((error, _),) = errors.most_common(1)
    said = calls_failed(len(rows), len(failed.index.number), error.removeprefix(HEAD)).rstrip(".")
    fix = (
        f"Mend what the error names; {command('show', run_name)} counts every kind, and the report lists the calls. "
        "Then repeat ragauge run with --retry-failed, or record the responses anew."
    )
    return tuple(replace(one, headline=said, fix=fix) if one.cause == SYSTEM_FAILED.name else one for one in findings)
