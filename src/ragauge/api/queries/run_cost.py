"""What judging a run has cost, from what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.analysis.judges.use import ExampleCost, JudgeCost, RunCost, metric_costs
from ragauge.analysis.results.judging import AskedOf
from ragauge.api.queries.judge_use import asked_of

if TYPE_CHECKING:
    from ragauge.data.response import Run
    from ragauge.store.open import Store


def run_cost(store: Store, run: Run) -> RunCost:
    """Calls, tokens and cost of a run by judge, model, question, metric and example."""
    judges = tuple(_judge_cost(store, run, judge) for judge in store.scores.judges(run.run_id))
    known = {judge.judge_id for judge in judges}
    others: dict[str, list[AskedOf]] = {}     # of judges that were stopped before they had scored anything
    for call in store.calls.spent(run.run_id):
        if call.judge_id not in known:
            others.setdefault(call.judge_id, []).append(AskedOf(call.question, str(call.model), call.paid))
    paid = store.calls.by_response(run.run_id)
    examples = [ExampleCost(query_id, repeat, spent) for (query_id, repeat), spent in paid.items()]
    examples.sort(key=lambda example: (-example.paid.cost, -example.paid.input_tokens - example.paid.output_tokens))
    stopped = tuple(JudgeCost(judge_id, tuple(asked), ()) for judge_id, asked in others.items())
    return RunCost(run, (*judges, *stopped), tuple(examples))


def _judge_cost(store: Store, run: Run, judge_id: str) -> JudgeCost:
    from ragauge.metrics.catalogue import parse, questions

    asked = asked_of(store, run.run_id, judge_id)
    needs = {name: questions([parse(name)]) for name in store.scores.metrics(run.run_id, judge_id)}
    return JudgeCost(judge_id, asked, metric_costs({name: needed for name, needed in needs.items() if needed}, asked))
