"""The lines of tables in running text, each cut into fields, the number that a field is, and how a text is laid out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise, takewhile
from typing import Literal, NamedTuple, get_args

from ragauge.text import numerals
from ragauge.text.characters import normalize_characters
from ragauge.text.word_files import read_patterns

MAX_LINES = 1_000  # of a text that are looked at
MAX_COLUMNS = 24
MAX_FIELD_CHARS = 300  # characters: a longer one is prose
MAX_SECTION_CHARS = 100  # of a line alone within a table
MIN_ROWS = 2  # lines that make a table
MIN_FIELDS = 3  # of a line parted by commas
MAX_LINES_ABOVE = 2  # lines above a table that may be its caption
MAX_CHARS = 20_000  # of a text that are looked at
MIN_CELL_LINES = 6  # short lines that make a table of one cell a line
MAX_CELL_CHARS = 60
MIN_CELL_SHARE = 0.5  # of the lines that are cells
MIN_AMOUNT_SHARE = 0.25  # of these cells that are amounts: a list or a poem has short lines too
MIN_TABLE_SHARE = 0.5  # of the characters that stand in rows
FORMS = read_patterns(__file__, "table_rows")
Layout = Literal["prose", "table", "cells"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


class Field(NamedTuple):
    """Characters [start, end) of a text, and what they say without white space around."""

    text: str
    start: int
    end: int


Block = tuple[list[list[Field]], list[str]]  # the rows of a table, and the lines above it


def find_table_blocks(text: str) -> Iterator[Block]:
    r"""The runs of rows that look like tables, with what stands above each.

    >>> [[[field.text for field in row] for row in rows] for rows, _ in find_table_blocks("Fees  12  10\nRent  7  6")]
    [[['Fees', '12', '10'], ['Rent', '7', '6']]]
    """
    runs = (
        _find_html_rows(text)
        if FORMS["cell_tag"].search(text)
        else chain(_find_lined_rows(text), _find_stacked_rows(text))
    )
    return ((rows, above) for rows, above in runs if len(rows) >= MIN_ROWS)


@lru_cache(maxsize=512)
def parse_number(text: str) -> tuple[float, bool] | None:
    """The value of a cell that is one number, and whether it has a per cent sign; None of anything else.

    >>> (parse_number("$ (1,577)"), parse_number("(149)%"), parse_number("—"), parse_number("Note 3"),
    ...     parse_number("2.5 (a)"))
    ((-1577.0, False), (-149.0, True), (0.0, False), None, (2.5, False))
    """
    if not text or len(text) > 60 or text.endswith(","):
        return None
    if FORMS["nil"].fullmatch(text):
        return 0.0, "%" in text
    bare = FORMS["around"].sub(" ", text) if not text[0].isdigit() or "(" in text[1:] or "*" in text else text
    same = FORMS["counted"].sub("", normalize_characters(bare))
    if FORMS["letters"].search(same) or FORMS["zeros"].fullmatch(same) or not any(map(str.isdigit, same)):
        return None
    marks = list(numerals.find_numbers(same.replace("(", " ").replace(")", " ").replace("-", " ")))
    if len(marks) != 1 or marks[0].kind not in ("number", "percent", "date"):
        return None
    try:
        value = float(marks[0].normal.removesuffix("%"))
    except ValueError:
        return None
    return -value if FORMS["negative"].match(text) else value, "%" in text


def _find_lined_rows(text: str) -> Iterator[Block]:
    """Runs of lines that have several fields, and the lines above each; a line alone within a run is a section."""
    rows: list[list[Field]] = []
    above: list[str] = []
    waiting: list[list[Field]] = []
    split = None
    for line in islice(FORMS["line"].finditer(text), MAX_LINES):
        written = line[0]
        if not written.strip() or (FORMS["rule"].fullmatch(written) and "-" in written and "—" not in written):
            continue
        kind, fields = _split_fields(written, line.start())
        if len(fields) > 1 and (split is None or kind == split or len(rows) < MIN_ROWS):
            rows += waiting
            rows.append(fields)
            waiting, split = [], kind
            continue
        short = len(written) <= MAX_SECTION_CHARS and not written.rstrip().endswith(".")
        if rows and short and len(waiting) < MAX_LINES_ABOVE:
            waiting.append(fields[:1])
            continue
        if rows:
            yield rows, above
            rows, waiting, split, above = [], [], None, []
        above = [*above, written[:MAX_FIELD_CHARS]][-MAX_LINES_ABOVE:]
    if rows:
        yield rows, above


def _find_stacked_rows(text: str) -> Iterator[Block]:
    """Runs of rows with one cell a line: a label and as many numbers each, under as many heads."""
    lines = islice(FORMS["line"].finditer(text), MAX_LINES)
    cells = [_split_by_mark(line[0], line.start(), "\n")[0] for line in lines if line[0].strip()]
    counted = [parse_number(cell.text) is not None for cell in cells]
    start = last_end = 0
    while start + 1 < len(cells):
        width = next((n for n in range(1, len(cells) - start) if not counted[start + n]), len(cells) - start)
        end = start
        while 1 < width <= MAX_COLUMNS and counted[end : end + width] == [False, *[True] * (width - 1)]:
            end += width
        if end - start >= MIN_ROWS * width:
            head = [cell for cell in cells[max(last_end, start - width) : start] if len(cell.text) <= MAX_SECTION_CHARS]
            rows = [cells[n : n + width] for n in range(start, end, width)]
            yield [[Field("", 0, 0)] * (width - len(head)) + head, *rows] if len(head) > width - 2 else rows, []
            last_end = end
        start = max(end, start + 1)


def _split_fields(line: str, offset: int) -> tuple[str, list[Field]]:
    if "\t" in line:
        return "tab", _split_by_mark(line, offset, "\t")
    if line.count("|") > 1 or " | " in line:
        fields = _split_by_mark(line, offset, "|")
        if line.lstrip().startswith("|"):
            fields = fields[1:]
        return "bar", fields[:-1] if line.rstrip().endswith("|") else fields
    if FORMS["gap"].search(line.strip()):
        return "gap", _split_by_gaps(line, offset)
    bare = FORMS["quoted"].sub("", line)
    if len(FORMS["comma"].findall(bare)) >= MIN_FIELDS - 1 and not FORMS["prose"].search(bare):
        return "comma", _split_quoted(line, offset)
    return _split_trailing(line, offset)


def _split_by_mark(line: str, offset: int, mark: str) -> list[Field]:
    fields = []
    for piece in line.split(mark)[:MAX_COLUMNS]:
        lead = len(piece) - len(piece.lstrip())
        stripped = piece.strip()
        fields.append(Field(stripped, offset + lead, offset + lead + len(stripped)))
        offset += len(piece) + 1
    return fields


def _split_by_gaps(line: str, offset: int) -> list[Field]:
    """Fields parted by two spaces or more; a currency sign belongs to the number behind it."""
    fields: list[Field] = []
    pos = 0
    for gap in [*FORMS["gap"].finditer(line), None]:
        end = gap.start() if gap else len(line)
        piece = line[pos:end].strip()
        if piece and fields and re.fullmatch(r"[$€£¥₹(]+", fields[-1].text):
            last = fields.pop()
            fields.append(Field(last.text + piece, last.start, offset + end))
        elif piece and fields and re.fullmatch(r"[)%]+", piece):
            fields[-1] = fields[-1]._replace(text=fields[-1].text + piece, end=offset + end)
        elif piece or (pos == 0 and gap):
            fields.append(Field(piece, offset + pos, offset + end))
        pos = gap.end() if gap else end
    return fields[:MAX_COLUMNS]


def _split_quoted(line: str, offset: int) -> list[Field]:
    fields = []
    start = 0
    inside = False
    for pos, char in enumerate(line + ","):
        if char == '"':
            inside = not inside
        elif char == "," and (not inside or pos == len(line)):
            fields.append(Field(line[start:pos].strip(' "'), offset + start, offset + pos))
            start = pos + 1
    return fields[:MAX_COLUMNS]


def _split_trailing(line: str, offset: int) -> tuple[str, list[Field]]:
    """A label and the numbers that the line ends with: "Net sales $ 1,577 1,420"."""
    words = [
        Field(word[0], offset + word.start(), offset + word.end())
        for word in re.finditer(r"\S+", line[:MAX_FIELD_CHARS])
    ]
    numbers = [*takewhile(lambda word: parse_number(word.text) or word.text in ("$", "€", "£"), reversed(words))][::-1]
    amounts = [word for word in numbers if parse_number(word.text)]
    if len(amounts) < MIN_ROWS or len(line) > MAX_FIELD_CHARS:
        return "", [Field(line.strip(), offset, offset + len(line))]
    label = line[: numbers[0].start - offset].strip()
    return "gap", [Field(label, offset, offset + len(label)), *amounts]


def _find_html_rows(text: str) -> Iterator[Block]:
    """The rows of HTML tables; those of several tables on end are one where no <table> stands between."""
    lower = text.lower()
    starts = [table_tag.start() for table_tag in re.finditer(r"<table\b", lower)] or [0]
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        row_bounds = [*(match.end() for match in FORMS["row_tag"].finditer(text, start, stop)), stop]
        rows = [_read_tagged_row(text, first, last) for first, last in pairwise(row_bounds)]
        above = [FORMS["tag"].sub(" ", text[max(0, start - MAX_FIELD_CHARS) : start]).strip()]
        yield [row for row in rows if row], above


def _read_tagged_row(text: str, start: int, end: int) -> list[Field]:
    fields = []
    tags = list(FORMS["cell_tag"].finditer(text, start, end))
    stops = [after.start() for after in tags[1:]] + [end] * bool(tags)
    for tag, stop in zip(tags[:MAX_COLUMNS], stops[:MAX_COLUMNS], strict=True):
        written = FORMS["tag"].sub("", text[tag.end() : stop]).replace("&nbsp;", " ").replace("&amp;", "&").strip()
        fields.append(Field(written[:MAX_FIELD_CHARS], tag.end(), stop))
        span = FORMS["span"].search(tag[1])
        fields += [Field("", stop, stop)] * (min(int(span[1]), MAX_COLUMNS) - 1 if span else 0)
    return fields[:MAX_COLUMNS]


@lru_cache(maxsize=512)
def detect_layout(text: str) -> Layout:
    r"""The layout that most of a text has.

    *table*: rows whose cells are parted by bars, tabs, wide gaps, commas or HTML tags. *cells*: a table that lost its
    rows, one cell a line, as PDF readers give it. *prose*: all else, an empty text too.

    >>> detect_layout("Fees were raised in May."), detect_layout("Year | Fees\n2021 | 12\n2022 | 14")
    ('prose', 'table')
    >>> detect_layout("Net sales\n$\n32,136\n$\n31,657\nCost of sales\n17,000\n16,605")
    'cells'
    """
    text = text[:MAX_CHARS]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    cells = [line for line in lines if len(line) <= MAX_CELL_CHARS and not FORMS["sentence_end"].search(line)]
    amounts = sum(FORMS["amount"].match(line) is not None for line in cells)
    if len(cells) >= max(MIN_CELL_LINES, MIN_CELL_SHARE * len(lines)) and amounts >= MIN_AMOUNT_SHARE * len(cells):
        return "cells"
    spans = [(rows[0][0].start, rows[-1][-1].end) for rows, _ in find_table_blocks(text) if rows[0] and rows[-1]]
    if sum(end - start for start, end in spans) >= MIN_TABLE_SHARE * len(text.strip()) > 0:
        return "table"
    return "prose"


def detect_common_layout(texts: Sequence[str]) -> Layout:
    """The layout of the most characters of several texts; prose where there is none."""
    sizes: Counter[Layout] = Counter()
    for text in texts:
        sizes[detect_layout(text)] += len(text)
    return max(LAYOUTS, key=lambda layout: sizes[layout])
