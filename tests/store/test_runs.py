"""The contract of runs and their responses."""

from __future__ import annotations

import sqlite3
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragauge.core.codec import encode_json
from ragauge.core.errors import DataError, StoreError, UnknownName, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.response import Passage, Response, Run
from ragauge.metrics.base import MetricResult
from ragauge.store.scores import Column
from ragauge.store.spool import Record
from ragauge.store.store_access import Store, open_store

RUN = Run("", "k=8", system="my_app:answer", config={"k": 8, "model": "m"}, git="abc dirty")


def record(i: int, answer: str = "an answer") -> tuple[Example, Response]:
    segments = {"type": "multi_hop" if i % 2 else "single", **({"tenant": "acme"} if i == 1 else {})}
    example = Example(f"q{i}", f"question {i}", references=("r",), segments=segments, cluster=f"c{i % 3}")
    passages = tuple(Passage(f"p{j}", f"d{j}", f"text of passage {i + j}", score=1 / (j + 1)) for j in range(3))
    response = Response(f"q{i}", passages=passages, answer=answer, latency_ms={"total": 3.5}, weight=2.0)
    return example, replace(response, candidates=(*passages, Passage("p9", "d9"), Passage("px", "dx", "only here")))


def records(n: int, answer: str = "an answer") -> list[Record]:
    return [record(i, answer) for i in range(n)]


class RunsContract:
    """What every store of runs does. A back end supplies `store`."""

    def test_run_survives(self, store: Store) -> None:
        """A run is read back equal in everything it was given, and its pairs in order."""
        run = store.runs.import_run(RUN, iter(records(7)), batch=3)
        bare = replace(run, run_id="", set_name="", set_version="", planned=0, done=0, heartbeat="")
        assert replace(bare, created_at="") == RUN
        assert (run.planned, run.done, run.state, run.set_name) == (7, 7, "finished", "k=8")
        assert list(store.runs.pairs(run.run_id, batch=2)) == records(7)
        assert store.runs.count_responses(run.run_id) == 7
        assert store.runs.response(run.run_id, "q3") == record(3)

    def test_set_is_kept_beside_the_run(self, store: Store) -> None:
        """The examples become an eval set of the version that EvalSet computes, repeats counted once."""
        example, response = record(0)
        pairs = [(example, response), (example, replace(response, repeat=1)), record(1)]
        run = store.runs.import_run(replace(RUN, set_name="golden"), pairs)
        expected = EvalSet("golden", (example, record(1)[0]))
        assert run.set_version == expected.version
        assert store.sets.get("golden") == expected

    def test_run_over_part_of_a_set_makes_no_set(self, store: Store) -> None:
        """A run that says it belongs to a set version but holds other examples does not redefine that version."""
        store.runs.import_run(replace(RUN, set_name="golden", set_version="0123"), records(2))
        assert store.sets.list() == []

    def test_same_content_is_the_same_run(self, store: Store) -> None:
        """Importing the same again, in any order and under any name, gives the run that is there."""
        run = store.runs.import_run(RUN, records(5))
        again = store.runs.import_run(replace(RUN, name="other"), records(5)[::-1])
        assert again.run_id == run.run_id
        assert store.runs.find("other").run_id == store.runs.find("k=8").run_id == run.run_id
        assert len(store.runs.list()) == 1

    @pytest.mark.parametrize(
        ("run", "answer"),
        [
            (RUN, "another answer"),
            (replace(RUN, config={"k": 9}), "an answer"),
            (replace(RUN, system="other"), "an answer"),
            (replace(RUN, variant="oracle"), "an answer"),
        ],
    )
    def test_other_content_is_another_run(self, store: Store, run: Run, answer: str) -> None:
        """Another answer, configuration, system or variant is another run, though the name is the same."""
        first = store.runs.import_run(RUN, records(5))
        second = store.runs.import_run(run, records(5, answer))
        assert first.run_id != second.run_id
        assert store.runs.find("k=8").run_id == second.run_id

    def test_swapped_passage_texts_are_other_content(self, store: Store) -> None:
        """Texts count where they stand: two responses with each other's texts are not the same run."""
        a, b = record(0), record(1)
        swapped = [(a[0], replace(a[1], passages=b[1].passages)), (b[0], replace(b[1], passages=a[1].passages))]
        first = store.runs.import_run(RUN, [a, b])
        assert store.runs.import_run(RUN, swapped).run_id != first.run_id

    def test_nothing_is_left_of_a_source_that_fails(self, store: Store) -> None:
        """An exception in the source leaves the store as it was: no run, no text, no set."""

        def failing() -> Iterator[Record]:
            yield from records(700)
            raise OSError("the disk is gone")

        with pytest.raises(OSError, match="the disk is gone"):
            store.runs.import_run(RUN, failing(), batch=100)
        assert (store.runs.list(), store.sets.list(), store.texts.count()) == ([], [], 0)

    def test_duplicate_is_named_and_nothing_is_left(self, store: Store) -> None:
        """A query_id and repeat that stand twice are named with both places, and nothing is stored."""
        with pytest.raises(DataError, match="'q3', repeat 0 appears twice: records 4 and 701"):
            store.runs.import_run(RUN, [*records(700), record(3, "other")], batch=100)
        assert (store.runs.list(), store.texts.count()) == ([], 0)

    def test_response_beside_another_example_is_refused(self, store: Store) -> None:
        """A response whose query_id is not its example's is an error that names both."""
        with pytest.raises(DataError, match="'q2' is paired with the example 'q1'"):
            store.runs.import_run(RUN, [(record(1)[0], record(2)[1])])

    def test_score_that_is_not_finite_is_refused_by_query(self, store: Store) -> None:
        """A number that JSON lacks is an error that names the query."""
        bad = Response("q1", passages=(Passage("p", "d", score=float("nan")),))
        with pytest.raises(DataError, match="query 'q1'"):
            store.runs.import_run(RUN, [(record(1)[0], bad)])

    def test_absent_response_is_an_empty_retrieval_and_counted(self, store: Store) -> None:
        """An example without a response in the run has an empty retrieval, no answer and the reason, and is counted."""
        run = store.runs.import_run(RUN, [record(0), (record(1)[0], None), (record(2)[0], None)])
        _, response = store.runs.response(run.run_id, "q1")
        assert (response.passages, response.answer) == ((), None)
        assert response.missing == {"answer": "no response in the run"}
        assert (store.runs.count_absent(run.run_id), store.runs.count_responses(run.run_id)) == (2, 3)

    def test_pending_response_is_left_out(self, store: Store) -> None:
        """Of a run that is not finished, an example without a response is pending: planned, not an empty retrieval."""
        run = store.runs.import_run(replace(RUN, state="interrupted"), [record(0), (record(1)[0], None)])
        assert (run.planned, run.done, run.state) == (2, 1, "interrupted")
        assert (store.runs.count_responses(run.run_id), store.runs.count_absent(run.run_id)) == (1, 0)

    def test_passage_that_is_its_example(self, store: Store) -> None:
        """A passage whose text is the example's own JSON, hash and all, is stored like any other."""
        example = Example("q", "?")
        response = Response("q", passages=(Passage("p", "d", encode_json(example)),))
        run = store.runs.import_run(RUN, [(example, response)])
        assert store.runs.response(run.run_id, "q") == (example, response)

    def test_configuration_that_is_no_json_is_refused(self, store: Store) -> None:
        """A configuration that cannot be written down is an error, before anything is stored."""
        with pytest.raises(DataError, match="cannot be written as JSON"):
            store.runs.import_run(replace(RUN, config={"model": object()}), records(1))
        assert store.runs.list() == []

    def test_an_absent_response_is_not_an_empty_one(self, store: Store) -> None:
        """A run that holds nothing for an example is not the run that holds the same empty retrieval for it."""
        empty = Response("q0", passages=(), missing={"answer": "no response in the run"})
        first = store.runs.import_run(RUN, [(record(0)[0], None)])
        second = store.runs.import_run(RUN, [(record(0)[0], empty)])
        assert first.run_id != second.run_id
        assert (store.runs.count_absent(first.run_id), store.runs.count_absent(second.run_id)) == (1, 0)

    def test_find(self, store: Store) -> None:
        """A run is found by id, by name (the newest) and as latest (the one that moved last)."""
        old = store.runs.import_run(RUN, records(1))
        new = store.runs.import_run(RUN, records(2))
        assert store.runs.find(old.run_id) == old
        assert store.runs.find("k=8") == store.runs.find("latest") == new
        assert [run.run_id for run in store.runs.list()] == [new.run_id, old.run_id]
        assert store.runs.list(limit=1) == [new]
        store.runs.import_run(RUN, records(1))
        assert store.runs.find("latest").run_id == old.run_id

    @pytest.mark.parametrize("sort", ["newest", "oldest", "name"])
    def test_pages_are_the_list(self, store: Store, sort: str) -> None:
        """Pages that each begin after the last run of the one before are the whole list, in every order."""
        for n, name in enumerate(("b", "a", "b", "c", "a"), 1):
            store.runs.import_run(replace(RUN, name=name), records(n))
        whole = [run.run_id for run in store.runs.list(sort=sort)]
        paged: list[str] = []
        while page := store.runs.list(2, after=paged[-1] if paged else "", sort=sort):
            paged += [run.run_id for run in page]
        assert paged == whole
        names = [store.runs.find(run_id).name for run_id in whole]
        assert names == {"newest": [*"acbab"], "oldest": [*"babca"], "name": [*"aabbc"]}[sort]

    def test_a_run_that_is_added_shifts_no_page(self, store: Store) -> None:
        """A page after a run is the same whether or not newer runs came meanwhile."""
        old, middle, _ = (store.runs.import_run(RUN, records(n)) for n in (1, 2, 3))
        assert store.runs.list(1, after=middle.run_id) == [old]
        store.runs.import_run(RUN, records(4))
        assert store.runs.list(1, after=middle.run_id) == [old]

    def test_list_is_filtered(self, store: Store) -> None:
        """Only runs with the values named are listed, and paged; what cannot be sorted or filtered by is refused."""
        one, _, three = (
            store.runs.import_run(replace(RUN, system=system), records(n)) for n, system in enumerate("aba", 1)
        )
        assert store.runs.list(filter={"system": "a"}) == [three, one]
        assert store.runs.list(1, after=three.run_id, filter={"system": "a"}) == [one]
        assert store.runs.list(filter={"system": "a", "name": "none"}) == []
        with pytest.raises(UnknownName, match="nearest: system"):
            store.runs.list(filter={"sytem": "a"})
        with pytest.raises(UnknownName, match="nearest: newest"):
            store.runs.list(sort="newst")
        with pytest.raises(UnknownName, match="no run 'nothing'"):
            store.runs.list(after="nothing")
        with pytest.raises(UsageError, match="limit must be at least 1, got 0"):
            store.runs.list(0)

    def test_latest_is_a_systems_own_run(self, store: Store) -> None:
        """Experiments that confirm a run's causes are not the latest run, unless there is nothing else."""
        own = store.runs.import_run(RUN, records(2))
        tried = store.runs.import_run(replace(RUN, name="k=8-confirm", config={"confirms": own.run_id}), records(1))
        assert (tried.confirms, own.confirms) == (own.run_id, "")
        assert tried.heartbeat >= own.heartbeat
        assert store.runs.find("latest") == own
        assert store.runs.find("k=8-confirm") == tried
        store.runs.delete(own.run_id)
        assert store.runs.find("latest") == tried

    def test_unknown_run_names_the_nearest(self, store: Store) -> None:
        """A run that is not there is an error with the nearest names, for every verb that takes one."""
        store.runs.import_run(replace(RUN, name="baseline"), records(1))
        for ask in (
            store.runs.find,
            store.runs.delete,
            store.runs.count_responses,
            store.runs.load_order,
            store.runs.segments,
        ):
            with pytest.raises(UnknownName, match="no run 'basline'; nearest: baseline"):
                ask("basline")
        with pytest.raises(UnknownName, match="nearest: latest"):
            store.runs.find("lastest")

    def test_latest_of_an_empty_store_is_unknown(self, store: Store) -> None:
        """An empty store has no latest run, and says so instead of returning nothing."""
        with pytest.raises(UnknownName, match="no run 'latest'"):
            store.runs.find("latest")

    def test_unknown_query_names_the_nearest(self, store: Store) -> None:
        """A query_id or repeat that the run does not hold is an error with the nearest."""
        run = store.runs.import_run(RUN, [(Example("alpha", "?"), None), (Example("beta", "?"), None)])
        with pytest.raises(UnknownName, match="nearest: alpha"):
            store.runs.response(run.run_id, "alpah")
        with pytest.raises(UnknownName, match=r"alpha \(repeat 1\)"):
            store.runs.response(run.run_id, "alpha", 1)

    def test_run_id_of_other_content_is_refused(self, store: Store) -> None:
        """A run id given by hand is kept, and refused for other content."""
        assert store.runs.import_run(replace(RUN, run_id="mine"), records(1)).run_id == "mine"
        with pytest.raises(UsageError, match="'mine' belongs to a run with other content"):
            store.runs.import_run(replace(RUN, run_id="mine"), records(2))

    def test_segments_and_clusters(self, store: Store) -> None:
        """Segments are a column each, null where an example has none; one row a query_id, repeats or not."""
        example, response = record(0)
        pairs = [(example, response), (example, replace(response, repeat=1)), record(1)]
        run = store.runs.import_run(RUN, [*pairs, (Example("bare", "?"), None)])
        assert store.runs.segments(run.run_id).to_dict(as_series=False) == {
            "query_id": ["q0", "q1", "bare"],
            "type": ["single", "multi_hop", None],
            "tenant": [None, "acme", None],
        }
        assert store.runs.clusters(run.run_id).to_dict(as_series=False) == {
            "query_id": ["q0", "q1", "bare"],
            "cluster": ["c0", "c1", None],
        }

    def test_no_segments_is_a_frame_of_ids(self, store: Store) -> None:
        """A run without segments has the ids alone."""
        run = store.runs.import_run(RUN, [(Example("a", "?"), None)])
        assert store.runs.segments(run.run_id).to_dict(as_series=False) == {"query_id": ["a"]}

    def test_order_of_what_is_kept(self, store: Store) -> None:
        """Only responses that match every column are kept; unknown columns and values are errors, with the nearest."""
        tagged = replace(record(8)[0], tags=frozenset({"golden", "regression"}))
        run = store.runs.import_run(RUN, [*records(4), (tagged, None)])
        everything = [number for number, _ in store.runs.load_order(run.run_id)]
        assert everything == sorted(everything)
        single = store.runs.load_order(run.run_id, {"type": "single"})
        assert [item.example.query_id for item in store.runs.load([n for n, _ in single])] == ["q0", "q2", "q8"]
        assert len(store.runs.load_order(run.run_id, {"type": "single", "tag": "golden"})) == 1
        assert len(store.runs.load_order(run.run_id, {"tenant": "acme", "tag": "golden"})) == 0
        with pytest.raises(UnknownName, match="no segment 'tpye'; nearest: type"):
            store.runs.load_order(run.run_id, {"tpye": "single"})
        with pytest.raises(UnknownName, match="nearest: single"):
            store.runs.load_order(run.run_id, {"type": "singel"})
        with pytest.raises(UnknownName, match="no tag 'regresion'"):
            store.runs.load_order(run.run_id, {"tag": "regresion"})

    def test_equal_questions_have_equal_keys(self, store: Store) -> None:
        """Responses to one question carry one key, whatever the labels; to another question, another."""
        pairs: list[Record] = [
            (Example(name, query, references=(name,)), None)
            for name, query in (("a", "same"), ("b", "other"), ("c", "same"))
        ]
        run = store.runs.import_run(RUN, pairs)
        keys = [key for _, key in store.runs.load_order(run.run_id)]
        assert keys[0] == keys[2] != keys[1]

    def test_load_keeps_the_order_and_leaves_out_what_is_gone(self, store: Store) -> None:
        """Responses come back in the order of the numbers, without those that do not exist."""
        run = store.runs.import_run(RUN, records(5))
        numbers = [number for number, _ in store.runs.load_order(run.run_id)]
        loaded = store.runs.load([numbers[3], 10**9, numbers[0]])
        assert [item.example.query_id for item in loaded] == ["q3", "q0"]

    def test_passage_texts_are_shared_between_runs(self, store: Store) -> None:
        """A passage is stored once across all runs."""
        store.runs.import_run(RUN, records(50))
        count = store.texts.count()
        store.runs.import_run(replace(RUN, config={}), records(50))
        assert store.texts.count() == count == 53

    def test_delete_takes_what_only_this_run_used(self, store: Store) -> None:
        """Deleting a run takes its scores, and texts, examples and sets that no other run uses; the rest stays."""
        first = store.runs.import_run(replace(RUN, name="first"), records(10))
        second = store.runs.import_run(replace(RUN, name="second", config={}), records(4))
        store.sets.add(EvalSet("kept", (record(9)[0],)))
        numbers = [number for number, _ in store.runs.load_order(first.run_id)]
        store.scores.write(first.run_id, [Column("m", 1)], [(n, [MetricResult("failed", reason="r")]) for n in numbers])
        store.runs.delete(first.run_id)
        assert [run.run_id for run in store.runs.list()] == [second.run_id]
        assert store.texts.count() == 4 + 3
        assert list(store.runs.pairs(second.run_id)) == records(4)
        assert [info.name for info in store.sets.list()] == ["kept", "second"]
        assert store.sets.get("kept").examples == (record(9)[0],)
        store.runs.delete(second.run_id)
        assert store.texts.count() == 0
        again = store.runs.import_run(replace(RUN, name="first"), records(10))
        assert store.scores.load_frame(again.run_id, None).is_empty()

    @given(query_id=st.text(st.characters(), min_size=1), words=st.text(st.characters()))
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_any_text_survives(self, store: Store, query_id: str, words: str) -> None:
        """Any text in any place, NUL and lone surrogates too, is read back equal and found again by its id."""
        example = Example(query_id, words, references=(words,), segments={"s": words}, cluster=words)
        response = Response(query_id, passages=(Passage(words, words, words),), answer=words, error=words)
        run = store.runs.import_run(replace(RUN, name=words, system=words, config={"w": words}), [(example, response)])
        assert store.runs.response(run.run_id, query_id) == (example, response)
        assert store.runs.find(run.run_id).config == {"w": words}
        framed = store.runs.segments(run.run_id)["query_id"][0]
        assert store.runs.response(run.run_id, framed) == (example, response)

    def test_import_is_flat_in_memory(self, store: Store) -> None:
        """Importing 20 times as much takes hardly more memory: it is a stream."""

        def stream(n: int) -> Iterator[Record]:
            for i in range(n):
                passages = tuple(Passage(f"p{j}", f"d{j}", f"{i} {j} " + "word " * 400) for j in range(5))
                yield Example(f"q{i}", f"question {i}"), Response(f"q{i}", passages=passages, answer="a " * 500)

        def peak(n: int) -> int:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            store.runs.import_run(replace(RUN, config={"n": n}), stream(n), batch=100)
            return tracemalloc.get_traced_memory()[1] - before

        tracemalloc.start()
        try:
            peak(200)
            small, large = peak(200), peak(2_000)
        finally:
            tracemalloc.stop()
        assert large < small + 8_000_000  # 2,000 examples hold 22 MB of text


class TestSqliteRuns(RunsContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store


def test_run_survives_reopening(sqlite_url: str) -> None:
    """What was imported is there in the next process's store."""
    with open_store(sqlite_url) as store:
        run = store.runs.import_run(RUN, records(3))
    with open_store(sqlite_url) as store:
        assert store.runs.find("latest") == run
        assert list(store.runs.pairs(run.run_id)) == records(3)


def test_import_that_loses_the_database_leaves_nothing(sqlite_url: str, tmp_path: Path) -> None:
    """An error of the database in the middle of the import leaves no half-loaded run."""
    with open_store(sqlite_url) as store:
        raw = sqlite3.connect(tmp_path / "folder" / "store.db")
        raw.execute(
            "CREATE TRIGGER full BEFORE INSERT ON responses WHEN (SELECT count(*) FROM responses) >= 5 "
            "BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
        )
        raw.commit()
        raw.close()
        with pytest.raises(StoreError, match="database or disk is full"):
            store.runs.import_run(RUN, records(9), batch=2)
        assert (store.runs.list(), store.texts.count()) == ([], 0)
