"""Which of two answers is better: what people said, and what a judge said in both orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal[0, 1, 2]     # the first, the second, 0 = alike


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """One question with two answers.

    Attributes:
        query_id: of the row; its number where none is given.
        query: the question.
        answers: the first and the second, in the order of the file.
        better: what people said; None = not known.
    """

    query_id: str
    query: str
    answers: tuple[str, str]
    better: Better | None = None


@dataclass(frozen=True, slots=True)
class Preference:
    """What a judge said of a pair. Both numbers mean the answers in the order of the file, however they were shown.

    Attributes:
        shown: where the first answer was shown first; None = no verdict.
        swapped: where the second answer was shown first; None = no verdict.
        reason: why a verdict is missing; "" where none is.
    """

    shown: Better | None
    swapped: Better | None
    reason: str = ""

    @property
    def decided(self) -> bool:
        """Whether there are both verdicts."""
        return self.shown is not None and self.swapped is not None

    @property
    def flipped(self) -> bool:
        """Whether the order changed the verdict."""
        return self.decided and self.shown != self.swapped

    @property
    def better(self) -> Better | None:
        """The verdict that both orders gave; a tie where they disagree; None without both."""
        return self.shown if self.decided and not self.flipped else 0 if self.decided else None
