"""Examples with everything that was found about them, read from the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ragauge.analysis.results.scorecard import ExampleView

if TYPE_CHECKING:
    from ragauge.data.writers.scores_jsonl import View
    from ragauge.store.open import Store


def view_of(store: Store, run_id: str, query_id: str, repeat: int, judge_id: str | None) -> ExampleView:
    """One example with everything that was found about it."""
    example, response = store.runs.response(run_id, query_id, repeat)
    evidence = store.evidence.of_response(run_id, query_id, repeat, judge_id) if judge_id else {}
    scores = store.scores.of_response(run_id, query_id, repeat, judge_id)
    cause = store.causes.of_response(run_id, query_id, repeat, judge_id)
    return ExampleView(example, response, evidence, scores, cause)


def score_lines(found: Iterable[ExampleView]) -> Iterator[View]:
    """The views as `data.writers.scores_jsonl` takes them."""
    for view in found:
        cause = view.cause.name if view.cause is not None else ""
        yield view.example, view.response, view.evidence, view.scores, cause
