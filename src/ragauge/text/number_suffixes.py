"""What follows a number and changes or names it: a multiplier, an ordinal ending, per cent, a unit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ragauge.text.alphabets import HANGUL, SPACED_UNTIL, UNSPACED
from ragauge.text.units import (
    CAPITAL_ONLY,
    CERTAIN_SCALES,
    CJK_SCALES,
    CJK_UNITS,
    PERCENT,
    PERCENT_PHRASES,
    SCALES,
    SHORT_SCALES,
    SMALL_ONLY,
    UNITS,
)

_SIGN = r"(?:US)?[$€£¥₹](?!\d)|%|°[CcFf]|[ap]\.m\.?"
WORD = re.compile(rf" ?-?({_SIGN}|[^\W\d_{UNSPACED}{HANGUL}]+(?:/[a-z]+)?|[{UNSPACED}{HANGUL}]{{1,3}})")
ORDINALS = ("st", "nd", "rd", "th")


class Tail(NamedTuple):
    """What a number's neighbours to the right say.

    Attributes:
        end: where the number itself ends: behind its multiplier, its ordinal ending and its per cent.
        shift: the power of ten to multiply by.
        other: the power of ten in the other reading, None where there is one reading.
        unit: see `units`.
        percent: whether it is a percentage.
    """

    end: int
    shift: int = 0
    other: int | None = None
    unit: str = ""
    percent: bool = False


def spelled(names: Iterable[str]) -> str:
    """The names as alternatives of a pattern, the longest first."""
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


def after(plain: str, end: int, *, currency: bool = False) -> Tail | None:
    """What follows the number that ends here; None where a letter is glued to it, so that it is a code (3D)."""
    found = WORD.match(plain, end)
    if found is None:
        return None if plain[end : end + 1] == "_" else Tail(end)
    tail = _multiplied(found, end, currency=currency)
    if tail.end > end:
        found = WORD.match(plain, tail.end)
        if found is None:
            return tail
    last = _per_cent(plain, found)
    if last:
        return tail._replace(end=last, percent=True)
    unit = _unit(found[1])
    letter = plain[end]
    if tail.end == end and not unit and letter.isalpha() and ord(letter) < SPACED_UNTIL:
        return None
    return tail._replace(unit=unit)


def _multiplied(found: re.Match[str], end: int, *, currency: bool) -> Tail:
    """The number with its multiplier or ordinal ending, as far as the first word says."""
    word, glued = found[1].lower(), found.start(1) == end
    if word in SCALES:
        full_stop = found.string[found.end() : found.end() + 1] == "." and len(word) <= 3     # Mio.
        return Tail(found.end() + full_stop, SCALES[word])
    if word in SHORT_SCALES and (glued or currency or word in CERTAIN_SCALES):
        return Tail(found.end(), SHORT_SCALES[word], None if currency or word in CERTAIN_SCALES else 0)
    if word[0] in CJK_SCALES:
        return Tail(found.start(1) + 1, CJK_SCALES[word[0]])
    return Tail(found.end() if glued and word in ORDINALS else end)


def _per_cent(plain: str, found: re.Match[str]) -> int:
    """Where a per cent sign or word ends; 0 where there is none."""
    word = found[1].lower()
    if word in PERCENT:
        return found.end()
    phrase = PERCENT_PHRASES.get(word)
    if phrase and plain[found.end() : found.end() + len(phrase)].lower() == phrase:
        last = found.end() + len(phrase)
        return 0 if plain[last : last + 1].isalpha() else last
    return 0


def _unit(word: str) -> str:
    small = word.lower()
    if small in SMALL_ONLY and word != small:
        return ""
    if small in CAPITAL_ONLY and word == small:
        return ""
    if small in UNITS:
        return UNITS[small]
    return next((unit for name, unit in CJK_UNITS.items() if word.startswith(name)), "")
