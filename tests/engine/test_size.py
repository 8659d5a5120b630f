"""Memory and the engine's own time at 1,000 and 50,000 examples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

EVALUATE = """
import asyncio, json, resource, sys, time
from ragauge.core.example import Example, Relevant
from ragauge.core.response import Passage, Response
from ragauge.core.response import Run
from ragauge.engine.execute import execute_plan
from ragauge.engine.judges import build_judge
from ragauge.engine.plan import build_plan
from ragauge.metrics.catalogue import parse_metric
from ragauge.store.store_access import open_store
from tests.engine.tiny_judge import IDLE

NAMES = ("recall@5", "precision@5", "mrr", "ndcg@10", "hit@3", "map", "context_recall", "context_precision",
         "faithfulness", "contradicted", "not_in_context", "answer_relevance", "answer_correctness", "answer_recall",
         "refusal_correctness", "citation_precision", "citation_recall", "ignored_top_ranked")

def records(n):
    for i in range(n):
        example = Example(f"q{i}", f"what is number {i}", references=(f"it is number {i}",),
                          reference_claims=(f"number {i}",), relevant=(Relevant((f"d{i}",)),))
        words = "words of a passage " * 60
        passages = tuple(Passage(f"p{j}", f"d{i + j}", f"number {i + j} {words}") for j in range(5))
        yield example, Response(f"q{i}", passages=passages, answer=f"number {i}. and another sentence.")

n, workers, names = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(",") if sys.argv[4] else NAMES
times = {}
def timed(name, started):
    times[name] = round(time.perf_counter() - started, 2)
with open_store(sys.argv[1]) as store:
    started = time.perf_counter()
    run = store.runs.import_run(Run("", "r"), records(n))
    timed("import", started)
    started, cpu = time.perf_counter(), time.process_time()
    found = build_plan(store, run.run_id, [parse_metric(name) for name in names], build_judge(IDLE))
    outcome = asyncio.run(execute_plan(found, store, workers=workers))
    timed("evaluate", started)
    assert outcome.done == n
    own = time.process_time() - cpu
    # of this process: whatever a frame of all scores takes comes after
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    started = time.perf_counter()
    assert store.scores.load_frame(run.run_id, "idle@1").height == n * len(names)
    timed("frame", started)
workers = resource.getrusage(resource.RUSAGE_CHILDREN)
theirs = workers.ru_utime + workers.ru_stime
print(json.dumps({
    "n": n, "workers": outcome.workers, "rss_mb": round(rss), "worker_rss_mb": workers.ru_maxrss // 1024,
    "cpu_ms_each": round(own / n * 1e3, 2), "worker_cpu_ms_each": round(theirs / n * 1e3, 2), **times,
}))
"""


FEW = "recall@5,context_recall,context_precision,faithfulness,answer_correctness"  # every question is asked


def evaluated(path: Path, n: int, workers: int, names: str = "") -> dict[str, float]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    url = f"sqlite:///{path / f'{n}-{workers}.db'}"
    command = [sys.executable, "-c", EVALUATE, url, str(n), str(workers), names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, float] = json.loads(done.stdout)
    print(found)  # noqa: T201 - shown with pytest -s
    return found


@pytest.mark.prove
@pytest.mark.timeout(1200)
def test_memory_is_flat(tmp_path: Path) -> None:
    """50,000 examples take hardly more memory than 1,000, here and in the workers."""
    small, large = evaluated(tmp_path, 1_000, 2, FEW), evaluated(tmp_path, 50_000, 2, FEW)
    assert large["rss_mb"] < small["rss_mb"] + 80  # caches of a fixed size, filled
    assert large["worker_rss_mb"] < small["worker_rss_mb"] + 60


@pytest.mark.prove
def test_engine_takes_little(tmp_path: Path) -> None:
    """The engine's own work, metrics and verdicts included, is under 3 ms an example beside a judge that takes none."""
    found = evaluated(tmp_path, 4_000, 1)
    assert found["cpu_ms_each"] < 3.0 + 0.5  # half a millisecond for imports, at this number of examples
