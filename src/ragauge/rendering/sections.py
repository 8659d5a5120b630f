"""What every output is made of: sections, which say what is shown and leave how to the writers of formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ragauge.core.messages import format_value
from ragauge.rendering.words import between, to_line

if TYPE_CHECKING:
    import polars as pl

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
    """Words of one tone: what they mean to the reader, which a format shows as a colour, a weight or not at all."""

    text: str  #: the words.
    tone: Tone = ""  #: what they mean.
    to: tuple[object, ...] = ()  #: kind and names of the thing that they lead to where a format has links; () for none.


@dataclass(frozen=True, slots=True)
class Bar:
    """A middle with its interval and the point it is held against, as shares of the line's width."""

    low: float  #: where the interval begins.
    middle: float  #: the estimate.
    high: float  #: where it ends.
    point: float | None = None  #: what it is held against; None for nothing.
    hue: str = ""  #: better, worse or "".
    #: the interval including judge error, drawn lighter behind; None where there is none.
    wide: tuple[float, float] | None = None
    to: tuple[object, ...] = ()  #: what it leads to, as of a `Phrase`.


@dataclass(frozen=True, slots=True)
class LengthBars:
    """Filled bars one above the other, as shares of the line's width: of one count, or of before and now."""

    shares: tuple[float, ...]
    to: tuple[object, ...] = ()


Wording = str | Phrase | tuple[str | Phrase, ...]  # text as it is: writers escape what their format needs
TableCell = Wording | Bar | LengthBars


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column of a table."""

    head: str  #: its name.
    kind: ColumnKind = "text"  #: numbers stand to the right; a bar is left out where a format cannot draw.
    whole: bool = False  #: a cell is never broken over lines.
    fold: bool = False  #: a long word is broken anywhere, so that all of it is seen.
    #: 0 for a column that is always shown; else it is left out where a terminal is too narrow for the table, the one
    #: with the largest number first.
    room: int = 0
    instead: tuple[Wording, ...] = ()  #: paragraphs below the table where it is left out.
    #: its cells stand in those of the column before it in Markdown and on a page: "after" it, or "named" with the head
    #: before them; "below" it, in a terminal too.
    joins: Literal["", "after", "named", "below"] = ""
    carried: bool = False  #: on a narrow page, which leaves it out, its cells stand under the name of their row.
    ends: tuple[str, str] = ("", "")  #: what stands at both ends of the line of a bar.
    tone: Tone = ""  #: of all its cells.
    foot: str = ""  #: what stands below them.
    #: kind and names of the thing that its name leads to where a format has links; () for none.
    to: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of as many cells as there are columns; a row of one cell heads those below it.

    In a terminal the first phrase of such a row stands alone.
    """

    columns: tuple[ReportColumn, ...]  #: what each cell of a row is.
    rows: tuple[tuple[TableCell, ...], ...]  #: the cells.
    tight: bool = False  #: one blank between columns, not two.
    bare: bool = False  #: the columns need no names where they can be left out.


@dataclass(frozen=True, slots=True)
class ReportItem:
    """One of a list, such as a finding."""

    heading: Wording  #: what it is.
    rows: tuple[tuple[str, Wording], ...] = ()  #: labels, each with its words; those without words are left out.
    sign: str = ""  #: before the heading: its number.
    about: str = ""  #: what stands beside the heading.


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A part of an output; what is empty is left out. Its parts are shown in this order."""

    heading: Wording = ""  #: its name.
    about: str = ""  #: what stands beside the heading.
    lead: tuple[Wording, ...] = ()  #: sentences before the table; blanks before one indent all its lines.
    table: ReportTable | None = None  #: the figures.
    after: tuple[Wording, ...] = ()  #: paragraphs; a line break in one stays.
    notes: tuple[str, ...] = ()  #: how to read it.
    commands: tuple[str, ...] = ()  #: what to run next, never broken over lines.
    items: tuple[ReportItem, ...] = ()  #: a list; it stands after the table.
    warnings: tuple[str, ...] = ()  #: what the reader must know before believing a number; they stand before the table.
    top: bool = False  #: it heads the sections after it, up to the next such.
    skip: tuple[OutputFormat, ...] = ()  #: formats that leave it out.
    charts: tuple[ReportChart, ...] = ()  #: drawn on a page, after the table; their numbers stand in it.


CELL_FORMS: Mapping[str, Callable[[Any], TableCell]] = {  # how a column writes its values
    "text": lambda value: value,  # phrases and bars; text itself is written on one line
    "interval": between,
    "count": "{:,}".format,
    "number": format_value,
    "share": "{:.0%}".format,
}
FRAME_TYPES = {"text": "String", "count": "Int64"}  # of polars, by form; of other forms Float64


class Col:
    """A column that is declared: `build_table` shows it of rows, and `build_frame` gives its values.

    Args:
        head: its name.
        of: what it holds of a row: an attribute, a key or a place in a tuple (`a.b`: that of what stands in `a`), or a
            function of the row; "" = the attribute of its name. A phrase or a bar is a cell as it is.
        form: a name in `CELL_FORMS`, or a format such as {:.4f}, of both of which None is a dash; or a function from
            the value to a cell. All but text, interval and functions stand to the right.
        cut: characters after which text ends; 0 = all of it.
        link: what the text of a row leads to, as of a `Phrase`; None = nothing.
        key: its name in a frame; "" = the last part of `of`, or `head`.
        layout: further fields of `ReportColumn`.
    """

    def __init__(
        self,
        head: str,
        of: str | Callable[[Any], Any] = "",
        form: str | Callable[[Any], TableCell] = "text",
        *,
        cut: int = 0,
        link: Callable[[Any], tuple[object, ...]] | None = None,
        key: str = "",
        **layout: Any,
    ) -> None:
        self.of, self.form, self.cut, self.link = of or head, form, cut, link
        self.key = key or (self.of.rpartition(".")[2] if isinstance(self.of, str) else head)
        kind: ColumnKind = "text" if form in ("text", "interval") or callable(form) else "number"
        self.column = ReportColumn(head, **{"kind": kind, **layout})

    def read_value(self, row: Any) -> Any:
        """The value of a row; None where what it stands in is None."""
        if callable(self.of):
            return self.of(row)
        for name in self.of.split("."):
            if isinstance(row, Mapping):
                row = row.get(name)
            elif row is not None:
                row = row[int(name)] if name.isdigit() else getattr(row, name)
        return row

    def write_cell(self, row: Any) -> TableCell:
        """The cell of a row."""
        value = self.read_value(row)
        if callable(self.form):
            return self.form(value)
        if value is None and self.form != "interval":
            return "–"
        if self.link is not None:
            return Phrase(to_line(value, self.cut), to=self.link(row))
        if self.cut or isinstance(value, str):
            return to_line(value, self.cut)
        return CELL_FORMS.get(self.form, self.form.format)(value)


def build_table(rows: Iterable[Any], *columns: Col | None, tight: bool = False) -> ReportTable | None:
    """A table of rows; None where there is none.

    Args:
        rows: dataclasses, mappings or tuples.
        columns: what is shown of each; None stands for no column.
        tight: see `ReportTable`.

    >>> build_table([("a", 1_200), ("b", None), ("c", "")], Col("name", "0"), Col("n", "1", "count")).rows
    (('a', '1,200'), ('b', '–'), ('c', ''))
    """
    shown = [column for column in columns if column is not None]
    cells = tuple(tuple(column.write_cell(row) for column in shown) for row in rows)
    return ReportTable(tuple(column.column for column in shown), cells, tight) if cells else None


def build_frame(rows: Iterable[Any], *columns: Col) -> pl.DataFrame:
    """The values of the same columns as a frame, which gives CSV too (`plain_csv.format_csv`)."""
    import polars as pl

    kinds = {column.key: getattr(pl, FRAME_TYPES.get(str(column.form), "Float64")) for column in columns}
    return pl.DataFrame([{column.key: column.read_value(row) for column in columns} for row in rows], schema=kinds)


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
