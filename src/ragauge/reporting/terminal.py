"""The scorecard in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.analysis.scorecard import Finding, Scorecard, Summary
from ragauge.reporting.words import (
    ARROWS,
    LAYERS,
    by_layer,
    counts,
    estimate,
    interval,
    left_out,
    number,
    opened,
    safe,
    share,
    verdict,
)  # fmt: skip

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

TRACK = 24
MOST_SEGMENT_VALUES = 6
MOST_SEGMENT_METRICS = 4
MOST_FINDINGS = 5


def track(summary: Summary) -> str:
    """The mean and its interval on a line from 0 to 1; "" for other ranges."""
    if summary.kind == "amount" or summary.mean is None or not 0 <= summary.mean <= 1:
        return ""
    cells = ["·"] * TRACK

    def cell(value: float) -> int:
        return min(TRACK - 1, max(0, int(value * TRACK)))

    if summary.interval is not None:
        for i in range(cell(summary.interval.low), cell(summary.interval.high) + 1):
            cells[i] = "━"
    cells[cell(summary.mean)] = "●"
    return "".join(cells)


def terminal(card: Scorecard) -> RenderableType:
    """Everything a person decides from, on about two screens."""
    from rich.console import Group

    return Group(*_parts(card))


def _parts(card: Scorecard) -> Iterator[RenderableType]:
    from rich.text import Text

    about = Text(f"  run {card.run.run_id} · {card.n:,} examples", style="dim")
    yield Text(safe(card.run.name), style="bold") + about
    yield Text(safe(verdict(card)), style="bold")
    yield Text()
    yield _scorecard(card)
    for reason, names in left_out(card.summaries):
        yield Text(f"not applicable ({safe(reason)}): {', '.join(names)}", style="dim")
    if card.pending:
        pending = f"{card.pending:,} examples are not yet evaluated; the same command goes on with them."
        yield Text(pending, style="yellow")
    if card.causes:
        yield Text("\nFailures by cause", style="bold")
        yield _causes(card)
    if card.findings:
        yield Text("\nWhat to do", style="bold")
        for place, finding in enumerate(card.findings[:MOST_FINDINGS], 1):
            yield _finding(place, finding)
        if len(card.findings) > MOST_FINDINGS:
            more = f"{len(card.findings) - MOST_FINDINGS} more: ragauge report {safe(card.run.name)} -o report.html"
            yield Text(more, style="dim")
    for column, values in card.segments.items():
        table = _segment(card, column, list(values.items()))
        if table is not None:
            yield Text(f"\nBy {safe(column)}", style="bold") + Text("  worst first", style="dim")
            yield table
    yield from _trust(card)


def _scorecard(card: Scorecard) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    table.add_column("mean", justify="right", style="bold")
    table.add_column(f"{card.level:.0%} interval")
    table.add_column("0" + " " * (TRACK - 2) + "1", no_wrap=True)
    table.add_column("micro", justify="right")
    table.add_column("counts", style="dim")
    for layer, summaries in by_layer(card.summaries):
        table.add_row(Text(LAYERS[layer].partition(":")[0], style="bold cyan"))
        for summary in summaries:
            shown = counts(summary)
            if summary.kind == "amount" and summary.quantiles:
                quantiles = ", ".join(f"p{round(100 * q)} {number(v, 'amount')}" for q, v in summary.quantiles.items())
                shown = f"{quantiles} · {shown}"
            micro = number(summary.micro) if summary.micro is not None else ""
            table.add_row(
                f"  {summary.metric}{ARROWS[summary.direction]}", number(summary.mean, summary.kind),
                interval(summary), track(summary), micro, shown,
            )  # fmt: skip
    return table


def _causes(card: Scorecard) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2))
    most = max(card.causes.values())
    for cause, count in card.causes.items():
        bar = "█" * max(1, round(TRACK * count / most))
        table.add_row(f"  {cause or 'no cause named'}", Text(bar, style="red"), share(count, card.failed_examples))
    return table


def _finding(place: int, finding: Finding) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="cyan", no_wrap=True)
    rows.add_column(overflow="fold")
    lines = [("why", finding.evidence), ("fix", finding.fix), ("leave", finding.leave), ("then", finding.measure_again)]
    for label, words in lines:
        if words:
            rows.add_row(label, Text(safe(words)))
    rows.add_row("sure", Text(f"{finding.confidence} confidence", style="dim"))
    return Group(Text(f"{place}. {opened(safe(finding.headline))}", style="bold"), Padding(rows, (0, 0, 0, 3)))


def _segment(card: Scorecard, column: str, values: Sequence[tuple[str, tuple[Summary, ...]]]) -> Table | None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = headline(card.summaries)
    if not names:
        return None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(Text(safe(column)))
    table.add_column("n", justify="right")
    for name in names:
        table.add_column(name, justify="right")
    for value, summaries in values[:MOST_SEGMENT_VALUES]:
        found = {summary.metric: summary for summary in summaries}
        cells = [estimate(found[name]) if name in found else "–" for name in names]
        table.add_row(Text(safe(value)), str(summaries[0].n if summaries else 0), *cells)
    if len(values) > MOST_SEGMENT_VALUES:
        table.add_row(f"[dim]… {len(values) - MOST_SEGMENT_VALUES} more[/]")
    return table


def headline(summaries: Sequence[Summary]) -> list[str]:
    """The few metrics that stand for each layer in a narrow table, at most four."""
    preferred = (
        "recall@5", "context_recall", "faithfulness", "answer_correctness", "answer_relevance", "context_precision",
    )  # fmt: skip
    scored = [summary.metric for summary in summaries if summary.scored and summary.kind != "amount"]
    first = [name for name in preferred if name in scored]
    return (first or scored)[:MOST_SEGMENT_METRICS]


def _trust(card: Scorecard) -> Iterator[RenderableType]:
    from rich.text import Text

    if card.judge.what:
        yield Text("\nHow it was judged", style="bold")
        yield Text(f"{card.judge.what} {card.judge.observed}".strip())
        if card.judge.uncertain is not None:
            yield Text(f"{card.judge.uncertain:.0%} of the claims lie in its uncertain middle.", style="yellow")
        for limit in card.judge.limits:
            yield Text(f"  · {limit}", style="dim")
    for warning in card.warnings:
        yield Text(f"! {safe(warning)}", style="yellow")
