"""The tables of studies, which refer to the runs of `schema`, and of the vectors that they compare."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, Table, Text, UniqueConstraint

from ragauge.store.schema import Key, ShortText, metadata

studies = Table(
    "studies",
    metadata,
    Column("study_no", Key, primary_key=True),
    Column("name", ShortText, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("set_name", ShortText, nullable=False),
    Column("set_version", Text, nullable=False),
    Column("fixed", LargeBinary, nullable=False),  # packed JSON
    Column("created_at", Text, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    Column("trial_no", Key, primary_key=True),
    Column("study_no", Key, ForeignKey("studies.study_no", ondelete="CASCADE"), nullable=False),
    Column("name", ShortText, nullable=False),
    Column("parameters", LargeBinary, nullable=False),  # packed JSON
    Column("state", Text, nullable=False),
    Column("reason", ShortText, nullable=False),
    Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE")),  # a trial whose run is deleted goes with it
    UniqueConstraint("study_no", "name"),
    Index("trials_by_run", "run_no"),
)

measurements = Table(
    "measurements",
    metadata,
    Column("trial_no", Key, ForeignKey("trials.trial_no", ondelete="CASCADE"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("value", Float),
    Column("unit", Text, nullable=False),
    Column("low", Float),
    Column("high", Float),
    Column("n", Integer, nullable=False),
    sqlite_with_rowid=False,
)

embedders = Table(
    "embedders",
    metadata,
    Column("embedder_no", Key, primary_key=True),
    Column("name", ShortText, nullable=False),
    Column("prefix", ShortText, nullable=False),
    Column("dimensions", Integer, nullable=False),
    Column("texts", Integer, nullable=False),  # how many were embedded, in how many seconds, by how many tokens
    Column("seconds", Float, nullable=False),
    Column("tokens", Integer, nullable=False),
    UniqueConstraint("name", "prefix"),
)

vectors = Table(
    "vectors",
    metadata,
    Column("embedder_no", Key, ForeignKey("embedders.embedder_no", ondelete="CASCADE"), primary_key=True),
    Column("sha", LargeBinary(32), primary_key=True),  # of the text, without the prefix
    Column("body", LargeBinary, nullable=False),  # 32-bit floats, little end first
)
