"""How an amount of a claim is borne out by one table: it stands in the cell spoken of, or follows from some.

Questions that compare the numbers of a table: in which year it was highest, how often it was above a limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import log10
from typing import NamedTuple

from ragauge.core.facts import Strength
from ragauge.judges.local.cells import LineCell, LinkedLines, NamedInClaim, TableLine, parse_named
from ragauge.judges.local.derived_numbers import FORMS, DerivedResult, derive_results
from ragauge.judges.local.items import list_items
from ragauge.judges.local.measures import Amount, find_amounts, parse_value
from ragauge.text.numerals import UNITS
from ragauge.text.tables import Table, TableCell


def find_extreme(line: TableLine, query: str, ask: NamedInClaim) -> LineCell | None:
    """The entry that a question such as "In which year was it highest?" asks for; None where it asks for none.

    Losses and the like are ranked by their size; where signs differ, by value.
    """
    high, low = FORMS["high"].search(query), FORMS["low"].search(query)
    limited = FORMS["above"].search(query) or FORMS["below"].search(query)
    if not FORMS["which"].search(query) or bool(high) == bool(low) or limited:
        return None
    entries = _select_dated(line, ask)
    if len(entries) < 2 or len({entry.year for entry in entries}) < len(entries):
        return None
    sizes = {id(entry): entry.cell.value for entry in entries}
    if all(size <= 0 for size in sizes.values()):
        sizes = {key: -size for key, size in sizes.items()}
    order = sorted(entries, key=lambda entry: sizes[id(entry)], reverse=high is not None)
    return None if sizes[id(order[0])] == sizes[id(order[1])] else order[0]


def count_years(line: TableLine, query: str, ask: NamedInClaim, limit: float | None) -> int | None:
    """In how many years the line is above or below the limit of the question; None where it asks for no such thing.

    `limit` is in the table's scale; None = the question has none.
    """
    above, below = FORMS["above"].search(query), FORMS["below"].search(query)
    if not FORMS["many"].search(query) or bool(above) == bool(below) or limit is None:
        return None
    entries = _select_dated(line, ask)
    return sum(e.cell.value > limit if above else e.cell.value < limit for e in entries) if entries else None


def _select_dated(line: TableLine, ask: NamedInClaim) -> list[LineCell]:
    several = ask.years if len(ask.years) > 1 else ()
    return [entry for entry in line.entries if entry.year is not None and (not several or entry.year in several)]


ANY_NAMED = -1  # not one thing that is named, but any


class AmountMatch(NamedTuple):
    """How an amount is borne out: characters [start, end) of a passage, and how it is reckoned from them."""

    passage: int
    start: int
    end: int
    strength: Strength
    reason: str = ""
    sure: bool = True  # False where it is only if the table has the multiplier that the claim says


class PassageTable(NamedTuple):
    """A table of a passage."""

    passage: int  # its number
    table: Table  # as read
    scales: tuple[int, ...]  # powers of ten that its numbers may be meant in
    scale_known: bool  # whether its passage tells the scale; else any multiplier may be meant, and that is not sure

    def is_cell_value(self, amount: Amount, value: float, cell: TableCell, *, percent: bool) -> bool | None:
        """Whether an amount is a number as this cell has it: True, None where it is if the scale is right, else False.

        An amount per share is not in millions. What the head of the column or row says of unit and scale holds.
        """
        unit, shift = find_unit_in_head(self.table.heads[cell.column])
        if not unit and shift is None:
            unit, shift = find_unit_in_head(self.table.labels[cell.row])
        measured = None if percent else amount.is_measured(value * 10.0 ** (shift or 0), unit)
        if measured is not None:
            return measured
        scales = {0, *self.scales} if cell.row in self.table.unscaled else self.scales
        if shift is not None:
            return amount.is_value(value, shift, percent=percent)
        if any(amount.is_value(value, scale, percent=percent) for scale in scales):
            return True
        if self.scale_known or not amount.is_value(value, None, percent=percent):
            return False
        return None if amount.shift else True


class TablePart(NamedTuple):
    """The part of a table that a claim speaks of."""

    own: PassageTable  # the table
    part: LinkedLines  # its lines
    ask: NamedInClaim  # what is named
    query: str  # the question
    text: str  # question and claim

    def met(self, amount: Amount, ask: NamedInClaim, nth: int | None) -> AmountMatch | None:
        """How an amount is met; None where it is not.

        `ask` is what is named for it; `nth` which of several things named it is of, None = of the one named best.
        """
        return self._match_stated(amount, ask, nth) or self._match_implied(amount, ask)

    def _match_stated(self, amount: Amount, ask: NamedInClaim, nth: int | None) -> AmountMatch | None:
        if ask.years and not self.part.dated:
            return None
        for line in _select_lines(self.part, nth):
            name = format_line_label(self.own.table, line)
            if _needs_operation(
                self.query if nth != ANY_NAMED else _extract_claim(self.text, amount), name, percent=amount.percent
            ):
                continue
            for entry in line.entries:
                cell = entry.cell
                loss = amount.written >= 0 > cell.value and FORMS["losses"].search(f"{name} {self.text}")
                each = [amount, amount.flipped()] if loss else [amount]
                outcomes = [self.own.is_cell_value(sign, cell.value, cell, percent=cell.percent) for sign in each]
                in_time = entry.year is None or not ask.years or entry.year in ask.years
                between = not in_time and ask.spans and min(ask.years) < (entry.year or 0) < max(ask.years)
                if (in_time or between) and outcomes != [False] * len(outcomes):
                    return AmountMatch(self.own.passage, cell.start, cell.end, "direct", sure=True in outcomes)
        return None

    def _match_implied(self, amount: Amount, ask: NamedInClaim) -> AmountMatch | None:
        for result in derive_results(self.part, ask, self.text):
            cell = result.entries[0].cell
            each = list_sign_readings(amount, result, self.text)
            if result.pure:
                outcomes: list[bool | None] = [sign.is_value(result.value, 0, percent=result.percent) for sign in each]
            else:
                outcomes = [self.own.is_cell_value(sign, result.value, cell, percent=result.percent) for sign in each]
            if outcomes != [False] * len(outcomes):
                cells = sorted((entry.cell for entry in result.entries), key=lambda cell: cell.start)
                reason = f"{result.formula} = {amount.specific.text}, passage {self.own.passage}"
                return AmountMatch(self.own.passage, cells[0].start, cells[-1].end, "implied", reason, True in outcomes)
        return None


@lru_cache(maxsize=1_024)
def find_unit_in_head(head: str) -> tuple[str, int | None]:
    """The unit that the head of a column or row says, and its power of ten; "" and None where it says none.

    >>> find_unit_in_head("Length [km]"), find_unit_in_head("Revenue (USD m)"), find_unit_in_head("Duration in minutes")
    (('km', None), ('$', 6), ('minutes', None))
    """
    for match in FORMS["unit"].finditer(head):
        spelled = FORMS["unit_zeros"].sub(" thousand", next(filter(None, match.groups())))
        unit_text = " ".join(FORMS["unit_of"].sub(" ", spelled).split())
        for text in (f"1 {unit_text}", FORMS["unit_opening"].sub(r"\g<0>1 ", unit_text, count=1).replace("  ", " ")):
            numbers = [item for item in list_items(text) if item.measure]
            if len(numbers) == 1 and (measure := numbers[0].measure):
                remaining = f"{text[: numbers[0].start]} {text[numbers[0].end :]}".split()
                units = {measure.unit, *(UNITS.get(word.strip(".,").lower(), word) for word in remaining)} - {""}
                if len(units) < 2 and units.isdisjoint(remaining):
                    return "".join(units), round(log10(parse_value(measure.values[0]) or 1.0)) or None
    return "", None


def match_ranking(
    passage_table: PassageTable,
    linked: LinkedLines,
    ask: NamedInClaim,
    query: str,
    claim_years: Sequence[int],
    numbers: Sequence[Amount],
) -> Iterator[tuple[AmountMatch, bool]]:
    """Where a question asks for a year, or a count of years, by a comparison: the cells, and whether it is this one.

    `claim_years` are the years of the claim, `numbers` its amounts.
    """
    if not (FORMS["which"].search(query) or FORMS["many"].search(query)):
        return
    line = linked.best[0]
    top = find_extreme(line, query, ask) if len(claim_years) == 1 and not numbers else None
    many = (
        [count_years(line, query, ask, limit) for limit in _list_limits(passage_table, query)]
        if len(numbers) == 1
        else []
    )
    counted = [each for each in many if each is not None]
    if top is None and not counted:
        return
    years_text = ", ".join(f"{entry.year}: {entry.cell.value:,g}" for entry in line.entries if entry.year)
    cells = [entry.cell for entry in line.entries]
    right = top.year == claim_years[0] if top is not None else numbers[0].written in counted
    yield AmountMatch(passage_table.passage, cells[0].start, cells[-1].end, "implied", years_text), right


def _list_limits(passage_table: PassageTable, query: str) -> list[float]:
    """The question's one amount, in each scale that the table may have."""
    limits = find_amounts(query)
    if len(limits) != 1:
        return []
    amount = limits[0]
    if not amount.shift:
        return [amount.written]
    read = [amount.written * 10.0 ** (amount.shift - scale) for scale in passage_table.scales]
    return read if passage_table.scale_known else [amount.written, *read]


def format_line_label(table: Table, line: TableLine) -> str:
    """What names a line: the row, under its section, or the column."""
    return line.header if line.row is None else f"{table.sections[line.row]} {table.labels[line.row]}".strip()


def list_sign_readings(amount: Amount, result: DerivedResult, text: str) -> list[Amount]:
    """The readings of an amount's sign: "fell by 5" is −5 unless it is said to rise as well."""
    claim = text.rpartition("\n")[2]
    if FORMS["falling"].search(claim) and not FORMS["rising"].search(claim):
        return [amount.flipped() if amount.written > 0 else amount]
    return [amount, amount.flipped()] if result.signs else [amount]


def _select_lines(linked: LinkedLines, nth: int | None) -> Sequence[TableLine]:
    if nth is None:
        return linked.best
    if nth == ANY_NAMED:
        return (*linked.best, *linked.named)
    return [each[nth] for each in (linked.named, linked.sides) if nth < len(each) > 1]


def _needs_operation(text: str, label: str, *, percent: bool) -> bool:
    """Whether a question or claim speaks of what only an operation gives, and the row is not that itself."""
    summed = FORMS["all"].search(text) and not FORMS["all"].search(label)
    if len(parse_named(text).years) > 1 and summed and not FORMS["each"].search(text):
        return True
    asking = (FORMS["change"], FORMS["mean"]) if percent else (FORMS["change"], FORMS["mean"], FORMS["part"])
    return any(words.search(text) and not words.search(label) for words in asking)


def _extract_claim(text: str, amount: Amount) -> str:
    """What a statement says an amount is: "the change was 5"; nothing where it says that something changed to it."""
    claim = text.rpartition("\n")[2]
    start = claim.find(amount.specific.text)
    return "" if FORMS["to"].search(claim[:start]) or len(find_amounts(claim)) > 1 else claim
