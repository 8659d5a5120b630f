"""kill -9 at any moment costs what was in flight, and nothing else (case 51)."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal
from tests.engine.tiny_judge import LOG, SLOW, TinyJudge, notes, records

from ragauge.core.response import Run
from ragauge.engine.execute import execute_plan
from ragauge.engine.plan import build_plan
from ragauge.metrics.catalogue import parse_metric
from ragauge.store.store_access import Store, open_store

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("recall@5", "context_recall", "context_precision", "faithfulness", "answer_correctness")
QUESTIONS, WORKERS, BATCH = 4, 2, 8

# batches of one size, so that what is in flight has a bound: per worker one batch judged and one on its way to the disk
EVALUATE = f"""
import asyncio, sys
from ragauge.engine import pool
pool.FIRST_BATCH_RESPONSES = pool.MIN_BATCH_RESPONSES = pool.MAX_BATCH_RESPONSES = {BATCH}
from ragauge.engine.execute import execute_plan
from ragauge.engine.judges import build_judge
from ragauge.engine.plan import build_plan
from ragauge.metrics.catalogue import parse_metric
from ragauge.store.store_access import open_store
with open_store(sys.argv[1]) as store:
    metrics = [parse_metric(name) for name in {NAMES!r}]
    found = build_plan(store, sys.argv[2], metrics, build_judge({SLOW!r}))
    asyncio.run(execute_plan(found, store, workers={WORKERS}))
"""


class Fast(TinyJudge):
    """The slow judge's verdicts without its delay."""

    judge_id = "slow@1"


def killed(url: str, run_id: str, log: Path, after: int) -> bool:
    """Evaluates in a process and kills it once so many questions are answered; False when it ended before."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]), LOG: str(log)}
    process = subprocess.Popen([sys.executable, "-c", EVALUATE, url, run_id], env=environment)
    while process.poll() is None:
        if len(notes(log)) >= after:
            process.send_signal(signal.SIGKILL)
            return process.wait() == -signal.SIGKILL
        time.sleep(0.01)
    assert process.returncode == 0
    return False


def survives(tmp_path: Path, n: int, kills: int) -> None:
    """Kills an evaluation of n examples at random moments, lets it end, and compares it with an undisturbed one."""
    log = tmp_path / "log"
    url = f"sqlite:///{tmp_path / 'killed.db'}"
    with open_store(url) as store:
        run_id = store.runs.import_run(Run("", "r"), records(n)).run_id
    draw = random.Random(51)
    moments = sorted(draw.randrange(n * QUESTIONS * 9 // 10) for _ in range(kills))
    times = sum(killed(url, run_id, log, moment) for moment in moments)
    assert times == kills
    time.sleep(1.0)  # the orphaned workers of the last end with their batch
    assert not killed(url, run_id, log, after=10**9)

    asked = notes(log)
    assert len(set(asked)) == n * QUESTIONS
    assert len(asked) - len(set(asked)) <= kills * 2 * WORKERS * BATCH * QUESTIONS
    with open_store(url) as store, open_store(f"sqlite:///{tmp_path / 'whole.db'}") as whole:
        undisturbed(whole, n)
        other = whole.runs.find("latest").run_id
        assert_frame_equal(store.scores.load_frame(run_id, "slow@1"), whole.scores.load_frame(other, "slow@1"))
        assert_frame_equal(store.causes.load_frame(run_id, "slow@1"), whole.causes.load_frame(other, "slow@1"))
        assert list(store.evidence.iter_for_run(run_id, "slow@1")) == list(whole.evidence.iter_for_run(other, "slow@1"))


def undisturbed(store: Store, n: int) -> None:
    run_id = store.runs.import_run(Run("", "r"), records(n)).run_id
    found = build_plan(store, run_id, [parse_metric(name) for name in NAMES], Fast())
    asyncio.run(execute_plan(found, store, workers=1))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "kills"), [(200, 1), pytest.param(2_000, 10, marks=pytest.mark.prove)])
def test_killed_at_random_moments(tmp_path: Path, n: int, kills: int) -> None:
    """Killed at random moments of an evaluation: the same scores; asked twice only what was in flight."""
    survives(tmp_path, n, kills)
