"""Version 11: what lists and pages are read from, filled from what is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    text,
)

from ragauge.store.text_codec import escape_text, unpack_text

revision = "0011"
down_revision = "0010"

metadata = MetaData()
Key = BigInteger().with_variant(Integer, "sqlite")
AT_A_TIME = 500

Table("runs", metadata, Column("run_no", Key, primary_key=True))
Table("judges", metadata, Column("judge_no", Key, primary_key=True))
Table("examples", metadata, Column("example_no", Key, primary_key=True))
NEW = (
    Table(
        "summary_values",
        metadata,
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
        Column("judge_repeat", Integer, primary_key=True),
        Column("place", Integer, primary_key=True),
        *(Column(name, Text, nullable=False) for name in ("metric", "measures", "direction", "kind")),
        *(Column(name, Integer, nullable=False) for name in ("n", "scored", "undefined", "not_applicable", "failed")),
        *(Column(name, Float) for name in ("mean", "low", "high")),
        Column("shown", SmallInteger, nullable=False),
        Index("summary_values_by_mean", "metric", "shown", "mean", "run_no"),
        sqlite_with_rowid=False,
    ),
    Table(
        "cards",
        metadata,
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
        Column("base_no", Integer, primary_key=True),
        Column("writes", Integer, nullable=False),
        Column("base_writes", Integer, nullable=False),
        Column("stamp", Text, nullable=False),
        Column("verdict", Text, nullable=False),
        Column("body", LargeBinary, nullable=False),
    ),
    Table(
        "charts",
        metadata,
        Column("digest", LargeBinary(32), primary_key=True),
        Column("svg", LargeBinary, nullable=False),
    ),
    Table(
        "run_tags",
        metadata,
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        Column("tag", Text, primary_key=True),
        Index("run_tags_by_tag", "tag", "run_no"),
        sqlite_with_rowid=False,
    ),
    Table(
        "example_groups",
        metadata,
        Column("example_no", Key, ForeignKey("examples.example_no", ondelete="CASCADE"), primary_key=True),
        Column("name", Text, primary_key=True),
        Column("value", Text, primary_key=True),
        sqlite_with_rowid=False,
    ),
)
LAST_JUDGES = """
    SELECT s.run_no, s.judge_no FROM summaries AS s JOIN judges AS j ON j.judge_no = s.judge_no
    WHERE s.judge_repeat = 0 ORDER BY s.run_no, j.judge_id != '',
    (SELECT max(r.at) FROM run_judges AS r WHERE r.run_no = s.run_no AND r.judge_no = s.judge_no), s.judge_no
"""
INDEXES = {
    "runs_by_set": ("runs", "set_name", "run_no"),
    "runs_by_version": ("runs", "set_version", "run_no", "writes"),
    "runs_by_name": ("runs", "name", "run_no"),
    "runs_by_confirms": ("runs", "confirms", "run_no"),
    "runs_by_heartbeat": ("runs", "heartbeat"),
    "responses_by_query": ("responses", "query_id", "run_no"),
    "calls_by_cost": ("calls", "run_no", "judge_no", "cost", "input_tokens"),
}


def upgrade() -> None:
    """Adds tables, columns and indexes, and fills them."""
    connection = op.get_bind()
    for name in ("runs", "judges"):
        op.add_column(name, Column("writes", Integer, nullable=False, server_default="0"))
    op.add_column("runs", Column("confirms", Text, nullable=False, server_default=""))
    op.add_column("causes", Column("name", Text, nullable=False, server_default=""))
    metadata.create_all(connection, tables=NEW, checkfirst=False)
    for index, (table, *columns) in INDEXES.items():
        op.create_index(index, table, columns)
    _fill(
        connection,
        "SELECT run_no, config FROM runs",
        "UPDATE runs SET confirms = :value WHERE run_no = :key",
        lambda config: escape_text(str(config.get("confirms", ""))),
    )
    _causes(connection)
    _groups(connection)
    _summaries(connection)


def _fill(connection: Connection, query: str, update: str, value: Any) -> None:
    """Sets a column from a packed body."""
    for part in connection.execute(text(query)).partitions(AT_A_TIME):
        rows = [{"key": key, "value": value(json.loads(unpack_text(body)))} for key, body in part]
        if filled := [row for row in rows if row["value"]]:
            connection.execute(text(update), filled)


def _causes(connection: Connection) -> None:
    keys = ("run_no", "response_no", "judge_no", "judge_repeat")
    condition = " AND ".join(f"{key} = :{key}" for key in keys)
    update = text(f"UPDATE causes SET name = :name WHERE {condition}")  # noqa: S608 - names of columns
    rows = connection.execute(text(f"SELECT {', '.join(keys)}, body FROM causes")).all()  # noqa: S608 - likewise
    names = [{**dict(zip(keys, row, strict=False)), "name": json.loads(unpack_text(row[4]))["name"]} for row in rows]
    if names:
        connection.execute(update, names)


def _groups(connection: Connection) -> None:
    query = text("SELECT example_no, groups FROM examples WHERE groups IS NOT NULL")
    insert = text("INSERT OR IGNORE INTO example_groups (example_no, name, value) VALUES (:example, :name, :value)")
    for part in connection.execute(query).partitions(AT_A_TIME):
        rows = [
            {"example": number, "name": escape_text(name), "value": escape_text(str(value))}
            for number, groups in part
            for name, value in _pairs(json.loads(unpack_text(groups)))
        ]
        if rows:
            connection.execute(insert, rows)


def _pairs(groups: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from groups.get("segments", {}).items()
    yield from (("", tag) for tag in groups.get("tags", ()))


def _summaries(connection: Connection) -> None:
    """The rows of what was kept packed; shown are those of the judge that scored the run last, nobody's after any."""
    judged: Any = connection.execute(text(LAST_JUDGES)).all()
    last: dict[int, int] = dict(judged)
    same = ("metric", "measures", "direction", "kind", "n", "scored", "undefined", "not_applicable", "failed")
    insert = NEW[0].insert()
    kept = connection.execute(text("SELECT run_no, judge_no, judge_repeat, body FROM summaries"))
    for part in kept.partitions(AT_A_TIME):
        rows = []
        for run, judge, repeat, body in part:
            for place, summary in enumerate(json.loads(unpack_text(body))):
                widest = summary.get("judged") or summary.get("interval") or {}
                rows.append(
                    {
                        "run_no": run,
                        "judge_no": judge,
                        "judge_repeat": repeat,
                        "place": place,
                        **{name: summary[name] for name in same},
                        "mean": summary.get("mean"),
                        "low": widest.get("low"),
                        "high": widest.get("high"),
                        "shown": int(last.get(run) == judge and repeat == 0),
                    }
                )
        if rows:
            connection.execute(insert, rows)
