"""Where a stretch of text begins or ends inside a word, and the stretch with its words whole."""

from __future__ import annotations

import re
from functools import cache

from ragauge.text.characters import UNSPACED, build_mark_ranges

REACH_CHARS = 200  # characters on either side that are looked at: no word is longer


@cache
def _compile_word_pattern() -> re.Pattern[str]:
    """Letters with their marks, digits, and commas and points between digits; scripts without spaces have no edges."""
    return re.compile(rf"(?:[^\W_{UNSPACED}]|[{build_mark_ranges()}]|(?<=\d)[.,](?=\d))+")


def find_word_around(text: str, position: int) -> tuple[int, int] | None:
    """The word that a place between two characters lies inside of, as (start, end); None at an edge or outside."""
    if not 0 < position < len(text):
        return None
    low = max(0, position - REACH_CHARS)
    for match in _compile_word_pattern().finditer(text, low, min(len(text), position + REACH_CHARS)):
        if match.start() >= position:
            return None
        if match.end() > position:
            return match.span()
    return None


def widen_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch widened to the edges of the words that it begins and ends in.

    >>> text = "The warranty is two years."
    >>> start, end = widen_to_words(text, 6, 22)
    >>> text[6:22], text[start:end]
    ('rranty is two ye', 'warranty is two years')
    >>> widen_to_words(text, 4, 25)
    (4, 25)
    """
    first, last = find_word_around(text, start), find_word_around(text, end)
    return (first[0] if first else start), (last[1] if last else end)


def list_cut_words(text: str, start: int, end: int) -> list[tuple[str, str]]:
    """(what the stretch holds of it, the word) of each word that it begins or ends inside of.

    >>> list_cut_words("The warranty is two years.", 6, 22)
    [('rranty', 'warranty'), ('ye', 'years')]
    """
    words = dict.fromkeys(filter(None, (find_word_around(text, start), find_word_around(text, end))))
    return [(text[max(low, start) : min(high, end)], text[low:high]) for low, high in words]
