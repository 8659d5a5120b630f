"""Tables in running text: their cells with row label, column header, scale, sign and unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ragauge.text import numerals
from ragauge.text.marks import plain

LONGEST = 40_000        # characters of a text that are looked at
MOST_ROWS = 200         # of one table
MOST_COLUMNS = 24
LONGEST_CELL = 300      # characters: a longer one is prose
FEWEST_ROWS = 2         # lines that make a table
FEWEST_FIELDS = 3       # of a line parted by commas
WHOLE = 100.0           # per cent: a column that has it gives shares throughout
LONGEST_SCALE = 8       # words of a note on the scale
MOST_ABOVE = 2          # lines above a table that may be its caption

LINE = re.compile(r"[^\n\r]+")
GAP = re.compile(r"[ \u00a0]{2,}")
RULE = re.compile(r"[\s|:=+-]*")        # the line under a header: |---|---|
ROW_TAG = re.compile(r"<tr\b[^<>]{0,200}>", re.IGNORECASE)
CELL_TAG = re.compile(r"<t[dh]\b([^<>]{0,200})>", re.IGNORECASE)
SPAN = re.compile(r"colspan\s*=\s*[\"']?(\d{1,2})", re.IGNORECASE)
TAG = re.compile(r"<[^<>]{0,200}>")
NIL = re.compile(r"[$€£¥₹\s(]{0,4}(?:[-–—]{1,3}|nil)[\s)%]{0,3}", re.IGNORECASE)
NEGATIVE = re.compile(r"^\s*[$€£¥₹]?\s*(?:\(|[-–—−](?=\s?[$€£¥₹]?\s?\d))")
AROUND = re.compile(r"(?:US|S|A|C|HK|NT|R|RM|Rs\.?|US)?[$€£¥₹₩]|\b(?:USD|EUR|GBP|JPY|CNY|CHF|INR|RMB|RM|Rs)\b|\*+|\[\w\]|\(\w\)")
LETTERS = re.compile(r"[^\W\d_]+")
COUNTED = re.compile(r"(?<=\d)\s?(?:x|times|years?|yrs?|days?|months?|shares|units|m|mn|bn|k)\s*$")
YEAR = re.compile(r"(?<![\d.$€£¥₹])(?:((?:19|20)\d\d)(?!\d|,\d{3}(?!\d)|\.\d)|(?:FY|F|CY|Q[1-4])\s?['’]?(\d\d)(?!\d))")
RANGE_YEAR = re.compile(r"(?<!\d)(?:19|20)(\d\d)\s?[-–/]\s?(\d\d)(?!\d)")
# a year column has nothing but the year, with a note's mark or a word such as "restated"
_SCALE_WORDS = {
    "hundreds": 2, "thousand": 3, "thousands": 3, "million": 6, "millions": 6, "billion": 9, "billions": 9,
    "lakh": 5, "lakhs": 5, "crore": 7, "crores": 7, "tausend": 3, "mio": 6, "millionen": 6, "mrd": 9,
}  # fmt: skip
SCALE_WORD = re.compile(
    rf"\b(?:RMB|RM|USD|EUR|GBP|Rs|INR|SEK|NOK|DKK|CAD|AUD)['’]?\s?({'|'.join(_SCALE_WORDS)})\b|\b(?:in|all figures|expressed|amounts?|dollars?|USD|US\$|EUR|GBP|euros?|[$€£¥₹])[^.;\n]{{0,30}}?"
    rf"\b({'|'.join(_SCALE_WORDS)})\b|\(\s?[^()\n]{{0,20}}?\b({'|'.join(_SCALE_WORDS)})\b|^\W*({'|'.join(_SCALE_WORDS)})\b",
    re.IGNORECASE,
)
ZEROS = re.compile(r"\W*000\W*")       # "$'000"
SCALE_ZEROS = re.compile(r"(?<![\d,.])['‘’]?000(?:['’]?s)?(?![\d,.])")
SCALE_LETTER = re.compile(r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|Rs))\s?(m|mn|bn|k|mm)\b", re.IGNORECASE)
LETTER_SCALES = {"m": 6, "mn": 6, "mm": 6, "bn": 9, "k": 3}
PER = re.compile(r"\bper\b|\bcents\b|\bprice\b|\bEPS\b|\brate\b|\bmargin\b|\bratio\b|%|\bpercent|\bnumber of\b|\bdays\b|\byears?\)",
                 re.IGNORECASE)
CURRENCY = re.compile(r"[$€£¥₹₩]")
NOTES = re.compile(r"^\W*notes?\W*$", re.IGNORECASE)
PERCENT = re.compile(r"%|\bper\s?cent|\bpercentage", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a table.

    Attributes:
        row, column: numbers from 0; rows of headers are not counted.
        value: as written, negative in parentheses; a dash is 0.
        percent: whether it is a percentage, by its sign, its column or its row.
        start: first character in the text.
        end: one past the last.
    """

    row: int
    column: int
    value: float
    percent: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table, read.

    Attributes:
        labels: of each row.
        sections: per row, the line without numbers that it stands under; "" where there is none.
        headers: of each column, all its lines joined; that of the labels is the first.
        caption: what stands over the table and in its corner.
        cells: its numbers, by row and column.
        scale: the power of ten that its amounts are to be multiplied by; None where nothing says so.
        unscaled: rows that the scale is not for, such as amounts per share.
    """

    labels: tuple[str, ...]
    sections: tuple[str, ...]
    headers: tuple[str, ...]
    caption: str
    cells: tuple[Cell, ...]
    scale: int | None
    unscaled: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Field:
    text: str
    start: int
    end: int


@dataclass(slots=True)
class _Draft:
    """A table while its lines are read."""

    head: list[list[str]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    caption: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    money: set[int] = field(default_factory=set)
    section: str = ""
    started: bool = False


@lru_cache(maxsize=512)
def tables(text: str) -> tuple[Table, ...]:
    """The tables of a text, in order: cells parted by tabs, bars, wide gaps, commas or HTML tags.

    >>> (table,) = tables("(in thousands)\\t2021\\t2020\\nNet loss\\t(1,577)\\t—")
    >>> table.scale, table.headers, [(cell.value, table.labels[cell.row]) for cell in table.cells]
    (3, ('', '2021', '2020'), [(-1577.0, 'Net loss'), (0.0, 'Net loss')])
    """
    text = text[:LONGEST]
    if "\n" not in text and "<t" not in text.lower():
        return ()
    blocks = _html(text) if CELL_TAG.search(text) else _lined(text)
    found = (_table(rows[:MOST_ROWS], above) for rows, above in blocks if len(rows) >= FEWEST_ROWS)
    return tuple(table for table in found if table is not None)


def years(text: str) -> list[int]:
    """The years of a text in order, also of "FY19" and "2018/19".

    >>> years("from FY18 to 2019"), years("at 31 March 2018-20")
    ([2018, 2019], [2018, 2020])
    """
    same = plain(text)
    found = [(one.start(), int(one[1]) if one[1] else 2000 + int(one[2])) for one in YEAR.finditer(same)]
    found += [(one.start(2), int(one[0][:2]) * 100 + int(one[2])) for one in RANGE_YEAR.finditer(same)]
    return [year for _, year in sorted(found)]


def scale_of(text: str) -> int | None:
    """The power of ten that a caption names, or None.

    >>> scale_of("(In millions, except per share data)"), scale_of("All figures in USD ‘000"), scale_of("£m")
    (6, 3, 6)
    """
    if found := SCALE_WORD.search(text):
        return _SCALE_WORDS[next(filter(None, found.groups())).lower()]
    if SCALE_ZEROS.search(text):
        return 3
    if found := SCALE_LETTER.search(text):
        return LETTER_SCALES[found[1].lower()]
    return None


def number(text: str) -> tuple[float, bool] | None:
    """The value of a cell that is one number, and whether it has a per cent sign; None of anything else.

    >>> number("$ (1,577)"), number("(149)%"), number("—"), number("Note 3"), number("2.5 (a)")
    ((-1577.0, False), (-149.0, True), (0.0, False), None, (2.5, False))
    """
    if not text or len(text) > 60 or text.endswith(","):
        return None
    if NIL.fullmatch(text):
        return 0.0, "%" in text
    bare = AROUND.sub(" ", text) if not text[0].isdigit() or "(" in text[1:] or "*" in text else text
    same = COUNTED.sub("", plain(bare))
    if LETTERS.search(same) or not any(map(str.isdigit, same)):
        return None
    if ZEROS.fullmatch(same):
        return None
    marks = list(numerals.find(same.replace("(", " ").replace(")", " ").replace("-", " ")))
    if len(marks) != 1 or marks[0].kind not in ("number", "percent", "date"):
        return None
    try:
        value = float(marks[0].normal.removesuffix("%"))
    except ValueError:
        return None
    return -value if NEGATIVE.match(text) else value, "%" in text


def _lined(text: str) -> Iterator[tuple[list[list[_Field]], list[str]]]:
    """Runs of lines that have several fields, and the lines above each; a line alone within a run is a section."""
    rows: list[list[_Field]] = []
    above: list[str] = []
    waiting: list[list[_Field]] = []
    split = None
    for line in LINE.finditer(text):
        written = line[0]
        if not written.strip() or (RULE.fullmatch(written) and "-" in written and "—" not in written):
            continue
        kind, fields = _fields(written, line.start())
        if len(fields) > 1 and (split is None or kind == split or len(rows) < FEWEST_ROWS):
            rows += waiting
            rows.append(fields)
            waiting, split = [], kind
            continue
        if rows and len(waiting) < MOST_ABOVE and len(written) <= LONGEST_CELL // 3 and not written.rstrip().endswith("."):
            waiting.append(fields[:1])
            continue
        if rows:
            yield rows, above
            rows, waiting, split, above = [], [], None, []
        above = [*above, written[:LONGEST_CELL]][-MOST_ABOVE:]
    if rows:
        yield rows, above


def _fields(line: str, at: int) -> tuple[str, list[_Field]]:
    """How a line is parted, and its fields with their places."""
    if "\t" in line:
        return "tab", _cut(line, at, "\t")
    if line.count("|") > 1 or " | " in line:
        found = _cut(line, at, "|")
        if line.lstrip().startswith("|"):
            found = found[1:]
        return "bar", found[:-1] if line.rstrip().endswith("|") else found
    if len(GAP.findall(line.strip())) > 0:
        return "gap", _gapped(line, at)
    if line.count(",") >= FEWEST_FIELDS - 1 and not re.search(r"[,.] ", line):
        return "comma", _quoted(line, at)
    return _trailing(line, at)


def _cut(line: str, at: int, mark: str) -> list[_Field]:
    found = []
    for piece in line.split(mark)[:MOST_COLUMNS]:
        lead = len(piece) - len(piece.lstrip())
        stripped = piece.strip()
        found.append(_Field(stripped, at + lead, at + lead + len(stripped)))
        at += len(piece) + 1
    return found


def _gapped(line: str, at: int) -> list[_Field]:
    """Fields parted by two spaces or more; a currency sign belongs to the number behind it."""
    found: list[_Field] = []
    pos = 0
    for gap in [*GAP.finditer(line), None]:
        end = gap.start() if gap else len(line)
        piece = line[pos:end].strip()
        if piece and found and re.fullmatch(r"[$€£¥₹(]+", found[-1].text):
            last = found.pop()
            found.append(_Field(last.text + piece, last.start, at + end))
        elif piece and found and re.fullmatch(r"[)%]+", piece):
            found[-1] = replace(found[-1], text=found[-1].text + piece, end=at + end)
        elif piece or (pos == 0 and gap):
            found.append(_Field(piece, at + pos, at + end))
        pos = gap.end() if gap else end
    return found[:MOST_COLUMNS]


def _quoted(line: str, at: int) -> list[_Field]:
    """Fields parted by commas; quotes keep theirs."""
    found = []
    start = 0
    inside = False
    for pos, char in enumerate(line + ","):
        if char == '"':
            inside = not inside
        elif char == "," and (not inside or pos == len(line)):
            found.append(_Field(line[start:pos].strip(' "'), at + start, at + pos))
            start = pos + 1
    return found[:MOST_COLUMNS]


def _trailing(line: str, at: int) -> tuple[str, list[_Field]]:
    """A label and the numbers that the line ends with: "Net sales $ 1,577 1,420"."""
    words = [(found.start(), found.end()) for found in re.finditer(r"\S+", line[:LONGEST_CELL])]
    first = len(words)
    while first and (number(line[slice(*words[first - 1])]) or line[slice(*words[first - 1])] in ("$", "€", "£")):
        first -= 1
    numbers = [span for span in words[first:] if number(line[slice(*span)])]
    if len(numbers) < FEWEST_ROWS or len(line) > LONGEST_CELL:
        return "", [_Field(line.strip(), at, at + len(line))]
    label = line[: words[first][0]].strip()
    return "gap", [_Field(label, at, at + len(label)), *(_Field(line[s:e], at + s, at + e) for s, e in numbers)]


def _html(text: str) -> Iterator[tuple[list[list[_Field]], list[str]]]:
    """The rows of HTML tables; those of several tables on end are one where no <table> stands between."""
    lower = text.lower()
    starts = [at.start() for at in re.finditer(r"<table\b", lower)] or [0]
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        rows = []
        places = [*(found.end() for found in ROW_TAG.finditer(text, start, stop)), stop]
        for first, last in zip(places, places[1:], strict=False):
            rows.append(_tagged(text, first, last))
        above = [TAG.sub(" ", text[max(0, start - LONGEST_CELL) : start]).strip()]
        yield [row for row in rows if row], above


def _tagged(text: str, start: int, end: int) -> list[_Field]:
    found = []
    tags = list(CELL_TAG.finditer(text, start, end))
    for tag, stop in zip(tags, [*(after.start() for after in tags[1:]), end], strict=True):
        written = TAG.sub("", text[tag.end() : stop]).replace("&nbsp;", " ").replace("&amp;", "&").strip()
        found.append(_Field(written[:LONGEST_CELL], tag.end(), stop))
        span = SPAN.search(tag[1])
        found += [_Field("", stop, stop)] * (min(int(span[1]), MOST_COLUMNS) - 1 if span else 0)
    return found[:MOST_COLUMNS]


def _table(rows: Sequence[Sequence[_Field]], above: Sequence[str]) -> Table | None:
    width = max(map(len, rows))
    draft = _Draft()
    for fields in rows:
        _read(draft, [*fields], width)
    if not draft.cells or len(draft.labels) == 0:
        return None
    headers = _headers(draft.head, width)
    caption = " ".join([*above, *draft.caption])
    told = [headers[0], *draft.caption, *draft.notes, *above]
    scale = next((found for one in told if (found := scale_of(one)) is not None), None)
    counted = [n for n, header in enumerate(headers) if n and NOTES.match(header)]
    shares = {n for n, header in enumerate(headers) if PERCENT.search(header)} - draft.money
    rates = {n for n, label in enumerate(draft.labels) if PERCENT.search(f"{label} {draft.sections[n]}")}
    shares |= {cell.column for cell in draft.cells if cell.percent and cell.value == WHOLE}
    money = {cell.row for cell in draft.cells if not cell.percent and abs(cell.value) > 1_000}
    cells = tuple(
        replace(cell, percent=cell.percent or cell.column in shares or cell.row in rates - money)
        for cell in draft.cells
        if cell.column not in counted
    )
    unscaled = frozenset(n for n, label in enumerate(draft.labels) if PER.search(label))
    return Table(tuple(draft.labels), tuple(draft.sections), headers, caption, cells, scale, unscaled)


def _read(draft: _Draft, fields: list[_Field], width: int) -> None:
    """Reads one line: a header, a caption or section, or a row of numbers."""
    if len(fields) == 1 or not any(one.text for one in fields[1:]):
        text = fields[0].text
        if draft.started:
            draft.section = text
        else:
            draft.caption.append(text)
            draft.section = text
        return
    values = [(one, number(one.text)) for one in fields[1:]]
    amounts = [one for one, value in values if value and not _is_year(one.text)]
    opening = not draft.started and 2 * len(amounts) < sum(bool(one.text) for one in fields[1:])
    if not amounts or opening or (all(_is_year(one.text) for one, _ in values if one.text) and not fields[0].text):
        texts = [one.text for one in fields]
        if draft.started and any(map(years, texts)) and not amounts:
            draft.section = " ".join(text for text in texts if text)
        elif not draft.started:
            draft.notes += [text for text in texts if scale_of(text) is not None]
            draft.section = ""
            draft.head.append([*map(_unscaled, texts), *[""] * (width - len(texts))])
        return
    draft.started = True
    row = len(draft.labels)
    label = fields[0].text
    if label and number(label) and not _is_year(label):
        label = ""
    draft.labels.append(label or "Total")
    draft.sections.append(draft.section)
    if not label:
        draft.section = ""
    for column, (one, value) in enumerate(values, 1):
        if value is not None:
            draft.cells.append(Cell(row, column, value[0], value[1], one.start, one.end))
            if CURRENCY.search(one.text):
                draft.money.add(column)


def _unscaled(header: str) -> str:
    """A header without its scale: "(in millions, except percentages)" names no column."""
    if scale_of(header) is None or len(header.split()) > LONGEST_SCALE:
        return header
    rest = SCALE_WORD.sub(" ", SCALE_ZEROS.sub(" ", SCALE_LETTER.sub(" ", header)))
    named = [word for word in LETTERS.findall(rest) if not re.search(rf"{word}\b[^()]*\)", header)]
    return rest if len(named) > 1 or years(rest) else " "


def _is_year(text: str) -> bool:
    return bool(re.fullmatch(r"\W{0,2}(?:FY|F)?\s?'?(?:19|20)?\d\d\W{0,2}(?:\(\w+\))?", text)) and bool(years(text))


def _headers(head: Sequence[Sequence[str]], width: int) -> tuple[str, ...]:
    """The header of each column: a cell over several columns stands for those to its right as well."""
    columns: list[list[str]] = [[] for _ in range(width)]
    for row in head:
        filled = [n for n, text in enumerate(row) if text and n]
        ends = len(filled) > 1 and 1 not in filled and filled[-1] == width - 1 and all(years(row[n]) for n in filled)
        for n in range(width):
            if n == 0 or row[n]:
                text = row[n]
            elif len(filled) == 1:
                text = row[filled[0]]
            else:
                nearest = range(n, width) if ends else range(n, 0, -1)
                text = next((row[m] for m in nearest if row[m]), "")
            if text:
                columns[n].append(text)
    return tuple(" ".join(" ".join(parts).split()) for parts in columns)
