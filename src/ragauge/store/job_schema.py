"""The tables of jobs (each occurrence, who does it, what came of it) and of days that people marked."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, Table, Text

from ragauge.store.schema import ShortText, metadata

jobs = Table(
    "jobs",
    metadata,
    Column("name", ShortText, primary_key=True),
    Column("due", Float, primary_key=True),  # seconds since 1970
    Column("state", ShortText, nullable=False),  # noted, running, or how it ended
    Column("owner", ShortText, nullable=False),  # who does it, or did
    Column("began", Float, nullable=False),
    Column("beat", Float, nullable=False),  # the lease runs from here
    Column("ended", Float),
    Column("attempts", Integer, nullable=False),
    Column("why", ShortText, nullable=False),
    Column("run_id", ShortText, nullable=False),
    Column("said", ShortText, nullable=False),
    sqlite_with_rowid=False,
)

periods = Table(
    "periods",
    metadata,
    Column("period_no", Integer, primary_key=True),  # in the order in which they were marked
    Column("since", Text, nullable=False),  # ISO dates; both count
    Column("until", Text, nullable=False),
    Column("was", Text, nullable=False),  # good or bad
    Column("why", ShortText, nullable=False),
    Column("at", Text, nullable=False),  # when it was said, ISO, UTC
)
