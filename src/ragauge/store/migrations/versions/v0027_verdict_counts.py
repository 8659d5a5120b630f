"""Version 27: counts of verdicts for lists of runs, and which evidence of controls a run rests on."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, MetaData, Table

revision = "0027"
down_revision = "0026"

metadata = MetaData()
Key = BigInteger().with_variant(Integer, "sqlite")
Table("runs", metadata, Column("run_no", Key, primary_key=True))
Table("judges", metadata, Column("judge_no", Key, primary_key=True))
Table("evidence", metadata, Column("evidence_no", Key, primary_key=True))
NEW = (
    Table(
        "verdict_counts",
        metadata,
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
        Column("judge_repeat", Integer, primary_key=True),
        *(
            Column(name, Integer, nullable=False)
            for name in ("failed", "unclear", "passed", "not_judged", "rule_version")
        ),
        sqlite_with_rowid=False,
    ),
    Table(
        "control_evidence",
        metadata,
        Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
        Column("evidence_no", Key, ForeignKey("evidence.evidence_no"), primary_key=True),
        Index("control_evidence_by_evidence", "evidence_no"),
        sqlite_with_rowid=False,
    ),
)


def upgrade() -> None:
    """Adds the tables; runs that were evaluated before have no counts until they are evaluated again."""
    metadata.create_all(op.get_bind(), tables=NEW, checkfirst=False)
