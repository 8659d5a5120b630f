"""The gaps of a run for people and machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ragauge.analysis.results.gap_rows import ClosedBook, Gaps, MetricGaps, Oracle
from ragauge.reporting.losses import HEADS, MEANING, against, cells, leading, minded, named, sentence
from ragauge.reporting.overview_json import estimate_json
from ragauge.reporting.sections import ReportSection, ReportTable, columns
from ragauge.reporting.words import line, safe

MOST_ROWS = 40     # of segments


def gaps_json(gaps: Gaps) -> dict[str, Any]:
    """Everything as JSON types."""
    return {
        "run": gaps.run, "oracle": gaps.oracle or None, "closed_book": gaps.closed_book or None,
        "metrics": {one.metric: _metric(one) for one in gaps.metrics},
        "segments": {
            column: {value: {one.metric: _metric(one) for one in found} for value, found in values.items()}
            for column, values in gaps.segments.items()
        },
        "notes": list(gaps.notes),
    }  # fmt: skip


def sections(gaps: Gaps) -> Iterator[ReportSection]:
    """A table overall and one by segment."""
    overall = _table([("", one) for one in leading(gaps)], "metric")
    yield ReportSection(safe(gaps.run), f"held against {against(gaps)}", (safe(sentence(gaps)),), overall)
    first = leading(gaps)[0].metric
    rows = [
        (f"{line(column)} = {line(value)}", one)
        for column, values in gaps.segments.items()
        for value, found in values.items()
        for one in found
        if one.metric == first
    ]
    if rows:
        more = f"{len(rows) - MOST_ROWS:,} more segments, and " if len(rows) > MOST_ROWS else ""
        note = f"{more}the other metrics by segment: --json has them."
        yield ReportSection(f"By segment: {first}", table=_table(rows[:MOST_ROWS], "segment"), notes=(note,))
    yield ReportSection(after=tuple(f"! {safe(note)}" for note in minded(gaps)), notes=(MEANING,))


def _table(rows: Sequence[tuple[str, MetricGaps]], head: str) -> ReportTable:
    shown = ((label or named(one), *(" ".join(cell).strip() for cell in cells(one))) for label, one in rows)
    return ReportTable(columns(head, numbers=HEADS), tuple(shown))


def _metric(one: MetricGaps) -> dict[str, Any]:
    return {
        "direction": one.direction,
        "oracle": None if one.oracle is None else _of_oracle(one.oracle),
        "closed_book": None if one.closed_book is None else _of_closed_book(one.closed_book),
    }


def _of_oracle(found: Oracle) -> dict[str, Any]:
    return {
        "own": found.own, "oracle": found.oracle, "oracle_gap": estimate_json(found.gap),
        "lost_to_generation": estimate_json(found.rest), "failed": found.failed,
        "undefined": found.undefined,
    }  # fmt: skip


def _of_closed_book(found: ClosedBook) -> dict[str, Any]:
    return {
        "own": found.own, "closed_book": estimate_json(found.alone), "closed_book_gap": estimate_json(found.gap),
        "failed": found.failed,
        "undefined": found.undefined,
    }  # fmt: skip
