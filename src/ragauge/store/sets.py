"""What runs share, each kept once: passage texts, examples, eval sets."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, CursorResult, func, insert, select

from ragauge.core.codec import decode, encode
from ragauge.core.errors import UnknownName
from ragauge.core.example import EvalSet, Example
from ragauge.store.database import Database, chunks, now, raw_among, rows_among
from ragauge.store.page_schema import example_groups
from ragauge.store.run_list import of_no_study
from ragauge.store.schema import examples, runs, set_examples, sets
from ragauge.store.schema import texts as text_rows
from ragauge.store.spool import group_values, groups_of, query_key_of
from ragauge.store.text_codec import pack, sha_of, unpack
from ragauge.testsets.curate.set_versions import SetVersion


class Texts:
    """Passage texts, each once across all runs, by SHA-256."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, texts: Sequence[str]) -> list[int]:
        """Their numbers, in order; a text already there keeps its number."""
        by_sha = {sha_of(text): text for text in texts}
        with self._database.write() as connection:
            known = text_nos(connection, by_sha)
            rows = [(sha, pack(text)) for sha, text in by_sha.items() if sha not in known]
            add_texts(self._database, connection, rows)
            known = text_nos(connection, by_sha)
        return [known[sha_of(text)] for text in texts]

    def get(self, numbers: Collection[int]) -> dict[int, str]:
        """Texts by number."""
        query = select(text_rows.c.text_no, text_rows.c.body)
        with self._database.read() as connection:
            rows = raw_among(connection, query, text_rows.c.text_no, sorted(set(numbers)))
            return {number: unpack(body) for number, body in rows}

    def count(self) -> int:
        """How many distinct texts there are."""
        with self._database.read() as connection:
            return connection.execute(select(func.count()).select_from(text_rows)).scalar_one()


class Sets:
    """Eval sets, by name and version."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, eval_set: EvalSet) -> str:
        """Keeps a set and returns its version; the same content under the same name is kept once."""
        with self._database.write() as connection:
            put_set(self._database, connection, eval_set, kept=True)
        return eval_set.version

    def get(self, name: str, version: str | None = None) -> EvalSet:
        """A set with its examples in order; without a version, the newest. UnknownName if there is none."""
        with self._database.read() as connection:
            set_no, corpus = _set_no(connection, name, version)
            return EvalSet(name, _members(connection, set_no), corpus)

    def part(self, name: str, version: str, first: int, limit: int) -> tuple[Example, ...]:
        """Some examples of a set, in order.

        Args:
            name: of the set.
            version: of it.
            first: how many stand before them.
            limit: at most so many.

        Raises:
            UnknownName: no such set.
        """
        with self._database.read() as connection:
            return _members(connection, _set_no(connection, name, version)[0], first, limit)

    def list(self) -> builtins.list[SetVersion]:
        """Every version of every set, newest first."""
        held = select(func.count()).where(set_examples.c.set_no == sets.c.set_no).scalar_subquery()
        over = select(runs.c.set_no, func.count().label("n"), func.max(runs.c.run_no).label("last"))
        on = over.where(of_no_study()).group_by(runs.c.set_no).subquery()
        query = (
            select(
                sets.c.name,
                sets.c.version,
                held,
                sets.c.created_at,
                func.coalesce(on.c.n, 0),
                func.coalesce(runs.c.run_id, ""),
                func.coalesce(runs.c.name, ""),
            )
            .join(on, on.c.set_no == sets.c.set_no, isouter=True)
            .join(runs, runs.c.run_no == on.c.last, isouter=True)
            .order_by(sets.c.set_no.desc())
        )
        with self._database.read() as connection:
            return [SetVersion(*row) for row in connection.execute(query)]


def _set_no(connection: Connection, name: str, version: str | None) -> tuple[int, str | None]:
    """Number and corpus of a set; without a version, of the newest. UnknownName if there is none."""
    query = select(sets.c.set_no, sets.c.corpus).where(sets.c.name == name).order_by(sets.c.set_no.desc())
    found = connection.execute(query if version is None else query.where(sets.c.version == version)).first()
    if found is None:
        known = connection.execute(select(sets.c.name).distinct()).scalars()
        raise UnknownName("set", name if version is None else f"{name} {version}", known)
    return found.set_no, found.corpus


def _members(connection: Connection, set_no: int, first: int = 0, limit: int | None = None) -> tuple[Example, ...]:
    query = (
        select(examples.c.body)
        .join(set_examples, set_examples.c.example_no == examples.c.example_no)
        .where(set_examples.c.set_no == set_no)
        .order_by(set_examples.c.position)
    )
    bodies = connection.execute(query.offset(first).limit(limit)).scalars()
    return tuple(decode(Example, unpack(body)) for body in bodies)


def text_nos(connection: Connection, shas: Collection[bytes]) -> dict[bytes, int]:
    """Numbers of the texts that are there, by hash."""
    return dict(raw_among(connection, select(text_rows.c.sha, text_rows.c.text_no), text_rows.c.sha, shas))


def add_texts(database: Database, connection: Connection, rows: Sequence[tuple[bytes, bytes]]) -> None:
    """Adds texts by (hash, packed text); those that are there stay."""
    if rows:
        values = [{"sha": sha, "body": body} for sha, body in rows]
        connection.execute(database.insert(text_rows).on_conflict_do_nothing(), values)


def put_examples(
    database: Database, connection: Connection, rows: Sequence[dict[str, Any]], shas: Iterable[bytes]
) -> dict[bytes, int]:
    """Adds examples that are new; returns the numbers of all that are named."""
    if rows:
        connection.execute(database.insert(examples).on_conflict_do_nothing(), rows)
    numbers = dict(rows_among(connection, select(examples.c.sha, examples.c.example_no), examples.c.sha, shas))
    groups = [
        {"example_no": numbers[row["sha"]], "name": name, "value": value}
        for row in rows
        if row["groups"] is not None
        for name, value in group_values(row["groups"])
    ]
    if groups:
        connection.execute(database.insert(example_groups).on_conflict_do_nothing(), groups)
    return numbers


def key_of(result: CursorResult[Any]) -> int:
    """The number of the row that was inserted."""
    key: Any = result.inserted_primary_key
    return int(key[0])


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
        shas = [sha_of(encode(example)) for example in part]
        rows = [_row(sha, example) for sha, example in zip(shas, part, strict=True)]
        numbers = put_examples(database, connection, rows, dict.fromkeys(shas))
        members = [
            {"set_no": set_no, "position": position + i, "example_no": numbers[sha]} for i, sha in enumerate(shas, 1)
        ]
        connection.execute(insert(set_examples), members)
        position += len(part)
    return set_no


def _row(sha: bytes, example: Example) -> dict[str, object]:
    key, groups = query_key_of(example.query), groups_of(example)
    return {"sha": sha, "query_key": key, "groups": groups, "body": pack(encode(example))}
