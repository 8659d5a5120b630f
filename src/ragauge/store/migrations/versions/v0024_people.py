"""Version 24: what became of what people said of a trace."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Text

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Adds the column; so far nothing of it was read but feedback."""
    op.add_column("ledger", Column("people", Text, nullable=False, server_default=""))
