"""Opening a store: making, upgrading and refusing it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from ragauge.core.errors import StoreError, UsageError
from ragauge.store import migrations
from ragauge.store.migrations.upgrade import HEAD, VERSIONS
from ragauge.store.store_access import open_store

SRC = str(Path(__file__).resolve().parents[2] / "src")
OPEN_AND_WRITE = """
import sys, time
from pathlib import Path
from ragauge.core.example import Example
from ragauge.core.response import Run
from ragauge.store.store_access import open_store
while not Path(sys.argv[2]).exists():
    time.sleep(0.001)
with open_store(sys.argv[1]) as store:
    store.runs.import_run(Run("", sys.argv[3]), [(Example(sys.argv[3], "?"), None)])
"""


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def test_folder_and_tables_are_made(sqlite_url: str) -> None:
    """A store is made with its folder, in WAL mode, at the newest version; opening it again changes nothing."""
    for _ in range(2):
        with open_store(sqlite_url) as store:
            assert store.runs.list() == []
    raw = sqlite3.connect(path_of(sqlite_url))
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert raw.execute("SELECT version_num FROM ragauge_version").fetchall() == [(HEAD,)]
    raw.close()


def test_relative_url_and_plain_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative URL and the path alone are one file below the current folder; the store's own URL is absolute."""
    monkeypatch.chdir(tmp_path)
    urls = set()
    for url in ("sqlite:///a b/%20?x#.db", "a b/%20?x#.db"):
        with open_store(url) as store:
            urls.add(store.url)
    assert urls == {f"sqlite:///{tmp_path}/a b/%20?x#.db"}
    assert (tmp_path / "a b" / "%20?x#.db").exists()


@pytest.mark.parametrize("url", ["", "sqlite://", "sqlite:///", "sqlite:///:memory:", "mysql://host/db", "redis://x"])
def test_url_of_no_file_is_refused(url: str) -> None:
    """A URL that names no file is a usage error that says what to write."""
    with pytest.raises(UsageError, match="a store is a SQLite file"):
        open_store(url)


def test_tables_of_version_2_do_not_change(sqlite_url: str) -> None:
    """A new store has the tables and indexes of golden/store-2.sql: stores out there have them too.

    Before the first release, a change of the tables goes into that file, and into tools/carry_store.py what it means
    for older stores; after it, the change is a second version.
    """
    open_store(sqlite_url).close()
    raw = sqlite3.connect(path_of(sqlite_url))
    statements = [sql for (sql,) in raw.execute("SELECT sql FROM sqlite_master WHERE sql NOTNULL ORDER BY name")]
    raw.close()
    made = "".join(f"{' '.join(sql.split())};\n" for sql in statements)
    assert made == (Path(__file__).parent / "golden/store-2.sql").read_text(encoding="utf-8")


def test_versions_are_those_of_the_scripts() -> None:
    """The versions that the program knows are its migration files, in their order."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    scripts = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(scripts)) == VERSIONS


def test_newer_store_is_refused(sqlite_url: str) -> None:
    """A store of a later version is refused, with both versions and what to do, and is not touched."""
    open_store(sqlite_url).close()
    raw = sqlite3.connect(path_of(sqlite_url))
    raw.execute("UPDATE ragauge_version SET version_num = '9999'")
    raw.commit()
    raw.close()
    with pytest.raises(StoreError, match=f"its version is 9999, this ragauge reads versions up to {HEAD}"):
        open_store(sqlite_url)


def test_other_database_is_refused(sqlite_url: str) -> None:
    """Another program's database is refused, and no table is added to it."""
    path_of(sqlite_url).parent.mkdir()
    raw = sqlite3.connect(path_of(sqlite_url))
    raw.execute("CREATE TABLE theirs (x)")
    raw.commit()
    with pytest.raises(StoreError, match="another program's database"):
        open_store(sqlite_url)
    assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    raw.close()


def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """A file of something else is refused and stays as it is."""
    path = tmp_path / "answers.jsonl"
    path.write_text('{"query": "?"}\n' * 100)
    with pytest.raises(StoreError, match="not a database"):
        open_store(str(path))
    assert path.read_text() == '{"query": "?"}\n' * 100


def test_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """A folder below a file cannot be made: the error names it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"folder .* cannot be made"):
        open_store(str(tmp_path / "file" / "store.db"))


def test_first_opened_by_several_at_once(sqlite_url: str, tmp_path: Path) -> None:
    """Six processes that open a store that is not there, at one moment, all succeed, and all of their runs are kept."""
    go = tmp_path / "go"
    command = [sys.executable, "-c", OPEN_AND_WRITE, sqlite_url, str(go)]
    processes = [
        subprocess.Popen([*command, f"run{i}"], stderr=subprocess.PIPE, text=True, env={"PYTHONPATH": SRC})
        for i in range(6)
    ]
    go.touch()
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    with open_store(sqlite_url) as store:
        assert {run.name for run in store.runs.list()} == {f"run{i}" for i in range(6)}


def test_opening_imports_nothing_heavy_before() -> None:
    """Importing the module of `open_store` loads no database library: that happens when a store is opened."""
    heavy = "('sqlalchemy', 'alembic', 'polars')"
    code = f"import sys, ragauge.store.store_access; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
