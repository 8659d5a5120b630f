"""What people said about answers: the labels that a judge is held against.

Which of two answers is better: what people said, and what a judge said in both orders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragauge.core.example import Turn

HumanLabel = Literal["supported", "contradicted", "not_in_context", "not_supported"]
LABELS: tuple[HumanLabel, ...] = ("supported", "contradicted", "not_in_context", "not_supported")
TWO_LABELS = ("supported", "not_supported")  # scales that labels are compared on
THREE_LABELS = ("supported", "contradicted", "not_in_context")
SEVERITY: Mapping[str, int] = {"contradicted": 0, "not_in_context": 1, "supported": 2}  # the least counts


@dataclass(frozen=True, slots=True)
class RecordedVerdict:
    """What a judge said elsewhere of a labelled part."""

    label: HumanLabel | None  #: its verdict; None = it has none.
    p: float | None = None  #: its probability that the part is supported, in [0, 1]; None where the file says a word.


@dataclass(frozen=True, slots=True)
class LabeledPart:
    """A stretch of an answer that people labelled as one: `answer[start:end]`."""

    start: int  #: first character.
    end: int  #: one past the last.
    #: one an annotator; not_supported = not said whether contradicted or only not in the context.
    labels: tuple[HumanLabel, ...]
    #: who gave each; a number is a place in the list. () = the same people, in the same order, everywhere.
    annotators: tuple[str, ...] = ()
    #: verdicts of judges that were asked elsewhere, in the order of their columns.
    recorded: tuple[RecordedVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class LabeledAnswer:
    """One row of a labelled file."""

    query_id: str  #: of the row; its number where none is given.
    query: str  #: the question; "" where there is none.
    passages: tuple[str, ...]  #: what the answer is held against.
    answer: str  #: what is judged: an answer, a claim, or several claims, one a line.
    parts: tuple[LabeledPart, ...]  #: what was labelled.
    segments: Mapping[str, str] = field(default_factory=dict)  #: column -> value.
    line: int = 0  #: where it stands.
    weight: float = 1.0  #: how much it counts, at least 0.
    at: str = ""  #: when it was said, as it was written; "" = not said.
    history: tuple[Turn, ...] = ()  #: earlier turns of the conversation.


@dataclass(frozen=True, slots=True)
class GradedItem:
    """What people and judges say of an item in numbers on a scale."""

    query_id: str  #: of the row; its number where none is given.
    grades: tuple[float, ...]  #: one an annotator.
    verdicts: tuple[float | None, ...] = ()  #: of judges, in the order of their columns; None = none.
    segments: Mapping[str, str] = field(default_factory=dict)  #: column -> value.
    weight: float = 1.0  #: how much it counts, above 0.


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """A labelled part on which a judge was held against people."""

    part: str  #: a hash of the text, of all that the question sees, and of what people say of it.
    group: str  #: a hash of what parts share that are not independent.
    right: bool  #: both say the same of supported or not.
    weight: float = 1.0  #: how much it counts.


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """One check of a judge against people, as it ended."""

    name: str  #: what the judge is called: its spec and how it was asked.
    judge_id: str  #: of the judge.
    file: bytes  #: 32 bytes: a hash of its name and of what people said in it.
    file_name: str  #: what the file is called.
    #: Cohen's, by supported or not, with the ends of its interval; None = not defined.
    kappa: tuple[float, float, float] | None
    parts: tuple[CheckedPart, ...]  #: every part with a label and a verdict.
    at: str = ""  #: when, ISO 8601; filled in by the store.


BetterAnswer = Literal[0, 1, 2]  # the first, the second, 0 = alike


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """One question with two answers."""

    query_id: str  #: of the row; its number where none is given.
    query: str  #: the question.
    answers: tuple[str, str]  #: the first and the second, in the order of the file.
    better: BetterAnswer | None = None  #: what people said; None = not known.


def pair_answers(rows: Sequence[LabeledAnswer]) -> list[AnswerPair]:
    """Each question's first two answers that differ, as a pair; questions with one answer give none."""
    answers: dict[str, tuple[str, dict[str, None]]] = {}
    for row in rows:
        if row.query:
            answers.setdefault(row.query, (row.query_id, {}))[1].setdefault(row.answer)
    return [
        AnswerPair(query_id, query, (first, second))
        for query, (query_id, texts) in answers.items()
        if len(texts) > 1
        for first, second, *_ in [list(texts)]
    ]


@dataclass(frozen=True, slots=True)
class Preference:
    """What a judge said of a pair. Both numbers mean the answers in the order of the file, however they were shown."""

    shown: BetterAnswer | None  #: where the first answer was shown first; None = no verdict.
    swapped: BetterAnswer | None  #: where the second answer was shown first; None = no verdict.
    reason: str = ""  #: why a verdict is missing; "" where none is.

    @property
    def decided(self) -> bool:
        """Whether there are both verdicts."""
        return self.shown is not None and self.swapped is not None

    @property
    def flipped(self) -> bool:
        """Whether the order changed the verdict."""
        return self.decided and self.shown != self.swapped

    @property
    def better_answer(self) -> BetterAnswer | None:
        """The verdict that both orders gave; a tie where they disagree; None without both."""
        return self.shown if self.decided and not self.flipped else 0 if self.decided else None
