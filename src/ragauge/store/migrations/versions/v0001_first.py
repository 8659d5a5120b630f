"""Version 1: everything there is.

Frozen: it says what the first stores hold, whatever `schema.py` says today.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)

revision = "0001"
down_revision = None

metadata = MetaData()
Key = BigInteger().with_variant(Integer, "sqlite")


def _to(column: str) -> ForeignKey:
    return ForeignKey(column, ondelete="CASCADE")


Table(
    "texts",
    metadata,
    Column("text_no", Key, primary_key=True),
    Column("sha", LargeBinary(32), nullable=False, unique=True),
    Column("body", LargeBinary, nullable=False),
)
Table(
    "sets",
    metadata,
    Column("set_no", Key, primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("corpus", Text),
    Column("kept", SmallInteger, nullable=False),
    Column("created_at", Text, nullable=False),
    UniqueConstraint("name", "version"),
)
Table(
    "examples",
    metadata,
    Column("example_no", Key, primary_key=True),
    Column("sha", LargeBinary(32), nullable=False, unique=True),
    Column("query_key", BigInteger, nullable=False),
    Column("groups", LargeBinary),
    Column("body", LargeBinary, nullable=False),
)
Table(
    "set_examples",
    metadata,
    Column("set_no", Key, _to("sets.set_no"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("example_no", Key, ForeignKey("examples.example_no"), nullable=False),
    Index("set_examples_by_example", "example_no"),
    sqlite_with_rowid=False,
)
Table(
    "runs",
    metadata,
    Column("run_no", Key, primary_key=True),
    Column("run_id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("set_no", Key, ForeignKey("sets.set_no")),
    Column("set_name", Text, nullable=False),
    Column("set_version", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("config", LargeBinary, nullable=False),
    Column("variant", Text, nullable=False),
    Column("git", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("planned", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("absent", Integer, nullable=False),
    Column("heartbeat", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("content", LargeBinary(32), nullable=False, unique=True),
    sqlite_autoincrement=True,
)
Table(
    "run_names",
    metadata,
    Column("name", Text, primary_key=True),
    Column("run_no", Key, _to("runs.run_no"), primary_key=True),
    Index("run_names_by_run", "run_no"),
    sqlite_with_rowid=False,
)
Table(
    "responses",
    metadata,
    Column("response_no", Key, primary_key=True),
    Column("run_no", Key, _to("runs.run_no"), nullable=False),
    Column("query_id", Text, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("example_no", Key, ForeignKey("examples.example_no"), nullable=False),
    Column("weight", Float, nullable=False),
    Column("absent", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("text_nos", LargeBinary),
    UniqueConstraint("run_no", "query_id", "repeat"),
    Index("responses_by_example", "example_no"),
)
Table(
    "run_texts",
    metadata,
    Column("run_no", Key, _to("runs.run_no"), primary_key=True),
    Column("text_no", Key, ForeignKey("texts.text_no"), primary_key=True),
    Index("run_texts_by_text", "text_no"),
    sqlite_with_rowid=False,
)
Table(
    "judges", metadata, Column("judge_no", Key, primary_key=True), Column("judge_id", Text, nullable=False, unique=True)
)
Table(
    "metrics",
    metadata,
    Column("metric_no", Key, primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    UniqueConstraint("name", "version"),
)
Table(
    "reasons",
    metadata,
    Column("reason_no", Key, primary_key=True),
    Column("sha", LargeBinary(32), nullable=False, unique=True),
    Column("body", LargeBinary, nullable=False),
)
Table(
    "evidence",
    metadata,
    Column("evidence_no", Key, primary_key=True),
    Column("key", LargeBinary(32), nullable=False, unique=True),
    Column("question", Text, nullable=False),
    Column("question_version", Integer, nullable=False),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), nullable=False),
    Column("judge_repeat", Integer, nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("body", LargeBinary),
    Column("replies", LargeBinary),
)
Table(
    "run_evidence",
    metadata,
    Column("response_no", Key, _to("responses.response_no"), primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("question", Text, primary_key=True),
    Column("evidence_no", Key, ForeignKey("evidence.evidence_no"), nullable=False),
    Index("run_evidence_by_evidence", "evidence_no"),
    sqlite_with_rowid=False,
)
Table(
    "scores",
    metadata,
    Column("run_no", Key, _to("runs.run_no"), primary_key=True),
    Column("response_no", Key, primary_key=True),
    Column("judge_no", Key, primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("metric_no", Key, primary_key=True),
    Column("status", SmallInteger, nullable=False),
    Column("value", Float),
    Column("numerator", Float),
    Column("denominator", Float),
    Column("low", Float),
    Column("high", Float),
    Column("reason_no", Integer),
    sqlite_with_rowid=False,
)
Table(
    "run_judges",
    metadata,
    Column("run_no", Key, _to("runs.run_no"), primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    sqlite_with_rowid=False,
)
Table(
    "causes",
    metadata,
    Column("run_no", Key, _to("runs.run_no"), primary_key=True),
    Column("response_no", Key, primary_key=True),
    Column("judge_no", Key, primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
Table(
    "summaries",
    metadata,
    Column("run_no", Key, _to("runs.run_no"), primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("body", LargeBinary, nullable=False),
)


def upgrade() -> None:
    """Makes the tables."""
    metadata.create_all(op.get_bind(), checkfirst=False)
