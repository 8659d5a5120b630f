"""The gaps of a run for people and machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.analysis.gap_rows import ClosedBook, Gaps, MetricGaps, Oracle
from ragauge.analysis.overview import Estimate
from ragauge.reporting.words import number, safe, signed

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADS = ("own", "lost to retrieval", "lost to generation", "knew alone", "retrieval buys", "pairs")
MEANING = (
    "lost to retrieval: oracle_gap, labelled passages less own retrieval. lost to generation: the best value less "
    "labelled passages. knew alone: without passages. retrieval buys: closed_book_gap, own less without passages. "
    "Brackets: 95 % intervals, paired on examples."
)
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

    against = ", ".join(
        f"{what} {safe(name)}" for what, name in (("oracle", gaps.oracle), ("closed book", gaps.closed_book)) if name
    )
    yield Text(safe(gaps.run), style="bold") + Text(f"  held against {against}", style="dim")
    yield _table([("", one) for one in gaps.metrics], "metric")
    rows = [
        (f"{safe(column)} {safe(value)}", one)
        for column, values in gaps.segments.items()
        for value, found in values.items()
        for one in found
    ]
    if rows:
        yield Text("By segment", style="bold")
        yield _table(rows[:MOST_ROWS], "segment, metric")
    if len(rows) > MOST_ROWS:
        yield Text(f"{len(rows) - MOST_ROWS:,} more rows: --json has them all.", style="dim")
    for note in gaps.notes:
        yield Text(f"! {safe(note)}")
    if left := max((one.undefined for two in gaps.metrics for one in _sides(two)), default=0):
        yield Text(f"! Up to {left:,} examples are in no pair: a score is undefined on one side, as for a refusal.")
    if left := max((one.failed for two in gaps.metrics for one in _sides(two)), default=0):
        yield Text(f"! Up to {left:,} examples are in no pair: a score failed on one side.")
    yield Text(MEANING, style="dim")


def _sides(one: MetricGaps) -> list[Oracle | ClosedBook]:
    return [side for side in (one.oracle, one.closed_book) if side is not None]


def _table(rows: Sequence[tuple[str, MetricGaps]], head: str) -> RenderableType:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(head)
    for name in HEADS:
        table.add_column(name, justify="right")
    for label, one in rows:
        table.add_row(*_row(label, one))
    return table


def _row(label: str, one: MetricGaps) -> tuple[str, ...]:
    oracle, alone = one.oracle, one.closed_book
    own = oracle.own if oracle is not None else alone.own if alone is not None else None
    n = sorted({side.gap.n for side in (oracle, alone) if side is not None})
    return (
        f"{label}, {one.metric}" if label else one.metric + (" ↓" if one.direction == "lower" else ""),
        number(own),
        "–" if oracle is None else _difference(oracle.gap),
        "–" if oracle is None else _difference(oracle.rest),
        "–" if alone is None else _mean(alone.alone),
        "–" if alone is None else _difference(alone.gap),
        " to ".join(f"{count:,}" for count in n),
    )


def _difference(found: Estimate) -> str:
    ends = "" if found.interval is None else f" [{signed(found.interval.low)}, {signed(found.interval.high)}]"
    return signed(found.mean) + ends


def _mean(found: Estimate) -> str:
    ends = "" if found.interval is None else f" [{number(found.interval.low)}, {number(found.interval.high)}]"
    return number(found.mean) + ends


def _metric(one: MetricGaps) -> dict[str, Any]:
    return {
        "direction": one.direction,
        "oracle": None if one.oracle is None else _of_oracle(one.oracle),
        "closed_book": None if one.closed_book is None else _of_closed_book(one.closed_book),
    }


def _of_oracle(found: Oracle) -> dict[str, Any]:
    return {
        "own": found.own, "oracle": found.oracle, "oracle_gap": _estimate(found.gap),
        "lost_to_generation": _estimate(found.rest), "failed": found.failed,
        "undefined": found.undefined,
    }  # fmt: skip


def _of_closed_book(found: ClosedBook) -> dict[str, Any]:
    return {
        "own": found.own, "closed_book": _estimate(found.alone), "closed_book_gap": _estimate(found.gap),
        "failed": found.failed,
        "undefined": found.undefined,
    }  # fmt: skip


def _estimate(found: Estimate) -> dict[str, Any]:
    ends = None if found.interval is None else [found.interval.low, found.interval.high]
    return {"mean": found.mean, "ci": ends, "n": found.n}
