"""The amounts of a claim: value, sign, multiplier and the digits that are written.

Whether two numbers with units, or two dates, can both be true of one thing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import copysign, floor, log10
from typing import NamedTuple

from ragauge.text.characters import normalize_characters
from ragauge.text.dates import MAX_YEAR
from ragauge.text.numerals import UNITS, normalize_number, split_digits
from ragauge.text.specifics import EXACT_KINDS, Specific, find_specifics
from ragauge.text.word_files import read_patterns, read_words

LISTS, FORMS = read_words(__file__, "measures"), read_patterns(__file__, "measures")

MAX_TEXT_CHARS = 20_000  # characters of a text whose amounts are looked for
ROUNDING_SHARE = 0.51  # of the last digit that is written: a result is rounded to it
MAX_SHIFT = 15  # power of ten: no table is kept in more than that
SHIFTS = {"hundred": 2, "thousand": 3, "k": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "trillion": 12}
CURRENCY_SIGNS = frozenset("$€£¥₹")


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
        if self.percent != percent and (self.percent or self.shift or self.unit in CURRENCY_SIGNS):
            return False
        if percent or not self.shift:
            return self._is_near(value, 0) or (scale is not None and not percent and self._is_near(value, scale))
        if scale is not None:
            return self._is_near(value, scale - self.shift)
        return self._is_near(value, 0) or (abs(value) >= 10**self.shift and self._is_near(value, -self.shift))

    def _is_near(self, value: float, shift: int) -> bool:
        value *= 10.0**shift
        return abs(self.written - value) <= ROUNDING_SHARE * self.step + 1e-9 * abs(value)

    def is_measured(self, number: float, unit: str) -> bool | None:
        """Whether it is so much of a unit, rounded or converted; None where the units do not tell.

        One letter may be a unit, a multiplier or the sign of a note, so beside money it tells nothing.
        """
        letters = [name for name in (self.unit, unit) if len(name) == 1 and name not in CURRENCY_SIGNS]
        if not self.unit or not unit or "%" in (self.unit, unit) or (letters and {self.unit, unit} & CURRENCY_SIGNS):
            return None
        exact = copysign(parse_value(self.specific.normal) or 0.0, self.written)
        if unit != self.unit:
            measure = Measure((f"{number:.12g}",), unit, False)
            return is_same_amount(measure, Measure((f"{exact:.12g}",), self.unit, False))
        last = self.step * (exact / self.written if self.written else 1.0)
        return None if unit in CURRENCY_SIGNS else abs(exact - number) <= ROUNDING_SHARE * last + 1e-9 * abs(number)

    def flipped(self) -> Amount:
        """The same with the other sign."""
        return self._replace(written=-self.written)


@lru_cache(maxsize=256)
def find_amounts(text: str) -> tuple[Amount, ...]:
    """The amounts of a text in order; negative in parentheses, as in tables; dates are none.

    >>> [(one.written, one.shift, one.step,
    ...     one.percent) for one in find_amounts("From $(1.5) million to 12%, in 2020.")]
    [(-1.5, 6, 0.1, False), (12.0, 0, 1.0, True)]
    """
    measured = (
        _build_amount(text, mark) for mark in find_specifics(text[:MAX_TEXT_CHARS], EXACT_KINDS) if mark.kind != "date"
    )
    return tuple(amount for amount in measured if amount is not None)


def _build_amount(text: str, specific: Specific) -> Amount | None:
    try:
        value = float(specific.normal.removesuffix("%"))
    except ValueError:
        return None  # a time or a version
    read = split_digits(normalize_characters(specific.text), 0, len(specific.text))
    bare = float(normalize_number(*read[:2])) if read else abs(value)
    shift = round(log10(abs(value) / bare)) if bare and value else 0
    after = FORMS["multiplier"].match(text, specific.end) if not shift and specific.kind == "number" else None
    shift = SHIFTS[after[1].lower()] if after else shift
    if abs(shift) > MAX_SHIFT:
        return None
    percent = specific.kind == "percent" or FORMS["per_cent"].match(text, specific.end) is not None
    negative = value < 0 or FORMS["minus"].search(text, max(0, specific.start - 4), specific.start) is not None
    step = 10.0 ** -len(read[1]) if read else 1.0
    return Amount(-bare if negative else bare, shift, step, percent, find_unit(text, specific)[0], specific)


def remove_amounts(text: str, taken: Iterable[Amount]) -> str:
    """A text with these amounts left out.

    >>> remove_amounts("It was 5 km.", find_amounts("It was 5 km."))
    'It was   km.'
    """
    characters = list(text)
    for amount in taken:
        characters[amount.specific.start : amount.specific.end] = " " * (amount.specific.end - amount.specific.start)
    return "".join(characters)


MIN_LARGE = 1_000  # from here on a rounded number is no other number
ROUGH_SHARE = 0.1  # most that a number called rough may be off
ROUGH_YEARS = 10  # most that a year called rough may be off: "around 1450"
EXACT_SHARE = 0.02  # and of one whose units differ by a power of ten, or are of time: "105 cm" is not 1 m
CONVERTED_SHARE = 0.05  # most that a converted number may be off: "5 km (3 miles)"
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
ONE_LETTER_UNITS = ("m", "g", "l", "V", "W", "h", "s")  # units of one letter, written like this
COUNTED_UNITS = frozenset(["times", "people", "px"])  # not measured: other words tell what is counted


class Measure(NamedTuple):
    """A number as it stands in a text."""

    values: tuple[str, ...]  # its canonical forms; two where the spelling has two readings
    unit: str  # canonical; "" where none is known
    rough: bool  # called rough by the words before it
    year: bool = False  # written and placed as a year is


def find_unit_after(text: str, end: int) -> tuple[str, int]:
    """The unit that follows the number ending here, and where it ends; "" and the same place where there is none."""
    match = FORMS["words"].match(text, end, end + 60)
    if match is None:
        return "", end
    words = [word.lower() for word in match.groups() if word]
    for count in range(len(words), 0, -1):
        name = " ".join(words[:count])
        unit = SPELLINGS.get(name)
        if unit is None and count == 1 and (len(name) > 1 or match[1] in ONE_LETTER_UNITS or not name.isalpha()):
            unit = UNITS.get(name)
        if unit and unit not in COUNTED_UNITS and name != "in":
            return unit, match.end(count)
    return "", end


def find_unit(text: str, number: Specific) -> tuple[str, int]:
    """The unit of a number of a text, and where it ends; "" and the end of the number where there is none."""
    if number.kind == "percent":
        return "%", number.end
    unit = "" if number.unit == "in" else number.unit  # "3 in 4"
    name, end = find_unit_after(text, number.end)
    if name and (unit in ("", name) or unit not in "$€£¥₹"):
        return name, end
    return unit, end if unit.isalpha() else number.end


def is_year(figure: str, after: str) -> bool:
    """Whether a number may be a year: four digits in one, and behind them nothing that could be counted.

    >>> is_year("1450", " Ulrich built"), is_year("1450", " ships"), is_year("1,450", ".")
    (True, False, False)
    """
    dated = len(figure) == 4 and figure.isdigit() and int(figure) <= MAX_YEAR
    return dated and FORMS["year_ends"].match(after) is not None


def is_same_amount(measure: Measure, other: Measure) -> bool:
    """Whether two numbers can both be true of one thing: equal, rounded, or converted.

    >>> metres, kilometres = Measure(("1500",), "m", False), Measure(("1.5",), "km", False)
    >>> is_same_amount(metres, kilometres), is_same_amount(metres, Measure(("1500",), "ft", False))
    (True, False)
    """
    if measure.unit and other.unit and measure.unit != other.unit:
        return _is_converted(measure, other)
    if set(measure.values) & set(other.values):
        return True
    first, second = parse_value(measure.values[0]), parse_value(other.values[0])
    if first is None or second is None or first == second:
        return first is not None and first == second
    if abs(first - second) > ROUGH_SHARE * max(abs(first), abs(second)):
        return False
    if measure.rough or other.rough:
        return not (measure.year and other.year) or abs(first - second) <= ROUGH_YEARS
    if not measure.unit and not other.unit and max(first, second) <= MAX_YEAR:
        return False  # years
    if max(abs(first), abs(second)) < MIN_LARGE:
        return False
    rough, exact = sorted((first, second), key=_count_digits)  # the one with fewer digits that count, rounded
    digits = _count_digits(rough)
    if rough == 0 or exact == 0 or digits == _count_digits(exact):
        return False
    step = 10.0 ** (floor(log10(abs(exact))) - digits + 1)
    return rough in (round(exact / step) * step, floor(exact / step) * step)


def is_same_dimension(measure: Measure, other: Measure) -> bool:
    """Whether two amounts measure the same, as far as their units tell."""
    if not measure.unit or not other.unit or measure.unit == other.unit:
        return True
    family, other_family = FAMILIES.get(measure.unit), FAMILIES.get(other.unit)
    return family is not None and other_family is not None and family[0] == other_family[0]


def _is_converted(measure: Measure, other: Measure) -> bool:
    first, second = parse_value(measure.values[0]), parse_value(other.values[0])
    if first is None or second is None:
        return False
    if {measure.unit, other.unit} == {"°C", "°F"}:
        celsius, fahrenheit = (first, second) if measure.unit == "°C" else (second, first)
        return abs(celsius * 1.8 + 32 - fahrenheit) <= 2
    if "°" in (measure.unit, other.unit) and measure.unit[:1] == other.unit[:1]:
        return first == second
    family, other_family = FAMILIES.get(measure.unit), FAMILIES.get(other.unit)
    if family is None or other_family is None or family[0] != other_family[0]:
        return False
    first, second = first * family[1], second * other_family[1]
    exact = log10(family[1] / other_family[1]).is_integer() or family[0] == "time"
    return abs(first - second) <= (EXACT_SHARE if exact else CONVERTED_SHARE) * max(abs(first), abs(second))


@lru_cache(maxsize=4_096)
def parse_value(normal: str) -> float | None:
    """The value of a canonical number or percentage; None of a clock time or a version."""
    if "." in normal and normal[-1] == "0":
        return None  # a version: the zeros at the end of a value are left out
    try:
        return float(normal.removesuffix("%"))
    except ValueError:
        return None


def _count_digits(number: float) -> int:
    """How many digits of a number count: 14,000 has two."""
    return len(f"{abs(number):.10g}".replace(".", "").strip("0")) if number < 1e10 else len(f"{number:.0f}".rstrip("0"))


def is_same_day(days: tuple[str, ...], other_days: tuple[str, ...]) -> bool:
    """Whether two dates are equal or one contains the other, in some reading of both."""
    return any(a == b or _is_within(a, b) or _is_within(b, a) for a in days for b in other_days)


def _is_within(exact: str, rough: str) -> bool:
    """Whether one date contains the other: 2024-01-03 lies in 2024, in 2024-01, and on --01-03; 1994 in 1990s."""
    if rough.endswith("s"):
        return exact[:3] == rough[:3]
    if rough.startswith("--"):
        day = rough.removesuffix("-00")
        return exact.startswith(day) if exact.startswith("--") else exact[4:].startswith(day[1:])
    return exact.startswith(rough)
