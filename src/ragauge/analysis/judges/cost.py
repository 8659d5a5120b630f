"""What judging a run has cost: by judge, model, question, metric and example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragauge.analysis.results.judging import AskedOf
from ragauge.analysis.results.paid import Paid, added
from ragauge.data.response import Run


@dataclass(frozen=True, slots=True)
class MetricCost:
    """What a metric's questions have cost.

    Attributes:
        metric: printed name.
        questions: what it needs to have asked.
        paid: the calls of these questions, whoever else needs them.
        alone: the calls of those questions that no other metric of the run needs: what leaving it out would save.
        shared_with: other metrics that need one of its questions.
    """

    metric: str
    questions: tuple[str, ...]
    paid: Paid
    alone: Paid
    shared_with: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeCost:
    """What one judge has cost.

    Attributes:
        judge_id: who; "" for calls that no judge made.
        asked: by question and model.
        metrics: by metric, in the order of the report; metrics that ask nothing are left out.
    """

    judge_id: str
    asked: tuple[AskedOf, ...]
    metrics: tuple[MetricCost, ...]

    @property
    def paid(self) -> Paid:
        """All its calls."""
        return added([one.paid for one in self.asked])


@dataclass(frozen=True, slots=True)
class ExampleCost:
    """What judging one response has cost."""

    query_id: str
    repeat: int
    paid: Paid


@dataclass(frozen=True, slots=True)
class RunCost:
    """What judging a run has cost.

    Attributes:
        run: whose responses.
        judges: one a judge that has judged it.
        examples: responses that calls were made for, the most expensive first; replies that others reuse stay with
            the response that paid.
    """

    run: Run
    judges: tuple[JudgeCost, ...]
    examples: tuple[ExampleCost, ...]

    @property
    def paid(self) -> Paid:
        """All calls of all judges."""
        return added([judge.paid for judge in self.judges])

    @property
    def models(self) -> dict[str, Paid]:
        """By model."""
        found: dict[str, Paid] = {}
        for one in (asked for judge in self.judges for asked in judge.asked):
            found[one.model] = found.get(one.model, Paid()) + one.paid
        return found


def metric_costs(needs: Mapping[str, Sequence[str]], asked: Sequence[AskedOf]) -> tuple[MetricCost, ...]:
    """What each metric's questions have cost.

    Args:
        needs: printed name -> questions that it needs.
        asked: calls by question and model.
    """
    by_question: dict[str, Paid] = {}
    for one in asked:
        by_question[one.question] = by_question.get(one.question, Paid()) + one.paid
    found = []
    for metric, questions in needs.items():
        others = {name: set(theirs) for name, theirs in needs.items() if name != metric}
        taken = set().union(*others.values())
        found.append(MetricCost(
            metric, tuple(questions),
            added([by_question.get(question, Paid()) for question in questions]),
            added([by_question.get(question, Paid()) for question in questions if question not in taken]),
            tuple(name for name, theirs in others.items() if theirs & set(questions)),
        ))     # fmt: skip
    return tuple(found)
