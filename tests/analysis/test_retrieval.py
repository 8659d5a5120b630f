"""A run measured against labels: which topics count, what is averaged, and what is warned of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragauge.core.errors import UsageError
from ragauge.core.ranking import find_query_starts
from ragauge.evaluation.retrieval.compute import RetrievalReport, Topics, evaluate_retrieval, find_copies
from ragauge.metrics.catalogue import select_metrics

LABELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {"d": 0}, "q4": {"e": 1}}
RUN = {"q1": ["b", "a"], "q2": ["c"], "q3": ["d"]}


def evaluated(
    labels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Sequence[str]],
    names: Sequence[str] = ("mrr", "precision", "judged@1"),
    topics: Topics = "all",
) -> RetrievalReport:
    rows = [(query, doc, float(grade)) for query, docs in labels.items() for doc, grade in docs.items()]
    qrels = pl.DataFrame(rows, ["query_id", "doc_id", "grade"], orient="row").with_row_index("item")
    types = {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64}
    ranked = [(query, doc, rank) for query, docs in run.items() for rank, doc in enumerate(docs, 1)]
    return evaluate_retrieval(qrels, pl.DataFrame(ranked, types, orient="row"), select_metrics(names), topics)


def test_every_labelled_query_is_a_topic() -> None:
    """By default an absent query counts as empty and one without relevant documents is not applicable."""
    report = evaluated(LABELS, RUN)
    assert report.query_ids == ("q1", "q2", "q3", "q4")
    assert report.per_query() == {
        "q1": {"mrr": 0.5, "precision": 0.5, "judged@1": 1},
        "q2": {"mrr": 1, "precision": 1, "judged@1": 1},
        "q3": {"mrr": None, "precision": None, "judged@1": 1},
        "q4": {"mrr": 0, "precision": None, "judged@1": None},
    }
    mrr, precision, judged = report.summaries
    assert (mrr.mean, mrr.scored, mrr.undefined, mrr.not_applicable, mrr.failed, mrr.n) == (0.5, 3, 0, 1, 0, 4)
    assert (precision.mean, precision.scored, precision.undefined, precision.not_applicable) == (0.75, 2, 1, 1)
    assert (judged.mean, judged.scored, judged.undefined, judged.not_applicable) == (1, 3, 1, 0)
    assert precision.reasons == {"no relevant labels": 1, "nothing was returned": 1}


def test_topics_of_trec_eval() -> None:
    """As in trec_eval, the topics are the judged queries of the run, and 0 stands where nothing is relevant."""
    report = evaluated(LABELS, RUN, topics="trec_eval")
    assert report.query_ids == ("q1", "q2", "q3")
    assert report["mrr"].mean == report["precision"].mean == 0.5
    assert report["mrr"].scored == report["precision"].scored == 3
    assert report.per_query()["q3"] == {"mrr": 0, "precision": 0, "judged@1": 1}


def test_mean_has_an_interval() -> None:
    """The interval is Wilson's, for values that vary with the spread of the data; there is none for one topic."""
    labels = {f"q{n}": {"a": 1} for n in range(4)}
    run = {"q0": ["a"], "q1": ["x", "a"], "q2": ["a"], "q3": ["x", "x", "x", "a"]}
    report = evaluated(labels, run, ["mrr", "hit@1"])
    mrr, hit = report["mrr"].interval, report["hit@1"].interval
    # values 1, 1/2, 1, 1/4: mean 0.6875, s = 0.375, t(3, 97.5 %) = 3.182446: k = (3.182446 · 0.1875)² / 0.214844 =
    # 1.657305; (0.6875 + 0.828652 ± sqrt(0.356061 + 0.686664)) / 2.657305
    assert mrr is not None
    assert (round(mrr.low, 4), round(mrr.high, 4), mrr.method) == (0.1863, 0.9548, "scaled wilson")
    assert hit is not None
    assert hit.method == "wilson"
    assert evaluated({"q": {"a": 1}}, {"q": ["a"]}, ["mrr"])["mrr"].interval is None


@settings(deadline=None)
@given(st.permutations(["q1", "q2", "q3", "q4"]))
def test_order_of_queries_does_not_matter(order: list[str]) -> None:
    """Labels in another order give the same means and the same values."""
    report, other = evaluated(LABELS, RUN), evaluated({query: LABELS[query] for query in order}, RUN)
    assert [one.mean for one in other.summaries] == [one.mean for one in report.summaries]
    assert other.per_query() == report.per_query()
    assert list(other.query_ids) == order


def test_clean_files_give_no_warning() -> None:
    """Where every labelled query is in the run and every document once, nothing is warned of."""
    assert evaluated({"q1": {"a": 1}}, {"q1": ["x", "a"]}).warnings == ()


def test_unknown_queries_are_listed() -> None:
    """Queries of the run without labels are counted and named, not scored."""
    report = evaluated({"q1": {"a": 1}}, {"q1": ["a"], **{f"new{n}": ["a"] for n in range(5)}})
    assert report.warnings == ("queries of the run without labels, not scored: 5 (new0, new1, new2 and 2 more).",)
    assert report.query_ids == ("q1",)


def test_other_ids_are_suspected() -> None:
    """When fewer than half of the labeled queries are in the run, the warning shows one id of each file."""
    labels = {f"{n}": {"a": 1} for n in range(1, 6)}
    warnings = evaluated(labels, {"1": ["a"], "q2": ["a"], "q3": ["a"]}).warnings
    assert any(
        "only 1 of 5 labeled queries are in the run" in text and "labels have '2', the run has 'q2'" in text
        for text in warnings
    )
    half = evaluated({"1": {"a": 1}, "2": {"a": 1}}, {"1": ["a"], "q2": ["a"]}).warnings
    assert not any("only" in text for text in half)


def test_other_document_ids_are_suspected() -> None:
    """When not one judged document comes back, the ids may be of two kinds."""
    warnings = evaluated({"q": {"D1": 1}}, {"q": ["1", "2"]}).warnings
    assert warnings == ("no judged document is in the run. Do both files use the same document ids? The run has '1'.",)


def test_copies_are_counted() -> None:
    """Results that repeat a document are counted, whether it was judged or not, and only within a query."""
    report = evaluated({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["x", "a", "x", "x"], "q2": ["a", "x", "a"]})
    assert report.warnings == (
        "results that repeat a document of the same query: 3 (queries q1, q2). A duplicate keeps "
        "its rank but counts as not relevant.",
    )
    assert evaluated({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"], "q2": ["a"]}).warnings == ()


def test_copies_are_seen_in_any_order_and_size() -> None:
    """Copies are found in a table of many slices, whether a query's rows stand together or not."""
    n = 3 * 2**16
    run = pl.DataFrame({"query_id": pl.int_range(n, eager=True) // 7, "doc_id": pl.int_range(n, eager=True) % 7})
    run = run.cast(pl.String).with_columns(rank=(pl.int_range(n) % 7) + 1)
    places = [5 * 7 + 3, n // 7 * 7 - 4, 2**16 // 7 * 7 + 6]
    copied = run.with_columns(
        doc_id=pl.when(pl.int_range(n).is_in(places)).then(pl.col("doc_id").shift(1)).otherwise("doc_id")
    )
    whole, shuffled = (frame.sample(fraction=1, shuffle=True, seed=1) for frame in (run, copied))
    for frame, pieces in ((copied, find_query_starts(copied["query_id"])), (copied, None), (shuffled, None)):
        found = find_copies(frame, pieces)
        assert found.height == 3
        assert set(found["query_id"]) == {str(place // 7) for place in places}
    for frame, pieces in ((run, find_query_starts(run["query_id"])), (run, None), (whole, None)):
        assert find_copies(frame, pieces).height == 0


pairs = st.lists(st.tuples(st.sampled_from(["q1", "q2", "q3"]), st.sampled_from("abcdef")), max_size=30)


@settings(deadline=None)
@given(pairs, st.booleans())
def test_copies_are_those_that_came_before(rows: list[tuple[str, str]], tidy: bool) -> None:
    """A row is a copy when a row of lower rank holds the same document of the same query, and only then."""
    if tidy:
        rows = sorted(rows, key=lambda row: row[0])
    ranked = [(query, doc, [other for other, _ in rows[: i + 1]].count(query)) for i, (query, doc) in enumerate(rows)]
    run = pl.DataFrame(ranked, {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64}, orient="row")
    again = [row for i, row in enumerate(ranked) if row[:2] in rows[:i]]
    for pieces in (find_query_starts(run["query_id"]), None) if tidy else (None,):
        assert sorted(find_copies(run, pieces).rows()) == sorted(again)


def test_run_without_rows() -> None:
    """A run in which nothing is left is an empty retrieval for every query."""
    report = evaluated({"q1": {"a": 1}, "q2": {"b": 1}}, {})
    assert report["mrr"].mean == 0
    assert evaluated({"q1": {"a": 1}}, {}, topics="trec_eval")["mrr"].mean is None


def test_metric_that_needs_more_is_refused() -> None:
    """A metric that asks a judge or reads an answer cannot be had from labels and a ranking."""
    with pytest.raises(UsageError, match=r"faithfulness needs verify_answer\.support, which labels and a rank"):
        evaluated(LABELS, RUN, ["mrr", "faithfulness"])
    with pytest.raises(UsageError, match="topics must be all or trec_eval, got some"):
        evaluated(LABELS, RUN, ["mrr"], "some")  # type: ignore[arg-type]     # a wrong value is the test


def test_metrics_of_the_list_itself() -> None:
    """Metrics that look at the returned passages see them with their scores; an absent query returned nothing."""
    run = pl.DataFrame({"query_id": ["q1", "q2", "q1"], "doc_id": ["a", "a", "b"], "score": [0.1, 0.4, 0.9]})
    run = run.with_columns(rank=pl.Series([2, 1, 1]))
    qrels = pl.DataFrame({"query_id": ["q1", "q2", "q3"], "item": [0, 1, 2], "doc_id": ["a"] * 3, "grade": [1.0] * 3})
    names = ["no_retrieval_rate:min_score=0.5", "empty_result_rate", "mrr"]
    report = evaluate_retrieval(qrels, run, select_metrics(names))
    assert report.per_query() == {
        "q1": dict(zip(names, (0, 0, 0.5), strict=True)),
        "q2": dict(zip(names, (1, 0, 1), strict=True)),
        "q3": dict(zip(names, (1, 1, 0), strict=True)),
    }
    for topics, applies in [("all", 1), ("trec_eval", 0)]:  # no score is not no relevant document: never 0
        without = evaluate_retrieval(qrels, run.drop("score"), select_metrics(names), cast(Topics, topics))
        assert (without[names[0]].not_applicable, without[names[0]].scored) == (2, applies)
