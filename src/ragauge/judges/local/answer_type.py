"""The asked-for slot: what kind of thing a question asks for, and whether an answer holds one that it did not name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragauge.judges.local.index import has_content, split_units
from ragauge.text.specifics import DATE_KINDS, EXACT_KINDS, NAME_KINDS, TIME_KINDS, Specific, find_specifics
from ragauge.text.tokens import ENGLISH, OPENERS, split_words, stem_word
from ragauge.text.word_files import read_patterns, read_words

AnswerKind = Literal["number", "time", "name", "yes or no"]
Slot = Literal["number", "time", "name", "place", "yes or no", "choice", "comparison", "reason", "manner"]

MAX_ANSWER_CHARS = 4_000  # characters of an answer within which the asked-for thing has to stand
MAX_SIDE_WORDS = 2  # words of a side that are compared

MIN_LISTED_NAMES = 3  # new names that make a count without a number

WORDS, FORMS = read_words(__file__, "slots"), read_patterns(__file__, "slots")
POLAR_FORM = FORMS["polar"]
AMOUNT_WORDS, TIME_WORDS = frozenset(WORDS["amounts"].split()), frozenset(WORDS["times"].split())
DATE_WORDS = TIME_WORDS - frozenset(WORDS["in_passing"].split())  # words that say when, even beside much else
TIME_UNITS = TIME_WORDS | {
    "am",
    "pm",
    "a.m.",
    "p.m.",
    "o'clock",
    "hours",
    "hour",
    "ad",
    "bc",
    "ce",
    "bce",
}  # units of a time
COUNT_WORDS = AMOUNT_WORDS - frozenset(["no", "all", "one", "each", "every", "most", "many", "both", "often"])


def find_answer_kind(query: str) -> AnswerKind | None:
    """The kind of thing that a question asks for; None where it is not plain."""
    if POLAR_FORM.match(query):
        return "yes or no"
    if FORMS["number"].search(query):
        return "number"
    if FORMS["time"].search(query):
        return "time"
    return "name" if FORMS["name"].search(query) else None


def has_answer_kind(kind: AnswerKind | None, answer: str) -> bool:
    """Whether the answer has the kind of thing asked for; where that is not plain, it has."""
    if kind == "number":
        return bool(find_specifics(answer, EXACT_KINDS)) or not AMOUNT_WORDS.isdisjoint(split_words(answer))
    if kind == "time":
        return bool(find_specifics(answer, TIME_KINDS)) or not TIME_WORDS.isdisjoint(split_words(answer))
    if kind == "name":
        return any(any(map(str.isalpha, word)) for word in split_words(answer))
    return True


def find_slot(query: str) -> Slot | None:
    """What an English question leaves open; None where it is not plain.

    >>> [find_slot(text) for text in ("Is it red or blue?", "How tall is it?", "How does X differ from Y?",
    ...     "What is it?")]
    ['choice', 'number', 'comparison', None]
    """
    if split_choice(query) is not None:
        return "choice"
    kind = find_answer_kind(query)
    if kind in (None, "name") and FORMS["comparison"].search(query):
        return "comparison"
    if kind == "name":
        return "place" if FORMS["place"].search(query) else "name"
    if kind is not None:
        return kind
    if FORMS["reason"].search(query):
        return "reason"
    return "manner" if FORMS["manner"].search(query) else None


def split_choice(query: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """The words of the two sides of "A or B?", as far as they differ; None where that is not asked.

    >>> [sorted(side) for side in split_choice("Which is older, the mill or the chapel?") or ()]
    [['mill'], ['chapel']]
    """
    match = FORMS["choice"].search(query)
    if match is None:
        return None
    whether = POLAR_FORM.match(query) is not None
    if whether and (" any " in match["one"].lower() or FORMS["closing"].fullmatch(match["other"]) is None):
        return None
    if not whether and FORMS["which"].search(query[: match.end()]) is None:
        return None
    left_units, right_units = (
        [unit for unit in split_units(option, "words") if has_content(unit, "words")]
        for option in (match["one"], match["other"])
    )
    width = min(
        len(right_units), MAX_SIDE_WORDS
    )  # "Is the cat red or black?": as many words on the left as on the right
    left, right = (
        frozenset(left_units[-width:]) - frozenset(right_units),
        frozenset(right_units[:width]) - frozenset(left_units),
    )
    return (left, right) if left and right else None


def has_asked_thing(asked_slot: Slot, query: str, answer: str, *, few: bool = False) -> bool:
    """Whether the answer holds a thing of the kind asked for that the question did not name.

    A yes-or-no question is not looked at here: what answers it need not say "yes". Of two things the answer names
    one, or both, or neither; a comparison compares. Only the beginning of a long answer is read.

    With `few` words any will do for a name, and nothing need be given as a reason.

    >>> has_asked_thing("time", "When was the mill of 1820 shut?", "The mill of 1820 was shut by its owner.")
    False
    """
    answer = answer[:MAX_ANSWER_CHARS]
    if asked_slot == "yes or no" or (few and asked_slot in ("reason", "manner", "comparison")):
        return True
    if asked_slot in ("reason", "manner"):
        return (FORMS["because"] if asked_slot == "reason" else FORMS["by"]).search(answer) is not None
    if asked_slot == "comparison":
        return FORMS["compared"].search(answer) is not None or _names_both(query, answer)
    if asked_slot == "choice":
        either = split_choice(query) or (frozenset(), frozenset())
        answer_units = set(split_units(answer, "words"))
        return (
            any(not side.isdisjoint(answer_units) for side in either)
            or FORMS["without_sides"].search(answer) is not None
        )
    if asked_slot == "number":
        return _has_count(query, answer)
    if asked_slot == "time":
        times = [
            mark
            for mark in find_specifics(answer, TIME_KINDS)
            if mark.kind == "date" or not mark.unit or mark.unit in TIME_UNITS
        ]
        if _list_new_specifics(times, query) or not DATE_WORDS.isdisjoint(_list_added_words(query, answer)):
            return True
        return FORMS["whenever"].search(query) is not None and FORMS["if"].search(answer) is not None
    return _has_name(asked_slot, query, answer, few=few)


def is_instruction_missing(query: str, answer: str) -> bool:
    """Whether a question asks how to do something and the beginning of the answer tells nobody to do anything.

    >>> query = "How do I open the valve?"
    >>> [is_instruction_missing(query, text) for text in ("The valve is opened often.", "Turn the wheel to the left.")]
    [True, False]
    """
    if find_slot(query) != "manner" or FORMS["to_do"].search(query) is None:
        return False
    text = answer[:MAX_ANSWER_CHARS]
    if FORMS["instructed"].search(text):
        return False
    verbs = (match["verb"] for match in FORMS["ordered"].finditer(text))
    return all(verb.lower() in ENGLISH or FORMS["no_verb"].fullmatch(verb) is not None for verb in verbs)


def _names_both(query: str, answer: str) -> bool:
    """Whether a word of each of the two things compared is there that the other does not have."""
    match = FORMS["between"].search(query)
    if match is None:
        return False
    left_units, right_units = (set(split_units(match[side], "words")) for side in ("one", "other"))
    answer_units = set(split_units(answer, "words"))
    return not answer_units.isdisjoint(left_units - right_units) and not answer_units.isdisjoint(
        right_units - left_units
    )


def _has_count(query: str, answer: str) -> bool:
    counts = [
        mark for mark in find_specifics(answer, EXACT_KINDS) if mark.kind != "date" and not _is_year(mark, answer)
    ]
    if (
        _list_new_specifics(counts, query)
        or FORMS["one"].search(answer)
        or not COUNT_WORDS.isdisjoint(_list_added_words(query, answer))
    ):
        return True
    return (
        len(_list_new_specifics(find_specifics(answer, DATE_KINDS), query)) > 1
        or len(_list_new_specifics(find_specifics(answer, NAME_KINDS), query)) >= MIN_LISTED_NAMES
    )


def _has_name(asked_slot: Slot, query: str, answer: str, *, few: bool) -> bool:
    if _list_new_specifics(find_specifics(answer, NAME_KINDS), query):
        return True
    added = _list_added_words(query, answer)
    if few:
        return any(word.isalpha() and has_content(stem_word(word), "words") for word in added)
    opening = FORMS["subject"].match(answer)
    if opening is not None and opening["name"].lower() in added - ENGLISH - OPENERS:
        return True
    return (FORMS["somewhere"] if asked_slot == "place" else FORMS["by_whom"]).search(answer) is not None


def _list_added_words(query: str, answer: str) -> set[str]:
    return set(split_words(answer)) - set(split_words(query))


def _list_new_specifics(specifics: Sequence[Specific], query: str) -> set[str]:
    return {specific.normal for specific in specifics} - {mark.normal for mark in find_specifics(query)}


def _is_year(specific: Specific, answer: str) -> bool:
    if specific.unit or FORMS["year"].fullmatch(specific.text) is None:
        return False
    return FORMS["counted"].match(answer, specific.end) is None
