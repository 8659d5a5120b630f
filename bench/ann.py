"""Searches through ragauge's adapters beside bare loops over the same built indexes of the libraries.

python bench/ann.py [--vectors 100000] [--rounds 10]        needs faiss-cpu, usearch, hnswlib

Vectors of 128 numbers in 200 clusters, 500 queries one at a time, k 10. Adapter and bare loop search the same index,
take turns round by round and change who is first; each round gives the ratio of their medians. Both find the same ids.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np
import numpy.typing as npt

from ragauge.studies.ann.exact import VectorMetric
from ragauge.studies.ann.index import AnnIndex, make_index

Singles = npt.NDArray[np.float32]
SPECS = (
    ("hnswlib", {"ef_search": 16}),
    ("hnswlib", {"ef_search": 128}),
    ("faiss-hnsw", {"ef_search": 16}),
    ("faiss-hnsw", {"ef_search": 128}),
    ("faiss-ivf", {"nprobe": 4}),
    ("faiss-ivf", {"nprobe": 32}),
    ("faiss-sq", {}),
    ("faiss-pq", {}),
    ("usearch", {"ef_search": 16}),
    ("usearch", {"ef_search": 128}),
)
K, QUERIES, DIMENSIONS = 10, 500, 128


def bare(adapter: Any, name: str, metric: str) -> Callable[[Singles], Any]:
    """A search of one query, shape (1, d), as the library's documentation writes it."""
    index = adapter._index
    if name == "hnswlib":
        return lambda query: index.knn_query(query, K)[0][0]
    if name == "usearch":
        return lambda query: index.search(query[0], K).keys
    how = adapter._how
    if metric == "cosine":
        return lambda query: index.search(query / np.linalg.norm(query), K, params=how)[1][0]
    return lambda query: index.search(query, K, params=how)[1][0]


def loop(search: Callable[[Any], Any], queries: Any) -> tuple[float, list[Any]]:
    """Median microseconds of a query, and what was found."""
    times, found = [], []
    for query in queries:
        begun = perf_counter_ns()
        ids = search(query)
        times.append(perf_counter_ns() - begun)
        found.append(ids)
    return float(np.median(times)) / 1e3, found


def compare(adapter: AnnIndex, name: str, metric: str, queries: Singles, rounds: int) -> tuple[float, float, float]:
    """Medians of adapter and bare loop in microseconds, and the median of the rounds' ratios."""
    import faiss

    single, pairs = bare(adapter, name, metric), []
    threads = faiss.omp_get_max_threads()
    ways = [(lambda query: adapter.search(query, K), queries), (single, queries[:, None])]
    for n in range(rounds + 1):
        both: list[Any] = [None, None]
        for way in (0, 1) if n % 2 else (1, 0):
            faiss.omp_set_num_threads(1 if way else threads)  # the adapter sets it itself
            both[way] = loop(*ways[way])
        faiss.omp_set_num_threads(threads)
        if any(list(map(int, one)) != list(map(int, other)) for one, other in zip(both[0][1], both[1][1], strict=True)):
            raise SystemExit(f"{name}: the adapter finds other ids than the library.")
        if n:  # the first round warms up
            pairs.append((both[0][0], both[1][0]))
    mine, theirs = np.array(pairs).T
    return float(np.median(mine)), float(np.median(theirs)), float(np.median(mine / theirs))


def main() -> None:
    """Prints a line for each index and metric."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((200, DIMENSIONS), dtype=np.float32)

    def drawn(n: int) -> Singles:
        noise = rng.standard_normal((n, DIMENSIONS), dtype=np.float32)
        return np.asarray(centres[rng.integers(0, 200, n)] + noise)

    vectors, queries = drawn(given.vectors), drawn(QUERIES)
    print(f"{'metric':7} {'index':30} {'adapter p50':>12} {'bare p50':>12} {'ratio':>6}")
    metrics: tuple[VectorMetric, ...] = ("l2", "cosine")
    for metric in metrics:
        built: dict[str, AnnIndex] = {}
        for name, tuned in SPECS:
            if name not in built:
                built = {name: make_index(name)}
                built[name].build(vectors, metric)
            built[name].set_search_params(**tuned)
            mine, theirs, ratio = compare(built[name], name, metric, queries, given.rounds)
            shown = " ".join([name, *(f"{key}={value}" for key, value in tuned.items())])
            print(f"{metric:7} {shown:30} {mine:9.1f} us {theirs:9.1f} us {ratio:6.3f}", flush=True)


if __name__ == "__main__":
    main()
