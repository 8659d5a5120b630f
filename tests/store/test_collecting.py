"""The contract of runs whose responses arrive one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragauge.core.errors import DataError, UnknownName
from ragauge.core.example import EvalSet, Example
from ragauge.core.response import Passage, Response, Run
from ragauge.metrics.base import MetricResult
from ragauge.store.scores import Column
from ragauge.store.store_access import Store, open_store

SET = EvalSet("golden", tuple(Example(f"q{i}", f"question {i}", references=("r",)) for i in range(6)))
RUN = Run("", "k=8", system="my_app:answer", config={"k": 8}, git="abc")


def arrived(i: int, repeat: int = 0, answer: str = "an answer", error: str | None = None) -> tuple[Example, Response]:
    passages = (Passage(f"p{i}", f"d{i}", f"text {i}"), Passage("p", "d", "shared text"))
    response = Response(f"q{i}", repeat, passages, answer=answer, latency_ms={"total": 2.0})
    if error is not None:
        response = Response(f"q{i}", repeat, error=error)
    return SET.examples[i], response


class CollectingContract:
    """What every store of runs under way does. A back end supplies `store`."""

    def test_begun_run_is_there_with_its_set(self, store: Store) -> None:
        """A run that begins is running, has no response yet, and its set can be had before any comes."""
        run = store.collecting.begin_run(replace(RUN, planned=6), SET)
        assert (run.state, run.planned, run.done, run.name, run.config) == ("running", 6, 0, "k=8", {"k": 8})
        assert store.runs.find(run.run_id) == store.runs.find("k=8") == run
        assert store.sets.get("golden") == SET
        assert run.set_version == SET.version
        assert store.collecting.list_response_keys(run.run_id) == set()

    def test_added_responses_survive_reopening(self, store: Store) -> None:
        """What add has returned from is read back by another opening of the store, texts once, done counted."""
        run = store.collecting.begin_run(replace(RUN, planned=6), SET)
        assert store.collecting.add(run.run_id, [arrived(2), arrived(0)]) == 2
        assert store.collecting.add(run.run_id, [arrived(0, repeat=1)]) == 1
        with open_store(store.url) as again:
            assert again.collecting.list_response_keys(run.run_id) == {("q2", 0), ("q0", 0), ("q0", 1)}
            assert again.runs.find(run.run_id).done == 3
            assert list(again.runs.pairs(run.run_id)) == [arrived(2), arrived(0), arrived(0, repeat=1)]
        assert store.texts.count() == 3  # two of their own, one shared

    def test_first_response_wins(self, store: Store) -> None:
        """A second response under one query_id and repeat is left out, asked again or not."""
        run = store.collecting.begin_run(RUN, SET)
        store.collecting.add(run.run_id, [arrived(0)])
        for again in (False, True):
            late = [arrived(0, answer="other"), arrived(1)]
            assert store.collecting.add(run.run_id, late, again=again) == (not again)
        assert [response.answer for _, response in store.runs.pairs(run.run_id)] == ["an answer", "an answer"]
        assert store.runs.find(run.run_id).done == 2

    def test_failure_gives_way_only_when_asked_again(self, store: Store) -> None:
        """A failure is listed with its error; with again what came later replaces it and its scores go."""
        run = store.collecting.begin_run(RUN, SET)
        store.collecting.add(run.run_id, [arrived(0, error="timeout: no answer"), arrived(1)])
        assert store.collecting.failed(run.run_id) == {("q0", 0): "timeout: no answer"}
        number = store.runs.load_order(run.run_id).numbers[0]
        store.scores.write(run.run_id, [Column("recall@5", 1)], [(number, [MetricResult("failed", None)])])
        assert store.collecting.add(run.run_id, [arrived(0)]) == 0
        assert store.collecting.add(run.run_id, [arrived(0)], again=True) == 1
        assert store.collecting.failed(run.run_id) == {}
        assert store.scores.find_complete(run.run_id, [Column("recall@5", 1)]) == set()
        assert store.runs.find(run.run_id).done == 2

    def test_finished_run_is_in_the_order_of_its_set(self, store: Store) -> None:
        """However responses came, a finished run has them in the set's order, repeats together."""
        run = store.collecting.begin_run(replace(RUN, planned=6), SET)
        for i, repeat in ((4, 1), (0, 0), (5, 0), (4, 0), (2, 0)):
            store.collecting.add(run.run_id, [arrived(i, repeat)])
        other = store.collecting.begin_run(replace(RUN, name="other"), SET)
        store.collecting.add(other.run_id, [arrived(3)])
        store.collecting.finish_run(run.run_id)
        found = [(example.query_id, response.repeat) for example, response in store.runs.pairs(run.run_id)]
        assert found == [("q0", 0), ("q2", 0), ("q4", 0), ("q4", 1), ("q5", 0)]
        assert list(store.runs.pairs(other.run_id)) == [arrived(3)]
        assert store.runs.find(run.run_id).state == "finished"

    def test_evaluated_run_keeps_its_numbers(self, store: Store) -> None:
        """Scores name responses by number, so that finishing an evaluated run moves none."""
        run = store.collecting.begin_run(RUN, SET)
        store.collecting.add(run.run_id, [arrived(3), arrived(1)])
        numbers = list(store.runs.load_order(run.run_id).numbers)
        store.scores.write(run.run_id, [Column("recall@5", 1)], [(numbers[0], [MetricResult("scored", 1.0)])])
        store.collecting.finish_run(run.run_id)
        assert list(store.runs.load_order(run.run_id).numbers) == numbers

    def test_newest_alike(self, store: Store) -> None:
        """The newest run of the same set, system, configuration and variant is found, unfinished or any."""
        first = store.collecting.begin_run(RUN, SET)
        second = store.collecting.begin_run(replace(RUN, name="another name"), SET)
        store.collecting.mark_state(second.run_id, "interrupted", planned=9)
        like = replace(RUN, set_version=SET.version)
        found = store.collecting.newest(like, unfinished=True)
        assert found is not None
        assert (found.run_id, found.state, found.planned) == (second.run_id, "interrupted", 9)
        store.collecting.finish_run(second.run_id)
        assert store.collecting.newest(like, unfinished=True) == store.runs.find(first.run_id)
        store.collecting.finish_run(first.run_id)
        assert store.collecting.newest(like, unfinished=True) is None
        found = store.collecting.newest(like, unfinished=False)
        assert found is not None
        assert found.run_id == second.run_id
        for other in (
            replace(like, config={"k": 9}),
            replace(like, system="other"),
            replace(like, variant="oracle"),
            replace(like, set_version="0"),
        ):
            assert store.collecting.newest(other, unfinished=False) is None

    def test_bad_response_leaves_nothing(self, store: Store) -> None:
        """A number that is not finite, or a run that is gone, is an error, and nothing of the batch is kept."""
        run = store.collecting.begin_run(RUN, SET)
        bad = replace(arrived(1)[1], cost=float("nan"))
        with pytest.raises(DataError, match="query 'q1'"):
            store.collecting.add(run.run_id, [arrived(0), (SET.examples[1], bad)])
        assert store.collecting.list_response_keys(run.run_id) == set()
        store.runs.delete(run.run_id)
        assert store.sets.list() == []
        with pytest.raises(UnknownName):
            store.collecting.add(run.run_id, [arrived(0)])

    def test_what_users_say_costs_no_score(self, store: Store) -> None:
        """A response that differs in its outcome alone stays with its scores; one that differs in more loses them."""
        run = store.collecting.begin_run(RUN, SET)
        store.collecting.add(run.run_id, [arrived(0), arrived(1)])
        numbers = list(store.runs.load_order(run.run_id).numbers)
        column = Column("faithfulness", 1, None)
        store.scores.write(run.run_id, (column,), [(number, (MetricResult("scored", 0.5),)) for number in numbers])
        down = {"thumbs": "down"}
        told = [(example, replace(one, outcome=down)) for example, one in (arrived(0), arrived(1, answer="x"))]
        assert store.collecting.replace_responses(run.run_id, told, ["q0", "q1"]) == 1
        assert list(store.runs.pairs(run.run_id)) == told
        assert list(store.runs.load_order(run.run_id).numbers) == numbers
        assert store.scores.find_complete(run.run_id, (column,)) == {numbers[0]}
        assert store.runs.find(run.run_id).done == 2

    def test_no_number_of_a_response_comes_again(self, store: Store) -> None:
        """Who goes on behind a number misses none: not where the run of the last ones, or the last one itself, went."""

        def came(run_id: str, *names: str) -> list[int]:
            store.collecting.open_traffic(Run(run_id, run_id, kind="traffic"))
            store.collecting.add(run_id, [(Example(name, f"{name}?"), Response(name, answer="a")) for name in names])
            return sorted(store.runs.load_order(run_id).numbers)

        cursor = came("monday", "a", "b", "c")[-1]
        store.runs.delete("monday")
        with open_store(store.url) as again:
            again.collecting.open_traffic(Run("tuesday", "tuesday", kind="traffic"))
        tuesday = came("tuesday", "d", "e")
        assert tuesday[0] > cursor
        cursor = tuesday[-1]
        store.collecting.replace_responses("tuesday", [], ["e"])
        assert came("wednesday", "f")[0] > cursor
        imported = store.runs.import_run(Run("", "file"), [(Example("g", "g?"), Response("g", answer="a"))])
        assert store.runs.load_order(imported.run_id).numbers[0] > cursor + 1


class TestSqlite(CollectingContract):
    """On SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        """An empty store."""
        return sqlite_store
