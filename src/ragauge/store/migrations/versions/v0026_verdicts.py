"""Version 26: verdicts on examples, and the control pairs that they rest on; they are derived from stored evidence."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, MetaData, SmallInteger, Table, Text

revision = "0026"
down_revision = "0025"

metadata = MetaData()
Key = BigInteger().with_variant(Integer, "sqlite")
Table("runs", metadata, Column("run_no", Key, primary_key=True))
Table("judges", metadata, Column("judge_no", Key, primary_key=True))
NEW = (
    Table(
        "verdicts",
        metadata,
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        Column("response_no", Key, primary_key=True),
        Column("judge_no", Key, primary_key=True),
        Column("judge_repeat", Integer, primary_key=True),
        *(Column(name, SmallInteger, nullable=False) for name in ("verdict", "right", "grounded")),
        Column("reason_no", Integer),
        Column("rule", SmallInteger, nullable=False),
        Column("controls", Text, nullable=False),
        sqlite_with_rowid=False,
    ),
    Table(
        "controls",
        metadata,
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
        Column("judge_repeat", Integer, primary_key=True),
        Column("body", LargeBinary, nullable=False),
    ),
)


def upgrade() -> None:
    """Adds the tables. What was judged before has no verdict: the next evaluation derives it."""
    metadata.create_all(op.get_bind(), tables=NEW, checkfirst=False)
