"""Measures `ragauge compare` of two runs of 10,000 examples, and `ragauge gate`, as whole processes on a warm disk.

    python bench/compare_runs.py                    # floors: 3 s each
    python bench/compare_runs.py --examples 2000

The store is synthetic: 22 metrics by one judge, two segment columns with 13 values, causes of the failed examples. The
new run's scores are the baseline's with noise, a little lower. Each command runs three times; the fastest counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

FLOOR = 3.0  # seconds
TURNS = 3
JUDGE = "local:bench"
TYPES, TENANTS = ("single", "multi", "temporal", "comparison", "unanswerable"), 8
CAUSES = ("retrieval_miss", "hallucinated", "incomplete")
GATE = """gate:
  rules:
    - {metric: recall@5, max_drop: 3 points}
    - {metric: faithfulness, max_drop: 3 points}
    - {metric: answer_correctness, max_drop: 3 points}
    - {metric: answer_relevance, min: 0.2}
"""


def fill(url: str, n: int) -> None:
    """Two runs with scores and causes."""
    import numpy as np

    from ragauge.core.response import Run
    from ragauge.metrics.base import MetricResult
    from ragauge.metrics.catalogue import list_questions, select_metrics
    from ragauge.scores.results.scorecard import Cause
    from ragauge.store.scores import Column
    from ragauge.store.store_access import open_store

    metrics = select_metrics(["default"])
    base = np.random.default_rng(7).random((n, len(metrics)))
    with open_store(url) as store:
        for number, name in enumerate(("base", "new")):
            run = store.runs.import_run(
                Run(f"r{number}", name, set_name="bench", system="bench", config={"k": 5 + number}), _records(n, name)
            )
            noise = np.random.default_rng(10 + number).normal(-0.01, 0.15, base.shape) if number else 0.0
            values = np.clip(np.round((base + noise) * 5) / 5, 0, 1)
            columns = [Column(str(one), one.version, JUDGE if list_questions([one]) else None) for one in metrics]

            def measured(at: int, metric: int, values: np.ndarray = values) -> MetricResult:
                value, scale = float(values[at, metric]), metrics[metric].scale
                if scale == "rate":
                    return MetricResult.of(float(value > 0.5))
                if scale == "amount":
                    return MetricResult.of(100 * value + 5)
                if value < 0.06:
                    return MetricResult("undefined", reason="nothing to divide by")
                return MetricResult("scored", value, 5 * value, 5.0, value, value)

            numbers = list(store.runs.load_order(run.run_id).numbers)
            rows = ((no, [measured(at, one) for one in range(len(metrics))]) for at, no in enumerate(numbers))
            store.scores.write(run.run_id, columns, rows)
            failed = {
                no: Cause(CAUSES[at % len(CAUSES)], "planted") if values[at, 0] < 0.4 else None
                for at, no in enumerate(numbers)
            }
            store.causes.write(run.run_id, JUDGE, failed)


def _records(n: int, name: str) -> Iterator[tuple[object, object]]:
    from ragauge.core.example import Example
    from ragauge.core.response import Passage, Response

    draw = Random(3)
    for number in range(n):
        segments = {"type": draw.choice(TYPES), "tenant": f"t{draw.randrange(TENANTS)}"}
        yield (
            Example(f"q{number}", f"What is number {number}?", references=(f"It is {number}.",), segments=segments),
            Response(
                f"q{number}",
                passages=(Passage(f"p{number}", f"d{number}", f"text {number}"),),
                answer=f"It is {number}, says {name}.",
                latency_ms={"total": 10.0 + number % 7},
                tokens={"input": 100, "output": number % 50},
            ),
        )


def fastest(folder: Path, *words: str) -> tuple[float, float]:
    """Wall and processor seconds of the fastest turn."""
    found = []
    for _ in range(TURNS):
        before, began = os.times(), time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "ragauge", *words], cwd=folder, capture_output=True, check=False)
        if done.returncode not in (0, 3, 4):
            sys.exit(done.stderr.decode())
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        found.append((time.perf_counter() - began, used))
    return min(found)


def main() -> None:
    """Prints the figures; exit 1 where a floor is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=10_000)
    given = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as place:
        folder, url = Path(place), f"sqlite:///{place}/bench.db"
        fill(url, given.examples)
        (folder / "ragauge.yaml").write_text(GATE)
        print(f"load before: {os.getloadavg()[0]:.2f}; {given.examples:,} examples in each run, 22 metrics")
        commands = {
            "compare": ("compare", "base", "new", "--store", url, "--json"),
            "gate": ("gate", "new", "--baseline", "base", "--store", url, "--json"),
        }
        for name, words in commands.items():
            wall, used = fastest(folder, *words)
            missed = missed or wall > FLOOR
            sign = "ok  " if wall <= FLOOR else "MISS"
            print(f"  {sign} {name}: {wall:.2f} s wall, {used:.2f} s CPU; asked {FLOOR:g} s")
    sys.exit(missed)


if __name__ == "__main__":
    main()
