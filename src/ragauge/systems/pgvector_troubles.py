"""What PostgreSQL's errors mean to someone who points at a table of vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragauge.systems.troubles import Kind, SystemTrouble

# libpq gives no code where connecting fails, only words
REFUSED = ("authentication failed", "no password supplied", "pg_hba.conf", "permission denied")
NOT_THERE = ("does not exist", "could not translate host name", "name or service not known", "failed to resolve host")
VECTORS = """
    SELECT n.nspname || '.' || c.relname, a.attname
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE t.typname IN ('vector', 'halfvec', 'sparsevec') AND c.relkind IN ('r', 'm', 'v', 'p', 'f')
    ORDER BY 1, 2 LIMIT 10
"""
COLUMNS = """
    SELECT a.attname, format_type(a.atttypid, a.atttypmod)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = %s AND (n.nspname = %s OR %s = '') AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum LIMIT 40
"""
EXTENSION = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"


def trouble_of(
    error: Exception, connect: Callable[[], Any] | None = None, table: str = "",
    columns: Mapping[str, str] | None = None,
) -> SystemTrouble:     # fmt: skip
    """The trouble that an error of psycopg is, with what there is in the database instead.

    Args:
        error: what psycopg raised.
        connect: gives a connection to look around with; None = there can be none.
        table: that was searched.
        columns: our name -> the table's.
    """
    kind, text = _kind(error), _said(error)
    if kind not in ("not_found", "unreadable") or connect is None:
        return SystemTrouble(kind, text)
    seen = _seen(connect, table, columns or {}, text)
    return SystemTrouble(kind, f"{text}{seen}")


def _kind(error: Exception) -> Kind:
    import psycopg

    state = getattr(error, "sqlstate", None) or ""
    if isinstance(error, psycopg.OperationalError):
        text = str(error).lower()
        if state == "57014":     # statement_timeout
            return "timeout"
        if any(words in text for words in REFUSED):
            return "auth"
        return "not_found" if any(words in text for words in NOT_THERE) else "connection"
    if state in ("28000", "28P01", "42501"):
        return "auth"
    if state[:2] in ("42", "3F"):     # a table, column, operator or schema that is not there
        return "not_found"
    return "unreadable" if state[:2] == "22" else "exception"     # 22: the vector or a value does not fit the column


def _said(error: Exception) -> str:
    """Its first line; of several addresses that were tried, what the last said."""
    lines = [line.strip("- \t") for line in str(error).strip().splitlines()]
    attempts = [line for line in lines if line.startswith("host:")]
    return ": ".join([type(error).__name__, *(attempts[-1:] or lines[:1])])


def _seen(connect: Callable[[], Any], table: str, columns: Mapping[str, str], text: str) -> str:
    """What is there, in words; "" where the database does not say."""
    import psycopg

    schema, _, name = table.rpartition(".")
    try:
        with connect() as connection:
            version = connection.execute(EXTENSION).fetchone()
            there = connection.execute(COLUMNS, [name, schema, schema]).fetchall()
            vectors = connection.execute(VECTORS).fetchall()
    except (psycopg.Error, SystemTrouble):
        return ""
    if version is None:
        return ". The database has no pgvector: run CREATE EXTENSION vector in it"
    if "<+>" in text and tuple(map(int, version[0].split(".")[:2])) < (0, 7):
        return f". The metric l1 needs pgvector 0.7, this database has {version[0]}"
    if not there:
        found = ", ".join(f"{place} (column {column})" for place, column in vectors) or "none"
        return f". Tables with vectors here: {found}"
    found = ", ".join(f"{column} {kind}" for column, kind in there)
    asked = ", ".join(f"{ours}: {theirs}" for ours, theirs in columns.items() if theirs)
    return f". {table} has {found}; asked for were {asked}"
