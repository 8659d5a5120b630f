"""Version 20: silences, in which no one is notified of alerts."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Text

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "silences",
        Column("silence_id", Text, primary_key=True),
        Column("monitor", Text, nullable=False),
        Column("segment", Text, nullable=False),
        Column("value", Text, nullable=False),
        Column("begins", Text, nullable=False),
        Column("ends", Text, nullable=False),
        Column("why", Text, nullable=False),
        sqlite_with_rowid=False,
    )
