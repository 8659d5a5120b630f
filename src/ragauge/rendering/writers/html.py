"""Sections as parts of a page: tables, lists, notes and commands; what links lead to is for a resolver to say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.rendering.sections import (
    Bar,
    LengthBars,
    LinkResolver,
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
from ragauge.rendering.words import make_safe, opened

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragauge.scores.results.chart import ReportChart

OPTION = re.compile(r"(?<![^\s(`])(--?[a-z][a-z0-9-]*)")  # of a command in a sentence
HYPHENED = re.compile(r"(\S*-\S*)")  # a word that would break behind its hyphens
CLASSES = {"strong": "strong", "faint": "soft", "good": "better", "bad": "worse", "unsure": "warn"}


def render_sections(sections: Iterable[ReportSection], links: LinkResolver, level: int = 2) -> Markup:
    """Sections one below the other, under headings of a level; what comes from data is escaped."""
    return _join_markup(
        markup
        for section in sections
        if "html" not in section.skip
        for markup in _render_section(section, links, level)
    )


def render_table(table: ReportTable, links: LinkResolver, label: str, style: str = "compact") -> Markup:
    """A table that scrolls in a frame of its own.

    Args:
        table: what it shows.
        links: where its phrases and bars lead.
        label: what it is called aloud.
        style: its class.
    """
    from markupsafe import Markup

    cells = group_joined_columns(table)
    has_headers = any(column.head for column in table.columns)
    header_row = Markup("<thead><tr>{}</tr></thead>\n").format(
        _join_markup(_render_header(table, indices, links) for indices in cells)
    )
    frame = Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">\n<table class="{}">')
    return _join_markup(
        (
            frame.format(make_safe(label), style),
            header_row if has_headers else Markup(""),
            Markup("<tbody>\n"),
            *(_render_row(row, table, cells, links) for row in table.rows),
            Markup("</tbody>\n</table>\n</div>\n"),
        )
    )


def make_breakable(name: str) -> Markup:
    """A name that may break after an underscore and before a parameter; options of a command stay whole."""
    from markupsafe import Markup, escape

    def insert_breaks(text: str) -> Markup:
        return Markup("<wbr>").join(
            escape(make_safe(fragment)) for fragment in re.split(r"(?<=_)|(?=:[a-z]|@\S)", text)
        )

    return _keep_words_whole(OPTION, name, insert_breaks) if "-" in name else insert_breaks(name)


def _break_at_dots(label: str) -> Markup:
    """A label that may break behind its dots, as names of attributes have them."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(make_safe(fragment)) for fragment in re.split(r"(?<=[._])(?=\S)", label))


def render_command(text: str) -> Markup:
    """A command that breaks between its words alone, unless one is wider than its place."""
    from markupsafe import escape

    return _keep_words_whole(HYPHENED, make_safe(text), escape)


def _keep_words_whole(words: re.Pattern[str], text: str, others: Callable[[str], Markup]) -> Markup:
    """A text of which some words do not break behind their hyphens."""
    from markupsafe import Markup

    fragments = words.split(text)
    return _join_markup(
        Markup('<span class="word">{}</span>').format(make_safe(fragment)) if n % 2 else others(fragment)
        for n, fragment in enumerate(fragments)
    )


def render_link(text: str | int | Markup, link: str) -> Markup:
    """Text that leads somewhere, or text."""
    from markupsafe import Markup, escape

    label = text if isinstance(text, Markup) else escape(make_safe(str(text)))
    return Markup('<a href="{}">{}</a>').format(link, label) if link else label


def format_percent(value: float) -> str:
    """A share as a length inside 0 to 100 %."""
    return f"{100 * min(1.0, max(0.0, value)):.1f}%"


def render_bar(bar: Bar, link: str = "") -> Markup:
    """An interval on a line, with the point it is held against; a link to examples."""
    from markupsafe import Markup

    def draw_line(name: str, low: float, high: float, top: str = "6", bottom: str = "6") -> str:
        coordinates = f'x1="{format_percent(low)}" x2="{format_percent(high)}" y1="{top}" y2="{bottom}"'
        return f'<line class="{name}" {coordinates}/>'

    lines = [draw_line("rail", 0, 1)]
    if bar.point is not None:
        lines.append(draw_line("point", bar.point, bar.point, "0", "12"))
    if bar.wide:
        lines.append(draw_line("judged", *bar.wide))
    lines.append(f'{draw_line("reach", bar.low, bar.high)}<circle cx="{format_percent(bar.middle)}" cy="6" r="5"/>')
    rail, marks = lines[0], "".join(lines[1:])
    return Markup('<svg class="track{}" aria-hidden="true">{}{}</svg>').format(  # our own markup
        f" {bar.hue}" if bar.hue else "",
        Markup(rail),  # noqa: S704 - our own markup
        _wrap_drawing(marks, link, "examples"),
    )


def render_length_bars(lengths: LengthBars, link: str = "") -> Markup:
    """Bars of before and now, one above the other."""
    from markupsafe import Markup

    names = ("then", "now")[-len(lengths.shares) :]
    bars = "".join(
        f'<rect class="{name}" y="{1 + 10 * n}" width="{format_percent(share)}" height="8"/>'
        for n, (name, share) in enumerate(zip(names, lengths.shares, strict=True))
    )
    return Markup('<svg class="pair" aria-hidden="true">{}</svg>').format(_wrap_drawing(bars, link, "current examples"))


def _wrap_drawing(drawing: str, link: str, title: str) -> Markup:
    """What is drawn, as a link for those who see it; the words beside it are one for all."""
    from markupsafe import Markup

    inner = Markup(drawing)  # noqa: S704 - numbers of our own
    return Markup('<a href="{}" tabindex="-1"><title>{}</title>{}</a>').format(link, title, inner) if link else inner


def _join_markup(fragments: Iterable[Markup]) -> Markup:
    from markupsafe import Markup

    return Markup("").join(fragments)


def _render_header(table: ReportTable, indices: Sequence[int], links: LinkResolver) -> Markup:
    from markupsafe import Markup

    first = table.columns[indices[0]]
    names_markup = Markup(", ").join(
        render_link(make_breakable(column.head), links.link(*column.to) if column.to else "")  # type: ignore[arg-type]  # `to` is (kind, name)
        for column in (table.columns[n] for n in indices)
        if column.head and column.joins != "named"
    )
    own_line = [n for n in indices if table.columns[n].joins != "below"]
    names = " ".join(
        filter(None, ("n" if first.kind == "number" and len(own_line) == 1 else "", _get_width_class(first)))
    )
    return Markup('<th scope="col"{}>{}</th>').format(Markup(f' class="{names}"') if names else "", names_markup)  # noqa: S704 - our own markup


def _get_width_class(column: ReportColumn) -> str:
    is_repeated_below = (
        column.kind == "text" and column.instead
    )  # words are said below in a terminal, and stay on a page
    return "wide" if ((column.room and not is_repeated_below) or column.carried) and column.kind != "bar" else ""


def _render_row(row: tuple[TableCell, ...], table: ReportTable, cells: list[list[int]], links: LinkResolver) -> Markup:
    from markupsafe import Markup

    if len(row) == 1 < len(table.columns):
        head = Markup('</tbody>\n<tbody>\n<tr class="layer"><th scope="rowgroup" colspan="{}">{}</th></tr>\n')
        return head.format(len(cells), _render_cell(row[0], links))
    carried = (
        Markup('<span class="counts narrow">{}</span>').format(to_plain_text(row[n]))
        for n, column in enumerate(table.columns)
        if column.carried
    )
    first_cell = Markup(" ").join(
        _render_cell_part(row[n], table.columns[n], links) for n in cells[0] if row[n] != "" or not n
    )
    first = Markup('<tr><th scope="row" dir="auto">{}{}</th>').format(first_cell, _join_markup(carried))
    return (
        first + _join_markup(_render_data_cell(row, table, indices, links) for indices in cells[1:]) + Markup("</tr>\n")
    )


def _render_data_cell(
    row: tuple[TableCell, ...], table: ReportTable, indices: Sequence[int], links: LinkResolver
) -> Markup:
    from markupsafe import Markup

    column = table.columns[indices[0]]
    class_name = {"number": "n"}.get(column.kind, {"faint": "counts"}.get(column.tone, ""))
    has_bar = any(table.columns[n].kind == "bar" for n in indices)
    names = " ".join(filter(None, ("value" if has_bar else class_name, _get_width_class(column))))
    contents = [_render_cell_part(row[n], table.columns[n], links) for n in indices if row[n] != ""]
    head = ", ".join(make_safe(table.columns[n].head) for n in indices if table.columns[n].joins != "named")
    return Markup("<td{}{}>{}</td>").format(
        Markup(f' class="{names}"') if names else "",  # noqa: S704 - our own names
        Markup(' data-head="{}"').format(head) if head else "",  # said beside the cell where a row is a card
        Markup(" ").join(contents),
    )


def _render_cell_part(cell: TableCell, column: ReportColumn, links: LinkResolver) -> Markup:
    from markupsafe import Markup

    inner = _render_cell(cell, links)
    if column.joins == "named":
        return Markup('<span class="counts">{} {}</span>').format(column.head, inner)
    if column.joins == "below":
        names = "counts nowrap" if column.whole else "counts"
        return Markup('<span class="{}">{}</span>').format(names, inner)
    if column.tone == "strong":
        return Markup("<strong>{}</strong>").format(inner)
    if column.kind == "bar" or column.tone == "faint" or not column.whole:
        return inner
    return Markup('<span class="nowrap">{}</span>').format(inner)


def _render_cell(cell: TableCell, links: LinkResolver) -> Markup:
    if isinstance(cell, Bar):
        return render_bar(cell, links.link(*cell.to) if cell.to else "")  # type: ignore[arg-type]  # `to` is (kind, name)
    if isinstance(cell, LengthBars):
        return render_length_bars(cell, links.link(*cell.to) if cell.to else "")  # type: ignore[arg-type]  # `to` is (kind, name)
    return _render_wording(cell, links)


def _render_wording(wording: Wording, links: LinkResolver) -> Markup:
    """Words with their tones and links; a line break stays."""
    return _join_markup(_render_phrase(phrase, links) for phrase in to_phrases(wording))


def _render_phrase(phrase: Phrase, links: LinkResolver) -> Markup:
    from markupsafe import Markup

    lines = [phrase.text.strip()] if phrase.to else phrase.text.split("\n")
    text = Markup("<br>").join(map(make_breakable, lines))
    text = render_link(text, links.link(*phrase.to)) if phrase.to else text  # type: ignore[arg-type]  # `to` is (kind, name)
    name = CLASSES.get(phrase.tone, "")
    if name == "strong":
        return Markup("<strong>{}</strong>").format(text)
    return Markup('<span class="{}">{}</span>').format(name, text) if name else text


def _render_section(section: ReportSection, links: LinkResolver, level: int) -> Iterator[Markup]:
    from markupsafe import Markup

    if section.heading:
        depth = level if section.top else level + 1
        about = Markup(' <small class="soft">{}</small>').format(make_safe(section.about)) if section.about else ""
        yield Markup("<h{0}>{1}{2}</h{0}>\n").format(depth, _render_wording(section.heading, links), about)
    yield from (Markup("<p>{}</p>\n").format(_render_wording(wording, links)) for wording in section.lead)
    for warning in section.warnings:
        yield Markup('<p class="warning"><strong>Note:</strong> {}</p>\n').format(make_breakable(warning))
    if section.table is not None:
        yield render_table(section.table, links, to_plain_text(section.heading) or "Table")
    if figures := [_render_figure(chart) for chart in section.charts if chart.points]:
        yield Markup('<div class="grid">\n{}</div>\n').format(_join_markup(figures))
    yield from (_render_item(item, links) for item in section.items)
    yield from (Markup("<p>{}</p>\n").format(_render_wording(wording, links)) for wording in section.after)
    yield from (Markup('<p class="small soft">{}</p>\n').format(make_breakable(note)) for note in section.notes)
    if section.commands:
        yield Markup("<pre>{}</pre>\n").format(Markup("\n").join(map(render_command, section.commands)))


def _render_figure(chart: ReportChart) -> Markup:
    from markupsafe import Markup

    from ragauge.studies.charts import draw_study_chart

    frame = Markup('<figure><figcaption>{}</figcaption>\n<div class="chart">{}</div>\n</figure>\n')
    return frame.format(make_safe(chart.title), Markup(draw_study_chart(chart)))  # noqa: S704 - our own drawing


def _render_item(item: ReportItem, links: LinkResolver) -> Markup:
    from markupsafe import Markup

    rows = (
        Markup("<dt>{}</dt><dd>{}</dd>").format(_break_at_dots(label), _render_wording(wording, links))
        for label, wording in item.rows
        if to_plain_text(wording)
    )
    frame = Markup(
        '<details class="finding" open><summary><h3>{} {}</h3></summary><dl class="rows">{}</dl>{}</details>\n'
    )
    about = Markup('<p class="foot">{}</p>').format(opened(make_safe(item.about))) if item.about else ""
    return frame.format(item.sign, _render_wording(item.heading, links), _join_markup(rows), about)
