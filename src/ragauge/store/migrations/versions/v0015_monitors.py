"""Version 15: where monitors stand, what they raised, and whom that has to be told."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Float, ForeignKey, Integer, LargeBinary, Text

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "series",
        Column("monitor", Text, primary_key=True),
        Column("cursor", Integer, nullable=False),
        Column("body", LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "alerts",
        Column("alert_id", Text, primary_key=True),
        Column("fired_at", Text, nullable=False),
        Column("ended_at", Text),
        Column("resolution", Text, nullable=False),
        Column("body", LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "deliveries",
        Column("delivery_id", Text, primary_key=True),
        Column("alert_id", Text, ForeignKey("alerts.alert_id", ondelete="CASCADE"), nullable=False),
        Column("target", Text, nullable=False),
        Column("due", Float),
        Column("attempts", Integer, nullable=False),
        Column("error", Text, nullable=False),
        Column("body", LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("deliveries_by_due", "deliveries", ["due"])
