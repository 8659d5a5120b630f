"""The scorecard in a terminal: what a team decides from, on about two screens, laid out for the width there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.analysis.diagnosis.readings import words
from ragauge.analysis.diagnosis.words import WORDS
from ragauge.analysis.results.change import MetricChange
from ragauge.analysis.results.scorecard import Finding, ScorecardData, Summary
from ragauge.reporting import judged, segment_sizes
from ragauge.reporting.command_line import command_line
from ragauge.reporting.confirmed import experiments_say
from ragauge.reporting.losses import sentence
from ragauge.reporting.segments import WorstSegment, worst_segments
from ragauge.reporting.words import (
    ARROWS,
    LAYERS,
    UNNAMED,
    against,
    by_layer,
    confidence,
    counts,
    difference,
    first_thing,
    headline,
    ignored,
    interval,
    interval_methods,
    left_out,
    opened,
    outcomes,
    pareto_line,
    safe,
    share,
    verdict,
    with_error,
)  # fmt: skip
from ragauge.text.amounts import number, valued
from ragauge.text.plural import plural

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

TRACK = 24
SHORT_TRACK = 14
BAR = 24
MOST_FINDINGS = 5
MOST_CAUSES = 6
NARROW, WIDE = 100, 120     # columns of the terminal: below the first less is shown, from the second on all
SIGNS: Mapping[str, str] = {"better": "▲", "worse": "▼", "changed": "◆"}
JUDGED = "with judge's error"     # head of the column with the wider interval
STYLES: Mapping[str, str] = {"better": "green", "worse": "red"}


def terminal(card: ScorecardData, report: Path | None = None) -> RenderableType:
    """Everything a person decides from, on about two screens; at the end where the full report is, or how to get it."""
    return ScorecardScreen(card, report)


@dataclass(frozen=True, slots=True)
class ScorecardScreen:
    """A scorecard that lays itself out for the width of the console that prints it."""

    card: ScorecardData
    report: Path | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """What rich calls."""
        yield from _parts(self.card, options.max_width)
        yield from _full_report(self.card, self.report)


def track(summary: Summary, width: int = TRACK) -> str:
    """The mean and its interval on a line from 0 to 1, thinner with the judge's error; "" for other ranges."""
    if summary.kind == "amount" or summary.mean is None or not 0 <= summary.mean <= 1:
        return ""
    cells = ["·"] * width

    def cell(value: float) -> int:
        return min(width - 1, max(0, int(value * width)))

    for found, mark in ((summary.judged, "─"), (summary.interval, "━")):
        if found is not None:
            for i in range(cell(found.low), cell(found.high) + 1):
                cells[i] = mark
    cells[cell(summary.mean)] = "●"
    return "".join(cells)


def _parts(card: ScorecardData, width: int) -> Iterator[RenderableType]:
    from rich.text import Text

    about = f"  run {card.run.run_id} · {plural(card.n, 'example')}"
    yield Text(safe(card.run.name), style="bold") + Text(about, style="dim")
    yield Text(safe(verdict(card)), style="bold")
    if told := outcomes(card):
        yield Text(safe(told), style="dim")
    if first := first_thing(card):
        yield Text("First thing to do: ", style="cyan") + Text(safe(first), style="default")
    if card.baseline is not None:
        yield Text(safe(against(card)))
    yield Text()
    yield _scorecard(card, width)
    yield from _under(card, width)
    yield from _failures(card, width)
    for place, finding in enumerate(card.findings[:MOST_FINDINGS], 1):
        if place == 1:
            yield Text("\nWhat to do", style="bold")
        yield _finding(place, finding, experiments_say(card.confirmed, finding.cause))
    yield from _segments(card, width)
    if card.gaps is not None:
        yield Text("\nWhere quality is lost", style="bold")
        yield Text(safe(sentence(card.gaps)))
        yield command_line("show", safe(card.run.name), "--gaps")
    alignment = card.overview.alignment
    if alignment is not None and alignment.answers:
        yield Text("\nRanking and answers", style="bold")
        yield Text(ignored(alignment), style="yellow" if alignment.flagged else "")
    yield from _trust(card)


def _full_report(card: ScorecardData, report: Path | None) -> Iterator[RenderableType]:
    from rich.text import Text

    more = len(card.findings) - MOST_FINDINGS
    also = f"{more} more findings, " if more > 0 else ""
    yield Text(f"\nFull report, with {also}charts and examples:", style="dim")
    if report is None:
        yield command_line("report", safe(card.run.name), "-o", "report.html")
    else:
        yield Text(f"  {safe(str(report))}", no_wrap=True, overflow="ignore")


def _scorecard(card: ScorecardData, width: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    changes = {change.metric: change for change in card.baseline.changes} if card.baseline else {}
    line = TRACK if width >= WIDE else SHORT_TRACK if width >= NARROW or not changes else 0
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("metric", overflow="fold", max_width=None if width >= WIDE else 26)
    table.add_column("mean", justify="right", style="bold", no_wrap=True)
    table.add_column(f"{card.level:.0%} interval", no_wrap=True)
    beside = _error_beside(card, width)
    if beside:
        table.add_column(JUDGED, no_wrap=True)
    if line:
        table.add_column("0" + " " * (line - 2) + "1", no_wrap=True)
    if changes:
        table.add_column("change", no_wrap=True)
    table.add_column("micro", justify="right", no_wrap=True)
    if _counts_beside(card, width):
        table.add_column("counts", style="dim")
    for layer, summaries in by_layer(card.summaries):
        table.add_row(Text(LAYERS[layer].partition(":")[0], style="bold cyan"))
        for summary in summaries:
            micro = number(summary.micro) if summary.micro is not None else ""
            cells: list[Text | str] = [
                Text(f"  {safe(summary.metric)}{ARROWS[summary.direction]}"),
                valued(summary.mean, summary.metric, summary.kind), interval(summary),
            ]  # fmt: skip
            cells += [with_error(summary)] if beside else []
            cells += [track(summary, line)] if line else []
            cells += [_change(changes.get(summary.metric), summary.kind, width)] if changes else []
            cells += [micro, *([_counts(summary)] if _counts_beside(card, width) else [])]
            table.add_row(*cells)
    return table


def _error_beside(card: ScorecardData, width: int) -> bool:
    return width >= NARROW and any(summary.judged for summary in card.summaries)


def _counts_beside(card: ScorecardData, width: int) -> bool:
    return width >= WIDE and card.baseline is None


def _counts(summary: Summary) -> str:
    quantiles = ", ".join(f"p{round(100 * q)} {valued(v, summary.metric)}" for q, v in summary.quantiles.items())
    return f"{quantiles} · {counts(summary)}" if summary.kind == "amount" and quantiles else counts(summary)


def _change(change: MetricChange | None, kind: str, width: int) -> Text:
    from rich.text import Text

    if change is None:
        return Text()
    said = change.verdict if width >= WIDE or change.difference.interval is None else ""
    sign = SIGNS.get(change.verdict, "")
    return Text(" ".join(part for part in (difference(change, kind), sign, said) if part),
                style=STYLES.get(change.verdict, "dim"))     # fmt: skip


def _under(card: ScorecardData, width: int) -> Iterator[RenderableType]:
    """What stands under the table: the counts where they found no room in it, and the metrics that apply to nothing."""
    from rich.text import Text

    if not _counts_beside(card, width):
        alike: dict[str, list[str]] = {}
        for _, summaries in by_layer(card.summaries):
            for summary in summaries:
                alike.setdefault(_counts(summary), []).append(summary.metric)
        most = max(alike, key=lambda words: len(alike[words]), default="")
        for words, names in sorted(alike.items(), key=lambda item: item[0] == most):
            which = ", ".join(map(safe, names)) if words != most else "all" if len(alike) == 1 else "the others"
            yield Text(f"{which}: {words}", style="dim")
    wide = [f"{safe(one.metric)} {with_error(one)}" for one in card.summaries if one.judged is not None]
    if wide and not _error_beside(card, width):
        yield Text(f"{opened(JUDGED)}: {', '.join(wide)}")
    if said := interval_methods(card):
        yield Text(safe(said), style="dim")
    for reason, names in left_out(card.summaries):
        yield Text(f"not applicable ({safe(reason)}): {', '.join(map(safe, names))}", style="dim")
    if card.pending:
        pending = plural(card.pending, "example is", "examples are")
        yield Text(f"{pending} not yet evaluated; the same command goes on with them.", style="yellow")


def _failures(card: ScorecardData, width: int) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    if not card.causes:
        return
    yield Text("\nFailures by cause", style="bold")
    yield Text(pareto_line(card))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    most = max(card.causes.values())
    for cause, count in list(card.causes.items())[:MOST_CAUSES]:
        bar = "█" * max(1, round(BAR * count / most))
        means = Text(WORDS[cause].headline, style="dim") if cause in WORDS and width >= WIDE else Text()
        found = card.confirmed.of(cause) if card.confirmed is not None else None
        made = f"{found.confirmed:,} of {found.made:,} confirmed" if found is not None else ""
        counted = share(count, card.failed_examples)
        table.add_row(f"  {safe(cause) or UNNAMED}", Text(bar, style="red"), counted, made, means)
    rest = sum(list(card.causes.values())[MOST_CAUSES:])
    if rest:
        table.add_row(f"  {len(card.causes) - MOST_CAUSES} more", "", share(rest, card.failed_examples), style="dim")
    yield table


def _finding(place: int, finding: Finding, said: str) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(style="cyan", no_wrap=True)
    rows.add_column(overflow="fold")
    seen = [f"· {words(one)}" for one in finding.readings]
    why = "\n".join([finding.evidence, *seen] if finding.evidence else seen)
    lines = [
        ("fix", finding.fix), ("why", why), ("tested", said), ("leave", finding.leave), ("then", finding.measure_again),
    ]     # fmt: skip
    for label, words_of in lines:
        if words_of:
            rows.add_row(label, Text(safe(words_of), style="bold" if label == "fix" else ""))
    rows.add_row("sure", Text(confidence(finding), style="dim"))
    return Group(Text(f"{place}. {opened(safe(finding.headline))}", style="bold"), Padding(rows, (0, 0, 0, 3)))


def _segments(card: ScorecardData, width: int) -> Iterator[RenderableType]:
    from rich.text import Text

    yield from _worst_segments(card, width)
    if named := segment_sizes.sizes(card):
        yield Text("Examples by segment", style="bold")
        yield from (Text(f"  {one.words}", style="dim") for one in named)


def _worst_segments(card: ScorecardData, width: int) -> Iterator[RenderableType]:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = headline(card.summaries, 4 if width >= NARROW else 3)
    worst = worst_segments(card, names)
    if not worst or not names:
        return
    known = any(segment.failed is not None for segment in worst)
    yield Text(f"\nWorst value of each segment{', where most failed' if known else ''}", style="bold") + Text(
        "  ▼ clearly worse than overall", style="dim"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("segment", overflow="fold")
    table.add_column("n", justify="right", no_wrap=True)
    if known:
        table.add_column("failed", justify="right", no_wrap=True)
    for name in names:
        table.add_column(safe(name), justify="right", no_wrap=len(name) <= 20, overflow="fold")
    for segment in worst:
        cells = [
            Text(f"{mean}{f' {ends}' if width >= WIDE and ends else ''}{' ▼' if worse else '  '}",
                 style="red" if worse else "")
            for mean, ends, worse in segment.cells
        ]  # fmt: skip
        where = Text(f"{safe(segment.column)} = {safe(segment.value)}")
        table.add_row(where, segment_sizes.counted(segment.n), *_lost(segment, known), *cells)
    yield table


def _lost(segment: WorstSegment, known: bool) -> list[str]:
    """The cell of how many failed, where the table has that column."""
    return ["–" if segment.failed is None else f"{segment.failed:,}"] if known else []


def _askings(card: ScorecardData) -> Iterator[RenderableType]:
    """How far the means lie apart between several askings of the judge."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = judged.spread_rows(card.use)
    if not rows:
        return
    yield Text(f"\n{judged.SPREAD}", style="bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, head in enumerate(judged.spread_heads(rows)):
        table.add_column(head, justify="right" if place else "left", overflow="fold")
    for row in rows:
        table.add_row(Text(safe(row.metric)), *row.means, row.width, row.deviation, row.changed)
    yield table
    yield Text(judged.SPREAD_SAYS, style="dim")


def _trust(card: ScorecardData) -> Iterator[RenderableType]:
    from rich.text import Text

    if card.judge.what:
        yield Text("\nHow it was judged", style="bold")
        yield Text(safe(f"{card.judge.what} {card.judge.observed}".strip()))
        for sentence in judged.sentences(card.use):
            yield Text(sentence)
        if card.judge.uncertain is not None:
            yield Text(f"{card.judge.uncertain:.0%} of the claims lie in its uncertain middle.", style="yellow")
        for limit in card.judge.limits:
            yield Text(f"  · {safe(limit)}", style="dim")
    yield from _askings(card)
    for warning in card.warnings:
        yield Text(f"! {safe(warning)}", style="yellow")
