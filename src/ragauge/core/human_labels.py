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
    """What a judge said elsewhere of a labelled part.

    Attributes:
        label: its verdict; None = it has none.
        p: its probability that the part is supported, in [0, 1]; None where the file says a word.
    """

    label: HumanLabel | None
    p: float | None = None


@dataclass(frozen=True, slots=True)
class LabeledPart:
    """A stretch of an answer that people labelled as one: `answer[start:end]`.

    Attributes:
        start: first character.
        end: one past the last.
        labels: one an annotator; not_supported = not said whether contradicted or only not in the context.
        annotators: who gave each; a number is a place in the list. () = the same people, in the same order, everywhere.
        recorded: verdicts of judges that were asked elsewhere, in the order of their columns.
    """

    start: int
    end: int
    labels: tuple[HumanLabel, ...]
    annotators: tuple[str, ...] = ()
    recorded: tuple[RecordedVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class LabeledAnswer:
    """One row of a labelled file.

    Attributes:
        query_id: of the row; its number where none is given.
        query: the question; "" where there is none.
        passages: what the answer is held against.
        answer: what is judged: an answer, a claim, or several claims, one a line.
        parts: what was labelled.
        segments: column -> value.
        line: where it stands.
        weight: how much it counts, at least 0.
        at: when it was said, as it was written; "" = not said.
        history: earlier turns of the conversation.
    """

    query_id: str
    query: str
    passages: tuple[str, ...]
    answer: str
    parts: tuple[LabeledPart, ...]
    segments: Mapping[str, str] = field(default_factory=dict)
    line: int = 0
    weight: float = 1.0
    at: str = ""
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class GradedItem:
    """What people and judges say of an item in numbers on a scale.

    Attributes:
        query_id: of the row; its number where none is given.
        grades: one an annotator.
        verdicts: of judges, in the order of their columns; None = none.
        segments: column -> value.
        weight: how much it counts, above 0.
    """

    query_id: str
    grades: tuple[float, ...]
    verdicts: tuple[float | None, ...] = ()
    segments: Mapping[str, str] = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """A labelled part on which a judge was held against people.

    Attributes:
        part: a hash of the text, of all that the question sees, and of what people say of it.
        group: a hash of what parts share that are not independent.
        right: both say the same of supported or not.
        weight: how much it counts.
    """

    part: str
    group: str
    right: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """One check of a judge against people, as it ended.

    Attributes:
        name: what the judge is called: its spec and how it was asked.
        judge_id: of the judge.
        file: 32 bytes: a hash of its name and of what people said in it.
        file_name: what the file is called.
        kappa: Cohen's, by supported or not, with the ends of its interval; None = not defined.
        parts: every part with a label and a verdict.
        at: when, ISO 8601; filled in by the store.
    """

    name: str
    judge_id: str
    file: bytes
    file_name: str
    kappa: tuple[float, float, float] | None
    parts: tuple[CheckedPart, ...]
    at: str = ""


BetterAnswer = Literal[0, 1, 2]  # the first, the second, 0 = alike


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
    better: BetterAnswer | None = None


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
    """What a judge said of a pair. Both numbers mean the answers in the order of the file, however they were shown.

    Attributes:
        shown: where the first answer was shown first; None = no verdict.
        swapped: where the second answer was shown first; None = no verdict.
        reason: why a verdict is missing; "" where none is.
    """

    shown: BetterAnswer | None
    swapped: BetterAnswer | None
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
    def better_answer(self) -> BetterAnswer | None:
        """The verdict that both orders gave; a tie where they disagree; None without both."""
        return self.shown if self.decided and not self.flipped else 0 if self.decided else None
