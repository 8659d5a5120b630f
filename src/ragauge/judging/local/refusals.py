"""Whether an answer declines to answer."""

from __future__ import annotations

import re
from functools import cache

from ragauge.judging.local import refusal_words as known
from ragauge.judging.local.wordings import LOOKED_AT, compiled, found

LONGEST_DIVIDED = 600     # characters of a sentence within which a "but" is looked for


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


def clauses(sentence: str) -> list[tuple[int, int]]:
    """Where a sentence that says one thing but another divides: characters [start, end) of its parts.

    >>> text = "It costs 49 euros, but the documents do not mention taxes."
    >>> [text[start:end] for start, end in clauses(text)]
    ['It costs 49 euros', 'the documents do not mention taxes.']
    """
    head = sentence[:LONGEST_DIVIDED]
    cuts = [found.span() for found in _turns().finditer(head)]
    lead = _lead().match(head)
    if lead is not None:
        cuts.append((lead.end(1), lead.end()))
    spans, start = [], 0
    for end, following in sorted(cuts):
        if end > start:
            spans.append((start, end))
            start = following
    return [*spans, (start, len(sentence))]


@cache
def _turns() -> re.Pattern[str]:
    return re.compile(known.TURN, re.IGNORECASE)


@cache
def _lead() -> re.Pattern[str]:
    return re.compile(known.LEAD, re.IGNORECASE)


@cache
def _declining() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    return (
        (re.compile(known.HINT, re.IGNORECASE), compiled(known.ENGLISH, known.WORDS)),
        (re.compile(known.OTHER_HINT, re.IGNORECASE), compiled(known.OTHERS, known.OTHER_WORDS)),
    )


@cache
def _wrapping() -> re.Pattern[str]:
    return compiled(known.WRAPPING, known.WORDS | {"ABOUT": known.ABOUT, "ONLY": known.ONLY})
