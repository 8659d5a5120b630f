"""What every output is made of: sections, which say what is shown and leave how to the writers of formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "plain", "strong", "faint", "good", "bad", "unsure", "title", "link"]
Kind = Literal["text", "number", "bar"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words of one tone: what they mean to the reader, which a format shows as a colour, a weight or not at all."""

    text: str
    tone: Tone = ""


Wording = str | Phrase | tuple[str | Phrase, ...]     # text as it is: writers escape what their format needs


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column of a table.

    Attributes:
        head: its name.
        kind: numbers stand to the right; a bar is drawn of characters, which a format without them leaves out.
        whole: a cell is never broken over lines.
        fold: a long word is broken anywhere, so that all of it is seen.
        wide: it is left out where a terminal is too narrow for it.
        tone: of all its cells.
        foot: what stands below them.
    """

    head: str
    kind: Kind = "text"
    whole: bool = False
    fold: bool = False
    wide: bool = False
    tone: Tone = ""
    foot: str = ""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Rows of as many cells as there are columns; `tight` leaves one blank between columns, not two."""

    columns: tuple[ReportColumn, ...]
    rows: tuple[tuple[Wording, ...], ...]
    tight: bool = False


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A part of an output; what is empty is left out.

    Attributes:
        heading: its name.
        about: what stands beside the heading.
        lead: sentences before the table; blanks before one indent all its lines.
        table: the figures.
        after: paragraphs after the table; a line break in one stays.
        notes: how to read it.
        commands: what to run next, never broken over lines.
    """

    heading: Wording = ""
    about: str = ""
    lead: tuple[Wording, ...] = ()
    table: ReportTable | None = None
    after: tuple[Wording, ...] = ()
    notes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def columns(*heads: str, numbers: tuple[str, ...] = ()) -> tuple[ReportColumn, ...]:
    """Columns of words, then columns of numbers."""
    return (*map(ReportColumn, heads), *(ReportColumn(head, "number") for head in numbers))
