"""Whether an amount is a number of a table, or follows from its numbers by one operation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ragauge.judges.local.cells import LineCell, LinkedLines, NamedInClaim, TableLine
from ragauge.text.word_files import read_patterns

MAX_ROWS = 4  # rows that an operation may be between
MAX_ENTRIES = 8  # numbers of one row that are summed or averaged
FORMS = read_patterns(__file__, "reckoned")


class DerivedResult(NamedTuple):
    """A value that follows from numbers of a table by one operation."""

    value: float  # percentages in hundredths
    percent: bool  # whether it is one
    formula: str  # the operation, in figures
    signs: bool  # whether its sign may be either
    entries: tuple[LineCell, ...]  # the numbers it is made of
    pure: bool = False  # whether it has no unit, so that the table's scale is none of its


def derive_results(linked: LinkedLines, ask: NamedInClaim, text: str) -> Iterator[DerivedResult]:
    """What follows from the numbers of a table by an operation that the words of question and claim name."""
    lines, named_lines, header_lines, years, spans = linked.best, linked.named, linked.sides, ask.years, ask.spans
    change, mean = FORMS["change"].search(text), FORMS["mean"].search(text)
    share = FORMS["ratio"].search(text) is not None
    summed = FORMS["sum"].search(text) or (FORMS["and"].search(text) and not (change or mean or share))
    several = [line for line in named_lines[: 2 * MAX_ROWS] if line.entries]
    for line in lines[:MAX_ROWS]:
        if change:
            yield from _derive_changes(line, years, text)
        if mean or summed:
            yield from _derive_totals(_select_entries(line, years, spans=spans), mean=mean is not None)
        over_time = [next((e for e in line.entries if e.year == year), None) for year in years[:2]] if share else []
        if len(over_time) == 2 and over_time[0] and over_time[1]:
            yield from _derive_quotients(over_time[0], over_time[1])
    for each in (*_group_columns(several, years), *_group_columns(header_lines[:MAX_ROWS], years)):
        if change or FORMS["either"].search(text):
            yield from _derive_differences(each)
        if mean or summed:
            yield from _derive_totals(each, mean=mean is not None)
        if share:
            yield from _derive_shares(each, text)


def _drop_repeated_years(line: TableLine) -> tuple[LineCell, ...]:
    """The entries, of each year the first: "31 December 2018" beside "1 January 2018"."""
    first = {entry.year: entry for entry in reversed(line.entries)}
    return line.entries if None in first or len(first) < 2 else tuple(first.values())[::-1]


def _select_entries(line: TableLine, years: tuple[int, ...], *, spans: bool) -> Sequence[LineCell]:
    """The entries of the years that are named; all of them where fewer than two are."""
    if len(years) > 1:
        low, high = min(years), max(years)
        return [
            e
            for e in _drop_repeated_years(line)
            if e.year in years or (spans and e.year is not None and low <= e.year <= high)
        ]
    return [] if years else line.entries[:MAX_ENTRIES]


def _derive_changes(line: TableLine, years: tuple[int, ...], text: str) -> Iterator[DerivedResult]:
    """From the earlier to the later; as an amount, and in per cent of the earlier."""
    either = bool(FORMS["either"].search(text)) and FORMS["directed"].search(text) is None
    either = either or (FORMS["falling"].search(text) is not None and FORMS["rising"].search(text) is None)
    for old, new in _list_pairs(line, years):
        a, b = old.cell.value, new.cell.value
        percent = old.cell.percent and new.cell.percent
        if old.cell.percent != new.cell.percent:
            continue
        spent = a <= 0 and b <= 0  # costs and outflows, written as such: either way of counting
        yield DerivedResult(b - a, percent, f"{b:,g} − {a:,g}", either or spent, (old, new))
        if a:
            formula = f"({b:,g} − {a:,g}) / {abs(a):,g}"
            yield DerivedResult((b - a) / abs(a) * 100, True, formula, either or spent, (old, new), pure=True)


def _list_pairs(line: TableLine, years: tuple[int, ...]) -> Iterator[tuple[LineCell, LineCell]]:
    """Earlier and later entries between which a change is asked for."""
    entries = _drop_repeated_years(line)
    if any(entry.year is None for entry in entries) or len({entry.year for entry in entries}) < len(entries):
        if len(entries) in (2, 3):
            yield entries[1], entries[0]
            yield entries[0], entries[1]
        return
    row = sorted(entries, key=lambda entry: entry.year or 0)
    dated = [entry for entry in row if entry.year in years]
    if len(dated) > 1:
        yield dated[0], dated[-1]
    elif len(dated) == 1:
        index = row.index(dated[0])
        if index:
            yield row[index - 1], row[index]
        elif len(row) == 2:
            yield row[0], row[1]
    elif not years:
        yield row[0], row[-1]
        if len(row) == 3:
            yield row[0], row[1]
            yield row[1], row[2]


def _derive_totals(entries: Sequence[LineCell], *, mean: bool) -> Iterator[DerivedResult]:
    """The mean or the sum of these."""
    if not 2 <= len(entries) <= MAX_ENTRIES or len({entry.cell.percent for entry in entries}) > 1:
        return
    total = sum(entry.cell.value for entry in entries)
    formula = " + ".join(f"{entry.cell.value:,g}" for entry in entries)
    percent = entries[0].cell.percent
    value = total / len(entries) if mean else total
    formula = f"({formula}) / {len(entries)}" if mean else formula
    yield DerivedResult(value, percent, formula, total < 0, tuple(entries))


def _group_columns(lines: Sequence[TableLine], years: tuple[int, ...]) -> Iterator[list[LineCell]]:
    """Per column or year that is asked for, the entries of all these lines, in their order."""
    if len(lines) < 2:
        return
    first = lines[0]
    for entry in first.entries[:MAX_ENTRIES]:
        if years and entry.year is not None and entry.year not in years:
            continue
        same = [entry]
        for line in lines[1:]:
            same += [other for other in line.entries if _is_same_column(first, entry, line, other)][:1]
        if len(same) > 1:
            yield same


def _is_same_column(line: TableLine, entry: LineCell, other: TableLine, its: LineCell) -> bool:
    """Whether two numbers are of one column, or of one row and one year."""
    if line.row is not None and line.row == other.row:
        return entry.year == its.year
    return entry.cell.column == its.cell.column if line.row is not None else entry.cell.row == its.cell.row


def _derive_differences(entries: Sequence[LineCell]) -> Iterator[DerivedResult]:
    for entry, other in combinations(entries[:MAX_ROWS], 2):
        a, b = entry.cell.value, other.cell.value
        if entry.cell.percent != other.cell.percent:
            continue
        yield DerivedResult(a - b, entry.cell.percent, f"{a:,g} − {b:,g}", True, (entry, other))
        for first, last in ((a, b), (b, a)):
            if last:
                formula = f"({first:,g} − {last:,g}) / {abs(last):,g}"
                yield DerivedResult((first - last) / abs(last) * 100, True, formula, False, (entry, other), pure=True)


def _derive_shares(entries: Sequence[LineCell], text: str) -> Iterator[DerivedResult]:
    """What is named first over what is named later; "the percentage of A that is B" the other way round."""
    turned = FORMS["of_whole"].search(text) is not None
    straight = not turned or FORMS["as_share"].search(text) is not None
    for entry, other in combinations(entries[:MAX_ROWS], 2):
        if straight:
            yield from _derive_quotients(entry, other)
        if turned and abs(entry.cell.value) > abs(other.cell.value):
            yield from _derive_quotients(other, entry)


def _derive_quotients(cell: LineCell, other: LineCell) -> Iterator[DerivedResult]:
    a, b = cell.cell.value, other.cell.value
    if b and cell.cell.percent == other.cell.percent:
        formula, entries = f"{a:,g} / {b:,g}", (cell, other)
        yield DerivedResult(a / b, False, formula, a * b < 0, entries, pure=True)
        yield DerivedResult(a / b * 100, True, formula, a * b < 0, entries, pure=True)
