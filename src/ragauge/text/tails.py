"""What follows a number and changes or names it: a multiplier, an ordinal ending, per cent, a unit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ragauge.text.alphabets import SPACED_UNTIL
from ragauge.text.units import CAPITAL_ONLY, CJK_SCALES, PERCENT, SCALES, SHORT_SCALES, SMALL_ONLY, UNITS

CERTAIN_SCALES = ("k", "bn", "mn", "tn")     # "5m" may be metres and "5b" a label


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


TAIL = re.compile(
    rf"""(?:[ ]?-?(?P<scale>{spelled(SCALES)})\b\.?|(?P<short>{spelled(SHORT_SCALES)})\b(?!/)
    |[ ]?(?P<cjk>{spelled(CJK_SCALES)}))?
    (?P<ordinal>(?:st|nd|rd|th)\b)?
    (?:[ ]?-?(?P<percent>{PERCENT})
    |[ ]?-?(?:US)?(?P<unit>{spelled(UNITS)})(?![0-9])(?![^\W\d_](?<![\u0e00-\U000fffff])))?""",
    re.VERBOSE | re.IGNORECASE,
)


def after(plain: str, end: int, *, currency: bool = False) -> Tail | None:
    """What follows the number that ends here; None where a letter is glued to it, so that it is a code (3D)."""
    found = TAIL.match(plain, end)
    if found is None:
        return None
    unit = _unit(found)
    glued = plain[end : end + 1]
    if (glued == "_" or (glued.isalpha() and ord(glued) < SPACED_UNTIL)) and not (
        found["scale"] or found["short"] or found["ordinal"] or found["percent"] or unit
    ):
        return None
    shift, other = _scale(found, spaced=glued == " ", currency=currency)
    last = max(found.end(part) for part in ("scale", "short", "cjk", "ordinal", "percent"))
    if currency and unit in ("m", "B") and shift:
        unit = ""
    return Tail(max(end, last), shift, other, unit, bool(found["percent"]))


def _unit(found: re.Match[str]) -> str:
    name = found["unit"]
    if not name or (name in CAPITAL_ONLY) or (name.lower() in SMALL_ONLY and not name.islower()):
        return ""
    return UNITS[name.lower()]


def _scale(found: re.Match[str], *, spaced: bool, currency: bool) -> tuple[int, int | None]:
    if found["scale"]:
        return SCALES[found["scale"].lower()], None
    if found["cjk"]:
        return CJK_SCALES[found["cjk"]], None
    if found["short"]:
        short = found["short"].lower()
        return SHORT_SCALES[short], None if currency or short in CERTAIN_SCALES else 0
    unit = (found["unit"] or "").lower()
    return (SHORT_SCALES[unit] if currency and spaced and unit in SHORT_SCALES else 0), None
