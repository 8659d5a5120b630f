"""Sections as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ragauge.rendering.sections import (
    Bar,
    Lengths,
    Phrase,
    ReportColumn,
    ReportItem,
    ReportSection,
    ReportTable,
    TableCell,
    Wording,
    merged,
    phrases,
    plain,
)
from ragauge.rendering.words import cell, opened, safe

INTERVAL = re.compile(r"\\\[([−+$\d.,]+%?, [−+$\d.,]+%?)\\\](?!\()")  # numbers alone are no link


def markdown(title: str, sections: Iterable[ReportSection], level: int = 1) -> str:
    """A page: the title, then every section under its heading; bars are left out.

    Args:
        title: of the page; "" for none.
        sections: what it shows.
        level: of its headings: how many # the title, or a section at the top, has.
    """
    parts = [f"{'#' * level} {title}"] if title else []
    for section in sections:
        if "markdown" not in section.skip:
            parts.extend(_section(section, level))
    return "\n\n".join(parts) + "\n"


def table_lines(table: ReportTable) -> Iterator[str]:
    """A table's lines: names of columns, their sides, rows."""
    drawn = [[n for n in places if table.columns[n].kind != "bar"] for places in merged(table)]
    shown = [places for places in drawn if places]
    heads = ([table.columns[n] for n in places if table.columns[n].joins != "named"] for places in shown)
    yield f"| {' | '.join(cell(', '.join(column.head for column in mine if column.head)) for mine in heads)} |"
    yield f"|{'|'.join('--:' if table.columns[places[0]].kind == 'number' else '---' for places in shown)}|"
    for row in table.rows:
        if len(row) == 1 < len(table.columns):
            yield f"| {_words(Phrase(plain(row[0]), 'strong'))} |{' |' * (len(shown) - 1)}"
        else:
            cells = ("".join(_parts(row, table, places)) for places in shown)
            yield f"| {' | '.join(cells)} |"


def _section(section: ReportSection, level: int) -> Iterator[str]:
    if section.heading:
        about = f" ({cell(section.about)})" if section.about else ""
        yield f"{'#' * (level if section.top else level + 1)} {_words(plain(section.heading))}{about}"
    if len(section.lead) > 1 and not section.top:
        yield "\n".join(f"- {_words(wording)}" for wording in section.lead)
    else:
        yield from map(_words, section.lead)
    yield from (f"> {cell(warning)}" for warning in section.warnings)
    if section.table is not None:
        yield "\n".join(table_lines(section.table))
    if section.items:
        yield "\n".join(line for item in section.items for line in _item(item))
    yield from (_words(wording, "  \n") for wording in section.after)
    yield from map(cell, section.notes)
    if section.commands:
        yield "\n".join(("```sh", *(" ".join(safe(command).split("\n")) for command in section.commands), "```"))


def _item(item: ReportItem) -> Iterator[str]:
    sign = item.sign or "-"
    yield f"{sign} {_words(Phrase(plain(item.heading), 'strong'))}{f' ({cell(item.about)})' if item.about else ''}"
    for label, wording in item.rows:
        if words := _words(wording):
            yield f"{' ' * (len(sign) + 1)}- {f'{opened(cell(label))}: ' if label else ''}{words}"


def _parts(row: tuple[TableCell, ...], table: ReportTable, places: Sequence[int]) -> Iterator[str]:
    """What stands in one cell, with what parts it from what stands before it."""
    between = ""
    for n in places:
        if text := _cell(row[n], table.columns[n]):
            yield f"{between and ('<br>' if table.columns[n].joins == 'below' else ' ')}{text}"
            between = " "


def _cell(content: TableCell, column: ReportColumn) -> str:
    """A cell; numbers are ours, so that nothing in them needs an escape."""
    if isinstance(content, Bar | Lengths):
        return ""
    if column.kind == "number" and isinstance(content, str):
        return content
    text = _words(content).strip()
    return f"{cell(column.head)} {text}" if text and column.joins == "named" else text


def _words(wording: Wording, newline: str = "<br>") -> str:
    return "".join(_phrase(phrase, newline) for phrase in phrases(wording))


def _phrase(phrase: Phrase, newline: str) -> str:
    text = INTERVAL.sub(r"[\1]", newline.join(map(_escaped, phrase.text.split("\n"))))
    return f"**{text}**" if phrase.tone in ("strong", "bad") and text else text


def _escaped(text: str) -> str:
    """Text that stays text, with the blanks by which it stands apart from its neighbours."""
    before, after = (" " if edge == " " else "" for edge in (text[:1], text[-1:]))
    return f"{before}{escaped}{after}" if (escaped := cell(text)) else before
