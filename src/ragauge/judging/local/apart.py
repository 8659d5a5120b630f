"""Whether a number stands in a text as an amount of its own, not within "7-play", "24-7" or "the 7th"."""

from __future__ import annotations

import re

from ragauge.text import numerals
from ragauge.text.characters import plain
from ragauge.text.specifics import Specific
from ragauge.text.tokens import stem, words
from ragauge.text.units import ORDINALS, UNITS

COUNTED = re.compile(r"\bhow (?:many|much|long|far|old)\b|\bnumber of\b", re.IGNORECASE)
COMPOUND = re.compile(r"-([^\W\d_]+)")      # "7-play", "seven-part"
SCORED, SCORE_GOES_ON = re.compile(r"\d-$"), re.compile(r"-\d")
ORDINAL = re.compile(r"\d(?:st|nd|rd|th)$")


def stands_alone(specific: Specific, text: str, query: str) -> bool:
    """Whether a number that a text holds is told there at least once as an amount of its own.

    In a compound with a word it is that of the word, which is an answer only where the question has the word, or
    where the word is a unit and no count is asked for. Where one is, neither an ordinal nor one side of a score or a
    range is one.
    """
    same = plain(text)
    readings = {specific.normal, specific.other} - {""}
    marks = [mark for mark in numerals.find(same, liberal=True) if readings & {mark.normal, mark.other}]
    asked = {stem(word) for word in words(query)}
    counted = COUNTED.search(query) is not None
    return not marks or not all(_bound(same, mark.start, mark.end, asked, counted=counted) for mark in marks)


def _bound(text: str, start: int, end: int, asked: set[str], *, counted: bool) -> bool:
    compound = COMPOUND.match(text, end)
    if compound is not None:
        word = compound[1].lower()
        return stem(word) not in asked and (counted or word not in UNITS)
    if not counted:
        return False
    written = text[start:end].lower()
    scored = SCORED.search(text, max(0, start - 2), start) or SCORE_GOES_ON.match(text, end)
    return written in ORDINALS or ORDINAL.search(written) is not None or scored is not None
