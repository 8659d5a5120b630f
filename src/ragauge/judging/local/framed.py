"""Whether a passage holds a claim only under a denial, a doubt, a condition or a question."""

from __future__ import annotations

import re
from typing import NamedTuple

from ragauge.judging.local.checks import StatedSpan
from ragauge.judging.local.framing import HELD, Frame, frame, says_something
from ragauge.judging.local.index import LONGEST_SEGMENT, Indexed
from ragauge.judging.local.overlap import PreparedClaim

PLAIN = 0.8         # of what the best sentence holds: another that holds so much may state the claim by itself
MOST_SENTENCES = 6  # looked at
MOST_LINES = 4      # of one sentence that was broken into lines
_ENDS = re.compile(r"[.!?:;][\"'”’)\]]*\s*$|\n\s*\n")


class Framed(NamedTuple):
    """The frame of a passage's best sentence, and the passage without such sentences.

    `rest` is empty where no other sentence could state the claim.
    """

    frame: Frame
    rest: str


def framed(claim: str, want: PreparedClaim, text: str, passage: Indexed, stated: StatedSpan | None) -> Framed | None:
    """Under what a passage holds a claim; None where its best sentence states it, or holds less than most of it.

    Args:
        claim: as written.
        want: its units, as they are compared with the passage.
        text: the passage as written.
        passage: the same, ready for comparison.
        stated: where it has the claim's items one by one, if it has: maybe in lines that are no sentences.
    """
    if not says_something(claim):
        return None
    found: Frame | None = None
    plain = False
    rest = text
    for start, end in _spans(want, text, passage, stated):
        own = frame(claim, text, start, end)
        if own is None:
            plain = True
            continue
        found = found or own
        rest = f"{rest[:start]}{' ' * (end - start)}{rest[end:]}"
    return Framed(found, rest if plain else "") if found is not None else None


def _spans(want: PreparedClaim, text: str, passage: Indexed, stated: StatedSpan | None) -> list[tuple[int, int]]:
    """The sentences that hold nearly as much of a claim as the best one, best first, each whole."""
    held: dict[int, int] = {}
    for unit in want.distinct:
        for segment in passage.places.get(unit, ()):
            held[segment] = held.get(segment, 0) + 1
    most = max(held.values(), default=0)
    if most < HELD * len(want.distinct):
        return [(stated.start, stated.end)] if stated is not None else []
    best = sorted((n for n in held if held[n] >= PLAIN * most), key=lambda n: (-held[n], n))[:MOST_SENTENCES]
    return list(dict.fromkeys(_whole(text, passage, n) for n in best))


def _whole(text: str, passage: Indexed, number: int) -> tuple[int, int]:
    """A segment with the lines around it that belong to the same sentence: a small letter goes on with it."""
    first = last = number
    segments = passage.segments
    while first and number - first < MOST_LINES and _goes_on(text, segments[first - 1].end, segments[first].start):
        first -= 1
    while last + 1 < len(segments) and last - number < MOST_LINES and _goes_on(
        text, segments[last].end, segments[last + 1].start
    ):  # fmt: skip
        last += 1
    return segments[first].start, segments[last].end


def _goes_on(text: str, end: int, start: int) -> bool:
    return text[start].islower() and not _ENDS.search(text[max(0, end - LONGEST_SEGMENT) : start][-8:])
