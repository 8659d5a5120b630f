"""What the tables among the passages say of the amounts of a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ragauge.core.facts import Strength, Window
from ragauge.judges.local.cells import NamedInClaim, link_table, parse_named
from ragauge.judges.local.index import STOP_UNITS, split_units
from ragauge.judges.local.measures import Amount, find_amounts, remove_amounts
from ragauge.judges.local.support import SupportVerdict
from ragauge.judges.local.table_match import (
    ANY_NAMED,
    AmountMatch,
    PassageTable,
    TablePart,
    find_unit_in_head,
    format_line_label,
    match_ranking,
)
from ragauge.text.language import guess_language, list_frequent_words
from ragauge.text.tables import find_scale, find_years, read_tables
from ragauge.text.word_files import read_sets

MAX_TABLES = 12  # of a passage
MAX_AMOUNTS = 8  # of one claim
MAX_CLAIM_CHARS = 1_000  # characters of a claim that are looked at
MAX_BARE_WORDS = 2  # words with content, beside its amounts, of a claim that only answers the question
N_READINGS = 2  # a claim's own words tell which cell is meant, then they and the question's
MIN_SURE_SHARE = 0.75  # share of a row's label that is named, from which on another amount is wrong
# measured on questions about financial tables, true answers and as many spoilt ones
STATED_P = 0.9  # p of an amount that stands in the cell asked for
IMPLIED_P = 0.8  # p of one that follows by the operation asked for
MAX_UNMET_P = 0.2  # most that p may be by a passage whose cell asked for holds another amount
MAX_UNSURE_P = 0.45  # the same where it is not sure which cell is asked for
(PLAIN_WORDS,) = read_sets(__file__, "cells", "of_amounts")  # words that say nothing of which cell is meant


class WrongAmount(NamedTuple):
    """Why an amount is none of a passage's table, and the most that p may be by that passage."""

    passage: int
    reason: str
    most: float


class TableVerdict(NamedTuple):
    """A verdict that holds what tables say."""

    support: SupportVerdict  # the verdict
    strength: Strength | None  # of its support; None without any
    # passages whose tables surely hold another amount in the place of the claim's
    otherwise: frozenset[int] = frozenset()


WeighOthers = Callable[[AbstractSet[int]], SupportVerdict]  # the verdict by the words of all passages but some


class PassageTables:
    """The tables of the passages, read once for all claims."""

    def __init__(self, query: str, passages: Sequence[str]) -> None:
        self.query = query[:MAX_CLAIM_CHARS]
        self.texts = passages
        self.tables = list(_read_tables(passages))

    def apply_tables(self, claim: str, weighed: SupportVerdict, others: WeighOthers) -> TableVerdict:
        """The verdict on a claim, with what tables say of its amounts.

        A claim whose amounts all stand in the cells that it names (or of a bare amount, the question), or follow from
        them by the one operation that is named, is supported. A passage whose table has another amount there supports
        it no longer, unless the claim's stands beside the tables as well. Each passage speaks for itself, so one that
        joins never lowers p.

        `weighed` is the verdict by the words of all passages, `others` gives that by those of some.
        """
        strength: Strength | None = "direct" if weighed.supporting else None
        claim = claim[:MAX_CLAIM_CHARS]
        numbers = find_amounts(claim)[:MAX_AMOUNTS]
        asked_pairs = {(amount.written, amount.percent) for amount in find_amounts(self.query)}
        claim_numbers = [number for number in numbers if (number.written, number.percent) not in asked_pairs] or numbers
        order: list[tuple[AmountMatch, bool]] = []  # of a bare year or count that the question asks for by a comparison
        for table in self.tables:
            linked = link_table(table.table, parse_named(self.query))
            if linked is not None and linked.covered >= MIN_SURE_SHARE and _is_bare(claim, claim_numbers, table):
                order += match_ranking(
                    table, linked, parse_named(self.query), self.query, find_years(claim), claim_numbers
                )
        readings = (
            [self._link_tables(claim, claim_numbers, n) for n in range(N_READINGS)]
            if claim_numbers and self.tables
            else []
        )
        matches = [matches for matches, right in order if right][:1] or _match_all(readings, claim_numbers)
        if matches and all(way.sure for way in matches):
            return _build_supported(weighed, matches)
        if weighed.contradicting and not weighed.supporting:
            return TableVerdict(weighed, strength)
        if matches:
            unknown = "no passage states the multiplier of the table in passage {}".format
            return _lessen_support(
                weighed, [WrongAmount(way.passage, unknown(way.passage), MAX_UNSURE_P) for way in matches], others
            )
        wrong = [
            WrongAmount(fault.passage, f"passage {fault.passage} has {fault.reason}", MAX_UNMET_P) for fault, _ in order
        ]
        return _lessen_support(weighed, wrong or self._find_wrong(readings, claim_numbers), others)

    def _link_tables(self, claim: str, numbers: Sequence[Amount], reading: int) -> list[tuple[TablePart, bool]]:
        """The parts of tables that a claim speaks of, and whether it does so by the question alone."""
        linked = []
        for passage_table in self.tables:
            bare = _is_bare(claim, numbers, passage_table)
            readings = self._list_readings(claim, numbers, bare=bare)
            ask = readings[min(reading, len(readings) - 1)]
            if (table_lines := link_table(passage_table.table, ask)) is not None:
                linked.append((TablePart(passage_table, table_lines, ask, self.query, f"{self.query}\n{claim}"), bare))
        return linked

    def _list_readings(self, claim: str, numbers: Sequence[Amount], *, bare: bool) -> list[NamedInClaim]:
        """What names the cell: a claim's own words, then with the question's; of a bare amount these."""
        query = parse_named(self.query)
        if bare:
            return [query]
        claim_named = parse_named(remove_amounts(claim, numbers))
        dated = claim_named if claim_named.years else query._replace(words=claim_named.words)
        return [dated, dated._replace(words=(*query.words, *claim_named.words))]

    def _find_wrong(
        self, readings: Sequence[Sequence[tuple[TablePart, bool]]], numbers: Sequence[Amount]
    ) -> list[WrongAmount]:
        """Why amounts that are not met are wrong, for each passage whose table has others in their place."""
        wrong: dict[int, WrongAmount] = {}
        for linked in readings:
            missing = [
                number for number, match in zip(numbers, _match_each(linked, numbers), strict=True) if match is None
            ]
            if all(self._is_outside_tables(number) for number in missing):
                continue
            for part, _ in sorted(linked, key=lambda each: (-each[0].part.dated, -each[0].part.covered)):
                wrong.setdefault(part.own.passage, _build_wrong(part))
        return list(wrong.values())

    def _is_outside_tables(self, amount: Amount) -> bool:
        """Whether an amount stands in a passage beside its tables."""
        for text in self.texts:
            spans = []  # from the beginning of a table's first row with a number to the end of its last one
            for table in read_tables(text):
                last = text.find("\n", max(cell.end for cell in table.cells))
                first = text.rfind("\n", 0, min(cell.start for cell in table.cells)) + 1
                spans.append((first, len(text) if last < 0 else last))
            for other in find_amounts(text):
                position = other.specific.start
                if abs(other.written) == abs(amount.written) and not any(
                    start <= position < end for start, end in spans
                ):
                    return True
        return False


def _read_tables(passages: Sequence[str]) -> Iterator[PassageTable]:
    """The tables; one whose passage does not tell its scale may have that of another passage, or none."""
    read = [read_tables(text)[:MAX_TABLES] for text in passages]
    passage_scales = [find_scale(text) for text in passages] if any(read) else []
    anywhere = (0, *sorted({scale for scale in passage_scales if scale}))
    for n, passage_tables in enumerate(read, 1):
        for table in passage_tables:
            scale = table.scale if table.scale is not None else passage_scales[n - 1]
            yield PassageTable(n, table, anywhere if scale is None else (scale,), scale is not None)


def _is_bare(claim: str, numbers: Sequence[Amount], passage_table: PassageTable) -> bool:
    """Whether a claim is an amount with hardly a word, which names no row or column of the table by itself."""
    remaining = remove_amounts(claim, numbers)
    language = guess_language(remaining)
    empty = STOP_UNITS | PLAIN_WORDS if language == "en" else STOP_UNITS | PLAIN_WORDS | list_frequent_words(language)
    words = {unit for unit in split_units(remaining, "words") if unit not in empty and not unit[0].isdigit()}
    if not words or len(words) > MAX_BARE_WORDS:
        return not words
    linked = link_table(passage_table.table, parse_named(remaining)._replace(years=()))
    return linked is None or linked.covered < MIN_SURE_SHARE


def _match_all(readings: Sequence[Sequence[tuple[TablePart, bool]]], numbers: Sequence[Amount]) -> list[AmountMatch]:
    """How every amount is met by one reading, surely if by any; empty where none meets all."""
    able = []
    for linked in readings:
        ways = _match_each(linked, numbers)
        if None in ways and len(numbers) > 1 and any(bare for _, bare in linked):
            ways = _match_each(linked, numbers, in_order=True)
        if None not in ways:
            able.append([way for way in ways if way is not None])
    return next((matches for matches in able if all(way.sure for way in matches)), able[0] if able else [])


def _match_each(
    linked: Sequence[tuple[TablePart, bool]], numbers: Sequence[Amount], *, in_order: bool = False
) -> list[AmountMatch | None]:
    """How each amount is met, surely if by any table; in order: the nth is of the nth thing that is named."""
    matched: list[AmountMatch | None] = []
    for n, number in enumerate(numbers):
        ways = []
        for part, bare in linked:
            ask = part.ask
            if bare and not in_order and len(ask.years) == len(numbers) > 1:
                ask = ask._replace(years=(ask.years[n],))  # of as many amounts as years each is of its own
            ways.append(part.met(number, ask, (n if in_order else None) if bare else ANY_NAMED))
        matches = [way for way in ways if way is not None]
        matched.append(next((way for way in matches if way.sure), matches[0] if matches else None))
    return matched


def _build_wrong(part: TablePart) -> WrongAmount:
    cells = [entry.cell for entry in part.part.best[0].entries[:3]]
    cells_text = ", ".join(
        f"{cell.value:,g} {find_unit_in_head(part.own.table.heads[cell.column])[0]}".strip() for cell in cells
    )
    reason = f"passage {part.own.passage} has {cells_text} for {format_line_label(part.own.table, part.part.best[0])!r}"
    return WrongAmount(
        part.own.passage,
        reason,
        MAX_UNMET_P if part.part.dated and part.part.covered >= MIN_SURE_SHARE else MAX_UNSURE_P,
    )


def _lessen_support(weighed: SupportVerdict, wrong: Sequence[WrongAmount], others: WeighOthers) -> TableVerdict:
    """The verdict where the tables of some passages say otherwise: these support less, the others as they do."""
    strength: Strength | None = "direct" if weighed.supporting else None
    if not wrong:
        return TableVerdict(weighed, strength)
    every = frozenset(fault.passage for fault in wrong)
    unmet = frozenset(fault.passage for fault in wrong if fault.most <= MAX_UNMET_P)
    reason = min(wrong, key=lambda fault: fault.most).reason
    if weighed.p <= MAX_UNMET_P:
        return TableVerdict(weighed._replace(reason=reason) if unmet else weighed, strength, unmet)
    remaining = others(every)
    unsure = remaining if unmet == every else others(unmet) if unmet else weighed
    p = max(remaining.p, min(MAX_UNSURE_P, unsure.p), min(MAX_UNMET_P, weighed.p))
    if remaining.supporting and remaining.p >= p:
        return TableVerdict(remaining, "direct", unmet)
    if p >= weighed.p:
        return TableVerdict(weighed, strength, unmet)
    return TableVerdict(weighed._replace(p=p, supporting=(), reason=reason), None, unmet)


def _build_supported(weighed: SupportVerdict, matches: Sequence[AmountMatch]) -> TableVerdict:
    implied = [way for way in matches if way.strength == "implied"]
    numbers = tuple(sorted({way.passage for way in matches}))
    p = max(weighed.p, IMPLIED_P if implied else STATED_P)
    decides = (implied or matches)[0]
    reason = "; ".join(dict.fromkeys(way.reason for way in implied))
    window = Window(decides.passage, decides.start, decides.end)
    supporting = numbers if implied else tuple(sorted({*weighed.supporting, *numbers}))
    against = tuple(n for n in weighed.contradicting if n not in supporting)
    weighed = SupportVerdict(p, supporting, against, window, reason)
    return TableVerdict(weighed, "implied" if implied else "direct")
