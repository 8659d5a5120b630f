"""What judging a run took, as plain values.

What calls to models came to.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from statistics import stdev

from ragauge.core.json_keys import Key, json_keys, key


@json_keys("calls failed input_tokens output_tokens cached_tokens cost unpriced", cost="known_cost")
@dataclass(frozen=True, slots=True)
class CallTotals:
    """Calls to models, added up."""

    calls: int = 0  #: attempts, in vain or not.
    #: attempts that brought nothing to read: 429, time-outs, filtered and cut-off replies.
    failed: int = field(default=0, metadata=key("calls_in_vain"))
    replies: int = 0  #: replies that came and were kept, cut-off and filtered ones included.
    input_tokens: int = 0  #: as the providers counted them.
    output_tokens: int = 0  #: likewise.
    cached_tokens: int = 0  #: those of input_tokens that were billed at less.
    cost: float = 0.0  #: US dollars of the calls whose price is known.
    #: calls with tokens whose price is unknown; cost leaves them out.
    unpriced: int = field(default=0, metadata=key("calls_without_price"))

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
    """What one question cost at one model."""

    question: str  #: such as verify_answer.
    model: str  #: as printed, provider:model[@endpoint].
    paid: CallTotals = field(metadata=key(spread=True))  #: its calls.


@json_keys("means range deviation changed n", range="width")
@dataclass(frozen=True, slots=True)
class JudgeSpread:
    """How far a metric's mean lies apart between several repeats of one judge."""

    metric: str  #: printed name.
    means: tuple[float | None, ...]  #: one a repeat, over the same responses; None where nothing was scored.
    changed: int  #: responses whose value is not the same in every repeat.
    n: int  #: responses that were scored in all of them.

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


@json_keys(
    "paid replies replies_reused questions lacking failure_rate reason unnamed question_costs spread hybrid",
    paid=Key(spread=True),
    replies_reused="reused",
    hybrid=Key("hybrid_use", view="hybrid", spread=True),
)
@json_keys("verdicts local spared both same", view="hybrid")
@dataclass(frozen=True, slots=True)
class JudgeUse:
    """What judging a run took, over all evaluations of it by this judge."""

    #: calls by question and model.
    question_costs: tuple[AskedOf, ...] = field(default=(), metadata=key("by_question"))
    questions: int = 0  #: questions about responses that this judge has answered, or failed to.
    #: of these, those without a verdict that was asked for.
    lacking: int = field(default=0, metadata=key("questions_lacking"))
    #: replies that the verdicts of all repeats rest on, counted for each question about each response.
    replies: int = 0
    verdicts: int | None = None  #: of a hybrid judge: verdicts on claims and passages; None for any other.
    local: int = field(default=0, metadata=key("verdicts_local"))  #: of these, those that its local half decided.
    #: questions that its local half answered alone, where a model judge asks at least one call.
    spared: int = field(default=0, metadata=key("calls_saved"))
    #: between the judge's repeats, where there were several.
    spread: tuple[JudgeSpread, ...] = field(default=(), metadata=key("askings", by="metric"))
    #: claims without support whose passages went out in several calls: some may be supported by several passages
    #: together, in different calls.
    parted: int = 0
    #: verdicts that both halves gave, since the local one was not sure.
    both: int = field(default=0, metadata=key("verdicts_of_both"))
    same: int = field(default=0, metadata=key("verdicts_agreed"))  #: of these, those in which both lean the same way.
    empty: int = 0  #: of the questions, those without any verdict at all.
    #: verdicts that named no sentence which shows them, and were asked for again.
    unnamed: int = field(default=0, metadata=key("verdicts_unnamed"))
    #: the commonest reason why verdicts are missing; "" where none is known.
    reason: str = field(default="", metadata=key("lacking_reason"))

    @property
    def hybrid_use(self) -> JudgeUse | None:
        """What the two halves of a hybrid judge decided; None for any other."""
        return self if self.verdicts is not None else None

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
