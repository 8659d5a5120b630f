"""Version 16: what is done at certain times, by whom, and what came of it."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Float, Integer, Text

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "jobs",
        Column("name", Text, primary_key=True),
        Column("due", Float, primary_key=True),
        Column("state", Text, nullable=False),
        Column("owner", Text, nullable=False),
        Column("began", Float, nullable=False),
        Column("beat", Float, nullable=False),
        Column("ended", Float),
        Column("attempts", Integer, nullable=False),
        Column("why", Text, nullable=False),
        Column("run_id", Text, nullable=False),
        Column("said", Text, nullable=False),
        sqlite_with_rowid=False,
    )
