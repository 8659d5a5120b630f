"""What models said, by key."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, literal_column, select, true

from ragauge.core.ask import Ask, ModelName, Reply, reply_key
from ragauge.core.codec import decode, encode, from_plain
from ragauge.core.errors import DataError
from ragauge.core.identity import canonical, plain
from ragauge.store.database import Database, chunks, now, raw_among
from ragauge.store.names import model_names, model_nos
from ragauge.store.schema import replies as table
from ragauge.store.text_codec import pack, unpack

PAGE = 200  # replies read at a time
CHANGED = ("failed", "at", "body", "vectors")  # where a reply takes the place of one that failed
COLUMNS = ("key", "model_no", "question", "failed", "at", "ask", "body", "vectors")


@dataclass(frozen=True, slots=True)
class ReplyInfo:
    """A group of stored replies as `ragauge cache` lists it: those of one model to one question."""

    model: ModelName
    question: str
    n: int
    failed: int
    bytes: int
    first: str
    last: str


class Replies:
    """What models said: the only paid truth. A reply is never changed; a failed one gives way to one that is not."""

    def __init__(self, database: Database) -> None:
        self._database = database
        statement = database.insert(table)
        upsert = statement.on_conflict_do_update(
            index_elements=["key"],
            set_={name: statement.excluded[name] for name in CHANGED},
            where=and_(table.c.failed == literal_column("1"), statement.excluded.failed == literal_column("0")),
        )
        # compiled once: there is a transaction every few calls, and building the statement took longer than running it
        self._upsert = upsert.compile(dialect=database.engine.dialect, column_keys=list(COLUMNS))

    def put(self, found: Sequence[tuple[ModelName, Ask, Reply]]) -> list[Reply]:
        """Stores replies under their keys, durably, in one transaction.

        Returns:
            The stored reply of each, in order, with its key: of several under one key the first that did not fail.
        """
        keys = [reply_key(name, ask) for name, ask, _ in found]
        mine: dict[str, tuple[ModelName, Ask, Reply, str]] = {}
        for key, one in zip(keys, found, strict=True):
            if key not in mine or (mine[key][2].status == "failed" and one[2].status == "ok"):
                mine[key] = (*one, now())
        with self._database.write() as connection:
            # a row that was there is counted only where it gave way; so with as many as were sent, all are mine
            if self._insert(connection, mine) == len(mine) and all(one[2].vectors is None for one in mine.values()):
                return [replace(mine[key][2], key=key) for key in keys]
            stored = _by_key(connection, mine)
        return [stored[key] for key in keys]

    def get(self, keys: Collection[str]) -> dict[str, Reply]:
        """The replies of those keys that are stored."""
        with self._database.read() as connection:
            return _by_key(connection, keys)

    def lengths(self, name: ModelName, question: str, most: int = 50) -> list[tuple[Ask, int]]:
        """What a model was asked last of a question, and how many tokens each reply took; those that say so.

        Args:
            name: of the model.
            question: such as verify_answer.
            most: replies looked at.
        """
        with self._database.read() as connection:
            number = next((no for no, known in model_names(connection).items() if str(known) == str(name)), None)
            mine = (table.c.model_no == number) & (table.c.question == question) & (table.c.failed == 0)
            query = select(table.c.ask, table.c.body).where(mine).order_by(table.c.reply_no.desc()).limit(most)
            rows = [] if number is None else connection.execute(query).all()
        used = [(ask, (_plain(body).get("usage") or {}).get("output_tokens")) for ask, body in rows]
        return [(decode(Ask, unpack(ask)), tokens) for ask, tokens in used if tokens]

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
            names = model_names(connection)
            return [ReplyInfo(names[model], *rest) for model, *rest in connection.execute(query)]

    def prune(self, *, model: str = "", question: str = "", before: str = "", failed_only: bool = False) -> int:
        """Removes replies that match all that is given; returns how many. Evidence read from them stays.

        Args:
            model: as printed, `provider:model[@endpoint]`.
            question: such as verify_answer.
            before: ISO 8601; older ones.
            failed_only: only failed ones.
        """
        with self._database.write() as connection:
            wanted = _matching(connection, model, question, before, failed_only)
            return connection.execute(delete(table).where(wanted)).rowcount

    def matching(self, *, model: str = "", question: str = "", before: str = "", failed_only: bool = False) -> int:
        """How many replies `prune` would remove."""
        with self._database.read() as connection:
            wanted = _matching(connection, model, question, before, failed_only)
            return connection.execute(select(func.count()).select_from(table).where(wanted)).scalar_one()

    def lines(self) -> Iterator[Mapping[str, Any]]:
        """Every reply as JSON types, with its ask, for a file that another store can read in."""
        last = 0
        with self._database.read() as connection:
            names = model_names(connection)
            page = select(table).order_by(table.c.reply_no).limit(PAGE)
            while rows := connection.execute(page.where(table.c.reply_no > last)).all():
                for row in rows:
                    yield _line(row, names[row.model_no])
                last = rows[-1].reply_no

    def add_lines(self, lines: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
        """Takes in such lines: (added, already there). A line whose key does not follow from its ask is refused."""
        added = there = 0
        with self._database.write() as connection:
            for part in chunks(enumerate(lines, 1), PAGE):
                mine = dict(_read_line(line, n) for n, line in part)
                known = len(_by_key(connection, mine))
                self._insert(connection, mine)
                added, there = added + len(mine) - known, there + known + len(part) - len(mine)
        return added, there

    def _insert(self, connection: Connection, mine: Mapping[str, tuple[ModelName, Ask, Reply, str]]) -> int:
        """Adds what is new, and what did not fail in place of what did; returns how many these were."""
        if not mine:
            return 0
        numbers = model_nos(self._database, connection, {name for name, _, _, _ in mine.values()})
        rows: list[Any] = [
            (
                bytes.fromhex(key),
                numbers[name],
                ask.question,
                int(reply.status == "failed"),
                at,
                pack(encode(ask)),
                pack(encode(replace(reply, vectors=None, key=""))),
                _floats(reply.vectors),
            )
            for key, (name, ask, reply, at) in mine.items()
        ]
        options = {"preserve_rowcount": True}
        return connection.exec_driver_sql(str(self._upsert), rows, execution_options=options).rowcount


def _matching(connection: Connection, model: str, question: str, before: str, failed_only: bool) -> ColumnElement[bool]:
    numbers = [number for number, name in model_names(connection).items() if not model or str(name) == model]
    return and_(
        table.c.model_no.in_(numbers),
        table.c.question == question if question else true(),
        table.c.at < before if before else true(),
        table.c.failed == 1 if failed_only else true(),
    )


def _by_key(connection: Connection, keys: Collection[str]) -> dict[str, Reply]:
    query = select(table.c.key, table.c.body, table.c.vectors)
    rows = raw_among(connection, query, table.c.key, map(bytes.fromhex, keys))
    return {key.hex(): _reply(key.hex(), body, vectors) for key, body, vectors in rows}


def _reply(key: str, body: bytes, vectors: bytes | None) -> Reply:
    found = _plain(body) | {"key": key}
    return from_plain(Reply, found if vectors is None else found | {"vectors": _rows(vectors)})


def _plain(body: bytes) -> dict[str, Any]:
    """A reply as it is stored: without its key and vectors."""
    found: dict[str, Any] = json.loads(unpack(body))
    return found


def _floats(vectors: Any) -> bytes | None:
    """Vectors as bytes: their number in four bytes, then the rows."""
    import numpy as np

    if vectors is None:
        return None
    rows = np.ascontiguousarray(vectors, dtype="<f4")
    return len(rows).to_bytes(4, "little") + rows.tobytes()


def _rows(packed: bytes | None) -> Any:
    import numpy as np

    if packed is None:
        return None
    return np.frombuffer(packed, "<f4", offset=4).reshape(int.from_bytes(packed[:4], "little"), -1)


def _line(row: Any, name: ModelName) -> dict[str, Any]:
    rows = _rows(row.vectors)
    vectors = {} if rows is None else {"vectors": [[float(value) for value in one] for one in rows]}
    reply = _plain(row.body)
    ask = json.loads(unpack(row.ask))
    return {"key": row.key.hex(), "at": row.at, "model": plain(name), "ask": ask, "reply": reply | vectors}


def _read_line(line: Mapping[str, Any], n: int) -> tuple[str, tuple[ModelName, Ask, Reply, str]]:
    """A line as it is stored; its key is computed anew, so that no reply comes in under another's key."""
    import numpy as np

    try:
        name, ask = from_plain(ModelName, line["model"]), from_plain(Ask, line["ask"])
        parts = dict(line["reply"])
        vectors = parts.pop("vectors", None)
        reply = from_plain(Reply, parts)
        at = str(line["at"])
        if vectors is not None:
            reply = replace(reply, vectors=np.asarray(vectors, dtype="<f4").reshape(len(vectors), -1))
    except (KeyError, TypeError, ValueError, DataError) as error:
        expected = "expected key, at, model, ask and reply as `ragauge cache export` writes them"
        raise DataError(f"reply {n} cannot be read ({type(error).__name__}: {error}); {expected}.") from error
    key = reply_key(name, ask)
    if key != line.get("key"):
        raise DataError(
            f"reply {n}: its key {str(line.get('key'))[:12]}… does not follow from its ask ({key[:12]}…): the line was "
            "changed. Leave it out, or export it again."
        )
    canonical(plain(ask))  # refuses what JSON cannot hold before anything is written
    return key, (name, ask, reply, at)
