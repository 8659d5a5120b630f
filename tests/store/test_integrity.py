"""Whether what a store holds can be read, and how it is said where it cannot."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import ragauge as rg
from ragauge.core.errors import StoreError
from ragauge.store.store_access import open_store

LONG = "The tower is 330 metres tall and stands in Paris, and nobody has ever measured it twice. " * 6


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a run of two evaluated examples whose texts are long enough to be deflated."""
    texts = [{"query": f"How tall is {n}? {LONG}", "answer": f"{n}: {LONG}"} for n in range(2)]
    rows = [{"query_id": f"q{n}", "passages": [f"{n} {LONG}"], **text} for n, text in enumerate(texts)]
    rg.evaluate(rows, name="towers", metrics=["faithfulness"], store=f"sqlite:///{tmp_path / 's.db'}")
    return tmp_path / "s.db"


def damage(path: Path, table: str) -> None:
    """Turns bits in the first deflated body of a table, as a failing disk does."""
    with closing(sqlite3.connect(path)) as raw, raw:
        mine = "rowid IN (SELECT evidence_no FROM run_evidence)" if table == "evidence" else "1"
        deflated = f"substr(body, 1, 1) = x'01' AND {mine}"
        query = f"SELECT rowid, body FROM {table} WHERE {deflated} ORDER BY 1 LIMIT 1"  # noqa: S608 - a table of the schema
        row, packed = raw.execute(query).fetchone()
        turned = packed[:40] + bytes(byte ^ 0xFF for byte in packed[40:44]) + packed[44:]
        raw.execute(f"UPDATE {table} SET body = ? WHERE rowid = ?", (turned, row))  # noqa: S608 - a table of the schema


KINDS = {"responses": "response", "examples": "question and labels", "texts": "passage", "evidence": "judge's verdict"}


@pytest.mark.parametrize("table", KINDS)
def test_a_damaged_body_is_named(table: str, path: Path) -> None:
    """A body whose checksum is wrong is found, with the run and, where it is one's, the example that it belongs to."""
    with open_store(f"sqlite:///{path}") as store:
        assert (store.integrity.list_problems(), store.integrity.list_damaged()) == ([], [])
        run = store.runs.find("towers")
    damage(path, table)
    with open_store(f"sqlite:///{path}") as store:
        (part,) = store.integrity.list_damaged()
    assert (part.kind, part.run) == (KINDS[table], f"towers ({run.run_id})")
    assert part.query_id in {"texts": ("",), "evidence": ("q0", "q1")}.get(table, ("q0",))


@pytest.mark.parametrize("table", ["responses", "examples"])
def test_reading_a_damaged_body_is_an_error_in_words(table: str, path: Path) -> None:
    """Who reads it is told which example of which run, and what to do; nothing else is raised."""
    damage(path, table)
    with open_store(f"sqlite:///{path}") as store:
        run = store.runs.find("towers")
        numbers = list(store.runs.load_order(run.run_id).numbers)
        with pytest.raises(StoreError) as told:
            store.runs.load(numbers)
    assert f"example q0 of run towers ({run.run_id}) is damaged in the store" in str(told.value)
    assert f"ragauge runs delete {run.run_id}" in str(told.value)
