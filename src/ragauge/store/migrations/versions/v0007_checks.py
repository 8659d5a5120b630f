"""Version 7: what people and judges said of the same texts."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Float, ForeignKey, Integer, LargeBinary, Text, UniqueConstraint

revision = "0007"
down_revision = "0006"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "checks",
        Column("check_no", Key, primary_key=True),
        Column("judge_no", Key, ForeignKey("judges.judge_no"), nullable=False),
        Column("question", Text, nullable=False),
        Column("version", Integer, nullable=False),
        Column("file", LargeBinary(32), nullable=False),
        Column("name", Text, nullable=False),
        Column("at", Text, nullable=False),
        UniqueConstraint("judge_no", "question", "version", "file"),
    )
    op.create_table(
        "check_scores",
        Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
        Column("question", Text, primary_key=True),
        Column("version", Integer, primary_key=True),
        Column("item", LargeBinary(32), primary_key=True),
        Column("metric", Text, primary_key=True),
        Column("example", LargeBinary(32), nullable=False),
        Column("people", Float, nullable=False),
        Column("judge", Float, nullable=False),
        Column("labels", Integer, nullable=False),
        Column("check_no", Key, ForeignKey("checks.check_no", ondelete="CASCADE"), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("check_scores_by_check", "check_scores", ["check_no"])
