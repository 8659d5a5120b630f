"""Sections in a terminal, laid out for its width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragauge.rendering.sections import (
    Bar,
    Lengths,
    Phrase,
    ReportColumn,
    ReportItem,
    ReportSection,
    ReportTable,
    TableCell,
    Tone,
    Wording,
    phrases,
)
from ragauge.rendering.words import safe

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

STYLES: Mapping[Tone, str] = {
    "": "",
    "plain": "not bold",
    "strong": "bold",
    "faint": "dim",
    "good": "green",
    "bad": "bold red",
    "unsure": "yellow",
    "title": "bold cyan",
    "link": "cyan",
}
TRACK, SHORT_TRACK = 24, 14  # characters of a line: in a terminal of at least BROAD, and in others
BROAD = 120
MOST_TEXT = 44  # characters of text that may be broken over lines, by which a table's width is judged
SHORT_COMMAND = 24  # characters of a command that may stand within a sentence: a longer one would be broken
CALL = re.compile(rf" ?\((ragauge [^()]{{{SHORT_COMMAND},}})\)|: (ragauge [^()]{{{SHORT_COMMAND},}})$")


def terminal(sections: Iterable[ReportSection]) -> RenderableType:
    """All sections, a blank line between two of them; a table ends with one of its own."""
    return SectionScreen(tuple(section for section in sections if "terminal" not in section.skip))


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
            if last is not None and not (isinstance(last, Table) and last.box):
                yield Text()
            for last in _section(section, console, options):
                yield last


def styled(wording: Wording, tone: Tone = "") -> Text:
    """Words in the styles of their tones; `tone` is that of what has none. Nothing in them is markup."""
    from rich.text import Text

    text = Text(style="" if isinstance(wording, tuple) else STYLES[tone])
    for phrase in phrases(wording):
        text.append(safe(phrase.text).expandtabs(), STYLES[phrase.tone or tone])
    return text


def track(bar: Bar, width: int = TRACK) -> str:
    """An interval on a line, thinner including judge error, the point that it is held against upright."""
    cells = ["·"] * width

    def place(value: float) -> int:
        return min(width - 1, max(0, int(value * width)))

    for ends, mark in ((bar.wide, "─"), ((bar.low, bar.high), "━")):
        if ends is not None:
            cells[place(ends[0]) : place(ends[1]) + 1] = mark * (place(ends[1]) - place(ends[0]) + 1)
    if bar.point is not None:
        cells[place(bar.point)] = "│"
    cells[place(bar.middle)] = "●"
    return "".join(cells)


def _section(section: ReportSection, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
    from rich.text import Text

    if section.heading:
        about = Text(f"  {safe(section.about)}", style="dim") if section.about else Text()
        yield Text.assemble(styled(section.heading, "title" if section.top else "strong"), about)
    yield from (part for words in section.lead for part in _paragraph(words))
    yield from (part for warning in section.warnings for part in _paragraph(Phrase(f"! {warning}", "unsure")))
    if section.table is not None:
        yield from _fitting(section.table, console, options)
    yield from (part for item in section.items for part in _item(item))
    yield from (part for words in section.after for part in _paragraph(words))
    yield from (part for note in section.notes for part in _paragraph(Phrase(note, "faint")))
    yield from map(_command, section.commands)


def _paragraph(wording: Wording) -> Iterator[RenderableType]:
    """Words of which every line begins where the first does; then the commands in them, each on a line."""
    from rich.padding import Padding

    words, commands = split_commands(wording)
    text = styled(words)
    blanks = len(text.plain) - len(text.plain.lstrip(" "))
    yield Padding(text[blanks:], (0, 0, 0, blanks)) if blanks else text
    yield from map(_command, commands)


def _command(command: str) -> Text:
    """A command on one line, however narrow the terminal: a line that is broken cannot be copied."""
    from rich.text import Text

    return Text(f"  {safe(command)}", style="cyan", no_wrap=True, overflow="ignore")


def split_commands(wording: Wording) -> tuple[tuple[Phrase, ...], list[str]]:
    """Words without the longer commands in them, which stand in brackets or at the end, and these commands.

    >>> words, commands = split_commands("Label 60 answers (ragauge label draw mine -n 60 -o page.html) first.")
    >>> words[0].text, commands
    ('Label 60 answers first.', ['ragauge label draw mine -n 60 -o page.html'])
    """
    commands: list[str] = []

    def cut(match: re.Match[str]) -> str:
        commands.append(match[1] or match[2])
        return "" if match[1] else ":"

    return tuple(replace(phrase, text=CALL.sub(cut, phrase.text)) for phrase in phrases(wording)), commands


def _item(item: ReportItem) -> Iterator[RenderableType]:
    """The heading, and each label with its words, which wrap beside it."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    about = Text(f"  {safe(item.about)}", style="dim") if item.about else Text()
    yield Text.assemble(Text(f"{item.sign} " if item.sign else "", style="bold"), styled(item.heading, "strong"), about)
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(style="cyan", no_wrap=True)
    rows.add_column(overflow="fold")
    commands: list[str] = []
    for label, wording in item.rows:
        words, own = split_commands(wording)
        commands += own
        if (text := styled(words)).plain:
            rows.add_row(Text(safe(label)), text)
    if rows.rows:
        yield Padding(rows, (0, 0, 0, 3))
    yield from map(_command, dict.fromkeys(commands))


def _fitting(table: ReportTable, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
    """The table without the columns that there is no room for, and what stands below it in their place."""
    from rich.measure import Measurement

    shown = list(range(len(table.columns)))
    track_width = TRACK if options.max_width >= BROAD else SHORT_TRACK
    rooms = sorted({table.columns[n].room for n in shown} - {0})
    while rooms:
        laid = _table(table, shown, track_width, MOST_TEXT)
        if Measurement.get(console, options.update(max_width=10_000), laid).maximum <= options.max_width:
            break
        most = rooms.pop()
        shown = [n for n in shown if table.columns[n].room != most]
    yield _table(table, shown, track_width)
    for n, column in enumerate(table.columns):
        if n not in shown:
            yield from (part for words in column.instead for part in _paragraph(words))


def _table(section_table: ReportTable, shown: Sequence[int], width: int, most: int | None = None) -> Table:
    """Some of its columns, text not wider than `most` where that is given."""
    from rich import box
    from rich.table import Table

    padding = (0, 2, 0, 0) if section_table.bare else (0, 1, 0, 0) if section_table.tight else (0, 1)
    footed = any(column.foot for column in section_table.columns)
    table = Table(
        box=None if section_table.bare else box.SIMPLE_HEAD,
        pad_edge=False,
        padding=padding,
        show_header=not section_table.bare,
        show_footer=footed,
    )
    drawn = [n for n in shown if section_table.columns[n].joins != "below"]
    for column in (section_table.columns[n] for n in drawn):
        broken = column.kind == "text" and not column.whole
        table.add_column(
            styled(_head(column, width)),
            column.foot,
            justify="right" if column.kind == "number" else "left",
            style=STYLES[column.tone],
            no_wrap=column.whole,
            overflow="fold" if column.fold else "ellipsis",
            max_width=most if broken else None,
        )
    for row in section_table.rows:
        heads = len(row) == 1 < len(section_table.columns)
        cells = [] if heads else [_stacked(row, section_table, n, shown, width) for n in drawn]
        table.add_row(*(cells or [styled(_first(row[0]), "title")]), end_section=len(drawn) < len(shown))
    return table


def _stacked(row: tuple[TableCell, ...], table: ReportTable, index: int, shown: Sequence[int], width: int) -> Text:
    """A cell, with the cells that stand below it."""
    cell = _cell(row[index], width)
    for n in range(index + 1, len(row)):
        if table.columns[n].joins != "below":
            break
        if n in shown and (below := _cell(row[n], width, "faint")).plain:
            cell = cell.append("\n").append_text(below)
    return cell


def _first(cell: TableCell) -> Wording:
    return "" if isinstance(cell, Bar | Lengths) else phrases(cell)[0]


def _head(column: ReportColumn, width: int) -> str:
    if column.kind == "number" and column.fold:  # a long name takes several lines where its numbers are short
        return column.head.replace("_", "_\n")
    return f"{column.ends[0]:<{width - len(column.ends[1])}}{column.ends[1]}" if any(column.ends) else column.head


def _cell(content: TableCell, width: int, tone: Tone = "") -> Text:
    if isinstance(content, Bar):
        return styled(track(content, width), "bad" if content.hue == "worse" else "good" if content.hue else "")
    if isinstance(content, Lengths):
        return styled("█" * max(1, round(width * content.shares[-1])) if content.shares[-1] else "", "bad")
    return styled(content, tone)
