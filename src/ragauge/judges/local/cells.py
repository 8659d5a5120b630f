"""Which rows and columns of a table a question or a claim speaks of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from ragauge.judges.local.index import STOPS, units_of
from ragauge.text.tables import Table, TableCell, years
from ragauge.text.word_files import read_patterns, read_sets

LONGEST = 1_000  # characters of a question or claim that are looked at
COVERED = 0.6  # share of a row's label, by weight, that names it
ALIKE = 0.15  # scores as near as this are ties
MISSED = 0.8  # what a word of a label counts that is not named, against one that is
LIGHTLY = 0.3  # what a number, or "total" or "net", in a label counts where it is not named, against a word
FORMS = read_patterns(__file__, "cells")
PLAIN, SHARED = read_sets(__file__, "cells", "nothing shares")  # of no column of its own; asking for a share
LIGHT = frozenset(["total", "net"])
SECTION = 0.6  # what a word of a row's section counts, against one of its label
MOST_LINES = 12  # rows, and groups of columns, that are looked at
KEPT = frozenset(["other", "not", "non", "befor", "after", "under", "over", "before"])  # tell one row from another


class NamedInClaim(NamedTuple):
    """What a question or claim names."""

    words: tuple[str, ...]  # stems of its words with content, in order
    years: tuple[int, ...]  # its years, in order
    spans: bool  # whether it names the years between the first and the last as well
    months: frozenset[str] = frozenset()  # names of months


class LineCell(NamedTuple):
    """A cell of a line; year None = nothing dates it."""

    cell: TableCell
    year: int | None


class TableLine(NamedTuple):
    """Cells of one thing over time, or over columns of one kind."""

    row: int | None  # whose row it is; None = a column, whose rows are years
    place: int  # where the words that name it stand in the question
    header: str  # what the columns say beside their years
    entries: tuple[LineCell, ...]  # in the table's order


class Linked(NamedTuple):
    """The part of a table that a question speaks of."""

    best: tuple[TableLine, ...]  # lines of what is named best; several where nothing tells them apart
    named: tuple[TableLine, ...]  # one line for each thing that is named, in the order of the question
    # where several kinds of columns are named, the best row's line of each, in the order of the question
    sides: tuple[TableLine, ...]
    covered: float  # share of the best label that is named, by weight
    dated: bool  # every year asked for has a column or a row of its own, or none is asked for


@lru_cache(maxsize=256)
def asked(text: str) -> NamedInClaim:
    """Reads a question or claim."""
    text = text[:LONGEST]
    named_years = tuple(dict.fromkeys(years(text)))
    spans = len(named_years) > 1 and FORMS["from_to"].search(text) is not None
    return NamedInClaim(_content(text), named_years, spans, _months(text))


def _months(text: str) -> frozenset[str]:
    return frozenset(match[0].lower() for match in FORMS["month"].finditer(text))


@lru_cache(maxsize=256)
def link(table: Table, ask: NamedInClaim) -> Linked | None:
    """The lines of a table that are spoken of; None where none is."""
    groups = _groups(table, ask)
    rows = _scores(table.labels, ask.words, table.sections)
    lines = {row: _row_lines(table, row, groups, ask) for row in range(len(table.labels))}
    kept = _best(rows, _dated(lines, ask))
    if not kept:
        return _columns(table, ask)
    shown = tuple(_merged(table, [line for row in kept[:MOST_LINES] for line in lines[row]]))
    order = [(row, column) for row, column in _named(rows, ask.words) if lines[row]]
    named = tuple(TableLine(row, column, line.header, line.entries) for row, column in order for line in lines[row][:1])
    there = {entry.year for line in shown for entry in line.entries} | {None}
    dated = set(ask.years) <= there or not there - {None}
    headers = [_content(line.header) for line in lines[kept[0]]]
    common = set.intersection(*map(set, headers)) if len(headers) > 1 else set()
    own = _scores([" ".join(word for word in header if word not in common) for header in headers], ask.words)
    sides = tuple(lines[kept[0]][n]._replace(place=column) for n, column in _named(own, ask.words))
    return Linked(shown, named, sides, max(rows[row].covered for row in kept), dated) if shown else None


def _merged(table: Table, lines: Sequence[TableLine]) -> Iterator[TableLine]:
    """Rows of one name that stand under one year each as one line."""
    alike: dict[tuple[str, str], list[TableLine]] = {}
    for line in lines:
        alike.setdefault((_kind(table.labels[line.row or 0]), line.header), []).append(line)
    for same in alike.values():
        entries = tuple(entry for line in same for entry in line.entries)
        dates = {entry.year for entry in entries}
        whole = None not in dates and len(dates) == len(entries)
        yield from [same[0]._replace(entries=entries)] if whole else same


class _Score(NamedTuple):
    value: float
    covered: float
    hits: frozenset[str]


def _scores(labels: Sequence[str], words: Sequence[str], sections: Sequence[str] = ()) -> list[_Score]:
    """How well each label is named: its words that are, by how rare they are among the labels, less half the others."""
    own = [_content(FORMS["round"].sub(" ", label)) or _content(label) for label in labels]
    full = [_content(label) for label in labels]
    above = [set(_content(section)) - set(row) for section, row in zip(sections or [""] * len(own), full, strict=True)]
    often = Counter(word for row, over in zip(full, above, strict=True) for word in {*row, *over})
    weight = {word: log(1 + len(labels) / count) for word, count in often.items()}
    named = frozenset(words)
    scores = []
    for n, row in enumerate(own):
        hits = frozenset(full[n]) & named
        hit = sum(weight[word] for word in hits)
        missed = sum(weight[word] * (LIGHTLY if word.isdigit() or word in LIGHT else 1) for word in set(row) - named)
        over = SECTION * sum(weight[word] for word in above[n] & named) if hits else 0.0
        scores.append(_Score(hit - MISSED * missed + over, hit / (hit + missed) if hit else 0.0, hits))
    return scores


@lru_cache(maxsize=256)
def _content(label: str) -> tuple[str, ...]:
    return tuple(unit for unit in units_of(FORMS["glued"].sub("", label), "words") if unit not in STOPS or unit in KEPT)


def _best(scores: Sequence[_Score], among: Iterable[int] | None = None) -> list[int]:
    able = [n for n in (range(len(scores)) if among is None else among) if scores[n].hits]
    if not able:
        return []
    top = max(scores[n].value for n in able)
    return [n for n in able if scores[n].value >= top - ALIKE]


def _dated(lines: Mapping[int, Sequence[TableLine]], ask: NamedInClaim) -> list[int]:
    """Rows with numbers, and where any has one of a year that is asked for only those, and those without years."""
    filled = [row for row, own in lines.items() if own]
    dates = {row: {entry.year for line in lines[row] for entry in line.entries} - {None} for row in filled}
    if not any(dates[row] & set(ask.years) for row in filled):
        return filled
    return [row for row in filled if not dates[row] or dates[row] & set(ask.years)]


def _named(scores: Sequence[_Score], words: Sequence[str]) -> list[tuple[int, int]]:
    """Rows that are named by words of their own, in the order of the words, and where they stand."""
    taken: set[int] = set()
    pairs = []
    order = sorted((n for n, score in enumerate(scores) if score.covered >= COVERED), key=lambda n: -scores[n].value)
    for n in order[: 2 * MOST_LINES]:
        free = [index for index, word in enumerate(words) if word in scores[n].hits and index not in taken]
        if {words[index] for index in free} != scores[n].hits:
            continue
        rare = next(index for index in free if free.count(index))
        own = _nearest(free, words, rare)
        taken |= own
        pairs.append((n, min(own)))
    return sorted(pairs, key=lambda pair: pair[1])


def _nearest(free: Sequence[int], words: Sequence[str], first: int) -> set[int]:
    """One place for each word, close together: of several that are named alike, the closest to the words named once."""
    once = [index for index in free if sum(words[other] == words[index] for other in free) == 1]
    middle = sum(once) / len(once) if once else first
    chosen: dict[str, int] = {}
    for nearest in sorted(free, key=lambda index: (abs(index - middle), -index)):
        chosen.setdefault(words[nearest], nearest)
    return set(chosen.values())


def _groups(table: Table, ask: NamedInClaim) -> list[tuple[str, list[int]]]:
    """Columns that say the same but for the year, those named best first, and only those where any is named."""
    groups: dict[str, list[int]] = {}
    for column, header in enumerate(table.headers[1:], 1):
        groups.setdefault(_kind(header), []).append(column)
    kinds = list(groups)
    common = set.intersection(*(set(_content(kind)) for kind in kinds)) if len(kinds) > 1 else set()
    scores = _scores([" ".join(word for word in _content(kind) if word not in common) for kind in kinds], ask.words)
    shares = {n for n, kind in enumerate(kinds) if FORMS["share"].search(kind) and SHARED.isdisjoint(ask.words)}
    best = [n for n in _best(scores) if n not in shares] or [n for n in range(len(kinds)) if n not in shares]
    best = best or list(range(len(kinds)))
    own = [n for n, _ in _named(scores, ask.words) if n not in best and n not in shares]
    chosen = {*best, *own}
    rest = (n for n in range(len(kinds)) if n not in chosen and n not in shares)
    order = [*best, *own, *(n for n in rest if PLAIN.issuperset(_content(kinds[n])))]
    return [(kinds[n], groups[kinds[n]]) for n in order[:MOST_LINES]]


@lru_cache(maxsize=256)
def _kind(header: str) -> str:
    """A header without its years and dates."""
    bare = FORMS["dates"].sub(" ", FORMS["days"].sub(" ", header))
    return " ".join(re.sub(r"[^\w%$€£¥₹]", " ", bare).split()).lower()


def _row_lines(table: Table, row: int, groups: Sequence[tuple[str, list[int]]], ask: NamedInClaim) -> list[TableLine]:
    cells = {cell.column: cell for cell in _by_row(table).get(row, ())}
    above, own = years(table.sections[row]), years(table.labels[row])
    lines = []
    for kind, columns in groups:
        entries = []
        for column in columns:
            if column in cells:
                dates = above or years(table.headers[column]) or own
                entries.append(LineCell(cells[column], dates[-1] if dates else None))
        if ask.months and len({entry.year for entry in entries}) < len(entries):  # of several of one year, by months
            asked_for = [entry for entry in entries if _months(table.headers[entry.cell.column]) & ask.months]
            entries = asked_for or entries
        if entries:
            lines.append(TableLine(row, 0, kind, tuple(entries)))
    return lines


def _columns(table: Table, ask: NamedInClaim) -> Linked | None:
    """Where the rows are years and the columns are what is measured."""
    scores = _scores([_kind(header) for header in table.headers], ask.words)
    rows = {n: years(label)[-1:] for n, label in enumerate(table.labels)}
    if len(rows) > 1 and not any(rows.values()):
        return None  # rows of other things, and which is meant is not said
    shown = [_column_line(table, column, 0, rows) for column in _best(scores)[:MOST_LINES]]
    order = _named(scores, ask.words)
    named = tuple(_column_line(table, column, position, rows) for column, position in order)
    shown = [line for line in shown if line.entries]
    if not shown:
        return None
    there = {entry.year for line in shown for entry in line.entries}
    covered = max(scores[column].covered for column in _best(scores))
    return Linked(tuple(shown), named, (), covered, set(ask.years) <= there or not there - {None})


def _column_line(table: Table, column: int, position: int, rows: dict[int, list[int]]) -> TableLine:
    cells = [cell for cell in table.cells if cell.column == column]
    entries = tuple(LineCell(cell, rows[cell.row][0] if rows[cell.row] else None) for cell in cells)
    return TableLine(None, position, _kind(table.headers[column]), entries)


@lru_cache(maxsize=256)
def _by_row(table: Table) -> dict[int, tuple[TableCell, ...]]:
    by_row: dict[int, list[TableCell]] = {}
    for cell in table.cells:
        by_row.setdefault(cell.row, []).append(cell)
    return {row: tuple(cells) for row, cells in by_row.items()}
