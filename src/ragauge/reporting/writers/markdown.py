"""Sections as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragauge.reporting.sections import Phrase, ReportColumn, ReportSection, ReportTable, Wording
from ragauge.reporting.words import cell


def markdown(title: str, sections: Iterable[ReportSection]) -> str:
    """A page: the title, then every section under its heading; bars are left out."""
    parts = [f"# {title}"]
    for section in sections:
        parts.extend(_section(section))
    return "\n\n".join(parts) + "\n"


def table_lines(table: ReportTable) -> Iterator[str]:
    """A table's lines: names of columns, their sides, rows."""
    shown = [(n, column) for n, column in enumerate(table.columns) if column.kind != "bar"]
    yield f"| {' | '.join(cell(column.head) for _, column in shown)} |"
    yield f"|{'|'.join('--:' if column.kind == 'number' else '---' for _, column in shown)}|"
    for row in table.rows:
        yield f"| {' | '.join(_of(row[n], column) for n, column in shown)} |"


def _section(section: ReportSection) -> Iterator[str]:
    if section.heading:
        yield f"## {_said(section.heading)}" + (f" ({cell(section.about)})" if section.about else "")
    if section.lead:
        yield "\n".join(f"- {_said(one)}" for one in section.lead)
    if section.table is not None:
        yield "\n".join(table_lines(section.table))
    yield from (_said(one, "  \n") for one in section.after)
    yield from map(cell, section.notes)
    if section.commands:
        yield "\n".join(("```sh", *section.commands, "```"))


def _of(wording: Wording, column: ReportColumn) -> str:
    """A cell; numbers are ours, so that nothing in them needs an escape."""
    return wording if column.kind == "number" and isinstance(wording, str) else _said(wording)


def _said(wording: Wording, newline: str = "<br>") -> str:
    parts = wording if isinstance(wording, tuple) else (wording,)
    return "".join(_phrase(Phrase(one) if isinstance(one, str) else one, newline) for one in parts)


def _phrase(phrase: Phrase, newline: str) -> str:
    text = newline.join(map(_escaped, phrase.text.split("\n")))
    return f"**{text}**" if phrase.tone == "strong" and text else text


def _escaped(text: str) -> str:
    """Text that stays text, with the blanks by which it stands apart from its neighbours."""
    before, after = (" " if edge == " " else "" for edge in (text[:1], text[-1:]))
    return f"{before}{escaped}{after}" if (escaped := cell(text)) else before
