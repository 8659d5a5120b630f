"""Version 3: what is in the index of the system that gave a run."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary

revision = "0003"
down_revision = "0002"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "listings",
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        Column("body", LargeBinary, nullable=False),
    )
