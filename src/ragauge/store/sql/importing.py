"""From the spool into the tables, in one transaction."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, CursorResult, insert, select, text
from sqlalchemy.exc import IntegrityError

from ragauge.data.codec import encode
from ragauge.data.run import Run
from ragauge.errors import DataError, UsageError
from ragauge.store.packing import pack, pack_bytes
from ragauge.store.schema import examples, responses, run_names, run_texts, runs, sets
from ragauge.store.sql import texts as texts_area
from ragauge.store.sql.clock import now
from ragauge.store.sql.database import Database, chunks, rows_among
from ragauge.store.sql.spool import Packed, Spool

SET_OF_RUN = text("""
    INSERT INTO set_examples (set_no, position, example_no)
    SELECT :set_no, row_number() OVER (ORDER BY min(response_no)), example_no
    FROM responses WHERE run_no = :run_no GROUP BY example_no
""")


def key_of(result: CursorResult[Any]) -> int:
    """The number of the row that was inserted."""
    key: Any = result.inserted_primary_key
    return int(key[0])


def load(database: Database, spool: Spool, run: Run, batch: int) -> int:
    """Writes the spooled run, or finds the one of the same content; returns its number."""
    run = _completed(run, spool)
    content = _content(run, spool)
    with database.write() as connection:
        found = connection.execute(select(runs.c.run_no).where(runs.c.content == content)).scalar()
        if found is not None:
            found_again(database, connection, found, run.name)
            return int(found)
        run_no = insert_run(connection, run, content, spool.n_absent)
        for part in chunks(spool.read(), batch):
            insert_batch(database, connection, run_no, part, spool)
        if run.kind == "set":
            set_no = _set_no(connection, run_no, run, whole=run.set_version == spool.set_version)
            connection.execute(runs.update().where(runs.c.run_no == run_no).values(set_no=set_no))
        return run_no


def _completed(run: Run, spool: Spool) -> Run:
    moment = now()
    named = run.name or run.run_id
    return replace(
        run,
        run_id=run.run_id or _new_id(moment, named, spool),
        name=named,
        set_name=run.set_name or (named if run.kind == "set" else ""),
        set_version=run.set_version or (spool.set_version if run.kind == "set" else ""),
        planned=max(run.planned, spool.n + spool.n_pending),
        done=spool.n,
        heartbeat=moment,
        created_at=run.created_at or moment,
    )


def _new_id(moment: str, name: str, spool: Spool) -> str:
    seed = f"{moment} {name}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(seed + spool.content).hexdigest()[:12]


def _content(run: Run, spool: Spool) -> bytes:
    what = [run.kind, run.set_version, run.system, dict(run.config), run.variant, spool.content.hex()]
    return hashlib.sha256(encode(what).encode("utf-8", "surrogatepass")).digest()


def found_again(database: Database, connection: Connection, run_no: int, name: str) -> None:
    """What came in is there already: that run moved last, and the new name leads to it too."""
    if name:
        connection.execute(database.insert(run_names).on_conflict_do_nothing(), [{"name": name, "run_no": run_no}])
    connection.execute(runs.update().where(runs.c.run_no == run_no).values(heartbeat=now()))


def insert_run(connection: Connection, run: Run, content: bytes, absent: int) -> int:
    """Adds a run; returns its number. UsageError when its id is taken."""
    if connection.execute(select(runs.c.run_no).where(runs.c.run_id == run.run_id)).scalar() is not None:
        raise UsageError(f"the run id {run.run_id!r} is taken by a run of other content. Leave run_id empty.")
    values = {column.name: getattr(run, column.name) for column in runs.c if hasattr(run, column.name)}
    values |= {"config": pack(encode(dict(run.config))), "content": content, "absent": absent}
    return key_of(connection.execute(insert(runs).values(values)))


def insert_batch(
    database: Database, connection: Connection, run_no: int, batch: Sequence[Packed], spool: Spool
) -> None:
    """Adds responses with their examples and texts. DataError when one stands twice."""
    text_nos = _text_nos(database, connection, batch)
    example_nos = _example_nos(database, connection, batch)
    if text_nos:
        links = [{"run_no": run_no, "text_no": number} for number in sorted(set(text_nos.values()))]
        connection.execute(database.insert(run_texts).on_conflict_do_nothing(), links)
    rows = [_row(run_no, item, example_nos[item.example_sha], text_nos) for item in batch]
    try:
        connection.execute(insert(responses), rows)
    except IntegrityError:
        duplicate = _duplicate(spool)
        if duplicate is None:
            raise
        raise duplicate from None


def _row(run_no: int, item: Packed, example_no: int, text_nos: dict[bytes, int]) -> dict[str, Any]:
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


def _text_nos(database: Database, connection: Connection, batch: Sequence[Packed]) -> dict[bytes, int]:
    shas = {sha: None for item in batch for sha in item.shas if sha}
    known = texts_area.numbers_of(connection, shas)
    new = [(sha, pack_bytes(raw)) for item in batch for sha, raw in item.texts if sha not in known]
    if new:
        texts_area.add(database, connection, new)
        known |= texts_area.numbers_of(connection, {sha: None for sha, _ in new})
    return known


def _example_nos(database: Database, connection: Connection, batch: Sequence[Packed]) -> dict[bytes, int]:
    rows = [
        {"sha": item.example_sha, "query_key": item.query_key, "groups": item.groups, "body": item.example}
        for item in batch
        if item.example is not None
    ]
    return put_examples(database, connection, rows, {item.example_sha: None for item in batch})


def put_examples(
    database: Database, connection: Connection, rows: Sequence[dict[str, Any]], shas: Iterable[bytes]
) -> dict[bytes, int]:
    """Adds examples that are new; returns the numbers of all that are named."""
    if rows:
        connection.execute(database.insert(examples).on_conflict_do_nothing(), rows)
    return dict(rows_among(connection, select(examples.c.sha, examples.c.example_no), examples.c.sha, shas))


def _set_no(connection: Connection, run_no: int, run: Run, *, whole: bool) -> int | None:
    """The run's eval set, added where the run covers all of it."""
    same = (sets.c.name == run.set_name) & (sets.c.version == run.set_version)
    found = connection.execute(select(sets.c.set_no).where(same)).scalar()
    if found is not None:
        return int(found)
    if not whole:
        return None
    values = {"name": run.set_name, "version": run.set_version, "kept": 0, "created_at": run.created_at}
    set_no = key_of(connection.execute(insert(sets).values(values)))
    connection.execute(SET_OF_RUN, {"set_no": set_no, "run_no": run_no})
    return set_no


def _duplicate(spool: Spool) -> DataError | None:
    """Which response stands twice; looked for only when the table has refused it."""
    seen: dict[tuple[str, int], int] = {}
    for place, item in enumerate(spool.read(), 1):
        first = seen.setdefault((item.query_id, item.repeat), place)
        if first != place:
            return DataError(
                f"query_id {item.query_id!r}, repeat {item.repeat} stands twice: records {first} and {place}.",
                hint="Give each answer to one question its own repeat: 0, 1, 2 …",
            )
    return None
