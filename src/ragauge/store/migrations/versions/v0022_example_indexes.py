"""Version 22: what lists of a run's examples are sorted and filtered by, filled when it is asked for first."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKey, Integer, LargeBinary, Text

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Adds the table, and the count of writes that it follows."""
    op.add_column("runs", Column("example_writes", Integer, nullable=False, server_default="0"))
    op.create_table(
        "example_indexes",
        Column("run_no", Integer, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        Column("judge_no", Integer, ForeignKey("judges.judge_no"), primary_key=True),
        Column("stamp", Text, nullable=False),
        Column("body", LargeBinary, nullable=False),
    )
