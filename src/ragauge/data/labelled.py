"""What people said about answers: the labels that a judge is held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

HumanLabel = Literal["supported", "contradicted", "not_in_context", "not_supported"]
LABELS: tuple[HumanLabel, ...] = ("supported", "contradicted", "not_in_context", "not_supported")


@dataclass(frozen=True, slots=True)
class LabelledPart:
    """A stretch of an answer that people labelled as one: `answer[start:end]`.

    Attributes:
        start: first character.
        end: one past the last.
        labels: one an annotator; not_supported = not said whether contradicted or only not in the context.
    """

    start: int
    end: int
    labels: tuple[HumanLabel, ...]


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
