"""The tables of monitors: where their series stand, alerts, and deliveries of these."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, Table, Text

from ragauge.store.schema import ShortText, metadata

series = Table(
    "series",
    metadata,
    Column("monitor", ShortText, primary_key=True),  # what it watches; a changed monitor is another
    Column("cursor", Integer, nullable=False),  # number of the last request that it took
    Column("body", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

alerts = Table(
    "alerts",
    metadata,
    Column("alert_id", ShortText, primary_key=True),
    Column("fired_at", Text, nullable=False),  # ISO, UTC
    Column("ended_at", Text),  # NULL = it is open
    Column("resolution", Text, nullable=False),  # acknowledged, false_alarm or ""
    Column("body", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("delivery_id", ShortText, primary_key=True),  # the same at every attempt
    Column("alert_id", ShortText, ForeignKey("alerts.alert_id", ondelete="CASCADE"), nullable=False),
    Column("target", ShortText, nullable=False),  # digest of who is told: an address may hold a secret
    Column("due", Float),  # of the next attempt, seconds since 1970; NULL = it is over
    Column("attempts", Integer, nullable=False),
    Column("error", ShortText, nullable=False),  # of the last attempt; "" = it arrived
    Column("body", LargeBinary, nullable=False),
    Index("deliveries_by_due", "due"),
    sqlite_with_rowid=False,
)

silences = Table(  # of earlier versions, which told no one meanwhile: nothing reads it
    "silences",
    metadata,
    Column("silence_id", ShortText, primary_key=True),
    Column("monitor", ShortText, nullable=False),  # "" = all
    Column("segment", ShortText, nullable=False),
    Column("value", ShortText, nullable=False),
    Column("begins", Text, nullable=False),  # ISO, UTC
    Column("ends", Text, nullable=False),
    Column("why", ShortText, nullable=False),
    sqlite_with_rowid=False,
)
