"""Where a near-copy of a claim says another number or date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.judging.local.index import STOPS, Segment
from ragauge.judging.local.overlap import Wanted
from ragauge.text.specifics import Kind, Specific, find
from ragauge.text.tokens import stem, words

EXACT: tuple[Kind, ...] = ("number", "date", "percent")
MOST = 48              # numbers of a segment that are compared
FEWEST = 2             # units with content, numbers left out, that a claim needs to be called copied
NEAR_COPY = 0.8        # share of those that the segment holds
NEIGHBOURS = 3         # words looked at on each side of a number
LARGE = 1_000          # from here on a rounded number is no other number
LABEL = re.compile(
    r"\b([A-Z][\w-]*|version|firmware|release|section|article|chapter|clause|step|page|figure|table|model|type|level|phase"
    r"|part|number|no\.?|room|client|line|rule|item|question|v\.?)\s$"
)
ROUNDED = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|over|under|more than|less than|fewer than|at least"
    r"|at most|up to|some|circa|ca\.?|[~≈<>])\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Conflict:
    """What the claim says, and what the passage says in its place, both as written."""

    claim: str
    passage: str


def conflict(claim: str, want: Wanted, specifics: Sequence[Specific], text: str, segment: Segment) -> Conflict | None:
    """The number or date of the claim in whose place a near-copy has another; None where there is none.

    Only where one number differs: with two, or another version number, the sentence speaks of something else.

    Args:
        claim: the claim.
        want: its units.
        specifics: of the claim.
        text: the passage.
        segment: the segment of the passage that holds most of the claim.
    """
    own = [one for one in specifics if one.kind in EXACT]
    if not own or not _copied(want, own, segment):
        return None
    sentence = text[segment.start : segment.end]
    theirs = find(sentence, EXACT)[:MOST]
    mine = [one for one in own if not any(_agree(one, other, claim, sentence) for other in theirs)]
    its = [other for other in theirs if not any(_agree(one, other, claim, sentence) for one in own)]
    if min(len(mine), len(its)) != 1:
        return None
    for one in mine:
        for other in its:
            if _label(claim, one) or _label(sentence, other):
                continue
            if one.kind == other.kind and one.unit == other.unit and _same_place(claim, one, sentence, other):
                return Conflict(one.text, other.text)
    return None


def _copied(want: Wanted, own: Sequence[Specific], segment: Segment) -> bool:
    numeric = {stem(word) for one in own for word in words(one.text)}
    rest = [unit for unit in want.distinct if unit not in numeric and not unit[0].isdigit()]
    there = set(segment.units)
    return len(rest) >= FEWEST and sum(unit in there for unit in rest) >= NEAR_COPY * len(rest)


def _label(text: str, one: Specific) -> bool:
    """Whether a number only tells things of a kind apart: Hub 3, version 6.2. Another one is another thing."""
    if one.kind != "number" or one.unit:
        return False
    head = LABEL.search(text[max(0, one.start - 30) : one.start])
    return head is not None and head[1].lower() not in STOPS and not head[1].endswith("ly")


def _agree(one: Specific, other: Specific, claim: str, sentence: str) -> bool:
    """Whether two specifics can both be true of one thing."""
    mine, its = {one.normal, one.other} - {""}, {other.normal, other.other} - {""}
    if mine & its:
        return True
    if one.kind == "date" or other.kind == "date":
        return any(_within(a, b) or _within(b, a) for a in mine for b in its)
    first, second = _value(one), _value(other)
    if first is None or second is None or first == second:
        return True
    loose = ROUNDED.search(claim[max(0, one.start - 20) : one.start]) or ROUNDED.search(
        sentence[max(0, other.start - 20) : other.start]
    )
    near = abs(first - second) <= 0.1 * max(abs(first), abs(second))
    return near and (loose is not None or min(abs(first), abs(second)) >= LARGE)


def _within(exact: str, rough: str) -> bool:
    """Whether one date contains the other: 2024-01-03 lies in 2024, in 2024-01, and on --01-03; 1994 in 1990s."""
    if rough.endswith("s"):
        return exact[:3] == rough[:3]
    if rough.startswith("--"):
        return exact[4:].startswith(rough.removesuffix("-00")[1:]) if exact[:2] != "--" else exact.startswith(rough[:4])
    return exact.startswith(rough)


def _value(one: Specific) -> float | None:
    try:
        return float(one.normal.removesuffix("%"))
    except ValueError:
        return None


def _same_place(claim: str, one: Specific, sentence: str, other: Specific) -> bool:
    """Whether a word with content stands beside the number in both texts, on the same side."""
    if one.unit and one.unit == other.unit and one.unit.isalpha():
        return True
    before = _stems(claim[max(0, one.start - 80) : one.start])[-NEIGHBOURS:]
    there_before = _stems(sentence[max(0, other.start - 80) : other.start])[-NEIGHBOURS:]
    after = _stems(claim[one.end : one.end + 80])[:NEIGHBOURS]
    there_after = _stems(sentence[other.end : other.end + 80])[:NEIGHBOURS]
    return bool((set(before) & set(there_before) | set(after) & set(there_after)) - STOPS)


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words(text)]
