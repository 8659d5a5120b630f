"""The responses of a run: as they are loaded, and as a few numbers each."""

from __future__ import annotations

import hashlib
import json
import struct
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat as always
from math import nan
from typing import Any, NamedTuple, overload

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, or_, select

from ragauge.core.codec import decode, from_plain
from ragauge.core.errors import StoreError, UnknownName
from ragauge.core.example import Example
from ragauge.core.response import Response
from ragauge.scores.arrays import ResponseIndex
from ragauge.store.database import raw_among
from ragauge.store.names import number_of, run_no
from ragauge.store.page_schema import example_groups
from ragauge.store.schema import examples, responses, runs
from ragauge.store.sets import Texts
from ragauge.store.text_codec import ESCAPE, DamagedBody, framed, unescape, unpack

RESTORE = (
    "Take the store's file back from a copy; without one, delete the run (ragauge delete {}) and evaluate its source "
    "again."
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """One response of a run as it is evaluated.

    Attributes:
        response_no: its number in this store.
        example: the question and its labels.
        response: what the system returned; an empty retrieval where the run holds none.
        mark: of what is stored of it: where the mark is another, so is the response; None = not known.
    """

    response_no: int
    example: Example
    response: Response
    mark: int | None = None


class Order(Sequence[tuple[int, int]]):
    """Pairs of a response's number and the hash of its question: sixteen bytes each, where objects would take 130.

    Attributes:
        numbers: of the responses.
        keys: hashes of their questions.
    """

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self.numbers, self.keys = array("q"), array("q")
        for number, key in pairs:
            self.numbers.append(number)
            self.keys.append(key)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self.numbers, self.keys, strict=True)

    @overload
    def __getitem__(self, at: int) -> tuple[int, int]: ...

    @overload
    def __getitem__(self, at: slice) -> Order: ...

    def __getitem__(self, at: int | slice) -> tuple[int, int] | Order:
        if isinstance(at, int):
            return self.numbers[at], self.keys[at]
        part = Order()
        part.numbers, part.keys = self.numbers[at], self.keys[at]
        return part

    def __repr__(self) -> str:
        return f"<{len(self)} responses>"


class _Row(NamedTuple):
    """One response with its example, as the driver gives it."""

    response_no: int
    body: bytes
    text_nos: bytes | None
    example: bytes


def load(connection: Connection, texts: Texts, numbers: Sequence[int]) -> list[Loaded]:
    """Responses by number, in that order; numbers that are gone are left out."""
    rows = {row.response_no: row for row in _rows(connection, numbers)}
    found = texts.get({number for row in rows.values() for number in _text_nos(row.text_nos) if number})
    loaded = []
    for number in numbers:
        if number in rows:
            try:
                loaded.append(_loaded(rows[number], found))
            except (DamagedBody, ValueError, KeyError, TypeError) as error:  # its JSON, or what it should hold
                raise StoreError(_damaged(connection, number, error)) from error
    return loaded


def _damaged(connection: Connection, number: int, error: Exception) -> str:
    """Which example of which run cannot be read, and what to do."""
    query = select(runs.c.name, runs.c.run_id, responses.c.query_id).join_from(responses, runs)
    name, run_id, query_id = connection.execute(query.where(responses.c.response_no == number)).one()
    why = error.__cause__ if isinstance(error, DamagedBody) else error
    return (
        f"example {unescape(query_id)} of run {unescape(name)} ({run_id}) is damaged in the store and cannot be read: "
        f"{why}. {RESTORE.format(run_id)}"
    )


def unchanged(connection: Connection, marks: Mapping[int, int]) -> set[int]:
    """Numbers of the responses that are what they were when they were loaded, by the marks of then."""
    return {row.response_no for row in _rows(connection, list(marks)) if _mark(row) == marks[row.response_no]}


def _rows(connection: Connection, numbers: Sequence[int]) -> Iterator[_Row]:
    columns = (responses.c.response_no, responses.c.body, responses.c.text_nos, examples.c.body.label("example"))
    query = select(*columns).join_from(responses, examples, responses.c.example_no == examples.c.example_no)
    return (_Row(*row) for row in raw_among(connection, query, responses.c.response_no, numbers))


def _mark(row: _Row) -> int:
    whole = b"\0".join((row.body, row.text_nos or b"", row.example))
    return int.from_bytes(hashlib.blake2b(whole, digest_size=8).digest())


def of_run(query: Select[Any], number: int) -> Select[Any]:
    """Responses of a run with their examples, in example order."""
    joined = query.join_from(responses, examples, responses.c.example_no == examples.c.example_no)
    return joined.where(responses.c.run_no == number).order_by(responses.c.response_no)


def _text_nos(packed: bytes | None) -> tuple[int, ...]:
    return struct.unpack(f"<{len(packed) // 8}q", packed) if packed else ()


def stored_response(body: bytes) -> dict[str, Any]:
    """The fields of a response as they are stored: without its passages' texts."""
    found: dict[str, Any] = json.loads(unpack(body))
    return found


def origins(connection: Connection, number: int, most: int) -> list[dict[str, str]]:
    """What the first responses of a run, by their questions' ids, say of how they were made; so many at most."""
    mine = (responses.c.run_no == number) & (responses.c.absent == 0)
    query = select(responses.c.body).where(mine).order_by(responses.c.query_id, responses.c.repeat).limit(most)
    return [stored_response(body).get("origin", {}) for body in connection.execute(query).scalars()]


def _loaded(row: _Row, texts: dict[int, str]) -> Loaded:
    numbers = _text_nos(row.text_nos)
    plain = stored_response(row.body)
    passages = [*plain.get("passages", ()), *plain.get("candidates", ())]
    if numbers:
        for passage, number in zip(passages, numbers, strict=True):
            if number:
                passage["text"] = texts[number]
    return Loaded(row.response_no, decode(Example, unpack(row.example)), from_plain(Response, plain), _mark(row))


def response_no(connection: Connection, run_id: str, query_id: str, repeat: int) -> int:
    """Number of one response. UnknownName if there is none."""
    number = run_no(connection, run_id)
    mine = (responses.c.run_no == number) & (responses.c.repeat == repeat)
    asked = [query_id, unescape(query_id)] if ESCAPE in query_id else [query_id]  # as it stands in a frame, too
    query = select(responses.c.response_no).where(mine, responses.c.query_id.in_(asked))
    found = number_of(connection, query, ("response", str(number), query_id, str(repeat)))
    if found is None:
        known = select(responses.c.query_id).where(responses.c.run_no == number).distinct().limit(5_000)
        name = query_id if repeat == 0 else f"{query_id} (repeat {repeat})"
        raise UnknownName("query_id", name, connection.execute(known).scalars())
    return int(found)


def kept(rows: Iterable[tuple[int, int, dict[str, Any]]], keep: Mapping[str, str]) -> Order:
    """Number and key of the rows whose groups match every column; a column or value that nobody has is an error."""
    known: dict[str, set[str]] = {column: set() for column in keep}
    columns = {"tag"}
    found = Order()
    for number, key, groups in rows:
        values = {column: _values(groups, column) for column in keep}
        for column, some in values.items():
            known[column].update(some)
        columns.update(groups.get("segments", {}))
        if all(value in values[column] for column, value in keep.items()):
            found.numbers.append(number)
            found.keys.append(key)
    for column, value in keep.items():
        if not known[column]:
            if column == "tag":
                raise UnknownName("tag", value, (), "No example here has any: leave the filter by tag out.")
            raise UnknownName("segment", column, columns)
        if value not in known[column]:
            raise UnknownName("tag" if column == "tag" else f"value of segment {column}", value, known[column])
    return found


def in_group(column: str, value: str) -> ColumnElement[bool]:
    """Condition: the example of a response has this value in a segment column, or this tag; as `kept` has it."""
    groups = example_groups.c
    mine = groups.example_no == responses.c.example_no
    named = exists().where(mine, groups.name == column, groups.value == value)
    if column != "tag":
        return named
    other = exists().where(mine, groups.name == column)
    return or_(named, and_(~other, exists().where(mine, groups.name == "", groups.value == value)))


def _values(groups: dict[str, Any], column: str) -> list[str]:
    """An example's values in a column: one of a segment, several of "tag"."""
    segments: dict[str, str] = groups.get("segments", {})
    if column in segments:
        return [segments[column]]
    return groups.get("tags", []) if column == "tag" else []


@lru_cache(maxsize=4_096)  # most examples are grouped as others are; what is returned is only read
def grouped(groups: bytes | None) -> dict[str, Any]:
    """An example's segments, cluster and tags, those that there are."""
    found: dict[str, Any] = json.loads(unpack(groups)) if groups is not None else {}
    return found


def index_of(parts: Iterable[Sequence[tuple[Any, ...]]], numbers: Sequence[int]) -> ResponseIndex:
    """The index of some of the responses that the rows name.

    Args:
        parts: some rows each, as they are stored: response_no, query_id, repeat, weight, chance and packed groups, by
            ascending number.
        numbers: of the responses wanted, ascending.
    """
    import numpy as np

    wanted = np.asarray(numbers, dtype=np.int64)
    found, query, repeat, cluster = array("q"), array("q"), array("q"), array("q")
    weight, chance = array("d"), array("d")
    queries: dict[str, int] = {}
    clusters: dict[str, int] = {}
    for part in parts:
        kept = np.isin(np.fromiter((row[0] for row in part), dtype=np.int64, count=len(part)), wanted)
        rows = part if kept.all() else [part[at] for at in np.flatnonzero(kept).tolist()]
        if not rows:
            continue
        number, query_ids, which, of, drawn, groups = zip(*rows, strict=True)
        mine = [queries.setdefault(framed(unescape(query_id)), len(queries)) for query_id in query_ids]
        names = (grouped(one).get("cluster") for one in groups) if any(groups) else always(None, len(mine))
        found.extend(number)
        query.extend(mine)
        repeat.extend(which)
        weight.extend(of)
        chance.extend(nan if one is None else one for one in drawn)
        # an example without a cluster is one of its own, below 0 to stay apart from the named ones
        cluster.extend(
            -1 - one if name is None else clusters.setdefault(name, len(clusters))
            for one, name in zip(mine, names, strict=True)
        )
    weights = np.frombuffer(weight, dtype=np.float64) if weight else np.empty(0)
    chances = np.frombuffer(chance, dtype=np.float64) if chance else np.empty(0)
    return ResponseIndex(
        number=_codes(found),
        query=_codes(query),
        repeat=_codes(repeat),
        weight=None if (weights == weights[:1]).all() else weights,
        cluster=_codes(cluster) if clusters else None,
        query_ids=tuple(queries),
        chance=None if (chances == 1.0).all() else chances,
    )


def _codes(numbers: array[int]) -> Any:
    import numpy as np

    return np.frombuffer(numbers, dtype=np.int64) if numbers else np.empty(0, dtype=np.int64)
