"""What people said about answers: the labels that a judge is held against.

Which of two answers is better: what people said, and what a judge said in both orders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

HumanLabel = Literal["supported", "contradicted", "not_in_context", "not_supported"]
LABELS: tuple[HumanLabel, ...] = ("supported", "contradicted", "not_in_context", "not_supported")
TWO = ("supported", "not_supported")     # scales that labels are compared on
THREE = ("supported", "contradicted", "not_in_context")
SEVERITY: Mapping[str, int] = {"contradicted": 0, "not_in_context": 1, "supported": 2}     # the least counts


@dataclass(frozen=True, slots=True)
class LabelledPart:
    """A stretch of an answer that people labelled as one: `answer[start:end]`.

    Attributes:
        start: first character.
        end: one past the last.
        labels: one an annotator; not_supported = not said whether contradicted or only not in the context.
        annotators: who gave each; () = the same people, in the same order, everywhere.
    """

    start: int
    end: int
    labels: tuple[HumanLabel, ...]
    annotators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Labelled:
    """One row of a labelled file.

    Attributes:
        query_id: of the row; its number where none is given.
        query: the question; "" where there is none.
        passages: what the answer is held against.
        answer: what is judged: an answer, a claim, or several claims, one a line.
        parts: what was labelled.
        segments: column -> value.
        line: where it stands.
    """

    query_id: str
    query: str
    passages: tuple[str, ...]
    answer: str
    parts: tuple[LabelledPart, ...]
    segments: Mapping[str, str] = field(default_factory=dict)
    line: int = 0


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
