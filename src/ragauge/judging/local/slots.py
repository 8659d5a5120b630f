"""The asked-for slot: what kind of thing a question asks for, and whether an answer holds one that it did not name."""

from __future__ import annotations

import re
from typing import Literal

from ragauge.judging.local.index import carries_content, units_of
from ragauge.judging.local.kinds import EXACT, NAME, TIME
from ragauge.text.specifics import Specific, find
from ragauge.text.tokens import words

Wanted = Literal["number", "time", "name", "yes or no"]
Slot = Literal["number", "time", "name", "place", "yes or no", "choice", "comparison", "reason", "manner"]

LOOKED_AT = 4_000     # characters of an answer within which the asked-for thing has to stand
MOST_BETWEEN = 60     # characters of the two sides of an "or"
SIDE = 2              # words of a side that are compared

_NUMBER = re.compile(
    r"\bhow (?:many|much|old|tall|high|deep|far|large|big|long|often|fast|heavy|loud)\b"
    r"|\bwhat (?:percentage|proportion|number|fraction)\b"
    r"|\bwhat(?:['’]s| is| was) the (?:price|cost|fee|weight|height|population|capacity|number|amount)\b",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?:^|\band |[,;] )when\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b", re.IGNORECASE)
_NAME = re.compile(
    r"(?:^|\band |[,;] )(?:who|whom|whose|where)\b|\b(?:what|which) (?:city|country|person|town|state)\b", re.IGNORECASE
)
_PLACE = re.compile(r"(?:^|\band |[,;] )where\b", re.IGNORECASE)
POLAR = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|may|must)\b", re.IGNORECASE
)
_REASON = re.compile(
    r"\bwhy\b|\bhow come\b|\bwhat (?:is|was|were|are) the (?:cause|reason)s?\b|\bwhat caus(?:es?|ed)\b", re.IGNORECASE
)
_MANNER = re.compile(
    r"\bhow (?:do|does|did|can|could|to|should|is|are|was|were|would|will)\b|\bwhat (?:steps|ways?)\b", re.IGNORECASE
)
_COMPARISON = re.compile(
    r"\bdifferen(?:ce|t|ces|tiate)\b|\bdiffers?\b|\bcompar(?:e|es|ed|ison)\b|\bversus\b|\bvs\b|\bdistinguish", re.IGNORECASE
)
_CHOICE = re.compile(rf"(?P<one>[^,;:?]{{1,{MOST_BETWEEN}}}),? or (?P<other>[^,;:?]{{1,{MOST_BETWEEN}}})", re.IGNORECASE)

_BECAUSE = re.compile(
    r"\b(?:because|since|due to|so that|as a result|results? (?:of|from|in)|resulted|resulting|caus(?:e|es|ed|ing)"
    r"|reasons?|therefore|thus|hence|in order to|owing to|thanks to|leads? to|led to|allow(?:s|ed|ing)?|help(?:s|ed|ing)?"
    r"|means? that|to (?:avoid|prevent|protect|make|keep|ensure|get|be))\b",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\bby [a-z]+ing\b|\b(?:using|use|uses|used|through|via|first|then|next|steps?|with|must|should|can|need|needs|click"
    r"|select|open|press|process|way|method)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:while|whereas|but|unlike|both|however|than|differ(?:s|ent|ence|ences)?|other hand|contrast|similar(?:ly)?|same"
    r"|more|less|the (?:former|latter|other|second))\b",
    re.IGNORECASE,
)
_WITHOUT_SIDES = re.compile(r"\b(?:both|neither|either|depends?|the (?:former|latter|first|second))\b", re.IGNORECASE)
_SOMEWHERE = re.compile(
    r"\b(?:in|at|on|near|from|under|inside|behind|above|below|between|outside|within|along|beside|next to) [\w'’]",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:1[0-9]|20)[0-9]{2}")     # bare: it dates, it does not count

_AMOUNTS = """
    none no several many few dozens hundreds thousands millions half both single once twice never all most unlimited one
    every each always daily weekly monthly yearly annually rarely often
"""
_TIMES = """
    before after during since until when while day days week weeks month months year years decade century centuries
    time times early late later today yesterday tomorrow now currently spring summer autumn fall winter morning evening
    night noon midnight immediately once then soon annually daily weekly monthly monday tuesday wednesday thursday
    friday saturday sunday january february march april may june july august september october november december ago
    period era birth death end beginning start age stage war reign season upon within always never every
"""
_IN_PASSING = "when while time times once then always never every may fall march since end start age stage"
AMOUNTS, TIMES = frozenset(_AMOUNTS.split()), frozenset(_TIMES.split())
DATING = TIMES - frozenset(_IN_PASSING.split())     # words that say when, even beside much else
CLOCK = TIMES | {"am", "pm", "a.m.", "p.m.", "o'clock", "hours", "hour", "ad", "bc", "ce", "bce"}     # units of a time
COUNTING = AMOUNTS - frozenset("no all one each every most many both often".split())


def wanted_kind(query: str) -> Wanted | None:
    """The kind of thing that a question asks for; None where it is not plain."""
    if POLAR.match(query):
        return "yes or no"
    if _NUMBER.search(query):
        return "number"
    if _TIME.search(query):
        return "time"
    return "name" if _NAME.search(query) else None


def carries(wanted: Wanted | None, answer: str) -> bool:
    """Whether the answer has the kind of thing asked for; where that is not plain, it has."""
    if wanted == "number":
        return bool(find(answer, EXACT)) or not AMOUNTS.isdisjoint(words(answer))
    if wanted == "time":
        return bool(find(answer, TIME)) or not TIMES.isdisjoint(words(answer))
    if wanted == "name":
        return any(any(map(str.isalpha, word)) for word in words(answer))
    return True


def slot(query: str) -> Slot | None:
    """What an English question leaves open; None where it is not plain.

    >>> [slot(text) for text in ("Is it red or blue?", "How tall is it?", "How does X differ from Y?", "What is it?")]
    ['choice', 'number', 'comparison', None]
    """
    if sides(query) is not None:
        return "choice"
    if _COMPARISON.search(query):
        return "comparison"
    kind = wanted_kind(query)
    if kind == "name":
        return "place" if _PLACE.search(query) else "name"
    if kind is not None:
        return kind
    if _REASON.search(query):
        return "reason"
    return "manner" if _MANNER.search(query) else None


def sides(query: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """The words of the two sides of "A or B?", as far as they differ; None where that is not asked.

    >>> [sorted(side) for side in sides("Which is older, the mill or the chapel?") or ()]
    [['mill'], ['chapel']]
    """
    found = _CHOICE.search(query)
    if found is None or (POLAR.match(query) is None and "which" not in query[: found.end()].lower()):
        return None
    one, other = (
        [unit for unit in units_of(part, "words") if carries_content(unit, "words")]
        for part in (found["one"], found["other"])
    )
    width = min(len(other), SIDE)     # "Is the cat red or black?": as many words on the left as on the right
    left, right = frozenset(one[-width:]) - frozenset(other), frozenset(other[:width]) - frozenset(one)
    return (left, right) if left and right else None


def holds(asked: Slot, query: str, answer: str) -> bool:
    """Whether the answer holds a thing of the kind asked for that the question did not name.

    A yes-or-no question is not looked at here: what answers it need not say "yes". Of two things the answer names one, or
    both, or neither; a comparison compares. Only the beginning of a long answer is read.

    >>> holds("time", "When was the mill of 1820 shut?", "The mill of 1820 was shut by its owner.")
    False
    """
    answer = answer[:LOOKED_AT]
    if asked == "yes or no":
        return True
    if asked in ("reason", "manner"):
        return (_BECAUSE if asked == "reason" else _BY).search(answer) is not None
    if asked == "comparison":
        return _COMPARED.search(answer) is not None
    if asked == "choice":
        either = sides(query) or (frozenset(), frozenset())
        there = set(units_of(answer, "words"))
        return any(not side.isdisjoint(there) for side in either) or _WITHOUT_SIDES.search(answer) is not None
    return _new(asked, query, answer)


def _new(asked: Slot, query: str, answer: str) -> bool:
    """A number, a time, a name or a place that is not the question's."""
    said, own = set(words(answer)), set(words(query))
    if asked == "number":
        found = [one for one in find(answer, EXACT) if one.kind != "date" and not _year(one)]
        return _another(found, query) or not COUNTING.isdisjoint(said - own)
    if asked == "time":
        found = [one for one in find(answer, TIME) if one.kind == "date" or not one.unit or one.unit in CLOCK]
        return _another(found, query) or not DATING.isdisjoint(said - own)
    if _another(find(answer, NAME), query):
        return True
    return asked == "place" and _SOMEWHERE.search(answer) is not None


def _another(found: list[Specific] | tuple[Specific, ...], query: str) -> bool:
    asked = {one.normal for one in find(query)}
    return any(one.normal not in asked for one in found)


def _year(one: Specific) -> bool:
    return not one.unit and _YEAR.fullmatch(one.text) is not None
