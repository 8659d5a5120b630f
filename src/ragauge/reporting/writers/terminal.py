"""Sections in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.reporting.sections import Phrase, ReportSection, ReportTable, Tone, Wording

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

STYLES: Mapping[Tone, str] = {
    "": "", "plain": "not bold", "strong": "bold", "faint": "dim", "good": "green", "bad": "bold red",
    "unsure": "yellow", "title": "bold cyan", "link": "cyan",
}     # fmt: skip
WIDE = 110     # characters of a terminal that has room for the columns that are shown in a wide one alone


def terminal(sections: Iterable[ReportSection]) -> RenderableType:
    """All sections, a blank line between two of them; a table ends with one of its own."""
    return SectionScreen(tuple(sections))


@dataclass(frozen=True, slots=True)
class SectionScreen:
    """Sections that are laid out for the width of the console that prints them."""

    sections: tuple[ReportSection, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """What rich calls."""
        from rich.table import Table
        from rich.text import Text

        last: RenderableType | None = None
        for section in self.sections:
            if last is not None and not isinstance(last, Table):
                yield Text()
            for last in _section(section, wide=options.max_width >= WIDE):
                yield last


def styled(wording: Wording, tone: Tone = "") -> Text:
    """Words in the styles of their tones; `tone` is that of what has none. Nothing in them is markup."""
    from rich.text import Text

    found = Text(style="" if isinstance(wording, tuple) else STYLES[tone])
    for one in wording if isinstance(wording, tuple) else (wording,):
        phrase = Phrase(one) if isinstance(one, str) else one
        found.append(phrase.text.expandtabs(), STYLES[phrase.tone or tone])
    return found


def _section(section: ReportSection, *, wide: bool) -> Iterator[RenderableType]:
    from rich.text import Text

    if section.heading:
        about = Text(f"  {section.about}", style="dim") if section.about else Text()
        yield Text.assemble(styled(section.heading, "strong"), about)
    yield from map(_paragraph, section.lead)
    if section.table is not None:
        yield _table(section.table, wide=wide)
    yield from map(_paragraph, section.after)
    yield from (styled(note, "faint") for note in section.notes)
    for command in section.commands:
        yield Text(f"  {command}", style="cyan", no_wrap=True, overflow="ignore")


def _paragraph(wording: Wording) -> RenderableType:
    """Words of which every line begins where the first does."""
    from rich.padding import Padding

    found = styled(wording)
    blanks = len(found.plain) - len(found.plain.lstrip(" "))
    return Padding(found[blanks:], (0, 0, 0, blanks)) if blanks else found


def _table(found: ReportTable, *, wide: bool) -> Table:
    from rich import box
    from rich.table import Table

    padding = (0, 1, 0, 0) if found.tight else (0, 1)
    footed = any(column.foot for column in found.columns)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=padding, show_footer=footed)
    shown = [n for n, column in enumerate(found.columns) if wide or not column.wide]
    for column in (found.columns[n] for n in shown):
        table.add_column(
            styled(column.head), column.foot, justify="right" if column.kind == "number" else "left",
            style=STYLES[column.tone], no_wrap=column.whole, overflow="fold" if column.fold else "ellipsis",
        )     # fmt: skip
    for row in found.rows:
        table.add_row(*(styled(row[n]) for n in shown))
    return table
