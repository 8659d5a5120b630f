"""A comparison in a terminal: the verdict in a sentence, the table, the segments that moved, flips, settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.analysis.diagnosis.readings import words as reading
from ragauge.analysis.results.change import MetricChange
from ragauge.analysis.results.comparison import Compared, RunComparison, SegmentChange
from ragauge.data.response import Run
from ragauge.reporting.command_line import command_line
from ragauge.reporting.comparing import words
from ragauge.reporting.comparing.words import VERDICTS
from ragauge.reporting.words import ARROWS, UNNAMED, line, opened, safe
from ragauge.text.messages import plural

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

STYLES: Mapping[str, str] = {"better": "green", "worse": "red", "changed": "yellow"}
MOST_SEGMENTS, MOST_METRICS, MOST_FLIPS, MOST_FINDINGS, MOST_IDS, MOST_CAUSES = 6, 2, 5, 3, 10, 6
ANSWER = 150                # characters of an answer
NARROW, WIDE = 90, 110      # columns of the terminal: below the first less is shown, from the second on all


def terminal(compared: Compared) -> RenderableType:
    """What a person decides from in ten seconds, and what to look at after that."""
    return ComparisonScreen(compared)


@dataclass(frozen=True, slots=True)
class ComparisonScreen:
    """A comparison that lays itself out for the width of the console that prints it."""

    compared: Compared

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """What rich calls."""
        from rich.text import Text

        many = len(self.compared.runs) > 1
        if many:
            yield from _overview(self.compared)
        for found in self.compared.runs:
            if many:
                yield Text(f"\n{safe(found.run.name)}", style="bold cyan")
            yield from _comparison(found, self.compared, options.max_width)
        said = " ".join((words.method(self.compared), *dict.fromkeys(words.methods(one) for one in self.compared.runs)))
        yield Text(f"\n{said}", style="dim")
        names = (line(run.name) for run in (self.compared.base, *_runs(self.compared)))
        yield Text("With charts and both answers of every example that changed sides:", style="dim")
        yield command_line("compare", *names, "-o", "change.html")


def _runs(compared: Compared) -> list[Run]:
    return [found.run for found in compared.runs]


def _overview(compared: Compared) -> Iterator[RenderableType]:
    """Several runs side by side: a row a metric, a column a run."""
    from rich.text import Text

    table = _table()
    table.add_column("metric", overflow="fold")
    table.add_column(safe(compared.base.name), justify="right", no_wrap=True)
    for found in compared.runs:
        table.add_column(safe(found.run.name), justify="right")
    names = dict.fromkeys(change.metric for found in compared.runs for change in found.metrics)
    by_run = [{change.metric: change for change in found.metrics} for found in compared.runs]
    for name in names:
        fullest = max((mine[name] for mine in by_run if name in mine), key=lambda change: change.difference.n)
        cells = [_short(mine.get(name)) for mine in by_run]
        table.add_row(Text(f"{safe(name)}{ARROWS[fullest.direction]}"), words.before_after(fullest)[0], *cells)
    yield Text(f"{len(compared.runs)} runs against {safe(compared.base.name)}", style="bold")
    for found in compared.runs:
        said = Text(f"  {safe(found.run.name)}: ", style="bold")
        yield said + Text(safe(words.sentence(found)), style=STYLES.get(found.verdict, "default"))
    yield Text(words.DIFFERENCES.format(base=safe(compared.base.name)), style="dim")
    yield table


def _short(change: MetricChange | None) -> Text:
    from rich.text import Text

    if change is None:
        return Text("–", style="dim")
    return Text(words.labelled(change), style=STYLES.get(change.verdict, "dim"))


def _comparison(found: RunComparison, compared: Compared, width: int) -> Iterator[RenderableType]:
    from rich.text import Text

    if len(compared.runs) == 1:
        yield Text(safe(words.sentence(found)), style=f"bold {STYLES.get(found.verdict, '')}".strip())
        base = compared.base
        sides = f"{safe(base.name)} ({base.run_id}) → {safe(found.run.name)} ({found.run.run_id})"
        judge = f" · judged by {safe(compared.judge_id)}" if compared.judge_id else ""
        yield Text(sides + judge, style="dim")
    for warning in found.warnings:
        yield Text(f"! {safe(warning)}", style="yellow")
    yield _metrics(found, compared, width)
    if absent := words.not_measured(found):
        yield Text(safe(absent), style="dim")
    yield from _segments(found)
    yield from _amounts(found, width)
    yield from _findings(found)
    yield from _failures(found)
    yield from _flips(found)
    yield from _settings(found, compared)
    for where, count, ids in words.unmatched(found):
        shown = ", ".join(line(one, 40) for one in ids[:MOST_IDS])
        rest = f" and {count - MOST_IDS:,} more" if count > MOST_IDS and len(ids) >= MOST_IDS else ""
        yield Text(f"{count:,} {where}: {shown}{rest}", style="dim")


def _table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def _metrics(found: RunComparison, compared: Compared, width: int) -> Table:
    from rich.text import Text

    wide, paired = width >= WIDE, found.matched.paired
    table = _table()
    table.add_column("", no_wrap=True)
    table.add_column("metric", overflow="fold", max_width=None if wide else 26)
    table.add_column("before → now", no_wrap=True)
    table.add_column(f"difference, {compared.level:.0%} interval", no_wrap=width >= NARROW)
    table.add_column(words.chance_heading(compared) if wide else "p", justify="right", no_wrap=True)
    if wide and paired:
        table.add_column("won / tied / lost", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    for verdict, (sign, _) in VERDICTS.items():
        for change in words.measured(found):
            if change.verdict != verdict:
                continue
            style = STYLES.get(verdict, "dim" if verdict == "no change seen" else "")
            cells = [sign, f"{safe(change.metric)}{ARROWS[change.direction]}", words.moved(change),
                     words.difference(change), words.chance(change.corrected)]     # fmt: skip
            cells += [words.tally(change)] if wide and paired else []
            table.add_row(*(Text(cell, style=style) for cell in (*cells, f"{change.difference.n:,}")))
    return table


def _segments(found: RunComparison) -> Iterator[RenderableType]:
    from rich.text import Text

    better = tuple(part for part in found.segments if part.change.verdict == "better")
    for title, parts, style in (
        ("Segments that got worse", found.worse_segments, "red"), ("Segments that got better", better, "green")
    ):
        if parts:
            yield Text(f"\n{title}", style="bold")
            yield from _segment_table(parts, style)
    if perhaps := words.by_segment(found.possible_segments):
        said = "; ".join(
            f"{where} ({', '.join(f'{one.change.metric} {words.size(one.change)}' for one in mine[:MOST_METRICS])})"
            for where, mine in perhaps[:MOST_SEGMENTS]
        )
        head = Text("\nPerhaps worse ", style="bold") + Text("(may be chance among so many looks): ", style="dim")
        yield head + Text(safe(said), style="yellow")


def _segment_table(parts: Sequence[SegmentChange], style: str) -> Iterator[RenderableType]:
    """The first few metrics of each segment; every metric that hides it in its mean is among them."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    groups = words.by_segment(parts)
    for where, mine in groups[:MOST_SEGMENTS]:
        first = sorted(mine, key=lambda part: not part.hidden)[:MOST_METRICS]
        rest = len(mine) - len(first)
        table.add_row(Text(f"  {where}"), Text(f"and {plural(rest, 'more metric')}" if rest else "", style="dim"))
        for part in first:
            change = part.change
            cells = (
                (f"    {safe(change.metric)}{ARROWS[change.direction]}", ""), (words.difference(change), style),
                (f"n {change.difference.n:,}", "dim"),
                (f"overall {words.overall(part)}", "yellow" if part.hidden else "dim"),
            )     # fmt: skip
            table.add_row(*(Text(cell, style=of) for cell, of in cells))
    yield table
    if len(groups) > MOST_SEGMENTS:
        yield Text(f"  and {plural(len(groups) - MOST_SEGMENTS, 'more segment')}", style="dim")


def _amounts(found: RunComparison, width: int) -> Iterator[RenderableType]:
    from rich.text import Text

    if not found.amounts:
        return
    yield Text("\nCost and latency, median and 95th percentile", style="bold")
    table = _table()
    for head in ("", "median before", "now", "p95 before", "now"):
        table.add_column(head, no_wrap=True, justify="left" if not head else "right")
    for amount in found.amounts:
        sides = [side[q] for q in (0.5, 0.95) for side in (amount.base, amount.new)]
        shown = words.quantile if width >= WIDE else words.middle
        table.add_row(Text(safe(amount.metric)), *(shown(one, amount.metric) for one in sides))
    yield table


def _findings(found: RunComparison) -> Iterator[RenderableType]:
    from rich.text import Text

    for place, finding in enumerate(found.findings[:MOST_FINDINGS], 1):
        if place == 1:
            yield Text("\nWhat the change means", style="bold")
        yield Text(f"{place}. {opened(safe(finding.headline))}")
        for one in finding.readings[:2]:
            yield Text(f"   · {safe(reading(one))}", style="dim")
        yield Text(f"   fix  {safe(finding.fix)}", style="cyan")


def _failures(found: RunComparison) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    failures = found.failures
    names = dict.fromkeys((*failures.new, *failures.base))
    moved = sorted(names, key=lambda name: -abs(failures.new.get(name, 0) - failures.base.get(name, 0)))
    moved = [name for name in moved if failures.new.get(name, 0) != failures.base.get(name, 0)]
    if not moved:
        return
    yield Text(f"\nFailures by cause: {failures.failed_base:,} before, {failures.failed_new:,} now", style="bold")
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name in moved[:MOST_CAUSES]:
        before, now = failures.base.get(name, 0), failures.new.get(name, 0)
        moved_by = Text(f"{now - before:+,}".replace("-", "−"), style="red" if now > before else "green")
        table.add_row(Text(f"  {safe(name) or UNNAMED}"), f"{before:,} → {now:,}", moved_by)
    yield table


def _flips(found: RunComparison) -> Iterator[RenderableType]:
    from rich.text import Text

    if not (said := words.flips_line(found)):
        return
    yield Text("\nExamples that changed sides: ", style="bold") + Text(said, style="default")
    for flip in found.flips.shown[:MOST_FLIPS]:
        style = "red" if flip.lost else "green"
        yield Text(f"  {line(flip.query_id, 40)}", style=style) + Text(f"  {line(flip.query, 90)}", style="default")
        yield Text(f"    {safe(words.turned(flip))} · cause {safe(words.causes(flip))}", style="dim")
        if flip.base.answer != flip.new.answer:
            for label, side in (("before", flip.base), ("now   ", flip.new)):
                yield Text(f"    {label} {line(side.answer, ANSWER) if side.answer is not None else 'no answer'}")
        else:
            yield Text("    the answer is the same", style="dim")
    rest = found.flips.lost + found.flips.gained - MOST_FLIPS
    if rest > 0:
        yield Text(f"  and {rest:,} more", style="dim")


def _settings(found: RunComparison, compared: Compared) -> Iterator[RenderableType]:
    from rich.text import Text

    rows = words.settings(found)
    states = words.states(found, compared)
    yield Text("\nConfiguration", style="bold")
    if not rows and not states:
        yield Text("  the same settings, as far as they were recorded", style="dim")
    for what, before, now in states:
        yield Text(f"  ~ {what}: {before} → {now}")
    for sign, path, said in rows:
        yield Text(f"  {sign} {path}: {said}", style={"+": "green", "−": "red"}.get(sign, "default"))
