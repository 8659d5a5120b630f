"""Version 18: values of gauges that come in with the traces."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Float, Integer, Text

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "signals",
        Column("point_no", Integer, primary_key=True),
        Column("name", Text, nullable=False),
        Column("at", Float, nullable=False),
        Column("source", Text, nullable=False),
        Column("value", Float, nullable=False),
    )
    op.create_index("signals_by_name", "signals", ["name", "at"])
