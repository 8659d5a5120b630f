"""A gate's verdict in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.gating.result import Check, CheckExample, Gated
from ragauge.reporting import gate_failures as failures
from ragauge.reporting import gate_words as words
from ragauge.reporting.words import safe

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

STYLES = {"pass": "green", "fail": "bold red", "not_enough_data": "yellow"}
WIDE = 110     # columns of the terminal from which the limit and the baseline have a column


def terminal(gated: Gated) -> RenderableType:
    """The verdict, what decided it, every rule, and what to do."""
    return GateScreen(gated)


@dataclass(frozen=True, slots=True)
class GateScreen:
    """A gate's verdict that lays itself out for the width of the console that prints it."""

    gated: Gated

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """What rich calls."""
        yield from _parts(self.gated, options.max_width)


def _parts(gated: Gated, width: int) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(words.title(gated), style=STYLES[gated.verdict]) + Text(f": {words.about(gated)}", style="bold")
    yield Text(" · ".join(words.facts(gated)), style="dim")
    for broken in failures.lead(gated):
        yield Text(f"\n{broken}", style="bold red")
    yield Text()
    yield _table(gated, width)
    if rest := words.left_out(gated):
        yield Text(rest, style="dim")
    decisive = [*words.stopping(gated), *words.warned(gated)]
    if decisive:
        yield Text("\nWhy", style="bold")
    told: set[tuple[CheckExample, ...]] = {()}
    for check in decisive:
        yield from _why(check, told)
    for warning in words.minded(gated):
        yield Text(f"\n{warning}", style="yellow")
    if advice := words.what_next(gated):
        yield Text("\nWhat to do: ", style="cyan") + Text(advice, style="default")


def _table(gated: Gated, width: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    table.add_column("rule", overflow="fold")
    if width >= WIDE:
        table.add_column("before → now", no_wrap=True)
    table.add_column("estimate, 90 % interval")
    if width >= WIDE:
        table.add_column("must be", no_wrap=True)
    table.add_column("n", justify="right")
    table.add_column("verdict", no_wrap=True)
    for check in words.shown(gated):
        style = STYLES[check.verdict]
        asked = check.asks if check.segment is None else f"  in {words.where(check)}"
        row: list[Text | str] = [Text(words.MARKS[check.verdict], style=style), Text(safe(asked))]
        row += [words.change(check)] if width >= WIDE else []
        row += [words.estimate(check)]
        row += [words.limit(check)] if width >= WIDE else []
        said = words.VERDICTS[check.verdict] + (" (warns)" if check.on_fail == "warn" else "")
        table.add_row(*row, words.counted(check), Text(said, style=style))
    return table


def _why(check: Check, told: set[tuple[CheckExample, ...]]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    head = safe(check.asks) if check.segment is None else f"{safe(check.asks)}, in {words.where(check)}"
    warns = " (warns, does not stop the gate)" if check.on_fail == "warn" else ""
    yield Text(f"{words.MARKS[check.verdict]} {head}{warns}", style=STYLES[check.verdict])
    yield Padding(Text(words.reason(check)), (0, 0, 0, 2))
    if check.examples not in told and check.kind != "must_pass":
        told.add(check.examples)
        yield Padding(Text(f"lost most: {words.listed(check.examples)}", style="dim"), (0, 0, 0, 2))
