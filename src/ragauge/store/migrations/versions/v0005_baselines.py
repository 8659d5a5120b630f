"""Version 5: which runs are baselines, since when and by whom, and notes about runs."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, Text

revision = "0005"
down_revision = "0004"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "baselines",
        Column("baseline_no", Key, primary_key=True),
        *(
            Column(name, Text, nullable=False)
            for name in ("name", "run_id", "run_name", "at", "who", "git", "branch", "tag", "note")
        ),
    )
    op.create_index("baselines_by_name", "baselines", ["name"])
    op.create_table(
        "run_notes",
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        *(Column(name, Text, nullable=False) for name in ("text", "at", "who")),
    )
