"""How much of a claim stands in its evidence: lexical features, and the window of text that decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, log1p

from ragauge.judging.local.index import Indexed, Mode, carries_content, units_of

LONGEST_CLAIM = 256      # units looked at: bounds the work on an endless sentence
LONGEST_WINDOW = 512     # units compared in order
MOST_EVIDENCE = 20_000   # units: the longest that was measured
NARROW = 3               # segments of the window that decides

# in the order of the coefficients; what each is stands in docs/local-judge.md
FEATURES = (
    "coverage",
    "coverage_idf",
    "best_sentence",
    "best_sentence_idf",
    "best_three",
    "best_five",
    "rouge_l",
    "rouge_l_content",
    "bigrams",
    "trigrams",
    "content_pairs",
    "numbers_missing",
    "names_missing",
    "claim_length",
    "evidence_length",
)
# more of these can only speak against support, more of the first kind only for it; lengths may go either way
AGAINST = frozenset({"numbers_missing", "names_missing"})
EITHER_WAY = frozenset({"claim_length", "evidence_length"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """A claim made ready: its units in order, those with content in order, and the latter each once."""

    units: tuple[str, ...]
    content: tuple[str, ...]
    distinct: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overlap:
    """What one passage holds of a claim. Sets of the claim's distinct content units are bit masks.

    Attributes:
        passage: its number, from 1.
        start: first character of its best window.
        end: one past the window's last character.
        closest: number of its best segment, from 0.
        found: units found anywhere in the passage.
        one: units of its best segment.
        three: units of its best window of three segments.
        five: units of its best window of five.
        rouge_l: longest common subsequence with the window, as a share of the claim's units.
        rouge_l_content: the same of the units with content.
        bigrams: share of the claim's pairs of neighbours that the window holds.
        trigrams: the same of threes.
        content_pairs: share of pairs of neighbouring units with content.
        size: units in the passage.
    """

    passage: int
    start: int = 0
    end: int = 0
    closest: int = 0
    found: int = 0
    one: int = 0
    three: int = 0
    five: int = 0
    rouge_l: float = 0.0
    rouge_l_content: float = 0.0
    bigrams: float = 0.0
    trigrams: float = 0.0
    content_pairs: float = 0.0
    size: int = 0


@lru_cache(maxsize=1_024)
def wanted(claim: str, mode: Mode) -> Wanted:
    """The claim, ready for comparison; one that is all function words counts them as its content."""
    units = units_of(claim, mode)[:LONGEST_CLAIM]
    content = tuple(unit for unit in units if carries_content(unit, mode)) or units
    return Wanted(units, content, tuple(dict.fromkeys(content)))


def overlap(claim: Wanted, passage: Indexed, number: int) -> Overlap:
    """What a passage holds of a claim: in all, in its best segment, and in its best windows."""
    held: dict[int, int] = {}
    found = 0
    for bit, unit in enumerate(claim.distinct):
        where = passage.places.get(unit)
        if where:
            found |= 1 << bit
            for segment in where:
                held[segment] = held.get(segment, 0) | 1 << bit
    if not found:
        return Overlap(number, size=passage.size)
    one = three = five = at = closest = 0
    for segment in sorted(held):
        mask = held[segment]
        if mask.bit_count() > one.bit_count():
            one, closest = mask, segment
        mask |= held.get(segment + 1, 0) | held.get(segment + 2, 0)
        if mask.bit_count() > three.bit_count():
            three, at = mask, segment
        mask |= held.get(segment + 3, 0) | held.get(segment + 4, 0)
        if mask.bit_count() > five.bit_count():
            five = mask
    window = [u for segment in passage.segments[at : at + NARROW] for u in segment.units][:LONGEST_WINDOW]
    known = frozenset(claim.content)
    plain = [unit for unit in window if unit in known]
    first, last = _trimmed(held, at, three)
    return Overlap(
        passage=number,
        start=passage.segments[first].start,
        end=passage.segments[last].end,
        closest=closest,
        found=found,
        one=one,
        three=three,
        five=five,
        rouge_l=_common(claim.units, window),
        rouge_l_content=_common(claim.content, plain),
        bigrams=_runs(claim.units, window, 2),
        trigrams=_runs(claim.units, window, 3),
        content_pairs=_runs(claim.content, plain, 2),
        size=passage.size,
    )


def _trimmed(held: Mapping[int, int], at: int, mask: int) -> tuple[int, int]:
    """First and last of the fewest neighbouring segments that hold as much as the whole window."""
    for length in range(1, NARROW):
        for first in range(at, at + NARROW + 1 - length):
            part = 0
            for segment in range(first, first + length):
                part |= held.get(segment, 0)
            if part == mask:
                return first, first + length - 1
    return at, at + NARROW - 1


def _common(claim: Sequence[str], window: Sequence[str]) -> float:
    """Longest common subsequence as a share of the claim (ROUGE-L precision), by bit-parallel addition."""
    places: dict[str, int] = {}
    for bit, unit in enumerate(claim):
        places[unit] = places.get(unit, 0) | 1 << bit
    full = row = (1 << len(claim)) - 1
    for unit in window:
        match = row & places.get(unit, 0)
        if match:
            row = ((row + match) | (row - match)) & full
    return 1 - row.bit_count() / len(claim)


def _runs(claim: Sequence[str], window: Sequence[str], n: int) -> float:
    """Share of the claim's distinct runs of n units that the window holds; a claim shorter than n has itself."""
    n = min(n, len(claim))
    own = set(zip(*(claim[k:] for k in range(n)), strict=False))
    return len(own.intersection(zip(*(window[k:] for k in range(n)), strict=False))) / len(own)


def rarities(claim: Wanted, passages: Sequence[Indexed]) -> list[float]:
    """How rare each distinct unit of the claim is among the segments of the passages (idf)."""
    total = sum(len(passage.segments) for passage in passages) + 1
    counts = [sum(len(passage.places.get(unit, ())) for passage in passages) for unit in claim.distinct]
    return [log(1 + total / (count + 0.5)) for count in counts]


def features(
    claim: Wanted, overlaps: Sequence[Overlap], rarity: Sequence[float], numbers_missing: int, names_missing: float
) -> tuple[float, ...]:
    """The features of a claim against one passage, or against several taken together, in the order of FEATURES.

    Args:
        claim: the claim.
        overlaps: with each of the passages, at least one.
        rarity: of the claim's units.
        numbers_missing: how many of its numbers, dates and percentages stand in none of the passages.
        names_missing: share of its names that stand in none of them.
    """
    n = len(claim.distinct) or 1
    whole = sum(rarity) or 1.0
    best = max(overlaps, key=lambda one: (one.three.bit_count(), one.rouge_l))
    found = 0
    for one in overlaps:
        found |= one.found

    def weight(mask: int) -> float:
        return sum(value for bit, value in enumerate(rarity) if mask >> bit & 1) / whole

    return (
        found.bit_count() / n,
        weight(found),
        max(one.one.bit_count() for one in overlaps) / n,
        max(weight(one.one) for one in overlaps),
        best.three.bit_count() / n,
        max(one.five.bit_count() for one in overlaps) / n,
        best.rouge_l,
        best.rouge_l_content,
        best.bigrams,
        best.trigrams,
        best.content_pairs,
        float(numbers_missing > 0),
        names_missing,
        log1p(len(claim.units)),
        log1p(min(MOST_EVIDENCE, sum(one.size for one in overlaps))),
    )
