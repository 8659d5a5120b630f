"""Version 4: which text a judge is built from, and which judge a call was made for."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, Text

revision = "0004"
down_revision = "0003"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the columns."""
    op.add_column("judges", Column("spec", Text))
    op.add_column("calls", Column("judge_no", Key))
