"""What runs share, each kept once: passage texts, examples, eval sets."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, CursorResult, func, insert, select

from ragauge.core.codec import decode_json, encode_json
from ragauge.core.curation import SetVersion
from ragauge.core.errors import UnknownName
from ragauge.core.example import EvalSet, Example
from ragauge.store.database import Database, get_timestamp, iter_matching_rows, iter_raw_matching_rows, split_batches
from ragauge.store.page_schema import example_groups
from ragauge.store.run_list import is_no_trial
from ragauge.store.schema import examples, runs, set_examples, sets
from ragauge.store.schema import texts as text_rows
from ragauge.store.spool import compute_query_key, iter_group_values, pack_groups
from ragauge.store.text_codec import hash_text, pack_text, unpack_text


class Texts:
    """Passage texts, each once across all runs, by SHA-256."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, texts: Sequence[str]) -> list[int]:
        """Their numbers, in order; a text already there keeps its number."""
        by_sha = {hash_text(text): text for text in texts}
        with self._database.write() as connection:
            nos_by_sha = find_text_nos(connection, by_sha)
            rows = [(sha, pack_text(text)) for sha, text in by_sha.items() if sha not in nos_by_sha]
            add_texts(self._database, connection, rows)
            nos_by_sha = find_text_nos(connection, by_sha)
        return [nos_by_sha[hash_text(text)] for text in texts]

    def get(self, numbers: Collection[int]) -> dict[int, str]:
        """Texts by number."""
        query = select(text_rows.c.text_no, text_rows.c.body)
        with self._database.read() as connection:
            rows = iter_raw_matching_rows(connection, query, text_rows.c.text_no, sorted(set(numbers)))
            return {number: unpack_text(body) for number, body in rows}

    def count(self) -> int:
        """How many distinct texts there are."""
        with self._database.read() as connection:
            return connection.execute(select(func.count()).select_from(text_rows)).scalar_one()


class Sets:
    """Eval sets, by name and version."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, eval_set: EvalSet) -> str:
        """Stores a set and returns its version; the same content under the same name is kept once."""
        with self._database.write() as connection:
            put_set(self._database, connection, eval_set, is_kept=True)
        return eval_set.version

    def get(self, name: str, version: str | None = None) -> EvalSet:
        """A set with its examples in order; without a version, the newest. UnknownName if there is none."""
        with self._database.read() as connection:
            set_no, corpus = _find_set_no(connection, name, version)
            return EvalSet(name, _load_members(connection, set_no), corpus)

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
            return _load_members(connection, _find_set_no(connection, name, version)[0], first, limit)

    def list(self) -> builtins.list[SetVersion]:
        """Every version of every set, newest first."""
        n_examples = select(func.count()).where(set_examples.c.set_no == sets.c.set_no).scalar_subquery()
        run_counts = select(runs.c.set_no, func.count().label("n"), func.max(runs.c.run_no).label("last"))
        runs_by_set = run_counts.where(is_no_trial()).group_by(runs.c.set_no).subquery()
        query = (
            select(
                sets.c.name,
                sets.c.version,
                n_examples,
                sets.c.created_at,
                func.coalesce(runs_by_set.c.n, 0),
                func.coalesce(runs.c.run_id, ""),
                func.coalesce(runs.c.name, ""),
            )
            .join(runs_by_set, runs_by_set.c.set_no == sets.c.set_no, isouter=True)
            .join(runs, runs.c.run_no == runs_by_set.c.last, isouter=True)
            .order_by(sets.c.set_no.desc())
        )
        with self._database.read() as connection:
            return [SetVersion(*row) for row in connection.execute(query)]


def _find_set_no(connection: Connection, name: str, version: str | None) -> tuple[int, str | None]:
    """Number and corpus of a set; without a version, of the newest. UnknownName if there is none."""
    query = select(sets.c.set_no, sets.c.corpus).where(sets.c.name == name).order_by(sets.c.set_no.desc())
    set_row = connection.execute(query if version is None else query.where(sets.c.version == version)).first()
    if set_row is None:
        valid_names = connection.execute(select(sets.c.name).distinct()).scalars()
        raise UnknownName("set", name if version is None else f"{name} {version}", valid_names)
    return set_row.set_no, set_row.corpus


def _load_members(connection: Connection, set_no: int, first: int = 0, limit: int | None = None) -> tuple[Example, ...]:
    query = (
        select(examples.c.body)
        .join(set_examples, set_examples.c.example_no == examples.c.example_no)
        .where(set_examples.c.set_no == set_no)
        .order_by(set_examples.c.position)
    )
    bodies = connection.execute(query.offset(first).limit(limit)).scalars()
    return tuple(decode_json(Example, unpack_text(body)) for body in bodies)


def find_text_nos(connection: Connection, shas: Collection[bytes]) -> dict[bytes, int]:
    """Numbers of the texts that are there, by hash."""
    return dict(iter_raw_matching_rows(connection, select(text_rows.c.sha, text_rows.c.text_no), text_rows.c.sha, shas))


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
    numbers = dict(iter_matching_rows(connection, select(examples.c.sha, examples.c.example_no), examples.c.sha, shas))
    groups = [
        {"example_no": numbers[row["sha"]], "name": name, "value": value}
        for row in rows
        if row["groups"] is not None
        for name, value in iter_group_values(row["groups"])
    ]
    if groups:
        connection.execute(database.insert(example_groups).on_conflict_do_nothing(), groups)
    return numbers


def get_inserted_key(result: CursorResult[Any]) -> int:
    """The number of the row that was inserted."""
    key: Any = result.inserted_primary_key
    return int(key[0])


def put_set(database: Database, connection: Connection, eval_set: EvalSet, *, is_kept: bool) -> int:
    """Adds a set where its name and version are new; returns its number.

    Args:
        database: where it goes.
        connection: that is writing.
        eval_set: the set.
        is_kept: for itself; otherwise it goes with the last run on it.
    """
    condition = (sets.c.name == eval_set.name) & (sets.c.version == eval_set.version)
    existing_no = connection.execute(select(sets.c.set_no).where(condition)).scalar()
    if existing_no is not None:
        if is_kept:
            connection.execute(sets.update().where(condition).values(kept=1, corpus=eval_set.corpus))
        return int(existing_no)
    values = {"name": eval_set.name, "version": eval_set.version, "corpus": eval_set.corpus}
    set_no = get_inserted_key(
        connection.execute(insert(sets).values(**values, kept=int(is_kept), created_at=get_timestamp()))
    )
    position = 0
    for batch in split_batches(eval_set.examples, 500):
        shas = [hash_text(encode_json(example)) for example in batch]
        rows = [_build_row(sha, example) for sha, example in zip(shas, batch, strict=True)]
        numbers = put_examples(database, connection, rows, dict.fromkeys(shas))
        members = [
            {"set_no": set_no, "position": position + i, "example_no": numbers[sha]} for i, sha in enumerate(shas, 1)
        ]
        connection.execute(insert(set_examples), members)
        position += len(batch)
    return set_no


def _build_row(sha: bytes, example: Example) -> dict[str, object]:
    key, groups = compute_query_key(example.query), pack_groups(example)
    return {"sha": sha, "query_key": key, "groups": groups, "body": pack_text(encode_json(example))}
