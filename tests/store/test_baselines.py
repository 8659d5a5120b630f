"""The contracts of baselines and of notes about runs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.metrics.base import MetricResult
from ragauge.store.run_log import Note, Pointer
from ragauge.store.scores import Column
from ragauge.store.store_access import Store, open_store

SRC = str(Path(__file__).resolve().parents[2] / "src")
SET_MANY = """
import sys, time
from pathlib import Path
from ragauge.store.run_log import Pointer
from ragauge.store.store_access import open_store
url, gate, run_id, who = sys.argv[1:]
while not Path(gate).exists():
    time.sleep(0.001)
with open_store(url) as store:
    for n in range(20):
        store.baselines.set(Pointer("main", run_id, who=who, note=str(n)))
"""


def with_run(store: Store, name: str = "r") -> str:
    """A run of one response."""
    return store.runs.import_run(Run("", name, config={"name": name}), [(Example("q", "?"), Response("q"))]).run_id


class BaselinesContract:
    """What every store of baselines does. A back end supplies `store`."""

    def test_pointer_moves_and_its_history_stays(self, store: Store) -> None:
        """A name means the run that was set last; what it meant before is read back, the newest first."""
        first, second = with_run(store, "first"), with_run(store, "second")
        odd = Pointer("main", first, "first", who="Ann \ud800", git="abc", branch="main", tag="v1", note="n\x00")
        stored = store.baselines.set(odd)
        assert stored.at
        assert stored == replace(odd, at=stored.at)
        assert store.baselines.get("main") == stored
        moved = store.baselines.set(Pointer("main", second))
        assert store.baselines.get("main") == moved
        assert store.baselines.history("main") == [moved, stored]
        assert store.baselines.list() == [moved]

    def test_names_are_apart(self, store: Store) -> None:
        """Two names point to their own runs and have their own histories; the list is by name."""
        first, second = with_run(store, "first"), with_run(store, "second")
        main = store.baselines.set(Pointer("main", first))
        release = store.baselines.set(Pointer("a release", second))
        assert store.baselines.list() == [release, main]
        assert store.baselines.history("main") == [main]
        assert store.baselines.history() == [release, main]
        assert store.baselines.get("Main") is None

    def test_removed_name(self, store: Store) -> None:
        """A removed name means nothing, its history says so, and it may be set again."""
        run_id = with_run(store)
        kept = store.baselines.set(Pointer("main", run_id))
        assert store.baselines.remove("main", "Ann", "done") == kept
        assert store.baselines.get("main") is None
        assert store.baselines.list() == []
        gone, before = store.baselines.history("main")
        assert (gone.run_id, gone.who, gone.note) == ("", "Ann", "done")
        assert before == kept
        with pytest.raises(UnknownName, match="no baseline 'main'"):
            store.baselines.remove("main")
        again = store.baselines.set(Pointer("main", run_id))
        assert store.baselines.get("main") == again

    def test_only_a_stored_run(self, store: Store) -> None:
        """A name cannot be set to a run that is not there, and nothing is written then."""
        with pytest.raises(UnknownName, match="no run 'nobody'"):
            store.baselines.set(Pointer("main", "nobody"))
        assert store.baselines.history() == []

    def test_a_baseline_is_not_deleted(self, store: Store) -> None:
        """Deleting a run is refused while a name means it, with the way out; then it goes and the history stays."""
        run_id, other = with_run(store), with_run(store, "other")
        store.baselines.set(Pointer("main", run_id, "r"))
        store.baselines.set(Pointer("release", run_id, "r"))
        with pytest.raises(UsageError, match=r"is the baseline main, release .* ragauge baseline remove main"):
            store.runs.delete(run_id)
        assert store.runs.find(run_id).run_id == run_id
        store.baselines.set(Pointer("main", other))
        store.baselines.remove("release")
        store.runs.delete(run_id)
        assert [line.run_name for line in store.baselines.history("main")] == ["", "r"]

    def test_two_processes_set_one_name(self, store: Store, tmp_path: Path) -> None:
        """Two processes set a name 20 times each at once: 40 lines are kept, and it means the run of the last line."""
        runs = {who: with_run(store, who) for who in ("ann", "bob")}
        gate = tmp_path / "go"
        words = [[sys.executable, "-c", SET_MANY, store.url, str(gate), run_id, who] for who, run_id in runs.items()]
        started = [subprocess.Popen(one, env={"PYTHONPATH": SRC}) for one in words]
        gate.touch()
        assert [one.wait(60) for one in started] == [0, 0]
        lines = store.baselines.history("main")
        for who in runs:
            assert [int(line.note) for line in lines if line.who == who] == list(range(19, -1, -1))
        assert len(lines) == 40
        assert all(line.run_id == runs[line.who] for line in lines)
        assert store.baselines.get("main") == lines[0]


class RunLogContract:
    """What every store of notes about runs does. A back end supplies `store`."""

    def test_note_survives(self, store: Store) -> None:
        """The last note of a run is read back, another run's is its own, and an empty one removes it."""
        run_id, other = with_run(store), with_run(store, "other")
        assert store.run_log.notes() == {}
        store.run_log.note(run_id, Note("first"))
        stored = store.run_log.note(run_id, Note("smaller chunks \ud800\n| x", who="Ann"))
        mine = store.run_log.note(other, Note("other"))
        assert stored.at
        assert store.run_log.notes() == {run_id: stored, other: mine}
        store.run_log.note(other, Note(""))
        assert store.run_log.notes() == {run_id: stored}
        with pytest.raises(UnknownName):
            store.run_log.note("nobody", Note("x"))

    def test_note_goes_with_its_run(self, store: Store) -> None:
        """Deleting a run deletes its note."""
        run_id = with_run(store)
        store.run_log.note(run_id, Note("first"))
        store.runs.delete(run_id)
        assert store.run_log.notes() == {}

    def test_when_it_was_judged(self, store: Store) -> None:
        """The time of scoring is known for each judge and for nobody, and is empty where there was none."""
        run_id = with_run(store)
        (number,) = store.runs.load_order(run_id).numbers
        assert store.run_log.find_judged_at(run_id, "j") == ""
        store.scores.write(run_id, [Column("m", 1, "j")], [(number, [MetricResult("scored", 1.0)])])
        store.scores.write(run_id, [Column("n", 1)], [(number, [MetricResult("scored", 1.0)])])
        assert store.run_log.find_judged_at(run_id, "j").startswith("20")
        assert store.run_log.find_judged_at(run_id, None) >= store.run_log.find_judged_at(run_id, "j")
        assert store.run_log.find_judged_at(run_id, "other") == ""


class TestSqliteBaselines(BaselinesContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store

    def test_reopened(self, store: Store) -> None:
        """Baselines are there when the store is opened again."""
        kept = store.baselines.set(Pointer("main", with_run(store)))
        with open_store(store.url) as again:
            assert again.baselines.get("main") == kept


class TestSqliteRunLog(RunLogContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store
