"""tools/carry_store.py: a store from before the first release, carried into a new one."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.api.test_baseline import evaluated
from tests.engine.tiny_judge import LOG, SPEC

import ragauge as rg
from ragauge.core.errors import StoreError
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.store.store_access import open_store

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/carry_store.py"
GOLDEN = Path(__file__).parent / "golden"
COLUMNS = ("query_id", "metric", "status", "value", "numerator", "denominator")
METRICS = ["recall@5", "faithfulness", "contradicted", "answer_correctness", "answer_tokens"]
DERIVED = ("summary_values", "example_groups", "causes", "runs")


def load_tool() -> Any:
    """The script as a module; tools/ is no package."""
    spec = importlib.util.spec_from_file_location("carry_store", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def restore(name: str, folder: Path) -> Path:
    """A store made from a dump."""
    path = folder / f"{name}.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(gzip.decompress((GOLDEN / f"{name}.sql.gz").read_bytes()).decode())
    return path


def stamp(path: Path, version: str) -> None:
    """Gives a store's file another version."""
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE ragauge_version SET version_num = ?", (version,))


def read_rows(path: Path) -> dict[str, list[Any]]:
    """Every row of every table, and what is numbered by itself."""
    with closing(sqlite3.connect(path)) as raw:
        tables = [name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        read = 'SELECT * FROM "{}"'.format  # of tables that the store itself names
        rows = {table: sorted(raw.execute(read(table)), key=repr) for table in tables}
    del rows["ragauge_version"]
    return rows


@pytest.mark.parametrize("version", ["0001", "0025", "0030"])
def test_scores_are_carried_over(version: str, tmp_path: Path) -> None:
    """The oldest store, one of commit 62527f44 and one of the last version keep their scores; the old file stays."""
    old, new = restore(f"store-{version}", tmp_path), tmp_path / "new.db"
    before = old.read_bytes()
    done = subprocess.run([sys.executable, TOOL, old, new], capture_output=True, text=True, check=True)
    assert "responses: 3\n" in done.stdout
    with open_store(str(new)) as store:
        run = store.runs.find("old")
        (judge,) = (judge for judge in store.scores.judges(run.run_id) if judge)
        frame = store.scores.load_frame(run.run_id, judge)
        assert store.integrity.list_problems() + store.integrity.list_damaged() == []
    expected = json.loads((GOLDEN / f"store-{version}.scores.json").read_text())
    assert frame.select(COLUMNS).sort(*COLUMNS[:2]).to_dicts() == sorted(
        expected, key=lambda score: (score["query_id"], score["metric"])
    )
    assert old.read_bytes() == before


@pytest.mark.parametrize("version", ["0025", "0030"])
def test_a_run_is_evaluated_again_without_asking(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge of the run is asked nothing: its evidence is found by its keys. The means are what they were."""
    new = tmp_path / "new.db"
    load_tool().carry_store(restore(f"store-{version}", tmp_path), new)
    card = rg.open_run("old", store=str(new)).scorecard()
    means = {metric: card[metric].mean for metric in METRICS}
    monkeypatch.setenv(LOG, str(tmp_path / "asked"))
    again = rg.evaluate("old", metrics=METRICS, judge=SPEC, store=str(new), workers=1)
    assert {metric: again[metric].mean for metric in METRICS} == means
    assert None not in means.values()
    assert not (tmp_path / "asked").exists()


def test_an_empty_store_is_carried_over(tmp_path: Path) -> None:
    """A store without runs becomes one that takes a run."""
    new = tmp_path / "new.db"
    load_tool().carry_store(restore("store-0001-empty", tmp_path), new)
    assert rg.runs(store=str(new)) == []
    rows = [{"query": "How long?", "answer": "The trial lasts 30 days."}]
    assert rg.evaluate(rows, metrics="answer_tokens", store=str(new))["answer_tokens"].scored == 1


def test_every_row_is_carried_over(tmp_path: Path) -> None:
    """A store of the last version has the same rows in every table, and no number of a deleted run comes back."""
    old, new = make_store(tmp_path), tmp_path / "new.db"
    with open_store(str(old)) as store:
        store.runs.delete(store.runs.find("tests it").run_id)
    stamp(old, "0030")
    expected = read_rows(old)
    assert expected["sqlite_sequence"] == [("runs", 3)]
    load_tool().carry_store(old, new)
    assert read_rows(new) == expected


def test_what_follows_from_older_tables_is_derived(tmp_path: Path) -> None:
    """Of a store without the tables and columns of lists, these are filled as they are filled today."""
    old, new = make_store(tmp_path), tmp_path / "new.db"
    expected = {table: read_rows(old)[table] for table in DERIVED}
    assert all(expected.values())
    with closing(sqlite3.connect(old)) as raw, raw:
        raw.execute("DROP INDEX runs_by_confirms")
        raw.execute("ALTER TABLE runs DROP COLUMN confirms")
        raw.execute("ALTER TABLE causes DROP COLUMN name")
        raw.execute("DROP TABLE summary_values")
        raw.execute("DROP TABLE example_groups")
        raw.execute("DROP TABLE verdicts")
    stamp(old, "0010")
    load_tool().carry_store(old, new)
    assert {table: read_rows(new)[table] for table in DERIVED} == expected


def make_store(folder: Path) -> Path:
    """A store with two evaluated runs and one that tests the causes of another."""
    path = folder / "old.db"
    url = f"sqlite:///{path}"
    evaluated(url, "main", invented=3, segments=())
    evaluated(url, "changed", missed=10)
    with open_store(url) as store:
        example = Example("q", "?", segments={"type": "a", "tag": "b\x00"}, tags=frozenset({"golden", "old"}))
        run = Run("r", "tests it", config={"confirms": "main\x00"})
        store.runs.import_run(run, [(example, Response("q"))])
    return path


@pytest.mark.parametrize("version", ["0001", "0025"])
def test_what_was_judged_before_verdicts_is_outdated(version: str, tmp_path: Path) -> None:
    """Responses that were judged before there were verdicts have one of no rule, so that they are decided again."""
    new = tmp_path / "new.db"
    load_tool().carry_store(restore(f"store-{version}", tmp_path), new)
    with open_store(str(new)) as store:
        run = store.runs.find("old")
        (judge,) = (judge for judge in store.scores.judges(run.run_id) if judge)
        verdicts = dict(store.verdicts.read(run.run_id, judge))
        assert len(verdicts) == 3
        assert store.verdicts.find_outdated(run.run_id, judge) == set(verdicts)
        assert {verdict.verdict for verdict in verdicts.values()} == {"not_judged"}


def test_opening_such_a_store_names_the_command(tmp_path: Path) -> None:
    """The error names the file, both versions and the command, which works as it is printed; no row is changed."""
    old = restore("store-0025", tmp_path)
    before = read_rows(old)
    with pytest.raises(StoreError) as caught:
        open_store(str(old))
    message = str(caught.value)
    assert f"{old} was written before the first release of ragauge: its version is 0025, expected 2." in message
    words = message.rpartition(": ")[2].split()
    assert words == ["python", "tools/carry_store.py", str(old), str(tmp_path / "store-0025.carried.db")]
    assert read_rows(old) == before
    subprocess.run([sys.executable, *words[1:]], check=True, cwd=ROOT, capture_output=True)
    assert [run.name for run in rg.runs(store=words[3])] == ["old"]


def test_the_script_says_what_it_takes(tmp_path: Path) -> None:
    """Without two files it exits with its usage; with one that is not there, with an error in words."""
    for words, problem in (
        ([], "usage: python tools/carry_store.py OLD NEW\n"),
        ([tmp_path / "absent.db", tmp_path / "new.db"], f"error: there is no store at {tmp_path / 'absent.db'}.\n"),
    ):
        done = subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, problem)


def test_what_cannot_be_carried_over_is_refused(tmp_path: Path) -> None:
    """A store of today, another file, no file, and a new file that exists: each is refused, and nothing is left."""
    carry, new = load_tool().carry_store, tmp_path / "new.db"
    today, other = tmp_path / "today.db", tmp_path / "notes.txt"
    open_store(str(today)).close()
    other.write_text("not a database" * 100)
    for old, problem in (
        (today, "has version 2, expected 0001 to 0030 or 1"),
        (other, "is not a store of ragauge: file is not a database"),
        (tmp_path / "absent.db", "there is no store at"),
    ):
        with pytest.raises(StoreError, match=problem):
            carry(old, new)
    with pytest.raises(StoreError, match="exists\\. Name a file that does not"):
        carry(restore("store-0001", tmp_path), today)
    damaged = restore("store-0030", tmp_path)
    with closing(sqlite3.connect(damaged)) as raw, raw:
        raw.execute("INSERT INTO charts (digest, svg) VALUES (x'00', x'01')")
        raw.execute("ALTER TABLE charts RENAME TO drawn")
        raw.execute("CREATE TABLE charts AS SELECT digest, NULL AS svg FROM drawn")
    with pytest.raises(StoreError, match=r"could not be carried over .*NOT NULL.* is unchanged"):
        carry(damaged, new)
    assert not list(tmp_path.glob("new.db*"))
