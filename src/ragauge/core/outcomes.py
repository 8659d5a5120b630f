"""What became of answers in production, read as good or bad."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.response import BAD, GOOD, outcome_word

Value = float | bool | str
LIMIT = re.compile(r"\s*(>=|<=|>|<|=)\s*(-?\d+(?:\.\d+)?)\s*")
COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    "=": lambda a, b: a == b,
}
MOST_SHOWN = 6
NEAR = 0.75  # how alike a word that is not there and one that is are, for the one to be the other misspelt


def complained(outcome: Mapping[str, Value]) -> bool:
    """Whether a user said that an answer is bad; numbers and words whose meaning nobody has said are no complaint.

    >>> complained({"thumbs": "thumbs_down"}), complained({"thumbs": "up"}), complained({"stars": 1.7})
    (True, False, False)
    """
    for name, value in outcome.items():
        try:
            (good,), _ = marks([value], name)
        except UsageError:
            continue
        if good is False:
            return True
    return False


def chosen(outcomes: Iterable[Mapping[str, Value]], name: str = "") -> tuple[str, tuple[str, ...]]:
    """Which outcome is meant: the one named, or the one recorded most often; and the others there are.

    ("", ()) where none is recorded.

    Raises:
        UnknownName: no response carries the outcome that is named.
    """
    counts = Counter(key for outcome in outcomes for key in outcome)
    if name and name not in counts:
        raise UnknownName("outcome in this run", name, counts, "" if counts else "No response carries an outcome.")
    if not counts:
        return "", ()
    meant = name or min(counts, key=lambda key: (-counts[key], key))
    return meant, tuple(sorted(key for key in counts if key != meant))


def marks(values: Sequence[Value | None], name: str, good: str = "") -> tuple[list[bool | None], str]:
    """Each value as good or bad, None where there is none; and in words what is good.

    Booleans speak for themselves, as do 0 and 1, −1 and 1, and the usual words (solved, thumbs_up, click …). Of other
    numbers and words the user says which are good.

    Args:
        values: of the responses, None where nothing is recorded.
        name: of the outcome, for messages.
        good: ">=4", or the words that are good, comma-separated; every other value is bad then.

    Raises:
        UsageError: values that nobody can read without being told.
        UnknownName: a good word that no response carries and that is likely misspelt: it is near to one that some do,
            or no good word is carried at all.

    >>> marks([True, "thumbs_down", None], "thumbs")
    ([True, False, None], 'true')
    >>> marks([5, 3], "stars", ">=4")
    ([True, False], '>=4')
    """
    there = [value for value in values if value is not None]
    if good:
        judge = _told(good, name, {outcome_word(value) for value in there})
        return [None if value is None else judge(value) for value in values], good
    numbers = {float(value) for value in there if isinstance(value, int | float) and not isinstance(value, bool)}
    if numbers and not (numbers <= {0.0, 1.0} or numbers <= {-1.0, 1.0}):
        shown = ", ".join(f"{value:g}" for value in sorted(numbers)[:MOST_SHOWN])
        raise UsageError(f"outcome {name} holds numbers ({shown}): say which are good, as in --good '>=4'.")
    words = {outcome_word(value) for value in there if isinstance(value, str)} - GOOD - BAD
    if words:
        shown = ", ".join(sorted(words)[:MOST_SHOWN])
        raise UsageError(f"outcome {name} holds words of unknown meaning ({shown}): name the good ones: --good WORD,…")
    usual = [value for value in there if _usual(value)]
    seen = sorted({f"{value:g}" if isinstance(value, float) else outcome_word(value) for value in usual})
    return [None if value is None else _usual(value) for value in values], ", ".join(seen) or "never recorded"


def _usual(value: Value) -> bool:
    return outcome_word(value) in GOOD if isinstance(value, str) else value > 0


def _told(good: str, name: str, there: AbstractSet[str]) -> Callable[[Value], bool]:
    """What the user says is good."""
    limit = LIMIT.fullmatch(good)
    if limit is None:
        words = {outcome_word(part) for part in good.split(",") if part.strip()}
        for word in sorted(words.difference(there)):
            if not words.intersection(there) or get_close_matches(word, there - words, cutoff=NEAR):
                raise UnknownName(f"value of the outcome {name}", word, there)
        return lambda value: outcome_word(value) in words
    compare, bound = COMPARE[limit[1]], float(limit[2])

    def reaches(value: Value) -> bool:
        try:
            return compare(float(value), bound)
        except ValueError:
            raise UsageError(f"outcome {name} holds {value!r}, which is no number to hold to {good}.") from None

    return reaches
