"""The pass that ranks judged documents, against one that looks at every place of every list, and the laws of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import OwnTime

from ragauge.core.example import Example, Relevant
from ragauge.core.ranking import Ranking
from ragauge.core.response import Passage, Response
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.retrieval.ranks import Rankings, compute_rankings, rank_responses

NAMES = (
    "recall",
    "recall@3",
    "precision",
    "precision@3",
    "f1@3",
    "hit@3",
    "mrr",
    "mrr@2",
    "map",
    "map@3",
    "ndcg",
    "ndcg@3",
    "ndcg:gain=exp@3",
    "bpref",
    "r_precision",
    "rbp:p=0.8",
    "judged@3",
    "recall:rel=2@3",
    "bpref:rel=2",
)


@dataclass(frozen=True)
class Topic:
    """One query: what is judged, and what was returned."""

    items: tuple[Relevant, ...]
    docs: tuple[str, ...]


documents = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "é", "10", "9"])
grades = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
items = st.builds(Relevant, st.lists(documents, min_size=1, max_size=3).map(tuple), grades)
returned = st.lists(documents, max_size=9).map(tuple)
topics = st.builds(Topic, st.lists(items, min_size=1, max_size=6).map(tuple), returned)


def frames(sets: Sequence[Topic]) -> tuple[pl.DataFrame, pl.DataFrame]:
    labels = [
        (f"q{n}", number, doc, item.grade)
        for n, topic in enumerate(sets)
        for number, item in enumerate(topic.items)
        for doc in item.doc_ids
    ]
    rows = [(f"q{n}", doc, rank) for n, topic in enumerate(sets) for rank, doc in enumerate(topic.docs, 1)]
    types = {"query_id": pl.String, "item": pl.Int64, "doc_id": pl.String, "grade": pl.Float64, "rank": pl.Int64}
    return (
        pl.DataFrame(labels, {name: types[name] for name in ("query_id", "item", "doc_id", "grade")}, orient="row"),
        pl.DataFrame(rows, {name: types[name] for name in ("query_id", "doc_id", "rank")}, orient="row"),
    )


def owners(topic: Topic) -> dict[str, int]:
    """Document -> the item that it counts for: the best graded, the first of equals."""
    owner: dict[str, int] = {}
    for n, item in enumerate(topic.items):
        for doc in item.doc_ids:
            if doc not in owner or item.grade > topic.items[owner[doc]].grade:
                owner[doc] = n
    return owner


def looked_up(topic: Topic) -> Ranking:
    """The ranking of one query, place by place."""
    owner = owners(topic)
    first = {doc: rank for rank, doc in reversed(list(enumerate(topic.docs, 1)))}
    kept = []
    for n, item in enumerate(topic.items):
        members = [doc for doc in item.doc_ids if owner[doc] == n]
        if members:
            kept.append((item.grade, min((first[doc] for doc in members if doc in first), default=None)))
    return Ranking(len(topic.docs), tuple(kept), tuple(sorted(first[doc] for doc in owner if doc in first)))


@settings(deadline=None)
@given(st.lists(topics, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_pass_equals_brute_force(sets: list[Topic], rng: random.Random) -> None:
    """The shared pass finds for every query what looking at its list alone finds, in whatever order rows stand."""
    expected = {f"q{n}": looked_up(topic) for n, topic in enumerate(sets)}
    qrels, results = frames(sets)
    assert list(compute_rankings(qrels, results).items()) == list(expected.items())
    qrels, results = (frame.sample(fraction=1, shuffle=True, seed=rng.randrange(2**32)) for frame in (qrels, results))
    found = compute_rankings(qrels, results)
    assert dict(found) == expected
    assert list(found) == qrels["query_id"].unique(maintain_order=True).to_list()


@settings(deadline=None)
@given(st.lists(topics, min_size=1, max_size=5))
def test_shared_ranks_are_those_of_the_query_alone(sets: list[Topic]) -> None:
    """What is found for a query does not depend on the queries beside it."""
    together = compute_rankings(*frames(sets))
    for n, topic in enumerate(sets):
        assert together[f"q{n}"] == compute_rankings(*frames([topic]))["q0"]


@settings(deadline=None)
@given(st.lists(topics, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_responses_give_the_same_as_frames(sets: list[Topic], rng: random.Random) -> None:
    """A batch of responses is ranked like a run, and its order does not matter."""
    pairs = [
        (
            Example(f"q{n}", "?", relevant=topic.items),
            Response(f"q{n}", passages=tuple(Passage(doc, doc) for doc in topic.docs)),
        )
        for n, topic in enumerate(sets)
    ]
    order = rng.sample(range(len(pairs)), len(pairs))
    shuffled = rank_responses([pairs[n] for n in order])
    assert [shuffled[order.index(n)] for n in range(len(pairs))] == list(compute_rankings(*frames(sets)).values())


def value(name: str, ranking: Ranking) -> float | None:
    return MetricResult.of(parse_metric(name).value(ranking=ranking)).value


@settings(deadline=None)
@given(topics)
def test_values_equal_brute_force_and_stay_in_range(topic: Topic) -> None:
    """Every metric equals its definition written out place by place, and no copy or group lifts it above 1."""
    ranking = looked_up(topic)
    for name in NAMES:
        found, expected = value(name, ranking), by_definition(name, topic)
        assert found == (expected if expected is None else pytest.approx(expected, abs=1e-12)), name
        assert found is None or 0 <= found <= 1, name


def by_definition(name: str, topic: Topic) -> float | None:
    """The formulas of the metrics' docstrings over the list itself, place by place."""
    head, _, cutoff = name.partition("@")
    k, rel = int(cutoff or 0), 2.0 if "rel=2" in head else 1.0
    owner = owners(topic)
    counted = sorted(set(owner.values()))
    credited: list[int | None] = []  # per place: the item that it is the first to show
    for doc in topic.docs:
        item = owner.get(doc)
        credited.append(item if item not in credited else None)
    judged = [doc in owner and doc not in topic.docs[:n] for n, doc in enumerate(topic.docs)]
    grade = {n: topic.items[n].grade for n in counted}
    relevant = [n for n in counted if grade[n] >= rel]
    hits = [item is not None and grade[item] >= rel for item in credited]
    depth = k or len(hits)
    match head.partition(":")[0]:
        case "judged":
            return sum(judged[:depth]) / min(depth, len(hits)) if hits else None
        case "ndcg":

            def gain(g: float) -> float:
                return max(0.0, 2**g - 1 if "exp" in head else g) if g > 0 else 0.0

            best = sorted((gain(g) for g in grade.values()), reverse=True)
            ideal = sum(g / log2(i + 2) for i, g in enumerate(best[: k or len(best)]))
            shown = [0.0 if item is None else gain(grade[item]) for item in credited[:depth]]
            return sum(g / log2(i + 2) for i, g in enumerate(shown)) / ideal if ideal else None
    if not relevant:
        return None
    total, top = len(relevant), sum(hits[:depth])
    match head.partition(":")[0]:
        case "recall":
            return top / total
        case "precision":
            return top / depth if depth else None
        case "f1":
            p, r = top / depth, top / total
            return 2 * p * r / (p + r) if p + r else 0.0
        case "hit":
            return float(top > 0)
        case "mrr":
            return next((1 / (i + 1) for i, hit in enumerate(hits[:depth]) if hit), 0.0)
        case "map":
            return sum(sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits[:depth]) if hit) / total
        case "r_precision":
            return sum(hits[:total]) / total
        case "rbp":
            return sum(0.2 * 0.8**i for i, hit in enumerate(hits) if hit)
        case "bpref":
            others = [0 <= grade[n] < rel for n in counted]
            worse = [item is not None and 0 <= grade[item] < rel for item in credited]
            parts = [
                1 - min(sum(worse[:i]), total) / min(sum(others), total) if any(worse[:i]) else 1.0
                for i, hit in enumerate(hits)
                if hit
            ]
            return sum(parts) / total
    raise AssertionError(name)


def test_absent_and_unknown_queries() -> None:
    """A labelled query without results has none of its items found; one without labels is listed, not ranked."""
    qrels = pl.DataFrame({"query_id": ["q1", "q2"], "item": [0, 1], "doc_id": ["a", "b"], "grade": [1, 2]})
    results = pl.DataFrame({"query_id": ["q2", "q9"], "doc_id": ["b", "b"], "rank": [1, 1]})
    found = compute_rankings(qrels, results)
    assert dict(found) == {"q1": Ranking(0, ((1.0, None),), ()), "q2": Ranking(1, ((2.0, 1),), (1,))}
    assert (found.n_returned, found.unknown) == ((0, 1), ("q9",))
    with pytest.raises(KeyError):
        found["q9"]


def test_labels_of_a_query_may_stand_apart() -> None:
    """Labels sorted by document instead of by query are still labels of few queries."""
    qrels = pl.DataFrame(
        {"query_id": ["q1", "q2", "q1"], "item": [0, 1, 2], "doc_id": ["a", "b", "c"], "grade": [1.0, 1.0, 1.0]}
    )
    results = pl.DataFrame({"query_id": ["q1", "q2", "q1"], "doc_id": ["c", "b", "x"], "rank": [2, 1, 1]})
    found = compute_rankings(qrels, results)
    assert dict(found) == {"q1": Ranking(2, ((1.0, None), (1.0, 2)), (2,)), "q2": Ranking(1, ((1.0, 1),), (1,))}


def test_document_in_two_items_counts_once() -> None:
    """A document that two items name counts for the better graded; an item left without documents is dropped."""
    example = Example("q", "?", relevant=(Relevant(("a",), 1), Relevant(("a", "b"), 2), Relevant(("a", "a"), 1)))
    response = Response("q", passages=(Passage("1", "a"), Passage("2", "b")))
    assert rank_responses([(example, response)]) == [Ranking(2, ((2.0, 1),), (1, 2))]


def test_several_responses_to_one_question() -> None:
    """Repeated answers to the same question are ranked each for itself."""
    example = Example("q", "?", relevant=(Relevant(("a",)),))
    lists = ["a", "ba", ""]
    pairs = [(example, Response("q", n, tuple(Passage(doc, doc) for doc in docs))) for n, docs in enumerate(lists)]
    assert [ranking and ranking.items[0][1] for ranking in rank_responses(pairs)] == [1, 2, None]


def test_nothing_to_rank() -> None:
    """No labels, or passages that were not recorded, give no ranking; neither does an empty batch."""
    labelled, empty = Example("q", "?", relevant=(Relevant(("a",)),)), Response("q", passages=())
    pairs = [(Example("q", "?"), empty), (labelled, Response("q")), (labelled, empty)]
    assert rank_responses([]) == []
    assert rank_responses(pairs) == [None, None, Ranking(0, ((1.0, None),), ())]


@pytest.fixture(scope="module")
def collection() -> Rankings:
    """6,980 queries with a list of ten each and one or two relevant documents."""
    rng = random.Random(5)
    sets = [
        Topic(
            tuple(Relevant((f"d{rng.randrange(30)}",), 1.0) for _ in range(1 + (rng.random() < 0.06))),
            tuple(f"d{rng.randrange(30)}" for _ in range(10)),
        )
        for _ in range(6980)
    ]
    return compute_rankings(*frames(sets))


def test_metrics_are_fast(collection: Rankings, own_time: OwnTime) -> None:
    """Six metrics over 6,980 queries take well under 0.3 s."""
    metrics = [parse_metric(name) for name in ("recall@5", "precision@5", "mrr", "map", "ndcg@10", "ndcg")]
    own_time.within(0.3, lambda: [[metric.value(one) for metric in metrics] for one in collection.values()])


def test_a_batch_of_responses_is_fast(own_time: OwnTime) -> None:
    """200 examples of five passages are ranked in well under 50 ms of processor time."""
    rng = random.Random(6)
    pairs = [
        (
            Example(f"q{n}", "?", relevant=tuple(Relevant((f"d{n}-{i}",)) for i in range(5))),
            Response(f"q{n}", passages=tuple(Passage(str(i), f"d{n}-{rng.randrange(9)}") for i in range(5))),
        )
        for n in range(200)
    ]
    own_time.within(0.05, lambda: rank_responses(pairs))
