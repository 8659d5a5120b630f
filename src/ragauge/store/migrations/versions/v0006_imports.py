"""Version 6: which run the content of some files became."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary

revision = "0006"
down_revision = "0005"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "imports",
        Column("digest", LargeBinary(32), primary_key=True),
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), nullable=False),
        Column("told", LargeBinary, nullable=False),
    )
    op.create_index("imports_by_run", "imports", ["run_no"])
