"""Sections in a terminal, laid out for its width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragauge.rendering.sections import (
    Bar,
    LengthBars,
    Phrase,
    ReportColumn,
    ReportItem,
    ReportSection,
    ReportTable,
    TableCell,
    Tone,
    Wording,
    to_phrases,
)
from ragauge.rendering.words import make_safe

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
TRACK_CHARS, SHORT_TRACK_CHARS = 24, 14  # characters of a line: in a terminal of at least BROAD, and in others
MIN_BROAD_CHARS = 120
MAX_TEXT_CHARS = 44  # characters of text that may be broken over lines, by which a table's width is judged
MAX_INLINE_COMMAND_CHARS = 24  # characters of a command that may stand within a sentence: a longer one would be broken
CALL = re.compile(
    rf" ?\((ragauge [^()]{{{MAX_INLINE_COMMAND_CHARS},}})\)|: (ragauge [^()]{{{MAX_INLINE_COMMAND_CHARS},}})$"
)


def render_terminal(sections: Iterable[ReportSection]) -> RenderableType:
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
            for last in _render_section(section, console, options):
                yield last


def style_text(wording: Wording, tone: Tone = "") -> Text:
    """Words in the styles of their tones; `tone` is that of what has none. Nothing in them is markup."""
    from rich.text import Text

    text = Text(style="" if isinstance(wording, tuple) else STYLES[tone])
    for phrase in to_phrases(wording):
        text.append(make_safe(phrase.text).expandtabs(), STYLES[phrase.tone or tone])
    return text


def draw_bar(bar: Bar, width: int = TRACK_CHARS) -> str:
    """An interval on a line, thinner including judge error, the point that it is held against upright."""
    cells = ["·"] * width

    def to_cell(value: float) -> int:
        return min(width - 1, max(0, int(value * width)))

    for bounds, mark in ((bar.wide, "─"), ((bar.low, bar.high), "━")):
        if bounds is not None:
            cells[to_cell(bounds[0]) : to_cell(bounds[1]) + 1] = mark * (to_cell(bounds[1]) - to_cell(bounds[0]) + 1)
    if bar.point is not None:
        cells[to_cell(bar.point)] = "│"
    cells[to_cell(bar.middle)] = "●"
    return "".join(cells)


def _render_section(section: ReportSection, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
    from rich.text import Text

    if section.heading:
        about = Text(f"  {make_safe(section.about)}", style="dim") if section.about else Text()
        yield Text.assemble(style_text(section.heading, "title" if section.top else "strong"), about)
    yield from (renderable for words in section.lead for renderable in _render_paragraph(words))
    yield from (
        renderable for warning in section.warnings for renderable in _render_paragraph(Phrase(f"! {warning}", "unsure"))
    )
    if section.table is not None:
        yield from _fit_table(section.table, console, options)
    yield from (renderable for item in section.items for renderable in _render_item(item))
    yield from (renderable for words in section.after for renderable in _render_paragraph(words))
    yield from (renderable for note in section.notes for renderable in _render_paragraph(Phrase(note, "faint")))
    yield from map(_render_command, section.commands)


def _render_paragraph(wording: Wording) -> Iterator[RenderableType]:
    """Words of which every line begins where the first does; then the commands in them, each on a line."""
    from rich.padding import Padding

    words, commands = split_commands(wording)
    text = style_text(words)
    blanks = len(text.plain) - len(text.plain.lstrip(" "))
    yield Padding(text[blanks:], (0, 0, 0, blanks)) if blanks else text
    yield from map(_render_command, commands)


def _render_command(command: str) -> Text:
    """A command on one line, however narrow the terminal: a line that is broken cannot be copied."""
    from rich.text import Text

    return Text(f"  {make_safe(command)}", style="cyan", no_wrap=True, overflow="ignore")


def split_commands(wording: Wording) -> tuple[tuple[Phrase, ...], list[str]]:
    """Words without the longer commands in them, which stand in brackets or at the end, and these commands.

    >>> words, commands = split_commands("Label 60 answers (ragauge label draw mine -n 60 -o page.html) first.")
    >>> words[0].text, commands
    ('Label 60 answers first.', ['ragauge label draw mine -n 60 -o page.html'])
    """
    commands: list[str] = []

    def remove_command(match: re.Match[str]) -> str:
        commands.append(match[1] or match[2])
        return "" if match[1] else ":"

    return tuple(
        replace(phrase, text=CALL.sub(remove_command, phrase.text)) for phrase in to_phrases(wording)
    ), commands


def _render_item(item: ReportItem) -> Iterator[RenderableType]:
    """The heading, and each label with its words, which wrap beside it."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    about = Text(f"  {make_safe(item.about)}", style="dim") if item.about else Text()
    yield Text.assemble(
        Text(f"{item.sign} " if item.sign else "", style="bold"), style_text(item.heading, "strong"), about
    )
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(style="cyan", no_wrap=True)
    rows.add_column(overflow="fold")
    commands: list[str] = []
    for label, wording in item.rows:
        words, item_commands = split_commands(wording)
        commands += item_commands
        if (text := style_text(words)).plain:
            rows.add_row(Text(make_safe(label)), text)
    if rows.rows:
        yield Padding(rows, (0, 0, 0, 3))
    yield from map(_render_command, dict.fromkeys(commands))


def _fit_table(table: ReportTable, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
    """The table without the columns that there is no room for, and what stands below it in their place."""
    from rich.measure import Measurement

    visible = list(range(len(table.columns)))
    track_width = TRACK_CHARS if options.max_width >= MIN_BROAD_CHARS else SHORT_TRACK_CHARS
    rooms = sorted({table.columns[n].room for n in visible} - {0})
    while rooms:
        laid_out = _build_table(table, visible, track_width, MAX_TEXT_CHARS)
        if Measurement.get(console, options.update(max_width=10_000), laid_out).maximum <= options.max_width:
            break
        greatest_room = rooms.pop()
        visible = [n for n in visible if table.columns[n].room != greatest_room]
    yield _build_table(table, visible, track_width)
    for n, column in enumerate(table.columns):
        if n not in visible:
            yield from (renderable for words in column.instead for renderable in _render_paragraph(words))


def _build_table(section_table: ReportTable, visible: Sequence[int], width: int, max_width: int | None = None) -> Table:
    """Some of its columns, text not wider than `max_width` where that is given."""
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
    main_columns = [n for n in visible if section_table.columns[n].joins != "below"]
    for column in (section_table.columns[n] for n in main_columns):
        broken = column.kind == "text" and not column.whole
        table.add_column(
            style_text(_format_header(column, width)),
            column.foot,
            justify="right" if column.kind == "number" else "left",
            style=STYLES[column.tone],
            no_wrap=column.whole,
            overflow="fold" if column.fold else "ellipsis",
            max_width=max_width if broken else None,
        )
    for row in section_table.rows:
        is_heading = len(row) == 1 < len(section_table.columns)
        cells = [] if is_heading else [_stack_cells(row, section_table, n, visible, width) for n in main_columns]
        table.add_row(
            *(cells or [style_text(_get_first_phrase(row[0]), "title")]), end_section=len(main_columns) < len(visible)
        )
    return table


def _stack_cells(
    row: tuple[TableCell, ...], table: ReportTable, index: int, visible: Sequence[int], width: int
) -> Text:
    """A cell, with the cells that stand below it."""
    cell = _render_cell(row[index], width)
    for n in range(index + 1, len(row)):
        if table.columns[n].joins != "below":
            break
        if n in visible and (below := _render_cell(row[n], width, "faint")).plain:
            cell = cell.append("\n").append_text(below)
    return cell


def _get_first_phrase(cell: TableCell) -> Wording:
    return "" if isinstance(cell, Bar | LengthBars) else to_phrases(cell)[0]


def _format_header(column: ReportColumn, width: int) -> str:
    if column.kind == "number" and column.fold:  # a long name takes several lines where its numbers are short
        return column.head.replace("_", "_\n")
    return f"{column.ends[0]:<{width - len(column.ends[1])}}{column.ends[1]}" if any(column.ends) else column.head


def _render_cell(content: TableCell, width: int, tone: Tone = "") -> Text:
    if isinstance(content, Bar):
        return style_text(draw_bar(content, width), "bad" if content.hue == "worse" else "good" if content.hue else "")
    if isinstance(content, LengthBars):
        return style_text("█" * max(1, round(width * content.shares[-1])) if content.shares[-1] else "", "bad")
    return style_text(content, tone)
