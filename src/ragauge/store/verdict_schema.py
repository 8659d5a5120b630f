"""The tables of verdicts on examples, of their counts, and of the control pairs that they rest on."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, SmallInteger, Table, Text

from ragauge.store.schema import Key, metadata

verdicts = Table(
    "verdicts",
    metadata,
    Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
    Column("response_no", Key, primary_key=True),
    Column("judge_no", Key, primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    *(Column(name, SmallInteger, nullable=False) for name in ("verdict", "right", "grounded")),  # places in VERDICTS
    Column("reason_no", Integer),  # of canonical JSON: the reason, then what would settle it; NULL where it is clear
    Column("rule", SmallInteger, nullable=False),  # version of the rule by which it was decided
    Column("controls", Text, nullable=False),  # fingerprint of the controls that it rests on; "" = none
    sqlite_with_rowid=False,
)

controls = Table(
    "controls",
    metadata,
    Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("body", LargeBinary, nullable=False),  # packed JSON of scores by fact, language and layout
)

verdict_counts = Table(
    "verdict_counts",
    metadata,
    Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    # examples by verdict, as the last scorecard counts them; the version of the rule, the oldest
    *(Column(name, Integer, nullable=False) for name in ("failed", "unclear", "passed", "not_judged", "rule_version")),
    sqlite_with_rowid=False,
)

control_evidence = Table(
    "control_evidence",
    metadata,
    Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
    Column("evidence_no", Key, ForeignKey("evidence.evidence_no"), primary_key=True),
    Index("control_evidence_by_evidence", "evidence_no"),
    sqlite_with_rowid=False,
)
