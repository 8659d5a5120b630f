"""Explanations in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ragauge.analysis.explaining.symbols import PARAMETER
from ragauge.analysis.results.explanation import CountedItem, ExampleExplained, MeanWorked, RunExplained, Symbol, Worked
from ragauge.reporting.words import ARROWS, SHORT_LAYERS, line, opened, safe
from ragauge.text.messages import plural

if TYPE_CHECKING:
    from rich.console import RenderableType

FOCUSED = 3     # up to so many metrics are explained with the meaning of each symbol and the reason of each item
ABOUT = {"record": "Record", "answer": "Answer", "passages": "Passages", "reference": "Reference", "labels": "Labels"}
MARKS: Mapping[float | None, tuple[str, str]] = {True: ("+", "green"), False: ("-", "red"), None: ("?", "yellow")}
VERDICTS = {
    "yes": ("the cause", "bold red"), "second": ("second opinion", "yellow"), "also": ("mended with it", "dim"),
    "no": ("no", "dim"), "unknown": ("not known", "yellow dim"),
}     # fmt: skip


def example_terminal(found: ExampleExplained) -> RenderableType:
    """Facts, every metric with its formula and numbers, and the cause table."""
    from rich.console import Group

    return Group(*_example(found))


def _example(found: ExampleExplained) -> Iterator[RenderableType]:
    from rich.text import Text

    repeat = f" (repeat {found.repeat})" if found.repeat else ""
    yield Text(f"{safe(found.query_id)}{repeat}  ", style="dim") + Text(line(found.query), style="bold")
    yield Text(line(found.answer) if found.answer is not None else "answer not recorded", style="italic")
    for about, facts in groupby(found.facts, key=lambda fact: fact.about):
        yield Text(f"\n{ABOUT[about]}", style="bold cyan")
        yield _rows([(fact.name, fact.says, fact.text) for fact in facts])
    focused = len(found.metrics) <= FOCUSED
    for layer, name in SHORT_LAYERS.items():
        mine = [worked for worked in found.metrics if worked.measures == layer]
        if mine:
            yield Text(f"\n{name}", style="bold cyan")
            for worked in mine:
                yield _metric(worked, focused=focused)
    yield from _cause(found)


def _rows(rows: Sequence[tuple[str, str, str]]) -> RenderableType:
    """Name, facts, and the text that they are about on a line of its own."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, says, text in rows:
        table.add_row(Text(f"  {line(name, 24)}"), Text(line(says)))
        if text:
            table.add_row("", Text(line(text, 140), style="dim"))
    return table


def _metric(worked: Worked, *, focused: bool) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    score = worked.score
    head = Text(f"{worked.metric}{ARROWS[worked.direction]}", style="bold")
    if score.value is None:
        reason = f": {line(score.reason)}" if score.reason else ""
        head += Text(f"  {score.status.replace('_', ' ')}{reason}", style="yellow")
    if worked.arithmetic:
        head += Text(f"  {worked.arithmetic}")
    parts: list[RenderableType] = []
    if focused:
        parts.append(Text(worked.sentence, style="dim"))
    parts += [Text(re.sub(" {2,}=", " =", formula), style="cyan") for formula in worked.formula.splitlines()]
    shown = [symbol for symbol in worked.symbols if symbol.value and (focused or symbol.meaning != PARAMETER)]
    if shown and (focused or score.status in ("scored", "failed")):
        parts.append(_symbols(shown, focused=focused))
    if worked.items:
        parts.append(_items(worked.items) if focused else _counted(worked.items))
    if focused and worked.cases and score.status != "scored":
        parts.append(Text(worked.cases, style="dim"))
    if worked.note:
        parts.append(Text(worked.note, style="yellow"))
    return Group(Padding(head, (0, 0, 0, 2)), Padding(Group(*parts), (0, 0, 0, 6)))


def _symbols(symbols: Sequence[Symbol], *, focused: bool) -> RenderableType:
    """A line each with the meaning beside it, or all in one paragraph."""
    from rich.table import Table
    from rich.text import Text

    if not focused:
        return Text(" · ".join(_equation(symbol) for symbol in symbols))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", ratio=3)
    table.add_column(overflow="fold", ratio=2, style="dim")
    for symbol in symbols:
        table.add_row(Text(symbol.name), Text(line(symbol.value)), Text(symbol.meaning))
    return table


def _equation(symbol: Symbol) -> str:
    """A symbol with its value: c = 3; an indexed one is written out already: S[1] = {2}."""
    value = line(symbol.value)
    return value if re.match(r"\S+[\[@_]\d+\]? = ", value) else f"{symbol.name} = {value}"


def _items(items: Sequence[CountedItem]) -> RenderableType:
    """What counts, what does not, and why."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for item in items:
        sign, style = _mark(item.counts)
        text = Text(line(item.why)) + Text(f"  {line(item.text)}" if item.text else "", style="dim")
        table.add_row(Text(sign, style=style), Text(line(item.name, 40)), text)
    return table


def _mark(counts: float | None) -> tuple[str, str]:
    """The sign of an item; of one that only probably counts the share that does."""
    if counts in MARKS:
        return MARKS[counts]
    return f"{counts:.2f}", "yellow"


def _counted(items: Sequence[CountedItem]) -> RenderableType:
    """The same in one paragraph: what counts, then what does not."""
    from rich.text import Text

    parts = []
    for counts, words in ((True, "counted: "), (False, "not: "), (None, "no verdict: ")):
        names = [line(item.name, 40) for item in items if item.counts is counts]
        if names:
            more = f" and {len(names) - 12} more" if len(names) > 12 else ""
            parts.append(f"{words}{', '.join(names[:12])}{more}")
    shares = [f"{line(item.name, 40)} {item.counts:.2f}" for item in items if type(item.counts) is float]
    if shares:
        more = f" and {len(shares) - 12} more" if len(shares) > 12 else ""
        parts.append(f"counted in part: {', '.join(shares[:12])}{more}")
    return Text(" · ".join(parts))


def _cause(found: ExampleExplained) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    if found.cause is None:
        said = f"\nIt is not known whether it failed: {line(found.unknown)}." if found.unknown else "\nIt did not fail."
        yield Text(said, style="yellow" if found.unknown else "green")
        return
    yield Text("\nWhy it failed", style="bold cyan")
    yield Text(f"  {line(found.sign)}; the cause is the first row that applies:")
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in found.rows:
        words, style = VERDICTS[row.verdict]
        why = Text(line(row.why or row.rule))
        if row.verdict in ("yes", "second"):
            why = Text(f"{row.rule} ", style="dim") + why
        table.add_row(Text(f"  {words}", style=style), Text(row.cause, style=style), why)
    yield table
    if not found.cause.name:
        yield Text("  no row applies: no cause can be named", style="yellow")
    if found.cause.fix:
        yield Text(f"  fix: {found.cause.fix}")
    if found.cause.lacking:
        yield Text(f"  would tell more: {line('; '.join(found.cause.lacking))}", style="dim")
    if found.note:
        yield Text(f"  {line(found.note)}", style="yellow")


def run_terminal(found: RunExplained) -> RenderableType:
    """Every mean with its sum and interval, and the findings with their arithmetic."""
    from rich.console import Group

    return Group(*_run(found))


def _run(found: RunExplained) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    about = f"  run {found.run_id} · {plural(found.n, 'example')}"
    about += f" · judged by {safe(found.judge_id)}" if found.judge_id else ""
    yield Text(line(found.name), style="bold") + Text(about, style="dim")
    against = f"held against {line(found.against)}" if found.against else "held against starting points"
    yield Text(f"{found.failures} · {against}")
    for layer, name in SHORT_LAYERS.items():
        mine = [worked for worked in found.metrics if worked.summary.measures == layer]
        if mine:
            yield Text(f"\n{name}", style="bold cyan")
            for worked in mine:
                yield _mean(worked, found.level)
    if found.findings:
        yield Text("\nWhat each finding rests on", style="bold cyan")
    for place, worked_finding in enumerate(found.findings, 1):
        yield Text(f"{place}. {opened(safe(worked_finding.finding.headline))}", style="bold")
        rows = [(label, words) for label, _, words in (text.partition(": ") for text in worked_finding.lines)]
        yield Padding(_labelled(rows), (0, 0, 0, 3))


def _mean(worked: MeanWorked, level: float) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    head = Text(f"{worked.summary.metric}{ARROWS[worked.summary.direction]}", style="bold")
    head += Text(f"  {worked.mean}" if worked.mean else "  no mean", style="" if worked.mean else "yellow")
    rows = [(f"{level:.0%}", worked.interval or f"no interval: {worked.why_none}"), ("n", worked.counts)]
    if worked.judged:
        rows.insert(1, ("judge", worked.judged))
    if worked.micro:
        rows.append(("micro", worked.micro))
    if worked.bounds:
        rows.append(("failed", worked.bounds))
    if worked.summary.quantiles:
        quantiles = worked.summary.quantiles.items()
        rows.append(("also", ", ".join(f"p{100 * level:g} = {value:,.4g}" for level, value in quantiles)))
    if worked.summary.reasons:
        shown = list(worked.summary.reasons.items())[:3]
        rows.append(("without", "; ".join(f"{count} {line(reason)}" for reason, count in shown)))
    return Group(Padding(head, (0, 0, 0, 2)), Padding(_labelled(rows), (0, 0, 0, 6)))


def _labelled(rows: Sequence[tuple[str, str]]) -> RenderableType:
    """Label and words, which wrap beside it."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold")
    for label, words in rows:
        table.add_row(Text(label), Text(line(words)))
    return table
