"""Small changes of one detail that make a true sentence false, without a model.

A number, name, date, unit or negation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from ragauge.text import specifics
from ragauge.text.dates import MONTHS
from ragauge.text.phrases import participle
from ragauge.text.specifics import Haystack, Specific, found_in

COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NAMES: Mapping[int, str] = {1: "Halvorsen", 2: "Marlow Quint", 3: "Ines Tavares Brandt"}
MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_OTHER_UNITS = """
second minute
minute hour
hour day
day week
week month
month year
year month
decade year
km miles
kilometers miles
kilometres miles
mile kilometre
meter kilometer
metre kilometre
cm metres
mm cm
feet miles
inch foot
kg tonnes
kilogram tonne
gram kilogram
mg g
ton kilogram
tonne kilogram
pound ounce
liter milliliter
litre millilitre
ml litres
KB MB
MB GB
GB MB
TB GB
W kW
kW MW
MW kW
Hz kHz
MHz GHz
GHz MHz
thousand million
million billion
billion million
dollar euro
euro dollar
degree percent
"""
OTHER_UNIT = dict(line.split() for line in _OTHER_UNITS.split("\n") if line)
OTHER_UNIT |= {f"{one}s": f"{other}s" for one, other in OTHER_UNIT.items() if len(one) > 2 and one.islower()}
OTHER_UNIT |= {"inches": "feet", "feet": "miles", "kms": "miles"}
UNIT = re.compile(
    rf"(?P<count>\d[\d,.]*|\b(?:{'|'.join(COUNTS)}))(?P<gap>[ \u00a0-]?)"
    rf"(?P<unit>{'|'.join(sorted(map(re.escape, OTHER_UNIT), key=len, reverse=True))})\b"
)
CURRENCY: Mapping[str, str] = {"$": "€", "€": "$", "£": "€", "¥": "$"}
NAME: tuple[specifics.Kind, ...] = ("name",)
NAMING = re.compile(r"\b(?:by|in|of|at|from|with|to|for|near|named|called|and|is|was) $", re.IGNORECASE)
BEFORE = re.compile(r"[$€£¥](?=\s?\d)")
NEGATED = re.compile(r"\b(?:not|no|never|none|nor|neither|without|cannot|\w+n['’]t)\b", re.IGNORECASE)
REMOVED = re.compile(r"\b(is|are|was|were|can|will|must|should|has|have|had|does|do|did) not (?=\w)|\bcan(not) (?=\w)")
AUXILIARY = re.compile(r"(?<=[\w,)] )(is|are|was|were|can|will|must|should|has|have|had) (?=(\w+))")
PERFECT = ("has", "have", "had")


def planted_text(kind: str, text: str, passages: Sequence[str], others: Sequence[str]) -> str | None:
    """The text with one detail changed; None where nothing of this kind can be changed to something surely wrong.

    A number, name or date is changed only where the passages hold it and not what takes its place.

    Args:
        kind: one of `KINDS`.
        text: what the passages support.
        passages: they.
        others: texts about other things, whose names are taken.

    >>> found = {kind: planted_text(kind, "Acme sold it to Bo Roe for 25 days in May 2019.",
    ...     ["Acme sold it to Bo Roe for 25 days in May 2019."], ["They met Ada Lund."]) for kind in KINDS}
    >>> print(*found.values(), sep=chr(10))
    Acme sold it to Bo Roe for 65 days in May 2019.
    Acme sold it to Ada Lund for 25 days in May 2019.
    Acme sold it to Bo Roe for 25 days in September 2019.
    Acme sold it to Bo Roe for 25 weeks in May 2019.
    None
    """
    for changed in PLANTERS[kind](text, Haystack.of(passages), others):
        if changed != text:
            return changed
    return None


def _number(text: str, there: Haystack, _: Sequence[str]) -> Iterator[str]:
    """Amounts first, then the last number: that of a name ("hub 3") would tell of another hub."""
    held = _held(text, there, ("number", "percent"))
    for one in sorted(held, key=lambda one: (not one.unit and one.kind == "number", -one.start)):
        for new in _other_numbers(one.text):
            changed = _put(text, one.start, one.end, new)
            if _absent(changed, one.start, one.start + len(new), there):
                yield changed


def _other_numbers(number: str) -> Iterator[str]:
    """A number as long, with another first digit; another number word."""
    word = number.lower()
    if word in COUNTS:
        yield from (COUNTS[(COUNTS.index(word) + step) % len(COUNTS)] for step in (4, 6, 3))
        return
    first = re.search(r"\d", number)
    if first is not None:
        digit = int(first[0])
        yield from (_put(number, *first.span(), str((digit + step - 1) % 9 + 1)) for step in (4, 2, 6, 3, 5))


def _date(text: str, there: Haystack, _: Sequence[str]) -> Iterator[str]:
    for one in _held(text, there, ("date",)):
        for new in _other_dates(one.text):
            changed = _put(text, one.start, one.end, new)
            if _absent(changed, one.start, one.start + len(new), there):
                yield changed


def _other_dates(date: str) -> Iterator[str]:
    """Another month where it has a name, another year, another day."""
    for word in re.finditer(r"[^\W\d_]{3,}", date):
        n = MONTHS.get(word[0].lower())
        if n:
            yield from (_put(date, *word.span(), MONTH_NAMES[(n + step - 1) % 12]) for step in (4, 7, 9))
    for year in re.finditer(r"(?<!\d)[12]\d{3}(?!\d)", date):
        yield from (_put(date, *year.span(), str(int(year[0]) + step)) for step in (-6, 7, -13))
    for day in re.finditer(r"(?<!\d)\d{1,2}(?!\d)", date):
        yield _put(date, *day.span(), str(int(day[0]) % 27 + 1))


def _name(text: str, there: Haystack, others: Sequence[str]) -> Iterator[str]:
    """The last name but what the text begins with: of another subject nothing is said, which is no contradiction.

    A single word is a name where a preposition stands before it: "in Porto", but not "(EU)" or "Germanic tribes".
    """
    held = [
        one
        for one in _held(text, there, specifics.ALL)
        if one.kind == "name"
        and text.count(" ", 0, one.start) > 1
        and (" " in one.text or NAMING.search(text[: one.start]))
    ]
    for one in reversed(held):
        size = len(one.text.split())
        strange = (name for other in others for name in specifics.find(other, NAME) if not found_in(name, there))
        alike = [name.text for name in strange if len(name.text.split()) == size > 1]  # one word may be no name
        for new in (*alike, NAMES.get(size, NAMES[3])):
            yield _put(text, one.start, one.end, new)


def _unit(text: str, _: Haystack, __: Sequence[str]) -> Iterator[str]:
    for match in UNIT.finditer(text):
        yield _put(text, *match.span("unit"), OTHER_UNIT[match["unit"]])
    for match in BEFORE.finditer(text):
        yield _put(text, *match.span(), CURRENCY[match[0]])


def _negation(text: str, _: Haystack, __: Sequence[str]) -> Iterator[str]:
    """A "not" taken out where there is one, put in after an auxiliary where nothing is negated; English alone."""
    removed = REMOVED.search(text)
    if removed is not None:
        yield _put(text, *removed.span(), f"{removed[1] or 'can'} ")
    if NEGATED.search(text):
        return
    for match in AUXILIARY.finditer(text):
        if match[1] not in PERFECT or participle(match[2].lower()):
            yield _put(text, match.start(), match.end(), f"{match[1]}{'' if match[1] == 'can' else ' '}not ")


def _held(text: str, there: Haystack, kinds: Sequence[specifics.Kind]) -> list[Specific]:
    """What the passages hold of the specifics of a text; what it begins with may be the number of a list."""
    found = specifics.find(text, kinds)
    return [one for one in found if found_in(one, there) and any(map(str.isalpha, text[: one.start]))]


def _absent(changed: str, start: int, end: int, there: Haystack) -> bool:
    """Whether what stands there now is a number or date that the passages do not hold."""
    found = [one for one in specifics.find(changed) if one.start < end and one.end > start]
    return bool(found) and not any(found_in(one, there) for one in found)


def _put(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


PLANTERS: Mapping[str, Callable[[str, Haystack, Sequence[str]], Iterator[str]]] = {
    "number": _number,
    "name": _name,
    "date": _date,
    "unit": _unit,
    "negation": _negation,
}
KINDS = tuple(PLANTERS)
