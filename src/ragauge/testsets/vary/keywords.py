"""The words that carry a question, as people type them into a search box."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ragauge.testsets.check.content_words import list_common_words
from ragauge.testsets.vary.base import Variation
from ragauge.text.tokens import split_words

if TYPE_CHECKING:
    from random import Random

MIN_WORDS = 2  # words that are left


class Keywords(Variation):
    """The question without the most frequent words of its language and without signs around words.

    >>> from random import Random
    >>> Keywords().question("How long can a hub be returned?", Random(1))
    'long hub returned'
    """

    name: ClassVar = "keywords"
    does: ClassVar = "keywords only: no question words, stop words or punctuation"
    missing: ClassVar = "nothing to remove, or fewer than two words left"

    def question(self, query: str, rng: Random) -> str | None:  # noqa: ARG002 - nothing is drawn
        """The words that are left, in their order and spelling."""
        common = list_common_words(query)
        tokens = query.split()
        kept_words = [
            bare
            for token in tokens
            if (token_words := split_words(token)) and not common.issuperset(token_words)
            if (bare := _strip_signs(token))
        ]
        fewer = len(kept_words) < sum(bool(split_words(token)) for token in tokens)
        return " ".join(kept_words) if fewer and len(kept_words) >= MIN_WORDS else None


def _strip_signs(token: str) -> str:
    """A word without the signs around it; what stands before a number or after it stays."""
    first = next((n for n, sign in enumerate(token) if sign.isalnum()), len(token))
    last = next((n for n, sign in enumerate(reversed(token)) if sign.isalnum()), 0)
    if first and token[first].isdigit() and token[first - 1] in "$€£¥-":
        first -= 1
    if last and token[len(token) - last] == "%":
        last -= 1
    return token[first : len(token) - last]
