"""Cases 1 to 13 of the acceptance list: where other tools' rankings were once measured wrongly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ragauge.core.example import Example, Relevant
from ragauge.core.response import Passage, Response
from ragauge.evaluation.retrieval.compute import evaluate_retrieval
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import list_classes, parse_metric, select_metrics
from ragauge.metrics.catalogue_entries import list_samples
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.metrics.retrieval import METRICS
from ragauge.metrics.retrieval.ranks import rank_responses
from ragauge.readers.rankings import read_qrels, read_run

Grades = Mapping[str | tuple[str, ...], float]


def measured(name: str, grades: Grades, docs: Sequence[str]) -> MetricResult:
    """A metric over one list; a key that is a tuple is a group of which any one will do."""
    relevant = tuple(Relevant((key,) if isinstance(key, str) else key, grade) for key, grade in grades.items())
    example = Example("q", "?", relevant=relevant)
    response = Response("q", passages=tuple(Passage(doc, doc) for doc in docs))
    (ranking,) = rank_responses([(example, response)])
    return measure_metric(parse_metric(name), Facts(example, response, ranking=ranking))


def value(name: str, grades: Grades, docs: Sequence[str]) -> float | None:
    found = measured(name, grades, docs).value
    return None if found is None else round(found, 4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall@5", 0.6667),
        ("precision@5", 0.4),
        ("mrr", 0.5),
        ("map", 0.3333),
        ("ndcg@2", 0.4441),
        ("ndcg@3", 0.3975),
        ("ndcg", 0.4879),
        ("ndcg:gain=exp", 0.5161),
        ("bpref", 0.0),
    ],
)
def test_case_01_check_values(name: str, expected: float) -> None:
    """Case 1: the check values of d,a,u,b with grades a3 b1 c2 d0, which are trec_eval's."""
    assert value(name, {"a": 3, "b": 1, "c": 2, "d": 0}, ["d", "a", "u", "b"]) == expected


def test_case_01_bpref_of_the_other_order() -> None:
    """Case 1: a,d,b has bpref 1/3: a counts 1, and the only non-relevant document stands above b."""
    assert value("bpref", {"a": 3, "b": 1, "c": 2, "d": 0}, ["a", "d", "b"]) == 0.3333


def test_case_02_ideal_is_cut_too() -> None:
    """Case 2: with ten relevant documents, five of them on top are the best that ndcg@5 can have."""
    grades: Grades = {f"d{n}": 1.0 for n in range(10)}
    assert value("ndcg@5", grades, [f"d{n}" for n in range(5)]) == 1


def test_case_03_ideal_counts_what_was_missed() -> None:
    """Case 3: finding one of two: 1 / (1 + 1/log2(3)) = 0.6131."""
    assert value("ndcg@5", {"a": 1, "b": 1}, ["a"]) == 0.6131


def test_case_04_map_divides_by_the_relevant() -> None:
    """Case 4: three relevant, hits at 2 and 4: (1/2 + 2/4) / 3, not / 2."""
    assert value("map", {"a": 1, "b": 1, "c": 1}, ["x", "a", "y", "b"]) == 0.3333


@pytest.mark.parametrize(
    ("name", "expected"), [("recall@2", 0.5), ("precision@4", 0.5), ("map", 0.75), ("ndcg@4", 0.8772)]
)
def test_case_05_copies_earn_once(name: str, expected: float) -> None:
    """Case 5: later copies keep their place and earn nothing: map (1/1 + 2/4) / 2, dcg 1 + 1/log2(5)."""
    assert value(name, {"a": 1, "b": 1}, ["a", "a", "a", "b"]) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("precision@5", 0.6), ("precision@2", 1), ("precision", 0.75), ("recall@5", 0.5), ("f1@5", 0.5455), ("mrr", 1)],
)
def test_chunks_of_a_document_are_places(name: str, expected: float) -> None:
    """Three of four places hold chunks of the one relevant document found: precision counts them, recall does not."""
    chunks = [Passage("a-1", "a"), Passage("a-2", "a"), Passage("x-1", "x"), Passage("a-3", "a")]
    asked = Example("q", "?", relevant=(Relevant(("a",)), Relevant(("b",))))
    response = Response("q", passages=tuple(chunks))
    (ranking,) = rank_responses([(asked, response)])
    assert round(measure_metric(parse_metric(name), Facts(asked, response, {}, ranking)).value or 0, 4) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("precision:unit=chunk@3", 2 / 3), ("precision@3:unit=chunk", 2 / 3), ("recall:unit=chunk@1", 0.5)],
)
def test_labelled_chunks(name: str, expected: float) -> None:
    """Labels that name chunks are met by passage_id, whatever documents the chunks are of."""
    chunks = [Passage("a-1", "a"), Passage("a-2", "a"), Passage("b-1", "b")]
    asked = Example("q", "?", relevant_chunks=(Relevant(("a-1",)), Relevant(("b-1",))))
    response = Response("q", passages=tuple(chunks))
    (ranking,) = rank_responses([(asked, response)])
    facts = Facts(asked, response, {}, ranking)
    assert measure_metric(parse_metric(name), facts).value == expected
    assert (
        measure_metric(parse_metric(name.replace(":unit=chunk", "")), facts).value == expected
    )  # the only labels there are
    by_document = replace(facts, example=replace(asked, relevant=(Relevant(("a",)),), relevant_chunks=None))
    assert measure_metric(parse_metric(name), by_document).status == "not_applicable"


def test_case_06_groups() -> None:
    """Case 6: a group is one relevant item, found at its best member's rank: dcg 1 + 1/2 of 1 + 1/log2(3)."""
    grades: Grades = {("a", "b"): 1, "c": 1}
    assert value("recall@3", grades, ["b", "a", "c"]) == 1
    assert value("ndcg@3", grades, ["b", "a", "c"]) == 0.9197
    assert value("ndcg", {("a", "b"): 1}, ["a", "x", "b"]) == 1


def test_case_07_recall_is_not_hit_rate() -> None:
    """Case 7: one of two relevant documents found is half the recall and a hit."""
    docs = ["x", "a", "y", "z", "w"]
    assert (value("recall@5", {"a": 1, "b": 1}, docs), value("hit@5", {"a": 1, "b": 1}, docs)) == (0.5, 1)


def test_case_08_precision_of_a_short_list() -> None:
    """Case 8: two of three returned: 2/5 at 5, 2/3 over what was returned."""
    docs = ["a", "x", "b"]
    assert value("precision@5", {"a": 1, "b": 1}, docs) == 0.4
    assert value("precision", {"a": 1, "b": 1}, docs) == 0.6667


def test_case_09_nothing_returned() -> None:
    """Case 9: an empty list is 0, except where the list itself is the denominator."""
    names = [f"{name}:p=0.8" if name == "rbp" else name for name in own()]
    found = {name: measured(name, {"a": 1}, []) for name in names}
    assert {name for name, one in found.items() if one.status == "undefined"} == {"precision", "judged"}
    assert {one.value for one in found.values() if one.status == "scored"} == {0}
    assert measured("precision@5", {"a": 1}, []).value == 0


RANKING_ONLY = {"ranking": "labels.ranking"}


def own() -> list[str]:
    """Metrics that look at nothing but a ranking."""
    ranked = {one.name() for one in list_samples() if one.needs == RANKING_ONLY}
    return [name for name, cls in list_classes().items() if cls in METRICS and name in ranked]


def test_case_10_no_relevant_labels(tmp_path: Path) -> None:
    """Case 10: without relevant labels it is not applicable and outside the mean, or 0 by trec_eval's topics."""
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 0\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 1 t\nq2 Q0 b 1 1 t\n")
    qrels, run = read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run")
    ours = evaluate_retrieval(qrels, run, select_metrics(["mrr"]))["mrr"]
    assert (ours.mean, ours.scored, ours.not_applicable) == (1, 1, 1)
    theirs = evaluate_retrieval(qrels, run, select_metrics(["mrr"]), topics="trec_eval")["mrr"]
    assert (theirs.mean, theirs.scored, theirs.not_applicable) == (0.5, 2, 0)


def test_case_11_absent_query_counts_as_empty(tmp_path: Path) -> None:
    """Case 11: a labelled query that the finished run lacks scores 0, with one warning for all of them."""
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 1\nq3 0 c 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 1 t\n")
    report = evaluate_retrieval(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run"), select_metrics(["mrr"]))
    assert report.per_query() == {"q1": {"mrr": 1}, "q2": {"mrr": 0}, "q3": {"mrr": 0}}
    assert report.warnings == ("2 of 3 labeled queries are not in the run; each counts as an empty retrieval: q2, q3.",)


def test_case_12_ties(tmp_path: Path) -> None:
    """Case 12: equal scores fall in descending order of docno, while a response's own order is final."""
    (tmp_path / "qrels").write_text("q 0 n 1\n")
    (tmp_path / "run").write_text("q Q0 n 1 5 t\nq Q0 x 2 5 t\nq Q0 y 3 5 t\n")
    report = evaluate_retrieval(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run"), select_metrics(["mrr"]))
    assert report["mrr"].mean == 1 / 3
    assert value("mrr", {"n": 1}, ["n", "x", "y"]) == 1
