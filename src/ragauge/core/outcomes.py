"""What became of answers in production, read as good or bad."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.response import BAD_OUTCOMES, GOOD_OUTCOMES, normalize_outcome

OutcomeValue = float | bool | str
LIMIT_PATTERN = re.compile(r"\s*(>=|<=|>|<|=)\s*(-?\d+(?:\.\d+)?)\s*")
COMPARATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    "=": lambda a, b: a == b,
}
MAX_SHOWN = 6
MIN_SIMILARITY = 0.75  # how alike a word that is not there and one that is are, for the one to be the other misspelt


def is_complaint(outcome: Mapping[str, OutcomeValue]) -> bool:
    """Whether a user said that an answer is bad; numbers and words whose meaning nobody has said are no complaint.

    >>> is_complaint({"thumbs": "thumbs_down"}), is_complaint({"thumbs": "up"}), is_complaint({"stars": 1.7})
    (True, False, False)
    """
    for name, value in outcome.items():
        try:
            (good,), _ = mark_values([value], name)
        except UsageError:
            continue
        if good is False:
            return True
    return False


def choose_outcome(outcomes: Iterable[Mapping[str, OutcomeValue]], name: str = "") -> tuple[str, tuple[str, ...]]:
    """Which outcome is meant: the one named, or the one recorded most often; and the others there are.

    ("", ()) where none is recorded.

    Raises:
        UnknownName: no response carries the outcome that is named.
    """
    counts = Counter(key for outcome in outcomes for key in outcome)
    if name and name not in counts:
        raise UnknownName("outcome in this run", name, counts, "" if counts else "No response has an outcome.")
    if not counts:
        return "", ()
    selected = name or min(counts, key=lambda key: (-counts[key], key))
    return selected, tuple(sorted(key for key in counts if key != selected))


def mark_values(values: Sequence[OutcomeValue | None], name: str, good: str = "") -> tuple[list[bool | None], str]:
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

    >>> mark_values([True, "thumbs_down", None], "thumbs")
    ([True, False, None], 'true')
    >>> mark_values([5, 3], "stars", ">=4")
    ([True, False], '>=4')
    """
    recorded = [value for value in values if value is not None]
    if good:
        is_good = _build_good_test(good, name, {normalize_outcome(value) for value in recorded})
        return [None if value is None else is_good(value) for value in values], good
    numbers = {float(value) for value in recorded if isinstance(value, int | float) and not isinstance(value, bool)}
    if numbers and not (numbers <= {0.0, 1.0} or numbers <= {-1.0, 1.0}):
        shown_values = ", ".join(f"{value:g}" for value in sorted(numbers)[:MAX_SHOWN])
        raise UsageError(f"outcome {name} has numbers ({shown_values}). Say which are good, as in --good '>=4'.")
    words = {normalize_outcome(value) for value in recorded if isinstance(value, str)} - GOOD_OUTCOMES - BAD_OUTCOMES
    if words:
        shown_values = ", ".join(sorted(words)[:MAX_SHOWN])
        raise UsageError(
            f"outcome {name} has words of unknown meaning ({shown_values}). Name the good ones: --good WORD,…"
        )
    usually_good = [value for value in recorded if _is_usually_good(value)]
    good_words = sorted(
        {f"{value:g}" if isinstance(value, float) else normalize_outcome(value) for value in usually_good}
    )
    return [None if value is None else _is_usually_good(value) for value in values], ", ".join(
        good_words
    ) or "never recorded"


def _is_usually_good(value: OutcomeValue) -> bool:
    return normalize_outcome(value) in GOOD_OUTCOMES if isinstance(value, str) else value > 0


def _build_good_test(good: str, name: str, recorded_words: AbstractSet[str]) -> Callable[[OutcomeValue], bool]:
    """What the user says is good."""
    limit = LIMIT_PATTERN.fullmatch(good)
    if limit is None:
        words = {normalize_outcome(entry) for entry in good.split(",") if entry.strip()}
        for word in sorted(words.difference(recorded_words)):
            if not words.intersection(recorded_words) or get_close_matches(
                word, recorded_words - words, cutoff=MIN_SIMILARITY
            ):
                raise UnknownName(f"value of the outcome {name}", word, recorded_words)
        return lambda value: normalize_outcome(value) in words
    compare, bound = COMPARATORS[limit[1]], float(limit[2])

    def reaches_limit(value: OutcomeValue) -> bool:
        try:
            return compare(float(value), bound)
        except ValueError:
            raise UsageError(f"outcome {name} has {value!r}, not a number to compare with {good}.") from None

    return reaches_limit
