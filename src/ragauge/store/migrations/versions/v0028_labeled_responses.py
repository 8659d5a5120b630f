"""Version 28: responses whose verdicts new labels change, and an index that finds examples by their question."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, MetaData, Table

revision = "0028"
down_revision = "0027"

metadata = MetaData()
Key = BigInteger().with_variant(Integer, "sqlite")
Table("responses", metadata, Column("response_no", Key, primary_key=True))
NEW = Table(
    "labeled_responses",
    metadata,
    Column("response_no", Key, ForeignKey("responses.response_no", ondelete="CASCADE"), primary_key=True),
)


def upgrade() -> None:
    """Adds the table and the index."""
    metadata.create_all(op.get_bind(), tables=[NEW], checkfirst=False)
    op.create_index("examples_by_question", "examples", ["query_key"])
