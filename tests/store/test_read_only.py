"""A store whose file or folder cannot be written to: it is read as it is, and nothing is written beside it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.unprivileged import ROOT, SRC, read_only, run_python

from ragauge.core.errors import StoreError
from ragauge.core.example import Example
from ragauge.core.response import Run
from ragauge.store.sqlite import build_read_url
from ragauge.store.store_access import open_store

LIST = """
import sys
from ragauge.store.store_access import open_store
with open_store(sys.argv[1]) as store:
    print(*sorted(run.name for run in store.runs.list()))
"""
LIST_LATER = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
from tests.store.next_version import add_next_version
add_next_version(Path(sys.argv[2]))
{LIST}"""
NOTE = """
import sys
from ragauge.core.example import Example
from ragauge.core.response import Run
from ragauge.store.store_access import open_store
with open_store(sys.argv[1]) as store:
    store.runs.import_run(Run("", "second"), [(Example("q", "second?"), None)])
"""
SUMMARIZE = """
import sys
from ragauge.store.store_access import open_store
with open_store(sys.argv[1]) as store:
    run = store.runs.find("first")
    store.summaries.write(run.run_id, None, [])
    print(store.summaries.read(run.run_id, None))
"""
KILLED = """
import os, signal, sys
from ragauge.core.example import Example
from ragauge.core.response import Run
from ragauge.store.store_access import open_store
store = open_store(sys.argv[1])
store.runs.import_run(Run("", "in_the_log"), [(Example("q", "log?"), None)])
os.kill(os.getpid(), signal.SIGKILL)
"""
CHANGED = """
import os, sqlite3, sys
from pathlib import Path
from ragauge.store.store_access import open_store
path = Path(sys.argv[1])
with open_store(str(path)) as store:
    print(*(run.name for run in store.runs.list()))
    for one in (path.parent, path):
        one.chmod(0o755)
    other = sqlite3.connect(path)
    other.execute("UPDATE runs SET name = 'renamed'")
    other.commit()
    other.close()
    store.runs.list()
"""


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """A store with one run; it may be written to again in the end, so that it can be removed."""
    path = tmp_path / "a b%20?x#" / "store.db"
    with open_store(str(path)) as store:
        store.runs.import_run(Run("", "first"), [(Example("q", "?"), None)])
    yield path
    path.parent.chmod(0o755)


def test_a_store_that_can_only_be_read_is_read(path: Path) -> None:
    """With file and folder read-only its runs are listed, and no file is added to the folder."""
    before = sorted(one.name for one in path.parent.iterdir())
    read_only(path.parent)
    done = run_python("-c", LIST, path)
    assert (done.stdout, done.stderr) == ("first\n", "")
    assert sorted(one.name for one in path.parent.iterdir()) == before


@pytest.mark.parametrize("which", ["file", "folder"])
def test_either_alone_makes_it_read_only(path: Path, which: str) -> None:
    """A read-only file in a folder that can be written to, and the other way round: both are read, neither changed."""
    (path if which == "file" else path.parent).chmod(0o444 if which == "file" else 0o555)
    before = sorted(one.name for one in path.parent.iterdir())
    done = run_python("-c", LIST, path)
    assert (done.stdout, done.stderr) == ("first\n", "")
    assert sorted(one.name for one in path.parent.iterdir()) == before


def test_writing_to_it_says_what_to_do(path: Path) -> None:
    """A write is refused with the store's name and the way out, and nothing is kept."""
    read_only(path.parent)
    done = run_python("-c", NOTE, path)
    assert "StoreError" in done.stderr
    assert f"{path} can be read but not written to: its file or folder is read-only. Copy its folder" in done.stderr
    assert "--store or RAGAUGE_STORE" in done.stderr
    assert run_python("-c", LIST, path).stdout == "first\n"


def test_summaries_are_left_as_they_are(path: Path) -> None:
    """Keeping a report's summaries, which follow from the scores, is left out and fails nothing."""
    read_only(path.parent)
    done = run_python("-c", SUMMARIZE, path)
    assert (done.stdout, done.stderr) == ("()\n", "")


def test_what_a_killed_process_left_in_the_log_is_read(path: Path) -> None:
    """A run that is in the write-ahead log alone is read with it; without the -shm file the error says what to do."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], env={"PYTHONPATH": SRC}, check=False)
    assert done.returncode == -9
    shared = path.with_name("store.db-shm")
    read_only(path.parent)
    assert run_python("-c", LIST, path).stdout == "first in_the_log\n"
    path.parent.chmod(0o755)
    shared.unlink()
    path.parent.chmod(0o555)
    refused = run_python("-c", LIST, path).stderr
    assert f"its last changes are in {path}-wal" in refused
    assert "Copy its folder to one that you may write to" in refused


def test_a_reader_sees_what_a_writer_commits(path: Path) -> None:
    """While another process has the store open and its commits are in the log, a process that may only read sees them.

    The writer keeps what it opened: taking its rights afterwards does not end it.
    """
    with open_store(str(path)) as store:
        store.runs.import_run(Run("", "later"), [(Example("q", "later?"), None)])
        assert path.with_name("store.db-wal").stat().st_size
        read_only(path.parent)
        assert run_python("-c", LIST, path).stdout == "first later\n"
        for one in (path.parent, *path.parent.iterdir()):
            one.chmod(0o755)


def test_a_change_during_reading_is_an_error(path: Path) -> None:
    """What is read from a file that another process changes meanwhile is refused, never shown as half of each."""
    read_only(path.parent)
    done = run_python("-c", CHANGED, path)
    assert done.stdout == "first\n"
    assert "was changed by another process while it was read. Run the same command again." in done.stderr


def test_an_older_store_is_read_through_a_copy(path: Path, tmp_path: Path) -> None:
    """An older store that cannot be upgraded is read through a copy that is; one without tables is refused."""
    empty = path.with_name("empty.db")
    empty.touch()
    before = path.read_bytes()
    read_only(path.parent)
    done = run_python("-c", LIST_LATER, path, tmp_path / "migrations")
    assert done.stdout == "first\n"
    assert "was written by an older ragauge (version 2): it is read through a temporary copy" in done.stderr
    assert path.read_bytes() == before
    assert "has no tables yet" in run_python("-c", LIST, empty).stderr


def test_who_refuses_a_write_is_named(path: Path) -> None:
    """A store that was opened by --read-only says so; its file, which can be written to, is not blamed."""
    with open_store(build_read_url(f"sqlite:///{path}")) as store, pytest.raises(StoreError) as told:
        store.runs.delete(store.runs.list()[0].run_id)
    assert "was opened read-only, by --read-only" in str(told.value)
    assert "its file or folder" not in str(told.value)


def test_a_file_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """In a folder that cannot be written to, a new store is refused with the option that names another place."""
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o555)
    for path, what in ((folder / "new.db", "file"), (folder / "more" / "new.db", "folder")):
        said = run_python("-c", LIST, path).stderr
        assert f"the store's {what} " in said
        assert "Name a place that you may write to with --store sqlite:///PATH, or set RAGAUGE_STORE." in said
    folder.chmod(0o755)
