"""Experiments on failed examples, and how often they confirmed each cause, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragauge.core.json_keys import Key, json_keys, key
from ragauge.core.response import Passage

if TYPE_CHECKING:
    from ragauge.stats.weighted import Interval


Expects = Literal["right", "still wrong", "right or open"]
Verdict = Literal["confirmed", "refuted", "undecided"]


class GradedAnswer(NamedTuple):
    """An answer, how good it is, and what is wrong with it."""

    answer: str
    grade: str | None
    sign: str


class AnswerQuality(NamedTuple):
    """How good an answer is, whatever was retrieved for it."""

    grade: int | None  #: RIGHT, PARTLY, WRONG; None where the judge could not say.
    sign: str = ""  #: what is wrong with it, or what is not known; "" for a right one.

    def describe_answer(self, answer: str) -> GradedAnswer:
        """The answer with its grade in words."""
        grade = None if self.grade is None else ("wrong", "partly right", "right")[self.grade]
        return GradedAnswer(answer, grade, self.sign)


class ExperimentRule(NamedTuple):
    """One kind of experiment."""

    name: str  #: of the experiment.
    change: str  #: what is handed over instead, in words.
    expects: Expects  #: what the answer has to become if the cause is right.
    confirmed_if: str  #: in words.
    refuted_if: str  #: in words; "" where nothing refutes.


@json_keys("query_id repeat cause experiment passages", experiment=Key("rule", at="name"), passages="passage_ids")
@dataclass(frozen=True, slots=True)
class Experiment:
    """One failed example that is asked again with other passages."""

    query_id: str  #: of the example.
    repeat: int  #: which of the system's answers failed.
    cause: str  #: that was inferred.
    rule: ExperimentRule  #: what is changed.
    passages: tuple[Passage, ...]  #: to answer from.
    #: those that the failed answer had, for a control; None where their texts were not recorded.
    unchanged: tuple[Passage, ...] | None
    before: AnswerQuality  #: how good the answer was.
    answer: str  #: that failed.

    @property
    def passage_ids(self) -> list[str]:
        """Of the passages to answer from."""
        return [passage.passage_id for passage in self.passages]


@json_keys("experiment verdict why before after", before="graded_before", after="graded_after")
@dataclass(frozen=True, slots=True)
class ExperimentOutcome:
    """What came of an experiment."""

    experiment: Experiment = field(metadata=key(spread=True))  #: what was changed.
    verdict: Verdict  #: confirmed, refuted or undecided.
    why: str  #: in words.
    after: AnswerQuality  #: how good the new answer is.
    answer: str  #: the new one; "" where there is none.

    @property
    def graded_before(self) -> GradedAnswer:
        """The answer that failed."""
        return self.experiment.before.describe_answer(self.experiment.answer)

    @property
    def graded_after(self) -> GradedAnswer:
        """The answer from changed passages."""
        return self.after.describe_answer(self.answer)


@json_keys(
    "component inferred experiments confirmed refuted undecided confirmed_share ci without",
    experiments="made",
    confirmed_share="share",
    ci="interval",
)
@dataclass(frozen=True, slots=True)
class CauseTally:
    """One cause: as often as it was inferred, and what experiments said of it."""

    cause: str  #: its name; "" for failures without a cause.
    component: str  #: where to fix it.
    inferred: int  #: failed examples with this cause.
    confirmed: int = 0  #: experiments that came out as the cause says.
    refuted: int = 0  #: experiments that came out the other way.
    undecided: int = 0  #: the others.
    #: why no experiment was made -> how many of the examples that were looked at.
    without: Mapping[str, int] = field(default_factory=dict, metadata=key("without_experiment"))

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


@json_keys("answers experiments causes", causes=Key("tested_causes", by="cause"))
@dataclass(frozen=True, slots=True)
class Confirmed:
    """What experiments have said of a run's causes."""

    answers: str  #: id of the run that keeps the new answers.
    causes: tuple[CauseTally, ...]  #: inferred and confirmed side by side, the most frequent first.
    outcomes: tuple[ExperimentOutcome, ...]  #: one an experiment.

    @property
    def experiments(self) -> int:
        """One an experiment."""
        return len(self.outcomes)

    @property
    def tested_causes(self) -> list[CauseTally]:
        """The causes with an experiment."""
        return [tally for tally in self.causes if tally.made]

    def of(self, cause: str) -> CauseTally | None:
        """What was made of one cause; None where it has no experiment."""
        return next((tally for tally in self.causes if tally.cause == cause and tally.made), None)
