"""Runs whose responses arrive one by one."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from ragauge.data.example import EvalSet, Example
from ragauge.data.response import Response, Run, State
from ragauge.store import importing
from ragauge.store.database import Database, among, now
from ragauge.store.importing import run_of_row
from ragauge.store.names import run_no
from ragauge.store.responses import stored_response
from ragauge.store.schema import causes, responses, run_evidence, runs, scores, set_examples
from ragauge.store.sets import put_set
from ragauge.store.spool import Packed, Spool

Arrived = tuple[Example, Response]
Key = tuple[str, int]     # query_id and repeat


class Collecting:
    """Runs that are being collected. What `add` has returned from survives a kill."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, run: Run, eval_set: EvalSet) -> Run:
        """Opens a run of an eval set, in state running and without responses; the set is kept with it.

        Args:
            run: what is known about it; run_id, created_at and heartbeat are filled in where they are empty.
            eval_set: what it answers; its name and version become the run's.

        Returns:
            The run as stored.
        """
        moment = now()
        run = replace(
            run, run_id=run.run_id or secrets.token_hex(6), set_name=eval_set.name, set_version=eval_set.version,
            state="running", done=0, created_at=run.created_at or moment, heartbeat=moment,
        )  # fmt: skip
        run = replace(run, name=run.name or run.run_id)
        # an imported run is known by its content; what this one's will be is not known, so it is known by its id
        content = hashlib.sha256(f"collected {run.run_id}".encode("utf-8", "surrogatepass")).digest()
        with self._database.write() as connection:
            set_no = put_set(self._database, connection, eval_set, kept=False)
            number = importing.insert_run(connection, run, content, 0)
            connection.execute(update(runs).where(runs.c.run_no == number).values(set_no=set_no))
        return run

    def newest(self, like: Run, *, unfinished: bool) -> Run | None:
        """The newest run of the same set version, system, configuration and variant; None where there is none.

        Args:
            like: whose set_version, system, config and variant count.
            unfinished: only a run that is not finished.
        """
        same = (runs.c.kind == like.kind) & (runs.c.set_version == like.set_version) & (runs.c.system == like.system)
        query = select(runs).where(same, runs.c.variant == like.variant).order_by(runs.c.run_no.desc())
        if unfinished:
            query = query.where(runs.c.state != "finished")
        with self._database.read() as connection:
            found = (run_of_row(row) for row in connection.execute(query))
            return next((run for run in found if dict(run.config) == dict(like.config)), None)

    def held(self, run_id: str) -> set[Key]:
        """Which responses are there, failed ones counted."""
        with self._database.read() as connection:
            mine = responses.c.run_no == run_no(connection, run_id)
            rows = connection.execute(select(responses.c.query_id, responses.c.repeat).where(mine))
            return {(query_id, repeat) for query_id, repeat in rows}

    def failed(self, run_id: str) -> Mapping[Key, str]:
        """Which of them are failures of the system -> its error."""
        with self._database.read() as connection:
            number = run_no(connection, run_id)
            query = select(responses.c.query_id, responses.c.repeat, responses.c.body)
            rows = connection.execute(query.where(responses.c.run_no == number))
            read = ((query_id, repeat, stored_response(body).get("error")) for query_id, repeat, body in rows)
            return {(query_id, repeat): error for query_id, repeat, error in read if error is not None}

    def add(self, run_id: str, arrived: Sequence[Arrived], *, again: bool = False) -> int:
        """Keeps responses, in one transaction, and moves the run's heartbeat and count.

        The first response under one query_id and repeat wins. With `again` a failed one gives way to what came later,
        and its scores and causes go with it; one that did not fail stays.

        Args:
            run_id: the run.
            arrived: example and response.
            again: failures are being asked again.

        Returns:
            How many were kept.

        Raises:
            DataError: a response to another query than its example's, or a number that is not finite.
            UnknownName: the run is gone.
        """
        spool = Spool()
        try:
            spool.fill(arrived)
            batch = {(item.query_id, item.repeat): item for item in spool.read()}
            with self._database.write() as connection:
                number = run_no(connection, run_id)
                batch, gone = _new(connection, number, batch, again=again)
                if batch:
                    importing.insert_batch(self._database, connection, number, list(batch.values()), spool)
                done = runs.c.done + len(batch) - gone
                connection.execute(update(runs).where(runs.c.run_no == number).values(done=done, heartbeat=now()))
        finally:
            spool.close()
        return len(batch)

    def mark(self, run_id: str, state: State, *, planned: int | None = None) -> None:
        """Says in which state a run is, and how many responses are planned; moves the heartbeat."""
        values: dict[str, Any] = {"state": state, "heartbeat": now()}
        if planned is not None:
            values["planned"] = planned
        with self._database.write() as connection:
            number = run_no(connection, run_id)
            connection.execute(update(runs).where(runs.c.run_no == number).values(**values))

    def finish(self, run_id: str) -> None:
        """Marks a run finished, its responses in the order of its set, repeats together.

        The order is left as it came where the run was evaluated before, since scores name responses by number.
        """
        with self._database.write() as connection:
            number = run_no(connection, run_id)
            _in_order_of_set(connection, number)
            values = {"state": "finished", "heartbeat": now()}
            connection.execute(update(runs).where(runs.c.run_no == number).values(**values))


def _new(
    connection: Connection, number: int, batch: Mapping[Key, Packed], *, again: bool
) -> tuple[dict[Key, Packed], int]:
    """What of a batch is to be written, and how many failures were taken out for it."""
    ids = {"values": list({query_id for query_id, _ in batch})}
    columns = (responses.c.response_no, responses.c.query_id, responses.c.repeat, responses.c.body)
    query = select(*columns).where(responses.c.run_no == number, among(responses.c.query_id))
    there = {(row.query_id, row.repeat): row for row in connection.execute(query, ids)}
    there = {key: row for key, row in there.items() if key in batch}
    failures = {key: row for key, row in there.items() if again and "error" in stored_response(row.body)}
    old = {"values": [row.response_no for row in failures.values()]}
    if failures:
        for table in (scores, causes):
            connection.execute(delete(table).where(table.c.run_no == number, among(table.c.response_no)), old)
        connection.execute(delete(responses).where(among(responses.c.response_no)), old)
    kept = {key: item for key, item in batch.items() if key not in there or key in failures}
    return kept, len(failures)


def _in_order_of_set(connection: Connection, number: int) -> None:
    """Numbers a run's responses anew, in the order of its set; not where anything names them by number."""
    mine = select(responses.c.response_no).where(responses.c.run_no == number)
    for table in (run_evidence, scores):
        named = select(table.c.response_no).where(table.c.response_no.in_(mine)).limit(1)
        if connection.execute(named).scalar() is not None:
            return
    places = select(set_examples.c.position).where(
        set_examples.c.set_no == select(runs.c.set_no).where(runs.c.run_no == number).scalar_subquery(),
        set_examples.c.example_no == responses.c.example_no,
    )
    query = select(responses.c.response_no).where(responses.c.run_no == number)
    ordered = list(connection.execute(query.order_by(places.scalar_subquery(), responses.c.repeat)).scalars())
    if ordered == sorted(ordered):
        return
    last = connection.execute(select(func.max(responses.c.response_no))).scalar_one()
    moved = update(responses).where(responses.c.response_no == bindparam("old")).values(response_no=bindparam("new"))
    connection.execute(moved, [{"old": old, "new": place} for place, old in enumerate(ordered, last + 1)])
