"""One store used by several processes and threads at once (case 63)."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ragauge.core.example import Example
from ragauge.core.facts import CoverFacts, Evidence
from ragauge.core.identity import hash_json
from ragauge.core.response import Run
from ragauge.metrics.base import MetricResult
from ragauge.store.evidence import PackedEvidence
from ragauge.store.scores import Column
from ragauge.store.store_access import Store, open_store

SRC = str(Path(__file__).resolve().parents[2] / "src")
COLUMNS = [Column("recall@5", 1), Column("faithfulness", 1, "judge@1")]

WRITER = """
import os, sys, time
os.nice(10)                              # four processes that never rest leave room for others
from ragauge.core.example import Example
from ragauge.core.response import Run
from ragauge.metrics.base import MetricResult
from ragauge.store.scores import Column
from ragauge.store.store_access import open_store
url, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
until, n = time.monotonic() + seconds, 0
while n == 0 or time.monotonic() < until:      # a slow machine gets on once at least
    with open_store(url) as store:       # opened and closed again and again: also the last to close meets the others
        pairs = [(Example(f"q{i}", f"{name} {n} {i}?"), None) for i in range(20)]
        run = store.runs.import_run(Run("", f"{name}{n}"), pairs)
        columns = [Column("recall@5", 1), Column("faithfulness", 1, "judge@1")]
        for number, _ in store.runs.load_order(run.run_id):
            with store.transaction():
                results = [MetricResult("scored", 0.5, low=0.5, high=0.5)] * 2
                store.scores.write(run.run_id, columns, [(number, results)])
                store.causes.write(run.run_id, "judge@1", {number: None})
        if n % 3 == 2:
            store.runs.delete(run.run_id)
    n += 1
print(n)
"""

READER = """
import os, sys, time
os.nice(10)
from ragauge.core.errors import UnknownName
from ragauge.store.store_access import open_store
url, seconds = sys.argv[1], float(sys.argv[2])
until, n = time.monotonic() + seconds, 0
while n == 0 or time.monotonic() < until:
    with open_store(url) as store:
        for run in store.runs.list(limit=3):
            try:
                scores = store.scores.load_frame(run.run_id, "judge@1")
                assert store.runs.count_responses(run.run_id) == 20
                list(store.runs.pairs(run.run_id))
            except UnknownName:
                continue                     # deleted meanwhile
            # a transaction is seen whole: both scores of a response or none
            counts = scores.group_by("query_id").len()["len"].to_list()
            assert set(counts) <= {2}, counts
            n += 1
print(n)
"""


def share(url: str, seconds: float) -> None:
    """Two writers and two readers for so long; all end well, and all have got on."""
    commands = [[WRITER, url, "a", str(seconds)], [WRITER, url, "b", str(seconds)], *[[READER, url, str(seconds)]] * 2]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": SRC},
        )
        for command in commands
    ]
    ended = [(*process.communicate(timeout=seconds + 120), process.returncode) for process in processes]
    for out, errors, code in ended:
        assert code == 0, errors
        assert int(out) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [2, pytest.param(60, marks=pytest.mark.prove)])
def test_written_and_read_by_four_processes(sqlite_url: str, seconds: float) -> None:
    """Two processes write and two read one store all the time: nobody meets "database is locked"."""
    share(sqlite_url, seconds)


def with_run(store: Store, n: int) -> tuple[str, list[int]]:
    run = store.runs.import_run(Run("", "r"), [(Example(f"q{i}", f"{i}?"), None) for i in range(n)])
    return run.run_id, [number for number, _ in store.runs.load_order(run.run_id)]


def test_threads_of_one_process(sqlite_store: Store) -> None:
    """Threads write and read one store object at once; every write is there, and equal keys have one evidence."""
    run_id, numbers = with_run(sqlite_store, 80)
    errors: list[Exception] = []

    def work(mine: list[int]) -> None:
        try:
            for number in mine:
                found = Evidence(hash_json("same"), "cover_aspects", 1, "judge@1", "ok", CoverFacts((True,)))
                with sqlite_store.transaction():
                    sqlite_store.evidence.add([(number, PackedEvidence.of(found))])
                    sqlite_store.scores.write(run_id, COLUMNS, [(number, [MetricResult("scored", 1.0)] * 2)])
                sqlite_store.scores.load_frame(run_id, "judge@1")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(numbers[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sqlite_store.scores.find_complete(run_id, COLUMNS) == set(numbers)
    assert all(evidence for _, _, evidence in sqlite_store.evidence.iter_for_run(run_id, "judge@1"))


def test_reader_does_not_wait_for_a_writer(sqlite_url: str) -> None:
    """While a transaction is open, another connection reads the state before it, at once."""
    with open_store(sqlite_url) as store, open_store(sqlite_url) as other:
        run_id, numbers = with_run(store, 1)
        with store.transaction():
            store.scores.write(run_id, COLUMNS, [(numbers[0], [MetricResult("scored", 1.0)] * 2)])
            started = time.monotonic()
            assert other.scores.load_frame(run_id, "judge@1").is_empty()
            assert time.monotonic() - started < 50
        assert other.scores.load_frame(run_id, "judge@1").height == 2


def test_killed_in_the_middle_of_a_transaction(sqlite_url: str) -> None:
    """A process that is killed inside a transaction leaves what it had committed, and nothing of the rest."""
    code = """
import os, signal, sys
from ragauge.core.example import Example
from ragauge.core.response import Run
from ragauge.store.store_access import open_store
store = open_store(sys.argv[1])
store.runs.import_run(Run("", "kept"), [(Example("q", "?"), None)])
with store.transaction():
    store.runs.import_run(Run("", "lost"), [(Example(f"q{i}", "?"), None) for i in range(5000)])
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code, sqlite_url], env={"PYTHONPATH": SRC}, check=False)
    assert done.returncode == -9
    with open_store(sqlite_url) as store:
        assert [run.name for run in store.runs.list()] == ["kept"]
        with_run(store, 3)
