"""Version 21: how likely a response of traffic was drawn for the judge, and which numbers are used up."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Float, Integer, Text

revision = "0021"
down_revision = "0020"

Key = BigInteger().with_variant(Integer, "sqlite")


def upgrade() -> None:
    """Adds the columns and the table; so far a judge was asked about every response."""
    op.add_column("responses", Column("chance", Float, server_default="1"))
    op.add_column("ledger", Column("chance", Float, nullable=False, server_default="1"))
    op.create_table(
        "last_numbers",
        Column("of", Text, primary_key=True),
        Column("number", Key, nullable=False),
        sqlite_with_rowid=False,
    )
