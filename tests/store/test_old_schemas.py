"""Stores as earlier versions wrote them."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

import ragauge as rg
from ragauge.store import migrations
from ragauge.store.judges import LabelFile, TextScore
from ragauge.store.migrations.upgrade import HEAD, TABLE, VERSIONS
from ragauge.store.open import open_store
from ragauge.store.run_log import Note, Pointer

GOLDEN = Path(__file__).parent / "golden"
COLUMNS = ("query_id", "metric", "status", "value", "numerator", "denominator")


def restored(name: str, folder: Path) -> str:
    """The URL of a store made from a dump."""
    path = folder / f"{name}.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(gzip.decompress((GOLDEN / f"{name}.sql.gz").read_bytes()).decode())
    connection.close()
    return f"sqlite:///{path}"


def brought_to(version: str, url: str) -> None:
    """Upgrades a store to an older version than this program's."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    engine = create_engine(url)
    with engine.begin() as connection:
        config.attributes.update(connection=connection, version_table=TABLE)
        command.upgrade(config, version)
    engine.dispose()


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_case_64_every_older_schema(version: str, tmp_path: Path) -> None:
    """A store with rows at any older version opens, keeps its scores, and takes a baseline, a note and a check."""
    url = restored("store-v1", tmp_path)
    brought_to(version, url)
    with open_store(url) as store:
        run = store.runs.find("old")
        (judge,) = store.scores.judges(run.run_id)
        found = store.scores.frame(run.run_id, judge).select(COLUMNS).to_dicts()
        assert (store.baselines.list(), store.run_log.notes(), store.checks.files()) == ([], {}, [])
        kept = store.baselines.set(Pointer("main", run.run_id))
        note = store.run_log.note(run.run_id, Note("of old"))
        file = LabelFile(judge or "local", "verify_answer", 1, b"f" * 32, "labels.jsonl", at="2026-01-02")
        store.checks.keep(file, [TextScore("faithfulness", b"i" * 32, b"e" * 32, 1.0, 0.5, 1)])
    assert found == json.loads((GOLDEN / "store-v1.scores.json").read_text())
    with open_store(url) as store:
        assert store.baselines.get("main") == kept
        assert store.run_log.notes() == {run.run_id: note}
        assert store.checks.files() == [file]
    with sqlite3.connect(url.removeprefix("sqlite:///")) as raw:
        assert raw.execute("SELECT version_num FROM ragauge_version").fetchall() == [(HEAD,)]
    raw.close()


def test_case_64_oldest_schema_with_rows(tmp_path: Path) -> None:
    """A store written by the first version opens, is brought up to date, and its scores are what they were."""
    url = restored("store-v1", tmp_path)
    with open_store(url) as store:
        run = store.runs.find("old")
        (judge,) = store.scores.judges(run.run_id)
        found = store.scores.frame(run.run_id, judge).select(COLUMNS).to_dicts()
    assert found == json.loads((GOLDEN / "store-v1.scores.json").read_text())
    card = rg.open_run("old", store=url).scorecard()
    assert card["faithfulness"].scored == 2
    assert card["faithfulness"].mean == 0.5


def test_case_64_oldest_schema_without_rows(tmp_path: Path) -> None:
    """An empty store of the first version opens and takes a run."""
    url = restored("store-v1-empty", tmp_path)
    assert rg.runs(store=url) == []
    rows = [{"query": "How long?", "answer": "The trial lasts 30 days."}]
    assert rg.evaluate(rows, metrics="answer_tokens", store=url)["answer_tokens"].scored == 1


def test_what_was_judged_before_verdicts_is_outdated(tmp_path: Path) -> None:
    """Responses that an older version judged have no verdict of the present rule, so that they are decided again."""
    with open_store(restored("store-v1", tmp_path)) as store:
        run = store.runs.find("old")
        (judge,) = store.scores.judges(run.run_id)
        read = dict(store.verdicts.read(run.run_id, judge))
        assert store.verdicts.outdated(run.run_id, judge) == set(read)
        assert {verdict.verdict for verdict in read.values()} == {"not_judged"}
