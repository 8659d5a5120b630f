"""Where a stretch of text begins or ends inside a word, and the stretch with its words whole."""

from __future__ import annotations

import re
from functools import cache

from ragauge.text.characters import UNSPACED, marks

REACH = 200  # characters on either side that are looked at: no word is longer


@cache
def _word() -> re.Pattern[str]:
    """Letters with their marks, digits, and commas and points between digits; scripts without spaces have no edges."""
    return re.compile(rf"(?:[^\W_{UNSPACED}]|[{marks()}]|(?<=\d)[.,](?=\d))+")


def word_around(text: str, at: int) -> tuple[int, int] | None:
    """The word that a place between two characters lies inside of, as (start, end); None at an edge or outside."""
    if not 0 < at < len(text):
        return None
    low = max(0, at - REACH)
    for match in _word().finditer(text, low, min(len(text), at + REACH)):
        if match.start() >= at:
            return None
        if match.end() > at:
            return match.span()
    return None


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch widened to the edges of the words that it begins and ends in.

    >>> text = "The warranty is two years."
    >>> start, end = whole_words(text, 6, 22)
    >>> text[6:22], text[start:end]
    ('rranty is two ye', 'warranty is two years')
    >>> whole_words(text, 4, 25)
    (4, 25)
    """
    first, last = word_around(text, start), word_around(text, end)
    return (first[0] if first else start), (last[1] if last else end)


def cut_words(text: str, start: int, end: int) -> list[tuple[str, str]]:
    """(what the stretch holds of it, the word) of each word that it begins or ends inside of.

    >>> cut_words("The warranty is two years.", 6, 22)
    [('rranty', 'warranty'), ('ye', 'years')]
    """
    words = dict.fromkeys(filter(None, (word_around(text, start), word_around(text, end))))
    return [(text[max(low, start) : min(high, end)], text[low:high]) for low, high in words]
