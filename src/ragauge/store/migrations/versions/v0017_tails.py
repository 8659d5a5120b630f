"""Version 17: how far files that grow were read."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Integer, Text

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "tails",
        Column("path", Text, primary_key=True),
        Column("offset", Integer, nullable=False),
        Column("head", Text, nullable=False),
        sqlite_with_rowid=False,
    )
