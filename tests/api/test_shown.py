"""A scorecard is made a metric at a time, and its tables are read when they are asked for."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import ragauge as rg
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.summarize import summarize_scores
from ragauge.store.scores import Column
from ragauge.store.spool import Record
from ragauge.store.store_access import Store, open_store
from ragauge.verbs.columns import StoredColumns

METRICS = [parse_metric(name) for name in ("recall@5", "faithfulness", "latency", "mrr")]


def result(draw: random.Random, metric: str) -> MetricResult:
    kind = draw.random()
    if kind < 0.1:
        return MetricResult("failed", low=0.1, high=0.6 if metric != "latency" else None, reason="time-out")
    if kind < 0.2:
        return MetricResult("undefined", reason=draw.choice(["no claims", "no labels"]))
    value = draw.randint(0, 8) / 8
    return MetricResult("scored", value, value * 8, 8.0, value, value)


def filled(store: Store, *, repeats: int, weighted: bool, clustered: bool) -> tuple[Run, list[int]]:
    """A run with scores of every status; some responses lack a metric."""
    draw = random.Random(repeats)
    pairs: list[Record] = [
        (
            Example(f"q{i}", f"{i}?", cluster=f"c{i % 5}" if clustered and i % 3 else None),
            Response(f"q{i}", repeat=repeat, answer="a", weight=1.0 + i % 4 if weighted else 1.0),
        )
        for i in range(40)
        for repeat in range(repeats)
    ]
    run = store.runs.import_run(Run("", "r"), pairs)
    numbers = list(store.runs.load_order(run.run_id).numbers)
    for metric in map(str, METRICS[:3]):
        rows = [(n, [result(draw, metric)]) for n in numbers if draw.random() < 0.9]
        store.scores.write(run.run_id, [Column(metric, 1, "judge@1" if metric == "faithfulness" else None)], rows)
    return run, numbers


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("repeats", [1, 3])
def test_a_metric_at_a_time_gives_what_all_at_once_give(
    tmp_path: Path, repeats: int, weighted: bool, clustered: bool
) -> None:
    """Summaries made from the store one metric after another equal those of the frame of all scores."""
    with open_store(f"sqlite:///{tmp_path}/s.db") as store:
        run, numbers = filled(store, repeats=repeats, weighted=weighted, clustered=clustered)
        columns = StoredColumns(store, run.run_id, "judge@1", store.runs.index(run.run_id, numbers))
        mine, theirs = (
            summarize_scores(columns, METRICS),
            summarize_scores(store.scores.load_frame(run.run_id, "judge@1"), METRICS),
        )
    assert [one.n > 0 for one in mine] == [True, True, True, False]
    for one, other in zip(mine, theirs, strict=True):
        assert (one.n, one.scored, one.failed, one.reasons) == (other.n, other.scored, other.failed, other.reasons)
        for name in ("mean", "micro", "low", "high"):
            assert getattr(one, name) == pytest.approx(getattr(other, name))
        assert (one.interval is None) == (other.interval is None)
        if one.interval is not None and other.interval is not None:
            assert one.interval.method == other.interval.method
            assert (one.interval.low, one.interval.high) == pytest.approx((other.interval.low, other.interval.high))


@pytest.mark.prove
def test_tables_are_those_of_the_card(tmp_path: Path) -> None:
    """Scores of examples and metrics that the card does not show are not in its tables, also when they come later."""
    rows = [
        {
            "query_id": f"q{i}",
            "query": f"{i}?",
            "answer": "Yes.",
            "relevant": {"d": 1},
            "passages": [{"doc_id": "d" if i else "e", "text": "x"}],
        }
        for i in range(6)
    ]
    store = f"sqlite:///{tmp_path}/s.db"
    card = rg.evaluate(rows, metrics="recall@5", judge=None, store=store, limit=4, name="one")
    rg.evaluate("one", metrics="recall@5,mrr", judge=None, store=store)
    scores = card.to_polars()
    assert scores.height == scores["query_id"].n_unique() == card.card.n == 4
    assert scores["metric"].unique().to_list() == ["recall@5"]
    assert [view.example.query_id for view in card.examples()] == scores["query_id"].to_list()
    whole = rg.evaluate("one", metrics="recall@5,mrr", judge=None, store=store)
    assert whole.failures.select("query_id", "query", "recall@5", "mrr").rows() == [("q0", "0?", 0.0, 0.0)]
    assert whole.failures is whole.failures  # read once
