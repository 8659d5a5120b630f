"""The asked-for slot: what kind of thing a question asks for, and whether an answer holds one that it did not name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from ragauge.judging.local.index import carries_content, units_of
from ragauge.text.specifics import DATE, EXACT, NAME, TIME, Specific, find
from ragauge.text.tokens import ENGLISH, OPENERS, stem, words

AnswerKind = Literal["number", "time", "name", "yes or no"]
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
_TIME = re.compile(
    r"^\W*when\b(?![^?]{0,300}, (?:what|which|who|whom|whose|where|how|why|in|at|by)\b)"     # "When it rains, who…"
    r"|(?:\band |[,;?] )when (?:did|do|does|was|were|is|are|will|has|have|had|can|could|should|would|must)\b"
    r"|\b(?:what|which) (?:year|date|day|month|decade|century)\b",
    re.IGNORECASE,
)
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
    r"\bdifferences? (?:between|in)\b|\bdiffers? from\b|\bdifferent from\b|\bcompared? (?:to|with)\b|\bversus\b|\bvs\b"
    r"|^\W*compare\b|\bdistinguish(?:es)?\b[^?]{0,60}\bfrom\b",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"\bbetween (?P<one>[^,;:?]{{1,{MOST_BETWEEN}}}?) and (?P<other>[^,;:?]{{1,{MOST_BETWEEN}}})", re.IGNORECASE
)
_CHOICE = re.compile(
    rf"(?P<one>[^,;:?]{{1,{MOST_BETWEEN}}}),? or (?P<other>[^,;:?]{{1,{MOST_BETWEEN}}})", re.IGNORECASE
)
_WHICH = re.compile(r"\b(?:which|who|what|whether)\b", re.IGNORECASE)
# "Is it red or black?", not "Is there a fall or a rise in the price of tea?"
_CLOSING = re.compile(r"\s?[\w'’-]+(?: [\w'’-]+){0,3}\s*")

_BECAUSE = re.compile(
    r"\b(?:because|since|due to|so that|as a result|results? (?:of|from|in)|resulted|resulting|caus(?:e|es|ed|ing)"
    r"|reasons?|therefore|thus|hence|in order to|owing to|thanks to|leads? to|led to|allow(?:s|ed|ing)?"
    r"|help(?:s|ed|ing)?|means? that|to (?:avoid|prevent|protect|make|keep|ensure|get|be))\b",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\bby [a-z]+ing\b|\b(?:using|use|uses|used|through|via|first|then|next|steps?|with|must|should|can|need|needs"
    r"|click|select|open|press|process|way|method)\b",
    re.IGNORECASE,
)
_TO_DO = re.compile(r"\bhow (?:do|can|could|should|would|must|may) (?:i|you|we|one)\b|\bhow to\b", re.IGNORECASE)
# what the reader can, should or has to do; what can be done; by which means; in which order
_INSTRUCTED = re.compile(
    r"\byou(?:['’]ll)? (?:just |only |then |first |simply )?(?:can|could|should|must|may|need|have|will|want)\b"
    r"|\b(?:can|could|should|must|may|needs? to|has to|have to) be [a-z]+(?:ed|en|t|n|e)\b|\bby [a-z]+ing\b"
    r"|\b(?:using|via|through|steps?|method|first|then|next|finally|please)\b",
    re.IGNORECASE,
)
# a clause that opens with a verb and its object or place: "Hold the button", "then go to the menu"
_ORDERED = re.compile(
    r"(?:^|[.!?:;,]\s+|\n\W*|\d[.)]\s*)(?P<verb>[A-Za-z]+) (?:the|an?|your|it|them|this|these|those|each|any|all|some"
    r"|on|to|up|down|out|off|into|until|for|with|at|from|in|back|away)\b"
)
_NO_VERB = re.compile(r".*(?:s|ing|ed|tion|ity|ness|ment|ly)", re.IGNORECASE)
_COMPARED = re.compile(
    r"\b(?:while|whereas|but|unlike|both|however|than|differ(?:s|ent|ence|ences)?|other hand|contrast|similar(?:ly)?"
    r"|same|more|less|fewer|higher|lower|superior|inferior|respectively|rather|not|[a-z]+er than"
    r"|the (?:former|latter|other|second))\b",
    re.IGNORECASE,
)
_WITHOUT_SIDES = re.compile(r"\b(?:both|neither|either|depends?|the (?:former|latter|first|second))\b", re.IGNORECASE)
_SOMEWHERE = re.compile(
    r"\b(?:in|at|on|near|from|under|inside|behind|above|below|between|outside|within|along|beside|next to) [\w'’]",
    re.IGNORECASE,
)
_BY_WHOM = re.compile(r"\bby (?:(?:a|an|the|its|their|his|her|some|all) )?[^\W\d_]{3,}", re.IGNORECASE)
# a capital that opens a sentence is no name by itself; what then acts may be one
_SUBJECT = re.compile(r"^\W*(?P<name>[A-Z][\w'’-]+) (?:is|was|are|were|has|had|did|does)\b")
_IF = re.compile(r"\b(?:when|whenever|if|once|while|as soon as|as long as|until)\b", re.IGNORECASE)
_WHENEVER = re.compile(r"\bwhen (?:do|does|is|are|can|should|must|may|will|would|to|you|i|we|they)\b", re.IGNORECASE)
_ONE = re.compile(
    r"\b(?:one|an?|half an?) (?:second|minute|hour|day|week|month|year|decade|century|time|person|percent)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\s[a-z]+s\b")     # "2000 guests" after a number that may be a year
LISTED = 3                               # new names that make a count without a number
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
COUNTING = AMOUNTS - frozenset(["no", "all", "one", "each", "every", "most", "many", "both", "often"])


def wanted_kind(query: str) -> AnswerKind | None:
    """The kind of thing that a question asks for; None where it is not plain."""
    if POLAR.match(query):
        return "yes or no"
    if _NUMBER.search(query):
        return "number"
    if _TIME.search(query):
        return "time"
    return "name" if _NAME.search(query) else None


def carries(wanted: AnswerKind | None, answer: str) -> bool:
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
    kind = wanted_kind(query)
    if kind in (None, "name") and _COMPARISON.search(query):
        return "comparison"
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
    match = _CHOICE.search(query)
    if match is None:
        return None
    whether = POLAR.match(query) is not None
    if whether and (" any " in match["one"].lower() or _CLOSING.fullmatch(match["other"]) is None):
        return None
    if not whether and _WHICH.search(query[: match.end()]) is None:
        return None
    one, other = (
        [unit for unit in units_of(part, "words") if carries_content(unit, "words")]
        for part in (match["one"], match["other"])
    )
    width = min(len(other), SIDE)     # "Is the cat red or black?": as many words on the left as on the right
    left, right = frozenset(one[-width:]) - frozenset(other), frozenset(other[:width]) - frozenset(one)
    return (left, right) if left and right else None


def holds(asked: Slot, query: str, answer: str, *, few: bool = False) -> bool:
    """Whether the answer holds a thing of the kind asked for that the question did not name.

    A yes-or-no question is not looked at here: what answers it need not say "yes". Of two things the answer names
    one, or both, or neither; a comparison compares. Only the beginning of a long answer is read.

    Args:
        asked: the kind, of `slot`.
        query: the question.
        answer: what is said.
        few: an answer of a few words: any word will do for a name, and nothing need be given as a reason.

    >>> holds("time", "When was the mill of 1820 shut?", "The mill of 1820 was shut by its owner.")
    False
    """
    answer = answer[:LOOKED_AT]
    if asked == "yes or no" or (few and asked in ("reason", "manner", "comparison")):
        return True
    if asked in ("reason", "manner"):
        return (_BECAUSE if asked == "reason" else _BY).search(answer) is not None
    if asked == "comparison":
        return _COMPARED.search(answer) is not None or _both_named(query, answer)
    if asked == "choice":
        either = sides(query) or (frozenset(), frozenset())
        there = set(units_of(answer, "words"))
        return any(not side.isdisjoint(there) for side in either) or _WITHOUT_SIDES.search(answer) is not None
    if asked == "number":
        return _counts(query, answer)
    return _dates(query, answer) if asked == "time" else _names(asked, query, answer, few=few)


def lacks_instruction(query: str, answer: str) -> bool:
    """Whether a question asks how to do something and the beginning of the answer tells nobody to do anything.

    >>> query = "How do I open the valve?"
    >>> [lacks_instruction(query, text) for text in ("The valve is opened often.", "Turn the wheel to the left.")]
    [True, False]
    """
    if slot(query) != "manner" or _TO_DO.search(query) is None:
        return False
    text = answer[:LOOKED_AT]
    if _INSTRUCTED.search(text):
        return False
    verbs = (match["verb"] for match in _ORDERED.finditer(text))
    return all(verb.lower() in ENGLISH or _NO_VERB.fullmatch(verb) is not None for verb in verbs)


def _both_named(query: str, answer: str) -> bool:
    """Whether a word of each of the two things compared is there that the other does not have."""
    match = _BETWEEN.search(query)
    if match is None:
        return False
    one, other = (set(units_of(match[side], "words")) for side in ("one", "other"))
    there = set(units_of(answer, "words"))
    return not there.isdisjoint(one - other) and not there.isdisjoint(other - one)


def _counts(query: str, answer: str) -> bool:
    counts = [mark for mark in find(answer, EXACT) if mark.kind != "date" and not _year(mark, answer)]
    if _another(counts, query) or _ONE.search(answer) or not COUNTING.isdisjoint(_added(query, answer)):
        return True
    return len(_fresh(find(answer, DATE), query)) > 1 or len(_fresh(find(answer, NAME), query)) >= LISTED


def _dates(query: str, answer: str) -> bool:
    times = [mark for mark in find(answer, TIME) if mark.kind == "date" or not mark.unit or mark.unit in CLOCK]
    if _another(times, query) or not DATING.isdisjoint(_added(query, answer)):
        return True
    return _WHENEVER.search(query) is not None and _IF.search(answer) is not None


def _names(asked: Slot, query: str, answer: str, *, few: bool) -> bool:
    if _another(find(answer, NAME), query):
        return True
    added = _added(query, answer)
    if few:
        return any(word.isalpha() and carries_content(stem(word), "words") for word in added)
    opening = _SUBJECT.match(answer)
    if opening is not None and opening["name"].lower() in added - ENGLISH - OPENERS:
        return True
    return (_SOMEWHERE if asked == "place" else _BY_WHOM).search(answer) is not None


def _added(query: str, answer: str) -> set[str]:
    return set(words(answer)) - set(words(query))


def _fresh(given: Sequence[Specific], query: str) -> set[str]:
    return {specific.normal for specific in given} - {mark.normal for mark in find(query)}


def _another(given: Sequence[Specific], query: str) -> bool:
    return bool(_fresh(given, query))


def _year(specific: Specific, answer: str) -> bool:
    if specific.unit or _YEAR.fullmatch(specific.text) is None:
        return False
    return _COUNTED.match(answer, specific.end) is None
