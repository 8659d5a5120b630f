"""Deletes what is kept of somebody, wherever it is, and says how much: responses, what judges found in them, copies."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from ragauge.core.codec import decode_json
from ragauge.core.example import Example
from ragauge.monitoring.canary.compute import CANARY
from ragauge.store import orphans, sqlite
from ragauge.store import run_import as importing
from ragauge.store.database import Database, build_in_condition, iter_matching_rows, iter_raw_rows, split_batches
from ragauge.store.files_beside import FileSearchResult, remove_lines, search_files
from ragauge.store.label_schema import draws, labels
from ragauge.store.monitor_schema import alerts, deliveries
from ragauge.store.page_schema import cards, charts, example_groups
from ragauge.store.responses import StoredResponse, load_by_numbers
from ragauge.store.schema import causes, examples, metadata, responses, run_texts, runs, scores, set_examples, texts
from ragauge.store.sets import Texts
from ragauge.store.spool import compute_query_key
from ragauge.store.study_schema import vectors
from ragauge.store.text_codec import hash_text, pack_text, unpack_text
from ragauge.store.traffic_schema import inbox, return_batches, trace_batches, traces
from ragauge.store.verdict_schema import control_evidence, verdicts
from ragauge.store.writes import count_write

MIN_SEARCHED_CHARS = 12  # characters of a text that is looked for afterwards: shorter ones stand in anybody's


@dataclass(frozen=True, slots=True)
class StoredTraces:
    """What is kept of some traces."""

    trace_ids: frozenset[str]  #: of them.
    items: tuple[StoredResponse, ...]  #: their responses with their examples, in whichever runs.
    run_nos: tuple[int, ...]  #: numbers of these runs.
    example_nos: tuple[int, ...]  #: of their examples, those of eval sets too.
    batches: tuple[int, ...]  #: raw batches that hold anything of them.

    @property
    def texts(self) -> set[str]:
        """Questions, answers and passages."""
        collected: set[str] = set()
        for item in self.items:
            collected |= {item.example.query, item.response.answer or "", *item.example.references}
            ranked = (*(item.response.passages or ()), *(item.response.candidates or ()))
            collected |= {passage.text for passage in ranked if passage.text}
            collected |= {turn.text for turn in item.example.history}
        return collected - {""}


class TraceEraser:
    """Finds what is kept of traces, deletes it, and looks whether anything is left."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._texts = Texts(database)

    def list_ids_by_segment(self, name: str, value: str) -> set[str]:
        """Names (query_ids) of the responses of traffic whose segment has a value."""
        query = (
            select(responses.c.query_id)
            .join_from(responses, example_groups, example_groups.c.example_no == responses.c.example_no)
            .join(runs, runs.c.run_no == responses.c.run_no)
        )
        own_query = query.where(
            runs.c.kind == "traffic", example_groups.c.name == name, example_groups.c.value == value
        )
        with self._database.read() as connection:
            return set(connection.execute(own_query).scalars())

    def iter_trace_ids(self) -> Iterator[str]:
        """Every trace that is known."""
        with self._database.read() as connection:
            yield from connection.execute(select(traces.c.trace_id).order_by(traces.c.trace_id)).scalars().all()

    def find_stored_traces(self, trace_ids: Collection[str], linked: Collection[int] = ()) -> StoredTraces:
        """What is kept of traces.

        Args:
            trace_ids: of the traces; names of lines that came as responses.
            linked: numbers of further raw batches that hold something of them.
        """
        with self._database.read() as connection:
            example_nos = _find_example_nos(connection, trace_ids)
            rows = list(
                iter_matching_rows(
                    connection, select(responses.c.response_no, responses.c.run_no), responses.c.example_no, example_nos
                )
            )
            items = load_by_numbers(connection, self._texts, [row.response_no for row in rows])
            query = select(trace_batches.c.batch_no)
            batches = {
                row.batch_no for row in iter_matching_rows(connection, query, trace_batches.c.trace_id, trace_ids)
            }
        return StoredTraces(
            frozenset(trace_ids),
            tuple(items),
            tuple(sorted({row.run_no for row in rows})),
            tuple(sorted(example_nos)),
            tuple(sorted({*batches, *linked})),
        )

    def erase_traces(
        self,
        stored: StoredTraces,
        bodies: Mapping[int, bytes | None],
        label_keys: Collection[str],
        returned: Mapping[str, bytes | None],
    ) -> dict[str, int]:
        """Deletes all of it in one transaction.

        Args:
            stored: what is to go.
            bodies: number of a raw batch -> what is left of it, packed; None = nothing.
            label_keys: of people's labels that are of these responses.
            returned: id of results on their way -> what is left of them; None = nothing.

        Returns:
            What -> how many of it went.
        """
        numbers = [item.response_no for item in stored.items]
        with self._database.write() as connection:
            connection.exec_driver_sql("PRAGMA secure_delete = ON")
            deleted = {"labels": _delete_rows(connection, labels, labels.c.key, map(bytes.fromhex, label_keys))}
            keys = orphans.collect_reply_keys(connection, numbers)
            deleted |= self._delete_responses(connection, stored, numbers)
            deleted |= orphans.delete_orphans(connection, keys)
            deleted["vectors"] = _delete_rows(connection, vectors, vectors.c.sha, map(hash_text, stored.texts))
            deleted |= _delete_traffic(connection, stored, bodies)
            deleted |= _redact_messages(connection, stored.trace_ids, returned)
        return {what: n for what, n in deleted.items() if n}

    def _delete_responses(self, connection: Connection, stored: StoredTraces, numbers: Sequence[int]) -> dict[str, int]:
        deleted = dict.fromkeys(("scores", "verdicts", "causes"), 0)
        if numbers:
            importing.save_last_number(connection)
        for batch in split_batches(numbers):
            values = {"values": list(batch)}
            for table in (scores, verdicts, causes):
                statement = delete(table).where(
                    table.c.run_no.in_(stored.run_nos), build_in_condition(table.c.response_no)
                )
                deleted[table.name] += connection.execute(statement, values).rowcount
        deleted["responses"] = _delete_rows(connection, responses, responses.c.response_no, numbers)
        deleted["examples of eval sets"] = _delete_rows(
            connection, set_examples, set_examples.c.example_no, stored.example_nos
        )
        for run_no in stored.run_nos:
            for table in (cards, control_evidence, draws):
                connection.execute(delete(table).where(table.c.run_no == run_no))
            connection.execute(delete(cards).where(cards.c.base_no == run_no))
            self._recount_run(connection, run_no)
        connection.execute(delete(charts))
        return deleted

    def _recount_run(self, connection: Connection, run_no: int) -> None:
        """The run's number of responses and list of texts, after some of them went."""
        text_query = select(responses.c.text_nos).where(responses.c.run_no == run_no, responses.c.text_nos.is_not(None))
        used = {
            int.from_bytes(packed[start : start + 8], "little")
            for rows in iter_raw_rows(connection, text_query)
            for (packed,) in rows
            for start in range(0, len(packed), 8)
        }
        listed_nos = connection.execute(select(run_texts.c.text_no).where(run_texts.c.run_no == run_no)).scalars().all()
        for batch in split_batches(sorted({*listed_nos} - used)):
            statement = delete(run_texts).where(run_texts.c.run_no == run_no, build_in_condition(run_texts.c.text_no))
            connection.execute(statement, {"values": list(batch)})
        n_left = connection.execute(select(func.count()).where(responses.c.run_no == run_no)).scalar_one()
        count_write(connection, run_no, done=n_left)

    def rewrite_file(self) -> int:
        """Writes the file anew without what was deleted, and empties its log; returns the bytes that it has now.

        Raises:
            StoreError: another process works on the store for longer than a writer waits.
        """
        return sqlite.rewrite_file(self._database.engine, self._database.url)

    def count_remaining(self, stored: StoredTraces) -> dict[str, int]:
        """What is still found of traces: "raw files" -> bytes in the store's files, table -> rows that hold any of it.

        Looked for are the ids, and texts of 12 characters or more that nobody else has, plain and packed.
        """
        needles = self._build_needles(stored)
        counts = {"raw files": sqlite.count_bytes_in_store(self._database.url, needles)}
        with self._database.read() as connection:
            for table in metadata.sorted_tables:
                blobs = [column for column in table.columns if str(column.type) == "BLOB"]
                query = select(*blobs) if blobs else None
                for rows in iter_raw_rows(connection, query) if query is not None else ():
                    hits = sum(any(_contains_any(blob, needles) for blob in row if blob) for row in rows)
                    if hits:
                        counts[table.name] = counts.get(table.name, 0) + hits
        return counts

    def _build_needles(self, stored: StoredTraces) -> list[bytes]:
        """What is looked for in the store once all is deleted: as it is, and as JSON writes it."""
        texts = self._list_searched_texts(stored)
        texts |= {json.dumps(text_item, ensure_ascii=False)[1:-1] for text_item in texts}
        return [text_item.encode("utf-8", "surrogatepass") for text_item in sorted(texts)]

    def _list_searched_texts(self, stored: StoredTraces) -> set[str]:
        """Ids, and texts that nobody else has."""
        with self._database.read() as connection:
            searched = {text_item for text_item in stored.texts if len(text_item) >= MIN_SEARCHED_CHARS}
            return searched - _find_shared_texts(connection, searched) | stored.trace_ids

    def remove_from_files(self, stored: StoredTraces) -> FileSearchResult:
        """Files in the store's folder that hold any of it; lines of .jsonl files that do are taken out."""
        return remove_lines(self._database.url, self._list_searched_texts(stored))

    def find_names_in_files(self, names: Collection[str]) -> FileSearchResult:
        """Files in the store's folder that hold a name, of a trace or a user, alone; nothing is changed."""
        return search_files(self._database.url, names, alone=True)


def _find_shared_texts(connection: Connection, own_texts: Collection[str]) -> set[str]:
    """Which texts are somebody else's too, as a passage, a question or an answer."""
    by_sha, by_key = (
        {hash_text(text_item): text_item for text_item in own_texts},
        {compute_query_key(text_item): text_item for text_item in own_texts},
    )
    shared = {by_sha[row.sha] for row in iter_matching_rows(connection, select(texts.c.sha), texts.c.sha, by_sha)}
    keys = select(examples.c.query_key)
    shared |= {by_key[row.query_key] for row in iter_matching_rows(connection, keys, examples.c.query_key, by_key)}
    for rows in iter_raw_rows(connection, select(responses.c.body)):
        shared |= {json.loads(unpack_text(body)).get("answer") for (body,) in rows} & {*own_texts}
    return shared


def _contains_any(blob: bytes, needles: Sequence[bytes]) -> bool:
    try:
        unpacked = zlib.decompress(blob[1:]) if blob[:1] == b"\x01" else blob
    except zlib.error:
        unpacked = blob
    return any(needle in unpacked for needle in needles)


def _find_example_nos(connection: Connection, trace_ids: Collection[str]) -> set[int]:
    """Numbers of the examples of traces: in runs of traffic, of frozen responses, and of eval sets made of them."""
    columns, example_nos, keys = responses.c, set[int](), set[int]()
    query = (
        select(columns.example_no, examples.c.query_key)
        .join_from(responses, examples, examples.c.example_no == columns.example_no)
        .join(runs, runs.c.run_no == columns.run_no)
    )
    for name in trace_ids:
        turns = (columns.query_id > f"{name}:") & (columns.query_id < f"{name};")  # ; comes after :
        frozen = (runs.c.name == CANARY) & (columns.query_id == name)
        for condition in (
            (runs.c.kind == "traffic") & (columns.query_id == name),
            (runs.c.kind == "traffic") & turns,
            frozen,
        ):
            for row in connection.execute(query.where(condition)):
                example_nos.add(row.example_no)
                keys.add(row.query_key)
    example_query = select(examples.c.example_no, examples.c.body)
    for row in iter_matching_rows(connection, example_query, examples.c.query_key, keys):
        example = decode_json(Example, unpack_text(row.body))
        name = example.query_id.rpartition(": ")[2]  # of the frozen responses of several projects
        if name in trace_ids or name.partition(":")[0] in trace_ids:
            example_nos.add(row.example_no)
    return example_nos


def _delete_rows(connection: Connection, table: Any, column: Any, values: Iterable[Any]) -> int:
    n_deleted = 0
    for batch in split_batches(values):
        n_deleted += connection.execute(
            delete(table).where(build_in_condition(column)), {"values": list(batch)}
        ).rowcount
    return n_deleted


def _delete_traffic(connection: Connection, stored: StoredTraces, bodies: Mapping[int, bytes | None]) -> dict[str, int]:
    """Raw batches without what is of the traces, and what is known of these."""
    for number, body in bodies.items():
        condition = inbox.c.batch_no == number
        connection.execute(
            delete(inbox).where(condition) if body is None else update(inbox).where(condition).values(body=body)
        )
    return {"raw batches": len(bodies), "traces": _delete_rows(connection, traces, traces.c.trace_id, stored.trace_ids)}


def _redact_messages(
    connection: Connection, trace_ids: Collection[str], returned: Mapping[str, bytes | None]
) -> dict[str, int]:
    """Alerts that name a trace, messages about them, and results on their way."""
    changed = 0
    for table, key, body_key in (
        (alerts, alerts.c.alert_id, "trace_id"),
        (deliveries, deliveries.c.delivery_id, "traces"),
    ):
        for name, packed in connection.execute(select(key, table.c.body)).all():
            body = json.loads(unpack_text(packed))
            trace_names = {body["trace_id"]} if body_key == "trace_id" else set(body.get(body_key, ()))
            if trace_names.isdisjoint(trace_ids):
                continue
            if body_key == "trace_id":
                body["trace_id"] = ""
            else:
                body["traces"] = [trace_name for trace_name in body["traces"] if trace_name not in trace_ids]
                body.pop("examples", None)
            connection.execute(update(table).where(key == name).values(body=pack_text(json.dumps(body))))
            changed += 1
    for name, body in returned.items():
        condition = return_batches.c.batch_id == name
        deletion = delete(return_batches).where(condition)
        connection.execute(deletion if body is None else update(return_batches).where(condition).values(body=body))
    return {"alerts and messages": changed, "results on their way": len(returned)}
