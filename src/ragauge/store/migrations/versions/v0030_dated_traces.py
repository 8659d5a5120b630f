"""Version 30: the moment that a trace is dated to, where that is not its arrival."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Float

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    """Adds the column."""
    op.add_column("traces", Column("dated", Float))
