"""The dashboard while a run is evaluated: whoever reads meanwhile is answered, and a killed evaluation is seen."""

from __future__ import annotations

import http.client
import json
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import Stored, rows

SECONDS = 60
ROWS = 6_000  # of an evaluation that is not done before it is killed
Started = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def started() -> Iterator[Started]:
    """Starts commands of ragauge, and ends those that still run."""
    every: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "ragauge", *words]
        made = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        every.append(made)
        return made

    yield start
    for one in every:
        one.kill()
        if one.stdout is not None and not one.stdout.closed:
            one.communicate()
        one.wait()


def served(started: Started, store: str) -> str:
    """Host and port of a dashboard."""
    server = started("ui", "--store", store, "--port", "0", "--no-open")
    assert server.stdout is not None
    found = next(match for line in server.stdout if (match := re.search(r"http://\S+", line)))
    return urlsplit(found[0]).netloc


def get(host: str, path: str) -> tuple[int, str]:
    """Status and body."""
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def asked(place: Path, name: str, count: int) -> str:
    """A file of answers of which none is judged yet."""
    file, made = place / f"{name}.jsonl", [*rows(5)]
    lines = [
        {
            **made[n % 12],
            "query_id": f"{name}{n}",
            "query": f"{made[n % 12]['query']} ({name} {n})",
            "answer": f"{made[n % 12]['answer']} It was asked {n} times by {name}.",
        }
        for n in range(count)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


@pytest.mark.prove
@pytest.mark.server
@pytest.mark.timeout(600)
def test_readers_beside_a_writer(started: Started, copied: str, stored: Stored, tmp_path: Path) -> None:
    """For a minute of evaluations two readers get every page, and none says that the store is locked.

    An evaluation that is killed is *stopped* a minute after its last sign of life.
    """
    host, ids = served(started, copied), stored.ids
    paths = [
        "/",
        "/runs",
        f"/runs/{ids['bad']}",
        f"/runs/{ids['bad']}/examples?sort=quality",
        "/history",
        "/sets",
        f"/compare?base={ids['good']}&new={ids['bad']}",
        f"/runs/{ids['bad']}/examples/q1",
    ]
    until, wrong, counts = time.monotonic() + SECONDS, [], [0, 0]

    def read(reader: int) -> None:
        while time.monotonic() < until:
            path = paths[counts[reader] % len(paths)]
            status, body = get(host, path)
            counts[reader] += 1
            if status != 200 or "locked" in body:
                wrong.append((path, status, body[-300:]))

    readers = [threading.Thread(target=read, args=(number,)) for number in range(2)]
    for reader in readers:
        reader.start()
    written = 0
    while time.monotonic() < until:
        file = asked(tmp_path, f"busy{written}", 60)
        writer = started("evaluate", file, "--store", copied, "--name", f"busy{written}")
        said, _ = writer.communicate()
        assert writer.returncode == 0, said
        written += 1
    for reader in readers:
        reader.join()
    assert not wrong, wrong[:3]
    assert min(counts) >= len(paths)
    assert written
    _killed(host, started, copied, asked(tmp_path, "killed", ROWS))


def _killed(host: str, started: Started, store: str, file: str) -> None:
    writer = started("evaluate", file, "--store", store, "--name", "killed")
    while not re.search(r"in flight</span><span[^>]*>[1-9][0-9,]* of", body := get(host, "/runs/killed/state")[1]):
        assert writer.poll() is None, body
        time.sleep(0.2)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    ended = time.monotonic()
    with closing(sqlite3.connect(store.removeprefix("sqlite:///"))) as raw:
        (done,) = raw.execute("SELECT max(done) FROM evaluations").fetchone()
    assert 0 < done < ROWS
    while "stopped</span>" not in get(host, "/runs/killed/state")[1]:
        assert time.monotonic() - ended <= SECONDS + 30  # a minute, and what a page takes on a slow machine
        time.sleep(1)
    assert "stopped</span>" in get(host, "/")[1]


def test_a_page_does_not_wait_for_a_writer(opened: Callable[..., TestClient], copied: str, stored: Stored) -> None:
    """While another process holds the store's lock a page that would keep what it computes is shown without."""
    page = f"/runs/{stored.ids['bad']}?baseline={stored.ids['good']}"
    with closing(sqlite3.connect(copied.removeprefix("sqlite:///"), isolation_level=None)) as writer:
        writer.execute("DELETE FROM cards")
        writer.execute("BEGIN IMMEDIATE")
        shown = opened(copied).get(page)
        writer.execute("ROLLBACK")
    assert shown.status_code == 200
    assert shown.text.count("<svg")
    assert opened(copied).get(page).status_code == 200
