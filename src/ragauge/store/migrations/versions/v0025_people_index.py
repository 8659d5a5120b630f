"""Version 25: finds the traces of which people said something."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Adds the index, of those traces alone."""
    op.create_index("ledger_by_people", "ledger", ["trace_id"], sqlite_where=text("people != ''"))
