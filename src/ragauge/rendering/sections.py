"""What every output is made of: sections, which say what is shown and leave how to the writers of formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from ragauge.scores.results.chart import ReportChart

Tone = Literal["", "plain", "strong", "faint", "good", "bad", "unsure", "title", "link"]
ColumnKind = Literal["text", "number", "bar"]
OutputFormat = Literal["terminal", "markdown", "html"]


class LinkResolver(Protocol):
    """Where things are shown: a #fragment in a file that stands alone, a URL where pages are served."""

    def link(self, kind: str, *names: object) -> str:
        """Leads to a thing, named by its kind (def, ex, cause, seg, run, …) and its names; "" where it is not shown."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words of one tone: what they mean to the reader, which a format shows as a colour, a weight or not at all.

    Attributes:
        text: the words.
        tone: what they mean.
        to: kind and names of the thing that they lead to where a format has links; () for none.
    """

    text: str
    tone: Tone = ""
    to: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """A middle with its interval and the point it is held against, as shares of the line's width.

    Attributes:
        low: where the interval begins.
        middle: the estimate.
        high: where it ends.
        point: what it is held against; None for nothing.
        hue: better, worse or "".
        wide: the interval including judge error, drawn lighter behind; None where there is none.
        to: what it leads to, as of a `Phrase`.
    """

    low: float
    middle: float
    high: float
    point: float | None = None
    hue: str = ""
    wide: tuple[float, float] | None = None
    to: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class LengthBars:
    """Filled bars one above the other, as shares of the line's width: of one count, or of before and now."""

    shares: tuple[float, ...]
    to: tuple[object, ...] = ()


Wording = str | Phrase | tuple[str | Phrase, ...]  # text as it is: writers escape what their format needs
TableCell = Wording | Bar | LengthBars


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column of a table.

    Attributes:
        head: its name.
        kind: numbers stand to the right; a bar is left out where a format cannot draw.
        whole: a cell is never broken over lines.
        fold: a long word is broken anywhere, so that all of it is seen.
        room: 0 for a column that is always shown; else it is left out where a terminal is too narrow for the table,
            the one with the largest number first.
        instead: paragraphs below the table where it is left out.
        joins: its cells stand in those of the column before it in Markdown and on a
            page: "after" it, or "named" with the head before them; "below" it, in a terminal too.
        carried: on a narrow page, which leaves it out, its cells stand under the name of their row.
        ends: what stands at both ends of the line of a bar.
        tone: of all its cells.
        foot: what stands below them.
        to: kind and names of the thing that its name leads to where a format has links; () for none.
    """

    head: str
    kind: ColumnKind = "text"
    whole: bool = False
    fold: bool = False
    room: int = 0
    instead: tuple[Wording, ...] = ()
    joins: Literal["", "after", "named", "below"] = ""
    carried: bool = False
    ends: tuple[str, str] = ("", "")
    tone: Tone = ""
    foot: str = ""
    to: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of as many cells as there are columns; a row of one cell heads those below it.

    In a terminal the first phrase of such a row stands alone.

    Attributes:
        columns: what each cell of a row is.
        rows: the cells.
        tight: one blank between columns, not two.
        bare: the columns need no names where they can be left out.
    """

    columns: tuple[ReportColumn, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    tight: bool = False
    bare: bool = False


@dataclass(frozen=True, slots=True)
class ReportItem:
    """One of a list, such as a finding.

    Attributes:
        heading: what it is.
        rows: labels, each with its words; those without words are left out.
        sign: before the heading: its number.
        about: what stands beside the heading.
    """

    heading: Wording
    rows: tuple[tuple[str, Wording], ...] = ()
    sign: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A part of an output; what is empty is left out. Its parts are shown in this order.

    Attributes:
        heading: its name.
        about: what stands beside the heading.
        lead: sentences before the table; blanks before one indent all its lines.
        table: the figures.
        after: paragraphs; a line break in one stays.
        notes: how to read it.
        commands: what to run next, never broken over lines.
        items: a list; it stands after the table.
        warnings: what the reader must know before believing a number; they stand before the table.
        top: it heads the sections after it, up to the next such.
        skip: formats that leave it out.
        charts: drawn on a page, after the table; their numbers stand in it.
    """

    heading: Wording = ""
    about: str = ""
    lead: tuple[Wording, ...] = ()
    table: ReportTable | None = None
    after: tuple[Wording, ...] = ()
    notes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    items: tuple[ReportItem, ...] = ()
    warnings: tuple[str, ...] = ()
    top: bool = False
    skip: tuple[OutputFormat, ...] = ()
    charts: tuple[ReportChart, ...] = ()


def build_columns(*headers: str, numbers: tuple[str, ...] = ()) -> tuple[ReportColumn, ...]:
    """Columns of words, then columns of numbers."""
    return (*map(ReportColumn, headers), *(ReportColumn(head, "number") for head in numbers))


def to_phrases(wording: Wording) -> tuple[Phrase, ...]:
    """Words as phrases, whichever way they are given."""
    items = wording if isinstance(wording, tuple) else (wording,)
    return tuple(Phrase(item) if isinstance(item, str) else item for item in items)


def to_plain_text(cell: TableCell) -> str:
    """Words without their tones; "" for what is drawn."""
    return "" if isinstance(cell, Bar | LengthBars) else "".join(phrase.text for phrase in to_phrases(cell))


def group_joined_columns(table: ReportTable) -> list[list[int]]:
    """The places of the columns that stand in one cell, for each cell of a row."""
    cells: list[list[int]] = []
    for index, column in enumerate(table.columns):
        if column.joins and cells:
            cells[-1].append(index)
        else:
            cells.append([index])
    return cells
