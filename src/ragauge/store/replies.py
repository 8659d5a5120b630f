"""Replies of models, by key."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, literal_column, select, true

from ragauge.core.ask import Ask, ModelName, Reply, build_reply_key
from ragauge.core.codec import decode_json, encode_json, from_json_value
from ragauge.core.errors import DataError
from ragauge.core.identity import to_canonical_json, to_json_value
from ragauge.store.database import Database, get_timestamp, iter_raw_matching_rows, split_batches
from ragauge.store.names import load_model_names, put_models
from ragauge.store.schema import replies as table
from ragauge.store.text_codec import pack_text, unpack_text

PAGE_SIZE = 200  # replies read at a time
UPDATED_COLUMNS = ("failed", "at", "body", "vectors")  # where a reply takes the place of one that failed
REPLY_COLUMNS = ("key", "model_no", "question", "failed", "at", "ask", "body", "vectors")


@dataclass(frozen=True, slots=True)
class ReplyInfo:
    """A group of stored replies as `ragauge store cache` lists it: those of one model to one question."""

    model: ModelName
    question: str
    n: int
    failed: int
    bytes: int
    first: str
    last: str


class Replies:
    """Replies of models: the only paid truth. A reply is never changed; a failed one gives way to one that is not."""

    def __init__(self, database: Database) -> None:
        self._database = database
        statement = database.insert(table)
        upsert = statement.on_conflict_do_update(
            index_elements=["key"],
            set_={name: statement.excluded[name] for name in UPDATED_COLUMNS},
            where=and_(table.c.failed == literal_column("1"), statement.excluded.failed == literal_column("0")),
        )
        # compiled once: there is a transaction every few calls, and building the statement took longer than running it
        self._upsert = upsert.compile(dialect=database.engine.dialect, column_keys=list(REPLY_COLUMNS))

    def put(self, triples: Sequence[tuple[ModelName, Ask, Reply]]) -> list[Reply]:
        """Stores replies under their keys, durably, in one transaction.

        Returns:
            The stored reply of each, in order, with its key: of several under one key the first that did not fail.
        """
        keys = [build_reply_key(name, ask) for name, ask, _ in triples]
        reply_by_key: dict[str, tuple[ModelName, Ask, Reply, str]] = {}
        for key, triple in zip(keys, triples, strict=True):
            if key not in reply_by_key or (reply_by_key[key][2].status == "failed" and triple[2].status == "ok"):
                reply_by_key[key] = (*triple, get_timestamp())
        with self._database.write() as connection:
            # a row that was there is counted only where it gave way; so with as many as were sent, all are mine
            if self._insert_rows(connection, reply_by_key) == len(reply_by_key) and all(
                triple[2].vectors is None for triple in reply_by_key.values()
            ):
                return [replace(reply_by_key[key][2], key=key) for key in keys]
            stored = _load_by_key(connection, reply_by_key)
        return [stored[key] for key in keys]

    def get(self, keys: Collection[str]) -> dict[str, Reply]:
        """The replies of those keys that are stored."""
        with self._database.read() as connection:
            return _load_by_key(connection, keys)

    def lengths(self, name: ModelName, question: str, max_replies: int = 50) -> list[tuple[Ask, int]]:
        """What a model was asked last of a question, and how many tokens each reply took; those that say so.

        Args:
            name: of the model.
            question: such as verify_answer.
            max_replies: replies looked at.
        """
        with self._database.read() as connection:
            number = next(
                (no for no, model_name in load_model_names(connection).items() if str(model_name) == str(name)), None
            )
            condition = (table.c.model_no == number) & (table.c.question == question) & (table.c.failed == 0)
            query = (
                select(table.c.ask, table.c.body).where(condition).order_by(table.c.reply_no.desc()).limit(max_replies)
            )
            rows = [] if number is None else connection.execute(query).all()
        used = [(ask, (_parse_body(body).get("usage") or {}).get("output_tokens")) for ask, body in rows]
        return [(decode_json(Ask, unpack_text(ask)), tokens) for ask, tokens in used if tokens]

    def groups(self) -> list[ReplyInfo]:
        """What is stored, by model and question."""
        size = func.length(table.c.ask) + func.length(table.c.body) + func.coalesce(func.length(table.c.vectors), 0)
        query = (
            select(
                table.c.model_no,
                table.c.question,
                func.count(),
                func.sum(table.c.failed),
                func.sum(size),
                func.min(table.c.at),
                func.max(table.c.at),
            )
            .group_by(table.c.model_no, table.c.question)
            .order_by(table.c.model_no, table.c.question)
        )
        with self._database.read() as connection:
            names = load_model_names(connection)
            return [ReplyInfo(names[model], *totals) for model, *totals in connection.execute(query)]

    def prune(self, *, model: str = "", question: str = "", before_time: str = "", failed_only: bool = False) -> int:
        """Removes replies that match all that is given; returns how many. Evidence read from them stays.

        Args:
            model: as printed, `provider:model[@endpoint]`.
            question: such as verify_answer.
            before_time: ISO 8601; older ones.
            failed_only: only failed ones.
        """
        with self._database.write() as connection:
            condition = _build_condition(connection, model, question, before_time, failed_only)
            return connection.execute(delete(table).where(condition)).rowcount

    def matching(self, *, model: str = "", question: str = "", before_time: str = "", failed_only: bool = False) -> int:
        """How many replies `prune` would remove."""
        with self._database.read() as connection:
            condition = _build_condition(connection, model, question, before_time, failed_only)
            return connection.execute(select(func.count()).select_from(table).where(condition)).scalar_one()

    def iter_lines(self) -> Iterator[Mapping[str, Any]]:
        """Every reply as JSON types, with its ask, for a file that another store can read in."""
        last = 0
        with self._database.read() as connection:
            names = load_model_names(connection)
            page = select(table).order_by(table.c.reply_no).limit(PAGE_SIZE)
            while rows := connection.execute(page.where(table.c.reply_no > last)).all():
                for row in rows:
                    yield _build_line(row, names[row.model_no])
                last = rows[-1].reply_no

    def add_lines(self, lines: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
        """Takes in such lines: (added, already there). A line whose key does not match its ask is refused."""
        n_added = n_existing = 0
        with self._database.write() as connection:
            for batch in split_batches(enumerate(lines, 1), PAGE_SIZE):
                reply_by_key = dict(_parse_line(line, n) for n, line in batch)
                n_known = len(_load_by_key(connection, reply_by_key))
                self._insert_rows(connection, reply_by_key)
                n_added, n_existing = (
                    n_added + len(reply_by_key) - n_known,
                    n_existing + n_known + len(batch) - len(reply_by_key),
                )
        return n_added, n_existing

    def _insert_rows(
        self, connection: Connection, reply_by_key: Mapping[str, tuple[ModelName, Ask, Reply, str]]
    ) -> int:
        """Adds what is new, and what did not fail in place of what did; returns how many these were."""
        if not reply_by_key:
            return 0
        numbers = put_models(self._database, connection, {name for name, _, _, _ in reply_by_key.values()})
        rows: list[Any] = [
            (
                bytes.fromhex(key),
                numbers[name],
                ask.question,
                int(reply.status == "failed"),
                timestamp,
                pack_text(encode_json(ask)),
                pack_text(encode_json(replace(reply, vectors=None, key=""))),
                _encode_vectors(reply.vectors),
            )
            for key, (name, ask, reply, timestamp) in reply_by_key.items()
        ]
        options = {"preserve_rowcount": True}
        return connection.exec_driver_sql(str(self._upsert), rows, execution_options=options).rowcount


def _build_condition(
    connection: Connection, model: str, question: str, before_time: str, failed_only: bool
) -> ColumnElement[bool]:
    numbers = [number for number, name in load_model_names(connection).items() if not model or str(name) == model]
    return and_(
        table.c.model_no.in_(numbers),
        table.c.question == question if question else true(),
        table.c.at < before_time if before_time else true(),
        table.c.failed == 1 if failed_only else true(),
    )


def _load_by_key(connection: Connection, keys: Collection[str]) -> dict[str, Reply]:
    query = select(table.c.key, table.c.body, table.c.vectors)
    rows = iter_raw_matching_rows(connection, query, table.c.key, map(bytes.fromhex, keys))
    return {key.hex(): _build_reply(key.hex(), body, vectors) for key, body, vectors in rows}


def _build_reply(key: str, body: bytes, vectors: bytes | None) -> Reply:
    content = _parse_body(body) | {"key": key}
    return from_json_value(Reply, content if vectors is None else content | {"vectors": _decode_vectors(vectors)})


def _parse_body(body: bytes) -> dict[str, Any]:
    """A reply as it is stored: without its key and vectors."""
    content: dict[str, Any] = json.loads(unpack_text(body))
    return content


def _encode_vectors(vectors: Any) -> bytes | None:
    """Vectors as bytes: their number in four bytes, then the rows."""
    import numpy as np

    if vectors is None:
        return None
    rows = np.ascontiguousarray(vectors, dtype="<f4")
    return len(rows).to_bytes(4, "little") + rows.tobytes()


def _decode_vectors(packed: bytes | None) -> Any:
    import numpy as np

    if packed is None:
        return None
    return np.frombuffer(packed, "<f4", offset=4).reshape(int.from_bytes(packed[:4], "little"), -1)


def _build_line(row: Any, name: ModelName) -> dict[str, Any]:
    rows = _decode_vectors(row.vectors)
    vectors = {} if rows is None else {"vectors": [[float(value) for value in vector] for vector in rows]}
    reply = _parse_body(row.body)
    ask = json.loads(unpack_text(row.ask))
    return {"key": row.key.hex(), "at": row.at, "model": to_json_value(name), "ask": ask, "reply": reply | vectors}


def _parse_line(line: Mapping[str, Any], n: int) -> tuple[str, tuple[ModelName, Ask, Reply, str]]:
    """A line as it is stored; its key is computed anew, so that no reply comes in under another's key."""
    import numpy as np

    try:
        name, ask = from_json_value(ModelName, line["model"]), from_json_value(Ask, line["ask"])
        content = dict(line["reply"])
        vectors = content.pop("vectors", None)
        reply = from_json_value(Reply, content)
        timestamp = str(line["at"])
        if vectors is not None:
            reply = replace(reply, vectors=np.asarray(vectors, dtype="<f4").reshape(len(vectors), -1))
    except (KeyError, TypeError, ValueError, DataError) as error:
        expected = "expected key, at, model, ask and reply as `ragauge store cache export` writes them"
        raise DataError(f"reply {n} cannot be read ({type(error).__name__}: {error}); {expected}.") from error
    key = build_reply_key(name, ask)
    if key != line.get("key"):
        raise DataError(
            f"reply {n}: its key {str(line.get('key'))[:12]}… does not match its ask ({key[:12]}…): the line was "
            "changed. Remove it, or export it again."
        )
    to_canonical_json(to_json_value(ask))  # refuses what JSON cannot hold before anything is written
    return key, (name, ask, reply, timestamp)
