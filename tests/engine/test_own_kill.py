"""An evaluation with a coroutine of the user's own survives kill -9, and two processes at it do no harm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ragauge as rg
from ragauge.store.store_access import open_store

ROOT = Path(__file__).resolve().parents[2]
N, KILLS = 400, 3
MODULE = """
import asyncio
from pathlib import Path

import ragauge as rg


@rg.metric(range=(0, 1))
async def patience(answer: str) -> rg.Value:
    await asyncio.sleep(0.02)
    with Path("calls.txt").open("a") as log:
        log.write(answer + chr(10))
    return rg.Value(int(answer.split()[-1]) % 10 / 10, reason=f"it is {answer}")
"""
COMMAND = [
    sys.executable,
    "-m",
    "ragauge",
    "evaluate",
    "answers.jsonl",
    "-m",
    "slow_manners:patience,answer_tokens",
    "--judge",
    "none",
    "--name",
    "kept",
]


def started(folder: Path) -> subprocess.Popen[bytes]:
    """The command, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(COMMAND, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def calls(folder: Path) -> list[str]:
    """The answers that the metric was called for so far."""
    log = folder / "calls.txt"
    return log.read_text().splitlines() if log.exists() else []


@pytest.mark.slow
@pytest.mark.prove
def test_kill_costs_what_was_in_flight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed three times and ended by two processes at once, every answer has its score and its reason."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "slow_manners.py").write_text(MODULE)
    rows = [{"query_id": f"q{i}", "query": f"Question {i}?", "answer": f"number {i}"} for i in range(N)]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for kill in range(1, KILLS + 1):
        process = started(tmp_path)
        while process.poll() is None and len(calls(tmp_path)) < kill * N // 5:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert [process.wait() for process in (started(tmp_path), started(tmp_path))] == [0, 0]
    made = calls(tmp_path)
    assert set(made) == {row["answer"] for row in rows}
    with open_store("sqlite:///.ragauge/ragauge.db") as store:
        frame = store.scores.load_frame(store.runs.find("kept").run_id, None).filter(metric="patience")
    assert frame["status"].to_list() == ["scored"] * N
    assert frame["value"].to_list() == [i % 10 / 10 for i in range(N)]
    assert frame["reason"].to_list() == [f"it is number {i}" for i in range(N)]
    assert rg.open_run("kept").scorecard()["patience"].mean == pytest.approx(0.45)


@pytest.mark.slow
@pytest.mark.prove
def test_process_ends_though_calls_hang(tmp_path: Path) -> None:
    """A process whose metric hangs, in a thread and on the loop, ends by itself once all else is done."""
    (tmp_path / "hung.py").write_text(
        "import threading\nimport ragauge as rg\n\n\n"
        "@rg.metric(timeout=0.2)\ndef thread(answer):\n    threading.Event().wait()\n\n\n"
        "@rg.metric(timeout=0.2)\nasync def loop(answer):\n    threading.Event().wait()\n"
    )
    (tmp_path / "answers.jsonl").write_text('{"query": "Why?", "answer": "So."}\n{"query": "When?", "answer": "Now."}')
    command = [*COMMAND[:5], "-m", "hung:thread,hung:loop", "--judge", "none"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, timeout=120, check=False, capture_output=True)
    assert ended.returncode in (0, 1)
    assert b"did not return within 0.2 s" in ended.stdout
