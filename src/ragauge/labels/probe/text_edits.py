"""Small changes of one detail that make a true sentence false, and the probe that plants them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from ragauge.labels.probe.change import Change, ExaminedRow, Probe, ProbePool
from ragauge.labels.probe.compute import ProbeRule
from ragauge.text import specifics
from ragauge.text.dates import MONTHS
from ragauge.text.phrases import is_participle
from ragauge.text.specifics import Haystack, Specific, is_found_in

NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
FALLBACK_NAMES: Mapping[int, str] = {1: "Halvorsen", 2: "Marlow Quint", 3: "Ines Tavares Brandt"}
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
OTHER_UNIT |= {f"{unit}s": f"{other}s" for unit, other in OTHER_UNIT.items() if len(unit) > 2 and unit.islower()}
OTHER_UNIT |= {"inches": "feet", "feet": "miles", "kms": "miles"}
UNIT = re.compile(
    rf"(?P<count>\d[\d,.]*|\b(?:{'|'.join(NUMBER_WORDS)}))(?P<gap>[ \u00a0-]?)"
    rf"(?P<unit>{'|'.join(sorted(map(re.escape, OTHER_UNIT), key=len, reverse=True))})\b"
)
OTHER_CURRENCY: Mapping[str, str] = {"$": "€", "€": "$", "£": "€", "¥": "$"}
NAME_KINDS: tuple[specifics.Kind, ...] = ("name",)
NAME_CONTEXT = re.compile(r"\b(?:by|in|of|at|from|with|to|for|near|named|called|and|is|was) $", re.IGNORECASE)
CURRENCY_SIGN = re.compile(r"[$€£¥](?=\s?\d)")
NEGATION = re.compile(r"\b(?:not|no|never|none|nor|neither|without|cannot|\w+n['’]t)\b", re.IGNORECASE)
AUXILIARY_NOT = re.compile(
    r"\b(is|are|was|were|can|will|must|should|has|have|had|does|do|did) not (?=\w)|\bcan(not) (?=\w)"
)
AUXILIARY = re.compile(r"(?<=[\w,)] )(is|are|was|were|can|will|must|should|has|have|had) (?=(\w+))")
PERFECT_AUXILIARIES = ("has", "have", "had")


def plant_detail(kind: str, text: str, passages: Sequence[str], others: Sequence[str]) -> str | None:
    """The text with one detail changed; None where nothing of this kind can be changed to something surely wrong.

    A number, name or date is changed only where the passages hold it and not what takes its place.

    Args:
        kind: one of `KINDS`.
        text: what the passages support.
        passages: they.
        others: texts about other things, whose names are taken.

    >>> result = {kind: plant_detail(kind, "Acme sold it to Bo Roe for 25 days in May 2019.",
    ...     ["Acme sold it to Bo Roe for 25 days in May 2019."], ["They met Ada Lund."]) for kind in KINDS}
    >>> print(*result.values(), sep=chr(10))
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


def _change_number(text: str, haystack: Haystack, _: Sequence[str]) -> Iterator[str]:
    """Amounts first, then the last number: that of a name ("hub 3") would tell of another hub."""
    matches = _find_supported_specifics(text, haystack, ("number", "percent"))
    for specific in sorted(
        matches, key=lambda specific: (not specific.unit and specific.kind == "number", -specific.start)
    ):
        for new in _list_other_numbers(specific.text):
            changed = _replace_span(text, specific.start, specific.end, new)
            if _is_absent(changed, specific.start, specific.start + len(new), haystack):
                yield changed


def _list_other_numbers(number: str) -> Iterator[str]:
    """A number as long, with another first digit; another number word."""
    word = number.lower()
    if word in NUMBER_WORDS:
        yield from (NUMBER_WORDS[(NUMBER_WORDS.index(word) + step) % len(NUMBER_WORDS)] for step in (4, 6, 3))
        return
    first = re.search(r"\d", number)
    if first is not None:
        digit = int(first[0])
        yield from (_replace_span(number, *first.span(), str((digit + step - 1) % 9 + 1)) for step in (4, 2, 6, 3, 5))


def _change_date(text: str, haystack: Haystack, _: Sequence[str]) -> Iterator[str]:
    for specific in _find_supported_specifics(text, haystack, ("date",)):
        for new in _list_other_dates(specific.text):
            changed = _replace_span(text, specific.start, specific.end, new)
            if _is_absent(changed, specific.start, specific.start + len(new), haystack):
                yield changed


def _list_other_dates(date: str) -> Iterator[str]:
    """Another month where it has a name, another year, another day."""
    for word in re.finditer(r"[^\W\d_]{3,}", date):
        n = MONTHS.get(word[0].lower())
        if n:
            yield from (_replace_span(date, *word.span(), MONTH_NAMES[(n + step - 1) % 12]) for step in (4, 7, 9))
    for year in re.finditer(r"(?<!\d)[12]\d{3}(?!\d)", date):
        yield from (_replace_span(date, *year.span(), str(int(year[0]) + step)) for step in (-6, 7, -13))
    for day in re.finditer(r"(?<!\d)\d{1,2}(?!\d)", date):
        yield _replace_span(date, *day.span(), str(int(day[0]) % 27 + 1))


def _change_name(text: str, haystack: Haystack, others: Sequence[str]) -> Iterator[str]:
    """The last name but what the text begins with: of another subject nothing is said, which is no contradiction.

    A single word is a name where a preposition stands before it: "in Porto", but not "(EU)" or "Germanic tribes".
    """
    matches = [
        specific
        for specific in _find_supported_specifics(text, haystack, specifics.ALL_KINDS)
        if specific.kind == "name"
        and text.count(" ", 0, specific.start) > 1
        and (" " in specific.text or NAME_CONTEXT.search(text[: specific.start]))
    ]
    for specific in reversed(matches):
        size = len(specific.text.split())
        strange = (
            name
            for other in others
            for name in specifics.find_specifics(other, NAME_KINDS)
            if not is_found_in(name, haystack)
        )
        same_size_names = [
            name.text for name in strange if len(name.text.split()) == size > 1
        ]  # one word may be no name
        for new in (*same_size_names, FALLBACK_NAMES.get(size, FALLBACK_NAMES[3])):
            yield _replace_span(text, specific.start, specific.end, new)


def _change_unit(text: str, _: Haystack, __: Sequence[str]) -> Iterator[str]:
    for match in UNIT.finditer(text):
        yield _replace_span(text, *match.span("unit"), OTHER_UNIT[match["unit"]])
    for match in CURRENCY_SIGN.finditer(text):
        yield _replace_span(text, *match.span(), OTHER_CURRENCY[match[0]])


def _change_negation(text: str, _: Haystack, __: Sequence[str]) -> Iterator[str]:
    """A "not" taken out where there is one, put in after an auxiliary where nothing is negated; English alone."""
    removed = AUXILIARY_NOT.search(text)
    if removed is not None:
        yield _replace_span(text, *removed.span(), f"{removed[1] or 'can'} ")
    if NEGATION.search(text):
        return
    for match in AUXILIARY.finditer(text):
        if match[1] not in PERFECT_AUXILIARIES or is_participle(match[2].lower()):
            yield _replace_span(text, match.start(), match.end(), f"{match[1]}{'' if match[1] == 'can' else ' '}not ")


def _find_supported_specifics(text: str, haystack: Haystack, kinds: Sequence[specifics.Kind]) -> list[Specific]:
    """What the passages hold of the specifics of a text; what it begins with may be the number of a list."""
    matches = specifics.find_specifics(text, kinds)
    return [
        specific
        for specific in matches
        if is_found_in(specific, haystack) and any(map(str.isalpha, text[: specific.start]))
    ]


def _is_absent(changed: str, start: int, end: int, haystack: Haystack) -> bool:
    """Whether what stands there now is a number or date that the passages do not hold."""
    matches = [
        specific for specific in specifics.find_specifics(changed) if specific.start < end and specific.end > start
    ]
    return bool(matches) and not any(is_found_in(specific, haystack) for specific in matches)


def _replace_span(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


PLANTERS: Mapping[str, Callable[[str, Haystack, Sequence[str]], Iterator[str]]] = {
    "number": _change_number,
    "name": _change_name,
    "date": _change_date,
    "unit": _change_unit,
    "negation": _change_negation,
}
KINDS = tuple(PLANTERS)


MAX_CHANGES = 2  # changes an example, of two kinds: each is a question of its own


def plant_changes(examined: ExaminedRow, pool: ProbePool) -> Sequence[Change]:
    """At most two changes, each of one detail of one supported part; kinds and parts take turns over the examples."""
    return tuple(islice(_build_changes(examined, pool), MAX_CHANGES))


def _build_changes(examined: ExaminedRow, pool: ProbePool) -> Iterator[Change]:
    indices = examined.supported
    strangers = [other.answer for other in islice(pool.others(examined.place), 20)]
    for turn in range(len(KINDS)):
        kind = KINDS[(examined.place + turn) % len(KINDS)]
        for n in range(len(indices)):
            index = indices[(examined.place + turn + n) % len(indices)]
            changed = plant_detail(kind, examined.text(index), examined.row.passages, strangers)
            if changed is None:
                continue
            start, end = examined.spans[index]
            answer = examined.row.answer[:start] + changed + examined.row.answer[end:]
            changed_spans = {index: (start, start + len(changed))}
            yield Change(kind, replace(examined.inputs, answer=answer), changed_spans, shown={index: changed})
            break


TEXT_EDITS = Probe(
    ProbeRule(
        "planted",
        "planted_missed",
        "one number, name, date, unit or negation",
        "not supported",
        "support",
        "The judge overlooks wrong details. See which kinds it misses; also use the checks that need no "
        "judge (fabricated_specifics), or a stronger model for verify_answer.",
        best="contradicted",
        if_milder=(
            "The judge rejects wrong details, but as not in context. faithfulness and unsupported count "
            "them; contradicted comes out too low, and not_in_context too high."
        ),
    ),
    ("answers",),
    plant_changes,
)
