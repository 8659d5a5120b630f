"""The tables of what comes in from production: raw batches, which traces are in them, what became of each trace."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, SmallInteger, Table, Text, text

from ragauge.store.schema import Key, ShortText, metadata

inbox = Table(
    "inbox",
    metadata,
    Column("batch_no", Key, primary_key=True),
    Column("at", Float, nullable=False),  # of arrival, seconds since 1970
    Column("signal", Text, nullable=False),  # traces, logs or responses
    Column("project", ShortText, nullable=False),  # as the sender's header names it; "" = it does not
    Column("body", LargeBinary, nullable=False),  # packed bytes, redacted
    Index("inbox_by_at", "at"),
    sqlite_autoincrement=True,  # a number that was deleted must not come back under a trace's old part
)

# What is due stands in an index of its own: the worker reads the first few of it.
traces = Table(
    "traces",
    metadata,
    Column("trace_id", ShortText, primary_key=True),
    Column("first", Float, nullable=False),  # arrival of the first part of it
    Column("last", Float, nullable=False),
    Column("due", Float),  # when it is read; NULL = nothing has come since it was
    Column("rooted", SmallInteger, nullable=False),  # 1: its outermost span has ended
    Column("late", Integer, nullable=False),  # spans that came too late and are ignored
    Column("dated", Float),  # the moment whose day it counts for, seconds since 1970; NULL = `first`
    Index("traces_by_due", "due"),
    Index("traces_by_first", "first"),
    sqlite_with_rowid=False,
)

trace_batches = Table(
    "trace_batches",
    metadata,
    Column("trace_id", ShortText, ForeignKey("traces.trace_id", ondelete="CASCADE"), primary_key=True),
    Column("batch_no", Key, ForeignKey("inbox.batch_no", ondelete="CASCADE"), primary_key=True),
    Index("trace_batches_by_batch", "batch_no"),
    sqlite_with_rowid=False,
)

ledger = Table(
    "ledger",
    metadata,
    Column("trace_id", ShortText, ForeignKey("traces.trace_id", ondelete="CASCADE"), primary_key=True),
    Column("project", ShortText, nullable=False),
    Column("day", Text, nullable=False),  # UTC, of arrival
    Column("outcome", Text, nullable=False),
    Column("reason", ShortText, nullable=False),
    Column("run_id", ShortText, nullable=False),  # no reference: why it is not scored stays when a run goes; "" = none
    Column("weight", Float, nullable=False),
    Column("at", Float, nullable=False),  # when it was decided
    Column("chance", Float, nullable=False, server_default="1"),  # that it was drawn for the judge
    Column("people", ShortText, nullable=False, server_default=""),  # what became of what people said of it, or in it
    Index("ledger_by_run", "run_id", "outcome"),
    Index("ledger_by_day", "day", "project", "outcome"),
    Index("ledger_by_people", "trace_id", sqlite_where=text("people != ''")),
    sqlite_with_rowid=False,
)

last_numbers = Table(
    "last_numbers",
    metadata,
    Column("of", Text, primary_key=True),  # a table
    Column("number", Key, nullable=False),  # the greatest that a row had which is gone: none has it again
    sqlite_with_rowid=False,
)

tails = Table(
    "tails",
    metadata,
    Column("path", Text, primary_key=True),  # of a file that grows, absolute
    Column("offset", Integer, nullable=False),  # bytes of it that were read
    Column("head", Text, nullable=False),  # digest of its first bytes; "" = nothing was read
    sqlite_with_rowid=False,
)

signals = Table(
    "signals",
    metadata,
    Column("point_no", Key, primary_key=True),
    Column("name", ShortText, nullable=False),  # of a gauge
    Column("at", Float, nullable=False),  # of arrival, seconds since 1970
    Column("source", Text, nullable=False),  # its attributes, such as shard=3
    Column("value", Float, nullable=False),
    Index("signals_by_name", "name", "at"),
)

returns = Table(
    "returns",
    metadata,
    Column("trace_id", ShortText, ForeignKey("traces.trace_id", ondelete="CASCADE"), primary_key=True),
    Column("at", Float, nullable=False),  # when it was judged
    Index("returns_by_at", "at"),
    sqlite_with_rowid=False,
)

return_batches = Table(
    "return_batches",
    metadata,
    Column("batch_id", ShortText, primary_key=True),  # the same at every attempt
    Column("target", ShortText, nullable=False),  # digest of who gets it: an address may hold a secret
    Column("body", LargeBinary, nullable=False),
    Column("due", Float),  # of the next attempt, seconds since 1970; NULL = it is over
    Column("attempts", Integer, nullable=False),
    Column("error", ShortText, nullable=False),
    Index("return_batches_by_due", "due"),
    sqlite_with_rowid=False,
)
