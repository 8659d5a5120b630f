"""Version 12: checks of judges against people, as they ended."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, Text

revision = "0012"
down_revision = "0011"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "check_log",
        Column("check_log_no", Key, primary_key=True),
        Column("judge_no", Key, ForeignKey("judges.judge_no"), nullable=False),
        Column("name", Text, nullable=False),
        Column("file", LargeBinary(32), nullable=False),
        Column("file_name", Text, nullable=False),
        Column("at", Text, nullable=False),
        Column("body", LargeBinary, nullable=False),
    )
