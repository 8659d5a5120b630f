"""Version 26: verdicts on examples, and the control pairs that they rest on; they are derived from stored evidence."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, LargeBinary, MetaData, SmallInteger, Table, Text, text

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


# what was judged before verdicts had a rule: not judged (3), by rule 0, so that the next evaluation derives it
EARLIER = """
    INSERT INTO verdicts (run_no, response_no, judge_no, judge_repeat, verdict, "right", grounded, rule, controls)
    SELECT DISTINCT run_no, response_no, judge_no, judge_repeat, 3, 3, 3, 0, '' FROM scores
"""


def upgrade() -> None:
    """Adds the tables, and a verdict of no rule for every response that was judged before."""
    connection = op.get_bind()
    metadata.create_all(connection, tables=NEW, checkfirst=False)
    connection.execute(text(EARLIER))
