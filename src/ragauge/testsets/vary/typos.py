"""Slips of the keyboard: two letters exchanged, one left out, one twice, one from the key beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from ragauge.testsets.vary.base import Variation
from ragauge.text.characters import UNSPACED

if TYPE_CHECKING:
    from random import Random

MIN_LETTERS = 4  # letters of a word that is mistyped
WORDS_A_SLIP = 6  # one slip in so many words, at least one in a question
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
WORD = re.compile(rf"(?<![\w'’])(?:(?![{UNSPACED}])[^\W\d_]){{{MIN_LETTERS},}}(?![\w'’])")


class Typos(Variation):
    """One word in six mistyped once, at least one; the first letter stays, as it does with most typing errors.

    Numbers, words in capitals and words of fewer than four letters stay as they are.

    >>> from random import Random
    >>> Typos().question("How long can a hub be returned?", Random(7))
    'How long can a hub be returne?'
    """

    name: ClassVar = "typos"
    does: ClassVar = "a typo in one of six words"
    missing: ClassVar = "no word of at least four letters"

    def question(self, query: str, rng: Random) -> str | None:
        """The question with its slips."""
        candidates = [word for word in WORD.finditer(query) if not word[0].isupper()]
        if not candidates:
            return None
        slips = min(len(candidates), max(1, round(len(query.split()) / WORDS_A_SLIP)))
        for word in sorted(rng.sample(candidates, slips), key=lambda match: -match.start()):
            query = query[: word.start()] + _mistype_word(word[0], rng) + query[word.end() :]
        return query


def _mistype_word(word: str, rng: Random) -> str:
    """The word with one slip, other than it was."""
    positions = list(range(1, len(word)))
    rng.shuffle(positions)
    slips = [_swap_letters, _drop_letter, _double_letter, _hit_neighbor_key]
    rng.shuffle(slips)
    tried = (slip(word, position, rng) for slip in slips for position in positions)
    return next(put for put in tried if put != word)


def _swap_letters(word: str, position: int, _: Random) -> str:
    return (
        word
        if position + 1 == len(word)
        else word[:position] + word[position + 1] + word[position] + word[position + 2 :]
    )


def _drop_letter(word: str, position: int, _: Random) -> str:
    return word[:position] + word[position + 1 :]


def _double_letter(word: str, position: int, _: Random) -> str:
    return word[: position + 1] + word[position:]


def _hit_neighbor_key(word: str, position: int, rng: Random) -> str:
    """A letter from a key beside the right one; the word as it is where the key is not known."""
    row = next((row for row in ROWS if word[position] in row), "")
    if not row:
        return word
    column = row.index(word[position])
    return (
        word[:position]
        + rng.choice([row[n] for n in (column - 1, column + 1) if 0 <= n < len(row)])
        + word[position + 1 :]
    )
