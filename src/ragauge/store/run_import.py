"""From the spool into the tables, in one transaction; and which files became which run."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, func, insert, select, text
from sqlalchemy.exc import IntegrityError

from ragauge.core.codec import encode_json
from ragauge.core.errors import DataError, UsageError
from ragauge.core.identity import to_canonical_json
from ragauge.core.response import Run
from ragauge.store.database import Database, get_timestamp, split_batches
from ragauge.store.names import find_run_no
from ragauge.store.schema import imports, responses, run_names, run_texts, runs, sets
from ragauge.store.sets import add_texts, find_text_nos, get_inserted_key, put_examples
from ragauge.store.spool import PackedResponse, Spool
from ragauge.store.text_codec import pack_bytes, pack_text, unpack_text
from ragauge.store.traffic_schema import last_numbers
from ragauge.store.writes import count_write

SET_OF_RUN = text("""
    INSERT INTO set_examples (set_no, position, example_no)
    SELECT :set_no, row_number() OVER (ORDER BY min(response_no)), example_no
    FROM responses WHERE run_no = :run_no GROUP BY example_no
""")


class ImportedRun(NamedTuple):
    """A run that some files became, and what reading them told."""

    run: Run
    warnings: tuple[str, ...]


class Imports:
    """Which run the content of some files became, so that equal files need not be read again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_import(self, digest: bytes, run_id: str, warnings: Sequence[str] = ()) -> None:
        """Records that files of this digest are this run; an earlier entry of the digest is replaced.

        Args:
            digest: 32 bytes: a hash of the files and of everything that decides how they are read.
            run_id: the run.
            warnings: warnings that came of reading them.

        Raises:
            UnknownName: there is no such run.
        """
        statement = self._database.insert(imports)
        update = {"run_no": statement.excluded.run_no, "told": statement.excluded.told}
        with self._database.write() as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=["digest"], set_=update),
                [
                    {
                        "digest": digest,
                        "run_no": find_run_no(connection, run_id),
                        "told": pack_text(to_canonical_json(list(warnings))),
                    }
                ],
            )

    def find_import(self, digest: bytes, name: str = "") -> ImportedRun | None:
        """The run of files of this digest, moved to now and called by this name too; None where there is none."""
        own_query = select(imports.c.run_no, imports.c.told).where(imports.c.digest == digest)
        with self._database.read() as connection:
            if connection.execute(own_query).first() is None:
                return None  # nothing to write: a first import waits for nobody's lock
        with self._database.write() as connection:
            existing = connection.execute(own_query).first()
            if existing is None:
                return None
            record_duplicate(self._database, connection, existing.run_no, name)
            run = connection.execute(select(runs).where(runs.c.run_no == existing.run_no)).one()
        return ImportedRun(build_run(run), tuple(json.loads(unpack_text(existing.told))))


def write_spooled_run(database: Database, spool: Spool, run: Run, batch: int) -> int:
    """Writes the spooled run, or finds the one of the same content; returns its number."""
    run = _complete_run(run, spool)
    content_hash = _compute_content_hash(run, spool)
    with database.write() as connection:
        existing = connection.execute(select(runs.c.run_no).where(runs.c.content == content_hash)).scalar()
        if existing is not None:
            record_duplicate(database, connection, existing, run.name)
            return int(existing)
        run_no = insert_run(connection, run, content_hash, spool.n_absent)
        for rows in split_batches(spool.read(), batch):
            insert_batch(database, connection, run_no, rows, spool.read)
        if run.kind == "set":
            set_no = _find_or_add_set(connection, run_no, run, is_complete=run.set_version == spool.set_version)
            connection.execute(runs.update().where(runs.c.run_no == run_no).values(set_no=set_no))
        return run_no


def _complete_run(run: Run, spool: Spool) -> Run:
    timestamp = get_timestamp()
    run_name = run.name or run.run_id
    return replace(
        run,
        run_id=run.run_id or _build_run_id(timestamp, run_name, spool),
        name=run_name,
        set_name=run.set_name or (run_name if run.kind == "set" else ""),
        set_version=run.set_version or (spool.set_version if run.kind == "set" else ""),
        planned=max(run.planned, spool.n + spool.n_pending),
        done=spool.n,
        heartbeat=timestamp,
        created_at=run.created_at or timestamp,
    )


def _build_run_id(timestamp: str, name: str, spool: Spool) -> str:
    seed = f"{timestamp} {name}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(seed + spool.content_hash).hexdigest()[:12]


def _compute_content_hash(run: Run, spool: Spool) -> bytes:
    identity = [run.kind, run.set_version, run.system, dict(run.config), run.variant, spool.content_hash.hex()]
    return hashlib.sha256(encode_json(identity).encode("utf-8", "surrogatepass")).digest()


def record_duplicate(database: Database, connection: Connection, run_no: int, name: str) -> None:
    """What came in is there already: that run moved last, and the new name leads to it too."""
    if name:
        connection.execute(database.insert(run_names).on_conflict_do_nothing(), [{"name": name, "run_no": run_no}])
    count_write(connection, run_no, heartbeat=get_timestamp())


def insert_run(connection: Connection, run: Run, content: bytes, absent: int) -> int:
    """Adds a run; returns its number. UsageError when its id is taken."""
    if connection.execute(select(runs.c.run_no).where(runs.c.run_id == run.run_id)).scalar() is not None:
        raise UsageError(f"the run id {run.run_id!r} belongs to a run with other content. Leave run_id empty.")
    values = {column.name: getattr(run, column.name) for column in runs.c if hasattr(run, column.name)}
    values |= {"config": pack_text(encode_json(dict(run.config))), "content": content, "absent": absent}
    return get_inserted_key(connection.execute(insert(runs).values(values)))


def insert_batch(
    database: Database,
    connection: Connection,
    run_no: int,
    batch: Sequence[PackedResponse],
    iter_all: Callable[[], Iterable[PackedResponse]],
) -> None:
    """Adds responses with their examples and texts.

    Args:
        database: where they go.
        connection: that is writing.
        run_no: of the run.
        batch: the responses.
        iter_all: all that the batch is a part of, in order.

    Raises:
        DataError: one stands twice in the whole.
    """
    text_nos = _put_texts(database, connection, batch)
    example_nos = _put_examples(database, connection, batch)
    if text_nos:
        links = [{"run_no": run_no, "text_no": number} for number in sorted(set(text_nos.values()))]
        connection.execute(database.insert(run_texts).on_conflict_do_nothing(), links)
    first = find_last_number(connection) + 1
    rows = [
        {"response_no": first + offset, **_build_row(run_no, item, example_nos[item.example_sha], text_nos)}
        for offset, item in enumerate(batch)
    ]
    try:
        connection.execute(insert(responses), rows)
    except IntegrityError:
        duplicate = _find_duplicate(iter_all())
        if duplicate is None:
            raise
        raise duplicate from None


def find_last_number(connection: Connection) -> int:
    """The greatest number that a response has or had; 0 before the first.

    Who goes on behind a number, such as a monitor, would pass over another response that had it again.
    """
    greatest = select(func.max(responses.c.response_no))
    used_up = select(last_numbers.c.number).where(last_numbers.c.of == responses.name)
    numbers = (connection.execute(query).scalar() for query in (greatest, used_up))
    return max(number or 0 for number in numbers)


def save_last_number(connection: Connection) -> None:
    """Notes the greatest number of a response, before some are deleted."""
    row = {"of": responses.name, "number": find_last_number(connection)}
    connection.execute(delete(last_numbers).where(last_numbers.c.of == responses.name))
    connection.execute(insert(last_numbers), [row])


def _build_row(run_no: int, item: PackedResponse, example_no: int, text_nos: dict[bytes, int]) -> dict[str, Any]:
    numbers = [text_nos[sha] if sha else 0 for sha in item.shas]
    return {
        "run_no": run_no,
        "query_id": item.query_id,
        "repeat": item.repeat,
        "example_no": example_no,
        "weight": item.weight,
        "absent": int(item.absent),
        "body": item.body,
        "text_nos": struct.pack(f"<{len(numbers)}q", *numbers) if any(numbers) else None,
    }


def _put_texts(database: Database, connection: Connection, batch: Sequence[PackedResponse]) -> dict[bytes, int]:
    shas = {sha: None for item in batch for sha in item.shas if sha}
    nos_by_sha = find_text_nos(connection, shas)
    new = [(sha, pack_bytes(raw)) for item in batch for sha, raw in item.texts if sha not in nos_by_sha]
    if new:
        add_texts(database, connection, new)
        nos_by_sha |= find_text_nos(connection, {sha: None for sha, _ in new})
    return nos_by_sha


def _put_examples(database: Database, connection: Connection, batch: Sequence[PackedResponse]) -> dict[bytes, int]:
    rows = [
        {"sha": item.example_sha, "query_key": item.query_key, "groups": item.groups, "body": item.example}
        for item in batch
        if item.example is not None
    ]
    return put_examples(database, connection, rows, {item.example_sha: None for item in batch})


def _find_or_add_set(connection: Connection, run_no: int, run: Run, *, is_complete: bool) -> int | None:
    """The run's eval set, added where the run covers all of it."""
    condition = (sets.c.name == run.set_name) & (sets.c.version == run.set_version)
    existing = connection.execute(select(sets.c.set_no).where(condition)).scalar()
    if existing is not None:
        return int(existing)
    if not is_complete:
        return None
    values = {"name": run.set_name, "version": run.set_version, "kept": 0, "created_at": run.created_at}
    set_no = get_inserted_key(connection.execute(insert(sets).values(values)))
    connection.execute(SET_OF_RUN, {"set_no": set_no, "run_no": run_no})
    return set_no


def _find_duplicate(all_items: Iterable[PackedResponse]) -> DataError | None:
    """Which response stands twice; looked for only when the table has refused it."""
    first_places: dict[tuple[str, int], int] = {}
    for record_no, item in enumerate(all_items, 1):
        first = first_places.setdefault((item.query_id, item.repeat), record_no)
        if first != record_no:
            return DataError(
                f"query_id {item.query_id!r}, repeat {item.repeat} appears twice: records {first} and {record_no}.",
                hint="Give each answer to the same question its own repeat: 0, 1, 2 …",
            )
    return None


def build_run(row: Row[Any]) -> Run:
    """A row of the table as a run."""
    return Run(
        run_id=row.run_id,
        name=row.name,
        kind=row.kind,
        set_name=row.set_name,
        set_version=row.set_version,
        system=row.system,
        config=json.loads(unpack_text(row.config)),
        variant=row.variant,
        git=row.git,
        state=row.state,
        planned=row.planned,
        done=row.done,
        heartbeat=row.heartbeat,
        created_at=row.created_at,
    )
