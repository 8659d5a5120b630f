"""The asked-for slot: what kind of thing a question asks for, and whether an answer holds one that it did not name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragauge.judges.local.index import carries_content, units_of
from ragauge.text.specifics import DATE, EXACT, NAME, TIME, Specific, find
from ragauge.text.tokens import ENGLISH, OPENERS, stem, words
from ragauge.text.word_files import read_patterns, read_words

AnswerKind = Literal["number", "time", "name", "yes or no"]
Slot = Literal["number", "time", "name", "place", "yes or no", "choice", "comparison", "reason", "manner"]

LOOKED_AT = 4_000  # characters of an answer within which the asked-for thing has to stand
SIDE = 2  # words of a side that are compared

LISTED = 3  # new names that make a count without a number

WORDS, FORMS = read_words(__file__, "slots"), read_patterns(__file__, "slots")
POLAR = FORMS["polar"]
AMOUNTS, TIMES = frozenset(WORDS["amounts"].split()), frozenset(WORDS["times"].split())
DATING = TIMES - frozenset(WORDS["in_passing"].split())  # words that say when, even beside much else
CLOCK = TIMES | {"am", "pm", "a.m.", "p.m.", "o'clock", "hours", "hour", "ad", "bc", "ce", "bce"}  # units of a time
COUNTING = AMOUNTS - frozenset(["no", "all", "one", "each", "every", "most", "many", "both", "often"])


def wanted_kind(query: str) -> AnswerKind | None:
    """The kind of thing that a question asks for; None where it is not plain."""
    if POLAR.match(query):
        return "yes or no"
    if FORMS["number"].search(query):
        return "number"
    if FORMS["time"].search(query):
        return "time"
    return "name" if FORMS["name"].search(query) else None


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
    if kind in (None, "name") and FORMS["comparison"].search(query):
        return "comparison"
    if kind == "name":
        return "place" if FORMS["place"].search(query) else "name"
    if kind is not None:
        return kind
    if FORMS["reason"].search(query):
        return "reason"
    return "manner" if FORMS["manner"].search(query) else None


def sides(query: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """The words of the two sides of "A or B?", as far as they differ; None where that is not asked.

    >>> [sorted(side) for side in sides("Which is older, the mill or the chapel?") or ()]
    [['mill'], ['chapel']]
    """
    match = FORMS["choice"].search(query)
    if match is None:
        return None
    whether = POLAR.match(query) is not None
    if whether and (" any " in match["one"].lower() or FORMS["closing"].fullmatch(match["other"]) is None):
        return None
    if not whether and FORMS["which"].search(query[: match.end()]) is None:
        return None
    one, other = (
        [unit for unit in units_of(part, "words") if carries_content(unit, "words")]
        for part in (match["one"], match["other"])
    )
    width = min(len(other), SIDE)  # "Is the cat red or black?": as many words on the left as on the right
    left, right = frozenset(one[-width:]) - frozenset(other), frozenset(other[:width]) - frozenset(one)
    return (left, right) if left and right else None


def holds(asked: Slot, query: str, answer: str, *, few: bool = False) -> bool:
    """Whether the answer holds a thing of the kind asked for that the question did not name.

    A yes-or-no question is not looked at here: what answers it need not say "yes". Of two things the answer names
    one, or both, or neither; a comparison compares. Only the beginning of a long answer is read.

    With `few` words any will do for a name, and nothing need be given as a reason.

    >>> holds("time", "When was the mill of 1820 shut?", "The mill of 1820 was shut by its owner.")
    False
    """
    answer = answer[:LOOKED_AT]
    if asked == "yes or no" or (few and asked in ("reason", "manner", "comparison")):
        return True
    if asked in ("reason", "manner"):
        return (FORMS["because"] if asked == "reason" else FORMS["by"]).search(answer) is not None
    if asked == "comparison":
        return FORMS["compared"].search(answer) is not None or _both_named(query, answer)
    if asked == "choice":
        either = sides(query) or (frozenset(), frozenset())
        there = set(units_of(answer, "words"))
        return any(not side.isdisjoint(there) for side in either) or FORMS["without_sides"].search(answer) is not None
    if asked == "number":
        return _counts(query, answer)
    if asked == "time":
        times = [mark for mark in find(answer, TIME) if mark.kind == "date" or not mark.unit or mark.unit in CLOCK]
        if _fresh(times, query) or not DATING.isdisjoint(_added(query, answer)):
            return True
        return FORMS["whenever"].search(query) is not None and FORMS["if"].search(answer) is not None
    return _names(asked, query, answer, few=few)


def lacks_instruction(query: str, answer: str) -> bool:
    """Whether a question asks how to do something and the beginning of the answer tells nobody to do anything.

    >>> query = "How do I open the valve?"
    >>> [lacks_instruction(query, text) for text in ("The valve is opened often.", "Turn the wheel to the left.")]
    [True, False]
    """
    if slot(query) != "manner" or FORMS["to_do"].search(query) is None:
        return False
    text = answer[:LOOKED_AT]
    if FORMS["instructed"].search(text):
        return False
    verbs = (match["verb"] for match in FORMS["ordered"].finditer(text))
    return all(verb.lower() in ENGLISH or FORMS["no_verb"].fullmatch(verb) is not None for verb in verbs)


def _both_named(query: str, answer: str) -> bool:
    """Whether a word of each of the two things compared is there that the other does not have."""
    match = FORMS["between"].search(query)
    if match is None:
        return False
    one, other = (set(units_of(match[side], "words")) for side in ("one", "other"))
    there = set(units_of(answer, "words"))
    return not there.isdisjoint(one - other) and not there.isdisjoint(other - one)


def _counts(query: str, answer: str) -> bool:
    counts = [mark for mark in find(answer, EXACT) if mark.kind != "date" and not _year(mark, answer)]
    if _fresh(counts, query) or FORMS["one"].search(answer) or not COUNTING.isdisjoint(_added(query, answer)):
        return True
    return len(_fresh(find(answer, DATE), query)) > 1 or len(_fresh(find(answer, NAME), query)) >= LISTED


def _names(asked: Slot, query: str, answer: str, *, few: bool) -> bool:
    if _fresh(find(answer, NAME), query):
        return True
    added = _added(query, answer)
    if few:
        return any(word.isalpha() and carries_content(stem(word), "words") for word in added)
    opening = FORMS["subject"].match(answer)
    if opening is not None and opening["name"].lower() in added - ENGLISH - OPENERS:
        return True
    return (FORMS["somewhere"] if asked == "place" else FORMS["by_whom"]).search(answer) is not None


def _added(query: str, answer: str) -> set[str]:
    return set(words(answer)) - set(words(query))


def _fresh(given: Sequence[Specific], query: str) -> set[str]:
    return {specific.normal for specific in given} - {mark.normal for mark in find(query)}


def _year(specific: Specific, answer: str) -> bool:
    if specific.unit or FORMS["year"].fullmatch(specific.text) is None:
        return False
    return FORMS["counted"].match(answer, specific.end) is None
