"""The tables of people's labels, and of what was drawn from a run to be labelled."""

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
