"""Passage texts, each once."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from sqlalchemy import Connection, func, select

from ragauge.store.packing import pack, unpack
from ragauge.store.schema import texts as table
from ragauge.store.sql.database import Database, raw_among


def sha_of(text: str) -> bytes:
    """SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class SqlTexts:
    """`Texts` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, texts: Sequence[str]) -> list[int]:
        """Their numbers, in order; a text already there keeps its number."""
        by_sha = {sha_of(text): text for text in texts}
        with self._database.write() as connection:
            known = numbers_of(connection, by_sha)
            rows = [(sha, pack(text)) for sha, text in by_sha.items() if sha not in known]
            add(self._database, connection, rows)
            known = numbers_of(connection, by_sha)
        return [known[sha_of(text)] for text in texts]

    def get(self, numbers: Collection[int]) -> dict[int, str]:
        """Texts by number."""
        query = select(table.c.text_no, table.c.body)
        with self._database.read() as connection:
            rows = raw_among(connection, query, table.c.text_no, sorted(set(numbers)))
            return {number: unpack(body) for number, body in rows}

    def count(self) -> int:
        """How many distinct texts there are."""
        with self._database.read() as connection:
            return connection.execute(select(func.count()).select_from(table)).scalar_one()


def numbers_of(connection: Connection, shas: Collection[bytes]) -> dict[bytes, int]:
    """Numbers of the texts that are there, by hash."""
    return dict(raw_among(connection, select(table.c.sha, table.c.text_no), table.c.sha, shas))


def add(database: Database, connection: Connection, rows: Sequence[tuple[bytes, bytes]]) -> None:
    """Adds texts by (hash, packed text); those that are there stay."""
    if rows:
        values = [{"sha": sha, "body": body} for sha, body in rows]
        connection.execute(database.insert(table).on_conflict_do_nothing(), values)
