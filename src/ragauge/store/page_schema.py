"""The tables that lists and pages are read from: what follows from those of `schema`, and tags and states."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, SmallInteger, Table, Text

from ragauge.store.schema import Key, ShortText, metadata

summary_values = Table(
    "summary_values",
    metadata,
    Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("judge_repeat", Integer, primary_key=True),
    Column("place", Integer, primary_key=True),  # in the order of the scorecard
    Column("metric", Text, nullable=False),
    Column("measures", Text, nullable=False),
    Column("direction", Text, nullable=False),
    Column("kind", Text, nullable=False),
    *(Column(name, Integer, nullable=False) for name in ("n", "scored", "undefined", "not_applicable", "failed")),
    Column("mean", Float),
    Column("low", Float),  # of the interval including judge error where that is known
    Column("high", Float),
    Column("shown", SmallInteger, nullable=False),  # 1: of the judge whose means lists show
    Index("summary_values_by_mean", "metric", "shown", "mean", "run_no"),
    sqlite_with_rowid=False,
)

cards = Table(
    "cards",
    metadata,
    Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
    Column("judge_no", Key, ForeignKey("judges.judge_no"), primary_key=True),
    Column("base_no", Integer, primary_key=True),  # number of the baseline's run; 0 for none
    Column("part", ShortText, primary_key=True),  # what of the scorecard; `store.cards.Part` lists them
    Column("writes", Integer, nullable=False),  # of the run when it was computed
    Column("base_writes", Integer, nullable=False),  # of the baseline's run
    Column("stamp", Text, nullable=False),  # of all else that it was computed from
    Column("verdict", Text, nullable=False),  # on the baseline; "" without one
    Column("body", LargeBinary, nullable=False),  # packed; of runs that cannot be compared, nothing
)

evaluations = Table(
    "evaluations",
    metadata,
    Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
    Column("base_id", ShortText, nullable=False),  # id of the run that it was compared with; "" for none
    Column("done", Integer, nullable=False),  # responses, in every asking of the judge
    Column("planned", Integer, nullable=False),
    Column("heartbeat", Text, nullable=False),  # "" where it ended
)

charts = Table(
    "charts",
    metadata,
    Column("digest", LargeBinary(32), primary_key=True),  # of the specification, and of what draws it
    Column("svg", LargeBinary, nullable=False),  # packed text
)

run_tags = Table(
    "run_tags",
    metadata,
    Column("run_no", Key, ForeignKey("runs.run_no", ondelete="CASCADE"), primary_key=True),
    Column("tag", ShortText, primary_key=True),
    Index("run_tags_by_tag", "tag", "run_no"),
    sqlite_with_rowid=False,
)

example_groups = Table(
    "example_groups",
    metadata,
    Column("example_no", Key, ForeignKey("examples.example_no", ondelete="CASCADE"), primary_key=True),
    Column("name", ShortText, primary_key=True),  # of a segment; "" for tags
    Column("value", ShortText, primary_key=True),
    sqlite_with_rowid=False,
)
