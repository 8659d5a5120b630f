"""Deletes what is kept of somebody, wherever it is, and says how much: responses, what judges found in them, copies."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from ragauge.core.codec import decode
from ragauge.core.example import Example
from ragauge.monitoring.canary.compute import CANARY
from ragauge.store import orphans, sqlite
from ragauge.store import run_import as importing
from ragauge.store.database import Database, among, chunks, raw_rows, rows_among
from ragauge.store.files_beside import FoundBeside, look_for, take_out
from ragauge.store.label_schema import draws, labels
from ragauge.store.monitor_schema import alerts, deliveries
from ragauge.store.page_schema import cards, charts, example_groups, example_indexes
from ragauge.store.responses import Loaded, load
from ragauge.store.schema import causes, examples, metadata, responses, run_texts, runs, scores, set_examples, texts
from ragauge.store.sets import Texts
from ragauge.store.spool import query_key_of
from ragauge.store.study_schema import vectors
from ragauge.store.text_codec import pack, sha_of, unpack
from ragauge.store.traffic_schema import inbox, return_batches, trace_batches, traces
from ragauge.store.verdict_schema import control_evidence, verdicts
from ragauge.store.writes import count_write

SHORTEST = 12  # characters of a text that is looked for afterwards: shorter ones stand in anybody's


@dataclass(frozen=True, slots=True)
class Held:
    """What is kept of some traces.

    Attributes:
        trace_ids: of them.
        items: their responses with their examples, in whichever runs.
        run_nos: numbers of these runs.
        example_nos: of their examples, those of eval sets too.
        batches: raw batches that hold anything of them.
    """

    trace_ids: frozenset[str]
    items: tuple[Loaded, ...]
    run_nos: tuple[int, ...]
    example_nos: tuple[int, ...]
    batches: tuple[int, ...]

    @property
    def texts(self) -> set[str]:
        """Questions, answers and passages."""
        found: set[str] = set()
        for item in self.items:
            found |= {item.example.query, item.response.answer or "", *item.example.references}
            ranked = (*(item.response.passages or ()), *(item.response.candidates or ()))
            found |= {one.text for one in ranked if one.text}
            found |= {turn.text for turn in item.example.history}
        return found - {""}


class Erasing:
    """Finds what is kept of traces, deletes it, and looks whether anything is left."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._texts = Texts(database)

    def of_segment(self, name: str, value: str) -> set[str]:
        """Names (query_ids) of the responses of traffic whose segment has a value."""
        query = (
            select(responses.c.query_id)
            .join_from(responses, example_groups, example_groups.c.example_no == responses.c.example_no)
            .join(runs, runs.c.run_no == responses.c.run_no)
        )
        mine = query.where(runs.c.kind == "traffic", example_groups.c.name == name, example_groups.c.value == value)
        with self._database.read() as connection:
            return set(connection.execute(mine).scalars())

    def traces(self) -> Iterator[str]:
        """Every trace that is known."""
        with self._database.read() as connection:
            yield from connection.execute(select(traces.c.trace_id).order_by(traces.c.trace_id)).scalars().all()

    def held(self, trace_ids: Collection[str], linked: Collection[int] = ()) -> Held:
        """What is kept of traces.

        Args:
            trace_ids: of the traces; names of lines that came as responses.
            linked: numbers of further raw batches that hold something of them.
        """
        with self._database.read() as connection:
            found = _examples_of(connection, trace_ids)
            rows = list(
                rows_among(
                    connection, select(responses.c.response_no, responses.c.run_no), responses.c.example_no, found
                )
            )
            items = load(connection, self._texts, [row.response_no for row in rows])
            query = select(trace_batches.c.batch_no)
            batches = {row.batch_no for row in rows_among(connection, query, trace_batches.c.trace_id, trace_ids)}
        return Held(
            frozenset(trace_ids),
            tuple(items),
            tuple(sorted({row.run_no for row in rows})),
            tuple(sorted(found)),
            tuple(sorted({*batches, *linked})),
        )

    def erase(
        self,
        held: Held,
        bodies: Mapping[int, bytes | None],
        label_keys: Collection[str],
        returned: Mapping[str, bytes | None],
    ) -> dict[str, int]:
        """Deletes all of it in one transaction.

        Args:
            held: what is to go.
            bodies: number of a raw batch -> what is left of it, packed; None = nothing.
            label_keys: of people's labels that are of these responses.
            returned: id of results on their way -> what is left of them; None = nothing.

        Returns:
            What -> how many of it went.
        """
        numbers = [item.response_no for item in held.items]
        with self._database.write() as connection:
            connection.exec_driver_sql("PRAGMA secure_delete = ON")
            gone = {"labels": _delete(connection, labels, labels.c.key, map(bytes.fromhex, label_keys))}
            keys = orphans.reply_keys_of(connection, numbers)
            gone |= self._responses(connection, held, numbers)
            gone |= orphans.delete_orphans(connection, keys)
            gone["vectors"] = _delete(connection, vectors, vectors.c.sha, map(sha_of, held.texts))
            gone |= _traffic(connection, held, bodies)
            gone |= _sent(connection, held.trace_ids, returned)
        return {what: n for what, n in gone.items() if n}

    def _responses(self, connection: Connection, held: Held, numbers: Sequence[int]) -> dict[str, int]:
        gone = dict.fromkeys(("scores", "verdicts", "causes"), 0)
        if numbers:
            importing.use_up(connection)
        for part in chunks(numbers):
            of = {"values": list(part)}
            for table in (scores, verdicts, causes):
                mine = delete(table).where(table.c.run_no.in_(held.run_nos), among(table.c.response_no))
                gone[table.name] += connection.execute(mine, of).rowcount
        gone["responses"] = _delete(connection, responses, responses.c.response_no, numbers)
        gone["examples of eval sets"] = _delete(connection, set_examples, set_examples.c.example_no, held.example_nos)
        for run_no in held.run_nos:
            for table in (cards, example_indexes, control_evidence, draws):
                connection.execute(delete(table).where(table.c.run_no == run_no))
            connection.execute(delete(cards).where(cards.c.base_no == run_no))
            self._recount(connection, run_no)
        connection.execute(delete(charts))
        return gone

    def _recount(self, connection: Connection, run_no: int) -> None:
        """The run's number of responses and list of texts, after some of them went."""
        mine = select(responses.c.text_nos).where(responses.c.run_no == run_no, responses.c.text_nos.is_not(None))
        used = {
            int.from_bytes(packed[at : at + 8], "little")
            for rows in raw_rows(connection, mine)
            for (packed,) in rows
            for at in range(0, len(packed), 8)
        }
        listed = connection.execute(select(run_texts.c.text_no).where(run_texts.c.run_no == run_no)).scalars().all()
        for part in chunks(sorted({*listed} - used)):
            old = delete(run_texts).where(run_texts.c.run_no == run_no, among(run_texts.c.text_no))
            connection.execute(old, {"values": list(part)})
        left = connection.execute(select(func.count()).where(responses.c.run_no == run_no)).scalar_one()
        count_write(connection, run_no, done=left)

    def tidy(self) -> int:
        """Writes the file anew without what was deleted, and empties its log; returns the bytes that it has now.

        Raises:
            StoreError: another process works on the store for longer than a writer waits.
        """
        return sqlite.rewrite(self._database.engine, self._database.url)

    def left(self, held: Held) -> dict[str, int]:
        """What is still found of traces: "raw files" -> bytes in the store's files, table -> rows that hold any of it.

        Looked for are the ids, and texts of 12 characters or more that nobody else has, plain and packed.
        """
        needles = self._needles(held)
        found = {"raw files": sqlite.bytes_found(self._database.url, needles)}
        with self._database.read() as connection:
            for table in metadata.sorted_tables:
                blobs = [column for column in table.columns if str(column.type) == "BLOB"]
                query = select(*blobs) if blobs else None
                for rows in raw_rows(connection, query) if query is not None else ():
                    hits = sum(any(_holds(blob, needles) for blob in row if blob) for row in rows)
                    if hits:
                        found[table.name] = found.get(table.name, 0) + hits
        return found

    def _needles(self, held: Held) -> list[bytes]:
        """What is looked for in the store once all is deleted: as it is, and as JSON writes it."""
        texts = self._looked_for(held)
        texts |= {json.dumps(one, ensure_ascii=False)[1:-1] for one in texts}
        return [one.encode("utf-8", "surrogatepass") for one in sorted(texts)]

    def _looked_for(self, held: Held) -> set[str]:
        """Ids, and texts that nobody else has."""
        with self._database.read() as connection:
            found = {one for one in held.texts if len(one) >= SHORTEST}
            return found - _of_others(connection, found) | held.trace_ids

    def files_beside(self, held: Held) -> FoundBeside:
        """Files in the store's folder that hold any of it; lines of .jsonl files that do are taken out."""
        return take_out(self._database.url, self._looked_for(held))

    def names_beside(self, names: Collection[str]) -> FoundBeside:
        """Files in the store's folder that hold a name, of a trace or a user, alone; nothing is changed."""
        return look_for(self._database.url, names, alone=True)


def _of_others(connection: Connection, mine: Collection[str]) -> set[str]:
    """Which texts are somebody else's too, as a passage, a question or an answer."""
    by_sha, by_key = {sha_of(one): one for one in mine}, {query_key_of(one): one for one in mine}
    found = {by_sha[row.sha] for row in rows_among(connection, select(texts.c.sha), texts.c.sha, by_sha)}
    keys = select(examples.c.query_key)
    found |= {by_key[row.query_key] for row in rows_among(connection, keys, examples.c.query_key, by_key)}
    for rows in raw_rows(connection, select(responses.c.body)):
        found |= {json.loads(unpack(body)).get("answer") for (body,) in rows} & {*mine}
    return found


def _holds(blob: bytes, needles: Sequence[bytes]) -> bool:
    try:
        plain = zlib.decompress(blob[1:]) if blob[:1] == b"\x01" else blob
    except zlib.error:
        plain = blob
    return any(one in plain for one in needles)


def _examples_of(connection: Connection, trace_ids: Collection[str]) -> set[int]:
    """Numbers of the examples of traces: in runs of traffic, of frozen responses, and of eval sets made of them."""
    c, found, keys = responses.c, set[int](), set[int]()
    query = (
        select(c.example_no, examples.c.query_key)
        .join_from(responses, examples, examples.c.example_no == c.example_no)
        .join(runs, runs.c.run_no == c.run_no)
    )
    for name in trace_ids:
        turns = (c.query_id > f"{name}:") & (c.query_id < f"{name};")  # ; comes after :
        frozen = (runs.c.name == CANARY) & (c.query_id == name)
        for mine in ((runs.c.kind == "traffic") & (c.query_id == name), (runs.c.kind == "traffic") & turns, frozen):
            for row in connection.execute(query.where(mine)):
                found.add(row.example_no)
                keys.add(row.query_key)
    alike = select(examples.c.example_no, examples.c.body)
    for row in rows_among(connection, alike, examples.c.query_key, keys):
        example = decode(Example, unpack(row.body))
        name = example.query_id.rpartition(": ")[2]  # of the frozen responses of several projects
        if name in trace_ids or name.partition(":")[0] in trace_ids:
            found.add(row.example_no)
    return found


def _delete(connection: Connection, table: Any, column: Any, values: Iterable[Any]) -> int:
    gone = 0
    for part in chunks(values):
        gone += connection.execute(delete(table).where(among(column)), {"values": list(part)}).rowcount
    return gone


def _traffic(connection: Connection, held: Held, bodies: Mapping[int, bytes | None]) -> dict[str, int]:
    """Raw batches without what is of the traces, and what is known of these."""
    for number, body in bodies.items():
        mine = inbox.c.batch_no == number
        connection.execute(delete(inbox).where(mine) if body is None else update(inbox).where(mine).values(body=body))
    return {"raw batches": len(bodies), "traces": _delete(connection, traces, traces.c.trace_id, held.trace_ids)}


def _sent(connection: Connection, trace_ids: Collection[str], returned: Mapping[str, bytes | None]) -> dict[str, int]:
    """Alerts that name a trace, messages about them, and results on their way."""
    changed = 0
    for table, key, said in ((alerts, alerts.c.alert_id, "trace_id"), (deliveries, deliveries.c.delivery_id, "traces")):
        for name, packed in connection.execute(select(key, table.c.body)).all():
            body = json.loads(unpack(packed))
            named = {body["trace_id"]} if said == "trace_id" else set(body.get(said, ()))
            if named.isdisjoint(trace_ids):
                continue
            if said == "trace_id":
                body["trace_id"] = ""
            else:
                body["traces"] = [one for one in body["traces"] if one not in trace_ids]
                body.pop("examples", None)
            connection.execute(update(table).where(key == name).values(body=pack(json.dumps(body))))
            changed += 1
    for name, body in returned.items():
        mine = return_batches.c.batch_id == name
        gone = delete(return_batches).where(mine)
        connection.execute(gone if body is None else update(return_batches).where(mine).values(body=body))
    return {"alerts and messages": changed, "results on their way": len(returned)}
