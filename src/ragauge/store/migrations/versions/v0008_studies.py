"""Version 8: studies, their trials, and what these measured."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Float, ForeignKey, Integer, LargeBinary, Text, UniqueConstraint

revision = "0008"
down_revision = "0007"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "studies",
        Column("study_no", Key, primary_key=True),
        Column("name", Text, nullable=False, unique=True),
        Column("kind", Text, nullable=False),
        Column("set_name", Text, nullable=False),
        Column("set_version", Text, nullable=False),
        Column("fixed", LargeBinary, nullable=False),
        Column("created_at", Text, nullable=False),
    )
    op.create_table(
        "trials",
        Column("trial_no", Key, primary_key=True),
        Column("study_no", Key, ForeignKey("studies.study_no", ondelete="CASCADE"), nullable=False),
        Column("name", Text, nullable=False),
        Column("parameters", LargeBinary, nullable=False),
        Column("state", Text, nullable=False),
        Column("reason", Text, nullable=False),
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE")),
        UniqueConstraint("study_no", "name"),
    )
    op.create_index("trials_by_run", "trials", ["run_no"])
    op.create_table(
        "measurements",
        Column("trial_no", Key, ForeignKey("trials.trial_no", ondelete="CASCADE"), primary_key=True),
        Column("place", Integer, primary_key=True),
        Column("name", Text, nullable=False),
        Column("value", Float),
        Column("unit", Text, nullable=False),
        Column("low", Float),
        Column("high", Float),
        Column("n", Integer, nullable=False),
        sqlite_with_rowid=False,
    )
