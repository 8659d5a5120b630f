"""What an index costs: threads that ask at once, memory while it is built, and the table that shows both."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragauge as rg
from ragauge.core.errors import UsageError
from ragauge.studies.ann.index import AnnIndex, make_index
from ragauge.studies.ann.index_benchmark import BuiltIndex, Concurrency, check_threads, measure_resident_bytes
from ragauge.studies.figures import StudyTable

RNG = np.random.default_rng(0)
VECTORS = RNG.standard_normal((3_000, 16), dtype=np.float32)
QUERIES = RNG.standard_normal((20, 16), dtype=np.float32)
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")


class Sleeping(AnnIndex):
    """Waits without holding the GIL, as a library in C may; writes down who asked what."""

    def __init__(self, wait: float = 0.004) -> None:
        self.asked: list[tuple[int, bytes]] = []
        self.searching: set[int] = set()
        self.most: set[int] = set()  # how many were in a search at once
        self._wait = wait

    def search(self, query: Any, k: int, passing: Any = None) -> Any:
        self.asked.append((threading.get_ident(), query.tobytes()))
        self.searching.add(threading.get_ident())
        self.most.add(len(self.searching))
        time.sleep(self._wait)
        self.searching.discard(threading.get_ident())
        return np.arange(k)


def test_threads_ask_at_once_and_each_all_queries() -> None:
    """Where no lock is in the way, four threads ask four times as much at once, and their times are not added up."""
    index, together = Sleeping(), Concurrency(QUERIES, 10, (2, 4))
    began = time.perf_counter()
    try:
        first, second = together.seconds(index), together.seconds(index)
    finally:
        together.close()
    took = time.perf_counter() - began
    for count in (2, 4):
        assert len(QUERIES) * 0.004 <= min(first[count], second[count])
    assert max(index.most) == 4
    assert sum((*first.values(), *second.values())) < took
    threads = {who for who, _ in index.asked}
    assert len(threads) <= 4 + 1  # and this one: those of the pool stay
    for query in QUERIES:
        asked = sum(one == query.tobytes() for _, one in index.asked)
        assert asked >= 2 * (2 + 4)


def test_an_error_in_a_thread_is_told_and_nobody_waits_for_it() -> None:
    """The error of a search comes out, not that of the threads that were waiting."""

    class Failing(Sleeping):
        def search(self, query: Any, k: int, passing: Any = None) -> Any:
            if threading.current_thread() is not threading.main_thread() and query is QUERIES[0]:
                raise AssertionError
            if threading.current_thread() is not threading.main_thread() and (query == QUERIES[10]).all():
                raise ValueError("one connection too many")
            return super().search(query, k)

    together = Concurrency(QUERIES, 10, (2,))
    try:
        with pytest.raises(ValueError, match="one connection too many"):
            together.seconds(Failing(0.0))
    finally:
        together.close()


class ComparedIndex(AnnIndex):
    """An index that notes each query for which another finds other ids than it did alone."""

    def __init__(self, index: AnnIndex, mask: Any, alone: dict[bytes, list[int]]) -> None:
        self.index, self.mask, self.alone = index, mask, alone
        self.wrong: list[bytes] = []

    def search(self, query: Any, k: int, passing: Any = None) -> Any:
        found = self.index.search(query, k, self.mask)
        if list(found) != self.alone[query.tobytes()]:
            self.wrong.append(query.tobytes())
        return found


@pytest.mark.parametrize("library", ["faiss-hnsw", "faiss-ivf", "hnswlib", "usearch"])
def test_libraries_find_the_same_from_several_threads(library: str) -> None:
    """What a thread finds while three others ask is what is found alone, inside a filter too."""
    if library == "hnswlib":
        pytest.importorskip("hnswlib", reason="compiled where it is installed: pip install hnswlib")
    index = make_index(library)
    index.build(VECTORS, "l2")
    index.set_search_params(**{key: index.defaults[key] for key in index.searched})
    masks = [None, np.arange(len(VECTORS)) % 3 == 0] if index.filters else [None]
    for mask in masks:
        alone = {query.tobytes(): list(index.search(query, 10, mask)) for query in QUERIES}
        compared = ComparedIndex(index, mask, alone)
        together = Concurrency(np.tile(QUERIES, (10, 1)), 10, (4,))
        together.seconds(compared)
        together.close()
        assert not compared.wrong


@LINUX
def test_memory_is_what_the_process_grew_by() -> None:
    """Of a flat index of 20 MB about 20 MB, whatever was allocated and freed on the way; a server's is not told."""
    script = (
        "import numpy as np\n"
        "from ragauge.studies.ann.index import AnnIndex\n"
        "from ragauge.studies.ann.index_benchmark import BuiltIndex\n"
        "class Copied(AnnIndex):\n"
        "    def build(self, vectors, metric):\n"
        "        waste = np.concatenate([vectors, vectors])\n"
        "        small = [bytes(500) for _ in range(60_000)]\n"
        "        self.kept = vectors.copy()\n"
        "class Served(Copied):\n"
        "    in_process = False\n"
        "vectors = np.ones((50_000, 100), dtype=np.float32)\n"
        "print(BuiltIndex.of(Copied(), vectors, 'l2').memory, BuiltIndex.of(Served(), vectors, 'l2').memory)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
        text=True,
    )
    memory, served = done.stdout.split()
    assert 20e6 <= int(memory) < 23e6
    assert served == "None"


def test_memory_is_undefined_where_it_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /proc, or where the process shrank, there is no number and no error."""
    shrinking = iter([9_000, 8_000])
    with monkeypatch.context() as patch:
        patch.setattr("ragauge.studies.ann.index_benchmark.measure_resident_bytes", lambda: next(shrinking))
        assert BuiltIndex.of(make_index("null"), VECTORS, "l2").memory is None
    monkeypatch.setattr("ragauge.studies.ann.index_benchmark.Path", lambda _: Path("no") / "such" / "file")
    assert measure_resident_bytes() is None
    assert BuiltIndex.of(make_index("null"), VECTORS, "l2").memory is None


def test_speed_and_memory_are_shown_and_threads_are_a_setting_of_the_study(tmp_path: Path) -> None:
    """p95 and p99 with intervals, queries a second by threads, memory, overhead and imbalance stand in one table."""
    store, specs = f"sqlite:///{tmp_path / 'store.db'}", ["faiss-ivf:nlist=9:nprobe=2", "usearch:M=8"]
    many = np.tile(QUERIES, (10, 1))
    found = rg.ann(VECTORS, specs, queries=many, store=store, rounds=5, threads="1,2", name="t")
    lists, graph = found.study.trials
    for name in ("queries_per_second", "queries_per_second_at_2", "latency_p99_ms", "null_overhead_ms"):
        assert (lists.find_measurement_value(name) or 0) > 0
    assert next(one.n for one in lists.measurements if one.name == "queries_per_second_at_2") == 2 * 200 * 5
    (table,) = (one for one in found.figures.contents if isinstance(one, StudyTable))
    assert table.heading == "Speed and memory"
    assert table.columns[:4] == ("trial", "p95 ms", "p99 ms", "queries/s, 1, 2 threads")
    assert table.columns[-2:] == ("null ms", "imbalance")
    cells = dict(zip(table.columns, table.rows[0], strict=True))
    for head, name in (("p95 ms", "latency_p95_ms"), ("p99 ms", "latency_p99_ms")):
        one = next(one for one in lists.measurements if one.name == name)
        value, low, high = (float(part.strip("[],")) for part in cells[head].split())
        assert (value, low, high) == pytest.approx((one.value, one.low, one.high), rel=0.006)
    rates = [float(part) for part in cells["queries/s, 1, 2 threads"].split(" / ")]
    told = [lists.find_measurement_value("queries_per_second"), lists.find_measurement_value("queries_per_second_at_2")]
    assert rates == pytest.approx(told, rel=0.006)
    assert float(cells["imbalance"]) == pytest.approx(lists.find_measurement_value("list_imbalance"), rel=0.006)
    assert table.rows[1][-1] == "–"
    assert graph.find_measurement_value("list_imbalance") is None
    for shown in (found.to_markdown(), found.to_terminal(), found.to_html()):
        assert "Speed and memory" in str(shown)
    with pytest.raises(UsageError, match=r"threads was \[2\], now None"):
        rg.ann(VECTORS, specs, queries=many, store=store, rounds=5, name="t")


def test_wrong_numbers_of_threads_are_told() -> None:
    """One thread is always measured; none, or thousands, are an error."""
    assert check_threads([4, 1, 2, 4]) == (2, 4)
    for wrong in (0, 257):
        with pytest.raises(UsageError, match=f"from 1 to 256, got {wrong}"):
            check_threads([wrong])
    with pytest.raises(UsageError, match="--threads: expected whole numbers"):
        rg.ann(VECTORS, "null", queries=QUERIES, threads="many")
