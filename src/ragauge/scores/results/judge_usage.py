"""What judging a run took, as plain values.

What calls to models came to.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from statistics import stdev


@dataclass(frozen=True, slots=True)
class CallTotals:
    """Calls to models, added up.

    Attributes:
        calls: attempts, in vain or not.
        failed: attempts that brought nothing to read: 429, time-outs, filtered and cut-off replies.
        replies: replies that came and were kept, cut-off and filtered ones included.
        input_tokens: as the providers counted them.
        output_tokens: likewise.
        cached_tokens: those of input_tokens that were billed at less.
        cost: US dollars of the calls whose price is known.
        unpriced: calls with tokens whose price is unknown; cost leaves them out.
    """

    calls: int = 0
    failed: int = 0
    replies: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0

    @property
    def known_cost(self) -> float | None:
        """US dollars; None where the price of a call is unknown."""
        return None if self.unpriced else self.cost

    def __add__(self, other: CallTotals) -> CallTotals:
        return CallTotals(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(CallTotals)))


def add_calls(totals: list[CallTotals]) -> CallTotals:
    """All of them together.

    >>> add_calls([CallTotals(2, cost=0.5), CallTotals(1, cost=0.25, unpriced=1)]).known_cost is None
    True
    """
    return sum(totals, CallTotals())


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
    paid: CallTotals


@dataclass(frozen=True, slots=True)
class JudgeSpread:
    """How far a metric's mean lies apart between several repeats of one judge.

    Attributes:
        metric: printed name.
        means: one a repeat, over the same responses; None where nothing was scored.
        changed: responses whose value is not the same in every repeat.
        n: responses that were scored in all of them.
    """

    metric: str
    means: tuple[float | None, ...]
    changed: int
    n: int

    @property
    def width(self) -> float | None:
        """The greatest mean less the least; None where a repeat scored nothing."""
        scored_means = [mean for mean in self.means if mean is not None]
        return max(scored_means) - min(scored_means) if len(scored_means) == len(self.means) else None

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the means, over n − 1; None where a repeat scored nothing."""
        scored_means = [mean for mean in self.means if mean is not None]
        return stdev(scored_means) if len(scored_means) == len(self.means) > 1 else None


@dataclass(frozen=True, slots=True)
class JudgeUse:
    """What judging a run took, over all evaluations of it by this judge.

    Attributes:
        question_costs: calls by question and model.
        questions: questions about responses that this judge has answered, or failed to.
        lacking: of these, those without a verdict that was asked for.
        replies: replies that the verdicts of all repeats rest on, counted for each question about each response.
        verdicts: of a hybrid judge: verdicts on claims and passages; None for any other.
        local: of these, those that its local half decided.
        spared: questions that its local half answered alone, where a model judge asks at least one call.
        both: verdicts that both halves gave, since the local one was not sure.
        same: of these, those in which both lean the same way.
        spread: between the judge's repeats, where there were several.
        parted: claims without support whose passages went out in several calls: some may be supported by several
            passages together, in different calls.
        empty: of the questions, those without any verdict at all.
        unnamed: verdicts that named no sentence which shows them, and were asked for again.
        reason: the commonest reason why verdicts are missing; "" where none is known.
    """

    question_costs: tuple[AskedOf, ...] = ()
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
    empty: int = 0
    unnamed: int = 0
    reason: str = ""

    @property
    def paid(self) -> CallTotals:
        """All calls."""
        return add_calls([question.paid for question in self.question_costs])

    @property
    def reused(self) -> int:
        """Replies that were not paid for by this run: kept from another one, or shared by equal questions."""
        return max(0, self.replies - self.paid.replies)

    @property
    def failure_rate(self) -> float | None:
        """Share of the questions that lack a verdict; None where none was asked."""
        return self.lacking / self.questions if self.questions else None
