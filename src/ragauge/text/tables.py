"""Tables in running text: their cells with row label, column header, scale, sign and unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ragauge.text.characters import normalize_characters
from ragauge.text.table_rows import Field, find_table_blocks, parse_number
from ragauge.text.word_files import read_patterns, read_words

SCALES: dict[str, int] = read_words(__file__, "tables")["scales"]
FORMS = read_patterns(__file__, "tables")
MAX_TEXT_CHARS = 40_000  # characters of a text that are looked at
MAX_ROWS = 200  # of one table
FULL_PERCENT = 100.0  # per cent: a column that has it gives shares throughout
MAX_SCALE_WORDS = 8  # words of a note on the scale
MAX_BESIDE_CHARS = 80  # characters of what stands beside a row's name


class TableCell(NamedTuple):
    """A number of a table."""

    row: int  # row, column: numbers from 0; rows of headers are not counted
    column: int
    value: float  # as written, negative in parentheses; a dash is 0
    percent: bool  # whether it is a percentage, by its sign, its column or its row
    start: int  # first character in the text
    end: int  # one past the last


class Table(NamedTuple):
    """A table, read."""

    labels: tuple[str, ...]  # of each row
    sections: tuple[str, ...]  # per row, the line without numbers that it stands under; "" where there is none
    headers: tuple[str, ...]  # of each column, all its lines joined, without scale; that of the labels is the first
    heads: tuple[str, ...]  # the same as they are written
    caption: str  # what stands over the table and in its corner
    cells: tuple[TableCell, ...]  # its numbers, by row and column
    scale: int | None  # the power of ten that its amounts are to be multiplied by; None where nothing says so
    unscaled: frozenset[int]  # rows that the scale is not for, such as amounts per share


@dataclass(slots=True)
class _Draft:
    """A table while its lines are read."""

    head: list[list[str]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    cells: list[TableCell] = field(default_factory=list)
    caption: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    money: set[int] = field(default_factory=set)
    section: str = ""
    started: bool = False


@lru_cache(maxsize=64)
def read_tables(text: str) -> tuple[Table, ...]:
    r"""The tables of a text, in order: cells parted by tabs, bars, wide gaps, commas or HTML tags.

    >>> (table,) = read_tables("(in thousands)\t2021\t2020\nNet loss\t(1,577)\t—")
    >>> table.scale, table.headers, [(cell.value, table.labels[cell.row]) for cell in table.cells]
    (3, ('', '2021', '2020'), [(-1577.0, 'Net loss'), (0.0, 'Net loss')])
    """
    text = text[:MAX_TEXT_CHARS]
    if "\n" not in text and "<t" not in text.lower():
        return ()
    made = (_build_table(rows[:MAX_ROWS], above) for rows, above in find_table_blocks(text))
    return tuple(table for table in made if table is not None)


def find_years(text: str) -> list[int]:
    """The years of a text in order, also of "FY19" and "2018/19".

    >>> find_years("from FY18 to 2019"), find_years("at 31 March 2018-20")
    ([2018, 2019], [2018, 2020])
    """
    same = normalize_characters(text)
    single, ranges = FORMS["year"].finditer(same), FORMS["range_year"].finditer(same)
    marked = [(match.start(), int(match[1]) if match[1] else 2000 + int(match[2])) for match in single]
    marked += [(match.start(2), int(match[0][:2]) * 100 + int(match[2])) for match in ranges]
    return [year for _, year in sorted(marked)]


def find_scale(text: str) -> int | None:
    """The power of ten that a caption names, or None.

    >>> find_scale("(In millions, except per share data)"), find_scale("All figures in USD ‘000"), find_scale("£m")
    (6, 3, 6)
    """
    if match := FORMS["scale_word"].search(text):
        return SCALES[next(filter(None, match.groups())).lower()]
    if FORMS["scale_zeros"].search(text):
        return 3
    if match := FORMS["scale_letter"].search(text):
        return SCALES[match[1].lower()]
    return None


def _build_table(rows: Sequence[Sequence[Field]], above: Sequence[str]) -> Table | None:
    width = max(map(len, rows))
    draft = _Draft()
    for fields in rows:
        _read_row(draft, [*fields], width)
    if not draft.cells:
        return None
    raw_headers = _build_headers(draft.head, width)
    headers = _build_headers([[*map(_remove_scale, row)] for row in draft.head], width)
    caption = " ".join([*above, *draft.caption])
    scales = map(find_scale, [headers[0], *draft.caption, *draft.notes, *above])
    scale = next((power for power in scales if power is not None), None)
    counted = [n for n, header in enumerate(headers) if n and FORMS["notes"].match(header)]
    shares = {n for n, header in enumerate(headers) if FORMS["percent"].search(header)} - draft.money
    rates = {n for n, label in enumerate(draft.labels) if FORMS["percent"].search(f"{label} {draft.sections[n]}")}
    shares |= {cell.column for cell in draft.cells if cell.percent and cell.value == FULL_PERCENT}
    money = {cell.row for cell in draft.cells if not cell.percent and abs(cell.value) > 1_000}
    cells = tuple(
        cell._replace(percent=cell.percent or cell.column in shares or cell.row in rates - money)
        for cell in draft.cells
        if cell.column not in counted
    )
    unscaled = frozenset(n for n, label in enumerate(draft.labels) if FORMS["per"].search(label))
    return Table(tuple(draft.labels), tuple(draft.sections), headers, raw_headers, caption, cells, scale, unscaled)


def _read_row(draft: _Draft, fields: list[Field], width: int) -> None:
    if not any(field.text for field in fields[1:]):
        draft.section = fields[0].text
        if not draft.started:
            draft.caption.append(draft.section)
        return
    values = [(field, parse_number(field.text)) for field in fields[1:]]
    amounts = [field for field, value in values if value and not _is_year(field.text)]
    opening = not draft.started and 2 * len(amounts) < sum(bool(field.text) for field in fields[1:])
    only_years = not fields[0].text and all(_is_year(field.text) for field in fields[1:] if field.text)
    if not amounts or opening or only_years:
        texts = [field.text for field in fields]
        if draft.started and any(map(find_years, texts)) and not amounts:
            draft.section = " ".join(text for text in texts if text)
        elif not draft.started:
            draft.notes += [text for text in texts if find_scale(text) is not None]
            draft.section = ""
            draft.head.append([*texts, *[""] * (width - len(texts))])
        return
    draft.started = True
    row = len(draft.labels)
    label = _build_label(fields[0], [field for field, value in values if value is None])
    draft.labels.append(label or "Total")
    draft.sections.append(draft.section)
    if not label:
        draft.section = ""
    for column, (value_field, value) in enumerate(values, 1):
        if value is not None:
            draft.cells.append(TableCell(row, column, value[0], value[1], value_field.start, value_field.end))
            if FORMS["currency"].search(value_field.text):
                draft.money.add(column)


def _build_label(first: Field, others: Sequence[Field]) -> str:
    """What names a row: its first field, and in parentheses those that stand beside it; a rank is none."""
    first_text = "" if parse_number(first.text) and not _is_year(first.text) else first.text
    names = [
        text for text in (first_text, *(other.text for other in others if FORMS["name"].search(other.text))) if text
    ]
    aside = " ".join(re.sub(r"[()]", " ", text) for text in names[1:])[:MAX_BESIDE_CHARS]
    return f"{names[0]} ({aside})" if aside.strip() else "".join(names[:1])


def _remove_scale(header: str) -> str:
    """A header without its scale: "(in millions, except percentages)" names no column."""
    if find_scale(header) is None or len(header.split()) > MAX_SCALE_WORDS:
        return header
    remaining = FORMS["scale_word"].sub(" ", FORMS["scale_zeros"].sub(" ", FORMS["scale_letter"].sub(" ", header)))
    words = [word for word in FORMS["letters"].findall(remaining) if not re.search(rf"{word}\b[^()]*\)", header)]
    return remaining if len(words) > ("(" not in header) or find_years(remaining) else " "


def _is_year(text: str) -> bool:
    return bool(re.fullmatch(r"\W{0,2}(?:FY|F)?\s?'?(?:19|20)?\d\d\W{0,2}(?:\(\w+\))?", text)) and bool(
        find_years(text)
    )


def _build_headers(head: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
    """The header of each column: a cell over several columns stands for those to its right as well."""
    columns: list[list[str]] = [[] for _ in range(width)]
    for row in head:
        filled = [n for n, text in enumerate(row) if text and n]
        is_right_aligned = (
            len(filled) > 1 and 1 not in filled and filled[-1] == width - 1 and all(find_years(row[n]) for n in filled)
        )
        for n in range(width):
            if n == 0 or row[n]:
                text = row[n]
            elif len(filled) == 1:
                text = row[filled[0]]
            else:
                nearest = range(n, width) if is_right_aligned else range(n, 0, -1)
                text = next((row[m] for m in nearest if row[m]), "")
            if text:
                columns[n].append(text)
    return tuple(" ".join(" ".join(lines).split()) for lines in columns)
