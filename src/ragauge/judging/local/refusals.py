"""Whether an answer declines to answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ragauge.judging.local import refusal_words as known
from ragauge.judging.local.wordings import LOOKED_AT, compiled, found


def is_refusal(sentence: str) -> bool:
    """Whether a sentence declines to answer.

    >>> is_refusal("I could not find the price in the documents."), is_refusal("We could not find any effect.")
    (True, False)
    """
    start = sentence[:LOOKED_AT]
    return any(hint.search(start) and found(pattern, start) for hint, pattern in _declining())


def only_wraps(sentence: str) -> bool:
    """Whether a sentence may stand beside a refusal without answering: apology, advice, what there is instead."""
    return found(_wrapping(), sentence)


def refuses(declined: Sequence[bool], substance: Sequence[bool]) -> bool:
    """Whether the answer as a whole declines: some sentence does, and no other sentence answers.

    Args:
        declined: per sentence, whether it declines.
        substance: per sentence, whether it states something and does not merely wrap a refusal.
    """
    return any(declined) and not any(says and not no for no, says in zip(declined, substance, strict=True))


@cache
def _declining() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    return (
        (re.compile(known.HINT, re.IGNORECASE), compiled(known.ENGLISH, known.WORDS)),
        (re.compile(known.OTHER_HINT, re.IGNORECASE), compiled(known.OTHERS, known.OTHER_WORDS)),
    )


@cache
def _wrapping() -> re.Pattern[str]:
    return compiled(known.WRAPPING, known.WORDS | {"ABOUT": known.ABOUT, "ONLY": known.ONLY})
