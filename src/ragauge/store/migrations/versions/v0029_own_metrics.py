"""Version 29: metrics of the user's own."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, MetaData, Table

revision = "0029"
down_revision = "0028"

metadata = MetaData()
Key = BigInteger().with_variant(Integer, "sqlite")
Table("metrics", metadata, Column("metric_no", Key, primary_key=True))
NEW = Table(
    "own_metrics",
    metadata,
    Column("metric_no", Key, ForeignKey("metrics.metric_no", ondelete="CASCADE"), primary_key=True),
    Column("place", Integer, nullable=False, unique=True),
    Column("body", LargeBinary, nullable=False),
)


def upgrade() -> None:
    """Adds the table."""
    metadata.create_all(op.get_bind(), tables=[NEW], checkfirst=False)
