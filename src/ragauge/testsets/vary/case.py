"""Small letters throughout, as questions are typed in a hurry; a question in small letters is put in capitals."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ragauge.testsets.vary.base import Variation

if TYPE_CHECKING:
    from random import Random


class Case(Variation):
    """The same words in small letters; where they are small already, in capitals.

    >>> from random import Random
    >>> Case().question("Who wrote Faust?", Random(1)), Case().question("who wrote faust", Random(1))
    ('who wrote faust?', 'WHO WROTE FAUST')
    """

    name: ClassVar = "case"
    does: ClassVar = "lowercase, or uppercase if already lowercase"
    missing: ClassVar = "no letters with a case"

    def question(self, query: str, rng: Random) -> str | None:  # noqa: ARG002 - nothing is drawn
        """The question in small letters or in capitals."""
        small = query.lower()
        put = query.upper() if small == query else small
        return put if put != query else None
