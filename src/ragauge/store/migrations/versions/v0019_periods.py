"""Version 19: days that people marked as good or bad."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Integer, Text

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "periods",
        Column("period_no", Integer, primary_key=True),
        Column("since", Text, nullable=False),
        Column("until", Text, nullable=False),
        Column("was", Text, nullable=False),
        Column("why", Text, nullable=False),
        Column("at", Text, nullable=False),
    )
