"""Exact neighbours beside a bare blocked product and faiss IndexFlat, and the memory of a million vectors.

python bench/exact_neighbours.py [--queries 1000] [--rounds 5] [--metric ip] [--memory]

Vectors are random directions around 200 centres; the three take turns in every round, each in another order. Ratios
are medians over the rounds of paired times. --memory runs 1,000,000 x 128 in a child process and prints its peak beside
the bytes of the vectors.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import numpy.typing as npt

import ragauge as rg

Singles = npt.NDArray[np.float32]
SHAPES, CUTOFFS = ((200_000, 384), (500_000, 128)), (10, 100)
QUERIES, ROWS = 1_024, 4_096
MEMORY = (1_000_000, 128)


def clustered(n: int, d: int, seed: int) -> Singles:
    """Unit vectors around 200 centres, made in blocks."""
    centres = np.random.default_rng(1).standard_normal((200, d), dtype=np.float32)
    rng, made = np.random.default_rng(seed), np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 65_536):
        part = made[start : start + 65_536]
        part[:] = centres[rng.integers(0, 200, len(part))] + rng.standard_normal(part.shape, dtype=np.float32)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return made


def product(vectors: Singles, queries: Singles) -> float:
    """The products of all blocks, of which nothing is kept."""
    last = 0.0
    for first in range(0, len(queries), QUERIES):
        for start in range(0, len(vectors), ROWS):
            last = float((queries[first : first + QUERIES] @ vectors[start : start + ROWS].T)[0, 0])
    return last


def timed(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each way in every round, after one round that is not counted."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    order = np.random.default_rng(3)
    for n in range(rounds + 1):
        for name in order.permutation(list(ways)).tolist():
            begun = perf_counter()
            ways[name]()
            if n:
                taken[name].append(perf_counter() - begun)
    return taken


def beside(shape: tuple[int, int], n_queries: int, rounds: int, metric: Any) -> None:
    """Prints a line for each k."""
    import faiss

    vectors, queries = clustered(*shape, seed=2), clustered(n_queries, shape[1], seed=3)
    flat = faiss.IndexFlatL2(shape[1]) if metric == "l2" else faiss.IndexFlatIP(shape[1])
    flat.add(vectors)
    for k in CUTOFFS:
        ways: dict[str, Callable[[], Any]] = {
            "product": partial(product, vectors, queries),
            "faiss": partial(flat.search, queries, k),
            "ragauge": partial(rg.exact_neighbours, vectors, queries, k, metric),
        }
        taken = {name: np.array(rows) for name, rows in timed(ways, rounds).items()}
        ratios = [taken["ragauge"] / taken[name] for name in ("product", "faiss")]
        told = "  ".join(f"{name} {np.median(rows):6.2f} s" for name, rows in taken.items())
        shown = "  ".join(
            f"/ {name} {np.median(one):5.2f} ({one.min():.2f} to {one.max():.2f})"
            for name, one in zip(("product", "faiss"), ratios, strict=True)
        )
        print(f"{shape[0]:9,} x {shape[1]}  k {k:4}  {metric:6} {told}  {shown}", flush=True)


def memory(metric: Any) -> None:
    """Searches a million vectors and prints the peak of this process."""
    vectors, queries = clustered(*MEMORY, seed=2), clustered(1_000, MEMORY[1], seed=3)
    started, cpu = perf_counter(), process_time()
    rg.exact_neighbours(vectors, queries, 100, metric)
    taken, spent = perf_counter() - started, process_time() - cpu
    told = Path("/proc/self/status").read_text(encoding="ascii")  # getrusage would count the parent's memory too
    peak = int(told.partition("VmHWM:")[2].split()[0]) * 1_024
    print(
        f"{MEMORY[0]:,} x {MEMORY[1]}  k 100  {metric}  peak {peak / 2**20:,.0f} MiB, vectors "
        f"{vectors.nbytes / 2**20:,.0f} MiB, beside them {(peak - vectors.nbytes) / 2**20:,.0f} MiB of at most 1,024  "
        f"{taken:.1f} s, {spent:.1f} s CPU"
    )


def main() -> None:
    """Prints the table, then the memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--metric", choices=("cosine", "l2", "ip"), action="append")
    parser.add_argument("--memory", action="store_true", help="the memory alone, in this process")
    given = parser.parse_args()
    for metric in given.metric or ["ip"]:
        if given.memory:
            memory(metric)
            continue
        for shape in SHAPES:
            beside(shape, given.queries, given.rounds, metric)
        subprocess.run([sys.executable, __file__, "--memory", "--metric", metric], check=True)


if __name__ == "__main__":
    main()
