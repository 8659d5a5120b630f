"""Sections in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ragauge.reporting.sections import Phrase, ReportSection, ReportTable, Tone, Wording

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

STYLES: Mapping[Tone, str] = {
    "": "", "plain": "not bold", "strong": "bold", "faint": "dim", "good": "green", "bad": "bold red",
    "unsure": "yellow", "title": "bold cyan",
}     # fmt: skip


def terminal(sections: Iterable[ReportSection]) -> RenderableType:
    """All sections, a blank line between two of them; a table ends with one of its own."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for section in sections:
        if parts and not isinstance(parts[-1], Table):
            parts.append(Text())
        parts.extend(_section(section))
    return Group(*parts)


def styled(wording: Wording, tone: Tone = "") -> Text:
    """Words in the styles of their tones; `tone` is that of what has none. Nothing in them is markup."""
    from rich.text import Text

    found = Text(style="" if isinstance(wording, tuple) else STYLES[tone])
    for one in wording if isinstance(wording, tuple) else (wording,):
        phrase = Phrase(one) if isinstance(one, str) else one
        found.append(phrase.text.expandtabs(), STYLES[phrase.tone or tone])
    return found


def _section(section: ReportSection) -> Iterator[RenderableType]:
    from rich.text import Text

    if section.heading:
        about = Text(f"  {section.about}", style="dim") if section.about else Text()
        yield Text.assemble(styled(section.heading, "strong"), about)
    yield from map(styled, section.lead)
    if section.table is not None:
        yield _table(section.table)
    yield from map(styled, section.after)
    yield from (styled(note, "faint") for note in section.notes)
    for command in section.commands:
        yield Text(f"  {command}", style="cyan", no_wrap=True, overflow="ignore")


def _table(found: ReportTable) -> Table:
    from rich import box
    from rich.table import Table

    padding = (0, 1, 0, 0) if found.tight else (0, 1)
    footed = any(column.foot for column in found.columns)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=padding, show_footer=footed)
    for column in found.columns:
        table.add_column(
            styled(column.head), column.foot, justify="right" if column.kind == "number" else "left",
            style=STYLES[column.tone], no_wrap=column.whole, overflow="fold" if column.fold else "ellipsis",
        )     # fmt: skip
    for row in found.rows:
        table.add_row(*map(styled, row))
    return table
