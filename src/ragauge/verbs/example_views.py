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
from ragauge.verbs.columns import KEY, causes_of, keys, questions_at

if TYPE_CHECKING:
    import polars as pl

    from ragauge.core.verdict import ExampleVerdict
    from ragauge.evaluation.export.scores_jsonl import View
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import ResponseIndex
    from ragauge.scores.results.scorecard import ExampleView
    from ragauge.scores.verdicts import ResponseVerdicts
    from ragauge.store.store_access import Store


def view_of(
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
    from ragauge.core.label_facts import NO_LABELS
    from ragauge.engine.label_facts import read_label_facts
    from ragauge.store.responses import Loaded

    example, response = store.runs.response(run_id, query_id, repeat)
    evidence = store.evidence.of_response(run_id, query_id, repeat, judge_id) if judge_id else {}
    scores = store.scores.of_response(run_id, query_id, repeat, judge_id)
    cause = store.causes.of_response(run_id, query_id, repeat, judge_id)
    if verdict is None:
        number = store.example_list.number(run_id, query_id, repeat)
        alone = store.runs.index(run_id, [] if number is None else [number])
        verdict = verdicts_of(store, run_id, judge_id, alone).at(0)
    labels = read_label_facts(store, [Loaded(0, example, response)]).get(0, NO_LABELS)
    controls = store.controls.read(run_id, judge_id)
    readability = None if controls is None else controls.readability_of(example, response)
    return ExampleView(example, response, evidence, scores, cause, verdict, labels.decides, readability)


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What a model said for one example.

    Attributes:
        question: that it was asked.
        served: the model that the provider says it used.
        status: ok or failed.
        text: as it came; "" where nothing did.
        reason: why it failed.
        cost: in US dollars; None when the price is unknown.
        latency_ms: of the call.
    """

    question: str
    served: str
    status: str
    text: str
    reason: str
    cost: float | None
    latency_ms: float | None


def replies_of(store: Store, view: ExampleView) -> tuple[JudgeReply, ...]:
    """The stored replies that one example's evidence was read from, question by question; () where no model judged."""
    keys = [(question, key) for question, one in view.evidence.items() for key in one.reply_keys]
    found = store.replies.get([key for _, key in keys]) if keys else {}
    return tuple(
        JudgeReply(question, reply.served, reply.status, reply.text, reply.reason, reply.cost, reply.latency_ms)
        for question, key in keys
        if (reply := found.get(key)) is not None
    )


def verdicts_of(store: Store, run_id: str, judge_id: str | None, index: ResponseIndex) -> ResponseVerdicts:
    """The verdicts on the responses of an index, by everything that was measured.

    Args:
        store: where the run is.
        run_id: of it.
        judge_id: whose verdicts; None = nobody's.
        index: the responses.
    """
    from ragauge.metrics.catalogue import parse
    from ragauge.scores.pass_status import KnownScores
    from ragauge.verbs.columns import StoredColumns, failed_of, stored_verdicts

    names = store.scores.metrics(run_id, judge_id)
    known = KnownScores(index)
    scores = StoredColumns(store, run_id, judge_id, index, ahead=names, values_only=True)
    for name in names:
        known.read(parse(name), scores.column(name))
    stored = stored_verdicts(store, run_id, judge_id, index)
    return known.verdicts(stored, failed_of(store, run_id, judge_id, index), judge_id)


def score_lines(views: Iterable[ExampleView]) -> Iterator[View]:
    """The views as `data.writers.scores_jsonl` takes them."""
    for view in views:
        cause = view.cause.name if view.cause is not None else ""
        yield view.example, view.response, view.evidence, view.scores, cause, view.verdicts


@dataclass(frozen=True, slots=True)
class ShownScores:
    """Which scores a scorecard shows. The tables are read from the store when they are asked for, as they are then.

    Attributes:
        url: of the store.
        run_id: the run.
        judge_id: who judged; None = nobody.
        metrics: printed names.
        numbers: the responses, by number in the store; None = all that have a score of one of the metrics.
    """

    url: str
    run_id: str
    judge_id: str | None
    metrics: tuple[str, ...]
    numbers: array[int] | None = field(default=None, repr=False)

    def _index(self, store: Store) -> ResponseIndex:
        numbers = self.numbers
        if numbers is None:
            numbers = store.scores.evaluated(self.run_id, self.judge_id, self.metrics)
        return store.runs.index(self.run_id, numbers)

    def scores(self) -> pl.DataFrame:
        """Every score, a row each, with the verdicts on its response, the same in all rows of it."""
        from ragauge.store.store_access import open_store

        with open_store(self.url) as store:
            return self._scores(store, self._index(store))

    def wide(self) -> pl.DataFrame:
        """One row a response: query_id, repeat, query, a column a segment, a column a metric; null = no value."""
        import polars as pl

        from ragauge.store.store_access import open_store

        with open_store(self.url) as store:
            index = self._index(store)
            rows = _questions(store, index, keys(index))
            rows = rows.join(self._segments(store), on="query_id", how="left", maintain_order="left")
            scores = self._scores(store, index).pivot("metric", index=KEY, values="value", aggregate_function="first")
        absent = [pl.lit(None, pl.Float64).alias(name) for name in self.metrics if name not in scores.columns]
        scores = scores.with_columns(absent).select(*KEY, *self.metrics)
        return rows.join(scores, on=KEY, how="left", maintain_order="left")

    def _segments(self, store: Store) -> pl.DataFrame:
        """query_id and a column a segment; one that is called as another column of the table says what it is."""
        frame = store.runs.segments(self.run_id)
        taken = {"repeat", "query", *self.metrics}
        return frame.rename({name: f"{name} (segment)" for name in frame.columns if name in taken})

    def failures(self) -> pl.DataFrame:
        """The failed responses with their questions and scores side by side."""
        from ragauge.store.store_access import open_store

        with open_store(self.url) as store:
            index = self._index(store)
            rows = causes_of(store, self.run_id, self.judge_id, index)
            rows = rows.select(*KEY, "cause", "decided_by", "second")
            rows = rows.join(_questions(store, index, rows), on=KEY, how="left", maintain_order="left")
            wide = self._scores(store, index).pivot("metric", index=KEY, values="value", aggregate_function="first")
        return rows.join(wide, on=KEY, how="left", maintain_order="left")

    def examples(self) -> Iterator[ExampleView]:
        """Every response with its example, evidence, scores and cause, one at a time."""
        from ragauge.store.store_access import open_store

        with open_store(self.url) as store:
            index = self._index(store)
            verdicts = verdicts_of(store, self.run_id, self.judge_id, index)
            for place, (query_id, repeat) in enumerate(keys(index).iter_rows()):
                yield view_of(store, self.run_id, query_id, repeat, self.judge_id, verdicts.at(place))

    def _scores(self, store: Store, index: ResponseIndex) -> pl.DataFrame:
        import numpy as np
        import polars as pl

        frame = store.scores.frame(self.run_id, self.judge_id).filter(pl.col("metric").is_in(list(self.metrics)))
        verdicts = verdicts_of(store, self.run_id, self.judge_id, index)
        columns = {"verdict": verdicts.verdict, "right": verdicts.right, "grounded": verdicts.grounded}
        found = keys(index).with_columns(**{name: np.array(VERDICTS)[codes] for name, codes in columns.items()})
        return frame.join(found, on=KEY, maintain_order="left")


def _questions(store: Store, index: ResponseIndex, rows: pl.DataFrame) -> pl.DataFrame:
    """query_id, repeat and query of the responses that the rows name."""
    import polars as pl

    wanted = keys(index).with_row_index("place").join(rows, on=KEY, how="semi", maintain_order="left")
    questions = questions_at(store, index, wanted["place"].to_list())
    queries = [questions.get(index) for index in wanted["place"].to_list()]
    return wanted.select(KEY).with_columns(pl.Series("query", queries, dtype=pl.String))


def scored_metrics(metrics: Sequence[Any], scored: Sequence[str]) -> list[Metric]:
    """The metrics of names and presets that were scored; a name of its own must have been."""
    from ragauge.metrics.catalogue import PRESETS, select

    names = [str(name) for name in metrics]
    for metric in select([name for name in names if name not in PRESETS]):
        if str(metric) not in scored:
            raise UnknownName("score in this run of", str(metric), scored, "Evaluate the run with it first.")
    chosen = [metric for metric in select(names) if str(metric) in scored]
    if not chosen:
        raise UsageError(f"nothing of {', '.join(names)} was scored in this run. Evaluate the run with it first.")
    return chosen
