"""Whether an amount is a number of a table, or follows from its numbers by one operation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ragauge.judges.local.cells import LineCell, Linked, NamedInClaim, TableLine
from ragauge.text.word_files import read_patterns

MOST_ROWS = 4  # rows that an operation may be between
MOST_ENTRIES = 8  # numbers of one row that are summed or averaged
FORMS = read_patterns(__file__, "reckoned")


class Result(NamedTuple):
    """A value that follows from numbers of a table by one operation."""

    value: float  # percentages in hundredths
    percent: bool  # whether it is one
    formula: str  # the operation, in figures
    signs: bool  # whether its sign may be either
    entries: tuple[LineCell, ...]  # the numbers it is made of
    pure: bool = False  # whether it has no unit, so that the table's scale is none of its


def results(part: Linked, ask: NamedInClaim, text: str) -> Iterator[Result]:
    """What follows from the numbers of a table by an operation that the words of question and claim name."""
    lines, named, sides, asked, spans = part.best, part.named, part.sides, ask.years, ask.spans
    change, mean = FORMS["change"].search(text), FORMS["mean"].search(text)
    share = FORMS["ratio"].search(text) is not None
    summed = FORMS["sum"].search(text) or (FORMS["and"].search(text) and not (change or mean or share))
    several = [line for line in named[: 2 * MOST_ROWS] if line.entries]
    for line in lines[:MOST_ROWS]:
        if change:
            yield from _changes(line, asked, text)
        if mean or summed:
            yield from _gathered(_chosen(line, asked, spans=spans), mean=mean is not None)
        over_time = [next((e for e in line.entries if e.year == year), None) for year in asked[:2]] if share else []
        if len(over_time) == 2 and over_time[0] and over_time[1]:
            yield from _quotient(over_time[0], over_time[1])
    for each in (*_columns(several, asked), *_columns(sides[:MOST_ROWS], asked)):
        if change or FORMS["either"].search(text):
            yield from _apart(each)
        if mean or summed:
            yield from _gathered(each, mean=mean is not None)
        if share:
            yield from _shares(each, text)


def _once(line: TableLine) -> tuple[LineCell, ...]:
    """The entries, of each year the first: "31 December 2018" beside "1 January 2018"."""
    first = {entry.year: entry for entry in reversed(line.entries)}
    return line.entries if None in first or len(first) < 2 else tuple(first.values())[::-1]


def _chosen(line: TableLine, asked: tuple[int, ...], *, spans: bool) -> Sequence[LineCell]:
    """The entries of the years that are named; all of them where fewer than two are."""
    if len(asked) > 1:
        low, high = min(asked), max(asked)
        return [e for e in _once(line) if e.year in asked or (spans and e.year is not None and low <= e.year <= high)]
    return [] if asked else line.entries[:MOST_ENTRIES]


def _changes(line: TableLine, asked: tuple[int, ...], text: str) -> Iterator[Result]:
    """From the earlier to the later; as an amount, and in per cent of the earlier."""
    either = bool(FORMS["either"].search(text)) and FORMS["directed"].search(text) is None
    either = either or (FORMS["falling"].search(text) is not None and FORMS["rising"].search(text) is None)
    for old, new in _pairs(line, asked):
        a, b = old.cell.value, new.cell.value
        percent = old.cell.percent and new.cell.percent
        if old.cell.percent != new.cell.percent:
            continue
        spent = a <= 0 and b <= 0  # costs and outflows, written as such: either way of counting
        yield Result(b - a, percent, f"{b:,g} − {a:,g}", either or spent, (old, new))
        if a:
            formula = f"({b:,g} − {a:,g}) / {abs(a):,g}"
            yield Result((b - a) / abs(a) * 100, True, formula, either or spent, (old, new), pure=True)


def _pairs(line: TableLine, asked: tuple[int, ...]) -> Iterator[tuple[LineCell, LineCell]]:
    """Earlier and later entries between which a change is asked for."""
    entries = _once(line)
    if any(entry.year is None for entry in entries) or len({entry.year for entry in entries}) < len(entries):
        if len(entries) in (2, 3):
            yield entries[1], entries[0]
            yield entries[0], entries[1]
        return
    row = sorted(entries, key=lambda entry: entry.year or 0)
    wanted = [entry for entry in row if entry.year in asked]
    if len(wanted) > 1:
        yield wanted[0], wanted[-1]
    elif len(wanted) == 1:
        at = row.index(wanted[0])
        if at:
            yield row[at - 1], row[at]
        elif len(row) == 2:
            yield row[0], row[1]
    elif not asked:
        yield row[0], row[-1]
        if len(row) == 3:
            yield row[0], row[1]
            yield row[1], row[2]


def _gathered(entries: Sequence[LineCell], *, mean: bool) -> Iterator[Result]:
    """The mean or the sum of these."""
    if not 2 <= len(entries) <= MOST_ENTRIES or len({entry.cell.percent for entry in entries}) > 1:
        return
    total = sum(entry.cell.value for entry in entries)
    formula = " + ".join(f"{entry.cell.value:,g}" for entry in entries)
    percent = entries[0].cell.percent
    value = total / len(entries) if mean else total
    formula = f"({formula}) / {len(entries)}" if mean else formula
    yield Result(value, percent, formula, total < 0, tuple(entries))


def _columns(lines: Sequence[TableLine], asked: tuple[int, ...]) -> Iterator[list[LineCell]]:
    """Per column or year that is asked for, the entries of all these lines, in their order."""
    if len(lines) < 2:
        return
    first = lines[0]
    for entry in first.entries[:MOST_ENTRIES]:
        if asked and entry.year is not None and entry.year not in asked:
            continue
        same = [entry]
        for line in lines[1:]:
            same += [other for other in line.entries if _beside(first, entry, line, other)][:1]
        if len(same) > 1:
            yield same


def _beside(line: TableLine, entry: LineCell, other: TableLine, its: LineCell) -> bool:
    """Whether two numbers are of one column, or of one row and one year."""
    if line.row is not None and line.row == other.row:
        return entry.year == its.year
    return entry.cell.column == its.cell.column if line.row is not None else entry.cell.row == its.cell.row


def _apart(entries: Sequence[LineCell]) -> Iterator[Result]:
    for one, other in combinations(entries[:MOST_ROWS], 2):
        a, b = one.cell.value, other.cell.value
        if one.cell.percent != other.cell.percent:
            continue
        yield Result(a - b, one.cell.percent, f"{a:,g} − {b:,g}", True, (one, other))
        for first, last in ((a, b), (b, a)):
            if last:
                formula = f"({first:,g} − {last:,g}) / {abs(last):,g}"
                yield Result((first - last) / abs(last) * 100, True, formula, False, (one, other), pure=True)


def _shares(entries: Sequence[LineCell], text: str) -> Iterator[Result]:
    """What is named first over what is named later; "the percentage of A that is B" the other way round."""
    turned = FORMS["of_whole"].search(text) is not None
    straight = not turned or FORMS["as_share"].search(text) is not None
    for one, other in combinations(entries[:MOST_ROWS], 2):
        if straight:
            yield from _quotient(one, other)
        if turned and abs(one.cell.value) > abs(other.cell.value):
            yield from _quotient(other, one)


def _quotient(cell: LineCell, other: LineCell) -> Iterator[Result]:
    a, b = cell.cell.value, other.cell.value
    if b and cell.cell.percent == other.cell.percent:
        formula, parts = f"{a:,g} / {b:,g}", (cell, other)
        yield Result(a / b, False, formula, a * b < 0, parts, pure=True)
        yield Result(a / b * 100, True, formula, a * b < 0, parts, pure=True)
