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
from ragauge.store.database import Database, build_in_condition, get_timestamp, iter_matching_rows, split_batches
from ragauge.store.names import find_run_no
from ragauge.store.page_schema import example_groups
from ragauge.store.responses import StoredResponse, load_by_numbers, parse_stored_response
from ragauge.store.run_import import build_run
from ragauge.store.schema import causes, responses, run_evidence, runs, scores, set_examples
from ragauge.store.sets import Texts, put_set
from ragauge.store.spool import PackedResponse, Packer
from ragauge.store.writes import count_write

ExampleResponse = tuple[Example, Response]
Key = tuple[str, int]  # query_id and repeat
SamplingChance = float | None  # of being drawn for the judge; None = it was not drawn
NO_SAMPLING_CHANCES: Mapping[str, SamplingChance] = MappingProxyType({})


class RunCollector:
    """Runs that are being collected. What `add` has returned from survives a kill."""

    def __init__(self, database: Database) -> None:
        self._database, self._texts = database, Texts(database)

    def begin_run(self, run: Run, eval_set: EvalSet) -> Run:
        """Opens a run of an eval set, in state running and without responses; the set is kept with it.

        Args:
            run: what is known about it; run_id, created_at and heartbeat are filled in where they are empty.
            eval_set: what it answers; its name and version become the run's.

        Returns:
            The run as stored.
        """
        created = get_timestamp()
        run = replace(
            run,
            run_id=run.run_id or secrets.token_hex(6),
            set_name=eval_set.name,
            set_version=eval_set.version,
            state="running",
            done=0,
            created_at=run.created_at or created,
            heartbeat=created,
        )
        run = replace(run, name=run.name or run.run_id)
        with self._database.write() as connection:
            set_no = put_set(self._database, connection, eval_set, is_kept=False)
            number = importing.insert_run(connection, run, _build_content_key(run), 0)
            connection.execute(update(runs).where(runs.c.run_no == number).values(set_no=set_no))
        return run

    def newest(self, template: Run, *, unfinished: bool) -> Run | None:
        """The newest run of the same set version, system, configuration and variant; None where there is none.

        Args:
            template: whose set_version, system, config and variant count.
            unfinished: only a run that is not finished.
        """
        condition = (
            (runs.c.kind == template.kind)
            & (runs.c.set_version == template.set_version)
            & (runs.c.system == template.system)
        )
        query = select(runs).where(condition, runs.c.variant == template.variant).order_by(runs.c.run_no.desc())
        if unfinished:
            query = query.where(runs.c.state != "finished")
        with self._database.read() as connection:
            candidates = (build_run(row) for row in connection.execute(query))
            return next((run for run in candidates if dict(run.config) == dict(template.config)), None)

    def list_response_keys(self, run_id: str) -> set[Key]:
        """Which responses are there, failed ones counted."""
        with self._database.read() as connection:
            condition = responses.c.run_no == find_run_no(connection, run_id)
            rows = connection.execute(select(responses.c.query_id, responses.c.repeat).where(condition))
            return {(query_id, repeat) for query_id, repeat in rows}

    def failed(self, run_id: str) -> Mapping[Key, str]:
        """Which of them are failures of the system -> its error."""
        with self._database.read() as connection:
            number = find_run_no(connection, run_id)
            query = select(responses.c.query_id, responses.c.repeat, responses.c.body)
            rows = connection.execute(query.where(responses.c.run_no == number))
            errors = ((query_id, repeat, parse_stored_response(body).get("error")) for query_id, repeat, body in rows)
            return {(query_id, repeat): error for query_id, repeat, error in errors if error is not None}

    def add(self, run_id: str, arrived: Sequence[ExampleResponse], *, again: bool = False) -> int:
        """Stores responses, in one transaction, and moves the run's heartbeat and count.

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
        packed = [packer.pack_response(example, response)[0] for example, response in arrived]
        batch = {(item.query_id, item.repeat): item for item in packed}
        with self._database.write() as connection:
            number = find_run_no(connection, run_id)
            batch, gone = _select_new(connection, number, batch, again=again)
            if batch:
                importing.insert_batch(self._database, connection, number, list(batch.values()), lambda: packed)
            count_write(connection, number, done=runs.c.done + len(batch) - gone, heartbeat=get_timestamp())
        return len(batch)

    def open_traffic(self, run: Run) -> Run:
        """The run of a stretch of traffic: begun where it is not there yet, without responses.

        Its state is finished from the start: nothing is planned, and whatever comes is added.

        Args:
            run: kind traffic, with a run_id that says which stretch it is: who comes second gets the first one's.
        """
        created = get_timestamp()
        run = replace(run, state="finished", done=0, created_at=run.created_at or created, heartbeat=created)
        with self._database.write() as connection:
            existing = connection.execute(select(runs).where(runs.c.run_id == run.run_id)).first()
            if existing is not None:
                return build_run(existing)
            importing.insert_run(connection, run, _build_content_key(run), 0)
        return run

    def replace_responses(
        self,
        run_id: str,
        arrived: Sequence[ExampleResponse],
        gone: Collection[str],
        chances: Mapping[str, SamplingChance] = NO_SAMPLING_CHANCES,
    ) -> int:
        """Stores responses in place of those that were there under some names, in one transaction.

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
            number = find_run_no(connection, run_id)
            existing = {} if not gone else _find_under(connection, number, gone)
            previous = load_by_numbers(connection, self._texts, list(existing.values())) if existing else []
            unchanged = {item.response_no for item in previous if (item.example, item.response) in arrived}
            unchanged |= _set_outcomes(
                connection, [item for item in previous if item.response_no not in unchanged], arrived
            )
            unchanged_keys = {key for key, response_no in existing.items() if response_no in unchanged}
            replaced = {key: response_no for key, response_no in existing.items() if key not in unchanged_keys}
            _delete_responses(connection, number, list(replaced.values()))
            added = [entry for entry in arrived if (entry[1].query_id, entry[1].repeat) not in unchanged_keys]
            count_write(connection, number, done=runs.c.done - len(replaced))
            written = self.add(run_id, added) if added else 0
            _set_chances(connection, number, {query_id for query_id, _ in unchanged_keys}, chances)
            if replaced and added:
                keys = [(entry.query_id, entry.repeat) for _, entry in added]
                _assign_numbers(connection, number, _match_successors(replaced, keys, gone))
            return written

    def count_by_value(self, run_id: str, segment: str, *, only_sampled: bool = False) -> dict[str, int]:
        """Value of a segment -> how many responses of the run have it, or how many of these were drawn for the judge.

        {} where there is no such run.
        """
        groups = example_groups.c
        sums = func.count(responses.c.chance) if only_sampled else func.count()
        query = (
            select(groups.value, sums)
            .join_from(responses, example_groups, groups.example_no == responses.c.example_no)
            .join(runs, runs.c.run_no == responses.c.run_no)
        )
        own_query = query.where(runs.c.run_id == run_id, groups.name == segment).group_by(groups.value)
        with self._database.read() as connection:
            return {value: int(total) for value, total in connection.execute(own_query)}

    def find_by_trace(self, run_id: str, trace_ids: Sequence[str]) -> dict[str, list[tuple[int, SamplingChance]]]:
        """Trace -> number and chance of each of its responses in a run; of traces that have one."""
        columns = responses.c
        responses_by_trace: dict[str, list[tuple[int, SamplingChance]]] = {}
        with self._database.read() as connection:
            number = find_run_no(connection, run_id)
            query = select(columns.query_id, columns.response_no, columns.chance).where(columns.run_no == number)
            for name, response_no, chance in iter_matching_rows(connection, query, columns.query_id, trace_ids):
                responses_by_trace[name] = [(response_no, chance)]
            for trace_id in trace_ids:
                if trace_id not in responses_by_trace:  # one of several turns has a response for each
                    trace_responses = sorted(_find_under(connection, number, [trace_id]).values())
                    number_query = select(columns.response_no, columns.chance)
                    rows = iter_matching_rows(connection, number_query, columns.response_no, trace_responses)
                    responses_by_trace[trace_id] = [(no, chance) for no, chance in rows]
        return {
            trace_id: trace_responses for trace_id, trace_responses in responses_by_trace.items() if trace_responses
        }

    def list_unsampled(self, run_id: str) -> set[int]:
        """Numbers of the responses that were not drawn for the judge."""
        with self._database.read() as connection:
            condition = (responses.c.run_no == find_run_no(connection, run_id)) & responses.c.chance.is_(None)
            return set(connection.execute(select(responses.c.response_no).where(condition)).scalars())

    def list_query_ids(self, run_id: str, name: str) -> list[str]:
        """The query_ids of a run's responses under a name, as `replace` means it, in their order."""
        with self._database.read() as connection:
            numbers_by_key = _find_under(connection, find_run_no(connection, run_id), [name])
        return list(dict.fromkeys(query_id for query_id, _ in sorted(numbers_by_key, key=numbers_by_key.__getitem__)))

    def find_traffic_run(self, name: str) -> Run | None:
        """The run of traffic that has responses under a name, as `replace` means it; None where none has."""
        columns = responses.c
        for condition in (columns.query_id == name, (columns.query_id > f"{name}:") & (columns.query_id < f"{name};")):
            query = select(runs).join(responses).where(runs.c.kind == "traffic", condition)
            with self._database.read() as connection:
                row = connection.execute(query.limit(1)).first()
            if row is not None:
                return build_run(row)
        return None

    def mark_state(self, run_id: str, state: State, *, planned: int | None = None) -> None:
        """Says in which state a run is, and how many responses are planned; moves the heartbeat."""
        values: dict[str, Any] = {"state": state, "heartbeat": get_timestamp()}
        if planned is not None:
            values["planned"] = planned
        with self._database.write() as connection:
            count_write(connection, find_run_no(connection, run_id), **values)

    def finish_run(self, run_id: str) -> None:
        """Marks a run finished, its responses in the order of its set, repeats together.

        The order is left as it came where the run was evaluated before, since scores name responses by number.
        """
        with self._database.write() as connection:
            number = find_run_no(connection, run_id)
            _renumber_by_set(connection, number)
            count_write(connection, number, state="finished", heartbeat=get_timestamp())


def _select_new(
    connection: Connection, number: int, batch: Mapping[Key, PackedResponse], *, again: bool
) -> tuple[dict[Key, PackedResponse], int]:
    """What of a batch is to be written, and how many failures were taken out for it."""
    ids = {"values": list({query_id for query_id, _ in batch})}
    columns = (responses.c.response_no, responses.c.query_id, responses.c.repeat, responses.c.body)
    query = select(*columns).where(responses.c.run_no == number, build_in_condition(responses.c.query_id))
    existing = {(row.query_id, row.repeat): row for row in connection.execute(query, ids)}
    existing = {key: row for key, row in existing.items() if key in batch}
    failures = {key: row for key, row in existing.items() if again and "error" in parse_stored_response(row.body)}
    _delete_responses(connection, number, [row.response_no for row in failures.values()])
    accepted = {key: item for key, item in batch.items() if key not in existing or key in failures}
    return accepted, len(failures)


def _delete_responses(connection: Connection, number: int, response_nos: Sequence[int]) -> None:
    """Deletes responses of a run with their scores and causes."""
    if response_nos:
        importing.save_last_number(connection)
    for batch in split_batches(response_nos):
        values = {"values": list(batch)}
        for table in (scores, causes):
            connection.execute(
                delete(table).where(table.c.run_no == number, build_in_condition(table.c.response_no)), values
            )
        connection.execute(delete(responses).where(build_in_condition(responses.c.response_no)), values)


def _set_outcomes(
    connection: Connection, previous: Sequence[StoredResponse], arrived: Sequence[ExampleResponse]
) -> set[int]:
    """Writes what users say of responses that are the same else; returns their numbers."""
    responses_by_number = {
        item.response_no: (example, response)
        for item in previous
        for example, response in arrived
        if example == item.example and response == replace(item.response, outcome=response.outcome)
    }
    packer = Packer()
    for response_no, (example, response) in responses_by_number.items():
        statement = update(responses).where(responses.c.response_no == response_no)
        connection.execute(statement.values(body=packer.pack_response(example, response)[0].body))
    return set(responses_by_number)


def _set_chances(
    connection: Connection, number: int, unchanged_ids: Collection[str], chances: Mapping[str, SamplingChance]
) -> None:
    """Notes how likely responses were drawn: of those that were just written, and of those that stayed."""
    names: dict[SamplingChance, list[str]] = {}
    for query_id, chance in chances.items():
        if chance != 1.0 or query_id in unchanged_ids:
            names.setdefault(chance, []).append(query_id)
    for chance, query_ids in names.items():
        for batch in split_batches(query_ids):
            statement = update(responses).where(responses.c.run_no == number, build_in_condition(responses.c.query_id))
            connection.execute(statement.values(chance=chance), {"values": list(batch)})


def _find_under(connection: Connection, number: int, names: Collection[str]) -> dict[Key, int]:
    """Numbers of a run's responses that stand under some names, as `replace` means it."""
    numbers_by_key: dict[Key, int] = {}
    for name in names:
        is_inside = (responses.c.query_id > f"{name}:") & (responses.c.query_id < f"{name};")  # ; comes after :
        query = select(responses.c.query_id, responses.c.repeat, responses.c.response_no)
        own_query = query.where(responses.c.run_no == number, (responses.c.query_id == name) | is_inside)
        numbers_by_key |= {(row.query_id, row.repeat): row.response_no for row in connection.execute(own_query)}
    return numbers_by_key


def _match_successors(old: Mapping[Key, int], new: Sequence[Key], names: Collection[str]) -> dict[Key, int]:
    """Which response takes the number of which that went: of the same name, then of the same trace, in order."""
    numbers_by_key = {key: old[key] for key in new if key in old}
    for name in names if len(numbers_by_key) < len(old) else ():
        free = sorted(number for key, number in old.items() if key not in numbers_by_key and _is_under(key, name))
        remaining = [key for key in new if key not in numbers_by_key and _is_under(key, name)]
        numbers_by_key |= dict(zip(remaining, free, strict=False))
    return numbers_by_key


def _is_under(key: Key, name: str) -> bool:
    return key[0] == name or key[0].startswith(f"{name}:")


def _assign_numbers(connection: Connection, number: int, target_numbers: Mapping[Key, int]) -> None:
    """Gives responses that were just written, and that nothing names yet, the numbers of those that went.

    The store may have given one of these numbers to another that came in: that one moves behind all others.
    """
    if not target_numbers:
        return
    condition = responses.c.run_no == number
    query = select(responses.c.query_id, responses.c.repeat, responses.c.response_no)
    ids = {"values": sorted({query_id for query_id, _ in target_numbers})}
    rows = connection.execute(query.where(condition, build_in_condition(responses.c.query_id)), ids)
    current_numbers = {(row.query_id, row.repeat): row.response_no for row in rows}
    taken_values = {"values": sorted(target_numbers.values())}
    others = connection.execute(
        select(responses.c.response_no).where(build_in_condition(responses.c.response_no)), taken_values
    ).scalars()
    moving = sorted({*others, *(current_numbers[key] for key in target_numbers)})
    last = max(importing.find_last_number(connection), *target_numbers.values())
    behind = {old: number_behind for number_behind, old in enumerate(moving, last + 1)}
    moved = update(responses).where(responses.c.response_no == bindparam("old")).values(response_no=bindparam("new"))
    connection.execute(moved, [{"old": old, "new": new} for old, new in behind.items()])
    connection.execute(
        moved, [{"old": behind[current_numbers[key]], "new": new} for key, new in target_numbers.items()]
    )


def _build_content_key(run: Run) -> bytes:
    """An imported run is known by its content; what this one's will be is not known, so it is known by its id."""
    return hashlib.sha256(f"collected {run.run_id}".encode("utf-8", "surrogatepass")).digest()


def _renumber_by_set(connection: Connection, number: int) -> None:
    """Numbers a run's responses anew, in the order of its set; not where anything names them by number."""
    own_numbers = select(responses.c.response_no).where(responses.c.run_no == number)
    for table in (run_evidence, scores):
        referenced = select(table.c.response_no).where(table.c.response_no.in_(own_numbers)).limit(1)
        if connection.execute(referenced).scalar() is not None:
            return
    positions = select(set_examples.c.position).where(
        set_examples.c.set_no == select(runs.c.set_no).where(runs.c.run_no == number).scalar_subquery(),
        set_examples.c.example_no == responses.c.example_no,
    )
    query = select(responses.c.response_no).where(responses.c.run_no == number)
    ordered = list(connection.execute(query.order_by(positions.scalar_subquery(), responses.c.repeat)).scalars())
    if ordered == sorted(ordered):
        return
    last = importing.find_last_number(connection)
    moved = update(responses).where(responses.c.response_no == bindparam("old")).values(response_no=bindparam("new"))
    connection.execute(moved, [{"old": old, "new": new_number} for new_number, old in enumerate(ordered, last + 1)])
