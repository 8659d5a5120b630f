"""Version 9: vectors of texts, by embedder and prefix."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Float, ForeignKey, Integer, LargeBinary, Text, UniqueConstraint

revision = "0009"
down_revision = "0008"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "embedders",
        Column("embedder_no", Key, primary_key=True),
        Column("name", Text, nullable=False),
        Column("prefix", Text, nullable=False),
        Column("dimensions", Integer, nullable=False),
        Column("texts", Integer, nullable=False),
        Column("seconds", Float, nullable=False),
        Column("tokens", Integer, nullable=False),
        UniqueConstraint("name", "prefix"),
    )
    op.create_table(
        "vectors",
        Column("embedder_no", Key, ForeignKey("embedders.embedder_no", ondelete="CASCADE"), primary_key=True),
        Column("sha", LargeBinary(32), primary_key=True),
        Column("body", LargeBinary, nullable=False),
    )
