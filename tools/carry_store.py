"""Carries a store that was written before the first release into a new store: OLD NEW.

    python tools/carry_store.py .ragauge/ragauge.db .ragauge/carried.db

Stores of versions 0001 to 0030 and 1 are read; OLD stays as it is. Rows are copied as they stand, table by table:
numbers, evidence keys, judges and scores are what they were, so that a run that is evaluated again by the same judge
asks nothing. What a version did not store yet gets the column's default, or is derived from what it stored: groups of
examples, the runs that others confirm, names of causes, means for lists (0011), and a verdict of no rule for every
response that was judged (0026), so that the next evaluation decides it.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ragauge.core.errors import StoreError
from ragauge.store.migrations.upgrade import HEAD, TABLE, UNRELEASED_VERSIONS
from ragauge.store.store_access import open_store
from ragauge.store.text_codec import escape_text, unpack_text

CACHE = "cards"  # parts of scorecards, which older stores kept whole: they are computed at the first view
SUMMARY_KEYS = ("metric", "measures", "direction", "kind", "n", "scored", "undefined", "not_applicable", "failed")
LAST_JUDGES = """
    SELECT s.run_no, s.judge_no FROM summaries AS s JOIN judges AS j USING (judge_no)
    WHERE s.judge_repeat = 0 ORDER BY s.run_no, j.judge_id != '',
    (SELECT max(r.at) FROM run_judges AS r WHERE r.run_no = s.run_no AND r.judge_no = s.judge_no), s.judge_no
"""
NO_VERDICTS = """
    INSERT INTO verdicts (run_no, response_no, judge_no, judge_repeat, verdict, "right", grounded, rule, controls)
    SELECT DISTINCT run_no, response_no, judge_no, judge_repeat, 3, 3, 3, 0, '' FROM scores
"""


def main(old: str, new: str) -> None:
    """Carries the store over and prints how many rows of each table were copied."""
    for table, n_rows in carry_store(Path(old), Path(new)).items():
        if n_rows:
            print(f"{table}: {n_rows}")


def carry_store(old: Path, new: Path) -> dict[str, int]:
    """Makes the new store; returns the copied rows by table.

    Raises:
        StoreError: the old file is not a store of before the first release, or the new one exists.
    """
    if new.exists():
        raise StoreError(f"{new} exists. Name a file that does not.")
    version = read_version(old)
    part = new.with_name(f"{new.name}.part")
    part.unlink(missing_ok=True)
    try:
        open_store(str(part)).close()
        with closing(sqlite3.connect(part, isolation_level=None, uri=True)) as store:
            store.execute("ATTACH ? AS old", (read_only_uri(old),))
            store.execute("BEGIN IMMEDIATE")  # foreign keys are not checked: tables come in no order
            n_rows_by_table = dict(copy_tables(store))
            if version < "0011":
                fill_page_tables(store)
            if version < "0026":
                store.execute(NO_VERDICTS)
            store.execute("COMMIT")
        part.replace(new)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{old} could not be carried over into {new}: {error}. {old} is unchanged.") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return n_rows_by_table


def read_version(path: Path) -> str:
    """The version of a store of before the first release."""
    if not path.is_file():
        raise StoreError(f"there is no store at {path}.")
    try:
        with closing(sqlite3.connect(read_only_uri(path), uri=True)) as store:
            version = str(store.execute(f"SELECT version_num FROM {TABLE}").fetchone()[0])  # noqa: S608 - a constant
    except (sqlite3.Error, TypeError) as error:
        raise StoreError(f"{path} is not a store of ragauge: {error}.") from error
    if not UNRELEASED_VERSIONS.fullmatch(version):
        raise StoreError(
            f"the store {path} has version {version}, expected 0001 to 0030 or 1; {HEAD} needs no carrying."
        )
    return version


def read_only_uri(path: Path) -> str:
    """The address by which SQLite only reads a file."""
    return f"{path.absolute().as_uri()}?mode=ro"


def copy_tables(store: sqlite3.Connection) -> Iterator[tuple[str, int]]:
    """Copies every table that both have, by the columns that both have, and the numbers that were given last."""
    names = "SELECT name FROM {}.sqlite_master WHERE type = 'table'"
    existing = {name for (name,) in store.execute(names.format("old"))}
    for (table,) in store.execute(names.format("main")).fetchall():
        if table not in existing or table == TABLE:
            continue
        columns, old_columns = (list_columns(store, schema, table) for schema in ("main", "old"))
        if table == CACHE and len(old_columns) < len(columns):
            continue
        common = ", ".join(f'"{name}"' for name in columns if name in old_columns)
        if table == "sqlite_sequence":
            store.execute("DELETE FROM main.sqlite_sequence")
        copy = f'INSERT INTO main."{table}" ({common}) SELECT {common} FROM old."{table}"'  # noqa: S608 - our own names
        cursor = store.execute(copy)
        yield table, cursor.rowcount


def list_columns(store: sqlite3.Connection, schema: str, table: str) -> list[str]:
    """Names of a table's columns."""
    return [name for (name,) in store.execute("SELECT name FROM pragma_table_info(?, ?)", (table, schema))]


def fill_page_tables(store: sqlite3.Connection) -> None:
    """Derives what lists and pages are read from."""
    store.executemany(
        "UPDATE runs SET confirms = ? WHERE run_no = ?",
        [
            (escape_text(str(confirmed)), run_no)
            for run_no, config in read_packed(store, "SELECT run_no, config FROM runs")
            if (confirmed := config.get("confirms", ""))
        ],
    )
    causes = "SELECT run_no, response_no, judge_no, judge_repeat, body FROM causes"
    store.executemany(
        "UPDATE causes SET name = ? WHERE run_no = ? AND response_no = ? AND judge_no = ? AND judge_repeat = ?",
        [(cause["name"], *key) for *key, cause in read_packed(store, causes)],
    )
    store.executemany(
        "INSERT OR IGNORE INTO example_groups (example_no, name, value) VALUES (?, ?, ?)",
        [
            (example_no, escape_text(name), escape_text(str(value)))
            for example_no, groups in read_packed(store, "SELECT example_no, groups FROM examples WHERE groups NOTNULL")
            for name, value in (*groups.get("segments", {}).items(), *(("", tag) for tag in groups.get("tags", ())))
        ],
    )
    last_judges = dict(store.execute(LAST_JUDGES).fetchall())
    summaries = "SELECT run_no, judge_no, judge_repeat, body FROM summaries"
    rows = [
        (
            *(run_no, judge_no, repeat, place),
            *(summary[key] for key in SUMMARY_KEYS),
            *(summary.get("mean"), interval.get("low"), interval.get("high")),
            int(last_judges.get(run_no) == judge_no and repeat == 0),
        )
        for run_no, judge_no, repeat, body in read_packed(store, summaries)
        for place, summary in enumerate(body)
        for interval in (summary.get("judged") or summary.get("interval") or {},)
    ]
    columns = ("run_no", "judge_no", "judge_repeat", "place", *SUMMARY_KEYS, "mean", "low", "high", "shown")
    values = ", ".join("?" * len(columns))
    insert = f"INSERT INTO summary_values ({', '.join(columns)}) VALUES ({values})"  # noqa: S608 - our own names
    store.executemany(insert, rows)


def read_packed(store: sqlite3.Connection, query: str) -> list[tuple[Any, ...]]:
    """Rows whose last column is packed JSON, with what it holds."""
    return [(*key, json.loads(unpack_text(body))) for *key, body in store.execute(query)]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python tools/carry_store.py OLD NEW")
    try:
        main(*sys.argv[1:])
    except StoreError as error:
        sys.exit(f"error: {error}")
