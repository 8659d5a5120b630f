"""What an index costs: latency of single queries, queries a second by threads, memory while it is built."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from time import perf_counter, perf_counter_ns
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.core.study import Measurement
from ragauge.studies.ann.exact import ExactSearch
from ragauge.studies.ann.index import AnnIndex
from ragauge.studies.ann.search_filters import ExactNeighbors, FilteredSearch

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.studies.ann.exact import VectorMetric, Vectors

    Times = npt.NDArray[np.float64]

N_RESAMPLES = 300
MIN_P99_TIMINGS = 1_000  # timings
N_EXACT_QUERIES = 100  # that exact search under a filter is timed with in each round
MAX_THREADS = 256


@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """An index that is built, and what that took."""

    index: AnnIndex  #: itself.
    seconds: float  #: to build it.
    memory: int | None  #: bytes by which this process grew; None where that cannot be told.

    @classmethod
    def of(cls, index: AnnIndex, vectors: Vectors, metric: VectorMetric, **parameters: Any) -> BuiltIndex:
        """Builds an index; one that cannot be built is closed."""
        bytes_before, started = measure_resident_bytes(), perf_counter()
        try:
            index.build(vectors, metric, **parameters)
        except BaseException:
            index.close()
            raise
        seconds, bytes_after = perf_counter() - started, measure_resident_bytes()
        is_known = (
            index.in_process and bytes_before is not None and bytes_after is not None and bytes_after > bytes_before
        )
        return cls(index, seconds, (bytes_after or 0) - (bytes_before or 0) if is_known else None)


def measure_resident_bytes() -> int | None:
    """Private memory of this process that is resident, once what is free is given back; None but on Linux."""
    try:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) * 1_024 for line in lines if line.startswith("RssAnon:"))
    except (OSError, AttributeError, StopIteration, TypeError):  # another system, or another C library
        return None


def check_threads(numbers: Sequence[int]) -> tuple[int, ...]:
    """Numbers of threads above 1, ascending, each once: one thread is what single queries are timed with.

    Raises:
        UsageError: a number below 1 or above 256.
    """
    if wrong := [number for number in numbers if not 1 <= number <= MAX_THREADS]:
        raise UsageError(f"ann: threads must be from 1 to {MAX_THREADS}, got {wrong[0]}.")
    return tuple(sorted({number for number in numbers if number > 1}))


class Concurrency:
    """Asks an index from several threads at once, each with all queries, beginning at another one.

    Args:
        queries: shape (q, d).
        k: how many neighbours.
        threads: numbers of threads, each above 1.
    """

    def __init__(self, queries: Vectors, k: int, threads: Sequence[int]) -> None:
        self.threads, self._queries, self._k = tuple(threads), queries, k
        self._pool = ThreadPoolExecutor(max((*threads, 1)))  # threads stay, and with them their connections

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown()

    def seconds(self, search: AnnIndex | FilteredSearch) -> dict[int, float]:
        """Number of threads -> seconds from the first of their queries to the end of the last."""
        return {count: self._time_threads(search, count) for count in self.threads}

    def _time_threads(self, search: AnnIndex | FilteredSearch, count: int) -> float:
        ready, queries, k = Barrier(count), self._queries, self._k
        search.search(queries[0], k)  # what a filter prepares once is there before threads meet

        def ask_queries(number: int) -> tuple[float, float]:
            first = number * len(queries) // count
            try:
                search.search(queries[first], k)  # what a thread prepares once, such as a connection
            except BaseException:
                ready.abort()
                raise
            ready.wait()
            started = perf_counter()
            for n in range(len(queries)):
                search.search(queries[(first + n) % len(queries)], k)
            return started, perf_counter()

        futures = [self._pool.submit(ask_queries, number) for number in range(count)]
        wait(futures)
        for future in sorted(futures, key=lambda future: isinstance(future.exception(), BrokenBarrierError)):
            future.result()  # the error of a search before those of the threads that waited for it
        spans = [future.result() for future in futures]
        return max(ended for _, ended in spans) - min(started for started, _ in spans)


class ExactTimes:
    """Exact search among the vectors that pass a filter, timed like an index, by the first queries."""

    def __init__(self, truth: ExactNeighbors) -> None:
        import numpy as np

        ids = np.arange(len(truth.vectors)) if truth.passing is None else np.flatnonzero(truth.passing)
        self.truth, self._search = truth, ExactSearch(truth.vectors, truth.metric, ids)
        self._times: list[Times] = []
        self._passing, self._recalls = len(ids), np.zeros(0)

    def run_round(self) -> None:
        """The queries once, timed; recall is that of the last round."""
        times, results = time_queries(self._search, self.truth.queries[:N_EXACT_QUERIES], self.truth.k)
        self._times.append(times)
        self._recalls = self.truth.compute_recalls(results)

    def measurements(self) -> Iterable[Measurement]:
        """How many vectors pass, latency and recall of exact search among them."""
        import numpy as np

        recall = float(self._recalls.mean()) if self._recalls.size else None
        yield Measurement("passing", float(self._passing), n=len(self.truth.vectors))
        yield replace(measure_percentile(np.stack(self._times), 50), name="exact_p50_ms")
        yield Measurement("exact_recall", recall, n=self._recalls.size)


def time_queries(index: AnnIndex | FilteredSearch | ExactSearch, queries: Vectors, k: int) -> tuple[Times, list[Any]]:
    """Milliseconds of each query, one at a time, and what was found."""
    import numpy as np

    search, times, results = index.search, [], []
    for query in queries:
        started = perf_counter_ns()
        ids = search(query, k)
        times.append(perf_counter_ns() - started)
        results.append(ids)
    return np.asarray(times) / 1e6, results


def measure_percentile(times: Times, share: int) -> Measurement:
    """A percentile of times of shape (rounds, queries); its interval is that of resampled queries, rounds together.

    The 99th is told from 1,000 timings on.
    """
    import numpy as np

    name, n = f"latency_p{share}_ms", times.size
    if share == 99 and n < MIN_P99_TIMINGS:
        return Measurement(name, None, "ms", n=n)
    rng, count = np.random.default_rng(7), times.shape[1]
    resampled = [np.percentile(times[:, rng.integers(count, size=count)], share) for _ in range(N_RESAMPLES)]
    low, high = np.percentile(resampled, (2.5, 97.5))
    return Measurement(name, float(np.percentile(times, share)), "ms", float(low), float(high), n)
