"""Version 2: what models said, and every attempt at them."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)

revision = "0002"
down_revision = "0001"

metadata = MetaData()
Key = BigInteger().with_variant(Integer, "sqlite")

Table(
    "models",
    metadata,
    Column("model_no", Key, primary_key=True),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("endpoint", Text, nullable=False),
    UniqueConstraint("provider", "model", "endpoint"),
)
Table(
    "replies",
    metadata,
    Column("reply_no", Key, primary_key=True),
    Column("key", LargeBinary(32), nullable=False, unique=True),
    Column("model_no", Key, ForeignKey("models.model_no"), nullable=False),
    Column("question", Text, nullable=False),
    Column("failed", SmallInteger, nullable=False),
    Column("at", Text, nullable=False),
    Column("ask", LargeBinary, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("vectors", LargeBinary),
)
Table(
    "calls",
    metadata,
    Column("call_no", Key, primary_key=True),
    Column("run_no", Key),
    Column("response_no", Key),
    Column("key", LargeBinary(32), nullable=False),
    Column("model_no", Key, ForeignKey("models.model_no"), nullable=False),
    Column("question", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("cost", Float),
    Column("latency_ms", Float),
    Column("at", Text, nullable=False),
    Index("calls_by_run", "run_no", "response_no"),
)


def upgrade() -> None:
    """Adds the tables."""
    metadata.create_all(op.get_bind(), checkfirst=False)
