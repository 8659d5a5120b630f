"""What judging a run took, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import stdev

from ragauge.analysis.results.paid import Paid, added


@dataclass(frozen=True, slots=True)
class AskedOf:
    """What one question cost at one model.

    Attributes:
        question: such as verify_answer.
        model: as printed, provider:model[@endpoint].
        paid: its calls.
    """

    question: str
    model: str
    paid: Paid


@dataclass(frozen=True, slots=True)
class JudgeSpread:
    """How far a metric's mean lies apart between several askings of one judge.

    Attributes:
        metric: printed name.
        means: one an asking, over the same responses; None where nothing was scored.
        changed: responses whose value is not the same in all askings.
        n: responses that were scored in all of them.
    """

    metric: str
    means: tuple[float | None, ...]
    changed: int
    n: int

    @property
    def width(self) -> float | None:
        """The greatest mean less the least; None where an asking scored nothing."""
        known = [mean for mean in self.means if mean is not None]
        return max(known) - min(known) if len(known) == len(self.means) else None

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the means, over n − 1; None where an asking scored nothing."""
        known = [mean for mean in self.means if mean is not None]
        return stdev(known) if len(known) == len(self.means) > 1 else None


@dataclass(frozen=True, slots=True)
class JudgeUse:
    """What judging a run took, over all evaluations of it by this judge.

    Attributes:
        asked: calls by question and model.
        questions: questions about responses that this judge has answered, or failed to.
        lacking: of these, those without a verdict that was asked for.
        replies: replies that the verdicts of all askings rest on, counted for each question about each response.
        verdicts: of a hybrid judge: verdicts on claims and passages; None for any other.
        local: of these, those that its local half decided.
        spared: questions that its local half answered alone, where a model judge asks at least one call.
        both: verdicts that both halves gave, since the local one was not sure.
        same: of these, those in which both lean the same way.
        spread: between several askings, where there were several.
        parted: claims without support whose passages went out in several calls: some may be supported by several
            passages together, in different calls.
    """

    asked: tuple[AskedOf, ...] = ()
    questions: int = 0
    lacking: int = 0
    replies: int = 0
    verdicts: int | None = None
    local: int = 0
    spared: int = 0
    spread: tuple[JudgeSpread, ...] = ()
    parted: int = 0
    both: int = 0
    same: int = 0

    @property
    def paid(self) -> Paid:
        """All calls."""
        return added([question.paid for question in self.asked])

    @property
    def reused(self) -> int:
        """Replies that were not paid for by this run: kept from another one, or shared by equal questions."""
        return max(0, self.replies - self.paid.replies)

    @property
    def failure_rate(self) -> float | None:
        """Share of the questions that lack a verdict; None where none was asked."""
        return self.lacking / self.questions if self.questions else None
