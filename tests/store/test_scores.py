"""The contract of scores, causes and summaries."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.conftest import OwnTime

from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.core.score import STATUSES, Score
from ragauge.metrics.base import MetricResult
from ragauge.scores.arrays import Columns
from ragauge.scores.results.scorecard import Cause, Interval, Summary
from ragauge.scores.summarize import build_cause_frame, build_score_frame
from ragauge.store.scores import Column
from ragauge.store.spool import Record
from ragauge.store.store_access import Store

RESULTS = (
    MetricResult("scored", 0.5, 1.0, 2.0, 0.5, 0.5),
    MetricResult("scored", 1 / 3, low=1 / 3, high=1 / 3),
    MetricResult("undefined", numerator=0.0, denominator=0.0, reason="nothing to divide by"),
    MetricResult("not_applicable", reason="no reference answer"),
    MetricResult("failed", low=0.25, high=0.75, reason="1 verdict missing"),
    MetricResult("failed", low=0.0, reason="odd \ud800 text"),
)
LABELS, ASKED = Column("recall@5", 1), Column("faithfulness", 1, "judge@1")


def with_run(store: Store, n: int = 6, name: str = "r") -> tuple[str, list[int]]:
    """A run of n responses, two to each question: its id and their numbers."""
    pairs: list[Record] = [
        (
            Example(f"q{i // 2}", f"{i // 2}?", cluster=f"c{i // 4}" if i < 4 else None),
            Response(f"q{i // 2}", repeat=i % 2, passages=(), answer="a", weight=1.0 + i),
        )
        for i in range(n)
    ]
    run = store.runs.import_run(Run("", name, config={"name": name}), pairs)
    return run.run_id, [number for number, _ in store.runs.load_order(run.run_id)]


def assert_same(columns: Columns, frame: pl.DataFrame) -> None:
    """One metric's arrays say what its rows of the frame say."""
    assert [STATUSES[code] for code in columns.status] == frame["status"].to_list()
    assert [columns.reasons[number] for number in columns.reason] == frame["reason"].to_list()
    for name in ("value", "numerator", "denominator", "low", "high"):
        np.testing.assert_array_equal(getattr(columns, name), frame[name].to_numpy())


class ScoresContract:
    """What every store of scores does. A back end supplies `store`."""

    def test_frame_is_what_analysis_makes_of_the_scores(self, store: Store) -> None:
        """The frame equals the one that analysis makes of the same Score objects, every status and bound included."""
        run_id, numbers = with_run(store)
        rows = [(n, (RESULTS[0], result)) for n, result in zip(numbers, RESULTS, strict=True)]
        store.scores.write(run_id, [LABELS, ASKED], rows)
        expected = [
            score
            for q, repeat in product(("q0", "q1", "q2"), (0, 1))
            for score in store.scores.load_for_response(run_id, q, repeat, "judge@1").values()
        ]
        weights = {(f"q{i // 2}", i % 2): 1.0 + i for i in range(6)}
        frame, keys = store.scores.load_frame(run_id, "judge@1"), ["query_id", "repeat", "metric"]
        odd = (pl.col("low") == 0.0) & (pl.col("status") == "failed")
        made = build_score_frame([s for s in expected if "odd" not in s.reason], weights, {"q0": "c0", "q1": "c0"})
        assert_frame_equal(frame.filter(~odd.fill_null(value=False)).sort(keys), made.sort(keys))
        last = frame.filter(odd).row(0, named=True)
        assert (last["status"], last["low"], last["high"]) == ("failed", 0.0, None)
        assert last["reason"] == "odd \x1ad800 text"  # a frame's text is UTF-8: the surrogate is escaped

    @pytest.mark.parametrize("result", RESULTS)
    def test_score_survives(self, store: Store, result: MetricResult) -> None:
        """A score is read back equal, in every status, bounds and reason included."""
        run_id, numbers = with_run(store)
        assert store.scores.write(run_id, [ASKED], [(numbers[3], (result,))]) == 1
        values = (getattr(result, name) for name in result.__slots__)
        expected = Score(run_id, "q1", 1, "faithfulness", 1, "judge@1", 0, *values)
        assert store.scores.load_for_response(run_id, "q1", 1, "judge@1") == {"faithfulness": expected}

    def test_frame_is_in_example_order(self, store: Store) -> None:
        """However scores were written, the frame is in the order of the run's file."""
        run_id, numbers = with_run(store)
        for n in (numbers[4], numbers[0], numbers[5], numbers[2]):
            store.scores.write(run_id, [ASKED, LABELS], [(n, RESULTS[:2])])
        assert store.scores.load_frame(run_id, "judge@1").filter(metric="faithfulness").rows() == [
            (q, r, "faithfulness", "scored", 0.5, 1.0, 2.0, 0.5, 0.5, "", "judge@1", w, c)
            for q, r, w, c in (("q0", 0, 1.0, "c0"), ("q1", 0, 3.0, "c0"), ("q2", 0, 5.0, None), ("q2", 1, 6.0, None))
        ]

    def test_judges_are_apart(self, store: Store) -> None:
        """A frame holds one asking of one judge beside what asks nobody; without a judge, the latter alone."""
        run_id, numbers = with_run(store)
        columns = [LABELS, ASKED, Column("faithfulness", 1, "judge@2"), Column("faithfulness", 1, "judge@1", 1)]
        values = [MetricResult("scored", v, low=v, high=v) for v in (0.1, 0.2, 0.3, 0.4)]
        store.scores.write(run_id, columns, [(numbers[0], values)])
        frames = [
            store.scores.load_frame(run_id, *judge)
            for judge in (("judge@1",), ("judge@2",), ("judge@1", 1), (None,), ("nobody",))
        ]
        assert [sorted(frame["value"]) for frame in frames] == [[0.1, 0.2], [0.1, 0.3], [0.1, 0.4], [0.1], [0.1]]
        assert sorted(store.scores.judges(run_id)) == ["judge@1", "judge@2"]
        assert frames[1].sort("value")["judge_id"].to_list() == [None, "judge@2"]

    def test_last_judge_is_first(self, store: Store) -> None:
        """Judges are listed by when they last judged this run; nobody is no judge."""
        run_id, numbers = with_run(store)
        for judge in ("b", "a", None, "b"):
            store.scores.write(run_id, [Column("m", 1, judge)], [(numbers[0], RESULTS[:1])])
            time.sleep(0.002)
        assert store.scores.judges(run_id) == ["b", "a"]
        assert store.scores.judges(with_run(store, name="other")[0]) == []

    def test_new_version_stands_in_the_frame(self, store: Store) -> None:
        """Of a metric in two versions the newest is in the frame; versions are never mixed."""
        run_id, numbers = with_run(store)
        new = Column("faithfulness", 2, "judge@1")
        store.scores.write(run_id, [ASKED], [(n, RESULTS[:1]) for n in numbers])
        store.scores.write(run_id, [new], [(numbers[0], RESULTS[1:2])])
        assert store.scores.load_frame(run_id, "judge@1")["value"].to_list() == [1 / 3]
        assert store.scores.load_for_response(run_id, "q0", 0, "judge@1")["faithfulness"].metric_version == 2
        assert store.scores.find_complete(run_id, [ASKED]) == set(numbers)
        assert store.scores.find_complete(run_id, [new]) == {numbers[0]}
        store.scores.write(run_id, [LABELS], [(numbers[0], RESULTS[:1])])
        assert store.scores.find_versions(run_id, "judge@1") == {"recall@5": 1, "faithfulness": 2}
        assert (
            store.scores.find_versions(run_id, None) == store.scores.find_versions(run_id, "nobody") == {"recall@5": 1}
        )

    def test_versions_stand_in_the_order_of_the_scores(self, store: Store) -> None:
        """A metric that the first response lacks stands after those that it has, and its newest version is told."""
        run_id, numbers = with_run(store)
        late, newer = Column("mrr", 1), Column("recall@5", 2)
        store.scores.write(run_id, [late], [(numbers[1], [RESULTS[0]])])
        store.scores.write(run_id, [ASKED, LABELS], [(numbers[0], [RESULTS[0], RESULTS[1]])])
        store.scores.write(run_id, [newer], [(numbers[2], [RESULTS[0]])])
        assert list(store.scores.find_versions(run_id, None).items()) == [("recall@5", 2), ("mrr", 1)]
        known = store.scores.find_versions(run_id, "judge@1")
        assert list(known)[-1] == "mrr"
        assert known == {"faithfulness": 1, "recall@5": 2, "mrr": 1}

    def test_score_is_replaced(self, store: Store) -> None:
        """A score written again takes the place of the old one: scores are recomputable."""
        run_id, numbers = with_run(store)
        store.scores.write(run_id, [ASKED], [(numbers[0], RESULTS[4:5])])
        store.scores.write(run_id, [ASKED], [(numbers[0], RESULTS[:1])])
        (score,) = store.scores.load_for_response(run_id, "q0", 0, "judge@1").values()
        assert (score.status, score.value, score.low, score.reason) == ("scored", 0.5, 0.5, "")

    def test_complete_wants_every_column(self, store: Store) -> None:
        """A response is complete with a score in every column; failed ones count unless they are left out."""
        run_id, numbers = with_run(store)
        store.scores.write(run_id, [LABELS, ASKED], [(numbers[0], RESULTS[:2]), (numbers[1], RESULTS[3:5])])
        store.scores.write(run_id, [LABELS], [(numbers[2], RESULTS[:1])])
        both = [ASKED, LABELS]
        assert store.scores.find_complete(run_id, both) == {numbers[0], numbers[1]}
        assert store.scores.find_complete(run_id, both, failed_too=False) == {numbers[0]}
        assert store.scores.find_complete(run_id, [LABELS]) == set(numbers[:3])
        assert store.scores.find_complete(run_id, [*both, Column("never", 1)]) == set()
        assert store.scores.find_complete(run_id, [Column("faithfulness", 1, "judge@9")]) == set()

    def test_empty_frame_has_its_columns(self, store: Store) -> None:
        """A run that was never scored has an empty frame of the same columns and types."""
        run_id, numbers = with_run(store)
        empty = store.scores.load_frame(run_id, "judge@1")
        store.scores.write(run_id, [ASKED], [(numbers[0], RESULTS[:1])])
        assert empty.schema == store.scores.load_frame(run_id, "judge@1").schema == build_score_frame([]).schema
        assert empty.is_empty()

    def test_a_metric_alone_is_what_the_frame_says_of_it(self, store: Store) -> None:
        """One metric's scores are those of the frame; the responses and their weights and clusters are its others."""
        run_id, numbers = with_run(store)
        columns = [LABELS, ASKED, Column("faithfulness", 0, "judge@1"), Column("faithfulness", 1, "judge@2")]
        rows = [(n, (RESULTS[0], result, RESULTS[3], RESULTS[3])) for n, result in zip(numbers, RESULTS, strict=True)]
        store.scores.write(run_id, columns, rows[::-1])
        frame = store.scores.load_frame(run_id, "judge@1")
        assert store.scores.metrics(run_id, "judge@1") == frame["metric"].unique(maintain_order=True).to_list()
        index = store.runs.index(run_id, numbers)
        assert index.number.tolist() == numbers
        names = ["faithfulness", "never", "recall@5"]
        found = store.scores.load_metrics(run_id, "judge@1", names, index)
        assert list(found) == names
        assert not found["never"].place.size
        for name in ("recall@5", "faithfulness"):
            whole = frame.filter(metric=name)
            assert_same(found[name], whole)
            assert index.number[found[name].place].tolist() == numbers
            assert [index.query_ids[query] for query in found[name].query] == whole["query_id"].to_list()
            assert index.repeat.tolist() == whole["repeat"].to_list()
            np.testing.assert_array_equal(found[name].weight, whole["weight"].to_numpy())
        assert index.cluster is not None
        assert len(set(index.cluster[:4].tolist())) == 1  # q0 and q1 are of c0
        assert len(set(index.cluster.tolist())) == 2  # q2 stands alone

    def test_values_alone_are_the_values(self, store: Store) -> None:
        """Values alone lack numerators, denominators and reasons, and nothing else."""
        run_id, numbers = with_run(store)
        rows = [(n, (RESULTS[0], result)) for n, result in zip(numbers, RESULTS, strict=True)]
        store.scores.write(run_id, [LABELS, ASKED], rows)
        names, index = ["faithfulness", "recall@5"], store.runs.index(run_id, numbers)
        whole = store.scores.load_metrics(run_id, "judge@1", names, index)
        short = store.scores.load_metrics(run_id, "judge@1", names, index, values_only=True)
        for name in names:
            for part in ("place", "query", "status", "value", "low", "high", "weight", "cluster"):
                np.testing.assert_array_equal(getattr(short[name], part), getattr(whole[name], part))
            assert np.isnan(short[name].numerator).all()
            assert np.isnan(short[name].denominator).all()
            assert {short[name].reasons[number] for number in short[name].reason} == {""}

    def test_scores_of_other_responses_are_left_out(self, store: Store) -> None:
        """Scores are read of the responses in the index, each at its place there."""
        run_id, numbers = with_run(store)
        store.scores.write(run_id, [ASKED], [(n, (result,)) for n, result in zip(numbers, RESULTS, strict=True)])
        index = store.runs.index(run_id, [numbers[1], numbers[3]])
        found = store.scores.load_metrics(run_id, "judge@1", ["faithfulness"], index)["faithfulness"]
        assert found.place.tolist() == [0, 1]
        assert [STATUSES[code] for code in found.status] == [RESULTS[1].status, RESULTS[3].status]

    def test_judged_score_goes_before_one_without_a_judge(self, store: Store) -> None:
        """Where a response was scored both without and with a judge, a metric alone shows the judge's score."""
        run_id, numbers = with_run(store)
        failed = MetricResult("failed", low=0.25, high=0.5, reason="time-out")
        store.scores.write(run_id, [Column("m", 1)], [(n, RESULTS[3:4]) for n in numbers[:3]])
        store.scores.write(run_id, [Column("m", 1, "judge@1")], [(numbers[0], RESULTS[:1]), (numbers[2], [failed])])
        index = store.runs.index(run_id, numbers)
        found = store.scores.load_metrics(run_id, "judge@1", ["m"], index)["m"]
        assert [STATUSES[code] for code in found.status] == ["scored", "not_applicable", "failed"]
        assert found.place.tolist() == [0, 1, 2]
        np.testing.assert_array_equal(found.low, [RESULTS[0].value, np.nan, 0.25])
        np.testing.assert_array_equal(found.high, [RESULTS[0].value, np.nan, 0.5])

    def test_evaluated_wants_so_many_metrics(self, store: Store) -> None:
        """A response counts with scores of at least so many of the metrics, by this judge or by nobody."""
        run_id, numbers = with_run(store)
        store.scores.write(run_id, [LABELS, ASKED], [(numbers[2], RESULTS[:2]), (numbers[0], RESULTS[3:5])])
        store.scores.write(run_id, [LABELS], [(numbers[1], RESULTS[:1])])
        store.scores.write(run_id, [Column("faithfulness", 1, "judge@2")], [(numbers[1], RESULTS[:1])])
        names = ["recall@5", "faithfulness"]
        assert list(store.scores.evaluated(run_id, "judge@1", names, min_metrics=2)) == [numbers[0], numbers[2]]
        assert list(store.scores.evaluated(run_id, "judge@1", names)) == numbers[:3]
        assert list(store.scores.evaluated(run_id, "judge@1", ["never"])) == []
        assert store.runs.index(run_id, [numbers[1], numbers[2]]).query_ids == ("q0", "q1")

    def test_writing_moves_the_run(self, store: Store) -> None:
        """Scoring a run makes it the latest: what was evaluated last is what people mean."""
        old, numbers = with_run(store, name="old")
        new, _ = with_run(store, name="new")
        assert store.runs.find("latest").run_id == new
        time.sleep(0.002)
        store.scores.write(old, [ASKED], [(numbers[0], RESULTS[:1])])
        assert store.runs.find("latest").run_id == old

    def test_speed(self, store: Store, own_time: OwnTime) -> None:
        """25 metrics of 4,000 responses are written at more than 20,000 rows a second of this process's time."""
        run_id, numbers = with_run(store, 4_000)
        columns = [Column(f"m{i}", 1, "judge@1" if i > 8 else None) for i in range(25)]
        row = [RESULTS[i % 2] for i in range(25)]
        wrote: list[int] = []
        rows = ((n, row) for n in numbers)
        own_time.within(100_000 / 20_000, lambda: wrote.append(store.scores.write(run_id, columns, rows)), times=1)
        assert wrote == [100_000]
        assert store.scores.load_frame(run_id, "judge@1").height == 100_000


class CausesContract:
    """What every store of causes and summaries does. A back end supplies `store`."""

    def test_causes_survive(self, store: Store) -> None:
        """Causes come back in example order, in the frame that analysis makes of them."""
        run_id, numbers = with_run(store)
        cause = Cause("ignored", "U is empty", "reorder", "generation", "noise", ("labels",), "judge")
        store.causes.write(run_id, "judge@1", {numbers[3]: cause, numbers[0]: Cause(""), numbers[1]: None})
        unclear = Cause("", component="unclear")  # as every cause without a name is read
        assert_frame_equal(
            store.causes.load_frame(run_id, "judge@1"), build_cause_frame([("q0", 0, unclear), ("q1", 1, cause)])
        )
        assert store.causes.find_for_response(run_id, "q1", 1, "judge@1") == cause
        assert store.causes.find_for_response(run_id, "q0", 1, "judge@1") is None
        assert list(store.causes.read(run_id, "judge@1")) == [(numbers[0], unclear), (numbers[3], cause)]
        assert list(store.causes.read(run_id, "judge@1", numbers=numbers[2:])) == [(numbers[3], cause)]
        assert list(store.causes.read(run_id, "judge@1", numbers=[])) == []
        assert store.causes.load_frame(run_id, None).is_empty()
        assert store.causes.load_frame(run_id, "judge@1", 1).is_empty()

    def test_cause_goes_when_the_example_no_longer_fails(self, store: Store) -> None:
        """A later evaluation replaces a cause, and None removes it."""
        run_id, numbers = with_run(store)
        store.causes.write(run_id, None, {numbers[0]: Cause("a"), numbers[1]: Cause("b")})
        store.causes.write(run_id, None, {numbers[0]: Cause("c"), numbers[1]: None})
        assert store.causes.load_frame(run_id, None)["cause"].to_list() == ["c"]

    def test_odd_words_in_a_cause(self, store: Store) -> None:
        """Lone surrogates in a cause's words are kept, and escaped in the frame."""
        run_id, numbers = with_run(store)
        cause = Cause("a", "claim \ud800", lacking=("\udfff",))
        store.causes.write(run_id, None, {numbers[0]: cause})
        assert store.causes.find_for_response(run_id, "q0", 0, None) == cause
        assert store.causes.load_frame(run_id, None)["decided_by"].to_list() == ["claim \x1ad800"]
        assert [one.decided_by for _, one in store.causes.read(run_id, None)] == ["claim \x1ad800"]

    def test_summaries_survive(self, store: Store) -> None:
        """The last summaries of a run and judge are read back equal; before, there are none."""
        run_id, _ = with_run(store)
        interval = Interval(0.0, 1.0, "t")
        one = Summary("m", "retrieval", "higher", "mean", 3, 1, 1, 1, 0, 0.5, interval, quantiles={0.5: 1.0})
        assert store.summaries.read(run_id, "judge@1") == ()
        store.summaries.write(run_id, "judge@1", [one])
        store.summaries.write(run_id, None, [])
        store.summaries.write(run_id, "judge@1", [one, one])
        assert store.summaries.read(run_id, "judge@1") == (one, one)
        assert store.summaries.read(run_id, None) == ()


class TestSqliteScores(ScoresContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store


class TestSqliteCauses(CausesContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store


@pytest.mark.parametrize("n", [8_000, pytest.param(50_000, marks=pytest.mark.prove)])
def test_many_examples(sqlite_store: Store, own_time: OwnTime, n: int) -> None:
    """So many responses with 25 metrics are written at over 50,000 rows a second, and read back whole."""
    pairs: list[Record] = [(Example(f"q{i}", str(i)), Response(f"q{i}", passages=())) for i in range(n)]
    run = sqlite_store.runs.import_run(Run("", "big"), pairs)
    numbers = [number for number, _ in sqlite_store.runs.load_order(run.run_id)]
    columns = [Column(f"m{i}", 1, "judge@1" if i > 8 else None) for i in range(25)]
    row = [RESULTS[i % 2] for i in range(25)]
    rows = ((number, row) for number in numbers)
    own_time.within(25 * n / 50_000, lambda: sqlite_store.scores.write(run.run_id, columns, rows), times=1)
    own_time.within(n / 3_000, lambda: sqlite_store.scores.load_frame(run.run_id, "judge@1"), times=1)
    frame = sqlite_store.scores.load_frame(run.run_id, "judge@1")
    assert frame.shape == (25 * n, 13)
    assert frame.group_by("metric").agg(pl.len())["len"].to_list() == [n] * 25
