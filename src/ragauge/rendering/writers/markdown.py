"""Sections as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ragauge.rendering.sections import (
    Bar,
    LengthBars,
    Phrase,
    ReportColumn,
    ReportItem,
    ReportSection,
    ReportTable,
    TableCell,
    Wording,
    group_joined_columns,
    to_phrases,
    to_plain_text,
)
from ragauge.rendering.words import escape_cell, make_safe, opened

INTERVAL = re.compile(r"\\\[([−+$\d.,]+%?, [−+$\d.,]+%?)\\\](?!\()")  # numbers alone are no link


def render_markdown(title: str, sections: Iterable[ReportSection], level: int = 1) -> str:
    """A page: the title, then every section under its heading; bars are left out.

    Args:
        title: of the page; "" for none.
        sections: what it shows.
        level: of its headings: how many # the title, or a section at the top, has.
    """
    blocks = [f"{'#' * level} {title}"] if title else []
    for section in sections:
        if "markdown" not in section.skip:
            blocks.extend(_render_section(section, level))
    return "\n\n".join(blocks) + "\n"


def list_table_lines(table: ReportTable) -> Iterator[str]:
    """A table's lines: names of columns, their sides, rows."""
    text_groups = [[n for n in indices if table.columns[n].kind != "bar"] for indices in group_joined_columns(table)]
    visible_groups = [indices for indices in text_groups if indices]
    header_groups = (
        [table.columns[n] for n in indices if table.columns[n].joins != "named"] for indices in visible_groups
    )
    heads = [", ".join(column.head for column in group if column.head) for group in header_groups]
    yield f"| {' | '.join(map(escape_cell, heads))} |"
    yield f"|{'|'.join('--:' if table.columns[indices[0]].kind == 'number' else '---' for indices in visible_groups)}|"
    for row in table.rows:
        if len(row) == 1 < len(table.columns):
            yield f"| {_render_wording(Phrase(to_plain_text(row[0]), 'strong'))} |{' |' * (len(visible_groups) - 1)}"
        else:
            cells = ("".join(_render_parts(row, table, indices)) for indices in visible_groups)
            yield f"| {' | '.join(cells)} |"


def _render_section(section: ReportSection, level: int) -> Iterator[str]:
    if section.heading:
        about = f" ({escape_cell(section.about)})" if section.about else ""
        yield f"{'#' * (level if section.top else level + 1)} {_render_wording(to_plain_text(section.heading))}{about}"
    if len(section.lead) > 1 and not section.top:
        yield "\n".join(f"- {_render_wording(wording)}" for wording in section.lead)
    else:
        yield from map(_render_wording, section.lead)
    yield from (f"> {escape_cell(warning)}" for warning in section.warnings)
    if section.table is not None:
        yield "\n".join(list_table_lines(section.table))
    if section.items:
        yield "\n".join(line for item in section.items for line in _render_item(item))
    yield from (_render_wording(wording, "  \n") for wording in section.after)
    yield from map(escape_cell, section.notes)
    if section.commands:
        yield "\n".join(("```sh", *(" ".join(make_safe(command).split("\n")) for command in section.commands), "```"))


def _render_item(item: ReportItem) -> Iterator[str]:
    sign = item.sign or "-"
    yield (
        f"{sign} {_render_wording(Phrase(to_plain_text(item.heading), 'strong'))}"
        f"{f' ({escape_cell(item.about)})' if item.about else ''}"
    )
    for label, wording in item.rows:
        if words := _render_wording(wording):
            yield f"{' ' * (len(sign) + 1)}- {f'{opened(escape_cell(label))}: ' if label else ''}{words}"


def _render_parts(row: tuple[TableCell, ...], table: ReportTable, indices: Sequence[int]) -> Iterator[str]:
    """What stands in one cell, with what parts it from what stands before it."""
    separator = ""
    for n in indices:
        if text := _render_cell(row[n], table.columns[n]):
            yield f"{separator and ('<br>' if table.columns[n].joins == 'below' else ' ')}{text}"
            separator = " "


def _render_cell(content: TableCell, column: ReportColumn) -> str:
    """A cell; numbers are ours, so that nothing in them needs an escape."""
    if isinstance(content, Bar | LengthBars):
        return ""
    if column.kind == "number" and isinstance(content, str):
        return content
    text = _render_wording(content).strip()
    return f"{escape_cell(column.head)} {text}" if text and column.joins == "named" else text


def _render_wording(wording: Wording, newline: str = "<br>") -> str:
    return "".join(_render_phrase(phrase, newline) for phrase in to_phrases(wording))


def _render_phrase(phrase: Phrase, newline: str) -> str:
    text = INTERVAL.sub(r"[\1]", newline.join(map(_escape_text, phrase.text.split("\n"))))
    return f"**{text}**" if phrase.tone in ("strong", "bad") and text else text


def _escape_text(text: str) -> str:
    """Text that stays text, with the blanks by which it stands apart from its neighbours."""
    leading, trailing = (" " if edge == " " else "" for edge in (text[:1], text[-1:]))
    return f"{leading}{escaped}{trailing}" if (escaped := escape_cell(text)) else leading
