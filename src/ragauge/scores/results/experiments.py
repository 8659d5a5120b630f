"""Experiments on failed examples, and how often they confirmed each cause, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragauge.core.response import Passage

if TYPE_CHECKING:
    from ragauge.stats.weighted import Interval


Expects = Literal["right", "still wrong", "right or open"]
Verdict = Literal["confirmed", "refuted", "undecided"]


class AnswerQuality(NamedTuple):
    """How good an answer is, whatever was retrieved for it.

    Attributes:
        grade: RIGHT, PARTLY, WRONG; None where the judge could not say.
        sign: what is wrong with it, or what is not known; "" for a right one.
    """

    grade: int | None
    sign: str = ""


class ExperimentRule(NamedTuple):
    """One kind of experiment.

    Attributes:
        name: of the experiment.
        change: what is handed over instead, in words.
        expects: what the answer has to become if the cause is right.
        confirmed_if: in words.
        refuted_if: in words; "" where nothing refutes.
    """

    name: str
    change: str
    expects: Expects
    confirmed_if: str
    refuted_if: str


@dataclass(frozen=True, slots=True)
class Experiment:
    """One failed example that is asked again with other passages.

    Attributes:
        query_id: of the example.
        repeat: which of the system's answers failed.
        cause: that was inferred.
        rule: what is changed.
        passages: to answer from.
        unchanged: those that the failed answer had, for a control; None where their texts were not recorded.
        before: how good the answer was.
        answer: that failed.
    """

    query_id: str
    repeat: int
    cause: str
    rule: ExperimentRule
    passages: tuple[Passage, ...]
    unchanged: tuple[Passage, ...] | None
    before: AnswerQuality
    answer: str


@dataclass(frozen=True, slots=True)
class ExperimentOutcome:
    """What came of an experiment.

    Attributes:
        experiment: what was changed.
        verdict: confirmed, refuted or undecided.
        why: in words.
        after: how good the new answer is.
        answer: the new one; "" where there is none.
    """

    experiment: Experiment
    verdict: Verdict
    why: str
    after: AnswerQuality
    answer: str


@dataclass(frozen=True, slots=True)
class CauseTally:
    """One cause: as often as it was inferred, and what experiments said of it.

    Attributes:
        cause: its name; "" for failures without a cause.
        component: where to fix it.
        inferred: failed examples with this cause.
        confirmed: experiments that came out as the cause says.
        refuted: experiments that came out the other way.
        undecided: the others.
        without: why no experiment was made -> how many of the examples that were looked at.
    """

    cause: str
    component: str
    inferred: int
    confirmed: int = 0
    refuted: int = 0
    undecided: int = 0
    without: Mapping[str, int] = field(default_factory=dict)

    @property
    def made(self) -> int:
        """Experiments."""
        return self.confirmed + self.refuted + self.undecided

    @property
    def share(self) -> float | None:
        """Confirmed experiments among all that were made: what is undecided counts as not confirmed."""
        return self.confirmed / self.made if self.made else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval of the share."""
        from ragauge.scores.estimation import compute_rate_interval

        return compute_rate_interval(self.confirmed, self.made) if self.made else None


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What experiments have said of a run's causes.

    Attributes:
        answers: id of the run that keeps the new answers.
        causes: inferred and confirmed side by side, the most frequent first.
        outcomes: one an experiment.
    """

    answers: str
    causes: tuple[CauseTally, ...]
    outcomes: tuple[ExperimentOutcome, ...]

    def of(self, cause: str) -> CauseTally | None:
        """What was made of one cause; None where it has no experiment."""
        return next((tally for tally in self.causes if tally.cause == cause and tally.made), None)
