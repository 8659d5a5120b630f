"""The words that carry a question, as people type them into a search box."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ragauge.testsets.check.content_words import common_words
from ragauge.testsets.vary.base import Variation
from ragauge.text.tokens import words

if TYPE_CHECKING:
    from random import Random

FEWEST = 2  # words that are left


class Keywords(Variation):
    """The question without the most frequent words of its language and without signs around words.

    >>> from random import Random
    >>> Keywords().question("How long can a hub be returned?", Random(1))
    'long hub returned'
    """

    name: ClassVar = "keywords"
    does: ClassVar = "without question words, other frequent words and signs"
    missing: ClassVar = "nothing to leave out, or fewer than two words left"

    def question(self, query: str, rng: Random) -> str | None:  # noqa: ARG002 - nothing is drawn
        """The words that are left, in their order and spelling."""
        common = common_words(query)
        parts = query.split()
        kept = [
            bare for part in parts if (found := words(part)) and not common.issuperset(found) if (bare := _bare(part))
        ]
        fewer = len(kept) < sum(bool(words(part)) for part in parts)
        return " ".join(kept) if fewer and len(kept) >= FEWEST else None


def _bare(part: str) -> str:
    """A word without the signs around it; what stands before a number or after it stays."""
    first = next((n for n, sign in enumerate(part) if sign.isalnum()), len(part))
    last = next((n for n, sign in enumerate(reversed(part)) if sign.isalnum()), 0)
    if first and part[first].isdigit() and part[first - 1] in "$€£¥-":
        first -= 1
    if last and part[len(part) - last] == "%":
        last -= 1
    return part[first : len(part) - last]
