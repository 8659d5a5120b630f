"""Version 23: results that are given back to a team's collector."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Float, ForeignKey, Integer, LargeBinary, Text

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "returns",
        Column("trace_id", Text, ForeignKey("traces.trace_id", ondelete="CASCADE"), primary_key=True),
        Column("at", Float, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("returns_by_at", "returns", ["at"])
    op.create_table(
        "return_batches",
        Column("batch_id", Text, primary_key=True),
        Column("target", Text, nullable=False),
        Column("body", LargeBinary, nullable=False),
        Column("due", Float),
        Column("attempts", Integer, nullable=False),
        Column("error", Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("return_batches_by_due", "return_batches", ["due"])
