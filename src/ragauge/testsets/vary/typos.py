"""Slips of the keyboard: two letters exchanged, one left out, one twice, one from the key beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from ragauge.testsets.vary.base import Variation
from ragauge.text.characters import UNSPACED

if TYPE_CHECKING:
    from random import Random

FEWEST = 4  # letters of a word that is mistyped
WORDS_A_SLIP = 6  # one slip in so many words, at least one in a question
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
WORD = re.compile(rf"(?<![\w'’])(?:(?![{UNSPACED}])[^\W\d_]){{{FEWEST},}}(?![\w'’])")


class Typos(Variation):
    """One word in six mistyped once, at least one; the first letter stays, as it does with most typing errors.

    Numbers, words in capitals and words of fewer than four letters stay as they are.

    >>> from random import Random
    >>> Typos().question("How long can a hub be returned?", Random(7))
    'How long can a hub be returne?'
    """

    name: ClassVar = "typos"
    does: ClassVar = "one word in six mistyped"
    missing: ClassVar = "no word of four letters"

    def question(self, query: str, rng: Random) -> str | None:
        """The question with its slips."""
        found = [word for word in WORD.finditer(query) if not word[0].isupper()]
        if not found:
            return None
        slips = min(len(found), max(1, round(len(query.split()) / WORDS_A_SLIP)))
        for word in sorted(rng.sample(found, slips), key=lambda one: -one.start()):
            query = query[: word.start()] + _mistyped(word[0], rng) + query[word.end() :]
        return query


def _mistyped(word: str, rng: Random) -> str:
    """The word with one slip, other than it was."""
    places = list(range(1, len(word)))
    rng.shuffle(places)
    slips = [_exchanged, _left_out, _twice, _beside]
    rng.shuffle(slips)
    tried = (slip(word, at, rng) for slip in slips for at in places)
    return next(put for put in tried if put != word)


def _exchanged(word: str, at: int, _: Random) -> str:
    return word if at + 1 == len(word) else word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _left_out(word: str, at: int, _: Random) -> str:
    return word[:at] + word[at + 1 :]


def _twice(word: str, at: int, _: Random) -> str:
    return word[: at + 1] + word[at:]


def _beside(word: str, at: int, rng: Random) -> str:
    """A letter from a key beside the right one; the word as it is where the key is not known."""
    row = next((row for row in ROWS if word[at] in row), "")
    if not row:
        return word
    place = row.index(word[at])
    return word[:at] + rng.choice([row[n] for n in (place - 1, place + 1) if 0 <= n < len(row)]) + word[at + 1 :]
