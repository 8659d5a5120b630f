"""Runs that somebody works on: told across processes, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragauge.store.sqlite import lock_run

HOLD = """
import sys
from ragauge.store.sqlite import lock_run
with lock_run(sys.argv[1], sys.argv[2]) as alone:
    print(alone, flush=True)
    sys.stdin.read()
"""

Holder = Callable[[str, str], "subprocess.Popen[str]"]


@pytest.fixture
def holder() -> Iterator[Holder]:
    """Starts processes that hold a run until they are told to end."""
    started: list[subprocess.Popen[str]] = []

    def start(url: str, run_id: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", HOLD, url, run_id]
        made = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(made)
        return made

    yield start
    for one in started:
        one.kill()
        one.communicate()


def _said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_one_holds_it_in_this_process(tmp_path: Path) -> None:
    """A run is held once in a process too; others are free, and so is it afterwards."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with lock_run(url, "r1") as first, lock_run(url, "r1") as again, lock_run(url, "r2") as other:
        assert (first, again, other) == (True, False, True)
        with lock_run(url, "r1") as third:
            assert not third  # the one that was not alone has freed nothing
    with lock_run(url, "r1") as later:
        assert later
    assert list(tmp_path.iterdir()) == []


def test_nothing_can_be_held_where_no_file_can_be_made(tmp_path: Path) -> None:
    """A store in a folder where no file can be made is worked on without a lock."""
    (tmp_path / "file").touch()
    url = f"sqlite:///{tmp_path / 'file' / 'a.db'}"
    with lock_run(url, "r1") as first, lock_run(url, "r1") as again:
        assert (first, again) == (True, True)


def test_a_killed_process_leaves_nothing_behind(tmp_path: Path, holder: Holder) -> None:
    """Another process's run is not ours to have alone while it lives, and is at once when it is killed."""
    url = f"sqlite:///{tmp_path / 'a.db'}"
    process = holder(url, "r1")
    assert _said(process) == "True"
    with lock_run(url, "r1") as mine, lock_run(url, "r2") as other:
        assert (mine, other) == (False, True)
    second = holder(url, "r1")
    assert _said(second) == "False"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with lock_run(url, "r1") as mine:
        assert mine
