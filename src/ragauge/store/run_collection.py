"""Runs whose responses arrive one by one."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from ragauge.core.example import EvalSet, Example
from ragauge.core.response import Response, Run, State
from ragauge.store import run_import as importing
from ragauge.store.database import Database, among, chunks, now, rows_among
from ragauge.store.names import run_no
from ragauge.store.page_schema import example_groups
from ragauge.store.responses import Loaded, load, stored_response
from ragauge.store.run_import import run_of_row
from ragauge.store.schema import causes, responses, run_evidence, runs, scores, set_examples
from ragauge.store.sets import Texts, put_set
from ragauge.store.spool import Packed, Packer
from ragauge.store.writes import count_write

Arrived = tuple[Example, Response]
Key = tuple[str, int]  # query_id and repeat
Chance = float | None  # of being drawn for the judge; None = it was not drawn
NO_CHANCES: Mapping[str, Chance] = MappingProxyType({})


class Collecting:
    """Runs that are being collected. What `add` has returned from survives a kill."""

    def __init__(self, database: Database) -> None:
        self._database, self._texts = database, Texts(database)

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
            run,
            run_id=run.run_id or secrets.token_hex(6),
            set_name=eval_set.name,
            set_version=eval_set.version,
            state="running",
            done=0,
            created_at=run.created_at or moment,
            heartbeat=moment,
        )
        run = replace(run, name=run.name or run.run_id)
        with self._database.write() as connection:
            set_no = put_set(self._database, connection, eval_set, kept=False)
            number = importing.insert_run(connection, run, _content_of(run), 0)
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
        packer = Packer()
        packed = [packer.packed(example, response)[0] for example, response in arrived]
        batch = {(item.query_id, item.repeat): item for item in packed}
        with self._database.write() as connection:
            number = run_no(connection, run_id)
            batch, gone = _new(connection, number, batch, again=again)
            if batch:
                importing.insert_batch(self._database, connection, number, list(batch.values()), lambda: packed)
            count_write(connection, number, done=runs.c.done + len(batch) - gone, heartbeat=now())
        return len(batch)

    def open_traffic(self, run: Run) -> Run:
        """The run of a stretch of traffic: begun where it is not there yet, without responses.

        Its state is finished from the start: nothing is planned, and whatever comes is added.

        Args:
            run: kind traffic, with a run_id that says which stretch it is: who comes second gets the first one's.
        """
        moment = now()
        run = replace(run, state="finished", done=0, created_at=run.created_at or moment, heartbeat=moment)
        with self._database.write() as connection:
            found = connection.execute(select(runs).where(runs.c.run_id == run.run_id)).first()
            if found is not None:
                return run_of_row(found)
            importing.insert_run(connection, run, _content_of(run), 0)
        return run

    def replace(
        self, run_id: str, arrived: Sequence[Arrived], gone: Collection[str], chances: Mapping[str, Chance] = NO_CHANCES
    ) -> int:
        """Keeps responses in place of those that were there under some names, in one transaction.

        One that is there already and equal stays, with its scores; so does one of which users say something else, since
        no score sees that. One that takes another's place has its number, by which a monitor knows that it took it:
        that under the same name, else one of the same trace that goes.

        Args:
            run_id: the run.
            arrived: example and response.
            gone: names under which nothing else stays: query_ids, and those that begin with one and a colon.
            chances: query_id -> how likely it was drawn for the judge, None = it was not; of others 1.

        Returns:
            How many were written.
        """
        with self._database.write() as connection:
            number = run_no(connection, run_id)
            there = {} if not gone else _under(connection, number, gone)
            before = load(connection, self._texts, list(there.values())) if there else []
            same = {item.response_no for item in before if (item.example, item.response) in arrived}
            same |= _set_outcomes(connection, [item for item in before if item.response_no not in same], arrived)
            kept = {key for key, response_no in there.items() if response_no in same}
            old = {key: response_no for key, response_no in there.items() if key not in kept}
            _delete(connection, number, list(old.values()))
            new = [one for one in arrived if (one[1].query_id, one[1].repeat) not in kept]
            count_write(connection, number, done=runs.c.done - len(old))
            written = self.add(run_id, new) if new else 0
            _set_chances(connection, number, {query_id for query_id, _ in kept}, chances)
            if old and new:
                keys = [(one.query_id, one.repeat) for _, one in new]
                _take_numbers(connection, number, _successors(old, keys, gone))
            return written

    def sizes(self, run_id: str, segment: str, *, drawn: bool = False) -> dict[str, int]:
        """Value of a segment -> how many responses of the run have it, or how many of these were drawn for the judge.

        {} where there is no such run.
        """
        groups = example_groups.c
        sums = func.count(responses.c.chance) if drawn else func.count()
        query = (
            select(groups.value, sums)
            .join_from(responses, example_groups, groups.example_no == responses.c.example_no)
            .join(runs, runs.c.run_no == responses.c.run_no)
        )
        mine = query.where(runs.c.run_id == run_id, groups.name == segment).group_by(groups.value)
        with self._database.read() as connection:
            return {value: int(total) for value, total in connection.execute(mine)}

    def of_traces(self, run_id: str, trace_ids: Sequence[str]) -> dict[str, list[tuple[int, Chance]]]:
        """Trace -> number and chance of each of its responses in a run; of traces that have one."""
        c = responses.c
        found: dict[str, list[tuple[int, Chance]]] = {}
        with self._database.read() as connection:
            number = run_no(connection, run_id)
            query = select(c.query_id, c.response_no, c.chance).where(c.run_no == number)
            for name, response_no, chance in rows_among(connection, query, c.query_id, trace_ids):
                found[name] = [(response_no, chance)]
            for trace_id in trace_ids:
                if trace_id not in found:  # one of several turns has a response for each
                    several = sorted(_under(connection, number, [trace_id]).values())
                    of = select(c.response_no, c.chance)
                    rows = rows_among(connection, of, c.response_no, several)
                    found[trace_id] = [(no, chance) for no, chance in rows]
        return {trace_id: several for trace_id, several in found.items() if several}

    def not_drawn(self, run_id: str) -> set[int]:
        """Numbers of the responses that were not drawn for the judge."""
        with self._database.read() as connection:
            mine = (responses.c.run_no == run_no(connection, run_id)) & responses.c.chance.is_(None)
            return set(connection.execute(select(responses.c.response_no).where(mine)).scalars())

    def under(self, run_id: str, name: str) -> list[str]:
        """The query_ids of a run's responses under a name, as `replace` means it, in their order."""
        with self._database.read() as connection:
            found = _under(connection, run_no(connection, run_id), [name])
        return list(dict.fromkeys(query_id for query_id, _ in sorted(found, key=lambda key: found[key])))

    def holding(self, name: str) -> Run | None:
        """The run of traffic that has responses under a name, as `replace` means it; None where none has."""
        c = responses.c
        for mine in (c.query_id == name, (c.query_id > f"{name}:") & (c.query_id < f"{name};")):
            query = select(runs).join(responses, c.run_no == runs.c.run_no).where(runs.c.kind == "traffic", mine)
            with self._database.read() as connection:
                row = connection.execute(query.limit(1)).first()
            if row is not None:
                return run_of_row(row)
        return None

    def mark(self, run_id: str, state: State, *, planned: int | None = None) -> None:
        """Says in which state a run is, and how many responses are planned; moves the heartbeat."""
        values: dict[str, Any] = {"state": state, "heartbeat": now()}
        if planned is not None:
            values["planned"] = planned
        with self._database.write() as connection:
            count_write(connection, run_no(connection, run_id), **values)

    def finish(self, run_id: str) -> None:
        """Marks a run finished, its responses in the order of its set, repeats together.

        The order is left as it came where the run was evaluated before, since scores name responses by number.
        """
        with self._database.write() as connection:
            number = run_no(connection, run_id)
            _in_order_of_set(connection, number)
            count_write(connection, number, state="finished", heartbeat=now())


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
    _delete(connection, number, [row.response_no for row in failures.values()])
    kept = {key: item for key, item in batch.items() if key not in there or key in failures}
    return kept, len(failures)


def _delete(connection: Connection, number: int, response_nos: Sequence[int]) -> None:
    """Deletes responses of a run with their scores and causes."""
    if response_nos:
        importing.use_up(connection)
    for part in chunks(response_nos):
        old = {"values": list(part)}
        for table in (scores, causes):
            connection.execute(delete(table).where(table.c.run_no == number, among(table.c.response_no)), old)
        connection.execute(delete(responses).where(among(responses.c.response_no)), old)


def _set_outcomes(connection: Connection, before: Sequence[Loaded], arrived: Sequence[Arrived]) -> set[int]:
    """Writes what users say of responses that are the same else; returns their numbers."""
    found = {
        item.response_no: (example, response)
        for item in before
        for example, response in arrived
        if example == item.example and response == replace(item.response, outcome=response.outcome)
    }
    packer = Packer()
    for response_no, (example, response) in found.items():
        mine = update(responses).where(responses.c.response_no == response_no)
        connection.execute(mine.values(body=packer.packed(example, response)[0].body))
    return set(found)


def _set_chances(connection: Connection, number: int, kept: Collection[str], chances: Mapping[str, Chance]) -> None:
    """Notes how likely responses were drawn: of those that were just written, and of those that stayed."""
    names: dict[Chance, list[str]] = {}
    for query_id, chance in chances.items():
        if chance != 1.0 or query_id in kept:
            names.setdefault(chance, []).append(query_id)
    for chance, same in names.items():
        for part in chunks(same):
            mine = update(responses).where(responses.c.run_no == number, among(responses.c.query_id))
            connection.execute(mine.values(chance=chance), {"values": list(part)})


def _under(connection: Connection, number: int, names: Collection[str]) -> dict[Key, int]:
    """Numbers of a run's responses that stand under some names, as `replace` means it."""
    found: dict[Key, int] = {}
    for name in names:
        inside = (responses.c.query_id > f"{name}:") & (responses.c.query_id < f"{name};")  # ; comes after :
        query = select(responses.c.query_id, responses.c.repeat, responses.c.response_no)
        mine = query.where(responses.c.run_no == number, (responses.c.query_id == name) | inside)
        found |= {(row.query_id, row.repeat): row.response_no for row in connection.execute(mine)}
    return found


def _successors(old: Mapping[Key, int], new: Sequence[Key], names: Collection[str]) -> dict[Key, int]:
    """Which response takes the number of which that went: of the same name, then of the same trace, in order."""
    found = {key: old[key] for key in new if key in old}
    for name in names if len(found) < len(old) else ():
        free = sorted(number for key, number in old.items() if key not in found and _stands_under(key, name))
        rest = [key for key in new if key not in found and _stands_under(key, name)]
        found |= dict(zip(rest, free, strict=False))
    return found


def _stands_under(key: Key, name: str) -> bool:
    return key[0] == name or key[0].startswith(f"{name}:")


def _take_numbers(connection: Connection, number: int, wanted: Mapping[Key, int]) -> None:
    """Gives responses that were just written, and that nothing names yet, the numbers of those that went.

    The store may have given one of these numbers to another that came in: that one moves behind all others.
    """
    if not wanted:
        return
    mine = responses.c.run_no == number
    query = select(responses.c.query_id, responses.c.repeat, responses.c.response_no)
    ids = {"values": sorted({query_id for query_id, _ in wanted})}
    rows = connection.execute(query.where(mine, among(responses.c.query_id)), ids)
    now = {(row.query_id, row.repeat): row.response_no for row in rows}
    taken = {"values": sorted(wanted.values())}
    others = connection.execute(select(responses.c.response_no).where(among(responses.c.response_no)), taken).scalars()
    moving = sorted({*others, *(now[key] for key in wanted)})
    last = max(importing.last_number(connection), *wanted.values())
    behind = {old: place for place, old in enumerate(moving, last + 1)}
    moved = update(responses).where(responses.c.response_no == bindparam("old")).values(response_no=bindparam("new"))
    connection.execute(moved, [{"old": old, "new": new} for old, new in behind.items()])
    connection.execute(moved, [{"old": behind[now[key]], "new": new} for key, new in wanted.items()])


def _content_of(run: Run) -> bytes:
    """An imported run is known by its content; what this one's will be is not known, so it is known by its id."""
    return hashlib.sha256(f"collected {run.run_id}".encode("utf-8", "surrogatepass")).digest()


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
    last = importing.last_number(connection)
    moved = update(responses).where(responses.c.response_no == bindparam("old")).values(response_no=bindparam("new"))
    connection.execute(moved, [{"old": old, "new": place} for place, old in enumerate(ordered, last + 1)])
