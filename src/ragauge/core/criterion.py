"""A criterion for every answer of a run, and what a judge says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

VisibleField = Literal["query", "answer", "passages", "reference", "history"]
DEFAULT_VISIBLE_FIELDS: tuple[VisibleField, ...] = ("query", "answer", "history")


@dataclass(frozen=True, slots=True)
class Criterion:
    """A statement that each answer is held against."""

    name: str  #: of the metric that it is.
    text: str  #: the statement, or what the levels describe.
    sees: tuple[VisibleField, ...] = DEFAULT_VISIBLE_FIELDS  #: what the judge is shown of an example.
    levels: tuple[str, ...] = ()  #: descriptions, from the worst to the best; () = met or not.
    pass_from: int = 0  #: number of the least level, from 1, that meets it; 0 of one without levels.
    required: bool = False  #: an answer that does not meet it is not right.


@dataclass(frozen=True, slots=True)
class CriterionVerdict:
    """What a judge says of one criterion."""

    name: str  #: of the criterion.
    text: str  #: its statement.
    met: bool | None  #: None = no verdict.
    reason: str = ""  #: the judge's sentence, or why there is no verdict.
    level: int | None = None  #: the one chosen; None = there are none, or no verdict.
    n_levels: int = 0  #: how many there are; 0 = met or not.
    required: bool = False  #: as of the criterion.

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
