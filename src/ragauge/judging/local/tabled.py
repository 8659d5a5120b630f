"""What the tables among the passages say of the amounts of a claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ragauge.data.facts import Strength, Window
from ragauge.judging.local.cells import Asked, Entry, Line, Linked, asked, link
from ragauge.judging.local.index import STOPS, units_of
from ragauge.judging.local.ranked import MANY, WHICH, count, first
from ragauge.judging.local.reckoned import (
    CHANGE,
    FALLING,
    LOSSES,
    MEAN,
    PART,
    RISING,
    WHOLE,
    Result,
    results,
)
from ragauge.judging.local.spoken_sums import spoken
from ragauge.judging.local.sums import Amount, amounts, without
from ragauge.judging.local.support import Weighed
from ragauge.text.tables import Table, scale_of, tables, years

MOST_TABLES = 12
MOST_AMOUNTS = 8        # of one claim
MOST_WHOLES = 3
LONGEST = 1_000         # characters of a claim that are looked at
LONGEST_TEXT = 20_000   # characters of a passage whose words are looked at
FEW = 2                 # words with content, beside its amounts, of a claim that only answers the question
SURE = 0.75             # share of a row's label that is named, from which on another amount is wrong
WORDED = 0.5            # share of a claim's words with content that its passage and the question have to hold
# measured on questions about financial tables, true answers and as many spoilt ones
STATED = 0.9            # p of an amount that stands in the cell asked for
IMPLIED = 0.8           # p of one that follows by the operation asked for
UNMET = 0.2             # most that p may be where the cell asked for holds another amount
UNSURE = 0.45           # the same where it is not sure which cell is asked for
EVERY = -1              # not one thing that is named, but any
_UNITS = "thousand million billion trillion percent per cent usd eur gbp rmb dollar about year total amount valu"
_TOLD = "percentag averag chang differ increas decreas ratio approximately respectively"
PLAIN = frozenset(f"{_UNITS} {_TOLD}".split())      # words that say nothing of which cell is meant
ALL = re.compile(r"\b(?:total|sum|combined|altogether|together|cumulative|aggregate)\b", re.IGNORECASE)
EACH = re.compile(r"\b(?:respective|respectively|each)\b", re.IGNORECASE)
TO = re.compile(r"\b(?:to|at|from)\s+(?:about |approximately |roughly |almost |nearly )?[$€£¥₹(]*\s?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Met:
    """How an amount is borne out: characters [start, end) of a passage, and how it is reckoned from them."""

    passage: int
    start: int
    end: int
    strength: Strength
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why an amount is none of the table's, and the most that p may be."""

    reason: str
    most: float


Found = tuple[int, Table, Linked]       # number of the passage, its table, the part that is spoken of


class Tabled:
    """The tables of the passages, read once for all claims.

    Args:
        query: the question.
        passages: their texts, in order.
    """

    def __init__(self, query: str, passages: Sequence[str]) -> None:
        self.query = query[:LONGEST]
        self.texts = passages
        self.tables = [(n, table) for n, text in enumerate(passages, 1) for table in tables(text)][:MOST_TABLES]
        told = {scale_of(text) for text in passages} - {None} if self.tables else set()
        self.scale = told.pop() if len(told) == 1 else None

    def mend(self, claim: str, found: Weighed) -> tuple[Weighed, Strength | None]:
        """The verdict on a claim, with what tables say of its amounts, and the strength of its support.

        A claim whose amounts all stand in the cells that it names (or of a bare amount, the question), or follow from
        them by the one operation that is named, is supported. One with another amount is not, unless that stands
        beside the tables as well.
        """
        plain: Strength | None = "direct" if found.supporting else None
        if found.contradicting and not found.supporting:
            return found, plain
        claim = claim[:LONGEST]
        numbers = amounts(claim)[:MOST_AMOUNTS]
        said = {(one.written, one.percent) for one in amounts(self.query)}
        own = [one for one in numbers if (one.written, one.percent) not in said] or numbers
        verdict = self._ranked(claim, own) or (self._verdict(claim, own) if own else None)
        if verdict is None and not found.supporting and len(own) == 1:
            verdict = self._spoken(claim, own[0])
        if isinstance(verdict, Wrong):
            if verdict.most > found.p:
                return (replace(found, reason=verdict.reason) if verdict.most <= UNMET else found), plain
            return replace(found, p=verdict.most, supporting=(), joint=False, reason=verdict.reason), None
        return _supported(found, verdict) if verdict else (found, plain)

    def _verdict(self, claim: str, numbers: Sequence[Amount]) -> list[Met] | Wrong | None:
        """How every amount is met; else why one is wrong; None where tables say nothing of it."""
        bare = self._is_bare(claim, numbers)
        wrong = None
        for text, ask in self._readings(claim, numbers, bare=bare):
            linked = [(n, table, part) for n, table in self.tables if (part := link(table, ask)) is not None]
            if not linked or not (bare or self._worded(claim, linked)):
                continue
            met = [
                self._met(one, linked, _nth(ask, n, len(numbers), bare=bare), text, None if bare else EVERY)
                for n, one in enumerate(numbers)
            ]
            if bare and None in met and len(numbers) > 1:
                met = [self._met(one, linked, ask, text, n) for n, one in enumerate(numbers)]
            if None not in met:
                return [one for one in met if one is not None]
            wrong = wrong or self._wrong([one for one, how in zip(numbers, met, strict=True) if not how], linked)
        return wrong

    def _is_bare(self, claim: str, numbers: Sequence[Amount]) -> bool:
        """Whether a claim is an amount with hardly a word, which names no row or column by itself."""
        rest = without(claim, numbers)
        own = _content(rest)
        if not own or len(own) > FEW:
            return not own
        said = asked(rest)
        parts = (link(table, replace(said, years=())) for _, table in self.tables)
        return not any(part is not None and part.covered >= SURE for part in parts)

    def _spoken(self, claim: str, one: Amount) -> list[Met] | None:
        """Whether an amount that no passage holds follows from those of one sentence."""
        bare = self._is_bare(claim, [one])
        text, ask = f"{self.query}\n{claim}", asked(self.query if bare else without(claim, [one]))
        for n, result in spoken(text, ask, self.texts):
            if any(each.is_value(result.value, 0, percent=result.percent) for each in _signs(one, result, text)):
                return [_reckoned(one, n, result)]
        return None

    def _ranked(self, claim: str, numbers: Sequence[Amount]) -> list[Met] | Wrong | None:
        """Whether a bare year, or a bare count, is the one that the question asks for by a comparison."""
        if not (WHICH.search(self.query) or MANY.search(self.query)) or not self._is_bare(claim, numbers):
            return None
        ask, told = asked(self.query), years(claim)
        for n, table in self.tables:
            part = link(table, ask)
            if part is None or part.covered < SURE:
                continue
            line = part.best[0]
            shown = ", ".join(f"{entry.year}: {entry.cell.value:,g}" for entry in line.entries if entry.year)
            top = first(line, self.query, ask) if len(told) == 1 and not numbers else None
            many = count(line, self.query, ask, self._limit(table)) if len(numbers) == 1 else None
            if top is not None or many is not None:
                right = top.year == told[0] if top is not None else numbers[0].written == many
                cells = [entry.cell for entry in line.entries]
                met = Met(n, cells[0].start, cells[-1].end, "implied", shown)
                return [met] if right else Wrong(f"passage {n} has {shown}", UNMET)
        return None

    def _limit(self, table: Table) -> float | None:
        """The question's one amount, in the table's scale."""
        scale = table.scale if table.scale is not None else self.scale
        found = amounts(self.query)
        if len(found) != 1:
            return None
        one = found[0]
        return one.written * 10.0 ** (one.shift - scale) if one.shift and scale is not None else one.written

    def _readings(self, claim: str, numbers: Sequence[Amount], *, bare: bool) -> list[tuple[str, Asked]]:
        """Words that tell which cell is meant: a claim's own, then with the question's; of a bare amount these."""
        both = f"{self.query}\n{claim}"
        query = asked(self.query)
        if bare:
            return [(both, query)]
        said = asked(without(claim, numbers))
        dated = said if said.years else replace(said, years=query.years, spans=query.spans, months=query.months)
        return [(both, dated), (both, replace(dated, words=(*query.words, *said.words)))]

    def _met(self, one: Amount, linked: Sequence[Found], ask: Asked, text: str, nth: int | None) -> Met | None:
        """How an amount is met.

        Args:
            one: the amount.
            linked: the parts of tables that are spoken of.
            ask: what is named.
            text: question and claim.
            nth: which of several things that are named it is of; None = of the one named best.
        """
        for found in linked:
            met = self._stated(one, found, ask, text, nth) or self._implied(one, found, ask, text)
            if met is not None:
                return met
        return None

    def _stated(self, one: Amount, found: Found, ask: Asked, text: str, nth: int | None) -> Met | None:
        n, table, part = found
        if ask.years and not part.dated:
            return None
        for line in _lines(part, nth):
            label = _label(table, line)
            if _asks_more(self.query if nth != EVERY else _asking(text, one), label, percent=one.percent):
                continue
            for entry in line.entries:
                cell = entry.cell
                loss = one.written >= 0 > cell.value and LOSSES.search(f"{label} {text}")
                each = [one, one.flipped()] if loss else [one]
                if _in_time(entry, ask) and any(
                    sign.is_value(cell.value, scale, percent=cell.percent)
                    for sign in each
                    for scale in self._scales(table, cell.row)
                ):
                    return Met(n, cell.start, cell.end, "direct")
        return None

    def _implied(self, one: Amount, found: Found, ask: Asked, text: str) -> Met | None:
        n, table, part = found
        for result in results(part, _wholes(table, part), ask, text):
            scales = (0,) if result.pure else self._scales(table, result.entries[0].cell.row)
            readings = [(each, scale) for each in _signs(one, result, text) for scale in scales]
            if any(each.is_value(result.value, scale, percent=result.percent) for each, scale in readings):
                return _reckoned(one, n, result)
        return None

    def _scales(self, table: Table, row: int) -> tuple[int | None, ...]:
        """Powers of ten that a row's numbers may be meant in; an amount per share is not in millions."""
        scale = table.scale if table.scale is not None else self.scale
        return (0, scale) if row in table.unscaled else (scale,)

    def _worded(self, claim: str, linked: Sequence[Found]) -> bool:
        """Whether the words of a claim stand in a passage with such a table, or in the question."""
        own = _content(claim)
        there = set(units_of(self.query, "words")).union(*(_words(self.texts[n - 1]) for n, _, _ in linked))
        return len(own & there) >= WORDED * len(own)

    def _wrong(self, missing: Sequence[Amount], linked: Sequence[Found]) -> Wrong | None:
        """Why amounts that are not met are wrong: a table has others in their place."""
        if all(self._beside(one) for one in missing):
            return None
        n, table, part = max(linked, key=lambda found: (found[2].dated, found[2].covered))
        sure = part.dated and part.covered >= SURE
        shown = ", ".join(f"{entry.cell.value:,g}" for entry in part.best[0].entries[:3])
        reason = f"passage {n} has {shown} for {_label(table, part.best[0])!r}"
        return Wrong(reason, UNMET if sure else UNSURE)

    def _beside(self, one: Amount) -> bool:
        """Whether an amount stands in a passage beside its tables."""
        for text in self.texts:
            spans = [(cell.start, cell.end) for table in tables(text) for cell in table.cells]
            for other in amounts(text):
                at = other.specific.start
                if abs(other.written) == abs(one.written) and not any(start <= at < end for start, end in spans):
                    return True
        return False


def _reckoned(one: Amount, passage: int, result: Result) -> Met:
    cells = sorted((entry.cell for entry in result.entries), key=lambda cell: cell.start)
    reason = f"{result.formula} = {one.specific.text}, passage {passage}"
    return Met(passage, cells[0].start, cells[-1].end, "implied", reason)


def _supported(found: Weighed, met: Sequence[Met]) -> tuple[Weighed, Strength]:
    implied = [one for one in met if one.strength == "implied"]
    numbers = tuple(sorted({one.passage for one in met}))
    p = max(found.p, IMPLIED if implied else STATED)
    decides = (implied or met)[0]
    reason = "; ".join(dict.fromkeys(one.reason for one in implied))
    window = Window(decides.passage, decides.start, decides.end)
    supporting = numbers if implied else tuple(sorted({*found.supporting, *numbers}))
    return Weighed(p, supporting, len(numbers) > 1, (), window, reason), "implied" if implied else "direct"


def _content(claim: str) -> set[str]:
    own = (unit for unit in units_of(claim, "words") if unit not in STOPS and unit not in PLAIN)
    return {unit for unit in own if not unit[0].isdigit()}


def _nth(ask: Asked, n: int, count: int, *, bare: bool) -> Asked:
    """Of as many amounts as years each is of its own."""
    return replace(ask, years=(ask.years[n],)) if bare and len(ask.years) == count > 1 else ask


def _lines(part: Linked, nth: int | None) -> Sequence[Line]:
    if nth is None:
        return part.best
    if nth == EVERY:
        return (*part.best, *part.named)
    return [each[nth] for each in (part.named, part.sides) if nth < len(each) > 1]


def _label(table: Table, line: Line) -> str:
    return line.header if line.row is None else f"{table.sections[line.row]} {table.labels[line.row]}".strip()


def _in_time(entry: Entry, ask: Asked) -> bool:
    """Whether a cell is of a year that is asked for, as far as anything dates it."""
    if entry.year is None or not ask.years or entry.year in ask.years:
        return True
    return ask.spans and min(ask.years) < entry.year < max(ask.years)


def _asks_more(text: str, label: str, *, percent: bool) -> bool:
    """Whether a question or claim speaks of what only an operation gives, and the row is not that itself."""
    if len(asked(text).years) > 1 and ALL.search(text) and not ALL.search(label) and not EACH.search(text):
        return True
    asking = (CHANGE, MEAN) if percent else (CHANGE, MEAN, PART)
    return any(words.search(text) and not words.search(label) for words in asking)


def _asking(text: str, one: Amount) -> str:
    """What a statement says an amount is: "the change was 5"; nothing where it says that something changed to it."""
    claim = text.rpartition("\n")[2]
    start = claim.find(one.specific.text)
    return "" if TO.search(claim[:start]) or len(amounts(claim)) > 1 else claim


def _wholes(table: Table, part: Linked) -> list[Line]:
    """Lines of totals, which may be what a share is of."""
    line = part.best[0]
    if line.row is None:
        return []
    columns = {entry.cell.column: entry.year for entry in line.entries}
    found = []
    for row, label in enumerate(table.labels):
        if WHOLE.search(label) and row != line.row:
            cells = [cell for cell in table.cells if cell.row == row and cell.column in columns]
            entries = tuple(Entry(cell, columns[cell.column]) for cell in cells)
            found.append(Line(row, 0, line.header, entries))
    return found[:MOST_WHOLES]


def _signs(one: Amount, result: Result, text: str) -> list[Amount]:
    """The readings of an amount's sign: "fell by 5" is −5 unless it is said to rise as well."""
    claim = text.rpartition("\n")[2]
    if FALLING.search(claim) and not RISING.search(claim):
        return [one.flipped() if one.written > 0 else one]
    return [one, one.flipped()] if result.signs else [one]


@lru_cache(maxsize=128)
def _words(text: str) -> frozenset[str]:
    return frozenset(units_of(text[:LONGEST_TEXT], "words"))
