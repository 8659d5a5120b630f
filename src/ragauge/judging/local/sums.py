"""The amounts of a claim: value, sign, multiplier and the digits that are written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log10

from ragauge.judging.local.kinds import EXACT
from ragauge.text.specifics import Specific, find

LONGEST = 20_000        # characters of a text whose amounts are looked for
LOOSE = 0.51            # of the last digit that is written: a result is rounded to it
MOST_SHIFT = 15         # power of ten: no table is kept in more than that
MULTIPLIER = re.compile(r"\s?\)?\s?(thousand|million|billion|trillion|hundred|mn|bn|m|k)s?\b", re.IGNORECASE)
SHIFTS = {"hundred": 2, "thousand": 3, "k": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "trillion": 12}
MINUS = re.compile(r"\(\s?[$€£¥₹]?\s?$|[-–−—]\s?[$€£¥₹]?\s?$")
PER_CENT = re.compile(r"\s?\)\s?%")
DIGITS = re.compile(r"\d(?:[\d,. ]{0,40}\d)?")
PLAIN = re.compile(r"\d+(?:\.\d+)?")
MONEY = frozenset("$€£¥₹")


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of a claim.

    Attributes:
        written: its value without its multiplier.
        shift: the power of ten of its multiplier; 0 without one.
        step: what the last digit that is written counts, likewise without it.
        percent: whether it is a percentage.
        money: whether it has a currency.
        specific: where it stands.
    """

    written: float
    shift: int
    step: float
    percent: bool
    money: bool
    specific: Specific

    def is_value(self, value: float, scale: int | None, *, percent: bool = False) -> bool:
        """Whether it is a value of a table, rounded to the digits that are written.

        Without a multiplier of its own it may be the number as the table has it. Of a table without a known scale any
        multiplier may be meant.

        Args:
            value: as the table has it.
            scale: the table's power of ten; None = unknown.
            percent: whether the value is a percentage.
        """
        if self.percent != percent and (self.percent or self.shift or self.money):
            return False
        if percent or not self.shift:
            return self._near(value, 0) or (scale is not None and not percent and self._near(value, scale))
        if scale is not None:
            return self._near(value, scale - self.shift)
        return self._near(value, 0) or (abs(value) >= 10**self.shift and self._near(value, -self.shift))

    def _near(self, value: float, shift: int) -> bool:
        value *= 10.0**shift
        return abs(self.written - value) <= LOOSE * self.step + 1e-9 * abs(value)

    def flipped(self) -> Amount:
        """The same with the other sign."""
        return replace(self, written=-self.written)


@lru_cache(maxsize=256)
def amounts(text: str) -> tuple[Amount, ...]:
    """The amounts of a text in order; negative in parentheses, as in tables; dates are none.

    >>> [(one.written, one.shift, one.step, one.percent) for one in amounts("From $(1.5) million to 12%, in 2020.")]
    [(-1.5, 6, 0.1, False), (12.0, 0, 1.0, True)]
    """
    found = (_amount(text, one) for one in find(text[:LONGEST], EXACT) if one.kind != "date")
    return tuple(one for one in found if one is not None)


def _amount(text: str, one: Specific) -> Amount | None:
    try:
        value = float(one.normal.removesuffix("%"))
    except ValueError:
        return None      # a time or a version
    written = DIGITS.search(one.text)
    digits = written[0].replace(",", "").replace(" ", "") if written else ""
    bare = float(digits) if PLAIN.fullmatch(digits) else abs(value)
    shift = round(log10(abs(value) / bare)) if bare and value else 0
    after = MULTIPLIER.match(text, one.end) if not shift and one.kind == "number" else None
    shift = SHIFTS[after[1].lower()] if after else shift
    if abs(shift) > MOST_SHIFT:
        return None
    percent = one.kind == "percent" or PER_CENT.match(text, one.end) is not None
    negative = value < 0 or MINUS.search(text, max(0, one.start - 4), one.start) is not None
    step = 10.0 ** -len(digits.partition(".")[2])
    return Amount(-bare if negative else bare, shift, step, percent, one.unit in MONEY, one)


def without(text: str, taken: Iterable[Amount]) -> str:
    """A text with these amounts left out.

    >>> without("It was 5 km.", amounts("It was 5 km."))
    'It was   km.'
    """
    rest = list(text)
    for one in taken:
        rest[one.specific.start : one.specific.end] = " " * (one.specific.end - one.specific.start)
    return "".join(rest)
