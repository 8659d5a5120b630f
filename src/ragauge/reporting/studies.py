"""Studies in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragauge.reporting.sections import ReportSection, ReportTable, columns
from ragauge.reporting.words import safe

NONE = "No studies yet. Start with: ragauge chunking SET --corpus PATH --chunker token:size=200,400"


def sections(rows: Sequence[Mapping[str, Any]]) -> Iterator[ReportSection]:
    """The stored studies: name, kind, set, age and how many trials are in which state."""
    shown = []
    for row in rows:
        trials = ", ".join(f"{n} {state}" for state, n in row["trials"].items()) or "none"
        when = row["created_at"][:16].replace("T", " ")
        shown.append((safe(row["name"]), row["kind"], safe(row["set"]), when, trials))
    heads = columns("study", "kind", "set", "created", "trials")
    yield ReportSection(table=ReportTable(heads, tuple(shown))) if rows else ReportSection(lead=(NONE,))
