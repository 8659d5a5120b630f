"""Questions to a service that fails, the command killed meanwhile: nothing lost, hardly anything twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.loopback.service import FlakyService

from ragauge.store.store_access import open_store

ROOT = Path(__file__).resolve().parents[2]
CONCURRENCY = 32
FAULTS = {"server": 0.1, "broken_connection": 0.1, "hang": 0.03}


def command(service: FlakyService, folder: Path, *more: str) -> list[str]:
    words = ["run", service.url, str(folder / "set.jsonl"), "--store", str(folder / "s.db"), "--json"]
    words += ["--concurrency", str(CONCURRENCY), "--timeout", "8", *more]
    return [sys.executable, "-m", "ragauge", *words]


def killed(words: list[str], service: FlakyService, after: int) -> bool:
    """Starts the command and kills it when the service has seen so many requests; False when it ended before."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        if len(service.requests) >= after:
            process.send_signal(signal.SIGKILL)
            return process.wait() == -signal.SIGKILL
        time.sleep(0.005)
    return False


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize(("questions", "kills"), [(300, 1), pytest.param(2_000, 3, marks=pytest.mark.prove)])
def test_killed_at_any_moment(
    tmp_path: Path, questions: int, kills: int, record_property: Callable[[str, object], None]
) -> None:
    """With 20 % errors and 3 % hangs, killed at any moment: every question has one response; asked twice: in flight."""
    rows = ({"query_id": f"q{i}", "query": f"question {i}"} for i in range(questions))
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    draw = random.Random(6)
    moments = sorted(draw.randrange(questions // 10, questions) for _ in range(kills))
    started = time.perf_counter()
    with FlakyService(faults=FAULTS, seed=6) as service:
        assert all(killed(command(service, tmp_path), service, moment) for moment in moments)
        done = subprocess.run(command(service, tmp_path), capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        last = {str(request.body["query"]): request.fault for request in service.requests}
        hung = sum(fault == "hang" for fault in last.values())  # those alone that were not asked again after a kill
        hangs = sum(request.fault == "hang" for request in service.requests)
        asked = Counter(str(request.body["query"]) for request in service.requests if request.fault in ("", "hang"))
        again = json.loads(
            subprocess.run(
                command(service, tmp_path, "--retry-failed"), capture_output=True, text=True, check=True
            ).stdout
        )
        requests = len(service.requests)
    seconds = time.perf_counter() - started

    assert (told["state"], told["planned"], told["responses"]) == ("finished", questions, questions)
    assert told["answered"] + sum(told["failed"].values()) == questions
    assert set(told["failed"]) <= {"timeout", "server", "connection"}
    assert hangs > 0.01 * questions
    assert hung <= told["failed"]["timeout"] < hung + 0.04 * questions  # what a loaded machine adds
    # answered or hung, a question is done: it is asked again only where a kill fell before it was stored
    twice = sum(times - 1 for times in asked.values())
    assert len(asked) >= questions - sum(told["failed"].values())
    assert twice <= kills * CONCURRENCY
    assert again["run_id"] == told["run_id"]
    assert again["asked"] == sum(told["failed"].values())
    assert again["responses"] == questions
    assert again["answered"] > told["answered"]
    with open_store(str(tmp_path / "s.db")) as store:
        (run,) = store.runs.list()
        pairs = list(store.runs.pairs(run.run_id))
    assert [example.query_id for example, _ in pairs] == [f"q{i}" for i in range(questions)]
    for example, response in pairs:
        assert response.error is not None or response.answer == f"You asked: {example.query}"
    record_property("figure", f"{requests:,} requests, killed {kills} times, {twice} asked twice, {seconds:.0f} s")
