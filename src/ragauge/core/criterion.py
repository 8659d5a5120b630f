"""A criterion for every answer of a run, and what a judge says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

VisibleField = Literal["query", "answer", "passages", "reference", "history"]
DEFAULT_VISIBLE_FIELDS: tuple[VisibleField, ...] = ("query", "answer", "history")


@dataclass(frozen=True, slots=True)
class Criterion:
    """A statement that each answer is held against.

    Attributes:
        name: of the metric that it is.
        text: the statement, or what the levels describe.
        sees: what the judge is shown of an example.
        levels: descriptions, from the worst to the best; () = met or not.
        pass_from: number of the least level, from 1, that meets it; 0 of one without levels.
        required: an answer that does not meet it is not right.
    """

    name: str
    text: str
    sees: tuple[VisibleField, ...] = DEFAULT_VISIBLE_FIELDS
    levels: tuple[str, ...] = ()
    pass_from: int = 0
    required: bool = False


@dataclass(frozen=True, slots=True)
class CriterionVerdict:
    """What a judge says of one criterion.

    Attributes:
        name: of the criterion.
        text: its statement.
        met: None = no verdict.
        reason: the judge's sentence, or why there is no verdict.
        level: the one chosen; None = there are none, or no verdict.
        n_levels: how many there are; 0 = met or not.
        required: as of the criterion.
    """

    name: str
    text: str
    met: bool | None
    reason: str = ""
    level: int | None = None
    n_levels: int = 0
    required: bool = False

    @classmethod
    def of(cls, criterion: Criterion, reply: bool | int | None, reason: str) -> CriterionVerdict:
        """The verdict by what was said: met or not, or the number of a level; None = nothing.

        >>> CriterionVerdict.of(Criterion("tone", "Tone", levels=("rude", "plain", "kind"), pass_from=3), 2, "").met
        False
        """
        level = reply if criterion.levels and reply is not None else None
        met = None if reply is None else bool(reply) if level is None else level >= criterion.pass_from
        return cls(criterion.name, criterion.text, met, reason, level, len(criterion.levels), criterion.required)

    @property
    def value(self) -> float | None:
        """1 = met or the best level, 0 = not met or the worst; None = no verdict."""
        if self.level is not None:
            return (self.level - 1) / (self.n_levels - 1)
        return None if self.met is None else float(self.met)
