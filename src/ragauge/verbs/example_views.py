"""Which scores a scorecard shows; the tables are read from the store when they are asked for.

Examples with everything that was found about them, read from the store.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.verdict import VERDICTS
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.results.scorecard import ExampleView
from ragauge.verbs.columns import KEY_COLUMNS, list_keys, load_causes, load_questions

if TYPE_CHECKING:
    import polars as pl

    from ragauge.core.verdict import ExampleVerdict
    from ragauge.metrics.base import Metric
    from ragauge.rendering.writers.scores_jsonl import View
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.results.scorecard import ExampleView
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store


def load_example_view(
    store: Store, run_id: str, query_id: str, repeat: int, judge_id: str | None, verdict: ExampleVerdict | None = None
) -> ExampleView:
    """One example with everything that was found about it.

    Args:
        store: where the run is.
        run_id: the run.
        query_id: of the example.
        repeat: which of the system's answers.
        judge_id: whose verdicts; None = nobody's.
        verdict: on it; None = read it from the store.
    """
    from ragauge.core.facts import NO_LABELS
    from ragauge.engine.label_facts import read_label_facts
    from ragauge.store.responses import StoredResponse

    example, response = store.runs.response(run_id, query_id, repeat)
    evidence = store.evidence.load_for_response(run_id, query_id, repeat, judge_id) if judge_id else {}
    scores = store.scores.load_for_response(run_id, query_id, repeat, judge_id)
    cause = store.causes.find_for_response(run_id, query_id, repeat, judge_id)
    if verdict is None:
        number = store.example_list.number(run_id, query_id, repeat)
        alone = store.runs.index(run_id, [] if number is None else [number])
        verdict = compute_verdicts(store, run_id, judge_id, alone).at(0)
    labels = read_label_facts(store, [StoredResponse(0, example, response)]).get(0, NO_LABELS)
    controls = store.controls.read(run_id, judge_id)
    readability = None if controls is None else controls.build_readability(example, response)
    return ExampleView(example, response, evidence, scores, cause, verdict, labels.decided_verdicts, readability)


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What a model said for one example."""

    question: str  #: that it was asked.
    served: str  #: the model that the provider says it used.
    status: str  #: ok or failed.
    text: str  #: as it came; "" where nothing did.
    reason: str  #: why it failed.
    cost: float | None  #: in US dollars; None when the price is unknown.
    latency_ms: float | None  #: of the call.


def load_replies(store: Store, view: ExampleView) -> tuple[JudgeReply, ...]:
    """The stored replies that one example's evidence was read from, question by question; () where no model judged."""
    keys = [
        (question, key) for question, question_evidence in view.evidence.items() for key in question_evidence.reply_keys
    ]
    replies = store.replies.get([key for _, key in keys]) if keys else {}
    return tuple(
        JudgeReply(question, reply.served, reply.status, reply.text, reply.reason, reply.cost, reply.latency_ms)
        for question, key in keys
        if (reply := replies.get(key)) is not None
    )


def compute_verdicts(store: Store, run_id: str, judge_id: str | None, index: ResponseIndex) -> ResponseVerdicts:
    """The verdicts on the responses of an index, by everything that was measured.

    Args:
        store: where the run is.
        run_id: of it.
        judge_id: whose verdicts; None = nobody's.
        index: the responses.
    """
    from ragauge.metrics.catalogue import parse_metric
    from ragauge.scores.pass_status import JudgedCoverage
    from ragauge.verbs.columns import StoredColumns, load_failures, load_verdicts

    names = store.scores.metrics(run_id, judge_id)
    known_scores = JudgedCoverage(index)
    scores = StoredColumns(store, run_id, judge_id, index, ahead=names, values_only=True)
    for name in names:
        known_scores.read(parse_metric(name), scores.column(name))
    stored = load_verdicts(store, run_id, judge_id, index)
    return known_scores.verdicts(stored, load_failures(store, run_id, judge_id, index), judge_id)


def build_score_rows(views: Iterable[ExampleView]) -> Iterator[View]:
    """The views as `rendering.writers.scores_jsonl` takes them."""
    for view in views:
        cause = view.cause.name if view.cause is not None else ""
        yield view.example, view.response, view.evidence, view.scores, cause, view.verdicts


@dataclass(frozen=True, slots=True)
class ScoreTables:
    """Which scores a scorecard shows. The tables are read from the store when they are asked for, as they are then."""

    url: str  #: of the store.
    run_id: str  #: the run.
    judge_id: str | None  #: who judged; None = nobody.
    metrics: tuple[str, ...]  #: printed names.
    #: the responses, by number in the store; None = all that have a score of one of the metrics.
    numbers: array[int] | None = field(default=None, repr=False)

    def _load_index(self, store: Store) -> ResponseIndex:
        numbers = self.numbers
        if numbers is None:
            numbers = store.scores.evaluated(self.run_id, self.judge_id, self.metrics)
        return store.runs.index(self.run_id, numbers)

    def scores(self) -> pl.DataFrame:
        """Every score, a row each, with the verdicts on its response, the same in all rows of it."""
        from ragauge.store.store_access import open_store

        with open_store(self.url) as store:
            return self._build_score_frame(store, self._load_index(store))

    def load_wide(self) -> pl.DataFrame:
        """One row a response: query_id, repeat, query, a column a segment, a column a metric; null = no value."""
        import polars as pl

        from ragauge.store.store_access import open_store

        with open_store(self.url) as store:
            index = self._load_index(store)
            rows = _load_question_frame(store, index, list_keys(index))
            rows = rows.join(self._load_segments(store), on="query_id", how="left", maintain_order="left")
            scores = self._build_score_frame(store, index).pivot(
                "metric", index=KEY_COLUMNS, values="value", aggregate_function="first"
            )
        absent = [pl.lit(None, pl.Float64).alias(name) for name in self.metrics if name not in scores.columns]
        scores = scores.with_columns(absent).select(*KEY_COLUMNS, *self.metrics)
        return rows.join(scores, on=KEY_COLUMNS, how="left", maintain_order="left")

    def _load_segments(self, store: Store) -> pl.DataFrame:
        """query_id and a column a segment; one that is called as another column of the table says what it is."""
        frame = store.runs.segments(self.run_id)
        taken = {"repeat", "query", *self.metrics}
        return frame.rename({name: f"{name} (segment)" for name in frame.columns if name in taken})

    def failures(self) -> pl.DataFrame:
        """The failed responses with their questions and scores side by side."""
        from ragauge.store.store_access import open_store

        with open_store(self.url) as store:
            index = self._load_index(store)
            rows = load_causes(store, self.run_id, self.judge_id, index)
            rows = rows.select(*KEY_COLUMNS, "cause", "decided_by", "second")
            rows = rows.join(
                _load_question_frame(store, index, rows), on=KEY_COLUMNS, how="left", maintain_order="left"
            )
            wide = self._build_score_frame(store, index).pivot(
                "metric", index=KEY_COLUMNS, values="value", aggregate_function="first"
            )
        return rows.join(wide, on=KEY_COLUMNS, how="left", maintain_order="left")

    def examples(self) -> Iterator[ExampleView]:
        """Every response with its example, evidence, scores and cause, one at a time."""
        from ragauge.store.store_access import open_store

        with open_store(self.url) as store:
            index = self._load_index(store)
            verdicts = compute_verdicts(store, self.run_id, self.judge_id, index)
            for position, (query_id, repeat) in enumerate(list_keys(index).iter_rows()):
                yield load_example_view(store, self.run_id, query_id, repeat, self.judge_id, verdicts.at(position))

    def _build_score_frame(self, store: Store, index: ResponseIndex) -> pl.DataFrame:
        import numpy as np
        import polars as pl

        frame = store.scores.load_frame(self.run_id, self.judge_id).filter(pl.col("metric").is_in(list(self.metrics)))
        verdicts = compute_verdicts(store, self.run_id, self.judge_id, index)
        columns = {"verdict": verdicts.verdict, "right": verdicts.right, "grounded": verdicts.grounded}
        verdict_frame = list_keys(index).with_columns(
            **{name: np.array(VERDICTS)[codes] for name, codes in columns.items()}
        )
        return frame.join(verdict_frame, on=KEY_COLUMNS, maintain_order="left")


def _load_question_frame(store: Store, index: ResponseIndex, rows: pl.DataFrame) -> pl.DataFrame:
    """query_id, repeat and query of the responses that the rows name."""
    import polars as pl

    matching = list_keys(index).with_row_index("place").join(rows, on=KEY_COLUMNS, how="semi", maintain_order="left")
    questions = load_questions(store, index, matching["place"].to_list())
    queries = [questions.get(index) for index in matching["place"].to_list()]
    return matching.select(KEY_COLUMNS).with_columns(pl.Series("query", queries, dtype=pl.String))


def select_scored_metrics(metrics: Sequence[Any], scored: Sequence[str]) -> list[Metric]:
    """The metrics of names and presets that were scored; a name of its own must have been."""
    from ragauge.metrics.catalogue import PRESETS, select_metrics

    names = [str(name) for name in metrics]
    for metric in select_metrics([name for name in names if name not in PRESETS]):
        if str(metric) not in scored:
            raise UnknownName("score in this run of", str(metric), scored, "Evaluate the run with it first.")
    selected = [metric for metric in select_metrics(names) if str(metric) in scored]
    if not selected:
        raise UsageError(f"nothing of {', '.join(names)} was scored in this run. Evaluate the run with it first.")
    return selected
