"""What the tables among the passages say of the amounts of a claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log10

from ragauge.data.facts import Strength, Window
from ragauge.judging.local.cells import Asked, Entry, Line, Linked, asked, link
from ragauge.judging.local.index import STOPS, units_of
from ragauge.judging.local.kinds import EXACT
from ragauge.judging.local.reckoned import CHANGE, FALLING, LOSSES, MEAN, RISING, WHOLE, Amount, Result, results
from ragauge.judging.local.ranked import MANY, WHICH, count, first
from ragauge.judging.local.support import Weighed
from ragauge.text.specifics import find
from ragauge.text.tables import Table, scale_of, tables, years

MOST_TABLES = 12
LONGEST = 1_000         # characters of a claim that are looked at
MOST_AMOUNTS = 8        # of one claim
FEW = 2                 # words with content, beside its amounts, of a claim that only answers the question
SURE = 0.75             # share of a row's label that is named, from which on another amount is wrong
WORDED = 0.5            # share of a claim's words with content that its table and question have to hold
STATED = 0.9            # p of an amount that the cell asked for holds
IMPLIED = 0.8           # p of one that follows by the operation asked for
UNMET = 0.2             # most that p may be where the cell asked for holds another amount
ALL_LINES = -1
SCALED = re.compile(r"\s?\)?\s?(thousand|million|billion|trillion|hundred|mn|bn|m|k)s?\b", re.IGNORECASE)
SCALES = {"hundred": 2, "thousand": 3, "k": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "trillion": 12}
ALL = re.compile(r"\b(?:total|sum|combined|altogether|together|cumulative|aggregate)\b", re.IGNORECASE)
TO = re.compile(r"\b(?:to|at|from)\s+(?:about |approximately |roughly |almost |nearly )?[$€£¥₹(]*\s?$", re.IGNORECASE)
EACH = re.compile(r"\b(?:respective|respectively|each)\b", re.IGNORECASE)
BRACKET = re.compile(r"\(\s?[$€£¥₹]?\s?$|[-–−—]\s?[$€£¥₹]?\s?$")
DIGITS = re.compile(r"\d[\d,. ]*\d|\d")
_PLAIN = "thousand million billion trillion percent per cent usd eur gbp dollar approximately about year total amount value"
PLAIN = frozenset(_PLAIN.split()) | {"usd", "rmb", "valu", "percentag", "averag", "chang", "differ", "increas", "decreas", "ratio"}


@dataclass(frozen=True, slots=True)
class Met:
    """How a table bears an amount out."""

    passage: int
    start: int
    end: int
    strength: Strength
    formula: str


class Tabled:
    """The tables of the passages, read once for all claims.

    Args:
        query: the question.
        passages: their texts, in order.
    """

    def __init__(self, query: str, passages: Sequence[str]) -> None:
        self.query = query
        found = [(n, table) for n, text in enumerate(passages, 1) for table in tables(text)]
        self.tables = found[:MOST_TABLES]
        told = {scale for text in passages if (scale := scale_of(text)) is not None} if found else set()
        self.scale = told.pop() if len(told) == 1 else None
        self.texts = passages

    def mend(self, claim: str, found: Weighed) -> tuple[Weighed, Strength | None]:
        """The verdict on a claim, with what tables say of its amounts; and the strength of the support.

        A claim whose amounts all stand in the cells that it (or of a bare amount the question) names, or follow from
        them by the one operation named, is supported. One with another amount than the cell that it names is not.
        """
        plain: Strength | None = "direct" if found.supporting else None
        if not self.tables or (found.contradicting and not found.supporting):
            return found, plain
        numbers = amounts(claim)[:MOST_AMOUNTS]
        own = [one for one in numbers if not _repeated(one, self.query)] or numbers
        verdict = self._ranked(claim, own) or (self._verdict(claim, own) if own else "")
        if isinstance(verdict, list):
            return self._supported(found, verdict)
        if verdict:
            return replace(found, p=min(found.p, UNMET), supporting=(), joint=False, reason=verdict), None
        return found, plain

    def _verdict(self, claim: str, numbers: Sequence[Amount]) -> list[Met] | str:
        """How every amount is met; else why one is wrong, or an empty text where tables say nothing of it."""
        bare = _is_bare(claim, numbers)
        said = asked(_without(claim, numbers))
        reason = ""
        for text, ask in self._readings(claim, said, bare=bare):
            linked = [(n, table, part) for n, table in self.tables if (part := link(table, ask)) is not None]
            if not linked:
                continue
            met = [
                self._met(one, linked, _nth(ask, n, len(numbers), bare=bare), text, None if bare else ALL_LINES)
                for n, one in enumerate(numbers)
            ]
            if bare and None in met and len(numbers) > 1:
                met = [self._met(one, linked, ask, text, n) for n, one in enumerate(numbers)]
            if None not in met and (bare or self._worded(claim, linked)):
                return [one for one in met if one is not None]
            if bare or self._worded(claim, linked):
                reason = reason or self._unmet(numbers, met, linked)
        return reason

    def _ranked(self, claim: str, numbers: Sequence[Amount]) -> list[Met] | str:
        """Whether a bare year, or a bare count, is the one that the question asks for by a comparison."""
        ask = asked(self.query)
        told = years(claim)
        if not (WHICH.search(self.query) or MANY.search(self.query)) or not _is_bare(claim, numbers):
            return ""
        for n, table in self.tables:
            part = link(table, ask)
            if part is None or part.covered < SURE:
                continue
            line = part.best[0]
            shown = ", ".join(f"{entry.year}: {entry.cell.value:,g}" for entry in line.entries if entry.year)
            top = first(line, self.query, ask) if len(told) == 1 and not numbers else None
            if top is not None:
                met = Met(n, top.cell.start, top.cell.end, "implied", f"{shown}")
                return [met] if top.year == told[0] else f"passage {n} has {shown}"
            many = count(line, self.query, ask, self._limits(table)) if len(numbers) == 1 else None
            if many is not None:
                met = Met(n, line.entries[0].cell.start, line.entries[-1].cell.end, "implied", f"{shown}")
                return [met] if numbers[0].written == many else f"passage {n} has {shown}"
        return ""

    def _limits(self, table: Table) -> list[float]:
        scale = table.scale if table.scale is not None else self.scale
        found = amounts(self.query)
        if len(found) != 1:
            return []
        one = found[0]
        return [one.written * 10.0 ** (one.shift - scale) if one.shift and scale is not None else one.written]

    def _readings(self, claim: str, said: Asked, *, bare: bool) -> list[tuple[str, Asked]]:
        """Words that tell which cell is meant: a claim's own, and those with the question's."""
        both = f"{self.query}\n{claim}"
        query = asked(self.query)
        joint = Asked((*query.words, *said.words), said.years or query.years, query.spans or said.spans)
        if bare:
            return [(both, Asked(query.words, query.years, query.spans))]
        return [(both, replace(said, years=said.years or query.years)), (both, joint)]

    def _met(
        self, one: Amount, linked: Sequence[tuple[int, Table, Linked]], ask: Asked, text: str, nth: int | None
    ) -> Met | None:
        """How an amount is met; nth: which of several things that are named it is of, None = of the one named best."""
        for n, table, part in linked:
            found = self._stated(one, n, table, part, ask, text, nth) or self._implied(one, n, table, part, ask, text)
            if found is not None:
                return found
        return None

    def _stated(
        self, one: Amount, n: int, table: Table, part: Linked, ask: Asked, text: str, nth: int | None
    ) -> Met | None:
        for line in _lines(part, nth):
            label = _label(table, line)
            if _asks_more(self.query if nth != ALL_LINES else _asking(text, one), label):
                continue
            for entry in line.entries:
                if not _in_time(entry, ask) or (not part.dated and ask.years):
                    continue
                value, scales = entry.cell.value, self._scales(table, entry.cell.row)
                signs = [one] if one.written < 0 or value >= 0 or not LOSSES.search(f"{label} {text}") else [one, one.flipped()]
                if any(each.is_value(value, one_of, percent=entry.cell.percent) for each in signs for one_of in scales):
                    return Met(n, entry.cell.start, entry.cell.end, "direct", "")
        return None

    def _implied(self, one: Amount, n: int, table: Table, part: Linked, ask: Asked, text: str) -> Met | None:
        wholes = _wholes(table, part)
        for result in results(part, wholes, ask, text):
            scales = (0,) if result.pure else self._scales(table, result.entries[0].cell.row)
            readings = [(each, scale) for each in _signs(one, result, text) for scale in scales]
            if any(each.is_value(result.value, scale, percent=result.percent) for each, scale in readings):
                first, last = result.entries[0].cell, result.entries[-1].cell
                shown = f"{result.formula} = {one.specific.text}"
                return Met(n, min(first.start, last.start), max(first.end, last.end), "implied", shown)
        return None

    def _scales(self, table: Table, row: int) -> tuple[int | None, ...]:
        """Powers of ten that a row's numbers may be meant in; an amount per share is not in millions."""
        scale = table.scale if table.scale is not None else self.scale
        return (0, scale) if row in table.unscaled else (scale,)

    def _worded(self, claim: str, linked: Sequence[tuple[int, Table, Linked]]) -> bool:
        """Whether the words of a claim stand in its passage or in the question."""
        own = {unit for unit in units_of(claim, "words") if unit not in STOPS and unit not in PLAIN and not unit[0].isdigit()}
        there = set(units_of(self.query, "words")).union(*(_words(self.texts[n - 1]) for n, _, _ in linked))
        return len(own & there) >= WORDED * len(own)

    def _unmet(
        self, numbers: Sequence[Amount], met: Sequence[Met | None], linked: Sequence[tuple[int, Table, Linked]]
    ) -> str:
        """Why an amount is wrong, where a table surely has another in its place."""
        sure = [(n, table, part) for n, table, part in linked if part.covered >= SURE and part.dated]
        if not sure:
            return ""
        missing = [one for one, how in zip(numbers, met, strict=True) if how is None]
        outside = [one for one in missing if not self._in_prose(one)]
        if not outside:
            return ""
        n, table, part = sure[0]
        shown = ", ".join(f"{entry.cell.value:,g}" for entry in part.best[0].entries[:3])
        return f"passage {n} has {shown} for {_label(table, part.best[0])!r}"

    def _in_prose(self, one: Amount) -> bool:
        """Whether an amount stands in a passage beside its tables."""
        for text in self.texts:
            spans = [(cell.start, cell.end) for table in tables(text) for cell in table.cells]
            for other in amounts(text[:20_000]):
                at = other.specific.start
                if abs(other.written) == abs(one.written) and not any(start <= at < end for start, end in spans):
                    return True
        return False

    def _supported(self, found: Weighed, met: Sequence[Met]) -> tuple[Weighed, Strength]:
        implied = [one for one in met if one.strength == "implied"]
        numbers = tuple(sorted({one.passage for one in met}))
        p = max(found.p, IMPLIED if implied else STATED)
        first = (implied or met)[0]
        reason = "; ".join(f"{one.formula}, passage {one.passage}" for one in implied)
        window = Window(first.passage, first.start, first.end)
        supporting = numbers if implied else tuple(sorted({*found.supporting, *numbers}))
        return Weighed(p, supporting, len(numbers) > 1, (), window, reason), "implied" if implied else "direct"


@lru_cache(maxsize=1_024)
def amounts(text: str) -> tuple[Amount, ...]:
    """The amounts of a text, with sign and multiplier as tables are read; dates are none."""
    found = []
    for one in find(text, EXACT):
        if one.kind == "date":
            continue
        written = DIGITS.search(one.text)
        try:
            value = float(one.normal.removesuffix("%"))
        except ValueError:
            continue
        digits = written[0].replace(",", "").replace(" ", "") if written else ""
        bare = float(digits) if re.fullmatch(r"\d+(?:\.\d+)?", digits) else abs(value)
        shift = round(log10(abs(value) / bare)) if bare and value else 0
        after = SCALED.match(text, one.end) if not shift and one.kind == "number" else None
        shift = SCALES[after[1].lower()] if after else shift
        percent = one.kind == "percent" or bool(re.match(r"\s?\)\s?%", text[one.end : one.end + 4]))
        negative = value < 0 or BRACKET.search(text[max(0, one.start - 4) : one.start]) is not None
        decimals = len(digits.partition(".")[2])
        money = one.unit in ("$", "€", "£", "¥", "₹")
        found.append(Amount(-bare if negative else bare, shift, 10.0**-decimals, percent, money, one))
    return tuple(found)


def _is_bare(claim: str, numbers: Sequence[Amount]) -> bool:
    own = [unit for unit in units_of(_without(claim, numbers), "words") if unit not in STOPS and unit not in PLAIN]
    return len([unit for unit in own if not unit[0].isdigit()]) <= FEW


def _without(claim: str, numbers: Sequence[Amount]) -> str:
    """A claim with its amounts left out."""
    rest = list(claim)
    for one in numbers:
        rest[one.specific.start : one.specific.end] = " " * (one.specific.end - one.specific.start)
    return "".join(rest)


def _repeated(one: Amount, query: str) -> bool:
    return any(other.written == one.written and other.percent == one.percent for other in amounts(query))


def _label(table: Table, line: Line) -> str:
    return f"{table.sections[line.row]} {table.labels[line.row]}".strip() if line.row is not None else line.header


def _nth(ask: Asked, n: int, count: int, *, bare: bool) -> Asked:
    """Of as many amounts as years each is of its own."""
    return replace(ask, years=(ask.years[n],)) if bare and len(ask.years) == count > 1 else ask


def _lines(part: Linked, nth: int | None) -> Sequence[Line]:
    if nth is None:
        return part.best
    if nth == ALL_LINES:
        return (*part.best, *part.named)
    return [each[nth] for each in (part.named, part.sides) if nth < len(each) > 1]


def _in_time(entry: Entry, ask: Asked) -> bool:
    """Whether a cell is of a year that is asked for, as far as anything dates it."""
    if entry.year is None or not ask.years or entry.year in ask.years:
        return True
    return ask.spans and min(ask.years) < entry.year < max(ask.years)


def _asks_more(query: str, label: str) -> bool:
    """Whether the question asks for what only an operation gives, and the row is not that itself."""
    if len(asked(query).years) > 1 and ALL.search(query) and not ALL.search(label) and not EACH.search(query):
        return True
    for words in (CHANGE, MEAN):
        found = words.search(query)
        if found is not None and not words.search(label):
            return True
    return bool(re.search(r"\bratio\b", query, re.IGNORECASE)) and "ratio" not in label.lower()


def _asking(text: str, one: Amount) -> str:
    """What a statement says an amount is: "the change was 5"; nothing where it says that something changed to it."""
    claim = text.rpartition("\n")[2]
    start = claim.find(one.specific.text)
    return "" if TO.search(claim[:start]) or len(amounts(claim)) > 1 else claim[:LONGEST]


def _wholes(table: Table, part: Linked) -> list[Line]:
    """Lines of totals beside those that are named."""
    first = part.best[0]
    columns = {entry.cell.column: entry.year for entry in first.entries}
    found = []
    for row, label in enumerate(table.labels):
        if WHOLE.search(label) and row != first.row and first.row is not None:
            cells = [cell for cell in table.cells if cell.row == row and cell.column in columns]
            found.append(Line(row, 0, first.header, tuple(Entry(cell, columns[cell.column]) for cell in cells)))
    return found[:3]


def _signs(one: Amount, result: Result, text: str) -> list[Amount]:
    """The readings of an amount's sign: "fell by 5" is −5 unless it is said to rise as well."""
    claim = text.rpartition("\n")[2]
    if FALLING.search(claim) and not RISING.search(claim):
        return [one.flipped() if one.written > 0 else one]
    return [one, one.flipped()] if result.signs else [one]


@lru_cache(maxsize=128)
def _words(text: str) -> frozenset[str]:
    return frozenset(units_of(text[:20_000], "words"))
