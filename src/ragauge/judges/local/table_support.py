"""What the tables among the passages say of the amounts of a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ragauge.core.facts import Strength, Window
from ragauge.judges.local.cells import NamedInClaim, asked, link
from ragauge.judges.local.index import STOPS, units_of
from ragauge.judges.local.measures import Amount, amounts, without
from ragauge.judges.local.support import Weighed
from ragauge.judges.local.table_match import EVERY, Met, PassageTable, TablePart, label, ranked, unit_in_head
from ragauge.text.language import frequent, guess
from ragauge.text.tables import scale_of, tables, years
from ragauge.text.word_files import read_sets

MOST_TABLES = 12  # of a passage
MOST_AMOUNTS = 8  # of one claim
LONGEST = 1_000  # characters of a claim that are looked at
FEW = 2  # words with content, beside its amounts, of a claim that only answers the question
READINGS = 2  # a claim's own words tell which cell is meant, then they and the question's
SURE = 0.75  # share of a row's label that is named, from which on another amount is wrong
# measured on questions about financial tables, true answers and as many spoilt ones
STATED = 0.9  # p of an amount that stands in the cell asked for
IMPLIED = 0.8  # p of one that follows by the operation asked for
UNMET = 0.2  # most that p may be by a passage whose cell asked for holds another amount
UNSURE = 0.45  # the same where it is not sure which cell is asked for
(PLAIN,) = read_sets(__file__, "cells", "of_amounts")  # words that say nothing of which cell is meant


class Wrong(NamedTuple):
    """Why an amount is none of a passage's table, and the most that p may be by that passage."""

    passage: int
    reason: str
    most: float


class TableVerdict(NamedTuple):
    """A verdict that holds what tables say."""

    found: Weighed  # the verdict
    strength: Strength | None  # of its support; None without any
    # passages whose tables surely hold another amount in the place of the claim's
    otherwise: frozenset[int] = frozenset()


Others = Callable[[AbstractSet[int]], Weighed]  # the verdict by the words of all passages but some


class Tabled:
    """The tables of the passages, read once for all claims."""

    def __init__(self, query: str, passages: Sequence[str]) -> None:
        self.query = query[:LONGEST]
        self.texts = passages
        self.tables = list(_tables(passages))

    def mend(self, claim: str, weighed: Weighed, others: Others) -> TableVerdict:
        """The verdict on a claim, with what tables say of its amounts.

        A claim whose amounts all stand in the cells that it names (or of a bare amount, the question), or follow from
        them by the one operation that is named, is supported. A passage whose table has another amount there supports
        it no longer, unless the claim's stands beside the tables as well. Each passage speaks for itself, so one that
        joins never lowers p.

        `weighed` is the verdict by the words of all passages, `others` gives that by those of some.
        """
        plain: Strength | None = "direct" if weighed.supporting else None
        claim = claim[:LONGEST]
        numbers = amounts(claim)[:MOST_AMOUNTS]
        asked_pairs = {(amount.written, amount.percent) for amount in amounts(self.query)}
        own = [number for number in numbers if (number.written, number.percent) not in asked_pairs] or numbers
        order: list[tuple[Met, bool]] = []  # of a bare year or count that the question asks for by a comparison
        for table in self.tables:
            part = link(table.table, asked(self.query))
            if part is not None and part.covered >= SURE and _is_bare(claim, own, table):
                order += ranked(table, part, asked(self.query), self.query, years(claim), own)
        readings = [self._spoken_of(claim, own, n) for n in range(READINGS)] if own and self.tables else []
        met = [met for met, right in order if right][:1] or _met(readings, own)
        if met and all(way.sure for way in met):
            return _supported(weighed, met)
        if weighed.contradicting and not weighed.supporting:
            return TableVerdict(weighed, plain)
        if met:
            unknown = "no passage tells which multiplier the table of passage {} has".format
            return _lessened(weighed, [Wrong(way.passage, unknown(way.passage), UNSURE) for way in met], others)
        wrong = [Wrong(fault.passage, f"passage {fault.passage} has {fault.reason}", UNMET) for fault, _ in order]
        return _lessened(weighed, wrong or self._wrong(readings, own), others)

    def _spoken_of(self, claim: str, numbers: Sequence[Amount], reading: int) -> list[tuple[TablePart, bool]]:
        """The parts of tables that a claim speaks of, and whether it does so by the question alone."""
        linked = []
        for own in self.tables:
            bare = _is_bare(claim, numbers, own)
            readings = self._readings(claim, numbers, bare=bare)
            ask = readings[min(reading, len(readings) - 1)]
            if (part := link(own.table, ask)) is not None:
                linked.append((TablePart(own, part, ask, self.query, f"{self.query}\n{claim}"), bare))
        return linked

    def _readings(self, claim: str, numbers: Sequence[Amount], *, bare: bool) -> list[NamedInClaim]:
        """What names the cell: a claim's own words, then with the question's; of a bare amount these."""
        query = asked(self.query)
        if bare:
            return [query]
        named = asked(without(claim, numbers))
        dated = named if named.years else query._replace(words=named.words)
        return [dated, dated._replace(words=(*query.words, *named.words))]

    def _wrong(self, readings: Sequence[Sequence[tuple[TablePart, bool]]], numbers: Sequence[Amount]) -> list[Wrong]:
        """Why amounts that are not met are wrong, for each passage whose table has others in their place."""
        wrong: dict[int, Wrong] = {}
        for linked in readings:
            missing = [number for number, met in zip(numbers, _all_met(linked, numbers), strict=True) if met is None]
            if all(self._beside(one) for one in missing):
                continue
            for part, _ in sorted(linked, key=lambda each: (-each[0].part.dated, -each[0].part.covered)):
                wrong.setdefault(part.own.passage, _other(part))
        return list(wrong.values())

    def _beside(self, amount: Amount) -> bool:
        """Whether an amount stands in a passage beside its tables."""
        for text in self.texts:
            spans = []  # from the beginning of a table's first row with a number to the end of its last one
            for table in tables(text):
                last = text.find("\n", max(cell.end for cell in table.cells))
                first = text.rfind("\n", 0, min(cell.start for cell in table.cells)) + 1
                spans.append((first, len(text) if last < 0 else last))
            for other in amounts(text):
                at = other.specific.start
                if abs(other.written) == abs(amount.written) and not any(start <= at < end for start, end in spans):
                    return True
        return False


def _tables(passages: Sequence[str]) -> Iterator[PassageTable]:
    """The tables; one whose passage does not tell its scale may have that of another passage, or none."""
    read = [tables(text)[:MOST_TABLES] for text in passages]
    told = [scale_of(text) for text in passages] if any(read) else []
    anywhere = (0, *sorted({scale for scale in told if scale}))
    for n, passage_tables in enumerate(read, 1):
        for table in passage_tables:
            scale = table.scale if table.scale is not None else told[n - 1]
            yield PassageTable(n, table, anywhere if scale is None else (scale,), scale is not None)


def _is_bare(claim: str, numbers: Sequence[Amount], own: PassageTable) -> bool:
    """Whether a claim is an amount with hardly a word, which names no row or column of the table by itself."""
    rest = without(claim, numbers)
    language = guess(rest)
    empty = STOPS | PLAIN if language == "en" else STOPS | PLAIN | frequent(language)
    words = {unit for unit in units_of(rest, "words") if unit not in empty and not unit[0].isdigit()}
    if not words or len(words) > FEW:
        return not words
    part = link(own.table, asked(rest)._replace(years=()))
    return part is None or part.covered < SURE


def _met(readings: Sequence[Sequence[tuple[TablePart, bool]]], numbers: Sequence[Amount]) -> list[Met]:
    """How every amount is met by one reading, surely if by any; empty where none meets all."""
    able = []
    for linked in readings:
        ways = _all_met(linked, numbers)
        if None in ways and len(numbers) > 1 and any(bare for _, bare in linked):
            ways = _all_met(linked, numbers, in_order=True)
        if None not in ways:
            able.append([way for way in ways if way is not None])
    return next((met for met in able if all(way.sure for way in met)), able[0] if able else [])


def _all_met(
    linked: Sequence[tuple[TablePart, bool]], numbers: Sequence[Amount], *, in_order: bool = False
) -> list[Met | None]:
    """How each amount is met, surely if by any table; in order: the nth is of the nth thing that is named."""
    matched: list[Met | None] = []
    for n, number in enumerate(numbers):
        ways = []
        for part, bare in linked:
            ask = part.ask
            if bare and not in_order and len(ask.years) == len(numbers) > 1:
                ask = ask._replace(years=(ask.years[n],))  # of as many amounts as years each is of its own
            ways.append(part.met(number, ask, (n if in_order else None) if bare else EVERY))
        met = [way for way in ways if way is not None]
        matched.append(next((way for way in met if way.sure), met[0] if met else None))
    return matched


def _other(part: TablePart) -> Wrong:
    cells = [entry.cell for entry in part.part.best[0].entries[:3]]
    shown = ", ".join(f"{cell.value:,g} {unit_in_head(part.own.table.heads[cell.column])[0]}".strip() for cell in cells)
    reason = f"passage {part.own.passage} has {shown} for {label(part.own.table, part.part.best[0])!r}"
    return Wrong(part.own.passage, reason, UNMET if part.part.dated and part.part.covered >= SURE else UNSURE)


def _lessened(weighed: Weighed, wrong: Sequence[Wrong], others: Others) -> TableVerdict:
    """The verdict where the tables of some passages say otherwise: these support less, the others as they do."""
    plain: Strength | None = "direct" if weighed.supporting else None
    if not wrong:
        return TableVerdict(weighed, plain)
    every = frozenset(fault.passage for fault in wrong)
    unmet = frozenset(fault.passage for fault in wrong if fault.most <= UNMET)
    reason = min(wrong, key=lambda fault: fault.most).reason
    if weighed.p <= UNMET:
        return TableVerdict(weighed._replace(reason=reason) if unmet else weighed, plain, unmet)
    rest = others(every)
    unsure = rest if unmet == every else others(unmet) if unmet else weighed
    p = max(rest.p, min(UNSURE, unsure.p), min(UNMET, weighed.p))
    if rest.supporting and rest.p >= p:
        return TableVerdict(rest, "direct", unmet)
    if p >= weighed.p:
        return TableVerdict(weighed, plain, unmet)
    return TableVerdict(weighed._replace(p=p, supporting=(), reason=reason), None, unmet)


def _supported(weighed: Weighed, met: Sequence[Met]) -> TableVerdict:
    implied = [way for way in met if way.strength == "implied"]
    numbers = tuple(sorted({way.passage for way in met}))
    p = max(weighed.p, IMPLIED if implied else STATED)
    decides = (implied or met)[0]
    reason = "; ".join(dict.fromkeys(way.reason for way in implied))
    window = Window(decides.passage, decides.start, decides.end)
    supporting = numbers if implied else tuple(sorted({*weighed.supporting, *numbers}))
    against = tuple(n for n in weighed.contradicting if n not in supporting)
    weighed = Weighed(p, supporting, against, window, reason)
    return TableVerdict(weighed, "implied" if implied else "direct")
