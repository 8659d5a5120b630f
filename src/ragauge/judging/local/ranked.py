"""Questions that compare the numbers of a table: in which year it was highest, how often it was above a limit."""

from __future__ import annotations

import re

from ragauge.judging.local.cells import LineCell, NamedInClaim, TableLine

_HIGH = "larger|largest|higher|highest|greater|greatest|more|most|biggest|bigger|maximum|best"
HIGH = re.compile(rf"\b(?:{_HIGH})\b", re.IGNORECASE)
LOW = re.compile(r"\b(?:lower|lowest|smaller|smallest|less|least|fewer|fewest|minimum)\b", re.IGNORECASE)
WHICH = re.compile(r"\b(?:which|what)\s+(?:fiscal |financial |calendar )?(?:year|period)\b|\bwhen\b", re.IGNORECASE)
MANY = re.compile(r"\bhow many (?:fiscal |financial )?(?:years|periods|times)\b", re.IGNORECASE)
_ABOVE = r"exceed\w*|above|over|more than|greater than|higher than|larger than|at least"
ABOVE = re.compile(rf"\b(?:{_ABOVE})\b", re.IGNORECASE)
BELOW = re.compile(r"\b(?:below|under|less than|lower than|smaller than|fewer than|at most)\b", re.IGNORECASE)


def first(line: TableLine, query: str, ask: NamedInClaim) -> LineCell | None:
    """The entry that a question such as "In which year was it highest?" asks for; None where it asks for none.

    Losses and the like are ranked by their size; where signs differ, by value.
    """
    high, low = HIGH.search(query), LOW.search(query)
    if not WHICH.search(query) or bool(high) == bool(low) or ABOVE.search(query) or BELOW.search(query):
        return None
    entries = _dated(line, ask)
    if len(entries) < 2 or len({entry.year for entry in entries}) < len(entries):
        return None
    sizes = {id(entry): entry.cell.value for entry in entries}
    if all(size <= 0 for size in sizes.values()):
        sizes = {key: -size for key, size in sizes.items()}
    order = sorted(entries, key=lambda entry: sizes[id(entry)], reverse=high is not None)
    return None if sizes[id(order[0])] == sizes[id(order[1])] else order[0]


def count(line: TableLine, query: str, ask: NamedInClaim, limit: float | None) -> int | None:
    """In how many years the line is above or below the limit of the question; None where it asks for no such thing.

    Args:
        line: what is counted.
        query: the question.
        ask: the same, read.
        limit: in the table's scale; None = the question has none.
    """
    above, below = ABOVE.search(query), BELOW.search(query)
    if not MANY.search(query) or bool(above) == bool(below) or limit is None:
        return None
    entries = _dated(line, ask)
    return sum(e.cell.value > limit if above else e.cell.value < limit for e in entries) if entries else None


def _dated(line: TableLine, ask: NamedInClaim) -> list[LineCell]:
    several = ask.years if len(ask.years) > 1 else ()
    return [entry for entry in line.entries if entry.year is not None and (not several or entry.year in several)]
