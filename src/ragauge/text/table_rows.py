"""The lines of tables in running text, each cut into fields, the number that a field is, and how a text is laid out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise, takewhile
from typing import Literal, NamedTuple, get_args

from ragauge.text import numerals
from ragauge.text.characters import plain
from ragauge.text.word_files import read_patterns

MOST_LINES = 1_000  # of a text that are looked at
MOST_COLUMNS = 24
LONGEST_CELL = 300  # characters: a longer one is prose
LONGEST_SECTION = 100  # of a line alone within a table
FEWEST_ROWS = 2  # lines that make a table
FEWEST_FIELDS = 3  # of a line parted by commas
MOST_ABOVE = 2  # lines above a table that may be its caption
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


def blocks(text: str) -> Iterator[Block]:
    r"""The runs of rows that look like tables, with what stands above each.

    >>> [[[field.text for field in row] for row in rows] for rows, _ in blocks("Fees  12  10\nRent  7  6")]
    [[['Fees', '12', '10'], ['Rent', '7', '6']]]
    """
    runs = _html(text) if FORMS["cell_tag"].search(text) else chain(_lined(text), _stacked(text))
    return ((rows, above) for rows, above in runs if len(rows) >= FEWEST_ROWS)


@lru_cache(maxsize=512)
def number(text: str) -> tuple[float, bool] | None:
    """The value of a cell that is one number, and whether it has a per cent sign; None of anything else.

    >>> number("$ (1,577)"), number("(149)%"), number("—"), number("Note 3"), number("2.5 (a)")
    ((-1577.0, False), (-149.0, True), (0.0, False), None, (2.5, False))
    """
    if not text or len(text) > 60 or text.endswith(","):
        return None
    if FORMS["nil"].fullmatch(text):
        return 0.0, "%" in text
    bare = FORMS["around"].sub(" ", text) if not text[0].isdigit() or "(" in text[1:] or "*" in text else text
    same = FORMS["counted"].sub("", plain(bare))
    if FORMS["letters"].search(same) or FORMS["zeros"].fullmatch(same) or not any(map(str.isdigit, same)):
        return None
    marks = list(numerals.find(same.replace("(", " ").replace(")", " ").replace("-", " ")))
    if len(marks) != 1 or marks[0].kind not in ("number", "percent", "date"):
        return None
    try:
        value = float(marks[0].normal.removesuffix("%"))
    except ValueError:
        return None
    return -value if FORMS["negative"].match(text) else value, "%" in text


def _lined(text: str) -> Iterator[Block]:
    """Runs of lines that have several fields, and the lines above each; a line alone within a run is a section."""
    rows: list[list[Field]] = []
    above: list[str] = []
    waiting: list[list[Field]] = []
    split = None
    for line in islice(FORMS["line"].finditer(text), MOST_LINES):
        written = line[0]
        if not written.strip() or (FORMS["rule"].fullmatch(written) and "-" in written and "—" not in written):
            continue
        kind, fields = _fields(written, line.start())
        if len(fields) > 1 and (split is None or kind == split or len(rows) < FEWEST_ROWS):
            rows += waiting
            rows.append(fields)
            waiting, split = [], kind
            continue
        short = len(written) <= LONGEST_SECTION and not written.rstrip().endswith(".")
        if rows and short and len(waiting) < MOST_ABOVE:
            waiting.append(fields[:1])
            continue
        if rows:
            yield rows, above
            rows, waiting, split, above = [], [], None, []
        above = [*above, written[:LONGEST_CELL]][-MOST_ABOVE:]
    if rows:
        yield rows, above


def _stacked(text: str) -> Iterator[Block]:
    """Runs of rows with one cell a line: a label and as many numbers each, under as many heads."""
    lines = islice(FORMS["line"].finditer(text), MOST_LINES)
    cells = [_cut(line[0], line.start(), "\n")[0] for line in lines if line[0].strip()]
    counted = [number(cell.text) is not None for cell in cells]
    start = done = 0
    while start + 1 < len(cells):
        width = next((n for n in range(1, len(cells) - start) if not counted[start + n]), len(cells) - start)
        end = start
        while 1 < width <= MOST_COLUMNS and counted[end : end + width] == [False, *[True] * (width - 1)]:
            end += width
        if end - start >= FEWEST_ROWS * width:
            head = [cell for cell in cells[max(done, start - width) : start] if len(cell.text) <= LONGEST_SECTION]
            rows = [cells[n : n + width] for n in range(start, end, width)]
            yield [[Field("", 0, 0)] * (width - len(head)) + head, *rows] if len(head) > width - 2 else rows, []
            done = end
        start = max(end, start + 1)


def _fields(line: str, at: int) -> tuple[str, list[Field]]:
    if "\t" in line:
        return "tab", _cut(line, at, "\t")
    if line.count("|") > 1 or " | " in line:
        fields = _cut(line, at, "|")
        if line.lstrip().startswith("|"):
            fields = fields[1:]
        return "bar", fields[:-1] if line.rstrip().endswith("|") else fields
    if FORMS["gap"].search(line.strip()):
        return "gap", _gapped(line, at)
    bare = FORMS["quoted"].sub("", line)
    if len(FORMS["comma"].findall(bare)) >= FEWEST_FIELDS - 1 and not FORMS["prose"].search(bare):
        return "comma", _quoted(line, at)
    return _trailing(line, at)


def _cut(line: str, at: int, mark: str) -> list[Field]:
    fields = []
    for piece in line.split(mark)[:MOST_COLUMNS]:
        lead = len(piece) - len(piece.lstrip())
        stripped = piece.strip()
        fields.append(Field(stripped, at + lead, at + lead + len(stripped)))
        at += len(piece) + 1
    return fields


def _gapped(line: str, at: int) -> list[Field]:
    """Fields parted by two spaces or more; a currency sign belongs to the number behind it."""
    fields: list[Field] = []
    pos = 0
    for gap in [*FORMS["gap"].finditer(line), None]:
        end = gap.start() if gap else len(line)
        piece = line[pos:end].strip()
        if piece and fields and re.fullmatch(r"[$€£¥₹(]+", fields[-1].text):
            last = fields.pop()
            fields.append(Field(last.text + piece, last.start, at + end))
        elif piece and fields and re.fullmatch(r"[)%]+", piece):
            fields[-1] = fields[-1]._replace(text=fields[-1].text + piece, end=at + end)
        elif piece or (pos == 0 and gap):
            fields.append(Field(piece, at + pos, at + end))
        pos = gap.end() if gap else end
    return fields[:MOST_COLUMNS]


def _quoted(line: str, at: int) -> list[Field]:
    fields = []
    start = 0
    inside = False
    for pos, char in enumerate(line + ","):
        if char == '"':
            inside = not inside
        elif char == "," and (not inside or pos == len(line)):
            fields.append(Field(line[start:pos].strip(' "'), at + start, at + pos))
            start = pos + 1
    return fields[:MOST_COLUMNS]


def _trailing(line: str, at: int) -> tuple[str, list[Field]]:
    """A label and the numbers that the line ends with: "Net sales $ 1,577 1,420"."""
    words = [Field(word[0], at + word.start(), at + word.end()) for word in re.finditer(r"\S+", line[:LONGEST_CELL])]
    numbers = [*takewhile(lambda word: number(word.text) or word.text in ("$", "€", "£"), reversed(words))][::-1]
    amounts = [word for word in numbers if number(word.text)]
    if len(amounts) < FEWEST_ROWS or len(line) > LONGEST_CELL:
        return "", [Field(line.strip(), at, at + len(line))]
    label = line[: numbers[0].start - at].strip()
    return "gap", [Field(label, at, at + len(label)), *amounts]


def _html(text: str) -> Iterator[Block]:
    """The rows of HTML tables; those of several tables on end are one where no <table> stands between."""
    lower = text.lower()
    starts = [at.start() for at in re.finditer(r"<table\b", lower)] or [0]
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        places = [*(match.end() for match in FORMS["row_tag"].finditer(text, start, stop)), stop]
        rows = [_tagged(text, first, last) for first, last in pairwise(places)]
        above = [FORMS["tag"].sub(" ", text[max(0, start - LONGEST_CELL) : start]).strip()]
        yield [row for row in rows if row], above


def _tagged(text: str, start: int, end: int) -> list[Field]:
    fields = []
    tags = list(FORMS["cell_tag"].finditer(text, start, end))
    stops = [after.start() for after in tags[1:]] + [end] * bool(tags)
    for tag, stop in zip(tags[:MOST_COLUMNS], stops[:MOST_COLUMNS], strict=True):
        written = FORMS["tag"].sub("", text[tag.end() : stop]).replace("&nbsp;", " ").replace("&amp;", "&").strip()
        fields.append(Field(written[:LONGEST_CELL], tag.end(), stop))
        span = FORMS["span"].search(tag[1])
        fields += [Field("", stop, stop)] * (min(int(span[1]), MOST_COLUMNS) - 1 if span else 0)
    return fields[:MOST_COLUMNS]


@lru_cache(maxsize=512)
def layout_of(text: str) -> Layout:
    r"""The layout that most of a text has.

    *table*: rows whose cells are parted by bars, tabs, wide gaps, commas or HTML tags. *cells*: a table that lost its
    rows, one cell a line, as PDF readers give it. *prose*: all else, an empty text too.

    >>> layout_of("Fees were raised in May."), layout_of("Year | Fees\n2021 | 12\n2022 | 14")
    ('prose', 'table')
    >>> layout_of("Net sales\n$\n32,136\n$\n31,657\nCost of sales\n17,000\n16,605")
    'cells'
    """
    text = text[:MAX_CHARS]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    cells = [line for line in lines if len(line) <= MAX_CELL_CHARS and not FORMS["sentence_end"].search(line)]
    amounts = sum(FORMS["amount"].match(line) is not None for line in cells)
    if len(cells) >= max(MIN_CELL_LINES, MIN_CELL_SHARE * len(lines)) and amounts >= MIN_AMOUNT_SHARE * len(cells):
        return "cells"
    spans = [(rows[0][0].start, rows[-1][-1].end) for rows, _ in blocks(text) if rows[0] and rows[-1]]
    if sum(end - start for start, end in spans) >= MIN_TABLE_SHARE * len(text.strip()) > 0:
        return "table"
    return "prose"


def layout_of_texts(texts: Sequence[str]) -> Layout:
    """The layout of the most characters of several texts; prose where there is none."""
    sizes: Counter[Layout] = Counter()
    for text in texts:
        sizes[layout_of(text)] += len(text)
    return max(LAYOUTS, key=lambda layout: sizes[layout])
