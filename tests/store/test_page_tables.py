"""The tables that pages are read from: the migration fills them as they are filled today, and filters read them."""

from __future__ import annotations

import sqlite3
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.api.test_baseline import evaluated

from ragauge.core.errors import UnknownName
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.store.migrations.versions.v0011_pages import INDEXES
from ragauge.store.responses import parse_groups, select_by_groups, select_run_responses
from ragauge.store.schema import examples, responses
from ragauge.store.store_access import open_store

TABLES = ("summary_values", "cards", "charts", "run_tags", "example_groups")
LATER = (  # of the migrations after it
    "check_log",
    "evaluations",
    "inbox",
    "traces",
    "trace_batches",
    "ledger",
    "series",
    "alerts",
    "deliveries",
    "jobs",
    "tails",
    "signals",
    "periods",
    "silences",
    "returns",
    "return_batches",
    "last_numbers",
    "example_indexes",
    "verdicts",
    "controls",
    "verdict_counts",
    "control_evidence",
    "labeled_responses",
    "own_metrics",
)
COLUMNS = {
    "runs": ("writes", "confirms", "example_writes"),
    "judges": ("writes",),
    "causes": ("name",),
    "responses": ("chance",),
}


def rows_of(path: str) -> dict[str, list[Any]]:
    """What follows from the older tables."""
    with sqlite3.connect(path) as raw:
        found = {
            "summary_values": sorted(raw.execute("SELECT * FROM summary_values"), key=repr),
            "example_groups": sorted(raw.execute("SELECT * FROM example_groups"), key=repr),
        }
        found["causes"] = sorted(raw.execute("SELECT run_no, response_no, judge_no, judge_repeat, name FROM causes"))
        found["runs"] = sorted(raw.execute("SELECT run_id, confirms FROM runs"))
    raw.close()
    return found


def test_the_migration_fills_what_is_written_today(tmp_path: Path) -> None:
    """A store whose new tables and columns are taken away has the same rows again once it was brought up to date."""
    url = f"sqlite:///{tmp_path}/old.db"
    evaluated(url, "main", invented=3, segments=())
    evaluated(url, "changed", missed=10)
    with open_store(url) as store:
        segments, tags = {"type": "a", "tag": "b\x00"}, frozenset({"golden", "old"})
        record = Example("q", "?", segments=segments, tags=tags), Response("q")
        store.runs.import_run(Run("r", "tests it", config={"confirms": "main\x00"}), [record])
    path = url.removeprefix("sqlite:///")
    before = rows_of(path)
    assert all(before.values())
    with sqlite3.connect(path) as raw:
        for name in (*INDEXES, "examples_by_question"):
            raw.execute(f"DROP INDEX {name}")
        for name in TABLES:
            raw.execute(f"DROP TABLE {name}")
        for name in LATER:
            raw.execute(f"DROP TABLE {name}")
        for table, columns in COLUMNS.items():
            for column in columns:
                raw.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        raw.execute("UPDATE ragauge_version SET version_num = '0010'")
    raw.close()
    with pytest.warns(UserWarning, match="is brought from version 0010"):
        open_store(url).close()
    assert rows_of(path) == before


@pytest.mark.parametrize(
    "keep",
    [
        {"type": "a"},
        {"type": "b", "tag": "golden"},
        {"tag": "old"},
        {"tag": "own"},
        {"type": "a", "tag": "golden"},
        {"tpye": "a"},
        {"type": "c"},
        {"tag": "none"},
    ],
)
def test_groups_are_kept_as_they_are_read(sqlite_url: str, keep: dict[str, str]) -> None:
    """Filtering by the table of groups is filtering by what stands with each example, a segment named tag included."""
    segments_of: tuple[dict[str, str], ...] = ({}, {"type": "a"}, {"type": "b"}, {"tag": "own", "type": "a"})
    sets = product(segments_of, ((), ("golden",), ("old", "golden")))
    records = [
        (Example(f"q{n}", "?", segments=segments, tags=frozenset(tags)), Response(f"q{n}"))
        for n, (segments, tags) in enumerate(sets)
    ]
    with open_store(sqlite_url) as store:
        run = store.runs.import_run(Run("r", "r"), records)
        from sqlalchemy import select

        with store._database.read() as connection:
            query = select_run_responses(select(responses.c.response_no, examples.c.query_key, examples.c.groups), 1)
            every = [(number, key, parse_groups(groups)) for number, key, groups in connection.execute(query)]
        try:
            wanted = list(select_by_groups(every, keep))
        except UnknownName as error:
            with pytest.raises(UnknownName, match=str(error)[:20]):
                store.runs.load_order(run.run_id, keep)
            return
        assert list(store.runs.load_order(run.run_id, keep)) == wanted
