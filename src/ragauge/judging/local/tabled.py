"""What the tables among the passages say of the amounts of a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from ragauge.data.facts import Strength, Window
from ragauge.judging.local.cells import NamedInClaim, asked, link
from ragauge.judging.local.index import STOPS, units_of
from ragauge.judging.local.measures import Amount, amounts, without
from ragauge.judging.local.met import EVERY, Met, PassageTable, TablePart, label, ranked, reckoned, signs
from ragauge.judging.local.reckoned import spoken
from ragauge.judging.local.support import Weighed
from ragauge.text.tables import Table, scale_of, tables, years

MOST_TABLES = 12        # of a passage
MOST_AMOUNTS = 8        # of one claim
LONGEST = 1_000         # characters of a claim that are looked at
LONGEST_TEXT = 20_000   # characters of a passage whose words are looked at
FEW = 2                 # words with content, beside its amounts, of a claim that only answers the question
READINGS = 2            # a claim's own words tell which cell is meant, then they and the question's
SURE = 0.75             # share of a row's label that is named, from which on another amount is wrong
WORDED = 0.5            # share of a claim's words with content that its passage and the question have to hold
# measured on questions about financial tables, true answers and as many spoilt ones
STATED = 0.9            # p of an amount that stands in the cell asked for
IMPLIED = 0.8           # p of one that follows by the operation asked for
UNMET = 0.2             # most that p may be by a passage whose cell asked for holds another amount
UNSURE = 0.45           # the same where it is not sure which cell is asked for
_UNITS = "thousand million billion trillion percent per cent usd eur gbp rmb dollar about year total amount valu"
_TOLD = "percentag averag chang differ increas decreas ratio approximately respectively"
PLAIN = frozenset(f"{_UNITS} {_TOLD}".split())      # words that say nothing of which cell is meant


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why an amount is none of a passage's table, and the most that p may be by that passage."""

    passage: int
    reason: str
    most: float


class TableVerdict(NamedTuple):
    """A verdict that holds what tables say.

    Attributes:
        found: the verdict.
        strength: of its support; None without any.
        otherwise: passages whose tables surely hold another amount in the place of the claim's.
    """

    found: Weighed
    strength: Strength | None
    otherwise: frozenset[int] = frozenset()


Others = Callable[[AbstractSet[int]], Weighed]      # the verdict by the words of all passages but some


class Tabled:
    """The tables of the passages, read once for all claims.

    Args:
        query: the question.
        passages: their texts, in order.
    """

    def __init__(self, query: str, passages: Sequence[str]) -> None:
        self.query = query[:LONGEST]
        self.texts = passages
        self.tables = list(_tables(passages))

    def mend(self, claim: str, found: Weighed, others: Others) -> TableVerdict:
        """The verdict on a claim, with what tables say of its amounts.

        A claim whose amounts all stand in the cells that it names (or of a bare amount, the question), or follow from
        them by the one operation that is named, is supported. A passage whose table has another amount there supports
        it no longer, unless the claim's stands beside the tables as well. Each passage speaks for itself, so one that
        joins never lowers p.

        Args:
            claim: its text.
            found: the verdict by the words of all passages.
            others: the same by those of some.
        """
        plain: Strength | None = "direct" if found.supporting else None
        claim = claim[:LONGEST]
        numbers = amounts(claim)[:MOST_AMOUNTS]
        said = {(one.written, one.percent) for one in amounts(self.query)}
        own = [one for one in numbers if (one.written, one.percent) not in said] or numbers
        order = list(self._ranked(claim, own))
        readings = [self._spoken_of(claim, own, n) for n in range(READINGS)] if own and self.tables else []
        met = [met for met, right in order if right][:1] or _met(readings, own)
        if not met and not found.supporting and len(own) == 1:
            met = self._sums(claim, own[0])
        if met and all(one.sure for one in met):
            return _supported(found, met)
        if found.contradicting and not found.supporting:
            return TableVerdict(found, plain)
        if met:
            return _lessened(found, [_unscaled(one.passage) for one in met], others)
        wrong = [Wrong(one.passage, f"passage {one.passage} has {one.reason}", UNMET) for one, _ in order]
        return _lessened(found, wrong or self._wrong(readings, claim, own), others)

    def _ranked(self, claim: str, numbers: Sequence[Amount]) -> Iterator[tuple[Met, bool]]:
        """Whether a bare year, or a bare count, is the one that the question asks for by a comparison, per table."""
        ask, told = asked(self.query), years(claim)
        for own in self.tables:
            part = link(own.table, ask)
            if part is not None and part.covered >= SURE and _is_bare(claim, numbers, own):
                yield from ranked(own, part, ask, self.query, told, numbers)

    def _spoken_of(self, claim: str, numbers: Sequence[Amount], reading: int) -> list[tuple[TablePart, bool]]:
        """The parts of tables that a claim speaks of, and whether it does so by the question alone."""
        found = []
        for own in self.tables:
            bare = _is_bare(claim, numbers, own)
            readings = self._readings(claim, numbers, bare=bare)
            ask = readings[min(reading, len(readings) - 1)]
            if (part := link(own.table, ask)) is not None:
                found.append((TablePart(own, part, ask, self.query, f"{self.query}\n{claim}"), bare))
        worded = self._worded(claim, {one.own.passage for one, bare in found if not bare})
        return [(one, bare) for one, bare in found if bare or worded]

    def _readings(self, claim: str, numbers: Sequence[Amount], *, bare: bool) -> list[NamedInClaim]:
        """What names the cell: a claim's own words, then with the question's; of a bare amount these."""
        query = asked(self.query)
        if bare:
            return [query]
        said = asked(without(claim, numbers))
        dated = said if said.years else replace(said, years=query.years, spans=query.spans, months=query.months)
        return [dated, replace(dated, words=(*query.words, *said.words))]

    def _sums(self, claim: str, one: Amount) -> list[Met]:
        """Whether an amount that no passage holds follows from those of one sentence."""
        rest = without(claim, [one])
        text = f"{self.query}\n{claim}"
        asks = [asked(rest), *([asked(self.query)] if len(_content(rest)) <= FEW else [])]
        for ask in asks:
            for n, result in spoken(text, ask, self.texts):
                if any(each.is_value(result.value, 0, percent=result.percent) for each in signs(one, result, text)):
                    return [reckoned(one, n, result)]
        return []

    def _wrong(
        self, readings: Sequence[Sequence[tuple[TablePart, bool]]], claim: str, numbers: Sequence[Amount]
    ) -> list[Wrong]:
        """Why amounts that are not met are wrong, for each passage whose table has others in their place."""
        found: dict[int, Wrong] = {}
        for linked in readings:
            missing = [one for one, met in zip(numbers, _all_met(linked, numbers), strict=True) if met is None]
            if all(self._beside(one) for one in missing):
                continue
            for one, bare in sorted(linked, key=lambda each: (-each[0].part.dated, -each[0].part.covered)):
                if one.own.passage not in found and (bare or self._worded(claim, {one.own.passage})):
                    found[one.own.passage] = _other(one)
        return list(found.values())

    def _worded(self, claim: str, passages: AbstractSet[int]) -> bool:
        """Whether the words of a claim stand in the passages, or in the question."""
        own = _content(claim)
        there = set(units_of(self.query, "words")).union(*(_words(self.texts[n - 1]) for n in passages))
        return len(own & there) >= WORDED * len(own)

    def _beside(self, one: Amount) -> bool:
        """Whether an amount stands in a passage beside its tables."""
        for text in self.texts:
            spans = [_lines_of(table, text) for table in tables(text)]
            for other in amounts(text):
                at = other.specific.start
                if abs(other.written) == abs(one.written) and not any(start <= at < end for start, end in spans):
                    return True
        return False


def _tables(passages: Sequence[str]) -> Iterator[PassageTable]:
    """The tables; one whose passage does not tell its scale may have that of another passage, or none."""
    read = [tables(text)[:MOST_TABLES] for text in passages]
    told = [scale_of(text) for text in passages] if any(read) else []
    anywhere = (0, *sorted({scale for scale in told if scale}))
    for n, found in enumerate(read, 1):
        for table in found:
            scale = table.scale if table.scale is not None else told[n - 1]
            yield PassageTable(n, table, anywhere if scale is None else (scale,), scale is not None)


def _lines_of(table: Table, text: str) -> tuple[int, int]:
    """From the beginning of the table's first row with a number to the end of its last one."""
    starts, ends = [cell.start for cell in table.cells], [cell.end for cell in table.cells]
    last = text.find("\n", max(ends))
    return text.rfind("\n", 0, min(starts)) + 1, len(text) if last < 0 else last


def _is_bare(claim: str, numbers: Sequence[Amount], own: PassageTable) -> bool:
    """Whether a claim is an amount with hardly a word, which names no row or column of the table by itself."""
    rest = without(claim, numbers)
    words = _content(rest)
    if not words or len(words) > FEW:
        return not words
    part = link(own.table, replace(asked(rest), years=()))
    return part is None or part.covered < SURE


def _met(readings: Sequence[Sequence[tuple[TablePart, bool]]], numbers: Sequence[Amount]) -> list[Met]:
    """How every amount is met by one reading, surely if by any; empty where none meets all."""
    able = []
    for linked in readings:
        found = _all_met(linked, numbers)
        if None in found and len(numbers) > 1 and any(bare for _, bare in linked):
            found = _all_met(linked, numbers, in_order=True)
        if None not in found:
            able.append([one for one in found if one is not None])
    return next((met for met in able if all(one.sure for one in met)), able[0] if able else [])


def _all_met(
    linked: Sequence[tuple[TablePart, bool]], numbers: Sequence[Amount], *, in_order: bool = False
) -> list[Met | None]:
    """How each amount is met, surely if by any table; in order: the nth is of the nth thing that is named."""
    found: list[Met | None] = []
    for n, one in enumerate(numbers):
        met = [way for each in linked if (way := _one_met(one, each, n, len(numbers), in_order=in_order)) is not None]
        found.append(next((way for way in met if way.sure), met[0] if met else None))
    return found


def _one_met(one: Amount, each: tuple[TablePart, bool], n: int, count: int, *, in_order: bool) -> Met | None:
    part, bare = each
    if not bare:
        return part.met(one, part.ask, EVERY)
    return part.met(one, part.ask, n) if in_order else part.met(one, _nth(part.ask, n, count), None)


def _nth(ask: NamedInClaim, n: int, count: int) -> NamedInClaim:
    """Of as many amounts as years each is of its own."""
    return replace(ask, years=(ask.years[n],)) if len(ask.years) == count > 1 else ask


def _unscaled(passage: int) -> Wrong:
    return Wrong(passage, f"no passage tells which multiplier the table of passage {passage} has", UNSURE)


def _other(one: TablePart) -> Wrong:
    shown = ", ".join(f"{entry.cell.value:,g}" for entry in one.part.best[0].entries[:3])
    reason = f"passage {one.own.passage} has {shown} for {label(one.own.table, one.part.best[0])!r}"
    return Wrong(one.own.passage, reason, UNMET if one.part.dated and one.part.covered >= SURE else UNSURE)


def _lessened(found: Weighed, wrong: Sequence[Wrong], others: Others) -> TableVerdict:
    """The verdict where the tables of some passages say otherwise: these support less, the others as they do."""
    plain: Strength | None = "direct" if found.supporting else None
    if not wrong:
        return TableVerdict(found, plain)
    every = frozenset(one.passage for one in wrong)
    unmet = frozenset(one.passage for one in wrong if one.most <= UNMET)
    reason = min(wrong, key=lambda one: one.most).reason
    if found.p <= UNMET:
        return TableVerdict(replace(found, reason=reason) if unmet else found, plain, unmet)
    rest = others(every)
    unsure = rest if unmet == every else others(unmet) if unmet else found
    p = max(rest.p, min(UNSURE, unsure.p), min(UNMET, found.p))
    if rest.supporting and rest.p >= p:
        return TableVerdict(rest, "direct", unmet)
    if p >= found.p:
        return TableVerdict(found, plain, unmet)
    return TableVerdict(replace(found, p=p, supporting=(), joint=False, reason=reason), None, unmet)


def _supported(found: Weighed, met: Sequence[Met]) -> TableVerdict:
    implied = [one for one in met if one.strength == "implied"]
    numbers = tuple(sorted({one.passage for one in met}))
    p = max(found.p, IMPLIED if implied else STATED)
    decides = (implied or met)[0]
    reason = "; ".join(dict.fromkeys(one.reason for one in implied))
    window = Window(decides.passage, decides.start, decides.end)
    supporting = numbers if implied else tuple(sorted({*found.supporting, *numbers}))
    against = tuple(n for n in found.contradicting if n not in supporting)
    weighed = Weighed(p, supporting, len(numbers) > 1, against, window, reason)
    return TableVerdict(weighed, "implied" if implied else "direct")


def _content(claim: str) -> set[str]:
    own = (unit for unit in units_of(claim, "words") if unit not in STOPS and unit not in PLAIN)
    return {unit for unit in own if not unit[0].isdigit()}


@lru_cache(maxsize=128)
def _words(text: str) -> frozenset[str]:
    return frozenset(units_of(text[:LONGEST_TEXT], "words"))
