"""Eval sets."""

from __future__ import annotations

import builtins
import hashlib

from sqlalchemy import Connection, func, insert, select

from ragauge.data.codec import decode, encode
from ragauge.data.example import EvalSet, Example
from ragauge.errors import UnknownName
from ragauge.store.contracts import SetInfo
from ragauge.store.packing import pack, unpack
from ragauge.store.schema import examples, set_examples, sets
from ragauge.store.sql.clock import now
from ragauge.store.sql.database import Database, chunks
from ragauge.store.sql.importing import key_of, put_examples
from ragauge.store.sql.spool import groups_of, query_key_of


class SqlSets:
    """`Sets` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, eval_set: EvalSet) -> str:
        """Keeps a set and returns its version; the same content under the same name is kept once."""
        with self._database.write() as connection:
            put_set(self._database, connection, eval_set, kept=True)
        return eval_set.version

    def get(self, name: str, version: str | None = None) -> EvalSet:
        """A set with its examples in order; without a version, the newest. UnknownName if there is none."""
        query = select(sets.c.set_no, sets.c.corpus).where(sets.c.name == name).order_by(sets.c.set_no.desc())
        if version is not None:
            query = query.where(sets.c.version == version)
        with self._database.read() as connection:
            found = connection.execute(query).first()
            if found is None:
                known = connection.execute(select(sets.c.name).distinct()).scalars()
                raise UnknownName("set", name if version is None else f"{name} {version}", known)
            members = (
                select(examples.c.body)
                .join(set_examples, set_examples.c.example_no == examples.c.example_no)
                .where(set_examples.c.set_no == found.set_no)
                .order_by(set_examples.c.position)
            )
            bodies = connection.execute(members).scalars()
            return EvalSet(name, tuple(decode(Example, unpack(body)) for body in bodies), found.corpus)

    def list(self) -> builtins.list[SetInfo]:
        """Every set, newest first."""
        query = (
            select(sets.c.name, sets.c.version, func.count(set_examples.c.position), sets.c.created_at)
            .join(set_examples, set_examples.c.set_no == sets.c.set_no, isouter=True)
            .group_by(sets.c.set_no, sets.c.name, sets.c.version, sets.c.created_at)
            .order_by(sets.c.set_no.desc())
        )
        with self._database.read() as connection:
            return [SetInfo(*row) for row in connection.execute(query)]


def put_set(database: Database, connection: Connection, eval_set: EvalSet, *, kept: bool) -> int:
    """Adds a set where its name and version are new; returns its number.

    Args:
        database: where it goes.
        connection: that is writing.
        eval_set: the set.
        kept: for itself; otherwise it goes with the last run on it.
    """
    same = (sets.c.name == eval_set.name) & (sets.c.version == eval_set.version)
    found = connection.execute(select(sets.c.set_no).where(same)).scalar()
    if found is not None:
        if kept:
            connection.execute(sets.update().where(same).values(kept=1, corpus=eval_set.corpus))
        return int(found)
    values = {"name": eval_set.name, "version": eval_set.version, "corpus": eval_set.corpus}
    set_no = key_of(connection.execute(insert(sets).values(**values, kept=int(kept), created_at=now())))
    position = 0
    for part in chunks(eval_set.examples, 500):
        shas = [sha_of(example) for example in part]
        rows = [_row(sha, example) for sha, example in zip(shas, part, strict=True)]
        numbers = put_examples(database, connection, rows, dict.fromkeys(shas))
        members = [
            {"set_no": set_no, "position": position + i, "example_no": numbers[sha]} for i, sha in enumerate(shas, 1)
        ]
        connection.execute(insert(set_examples), members)
        position += len(part)
    return set_no


def sha_of(example: Example) -> bytes:
    """SHA-256 of an example's canonical JSON: its content_hash."""
    return hashlib.sha256(encode(example).encode("utf-8", "surrogatepass")).digest()


def _row(sha: bytes, example: Example) -> dict[str, object]:
    key, groups = query_key_of(example.query), groups_of(example)
    return {"sha": sha, "query_key": key, "groups": groups, "body": pack(encode(example))}
