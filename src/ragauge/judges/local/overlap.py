"""How much of a claim stands in its evidence: lexical features, and the window of text that decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from math import log1p
from operator import or_
from typing import NamedTuple

from ragauge.judges.local.index import KIN_CHARS, IndexedText, Mode, has_content, split_units

MAX_CLAIM_UNITS = 256  # units looked at: bounds the work on an endless sentence
MAX_WINDOW_UNITS = 512  # units compared in order
MAX_EVIDENCE_UNITS = 20_000  # units: the longest that was measured
NARROW_SEGMENTS = 3  # segments of the window that decides

# in the order of the coefficients; what each is stands in docs/local-judge.md
FEATURES = (
    "coverage",
    "best_sentence",
    "best_three",
    "best_five",
    "best_three_kin",
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

Runs = Mapping[tuple[str, ...], int]


class PreparedClaim(NamedTuple):
    """A claim made ready."""

    units: tuple[str, ...]  # its units in order
    content: tuple[str, ...]  # those with content in order
    distinct: tuple[str, ...]  # those with content, each once
    bigrams: Runs  # its pairs of neighbouring units, numbered; a claim of one unit has itself
    trigrams: Runs  # its threes likewise
    pairs: Runs  # its pairs of neighbouring units with content likewise


MASK_FIELDS = (
    "found",
    "three",
    "five",
    "kin",
    "bigrams",
    "trigrams",
    "pairs",
)  # what several hold together is the union


class Overlap(NamedTuple):
    """What one passage holds of a claim, or several taken together. Sets of what the claim has are bit masks."""

    passage: int  # its number, from 1; of several the one that holds most
    start: int = 0  # first character of its best window
    end: int = 0  # one past the window's last character
    found: int = 0  # units found anywhere in the passage
    one: int = 0  # units of its best segment
    three: int = 0  # units of its best window of three segments
    five: int = 0  # units of its best window of five
    kin: int = 0  # units of its best window of three, those included of which it holds another word of the family
    rouge_l: float = 0.0  # longest common subsequence with the window, as a share of the claim's units
    rouge_l_content: float = 0.0  # the same of the units with content
    bigrams: int = 0  # the claim's pairs of neighbours that the window holds
    trigrams: int = 0  # the same of threes
    pairs: int = 0  # the same of pairs of neighbouring units with content
    size: int = 0  # units in the passage


@lru_cache(maxsize=512)
def prepare_claim(claim: str, mode: Mode) -> PreparedClaim:
    """The claim, ready for comparison; one that is all function words counts them as its content."""
    units = split_units(claim, mode)[:MAX_CLAIM_UNITS]
    content = tuple(unit for unit in units if has_content(unit, mode)) or units
    runs = _number_runs(units, 2), _number_runs(units, 3), _number_runs(content, 2)
    return PreparedClaim(units, content, tuple(dict.fromkeys(content)), *runs)


def compute_overlap(claim: PreparedClaim, passage: IndexedText, number: int) -> Overlap:
    """What a passage holds of a claim: in all, in its best segment, and in its best windows."""
    masks: dict[int, int] = {}
    hits = 0
    for bit, unit in enumerate(claim.distinct):
        where = passage.places.get(unit)
        if where:
            hits |= 1 << bit
            for segment in where:
                masks[segment] = masks.get(segment, 0) | 1 << bit
    if not hits:
        return Overlap(number, size=passage.size)
    best_single = three = five = best_start = 0
    for segment in sorted(masks):
        mask = masks[segment]
        best_single = max(best_single, mask, key=int.bit_count)
        mask |= masks.get(segment + 1, 0) | masks.get(segment + 2, 0)
        if mask.bit_count() > three.bit_count():
            three, best_start = mask, segment
        mask |= masks.get(segment + 3, 0) | masks.get(segment + 4, 0)
        if mask.bit_count() > five.bit_count():
            five = mask
    window = [u for segment in passage.segments[best_start : best_start + NARROW_SEGMENTS] for u in segment.units][
        :MAX_WINDOW_UNITS
    ]
    content_units = frozenset(claim.content)
    content_window = [unit for unit in window if unit in content_units]
    first, last = _trim_window(masks, best_start, three)
    return Overlap(
        passage=number,
        start=passage.segments[first].start,
        end=passage.segments[last].end,
        found=hits,
        one=best_single,
        three=three,
        five=five,
        kin=_compute_kin(claim, passage, masks, three),
        rouge_l=_compute_rouge_l(claim.units, window),
        rouge_l_content=_compute_rouge_l(claim.content, content_window),
        bigrams=_find_held_runs(claim.bigrams, window),
        trigrams=_find_held_runs(claim.trigrams, window),
        pairs=_find_held_runs(claim.pairs, content_window),
        size=passage.size,
    )


def _compute_kin(claim: PreparedClaim, passage: IndexedText, masks: Mapping[int, int], three: int) -> int:
    """Units of the window of three that holds most, where a word of the same family counts too."""
    wide = dict(masks)
    for bit, unit in enumerate(claim.distinct):
        if not three >> bit & 1:
            for segment in passage.kin.get(unit[:KIN_CHARS], ()):
                wide[segment] = wide.get(segment, 0) | 1 << bit
    if len(wide) == len(masks) and wide == masks:
        return three
    return max((mask | wide.get(n + 1, 0) | wide.get(n + 2, 0) for n, mask in wide.items()), key=int.bit_count)


def _trim_window(masks: Mapping[int, int], start: int, mask: int) -> tuple[int, int]:
    """First and last of the fewest neighbouring segments that hold as much as the whole window."""
    for length in range(1, NARROW_SEGMENTS):
        for first in range(start, start + NARROW_SEGMENTS + 1 - length):
            union = 0
            for segment in range(first, first + length):
                union |= masks.get(segment, 0)
            if union == mask:
                return first, first + length - 1
    return start, start + NARROW_SEGMENTS - 1


def _compute_rouge_l(claim: Sequence[str], window: Sequence[str]) -> float:
    """Longest common subsequence as a share of the claim (ROUGE-L precision), by bit-parallel addition."""
    masks: dict[str, int] = {}
    for bit, unit in enumerate(claim):
        masks[unit] = masks.get(unit, 0) | 1 << bit
    full = row = (1 << len(claim)) - 1
    for unit in window:
        match = row & masks.get(unit, 0)
        if match:
            row = ((row + match) | (row - match)) & full
    return 1 - row.bit_count() / len(claim)


def _number_runs(units: Sequence[str], n: int) -> Runs:
    """The distinct runs of n units, numbered from 0; fewer than n units are one run."""
    n = min(n, len(units))
    return {run: index for index, run in enumerate(dict.fromkeys(zip(*(units[k:] for k in range(n)), strict=False)))}


def _find_held_runs(runs: Runs, window: Sequence[str]) -> int:
    """Those of the runs that the window holds."""
    n = len(next(iter(runs), ()))
    mask = 0
    for run in runs.keys() & set(zip(*(window[k:] for k in range(n)), strict=False)):
        mask |= 1 << runs[run]
    return mask


def merge_overlaps(claim: PreparedClaim, overlaps: Sequence[Overlap]) -> Overlap:
    """What several passages hold of a claim together, as if the window of each were a part of one.

    What one window adds to the best one's common subsequence is the content that the best one lacks: no order is
    asked for between passages.
    """
    best = max(overlaps, key=lambda pair: (pair.three.bit_count(), pair.rouge_l))
    every = {name: reduce(or_, (getattr(pair, name) for pair in overlaps)) for name in MASK_FIELDS}
    added = every["three"].bit_count() - best.three.bit_count()
    return best._replace(
        **every,
        one=max((passage_overlap.one for passage_overlap in overlaps), key=int.bit_count),
        rouge_l=min(1.0, best.rouge_l + added / (len(claim.units) or 1)),
        rouge_l_content=min(1.0, best.rouge_l_content + added / (len(claim.content) or 1)),
        size=sum(passage_overlap.size for passage_overlap in overlaps),
    )


def compute_features(
    claim: PreparedClaim, overlap: Overlap, numbers_missing: int, names_missing: float
) -> tuple[float, ...]:
    """The features of a claim against a passage, or against several taken together, in the order of FEATURES.

    `numbers_missing` counts its numbers, dates and percentages that stand nowhere in them; `names_missing` is a share.
    """
    n = len(claim.distinct) or 1
    masks = overlap.found, overlap.one, overlap.three, overlap.five, overlap.kin
    return (
        *(mask.bit_count() / n for mask in masks),
        overlap.rouge_l,
        overlap.rouge_l_content,
        overlap.bigrams.bit_count() / (len(claim.bigrams) or 1),
        overlap.trigrams.bit_count() / (len(claim.trigrams) or 1),
        overlap.pairs.bit_count() / (len(claim.pairs) or 1),
        float(numbers_missing > 0),
        names_missing,
        log1p(len(claim.units)),
        log1p(min(MAX_EVIDENCE_UNITS, overlap.size)),
    )
