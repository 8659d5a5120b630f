"""Version 14: what comes in from production, and what became of it."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Float, ForeignKey, Integer, LargeBinary, SmallInteger, Text

revision = "0014"
down_revision = "0013"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "inbox",
        Column("batch_no", Key, primary_key=True),
        Column("at", Float, nullable=False),
        Column("signal", Text, nullable=False),
        Column("project", Text, nullable=False),
        Column("body", LargeBinary, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("inbox_by_at", "inbox", ["at"])
    op.create_table(
        "traces",
        Column("trace_id", Text, primary_key=True),
        Column("first", Float, nullable=False),
        Column("last", Float, nullable=False),
        Column("due", Float),
        Column("rooted", SmallInteger, nullable=False),
        Column("late", Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("traces_by_due", "traces", ["due"])
    op.create_index("traces_by_first", "traces", ["first"])
    op.create_table(
        "trace_batches",
        Column("trace_id", Text, ForeignKey("traces.trace_id", ondelete="CASCADE"), primary_key=True),
        Column("batch_no", Key, ForeignKey("inbox.batch_no", ondelete="CASCADE"), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("trace_batches_by_batch", "trace_batches", ["batch_no"])
    _ledger()


def _ledger() -> None:
    op.create_table(
        "ledger",
        Column("trace_id", Text, ForeignKey("traces.trace_id", ondelete="CASCADE"), primary_key=True),
        Column("project", Text, nullable=False),
        Column("day", Text, nullable=False),
        Column("outcome", Text, nullable=False),
        Column("reason", Text, nullable=False),
        Column("run_id", Text, nullable=False),
        Column("weight", Float, nullable=False),
        Column("at", Float, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ledger_by_run", "ledger", ["run_id", "outcome"])
    op.create_index("ledger_by_day", "ledger", ["day", "project", "outcome"])
