"""Amounts that follow from the numbers of one sentence by one operation that the question or claim names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.judging.local.cells import LineCell, Linked, NamedInClaim, TableLine
from ragauge.judging.local.index import STOPS, units_of
from ragauge.judging.local.reckoned import CHANGE, MEAN, RATIO, SUM, Result, results
from ragauge.judging.local.sums import Amount, amounts
from ragauge.text.sentences import split
from ragauge.text.tables import TableCell, years

LONGEST = 20_000        # characters of a passage that are looked at
LONGEST_SENTENCE = 600
MOST_SENTENCES = 200    # of all passages
HELD = 0.6              # share of the words that name the thing that the sentence has to hold
FEWEST, MOST = 2, 4     # amounts of a sentence between which an operation is looked for
_ASKING = "percentag percent chang differ differenc increas decreas ratio averag total sum amount valu proportion year"
ASKING = frozenset(_ASKING.split())     # words that name the operation, not the thing


def spoken(text: str, ask: NamedInClaim, passages: Sequence[str]) -> Iterator[tuple[int, Result]]:
    """What follows from two numbers or more of one sentence, and the number of its passage.

    Nothing follows where no operation is named, and from sentences that do not speak of the thing asked for.

    Args:
        text: question and claim.
        ask: what names the thing, read.
        passages: their texts, in order.
    """
    if not any(words.search(text) for words in (CHANGE, MEAN, RATIO, SUM)):
        return
    wanted = {word for word in ask.words if word not in ASKING and not word[0].isdigit()}
    looked = 0
    for n, passage in enumerate(passages, 1):
        for sentence in split(passage[:LONGEST]):
            looked += 1
            if looked > MOST_SENTENCES:
                return
            said = sentence.text
            if "\t" in said or len(said) > LONGEST_SENTENCE or sum(map(str.isdigit, said)) < FEWEST:
                continue
            own = {unit for unit in units_of(said, "words") if unit not in STOPS}
            if wanted and len(wanted & own) >= HELD * len(wanted):
                part = _part(amounts(said), years(said), sentence.start)
                for result in results(part, (), ask, text) if part is not None else ():
                    yield n, result


def _part(found: Sequence[Amount], dates: Sequence[int], at: int) -> Linked | None:
    """The numbers of a sentence as a line of a table, each of its year where there are as many years."""
    if not FEWEST <= len(found) <= MOST:
        return None
    own = list(dates) if len(dates) == len(found) else [None] * len(found)
    entries = []
    for row, (one, year) in enumerate(zip(found, own, strict=True)):
        start, end = at + one.specific.start, at + one.specific.end
        entries.append(LineCell(TableCell(row, 0, one.written * 10.0**one.shift, one.percent, start, end), year))
    lines = tuple(TableLine(entry.cell.row, entry.cell.row, "", (entry,)) for entry in entries)
    return Linked((TableLine(None, 0, "", tuple(entries)),), lines, (), 1.0, dated=True)
