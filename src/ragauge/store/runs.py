"""Runs and their responses."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Select, delete, exists, func, select, union

from ragauge.core.codec import decode_json
from ragauge.core.errors import UnknownName
from ragauge.core.example import Example
from ragauge.core.response import Response, Run
from ragauge.scores.arrays import ResponseIndex
from ragauge.store import orphans
from ragauge.store import run_import as importing
from ragauge.store.database import MAX_IN_VALUES, Database, iter_raw_matching_rows, iter_raw_rows, split_batches
from ragauge.store.names import cache_run_numbers, find_run_no, list_known_runs
from ragauge.store.responses import (
    ResponseOrder,
    StoredResponse,
    build_group_condition,
    build_index,
    find_response_no,
    find_unchanged,
    load_by_numbers,
    load_origins,
    parse_groups,
    select_by_groups,
    select_run_responses,
)
from ragauge.store.run_import import build_run
from ragauge.store.run_list import RunOrder, is_no_trial, load_page
from ragauge.store.run_log import check_not_baseline
from ragauge.store.schema import examples, responses, run_names, runs, summaries
from ragauge.store.sets import Texts
from ragauge.store.spool import Record, Spool
from ragauge.store.study_schema import trials
from ragauge.store.text_codec import escape_for_frame, unescape_text, unpack_text

if TYPE_CHECKING:
    import polars as pl

LATEST = "latest"


class Runs:
    """Runs and their responses."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._texts = Texts(database)

    def import_run(self, run: Run, records: Iterable[Record], batch: int = 500) -> Run:
        """Stores a run and its responses, all or nothing, reading `records` once as a stream.

        A response of None is an example that a finished run holds nothing for: an empty retrieval, counted by
        `absent`; of a run that is not finished it is pending, and left out. Where a run of the same content is
        already there (examples, responses, system, configuration, variant), that run is returned, so that repeating
        a command resumes; the new name leads to it too.

        Args:
            run: what is known about it; an empty run_id, created_at or set_version is filled in.
            records: example and response, in the order of the run's file.
            batch: records written at a time.

        Returns:
            The run as stored.

        Raises:
            DataError: a query_id and repeat appear twice, a response to another query, or a number is not finite.
            UsageError: the run_id belongs to a run with other content.
        """
        spool = Spool()
        try:
            spool.read_records(records, finished=run.state == "finished")
            number = importing.write_spooled_run(self._database, spool, run, batch)
        finally:
            spool.close()
        with self._database.read() as connection:
            return build_run(connection.execute(select(runs).where(runs.c.run_no == number)).one())

    def find(self, name_or_id: str) -> Run:
        """The run of an id, of a name (the newest that has it), or "latest": the one that moved last.

        Runs that only put another's causes to the test (`Run.confirms`) are the latest only where there is no other;
        trials of a study never are.

        Raises:
            UnknownName: there is none.
        """
        with self._database.read() as connection:
            run = _find_latest(connection) if name_or_id == LATEST else _find_by_name(connection, name_or_id)
            if run is None:
                names = list_known_runs(connection)
                hint = "ragauge runs lists them." if names else "No run is stored yet; ragauge evaluate stores one."
                raise UnknownName("run", name_or_id, {*names, LATEST} if names else (), hint)
            return run

    def word(self, run: Run) -> str:
        """What a command calls a run: its name where that finds it, else its id."""
        return run.name if self.find(run.name).run_id == run.run_id else run.run_id

    def list(
        self,
        limit: int | None = None,
        *,
        study: str | None = None,
        after: str = "",
        sort: str = "newest",
        highest: bool = False,
        filter: Mapping[str, str] | None = None,
    ) -> builtins.list[Run]:
        """Runs, page by page: without those that are trials of a study, or those of one study alone.

        Args:
            limit: of one page, at least 1; None = all.
            study: whose trials.
            after: the run_id that the page before ended with; "" = from the start. Runs that were added meanwhile
                shift no page.
            sort: newest, oldest, name (of equal names the oldest first), or a metric: by the mean that lists show,
                the lowest first, then the runs without one, the newest first.
            highest: of a metric the highest mean first.
            filter: set, version (of the set), system, name, kind, variant, state or tag -> its value;
                metric.NAME.lt or .gt -> a number.

        Raises:
            UsageError: a limit below 1, or a bound of a metric that is no number.
            UnknownName: no such sort, filter, state or metric, or no run of the id in `after`.
        """
        order = RunOrder(limit, study, after, sort, highest, filter or {})
        with self._database.read() as connection:
            return [build_run(row) for row in load_page(connection, order)]

    def list_variant_runs(self, run: Run, variant: str) -> builtins.list[Run]:
        """The runs of a variant over the same version of the set, by whatever system, the newest first."""
        conditions = (runs.c.set_version == run.set_version, runs.c.variant == variant, is_no_trial())
        return self._list_where(*conditions)

    def list_confirming(self, run_id: str) -> builtins.list[Run]:
        """The runs that put a run's causes to the test, the newest first."""
        return self._list_where(runs.c.confirms == run_id, is_no_trial())

    def list_version_runs(self, run_id: str) -> builtins.list[Run]:
        """Of all runs over sets up to this one, the oldest first, those that tell which sets they are over.

        That is the first run of each version of a set, and before it the last run whose set is called the same.
        """
        columns, earlier_runs = runs.c, runs.alias()
        with self._database.read() as connection:
            until = (columns.kind == "set", columns.run_no <= find_run_no(connection, run_id), is_no_trial())
            first = select(func.min(columns.run_no)).where(*until).group_by(columns.set_version)
            same_name = (
                earlier_runs.c.set_name == columns.set_name,
                earlier_runs.c.run_no < columns.run_no,
                earlier_runs.c.kind == "set",
            )
            others = ~exists().where(trials.c.run_no == earlier_runs.c.run_no)
            previous_no = select(func.max(earlier_runs.c.run_no)).where(*same_name, others).scalar_subquery()
            run_nos = union(first, select(previous_no).where(columns.run_no.in_(first)))
            rows = connection.execute(select(runs).where(columns.run_no.in_(run_nos)).order_by(columns.run_no))
            return [build_run(row) for row in rows]

    def list_evaluated(
        self, versions: Collection[str], until: str, *, limit: int, after: str = ""
    ) -> builtins.list[Run]:
        """Evaluated runs over some versions of sets up to one run, the newest first.

        Args:
            versions: content hashes of the sets.
            until: run_id of the newest that counts.
            limit: at most so many.
            after: the run_id that the page before ended with; "" = from `until` on.
        """
        columns = runs.c
        with self._database.read() as connection:
            last = (
                columns.run_no < find_run_no(connection, after)
                if after
                else columns.run_no <= find_run_no(connection, until)
            )
            is_evaluated = exists().where(summaries.c.run_no == columns.run_no)
            query = select(runs).where(
                columns.kind == "set", columns.set_version.in_(versions), last, is_evaluated, is_no_trial()
            )
            rows = connection.execute(query.order_by(columns.run_no.desc()).limit(limit))
            return [build_run(row) for row in rows]

    def _list_where(self, *conditions: ColumnElement[bool]) -> builtins.list[Run]:
        query = select(runs).where(*conditions).order_by(runs.c.run_no.desc())
        with self._database.read() as connection:
            return [build_run(row) for row in connection.execute(query)]

    def delete(self, run_id: str, *, replies: bool = False) -> dict[str, int]:
        """Removes a run, its scores, and the texts, examples and evidence that no other run refers to.

        Args:
            run_id: the run.
            replies: also what models said for it, where nothing else rests on that; they were paid for.

        Returns:
            What -> how many of it went; "replies that others use" -> how many stay.

        Raises:
            UsageError: it is a baseline.
        """
        with self._database.write() as connection:
            number = find_run_no(connection, run_id)
            check_not_baseline(connection, run_id)
            return delete_run(connection, number, replies=replies)

    def count_responses(self, run_id: str) -> int:
        """How many responses it has, absent ones counted."""
        with self._database.read() as connection:
            run = find_run_no(connection, run_id)
            query = select(func.count()).select_from(responses).where(responses.c.run_no == run)
            return self._database.cache_for_run(connection, run, "size", lambda: connection.execute(query).scalar_one())

    def first(self, run_id: str, count: int) -> builtins.list[int]:
        """Numbers of its first responses."""
        with self._database.read() as connection:
            condition = responses.c.run_no == find_run_no(connection, run_id)
            query = select(responses.c.response_no).where(condition).order_by(responses.c.response_no).limit(count)
            return list(connection.execute(query).scalars())

    def count_absent(self, run_id: str) -> int:
        """How many examples the run held no response for."""
        with self._database.read() as connection:
            number = find_run_no(connection, run_id)
            return int(connection.execute(select(runs.c.absent).where(runs.c.run_no == number)).scalar_one())

    def load_order(self, run_id: str, keep: Mapping[str, str] | None = None, *, after: int = -1) -> ResponseOrder:
        """(number, hash of the question) of every response, in example order.

        Args:
            run_id: the run.
            keep: segment column, or "tag" -> value; only responses whose examples match all.
            after: only responses with a larger number.

        Raises:
            UnknownName: no example has this column, or this value in it.
        """
        columns = (responses.c.response_no, examples.c.query_key)
        with self._database.read() as connection:
            own_run_no = find_run_no(connection, run_id)

            def iter_rows(query: Select[Any]) -> Iterator[tuple[Any, ...]]:
                newer = query.where(responses.c.response_no > after) if after >= 0 else query
                batches = iter_raw_rows(connection, select_run_responses(newer, own_run_no))
                return (row for batch in batches for row in batch)

            conditions = [build_group_condition(*filter_item) for filter_item in (keep or {}).items()]
            order = ResponseOrder(iter_rows(select(*columns).where(*conditions)))
            if not keep or len(order):
                return order
            # nothing matches: a column or a value may be one that nobody has
            all_rows = iter_rows(select(*columns, examples.c.groups))
            return select_by_groups(((number, key, parse_groups(groups)) for number, key, groups in all_rows), keep)

    def list_newer(self, after: int) -> set[str]:
        """Ids of the runs that have a response with a larger number."""
        newer = select(responses.c.run_no).where(responses.c.response_no > after)
        query = select(runs.c.run_id).where(runs.c.run_no.in_(newer))
        with self._database.read() as connection:
            return set(connection.execute(query).scalars())

    def among(self, run_id: str, numbers: Collection[int]) -> ResponseOrder:
        """The same of some responses, by number."""
        query = select(responses.c.response_no, examples.c.query_key)
        with self._database.read() as connection:
            run_query = select_run_responses(query, find_run_no(connection, run_id))
            return ResponseOrder(
                iter_raw_matching_rows(connection, run_query, responses.c.response_no, sorted(numbers))
            )

    def iter_examples(self, run_id: str) -> Iterator[tuple[int, Example]]:
        """Number and example of every response, in example order, read as a stream."""
        query = select(responses.c.response_no, examples.c.body)
        with self._database.read() as connection:
            for batch in iter_raw_rows(connection, select_run_responses(query, find_run_no(connection, run_id))):
                yield from ((number, decode_json(Example, unpack_text(body))) for number, body in batch)

    def load(self, numbers: Sequence[int]) -> builtins.list[StoredResponse]:
        """Responses by number, in that order, with their examples; numbers that are gone are left out."""
        with self._database.read() as connection:
            return load_by_numbers(connection, self._texts, numbers)

    def list_origins(self, run_id: str, max_responses: int) -> builtins.list[dict[str, str]]:
        """What the first responses of a run, by their questions' ids, say of how they were made; so many at most."""
        with self._database.read() as connection:
            return load_origins(connection, find_run_no(connection, run_id), max_responses)

    def list_unchanged(self, marks: Mapping[int, int]) -> set[int]:
        """Numbers of the responses that are what they were when they were loaded, by their marks of then."""
        with self._database.read() as connection:
            return find_unchanged(connection, marks)

    def pairs(self, run_id: str, batch: int = 500) -> Iterator[tuple[Example, Response]]:
        """Every example with its response, in example order, read as a stream."""
        # by number, a batch at a time: no transaction stays open while the caller works
        for numbers in split_batches(self.load_order(run_id).numbers, batch):
            for item in self.load(numbers):
                yield item.example, item.response

    def response(self, run_id: str, query_id: str, repeat: int = 0) -> tuple[Example, Response]:
        """One example with its response. UnknownName if there is none."""
        with self._database.read() as connection:
            (item,) = self.load([find_response_no(connection, run_id, query_id, repeat)])
        return item.example, item.response

    def index(self, run_id: str, numbers: Sequence[int]) -> ResponseIndex:
        """Examples, repeats, weights and clusters of some responses, whose numbers ascend."""
        c = responses.c
        columns = (c.response_no, c.query_id, c.repeat, c.weight, c.chance)
        with self._database.read() as connection:
            query = select_run_responses(select(*columns, examples.c.groups), find_run_no(connection, run_id))
            if len(numbers) <= MAX_IN_VALUES:
                return build_index(
                    [list(iter_raw_matching_rows(connection, query, responses.c.response_no, numbers))], numbers
                )
            return build_index(iter_raw_rows(connection, query), numbers)

    def segments(self, run_id: str, *, after: int = -1) -> pl.DataFrame:
        """query_id and one column per segment (null where an example does not have it), in example order.

        Args:
            run_id: the run.
            after: only of responses with a larger number.
        """
        import polars as pl

        ids, groups = self._load_groups(run_id, after)
        segments = [group.get("segments", {}) for group in groups]
        columns: dict[str, builtins.list[str | None]] = {"query_id": [*ids]}
        for name in dict.fromkeys(name for segment in segments for name in segment):
            values = [segment.get(name) for segment in segments]
            column_name = escape_for_frame(name) if name != "query_id" else "query_id (segment)"
            columns[column_name] = [None if value is None else escape_for_frame(str(value)) for value in values]
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    def tags(self, run_id: str) -> builtins.list[str]:
        """The tags of its examples, in the order of the alphabet."""
        _, groups = self._load_groups(run_id)
        return sorted({tag for group in groups for tag in group.get("tags", ())})

    def clusters(self, run_id: str) -> pl.DataFrame:
        """query_id and cluster (null where there is none), in example order."""
        import polars as pl

        ids, groups = self._load_groups(run_id)
        clusters = [group.get("cluster") for group in groups]
        columns = {"query_id": ids, "cluster": [None if name is None else escape_for_frame(name) for name in clusters]}
        return pl.DataFrame(columns, schema={"query_id": pl.String, "cluster": pl.String})

    def _load_groups(self, run_id: str, after: int = -1) -> tuple[builtins.list[str], builtins.list[dict[str, Any]]]:
        """query_id, and what it is grouped by, of each distinct query_id."""
        groups_by_query: dict[str, dict[str, Any]] = {}
        with self._database.read() as connection:
            columns = select(responses.c.query_id, examples.c.groups)
            query = select_run_responses(columns, find_run_no(connection, run_id))
            query = query.where(responses.c.response_no > after) if after >= 0 else query
            for rows in iter_raw_rows(connection, query):
                for query_id, groups in rows:
                    if query_id not in groups_by_query:
                        groups_by_query[query_id] = parse_groups(groups)
        query_ids = [escape_for_frame(unescape_text(query_id)) for query_id in groups_by_query]
        return query_ids, [*groups_by_query.values()]


def _find_by_name(connection: Connection, name_or_id: str) -> Run | None:
    newest = select(runs).order_by(runs.c.run_no.desc()).limit(1)
    numbers_by_name = select(run_names.c.run_no).where(run_names.c.name == name_or_id)
    for condition in (runs.c.run_id == name_or_id, (runs.c.name == name_or_id) | runs.c.run_no.in_(numbers_by_name)):
        row = connection.execute(newest.where(condition)).first()
        if row is not None:
            cache_run_numbers(connection, row.run_id, row.run_no, row.writes)
            return build_run(row)
    return None


def _find_latest(connection: Connection) -> Run | None:
    """The run that moved last. Experiments on a run are no answers of their own: only where there is nothing else."""
    newest = select(runs).where(is_no_trial()).order_by(runs.c.heartbeat.desc(), runs.c.run_no.desc()).limit(1)
    for query in (newest.where(runs.c.confirms == ""), newest):
        row = connection.execute(query).first()
        if row is not None:
            return build_run(row)
    return None


def delete_run(connection: Connection, run_no: int, *, replies: bool = False) -> dict[str, int]:
    """Deletes a run with its responses, scores and causes, then every row that nothing refers to any more."""
    importing.save_last_number(connection)
    keys = orphans.collect_run_reply_keys(connection, run_no) if replies else set()
    size = select(func.count()).where(responses.c.run_no == run_no)
    n_deleted = {"responses": int(connection.execute(size).scalar_one())}
    connection.execute(delete(runs).where(runs.c.run_no == run_no))
    return n_deleted | orphans.delete_orphans(connection, keys)
