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

from ragauge.core.codec import decode_json, from_json_value
from ragauge.core.errors import StoreError, UnknownName
from ragauge.core.example import Example
from ragauge.core.response import Response
from ragauge.scores.arrays import ResponseIndex
from ragauge.store.database import iter_raw_matching_rows
from ragauge.store.names import find_number, find_run_no
from ragauge.store.page_schema import example_groups
from ragauge.store.schema import examples, responses, runs
from ragauge.store.sets import Texts
from ragauge.store.text_codec import ESCAPE, DamagedBody, escape_for_frame, unescape_text, unpack_text

RESTORE_HINT = (
    "Restore the store's file from a backup; without one, delete the run (ragauge runs delete {}) and evaluate its "
    "source again."
)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """One response of a run as it is evaluated."""

    response_no: int  #: its number in this store.
    example: Example  #: the question and its labels.
    response: Response  #: what the system returned; an empty retrieval where the run holds none.
    #: of what is stored of it: where the mark is another, so is the response; None = not known.
    mark: int | None = None


class ResponseOrder(Sequence[tuple[int, int]]):
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
    def __getitem__(self, at: slice) -> ResponseOrder: ...

    def __getitem__(self, at: int | slice) -> tuple[int, int] | ResponseOrder:
        if isinstance(at, int):
            return self.numbers[at], self.keys[at]
        part = ResponseOrder()
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


def load_by_numbers(connection: Connection, texts: Texts, numbers: Sequence[int]) -> list[StoredResponse]:
    """Responses by number, in that order; numbers that are gone are left out."""
    rows = {row.response_no: row for row in _iter_rows(connection, numbers)}
    texts_by_no = texts.get({number for row in rows.values() for number in _unpack_text_nos(row.text_nos) if number})
    stored_responses = []
    for number in numbers:
        if number in rows:
            try:
                stored_responses.append(_build_response(rows[number], texts_by_no))
            except (DamagedBody, ValueError, KeyError, TypeError) as error:  # its JSON, or what it should hold
                raise StoreError(_describe_damage(connection, number, error)) from error
    return stored_responses


def _describe_damage(connection: Connection, number: int, error: Exception) -> str:
    """Which example of which run cannot be read, and what to do."""
    query = select(runs.c.name, runs.c.run_id, responses.c.query_id).join_from(responses, runs)
    name, run_id, query_id = connection.execute(query.where(responses.c.response_no == number)).one()
    reason = error.__cause__ if isinstance(error, DamagedBody) else error
    return (
        f"example {unescape_text(query_id)} of run {unescape_text(name)} ({run_id}) is damaged in the store and "
        "cannot be read: "
        f"{reason}. {RESTORE_HINT.format(run_id)}"
    )


def find_unchanged(connection: Connection, marks: Mapping[int, int]) -> set[int]:
    """Numbers of the responses that are what they were when they were loaded, by the marks of then."""
    return {
        row.response_no for row in _iter_rows(connection, list(marks)) if _compute_mark(row) == marks[row.response_no]
    }


def _iter_rows(connection: Connection, numbers: Sequence[int]) -> Iterator[_Row]:
    columns = (responses.c.response_no, responses.c.body, responses.c.text_nos, examples.c.body.label("example"))
    query = select(*columns).join_from(responses, examples, responses.c.example_no == examples.c.example_no)
    return (_Row(*row) for row in iter_raw_matching_rows(connection, query, responses.c.response_no, numbers))


def _compute_mark(row: _Row) -> int:
    content = b"\0".join((row.body, row.text_nos or b"", row.example))
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest())


def select_run_responses(query: Select[Any], number: int) -> Select[Any]:
    """Responses of a run with their examples, in example order."""
    joined = query.join_from(responses, examples, responses.c.example_no == examples.c.example_no)
    return joined.where(responses.c.run_no == number).order_by(responses.c.response_no)


def _unpack_text_nos(packed: bytes | None) -> tuple[int, ...]:
    return struct.unpack(f"<{len(packed) // 8}q", packed) if packed else ()


def parse_stored_response(body: bytes) -> dict[str, Any]:
    """The fields of a response as they are stored: without its passages' texts."""
    fields: dict[str, Any] = json.loads(unpack_text(body))
    return fields


def load_origins(connection: Connection, number: int, max_responses: int) -> list[dict[str, str]]:
    """What the first responses of a run, by their questions' ids, say of how they were made; so many at most."""
    condition = (responses.c.run_no == number) & (responses.c.absent == 0)
    query = (
        select(responses.c.body)
        .where(condition)
        .order_by(responses.c.query_id, responses.c.repeat)
        .limit(max_responses)
    )
    return [parse_stored_response(body).get("origin", {}) for body in connection.execute(query).scalars()]


def _build_response(row: _Row, texts: dict[int, str]) -> StoredResponse:
    numbers = _unpack_text_nos(row.text_nos)
    fields = parse_stored_response(row.body)
    passages = [*fields.get("passages", ()), *fields.get("candidates", ())]
    if numbers:
        for passage, number in zip(passages, numbers, strict=True):
            if number:
                passage["text"] = texts[number]
    return StoredResponse(
        row.response_no,
        decode_json(Example, unpack_text(row.example)),
        from_json_value(Response, fields),
        _compute_mark(row),
    )


def find_response_no(connection: Connection, run_id: str, query_id: str, repeat: int) -> int:
    """Number of one response. UnknownName if there is none."""
    number = find_run_no(connection, run_id)
    condition = (responses.c.run_no == number) & (responses.c.repeat == repeat)
    query_ids = (
        [query_id, unescape_text(query_id)] if ESCAPE in query_id else [query_id]
    )  # as it stands in a frame, too
    query = select(responses.c.response_no).where(condition, responses.c.query_id.in_(query_ids))
    response_number = find_number(connection, query, ("response", str(number), query_id, str(repeat)))
    if response_number is None:
        known_ids = select(responses.c.query_id).where(responses.c.run_no == number).distinct().limit(5_000)
        name = query_id if repeat == 0 else f"{query_id} (repeat {repeat})"
        raise UnknownName("query_id", name, connection.execute(known_ids).scalars())
    return int(response_number)


def select_by_groups(rows: Iterable[tuple[int, int, dict[str, Any]]], filters: Mapping[str, str]) -> ResponseOrder:
    """Number and key of the rows whose groups match every column; a column or value that nobody has is an error."""
    values_by_column: dict[str, set[str]] = {column: set() for column in filters}
    columns = {"tag"}
    order = ResponseOrder()
    for number, key, groups in rows:
        values = {column: _list_values(groups, column) for column in filters}
        for column, column_values in values.items():
            values_by_column[column].update(column_values)
        columns.update(groups.get("segments", {}))
        if all(value in values[column] for column, value in filters.items()):
            order.numbers.append(number)
            order.keys.append(key)
    for column, value in filters.items():
        if not values_by_column[column]:
            if column == "tag":
                raise UnknownName("tag", value, (), "No example has tags: remove the filter by tag.")
            raise UnknownName("segment", column, columns)
        if value not in values_by_column[column]:
            raise UnknownName(
                "tag" if column == "tag" else f"value of segment {column}", value, values_by_column[column]
            )
    return order


def build_group_condition(column: str, value: str) -> ColumnElement[bool]:
    """The example of a response has this value in a segment column, or this tag, as in `select_by_groups`."""
    groups = example_groups.c
    same_example = groups.example_no == responses.c.example_no
    has_value = exists().where(same_example, groups.name == column, groups.value == value)
    if column != "tag":
        return has_value
    has_column = exists().where(same_example, groups.name == column)
    return or_(has_value, and_(~has_column, exists().where(same_example, groups.name == "", groups.value == value)))


def _list_values(groups: dict[str, Any], column: str) -> list[str]:
    """An example's values in a column: one of a segment, several of "tag"."""
    segments: dict[str, str] = groups.get("segments", {})
    if column in segments:
        return [segments[column]]
    return groups.get("tags", []) if column == "tag" else []


@lru_cache(maxsize=4_096)  # most examples are grouped as others are; what is returned is only read
def parse_groups(groups: bytes | None) -> dict[str, Any]:
    """An example's segments, cluster and tags, those that there are."""
    parsed: dict[str, Any] = json.loads(unpack_text(groups)) if groups is not None else {}
    return parsed


def build_index(row_batches: Iterable[Sequence[tuple[Any, ...]]], numbers: Sequence[int]) -> ResponseIndex:
    """The index of some of the responses that the rows name.

    Args:
        row_batches: some rows each, as they are stored: response_no, query_id, repeat, weight, chance and packed
            groups, by
            ascending number.
        numbers: of the responses wanted, ascending.
    """
    import numpy as np

    requested = np.asarray(numbers, dtype=np.int64)
    numbers_found, query, repeat, cluster = array("q"), array("q"), array("q"), array("q")
    weight, chance = array("d"), array("d")
    queries: dict[str, int] = {}
    clusters: dict[str, int] = {}
    for batch in row_batches:
        is_requested = np.isin(np.fromiter((row[0] for row in batch), dtype=np.int64, count=len(batch)), requested)
        rows = batch if is_requested.all() else [batch[position] for position in np.flatnonzero(is_requested).tolist()]
        if not rows:
            continue
        number, query_ids, repeats_given, weights_given, chances_given, groups = zip(*rows, strict=True)
        query_codes = [
            queries.setdefault(escape_for_frame(unescape_text(query_id)), len(queries)) for query_id in query_ids
        ]
        names = (
            (parse_groups(item).get("cluster") for item in groups) if any(groups) else always(None, len(query_codes))
        )
        numbers_found.extend(number)
        query.extend(query_codes)
        repeat.extend(repeats_given)
        weight.extend(weights_given)
        chance.extend(nan if item is None else item for item in chances_given)
        # an example without a cluster is one of its own, below 0 to stay apart from the named ones
        cluster.extend(
            -1 - item if name is None else clusters.setdefault(name, len(clusters))
            for item, name in zip(query_codes, names, strict=True)
        )
    weights = np.frombuffer(weight, dtype=np.float64) if weight else np.empty(0)
    chances = np.frombuffer(chance, dtype=np.float64) if chance else np.empty(0)
    return ResponseIndex(
        number=_to_array(numbers_found),
        query=_to_array(query),
        repeat=_to_array(repeat),
        weight=None if (weights == weights[:1]).all() else weights,
        cluster=_to_array(cluster) if clusters else None,
        query_ids=tuple(queries),
        chance=None if (chances == 1.0).all() else chances,
    )


def _to_array(numbers: array[int]) -> Any:
    import numpy as np

    return np.frombuffer(numbers, dtype=np.int64) if numbers else np.empty(0, dtype=np.int64)
