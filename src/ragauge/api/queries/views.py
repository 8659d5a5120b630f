"""Examples with everything that was found about them, read from the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ragauge.analysis.results.scorecard import ExampleView

if TYPE_CHECKING:
    from ragauge.analysis.scores.arrays import ResponseIndex
    from ragauge.analysis.scores.known import Unknown
    from ragauge.data.writers.scores_jsonl import View
    from ragauge.store.open import Store


def view_of(
    store: Store, run_id: str, query_id: str, repeat: int, judge_id: str | None, unknown: str | None = None
) -> ExampleView:
    """One example with everything that was found about it.

    Args:
        store: where the run is.
        run_id: the run.
        query_id: of the example.
        repeat: which of the system's answers.
        judge_id: whose verdicts; None = nobody's.
        unknown: why it is not known whether the example failed, "" where it is; None = read it from the store.
    """
    example, response = store.runs.response(run_id, query_id, repeat)
    evidence = store.evidence.of_response(run_id, query_id, repeat, judge_id) if judge_id else {}
    scores = store.scores.of_response(run_id, query_id, repeat, judge_id)
    cause = store.causes.of_response(run_id, query_id, repeat, judge_id)
    if unknown is None:
        unknown = _unknown(store, run_id, query_id, repeat, judge_id) if cause is None else ""
    return ExampleView(example, response, evidence, scores, cause, "" if cause is not None else unknown)


def _unknown(store: Store, run_id: str, query_id: str, repeat: int, judge_id: str | None) -> str:
    """Why it is not known whether one response failed of which nothing shows a failure."""
    index = store.runs.index(run_id, sorted(store.runs.order(run_id).numbers))
    number = index.query_ids.index(query_id)
    places = ((index.query == number) & (index.repeat == repeat)).nonzero()[0]
    alone = store.runs.index(run_id, index.number[places].tolist())
    return unknown_of(store, run_id, judge_id, alone).by_id().get(query_id, "")


def unknown_of(store: Store, run_id: str, judge_id: str | None, index: ResponseIndex) -> Unknown:
    """Which examples of an index are not known to have failed or passed, by everything that was measured."""
    from ragauge.analysis.scores.known import KnownScores
    from ragauge.api.queries.columns import StoredColumns, answers_recorded, failed_of
    from ragauge.metrics.catalogue import parse

    names = store.scores.metrics(run_id, judge_id)
    known = KnownScores(index, answered=answers_recorded(store, index))
    scores = StoredColumns(store, run_id, judge_id, index, ahead=names, values_only=True)
    for name in names:
        known.read(parse(name), scores.column(name))
    return known.unknown(failed_of(store, run_id, judge_id, index), judge_id)


def score_lines(views: Iterable[ExampleView]) -> Iterator[View]:
    """The views as `data.writers.scores_jsonl` takes them."""
    for view in views:
        cause = view.cause.name if view.cause is not None else ""
        yield view.example, view.response, view.evidence, view.scores, cause, view.verdict
