"""Version 10: people's labels, and what was drawn from runs to be labelled."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, Text, UniqueConstraint

revision = "0010"
down_revision = "0009"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "labels",
        Column("label_no", Key, primary_key=True),
        Column("key", LargeBinary(32), nullable=False),
        *(Column(name, Text, nullable=False) for name in ("part", "question", "value", "annotator", "at", "guideline")),
        UniqueConstraint("key", "question", "part", "annotator", "guideline", "value", "at"),
    )
    op.create_table(
        "draws",
        Column("draw_no", Key, primary_key=True),
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), nullable=False),
        *(Column(name, Text, nullable=False) for name in ("question", "guideline", "scheme", "by", "at")),
        Column("body", LargeBinary, nullable=False),
    )
    op.create_index("draws_by_run", "draws", ["run_no"])
