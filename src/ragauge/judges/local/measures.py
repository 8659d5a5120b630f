"""The amounts of a claim: value, sign, multiplier and the digits that are written.

Whether two numbers with units, or two dates, can both be true of one thing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import copysign, floor, log10
from typing import NamedTuple

from ragauge.text.characters import plain
from ragauge.text.dates import LAST_YEAR
from ragauge.text.numerals import UNITS, canonical, digits
from ragauge.text.specifics import EXACT, Specific, find
from ragauge.text.word_files import read_patterns, read_words

LISTS, FORMS = read_words(__file__, "measures"), read_patterns(__file__, "measures")

LONGEST = 20_000  # characters of a text whose amounts are looked for
LOOSE = 0.51  # of the last digit that is written: a result is rounded to it
MOST_SHIFT = 15  # power of ten: no table is kept in more than that
SHIFTS = {"hundred": 2, "thousand": 3, "k": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "trillion": 12}
MONEY = frozenset("$€£¥₹")


class Amount(NamedTuple):
    """An amount of a claim."""

    written: float  # its value without its multiplier
    shift: int  # the power of ten of its multiplier; 0 without one
    step: float  # what the last digit that is written counts, likewise without it
    percent: bool  # whether it is a percentage
    unit: str  # its unit or currency, canonical; "" without one
    specific: Specific  # where it stands

    def is_value(self, value: float, scale: int | None, *, percent: bool = False) -> bool:
        """Whether it is a value of a table, rounded to the digits that are written.

        Without a multiplier of its own it may be the number as the table has it. Of a table without a known scale any
        multiplier may be meant. `scale` is the table's power of ten; None = unknown.
        """
        if self.percent != percent and (self.percent or self.shift or self.unit in MONEY):
            return False
        if percent or not self.shift:
            return self._near(value, 0) or (scale is not None and not percent and self._near(value, scale))
        if scale is not None:
            return self._near(value, scale - self.shift)
        return self._near(value, 0) or (abs(value) >= 10**self.shift and self._near(value, -self.shift))

    def _near(self, value: float, shift: int) -> bool:
        value *= 10.0**shift
        return abs(self.written - value) <= LOOSE * self.step + 1e-9 * abs(value)

    def is_measured(self, number: float, unit: str) -> bool | None:
        """Whether it is so much of a unit, rounded or converted; None where the units do not tell.

        One letter may be a unit, a multiplier or the sign of a note, so beside money it tells nothing.
        """
        letters = [name for name in (self.unit, unit) if len(name) == 1 and name not in MONEY]
        if not self.unit or not unit or "%" in (self.unit, unit) or (letters and {self.unit, unit} & MONEY):
            return None
        own = copysign(value(self.specific.normal) or 0.0, self.written)
        if unit != self.unit:
            given = Measure((f"{number:.12g}",), unit, False)
            return same_amount(given, Measure((f"{own:.12g}",), self.unit, False))
        last = self.step * (own / self.written if self.written else 1.0)
        return None if unit in MONEY else abs(own - number) <= LOOSE * last + 1e-9 * abs(number)

    def flipped(self) -> Amount:
        """The same with the other sign."""
        return self._replace(written=-self.written)


@lru_cache(maxsize=256)
def amounts(text: str) -> tuple[Amount, ...]:
    """The amounts of a text in order; negative in parentheses, as in tables; dates are none.

    >>> [(one.written, one.shift, one.step, one.percent) for one in amounts("From $(1.5) million to 12%, in 2020.")]
    [(-1.5, 6, 0.1, False), (12.0, 0, 1.0, True)]
    """
    measured = (_amount(text, mark) for mark in find(text[:LONGEST], EXACT) if mark.kind != "date")
    return tuple(amount for amount in measured if amount is not None)


def _amount(text: str, specific: Specific) -> Amount | None:
    try:
        value = float(specific.normal.removesuffix("%"))
    except ValueError:
        return None  # a time or a version
    read = digits(plain(specific.text), 0, len(specific.text))
    bare = float(canonical(*read[:2])) if read else abs(value)
    shift = round(log10(abs(value) / bare)) if bare and value else 0
    after = FORMS["multiplier"].match(text, specific.end) if not shift and specific.kind == "number" else None
    shift = SHIFTS[after[1].lower()] if after else shift
    if abs(shift) > MOST_SHIFT:
        return None
    percent = specific.kind == "percent" or FORMS["per_cent"].match(text, specific.end) is not None
    negative = value < 0 or FORMS["minus"].search(text, max(0, specific.start - 4), specific.start) is not None
    step = 10.0 ** -len(read[1]) if read else 1.0
    return Amount(-bare if negative else bare, shift, step, percent, unit_of(text, specific)[0], specific)


def without(text: str, taken: Iterable[Amount]) -> str:
    """A text with these amounts left out.

    >>> without("It was 5 km.", amounts("It was 5 km."))
    'It was   km.'
    """
    rest = list(text)
    for amount in taken:
        rest[amount.specific.start : amount.specific.end] = " " * (amount.specific.end - amount.specific.start)
    return "".join(rest)


LARGE = 1_000  # from here on a rounded number is no other number
ROUGHLY = 0.1  # most that a number called rough may be off
ROUGH_YEARS = 10  # most that a year called rough may be off: "around 1450"
EXACTLY = 0.02  # and of one whose units differ by a power of ten, or are of time: "105 cm" is not 1 m
CONVERTED = 0.05  # most that a converted number may be off: "5 km (3 miles)"
FAMILIES = {
    unit: (family, float(size))
    for family, unit, size in (entry.split() for entry in LISTS["families"].strip().replace("\n", "|").split("|"))
}
SPELLINGS = {
    name.replace("_", " "): unit
    for entry in LISTS["more"].strip().replace("\n", "|").split("|")
    for unit, _, names in [entry.partition(": ")]
    for name in names.split()
}
LETTERS = ("m", "g", "l", "V", "W", "h", "s")  # units of one letter, written like this
COUNTED = frozenset(["times", "people", "px"])  # not measured: other words tell what is counted


class Measure(NamedTuple):
    """A number as it stands in a text."""

    values: tuple[str, ...]  # its canonical forms; two where the spelling has two readings
    unit: str  # canonical; "" where none is known
    rough: bool  # called rough by the words before it
    year: bool = False  # written and placed as a year is


def unit_after(text: str, end: int) -> tuple[str, int]:
    """The unit that follows the number ending here, and where it ends; "" and the same place where there is none."""
    match = FORMS["words"].match(text, end, end + 60)
    if match is None:
        return "", end
    words = [word.lower() for word in match.groups() if word]
    for count in range(len(words), 0, -1):
        name = " ".join(words[:count])
        unit = SPELLINGS.get(name)
        if unit is None and count == 1 and (len(name) > 1 or match[1] in LETTERS or not name.isalpha()):
            unit = UNITS.get(name)
        if unit and unit not in COUNTED and name != "in":
            return unit, match.end(count)
    return "", end


def unit_of(text: str, number: Specific) -> tuple[str, int]:
    """The unit of a number of a text, and where it ends; "" and the end of the number where there is none."""
    if number.kind == "percent":
        return "%", number.end
    unit = "" if number.unit == "in" else number.unit  # "3 in 4"
    name, end = unit_after(text, number.end)
    if name and (unit in ("", name) or unit not in "$€£¥₹"):
        return name, end
    return unit, end if unit.isalpha() else number.end


def is_year(figure: str, after: str) -> bool:
    """Whether a number may be a year: four digits in one, and behind them nothing that could be counted.

    >>> is_year("1450", " Ulrich built"), is_year("1450", " ships"), is_year("1,450", ".")
    (True, False, False)
    """
    dated = len(figure) == 4 and figure.isdigit() and int(figure) <= LAST_YEAR
    return dated and FORMS["year_ends"].match(after) is not None


def same_amount(measure: Measure, other: Measure) -> bool:
    """Whether two numbers can both be true of one thing: equal, rounded, or converted.

    >>> metres, kilometres = Measure(("1500",), "m", False), Measure(("1.5",), "km", False)
    >>> same_amount(metres, kilometres), same_amount(metres, Measure(("1500",), "ft", False))
    (True, False)
    """
    if measure.unit and other.unit and measure.unit != other.unit:
        return _converted(measure, other)
    if set(measure.values) & set(other.values):
        return True
    first, second = value(measure.values[0]), value(other.values[0])
    if first is None or second is None or first == second:
        return first is not None and first == second
    if abs(first - second) > ROUGHLY * max(abs(first), abs(second)):
        return False
    if measure.rough or other.rough:
        return not (measure.year and other.year) or abs(first - second) <= ROUGH_YEARS
    if not measure.unit and not other.unit and max(first, second) <= LAST_YEAR:
        return False  # years
    if max(abs(first), abs(second)) < LARGE:
        return False
    rough, exact = sorted((first, second), key=_digits)  # the one with fewer digits that count, rounded
    digits = _digits(rough)
    if rough == 0 or exact == 0 or digits == _digits(exact):
        return False
    step = 10.0 ** (floor(log10(abs(exact))) - digits + 1)
    return rough in (round(exact / step) * step, floor(exact / step) * step)


def alike(measure: Measure, other: Measure) -> bool:
    """Whether two amounts measure the same, as far as their units tell."""
    if not measure.unit or not other.unit or measure.unit == other.unit:
        return True
    mine, its = FAMILIES.get(measure.unit), FAMILIES.get(other.unit)
    return mine is not None and its is not None and mine[0] == its[0]


def _converted(measure: Measure, other: Measure) -> bool:
    first, second = value(measure.values[0]), value(other.values[0])
    if first is None or second is None:
        return False
    if {measure.unit, other.unit} == {"°C", "°F"}:
        celsius, fahrenheit = (first, second) if measure.unit == "°C" else (second, first)
        return abs(celsius * 1.8 + 32 - fahrenheit) <= 2
    if "°" in (measure.unit, other.unit) and measure.unit[:1] == other.unit[:1]:
        return first == second
    mine, its = FAMILIES.get(measure.unit), FAMILIES.get(other.unit)
    if mine is None or its is None or mine[0] != its[0]:
        return False
    first, second = first * mine[1], second * its[1]
    exact = log10(mine[1] / its[1]).is_integer() or mine[0] == "time"
    return abs(first - second) <= (EXACTLY if exact else CONVERTED) * max(abs(first), abs(second))


@lru_cache(maxsize=4_096)
def value(normal: str) -> float | None:
    """The value of a canonical number or percentage; None of a clock time or a version."""
    if "." in normal and normal[-1] == "0":
        return None  # a version: the zeros at the end of a value are left out
    try:
        return float(normal.removesuffix("%"))
    except ValueError:
        return None


def _digits(number: float) -> int:
    """How many digits of a number count: 14,000 has two."""
    return len(f"{abs(number):.10g}".replace(".", "").strip("0")) if number < 1e10 else len(f"{number:.0f}".rstrip("0"))


def same_day(mine: tuple[str, ...], its: tuple[str, ...]) -> bool:
    """Whether two dates are equal or one contains the other, in some reading of both."""
    return any(a == b or _within(a, b) or _within(b, a) for a in mine for b in its)


def _within(exact: str, rough: str) -> bool:
    """Whether one date contains the other: 2024-01-03 lies in 2024, in 2024-01, and on --01-03; 1994 in 1990s."""
    if rough.endswith("s"):
        return exact[:3] == rough[:3]
    if rough.startswith("--"):
        day = rough.removesuffix("-00")
        return exact.startswith(day) if exact.startswith("--") else exact[4:].startswith(day[1:])
    return exact.startswith(rough)
