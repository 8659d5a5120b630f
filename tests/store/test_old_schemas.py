"""Stores as earlier versions wrote them."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import ragauge as rg
from ragauge.store.open import open_store

GOLDEN = Path(__file__).parent / "golden"
COLUMNS = ("query_id", "metric", "status", "value", "numerator", "denominator")


def restored(name: str, folder: Path) -> str:
    """The URL of a store made from a dump."""
    path = folder / f"{name}.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(gzip.decompress((GOLDEN / f"{name}.sql.gz").read_bytes()).decode())
    connection.close()
    return f"sqlite:///{path}"


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
