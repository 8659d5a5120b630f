"""Sections as parts of a page: tables, lists, notes and commands; what links lead to is for a resolver to say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ragauge.rendering.sections import (
    Bar,
    Lengths,
    LinkResolver,
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
from ragauge.rendering.words import opened, safe

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragauge.scores.results.chart import ReportChart

OPTION = re.compile(r"(?<![^\s(`])(--?[a-z][a-z0-9-]*)")  # of a command in a sentence
HYPHENED = re.compile(r"(\S*-\S*)")  # a word that would break behind its hyphens
CLASSES = {"strong": "strong", "faint": "soft", "good": "better", "bad": "worse", "unsure": "warn"}


def sections_html(sections: Iterable[ReportSection], links: LinkResolver, level: int = 2) -> Markup:
    """Sections one below the other, under headings of a level; what comes from data is escaped."""
    return _joined(
        part for section in sections if "html" not in section.skip for part in _section(section, links, level)
    )


def table_html(table: ReportTable, links: LinkResolver, label: str, style: str = "compact") -> Markup:
    """A table that scrolls in a frame of its own.

    Args:
        table: what it shows.
        links: where its phrases and bars lead.
        label: what it is called aloud.
        style: its class.
    """
    from markupsafe import Markup

    cells = merged(table)
    named = any(column.head for column in table.columns)
    heads = Markup("<thead><tr>{}</tr></thead>\n").format(_joined(_head(table, places, links) for places in cells))
    frame = Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">\n<table class="{}">')
    return _joined(
        (
            frame.format(safe(label), style),
            heads if named else Markup(""),
            Markup("<tbody>\n"),
            *(_row(row, table, cells, links) for row in table.rows),
            Markup("</tbody>\n</table>\n</div>\n"),
        )
    )


def breakable(name: str) -> Markup:
    """A name that may break after an underscore and before a parameter; options of a command stay whole."""
    from markupsafe import Markup, escape

    def parts(text: str) -> Markup:
        return Markup("<wbr>").join(escape(safe(part)) for part in re.split(r"(?<=_)|(?=:[a-z]|@\S)", text))

    return _whole(OPTION, name, parts) if "-" in name else parts(name)


def _dotted(label: str) -> Markup:
    """A label that may break behind its dots, as names of attributes have them."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(safe(part)) for part in re.split(r"(?<=[._])(?=\S)", label))


def command_html(text: str) -> Markup:
    """A command that breaks between its words alone, unless one is wider than its place."""
    from markupsafe import escape

    return _whole(HYPHENED, safe(text), escape)


def _whole(words: re.Pattern[str], text: str, others: Callable[[str], Markup]) -> Markup:
    """A text of which some words do not break behind their hyphens."""
    from markupsafe import Markup

    found = words.split(text)
    return _joined(
        Markup('<span class="word">{}</span>').format(safe(part)) if n % 2 else others(part)
        for n, part in enumerate(found)
    )


def linked(text: str | int | Markup, link: str) -> Markup:
    """Text that leads somewhere, or text."""
    from markupsafe import Markup, escape

    shown = text if isinstance(text, Markup) else escape(safe(str(text)))
    return Markup('<a href="{}">{}</a>').format(link, shown) if link else shown


def percent(value: float) -> str:
    """A share as a length inside 0 to 100 %."""
    return f"{100 * min(1.0, max(0.0, value)):.1f}%"


def bar_html(bar: Bar, link: str = "") -> Markup:
    """An interval on a line, with the point it is held against; a link to examples."""
    from markupsafe import Markup

    def line(name: str, low: float, high: float, top: str = "6", bottom: str = "6") -> str:
        ends = f'x1="{percent(low)}" x2="{percent(high)}" y1="{top}" y2="{bottom}"'
        return f'<line class="{name}" {ends}/>'

    parts = [line("rail", 0, 1)]
    if bar.point is not None:
        parts.append(line("point", bar.point, bar.point, "0", "12"))
    if bar.wide:
        parts.append(line("judged", *bar.wide))
    parts.append(f'{line("reach", bar.low, bar.high)}<circle cx="{percent(bar.middle)}" cy="6" r="5"/>')
    rail, drawn = parts[0], "".join(parts[1:])
    return Markup('<svg class="track{}" aria-hidden="true">{}{}</svg>').format(  # our own markup
        f" {bar.hue}" if bar.hue else "",
        Markup(rail),  # noqa: S704 - our own markup
        _aside(drawn, link, "examples"),
    )


def lengths_html(lengths: Lengths, link: str = "") -> Markup:
    """Bars of before and now, one above the other."""
    from markupsafe import Markup

    names = ("then", "now")[-len(lengths.shares) :]
    drawn = "".join(
        f'<rect class="{name}" y="{1 + 10 * n}" width="{percent(share)}" height="8"/>'
        for n, (name, share) in enumerate(zip(names, lengths.shares, strict=True))
    )
    return Markup('<svg class="pair" aria-hidden="true">{}</svg>').format(_aside(drawn, link, "examples of now"))


def _aside(drawn: str, link: str, title: str) -> Markup:
    """What is drawn, as a link for those who see it; the words beside it are one for all."""
    from markupsafe import Markup

    inner = Markup(drawn)  # noqa: S704 - numbers of our own
    return Markup('<a href="{}" tabindex="-1"><title>{}</title>{}</a>').format(link, title, inner) if link else inner


def _joined(parts: Iterable[Markup]) -> Markup:
    from markupsafe import Markup

    return Markup("").join(parts)


def _head(table: ReportTable, places: Sequence[int], links: LinkResolver) -> Markup:
    from markupsafe import Markup

    first = table.columns[places[0]]
    heads = Markup(", ").join(
        linked(breakable(column.head), links.link(*column.to) if column.to else "")  # type: ignore[arg-type]  # `to` is (kind, name)
        for column in (table.columns[n] for n in places)
        if column.head and column.joins != "named"
    )
    beside = [n for n in places if table.columns[n].joins != "below"]
    names = " ".join(filter(None, ("n" if first.kind == "number" and len(beside) == 1 else "", _narrow(first))))
    return Markup('<th scope="col"{}>{}</th>').format(
        Markup(f' class="{names}"') if names else "",  # noqa: S704 - our own markup
        heads,
    )


def _narrow(column: ReportColumn) -> str:
    told_below = column.kind == "text" and column.instead  # words are said below in a terminal, and stay on a page
    return "wide" if ((column.room and not told_below) or column.carried) and column.kind != "bar" else ""


def _row(row: tuple[TableCell, ...], table: ReportTable, cells: list[list[int]], links: LinkResolver) -> Markup:
    from markupsafe import Markup

    if len(row) == 1 < len(table.columns):
        head = Markup('</tbody>\n<tbody>\n<tr class="layer"><th scope="rowgroup" colspan="{}">{}</th></tr>\n')
        return head.format(len(cells), _content(row[0], links))
    carried = (
        Markup('<span class="counts narrow">{}</span>').format(plain(row[n]))
        for n, column in enumerate(table.columns)
        if column.carried
    )
    parts = Markup(" ").join(_part(row[n], table.columns[n], links) for n in cells[0] if row[n] != "" or not n)
    first = Markup('<tr><th scope="row" dir="auto">{}{}</th>').format(parts, _joined(carried))
    return first + _joined(_data(row, table, places, links) for places in cells[1:]) + Markup("</tr>\n")


def _data(row: tuple[TableCell, ...], table: ReportTable, places: Sequence[int], links: LinkResolver) -> Markup:
    from markupsafe import Markup

    column = table.columns[places[0]]
    side = {"number": "n"}.get(column.kind, {"faint": "counts"}.get(column.tone, ""))
    drawn = any(table.columns[n].kind == "bar" for n in places)
    names = " ".join(filter(None, ("value" if drawn else side, _narrow(column))))
    parts = [_part(row[n], table.columns[n], links) for n in places if row[n] != ""]
    head = ", ".join(safe(table.columns[n].head) for n in places if table.columns[n].joins != "named")
    return Markup("<td{}{}>{}</td>").format(
        Markup(f' class="{names}"') if names else "",  # noqa: S704 - our own names
        Markup(' data-head="{}"').format(head) if head else "",  # said beside the cell where a row is a card
        Markup(" ").join(parts),
    )


def _part(cell: TableCell, column: ReportColumn, links: LinkResolver) -> Markup:
    from markupsafe import Markup

    inner = _content(cell, links)
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


def _content(cell: TableCell, links: LinkResolver) -> Markup:
    if isinstance(cell, Bar):
        return bar_html(cell, links.link(*cell.to) if cell.to else "")  # type: ignore[arg-type]  # `to` is (kind, name)
    if isinstance(cell, Lengths):
        return lengths_html(cell, links.link(*cell.to) if cell.to else "")  # type: ignore[arg-type]  # `to` is (kind, name)
    return _words(cell, links)


def _words(wording: Wording, links: LinkResolver) -> Markup:
    """Words with their tones and links; a line break stays."""
    return _joined(_phrase(phrase, links) for phrase in phrases(wording))


def _phrase(phrase: Phrase, links: LinkResolver) -> Markup:
    from markupsafe import Markup

    lines = [phrase.text.strip()] if phrase.to else phrase.text.split("\n")
    text = Markup("<br>").join(map(breakable, lines))
    text = linked(text, links.link(*phrase.to)) if phrase.to else text  # type: ignore[arg-type]  # `to` is (kind, name)
    name = CLASSES.get(phrase.tone, "")
    if name == "strong":
        return Markup("<strong>{}</strong>").format(text)
    return Markup('<span class="{}">{}</span>').format(name, text) if name else text


def _section(section: ReportSection, links: LinkResolver, level: int) -> Iterator[Markup]:
    from markupsafe import Markup

    if section.heading:
        depth = level if section.top else level + 1
        about = Markup(' <small class="soft">{}</small>').format(safe(section.about)) if section.about else ""
        yield Markup("<h{0}>{1}{2}</h{0}>\n").format(depth, _words(section.heading, links), about)
    yield from (Markup("<p>{}</p>\n").format(_words(wording, links)) for wording in section.lead)
    for warning in section.warnings:
        yield Markup('<p class="warning"><strong>Note:</strong> {}</p>\n').format(breakable(warning))
    if section.table is not None:
        yield table_html(section.table, links, plain(section.heading) or "Table")
    if drawn := [_figure(chart) for chart in section.charts if chart.points]:
        yield Markup('<div class="grid">\n{}</div>\n').format(_joined(drawn))
    yield from (_item(item, links) for item in section.items)
    yield from (Markup("<p>{}</p>\n").format(_words(wording, links)) for wording in section.after)
    yield from (Markup('<p class="small soft">{}</p>\n').format(breakable(note)) for note in section.notes)
    if section.commands:
        yield Markup("<pre>{}</pre>\n").format(Markup("\n").join(map(command_html, section.commands)))


def _figure(chart: ReportChart) -> Markup:
    from markupsafe import Markup

    from ragauge.studies.charts import study_chart

    frame = Markup('<figure><figcaption>{}</figcaption>\n<div class="chart">{}</div>\n</figure>\n')
    return frame.format(safe(chart.title), Markup(study_chart(chart)))  # noqa: S704 - our own drawing


def _item(item: ReportItem, links: LinkResolver) -> Markup:
    from markupsafe import Markup

    rows = (
        Markup("<dt>{}</dt><dd>{}</dd>").format(_dotted(label), _words(wording, links))
        for label, wording in item.rows
        if plain(wording)
    )
    frame = Markup(
        '<details class="finding" open><summary><h3>{} {}</h3></summary><dl class="rows">{}</dl>{}</details>\n'
    )
    about = Markup('<p class="foot">{}</p>').format(opened(safe(item.about))) if item.about else ""
    return frame.format(item.sign, _words(item.heading, links), _joined(rows), about)
