"""Which rows and columns of a table a question or a claim speaks of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from ragauge.judges.local.index import STOP_UNITS, split_units
from ragauge.text.tables import Table, TableCell, find_years
from ragauge.text.word_files import read_patterns, read_sets

MAX_TEXT_CHARS = 1_000  # characters of a question or claim that are looked at
MIN_COVERED = 0.6  # share of a row's label, by weight, that names it
TIE_MARGIN = 0.15  # scores as near as this are ties
MISSED_WEIGHT = 0.8  # what a word of a label counts that is not named, against one that is
LIGHT_WEIGHT = 0.3  # what a number, or "total" or "net", in a label counts where it is not named, against a word
FORMS = read_patterns(__file__, "cells")
PLAIN_WORDS, SHARE_WORDS = read_sets(__file__, "cells", "nothing shares")  # of no column of its own; asking for a share
LIGHT_WORDS = frozenset(["total", "net"])
SECTION_WEIGHT = 0.6  # what a word of a row's section counts, against one of its label
MAX_LINES = 12  # rows, and groups of columns, that are looked at
KEPT_STOPS = frozenset(
    ["other", "not", "non", "befor", "after", "under", "over", "before"]
)  # tell one row from another


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


class LinkedLines(NamedTuple):
    """The part of a table that a question speaks of."""

    best: tuple[TableLine, ...]  # lines of what is named best; several where nothing tells them apart
    named: tuple[TableLine, ...]  # one line for each thing that is named, in the order of the question
    # where several kinds of columns are named, the best row's line of each, in the order of the question
    sides: tuple[TableLine, ...]
    covered: float  # share of the best label that is named, by weight
    dated: bool  # every year asked for has a column or a row of its own, or none is asked for


@lru_cache(maxsize=256)
def parse_named(text: str) -> NamedInClaim:
    """Reads a question or claim."""
    text = text[:MAX_TEXT_CHARS]
    named_years = tuple(dict.fromkeys(find_years(text)))
    spans = len(named_years) > 1 and FORMS["from_to"].search(text) is not None
    return NamedInClaim(_list_content(text), named_years, spans, _find_months(text))


def _find_months(text: str) -> frozenset[str]:
    return frozenset(match[0].lower() for match in FORMS["month"].finditer(text))


@lru_cache(maxsize=256)
def link_table(table: Table, ask: NamedInClaim) -> LinkedLines | None:
    """The lines of a table that are spoken of; None where none is."""
    groups = _group_columns(table, ask)
    rows = _score_labels(table.labels, ask.words, table.sections)
    lines = {row: _build_row_lines(table, row, groups, ask) for row in range(len(table.labels))}
    best_rows = _select_best(rows, _select_dated_rows(lines, ask))
    if not best_rows:
        return _link_columns(table, ask)
    best_lines = tuple(_merge_rows(table, [line for row in best_rows[:MAX_LINES] for line in lines[row]]))
    order = [(row, column) for row, column in _find_named(rows, ask.words) if lines[row]]
    named_lines = tuple(
        TableLine(row, column, line.header, line.entries) for row, column in order for line in lines[row][:1]
    )
    present_years = {entry.year for line in best_lines for entry in line.entries} | {None}
    dated = set(ask.years) <= present_years or not present_years - {None}
    headers = [_list_content(line.header) for line in lines[best_rows[0]]]
    common = set.intersection(*map(set, headers)) if len(headers) > 1 else set()
    header_scores = _score_labels(
        [" ".join(word for word in header if word not in common) for header in headers], ask.words
    )
    header_lines = tuple(
        lines[best_rows[0]][n]._replace(place=column) for n, column in _find_named(header_scores, ask.words)
    )
    return (
        LinkedLines(best_lines, named_lines, header_lines, max(rows[row].covered for row in best_rows), dated)
        if best_lines
        else None
    )


def _merge_rows(table: Table, lines: Sequence[TableLine]) -> Iterator[TableLine]:
    """Rows of one name that stand under one year each as one line."""
    groups: dict[tuple[str, str], list[TableLine]] = {}
    for line in lines:
        groups.setdefault((_strip_dates(table.labels[line.row or 0]), line.header), []).append(line)
    for same in groups.values():
        entries = tuple(entry for line in same for entry in line.entries)
        dates = {entry.year for entry in entries}
        is_series = None not in dates and len(dates) == len(entries)
        yield from [same[0]._replace(entries=entries)] if is_series else same


class _Score(NamedTuple):
    value: float
    covered: float
    hits: frozenset[str]


def _score_labels(labels: Sequence[str], words: Sequence[str], sections: Sequence[str] = ()) -> list[_Score]:
    """How well each label is named: its words that are, by how rare they are among the labels, less half the others."""
    label_words = [_list_content(FORMS["round"].sub(" ", label)) or _list_content(label) for label in labels]
    full = [_list_content(label) for label in labels]
    above = [
        set(_list_content(section)) - set(row)
        for section, row in zip(sections or [""] * len(label_words), full, strict=True)
    ]
    often = Counter(word for row, over in zip(full, above, strict=True) for word in {*row, *over})
    weight = {word: log(1 + len(labels) / count) for word, count in often.items()}
    named_words = frozenset(words)
    scores = []
    for n, row in enumerate(label_words):
        hits = frozenset(full[n]) & named_words
        hit = sum(weight[word] for word in hits)
        missed = sum(
            weight[word] * (LIGHT_WEIGHT if word.isdigit() or word in LIGHT_WORDS else 1)
            for word in set(row) - named_words
        )
        over = SECTION_WEIGHT * sum(weight[word] for word in above[n] & named_words) if hits else 0.0
        scores.append(_Score(hit - MISSED_WEIGHT * missed + over, hit / (hit + missed) if hit else 0.0, hits))
    return scores


@lru_cache(maxsize=256)
def _list_content(label: str) -> tuple[str, ...]:
    return tuple(
        unit
        for unit in split_units(FORMS["glued"].sub("", label), "words")
        if unit not in STOP_UNITS or unit in KEPT_STOPS
    )


def _select_best(scores: Sequence[_Score], among: Iterable[int] | None = None) -> list[int]:
    able = [n for n in (range(len(scores)) if among is None else among) if scores[n].hits]
    if not able:
        return []
    top = max(scores[n].value for n in able)
    return [n for n in able if scores[n].value >= top - TIE_MARGIN]


def _select_dated_rows(lines: Mapping[int, Sequence[TableLine]], ask: NamedInClaim) -> list[int]:
    """Rows with numbers, and where any has one of a year that is asked for only those, and those without years."""
    filled = [row for row, own_lines in lines.items() if own_lines]
    dates = {row: {entry.year for line in lines[row] for entry in line.entries} - {None} for row in filled}
    if not any(dates[row] & set(ask.years) for row in filled):
        return filled
    return [row for row in filled if not dates[row] or dates[row] & set(ask.years)]


def _find_named(scores: Sequence[_Score], words: Sequence[str]) -> list[tuple[int, int]]:
    """Rows that are named by words of their own, in the order of the words, and where they stand."""
    taken: set[int] = set()
    pairs = []
    order = sorted(
        (n for n, score in enumerate(scores) if score.covered >= MIN_COVERED), key=lambda n: -scores[n].value
    )
    for n in order[: 2 * MAX_LINES]:
        free = [index for index, word in enumerate(words) if word in scores[n].hits and index not in taken]
        if {words[index] for index in free} != scores[n].hits:
            continue
        rare = next(index for index in free if free.count(index))
        indices = _select_nearest(free, words, rare)
        taken |= indices
        pairs.append((n, min(indices)))
    return sorted(pairs, key=lambda pair: pair[1])


def _select_nearest(free: Sequence[int], words: Sequence[str], first: int) -> set[int]:
    """One place for each word, close together: of several that are named alike, the closest to the words named once."""
    once = [index for index in free if sum(words[other] == words[index] for other in free) == 1]
    middle = sum(once) / len(once) if once else first
    index_by_word: dict[str, int] = {}
    for nearest in sorted(free, key=lambda index: (abs(index - middle), -index)):
        index_by_word.setdefault(words[nearest], nearest)
    return set(index_by_word.values())


def _group_columns(table: Table, ask: NamedInClaim) -> list[tuple[str, list[int]]]:
    """Columns that say the same but for the year, those named best first, and only those where any is named."""
    groups: dict[str, list[int]] = {}
    for column, header in enumerate(table.headers[1:], 1):
        groups.setdefault(_strip_dates(header), []).append(column)
    kinds = list(groups)
    common = set.intersection(*(set(_list_content(kind)) for kind in kinds)) if len(kinds) > 1 else set()
    scores = _score_labels(
        [" ".join(word for word in _list_content(kind) if word not in common) for kind in kinds], ask.words
    )
    shares = {n for n, kind in enumerate(kinds) if FORMS["share"].search(kind) and SHARE_WORDS.isdisjoint(ask.words)}
    best = [n for n in _select_best(scores) if n not in shares] or [n for n in range(len(kinds)) if n not in shares]
    best = best or list(range(len(kinds)))
    named_kinds = [n for n, _ in _find_named(scores, ask.words) if n not in best and n not in shares]
    selected = {*best, *named_kinds}
    remaining = (n for n in range(len(kinds)) if n not in selected and n not in shares)
    order = [*best, *named_kinds, *(n for n in remaining if PLAIN_WORDS.issuperset(_list_content(kinds[n])))]
    return [(kinds[n], groups[kinds[n]]) for n in order[:MAX_LINES]]


@lru_cache(maxsize=256)
def _strip_dates(header: str) -> str:
    """A header without its years and dates."""
    bare = FORMS["dates"].sub(" ", FORMS["days"].sub(" ", header))
    return " ".join(re.sub(r"[^\w%$€£¥₹]", " ", bare).split()).lower()


def _build_row_lines(
    table: Table, row: int, groups: Sequence[tuple[str, list[int]]], ask: NamedInClaim
) -> list[TableLine]:
    cells = {cell.column: cell for cell in _group_by_row(table).get(row, ())}
    section_years, label_years = find_years(table.sections[row]), find_years(table.labels[row])
    lines = []
    for kind, columns in groups:
        entries = []
        for column in columns:
            if column in cells:
                dates = section_years or find_years(table.headers[column]) or label_years
                entries.append(LineCell(cells[column], dates[-1] if dates else None))
        if ask.months and len({entry.year for entry in entries}) < len(entries):  # of several of one year, by months
            asked_for = [entry for entry in entries if _find_months(table.headers[entry.cell.column]) & ask.months]
            entries = asked_for or entries
        if entries:
            lines.append(TableLine(row, 0, kind, tuple(entries)))
    return lines


def _link_columns(table: Table, ask: NamedInClaim) -> LinkedLines | None:
    """Where the rows are years and the columns are what is measured."""
    scores = _score_labels([_strip_dates(header) for header in table.headers], ask.words)
    rows = {n: find_years(label)[-1:] for n, label in enumerate(table.labels)}
    if len(rows) > 1 and not any(rows.values()):
        return None  # rows of other things, and which is meant is not said
    lines = [_build_column_line(table, column, 0, rows) for column in _select_best(scores)[:MAX_LINES]]
    order = _find_named(scores, ask.words)
    named_lines = tuple(_build_column_line(table, column, position, rows) for column, position in order)
    lines = [line for line in lines if line.entries]
    if not lines:
        return None
    present_years = {entry.year for line in lines for entry in line.entries}
    covered = max(scores[column].covered for column in _select_best(scores))
    return LinkedLines(
        tuple(lines), named_lines, (), covered, set(ask.years) <= present_years or not present_years - {None}
    )


def _build_column_line(table: Table, column: int, position: int, rows: dict[int, list[int]]) -> TableLine:
    cells = [cell for cell in table.cells if cell.column == column]
    entries = tuple(LineCell(cell, rows[cell.row][0] if rows[cell.row] else None) for cell in cells)
    return TableLine(None, position, _strip_dates(table.headers[column]), entries)


@lru_cache(maxsize=256)
def _group_by_row(table: Table) -> dict[int, tuple[TableCell, ...]]:
    by_row: dict[int, list[TableCell]] = {}
    for cell in table.cells:
        by_row.setdefault(cell.row, []).append(cell)
    return {row: tuple(cells) for row, cells in by_row.items()}
