"""A sweep of systems behind HTTP that is killed, whose calls fail, or that has many indexes."""

from __future__ import annotations

import gc
import json
import random
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

import ragauge as rg

N, CONCURRENCY = 120, 4
MEANS = {"good": 0.8, "weak": 0.35, "poor": 0.3}
SPACE: dict[str, Any] = {
    "parameters": {"model": ["good", "weak", "poor"], "k": [1, 2]},
    "objective": "exact_match",
    "name": "served",
    "concurrency": CONCURRENCY,
}
Counts = Counter[tuple[str, int, str]]


def questions() -> rg.EvalSet:
    """A set whose answers stand in the questions."""
    return rg.EvalSet("toy", tuple(rg.Example(f"q{i}", f"question {i}", references=(f"answer {i}",)) for i in range(N)))


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 's.db'}"


def answered(model: str, k: int, question: str) -> dict[str, Any]:
    """The answer of a system that is right as often as its model is good."""
    draw = 0.5 * random.Random(f"{question} {model}").random() + 0.5 * random.Random(question).random()
    text = question.replace("question", "answer") if draw < MEANS[model] else "no idea"
    passages = [{"doc_id": f"d{n}", "text": f"text {n}"} for n in range(k)]
    return {"answer": text, "passages": passages, "cost": 0.001 * k}  # not by latency, which differs each time


class Index:
    """An index that is its size."""

    def __init__(self, size: int) -> None:
        self.size = size


def states(result: Any) -> dict[str, str]:
    return {trial.name: trial.state for trial in result.study.trials}


class _Service(BaseHTTPRequestHandler):
    """Answers, and counts before it does."""

    asked: Counts

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked[given["model"], given["k"], given["question"]] += 1
        body = json.dumps(answered(**given)).encode()
        with suppress(OSError):  # who asked may have been killed
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def service() -> Iterator[tuple[str, Counts]]:
    """A server on this machine: its address, and how often each system was asked each question."""
    asked: Counts = Counter()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Counting", (_Service,), {"asked": asked}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def over_http(address: str) -> Any:
    """Build for systems behind HTTP."""
    client = httpx.Client(timeout=60)  # one: making it takes longer than a hundred questions

    def build(model: str, k: int) -> Any:
        def answer(question: str) -> Any:
            return client.post(address, json={"model": model, "k": k, "question": question}).json()

        return answer

    return build


def sweep(address: str, store: str) -> rg.StudyResult:
    """The whole sweep; what it did is printed for whoever started this process."""
    found = rg.sweep(over_http(address), questions(), **SPACE, store=store)
    sys.stdout.write(json.dumps({"made": found.log.made, "held": found.log.held, "planned": found.log.planned}))
    return found


def child(address: str, store: str) -> subprocess.Popen[str]:
    """The sweep in a process of its own."""
    folder = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {folder!r}); import test_sweep_faults as t; t.sweep({address!r}, {store!r})"
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def ended(address: str, store: str) -> Mapping[str, int]:
    """What the sweep in a process of its own did, when it was left alone."""
    process = child(address, store)
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return dict(json.loads(printed))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.prove)])
def test_killed_anywhere_it_ends_the_same(tmp_path: Path, kills: int, record_property: Any) -> None:
    """Killed with -9 at 20 moments, a race over HTTP ends the same, and asks again what was in flight alone."""
    (tmp_path / "killed").mkdir()
    store, draw = url(tmp_path / "killed"), random.Random(3)
    with service() as (address, asked):
        log = ended(address, url(tmp_path))
        count = asked.total()
        assert log["made"] == log["held"] == count < log["planned"] == 6 * N  # the ledger is the server's count
        asked.clear()
        for n in range(kills):
            process = child(address, store)
            until = (n + draw.random()) * count / kills  # spread over the sweep: looks and ends of trials too
            while asked.total() < until and process.poll() is None:
                time.sleep(0.002)
            process.kill()
            process.communicate()
        log = ended(address, store)
    whole, found = (rg.open_study("served", store=one) for one in (url(tmp_path), store))
    assert states(found) == states(whole)
    assert "pruned" in states(whole).values()
    assert [(one.name, one.reason) for one in found.study.trials] == [
        (one.name, one.reason) for one in whole.study.trials
    ]
    assert (found.best_set, found.recommendation) == (whole.best_set, whole.recommendation)
    assert found.recommendation.trial == "k=1,model=good"
    again = asked.total() - len(asked)
    record_property(
        "figure",
        f"{kills} kills of a raced sweep: {count} questions, {again} asked again, of at most "
        f"{kills * CONCURRENCY} in flight",
    )
    assert len(asked) == log["held"] == count
    assert again <= kills * CONCURRENCY


def test_no_trial_falls_because_its_calls_failed(tmp_path: Path) -> None:
    """Two systems of equal answers, of which one fails 5 % of its calls: neither is dropped, the weak ones are."""

    def sometimes(model: str, fails: bool) -> Any:
        def answer(question: str) -> Any:
            if fails and random.Random(question).random() < 0.05:
                raise ValueError("the service is down")
            return answered(model, 1, question)

        return answer

    space: dict[str, list[Any]] = {"model": ["good", "weak"], "fails": [False, True]}
    result = rg.sweep(sometimes, questions(), parameters=space, objective="exact_match", store=url(tmp_path))
    left = {name for name, state in states(result).items() if state == "complete"}
    assert left == {"fails=false,model=good", "fails=true,model=good"} == set(result.best_set)


@pytest.mark.parametrize("keep_open", [None, pytest.param(3, marks=pytest.mark.prove)])
def test_eight_indexes_are_made_once_each(tmp_path: Path, keep_open: int | None) -> None:
    """A race over eight settings makes each index once; where fewer may be held, no more are, and some are made anew.

    What no trial that is left needs is let go.
    """
    made: Counter[int] = Counter()
    alive: weakref.WeakSet[Index] = weakref.WeakSet()
    most = [0]

    def index(size: int) -> Index:
        made[size] += 1
        gc.collect()  # systems that were closed
        alive.add(found := Index(size))
        most[0] = max(most[0], len(alive))
        return found

    def build(held: Index, model: str) -> Any:
        return lambda question: answered(model if held.size < 6 else "poor", 1, question)

    space: dict[str, list[Any]] = {"model": ["good", "weak"], "size": list(range(8))}
    found = rg.sweep(
        {"index": index, "build": build},
        questions(),
        parameters=space,
        index=["size"],
        objective="exact_match",
        keep_open=keep_open,
        store=url(tmp_path),
    )
    assert "pruned" in states(found).values()
    assert found.log.index_calls == made.total()
    if keep_open is None:
        assert made == Counter(range(8))
    else:
        assert made.total() > 8
        assert most[0] <= keep_open
