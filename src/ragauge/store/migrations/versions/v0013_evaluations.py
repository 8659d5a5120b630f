"""Version 13: how far the last evaluation of each run is, and what it was held against."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, Text

revision = "0013"
down_revision = "0012"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the table; of evaluations before it nothing is known."""
    op.create_table(
        "evaluations",
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        Column("base_id", Text, nullable=False),
        Column("done", Integer, nullable=False),
        Column("planned", Integer, nullable=False),
        Column("heartbeat", Text, nullable=False),
    )
