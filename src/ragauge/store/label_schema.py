"""The tables of people's labels, of what was drawn from a run to be labeled, and of checks of judges by them."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, LargeBinary, Table, Text, UniqueConstraint

from ragauge.store.schema import Key, ShortText, metadata

labels = Table(
    "labels",
    metadata,
    Column("label_no", Key, primary_key=True),  # ascending; rows are added and never changed
    Column("key", LargeBinary(32), nullable=False),  # of what was seen: no run
    Column("part", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("annotator", ShortText, nullable=False),
    Column("at", Text, nullable=False),
    Column("guideline", Text, nullable=False),
    UniqueConstraint("key", "question", "part", "annotator", "guideline", "value", "at"),
)

labeled_responses = Table(
    "labeled_responses",  # whose verdicts rest on labels that came since: they are to be decided again
    metadata,
    Column("response_no", Key, ForeignKey("responses.response_no", ondelete="CASCADE"), primary_key=True),
)

draws = Table(
    "draws",
    metadata,
    Column("draw_no", Key, primary_key=True),
    Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), nullable=False),
    Column("question", Text, nullable=False),
    Column("guideline", Text, nullable=False),
    Column("scheme", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # packed JSON: numbers of responses, their chances, which were drawn
    Index("draws_by_run", "run_no"),
)

check_log = Table(
    "check_log",
    metadata,
    Column("check_log_no", Key, primary_key=True),  # ascending; rows are added and never changed
    Column("judge_no", Key, ForeignKey("judges.judge_no"), nullable=False),
    Column("name", ShortText, nullable=False),  # of the judge: its spec and how it was asked
    Column("file", LargeBinary(32), nullable=False),
    Column("file_name", ShortText, nullable=False),
    Column("at", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # packed JSON: kappa with its ends, each part with whether it is right
)
