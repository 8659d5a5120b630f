"""Explanations of a stored run, or of one example of it: the formula with the numbers put in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.core.response import Run
from ragauge.verbs.example_views import select_scored_metrics

if TYPE_CHECKING:
    from ragauge.scores.results.explanation import ExampleExplained, RunExplained
    from ragauge.scores.results.scorecard import ExampleView
    from ragauge.store.store_access import Store


def explain_example(
    store: Store, run: Run, query_id: str, metrics: Sequence[str] = (), repeat: int = 0, judge: str | None = None
) -> ExampleExplained:
    """One example from its facts to its cause; nothing is judged.

    Args:
        store: where the run is.
        run: whose response.
        query_id: of the example.
        metrics: names and presets; () = all that were scored.
        repeat: which of the system's answers.
        judge: whose verdicts, by id or its beginning; None = the last judge's.

    Raises:
        UnknownName: no such example, judge or metric; the nearest are in the text.
        UsageError: the run has not been evaluated.
    """
    from ragauge.evaluation.scorecard.cards import resolve_scored_judge
    from ragauge.verbs.example_views import load_example_view

    return explain_view(
        store,
        run,
        load_example_view(store, run.run_id, query_id, repeat, resolve_scored_judge(store, run, judge)),
        metrics,
    )


def explain_view(store: Store, run: Run, view: ExampleView, metrics: Sequence[str] = ()) -> ExampleExplained:
    """As `explain_example`, of an example that was read already."""
    from ragauge.core.facts import NO_LABELS
    from ragauge.diagnosis.explain.explanation import explain_example as explain
    from ragauge.engine.label_facts import read_label_facts
    from ragauge.metrics.facts import Facts
    from ragauge.metrics.retrieval.ranks import rank_responses
    from ragauge.store.responses import StoredResponse

    selected = None if not metrics else [str(metric) for metric in select_scored_metrics(metrics, list(view.scores))]
    (ranking,) = rank_responses([(view.example, view.response)])
    item = StoredResponse(0, view.example, view.response)
    labels = read_label_facts(store, [item]).get(0, NO_LABELS)
    facts = Facts(view.example, view.response, view.evidence, ranking, view.readability, labels)
    listing = store.listings.read(run.run_id)
    explained = explain(facts, view.scores, selected, indexed=listing, stored=view.cause)
    return replace(explained, verdict=view.verdict, reason=view.reason, settled_by=view.verdicts.settled_by)


def explain_run(
    store: Store, run: Run, metrics: Sequence[str] = (), judge: str | None = None, baseline: Run | None = None
) -> RunExplained:
    """A run from its scores to its findings; nothing is judged.

    The findings rest on everything that was scored, whichever metrics are explained.

    Args:
        store: where the run is.
        run: which.
        metrics: names and presets to explain; () = all that were scored.
        judge: whose verdicts; None = the last judge's.
        baseline: the run to hold it against.

    Raises:
        UnknownName: no such judge or metric.
        UsageError: the run has not been evaluated, or the baseline otherwise.
    """
    from ragauge.diagnosis.explain.explanation import MeanExplainer
    from ragauge.diagnosis.explain.explanation import explain_run as explain
    from ragauge.evaluation.scorecard.cards import load_card, resolve_scored_judge
    from ragauge.evaluation.scorecard.compute import read_metrics
    from ragauge.verbs.columns import StoredColumns

    judge_id = resolve_scored_judge(store, run, judge)
    names = store.scores.metrics(run.run_id, judge_id)
    selected = select_scored_metrics(metrics or names, names)
    card = load_card(store, run, judge_id, baseline)
    index = store.runs.index(run.run_id, store.scores.evaluated(run.run_id, judge_id, names))
    means = MeanExplainer(card.card.level, card.card.judge.errors)
    read_metrics(StoredColumns(store, run.run_id, judge_id, index), selected, (means,))
    return explain(card.card, means.found)
