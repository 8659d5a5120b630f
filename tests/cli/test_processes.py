"""`ragauge` as a real process: streams, exit codes, broken pipes and Ctrl-C."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli, write
from tests.loopback.server import FaultyServer

RAGAUGE = Path(sys.executable).with_name("ragauge")
QUICK = "recall@5,faithfulness,fabricated_specifics,context_recall"


def environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("RAGAUGE")}


def ran(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [RAGAUGE, *words], cwd=folder, env=environment(), capture_output=True, text=True, timeout=240, check=False
    )


def many(path: Path, n: int) -> Path:
    """Examples with long passages, seeded."""
    draw = random.Random(52)
    words = ["tower", "river", "bridge", "copper", "silver", "mountain", "valley", "engine", "window", "garden"]
    rows: list[dict[str, Any]] = []
    for i in range(n):
        parts = draw.randrange(10, 9999)
        passages = [
            {
                "doc_id": f"d{i}-{j}",
                "text": f"The {draw.choice(words)} has {parts + j} parts. "
                + " ".join(draw.choice(words) for _ in range(40)).capitalize()
                + ".",
            }
            for j in range(4)
        ]
        rows.append(
            {
                "query_id": f"q{i}",
                "query": f"How many parts has item {i}?",
                "passages": passages,
                "answer": f"The {draw.choice(words)} has {parts} parts. It stands near the {draw.choice(words)}.",
                "reference_answer": f"It has {parts} parts.",
                "relevant": {f"d{i}-0": 1},
            }
        )
    return write(path, rows)


def test_streams_and_exit_codes(small: Path) -> None:
    """Results alone on stdout, progress on stderr; 0 for success, 2 for a usage error, no traceback."""
    done = ran(small.parent, "evaluate", small, "-m", "mrr", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["metrics"]["mrr"]["scored"] == 8
    assert "evaluated 10 of 10" in done.stderr
    bad = ran(small.parent, "evaluate", "nofile.jsonl")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("error: nofile.jsonl: no such file")
    alone = ran(small.parent)
    assert "evaluate" in alone.stdout + alone.stderr
    assert ran(small.parent, "--version").stdout.startswith("ragauge ")


def test_module_form(small: Path) -> None:
    """`python -m ragauge` is the same program."""
    words = [sys.executable, "-m", "ragauge", "metrics", "mrr", "--json"]
    done = subprocess.run(words, cwd=small.parent, capture_output=True, text=True, timeout=240, check=True)
    assert json.loads(done.stdout)["name"] == "mrr"


@pytest.mark.parametrize("command", ["metrics", "metrics --json", "evaluate ten.jsonl -q --json --judge none"])
def test_broken_pipe_is_silent(small: Path, command: str) -> None:
    """A reader that stops after a line is no error: nothing on stderr."""
    for _ in range(2):
        done = subprocess.run(
            ["bash", "-c", f"{shlex.quote(str(RAGAUGE))} {command} | head -1"],
            cwd=small.parent,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert len(done.stdout.splitlines()) == 1


def group_left(group: int) -> list[str]:
    """Processes of a group that are alive; those that only wait to be read are not."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [row[2] for row in rows if row[0] == str(group) and not row[1].startswith("Z")]


@pytest.mark.prove
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_ctrl_c(cli: Cli, tmp_path: Path) -> None:
    """Case 52: Ctrl-C keeps what is done and prints a command, which finishes with an undisturbed run's scores."""
    many(tmp_path / "many.jsonl", 200)
    words = [str(RAGAUGE), "evaluate", "many.jsonl", "-m", QUICK, "--store", "sqlite:///stopped here.db", "--json"]
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    first = process.stderr.readline()  # a batch is done
    assert first.startswith("evaluated ")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group
    out, err = process.communicate(timeout=200)
    assert process.returncode == 130
    assert out == ""
    assert "Everything evaluated so far is saved." in err
    assert "Traceback" not in err
    until = time.monotonic() + 60
    while (left := group_left(process.pid)) and time.monotonic() < until:
        time.sleep(0.1)
    assert left == []

    assert err.splitlines()[-1].startswith("To resume: "), err
    resume = err.splitlines()[-1].removeprefix("To resume: ")
    path = environment() | {"PATH": f"{RAGAUGE.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", resume], cwd=tmp_path, env=path, capture_output=True, text=True, check=True)
    rest = json.loads(done.stdout)
    assert (rest["n"], rest["pending"]) == (200, 0)
    assert 0 < rest["took"]["evaluated"] < 200
    undisturbed = cli("evaluate", "many.jsonl", "-m", QUICK, "--store", "whole.db", "--json")
    assert undisturbed.code == 0, undisturbed.err
    whole = undisturbed.json()
    assert rest["metrics"] == whole["metrics"]
    assert rest["failures"] == whole["failures"]
    scores = []
    for name, store in (("a.csv", "sqlite:///stopped here.db"), ("b.csv", "whole.db")):
        assert cli("runs", "export", "latest", "-o", name, "--store", store).code == 0
        scores.append((tmp_path / name).read_text())
    assert scores[0] == scores[1]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM that a process can take")
@pytest.mark.parametrize("verb", [pytest.param("evaluate", marks=pytest.mark.prove), "run", "run --fresh"])
def test_sigterm(tmp_path: Path, verb: str) -> None:
    """SIGTERM to the process alone, as a container's end, keeps what is done and prints how to go on; exit code 143.

    What goes on begins nothing anew.
    """
    write(tmp_path / "set.jsonl", [{"query_id": f"q{n}", "query": f"What is {n}?"} for n in range(40)])
    (tmp_path / "slow.py").write_text("import time\ndef answer(q):\n    time.sleep(0.5)\n    return q\n")
    many(tmp_path / "many.jsonl", 400)
    verb, *fresh = verb.split()
    words = {"evaluate": ["evaluate", "many.jsonl", "-m", QUICK], "run": ["run", "slow:answer", "set.jsonl"]}[verb]
    process = subprocess.Popen(
        [RAGAUGE, *words, *fresh],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    process.stderr.readline()  # something is done
    process.terminate()
    _, err = process.communicate(timeout=200)
    assert (process.returncode, "Traceback" in err) == (143, False), err
    assert err.splitlines()[-1] == f"To resume: {shlex.join(['ragauge', *words])}"
    until = time.monotonic() + 60
    while (left := group_left(process.pid)) and time.monotonic() < until:
        time.sleep(0.1)
    assert left == []


@pytest.mark.prove
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_impatient_ctrl_c(tmp_path: Path) -> None:
    """Ctrl-C three times in a row ends at once, without a traceback, and leaves no worker behind."""
    many(tmp_path / "many.jsonl", 800)
    process = subprocess.Popen(
        [RAGAUGE, "evaluate", "many.jsonl", "--json"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    process.stderr.readline()
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.02)  # signals that come before one was taken are one
    _, err = process.communicate(timeout=200)
    assert process.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in err
    until = time.monotonic() + 60
    while (left := group_left(process.pid)) and time.monotonic() < until:
        time.sleep(0.1)
    assert left == []


HOLD = (
    "import sys, time; from ragauge.store.sqlite import lock_run\n"
    "with lock_run(sys.argv[1], sys.argv[2]) as alone: print(alone, flush=True); time.sleep(float(sys.argv[3]))"
)


def test_second_evaluation_of_a_run_waits(cli: Cli, small: Path, tmp_path: Path) -> None:
    """Who evaluates a run that another process evaluates is told and waits for it; not where nothing is left to ask."""
    assert cli("evaluate", small, "-q", "--judge", "none").code == 0
    run_id = cli("runs", "--json").json()[0]["run_id"]
    url = f"sqlite:///{tmp_path / '.ragauge' / 'ragauge.db'}"
    with subprocess.Popen([sys.executable, "-c", HOLD, url, run_id, "1.5"], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        second = cli("evaluate", "latest", "-q")
        assert (second.code, other.poll()) == (0, 0)  # it ended after the other
        assert f"warning: ten ({run_id}) is being evaluated by another process or thread." in second.err
    with subprocess.Popen([sys.executable, "-c", HOLD, url, run_id, "60"], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert "another process" not in cli("evaluate", "latest", "-q").err
        other.kill()
    assert "another process" not in cli("evaluate", "latest", "-q", "--judge-repeats", "2").err


@pytest.mark.prove
def test_two_processes_pay_once(small: Path, tmp_path: Path) -> None:
    """Two processes that evaluate one file at once send no request twice, and both succeed."""
    streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with FaultyServer(latency=1.0) as server:
        limits = ("--concurrency", "2", "--max-concurrency", "2")
        judge = f"openai-chat:any@{server.url}"
        command: list[str | Path] = [RAGAUGE, "evaluate", small, "--judge", judge, *limits]
        shared: dict[str, Any] = {"cwd": tmp_path, "env": environment() | {"OPENAI_API_KEY": "x"}, **streams}
        with subprocess.Popen(command, **shared) as first:
            while not server.requests:
                time.sleep(0.05)
            with subprocess.Popen(command, **shared) as second:
                told = second.communicate(timeout=200)[1]
            first.communicate(timeout=200)
        sent = [json.dumps(request.body, sort_keys=True) for request in server.requests]
    assert (first.returncode, second.returncode) == (0, 0)
    assert "is being evaluated by another process" in told
    assert len(sent) == len(set(sent)) > 10
