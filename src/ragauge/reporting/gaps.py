"""The gaps of a run for people and machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.analysis.results.gap_rows import ClosedBook, Gaps, MetricGaps, Oracle
from ragauge.reporting.losses import HEADS, MEANING, against, cells, leading, minded, named, sentence
from ragauge.reporting.overview_json import estimate_json
from ragauge.reporting.words import line, safe

if TYPE_CHECKING:
    from rich.console import RenderableType

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


def gaps_text(gaps: Gaps) -> RenderableType:
    """A table overall and one by segment."""
    from rich.console import Group

    return Group(*_parts(gaps))


def _parts(gaps: Gaps) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(safe(gaps.run), style="bold") + Text(f"  held against {against(gaps)}", style="dim")
    yield Text(safe(sentence(gaps)))
    yield _table([("", one) for one in leading(gaps)], "metric")
    first = leading(gaps)[0].metric
    rows = [
        (f"{line(column)} = {line(value)}", one)
        for column, values in gaps.segments.items()
        for value, found in values.items()
        for one in found
        if one.metric == first
    ]
    if rows:
        yield Text(f"By segment: {first}", style="bold")
        yield _table(rows[:MOST_ROWS], "segment")
        more = f"{len(rows) - MOST_ROWS:,} more segments, and " if len(rows) > MOST_ROWS else ""
        yield Text(f"{more}the other metrics by segment: --json has them.", style="dim")
    for note in minded(gaps):
        yield Text(f"! {safe(note)}")
    yield Text(MEANING, style="dim")


def _table(rows: Sequence[tuple[str, MetricGaps]], head: str) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(head)
    for name in HEADS:
        table.add_column(name, justify="right")
    for label, one in rows:
        table.add_row(label or named(one), *(" ".join(cell).strip() for cell in cells(one)))
    return table


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
