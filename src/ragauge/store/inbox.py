"""What came in from production: raw batches, as they arrived, and the traces that they are parts of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, bindparam, case, delete, func, insert, or_, select, update

from ragauge.monitoring.series.gauge_monitors import SignalPoint
from ragauge.store.database import Database, build_in_condition, iter_matching_rows, split_batches
from ragauge.store.text_codec import pack_bytes, unpack_bytes
from ragauge.store.traffic_schema import inbox, signals, tails, trace_batches, traces

SignalName = Literal["traces", "logs", "responses"]
DAY_S = 86_400.0  # seconds; what comes later than this after a trace's first part is ignored, and counted
PAST_QUIET_S, MAX_HOLD_S = 10.0, 600.0  # seconds after which no more of the past comes, and that others wait for it
MAX_AGE_S = 5 * 366 * DAY_S  # seconds before its arrival that a trace can be dated to
TRACE_SPACING_S = 1e-6  # seconds between two traces of a batch, so that they keep the order in which they were sent


@dataclass(frozen=True, slots=True)
class TracePart:
    """What a batch holds of one trace."""

    trace_id: str  #: of the trace.
    spans: int = 1  #: how many.
    rooted: bool = False  #: whether the outermost span, which has ended, is among them.
    verdicts: bool = False  #: whether somebody judges the trace in it: that is read however late it comes.
    #: when the trace began by its own clock, seconds since 1970; None = it counts from its arrival.
    began: float | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """What one request brought."""

    at: float  #: of arrival, seconds since 1970.
    signal: SignalName  #: what it holds.
    body: bytes  #: the bytes, redacted.
    parts: tuple[TracePart, ...]  #: of traces, each trace once.
    project: str = ""  #: that the sender's header names; "" = none.


@dataclass(frozen=True, slots=True)
class ReadDelay:
    """When a trace is read, in seconds after its last part came."""

    rooted: float = 5.0  #: where its outermost span has ended.
    quiet: float = 30.0  #: where it has not.


@dataclass(frozen=True, slots=True)
class DueTrace:
    """A trace that waits to be read."""

    trace_id: str  #: of the trace.
    due: float  #: since when; what comes meanwhile moves it.
    first: float  #: when its first part came.
    batches: tuple[int, ...]  #: numbers of its batches, in order of arrival.
    last: float = 0.0  #: when its last part came.
    dated: float | None = None  #: the moment that it is dated to; None = when its first part came.

    @property
    def at(self) -> float:
        """The moment whose day it counts for, seconds since 1970."""
        return self.first if self.dated is None else self.dated

    @property
    def is_late(self) -> bool:
        """Whether something came more than a day after its first part: its response stays as it is."""
        return self.last - self.first > DAY_S


class ArrivalTime(NamedTuple):
    """When a trace came."""

    at: float  #: the moment whose day it counts for, seconds since 1970.
    first: float  #: when its first part came.

    @property
    def is_past(self) -> bool:
        """Whether it is of the past: dated to more than a day before it came."""
        return self.first - self.at > DAY_S


@dataclass(frozen=True, slots=True)
class InboxCounts:
    """What is in an inbox."""

    batches: int  #: raw ones.
    bytes: int  #: that they take.
    oldest: float | None  #: when the oldest of them arrived; None without any.
    traces: int  #: known ones.
    waiting: int  #: traces that are to be read, now or when nothing more came for a while.
    since: float | None  #: when the longest waiting one is due; None where none waits.
    late: int  #: spans that came a day after their trace began, and are ignored.


@dataclass(frozen=True, slots=True)
class TailPosition:
    """How far a file that grows was read."""

    offset: int = 0  #: bytes of it that were read.
    head: str = ""  #: digest of its first bytes, by which it is known again under another name; "" = nothing was read.


class Inbox:
    """Raw batches. What `add` has returned for survives a kill."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, batches: Sequence[Batch], patience: ReadDelay | None = None) -> list[int]:
        """Stores batches in one transaction, and sets when their traces are to be read.

        Args:
            batches: in order of arrival.
            patience: how long a trace waits for more; None = the usual.

        Returns:
            Their numbers.
        """
        patience = patience or ReadDelay()
        packed = [pack_bytes(batch.body) for batch in batches]
        numbers: list[int] = []
        with self._database.write() as connection:
            for batch, body in zip(batches, packed, strict=True):
                values = {"at": batch.at, "signal": batch.signal, "project": batch.project, "body": body}
                key: Any = connection.execute(insert(inbox), values).inserted_primary_key
                numbers.append(int(key[0]))
            self._add_parts(connection, batches, numbers, patience)
        return numbers

    def load_tail(self, path: str) -> TailPosition:
        """How far a file was read; its beginning where nothing was."""
        with self._database.read() as connection:
            row = connection.execute(select(tails.c.offset, tails.c.head).where(tails.c.path == path)).first()
        return TailPosition() if row is None else TailPosition(*row)

    def add_tail(
        self,
        path: str,
        previous: TailPosition,
        current: TailPosition,
        batches: Sequence[Batch],
        patience: ReadDelay | None = None,
    ) -> bool:
        """Stores what a file held between two places and the second place, in one transaction.

        Returns:
            False, and nothing is kept, where the file was not read up to `previous`: another process was faster.
        """
        with self._database.write() as connection:
            row = connection.execute(select(tails.c.offset, tails.c.head).where(tails.c.path == path)).first()
            if (TailPosition() if row is None else TailPosition(*row)) != previous:
                return False
            new = self._database.insert(tails)
            changed = {name: new.excluded[name] for name in ("offset", "head")}
            values = {"path": path, "offset": current.offset, "head": current.head}
            connection.execute(new.on_conflict_do_update(index_elements=["path"], set_=changed), values)
            if batches:
                self.add(batches, patience)
        return True

    def add_signals(self, points: Sequence[tuple[str, SignalPoint]]) -> None:
        """Stores values of gauges, by name, in one transaction."""
        rows = [{"name": name, **point._asdict()} for name, point in points]
        with self._database.write() as connection:
            connection.execute(insert(signals), rows)

    def list_signal_points(self, name: str, after: float) -> list[SignalPoint]:
        """The values of a gauge that arrived after a moment (seconds since 1970), in order."""
        query = select(signals.c.at, signals.c.source, signals.c.value).where(signals.c.name == name)
        with self._database.read() as connection:
            rows = connection.execute(query.where(signals.c.at > after).order_by(signals.c.at, signals.c.point_no))
            return [SignalPoint(*row) for row in rows]

    def find_last_signal(self, name: str) -> float | None:
        """When the newest value of a gauge arrived, seconds since 1970; None where there is none."""
        with self._database.read() as connection:
            query = select(func.max(signals.c.at)).where(signals.c.name == name)
            return connection.execute(query).scalar()

    def _add_parts(
        self, connection: Connection, batches: Sequence[Batch], numbers: Sequence[int], patience: ReadDelay
    ) -> None:
        arrivals = [
            (batch.at + index * TRACE_SPACING_S, number, trace_part)
            for batch, number in zip(batches, numbers, strict=True)
            for index, trace_part in enumerate(batch.parts)
        ]
        if not arrivals:
            return
        new = self._database.insert(traces)
        last_arrival, rooted = new.excluded["last"], func.max(traces.c.rooted, new.excluded.rooted)
        late = (last_arrival - traces.c.first > DAY_S) & (bindparam("verdicts") == 0)
        due = case(
            (late, traces.c.due), (rooted == 1, last_arrival + patience.rooted), else_=last_arrival + patience.quiet
        )
        earliest = func.coalesce(func.min(traces.c.dated, new.excluded.dated), traces.c.dated, new.excluded.dated)
        statement = new.on_conflict_do_update(
            index_elements=["trace_id"],
            set_={
                "dated": earliest,
                "last": func.max(traces.c["last"], last_arrival),
                "rooted": rooted,
                "due": due,
                "late": traces.c.late + case((late, bindparam("spans")), else_=0),
            },
        )
        connection.execute(
            statement,
            [
                {
                    "trace_id": trace_part.trace_id,
                    "first": arrived_at,
                    "last": arrived_at,
                    "rooted": int(trace_part.rooted),
                    "late": 0,
                    "due": arrived_at + (patience.rooted if trace_part.rooted else patience.quiet),
                    "spans": trace_part.spans,
                    "verdicts": int(trace_part.verdicts),
                    "dated": _compute_dated(trace_part.began, arrived_at),
                }
                for arrived_at, _, trace_part in arrivals
            ],
        )
        rows = [{"trace_id": trace_part.trace_id, "batch_no": number} for _, number, trace_part in arrivals]
        connection.execute(self._database.insert(trace_batches).on_conflict_do_nothing(), rows)

    def list_numbers(self) -> list[int]:
        """Numbers of the raw batches that are kept, in order of arrival."""
        with self._database.read() as connection:
            return list(connection.execute(select(inbox.c.batch_no).order_by(inbox.c.batch_no)).scalars())

    def read(self, numbers: Iterable[int]) -> Iterator[tuple[int, Batch]]:
        """Batches by number, in that order, one in memory at a time, without parts; what is gone is left out."""
        for number in numbers:
            with self._database.read() as connection:
                row = connection.execute(select(inbox).where(inbox.c.batch_no == number)).first()
            if row is not None:
                yield number, Batch(row.at, row.signal, unpack_bytes(row.body), (), row.project)

    def list_due(self, current_time: float, limit: int, ahead: float = inf) -> list[DueTrace]:
        """Traces that are to be read, the longest waiting first; those that are dated, by their dates.

        While traces of the past come in, others wait until that is over, 10 minutes at most: whoever takes their scores
        takes the older first.

        Args:
            current_time: seconds since 1970.
            limit: at most so many.
            ahead: seconds that a trace is waited for at most. One that is due later came before the clock was put back,
                and is read now.
        """
        is_due = traces.c.due <= current_time
        if ahead < inf:
            is_due = or_(is_due, traces.c.due > current_time + ahead)
        is_past = traces.c.due.is_not(None) & (traces.c.first - traces.c.dated > DAY_S)
        query = select(traces.c.trace_id, traces.c.due, traces.c.first, traces.c["last"], traces.c.dated).where(is_due)
        with self._database.read() as connection:
            newest = connection.execute(select(func.max(traces.c["last"])).where(is_past)).scalar()
            if newest is not None and newest <= current_time < newest + PAST_QUIET_S:
                query = query.where(traces.c.due <= current_time - MAX_HOLD_S)
            order = traces.c.due if newest is None else func.coalesce(traces.c.dated, traces.c.first)
            due_rows = connection.execute(query.order_by(order).limit(limit)).all()
            batches = self._list_batches(connection, [row.trace_id for row in due_rows])
        return [DueTrace(*row[:3], batches.get(row.trace_id, ()), *row[3:]) for row in due_rows]

    def find_trace(self, trace_id: str) -> DueTrace | None:
        """A trace, whether it waits or not (then due is 0); None where there is none."""
        columns = (traces.c.trace_id, traces.c.due, traces.c.first, traces.c["last"], traces.c.dated)
        query = select(*columns).where(traces.c.trace_id == trace_id)
        with self._database.read() as connection:
            row = connection.execute(query).first()
            batches = self._list_batches(connection, [trace_id])
        return None if row is None else DueTrace(trace_id, row[1] or 0.0, row[2], batches.get(trace_id, ()), *row[3:])

    def load_arrival_times(self, trace_ids: Sequence[str]) -> dict[str, ArrivalTime]:
        """When some traces came; of those that are known."""
        query = select(traces.c.trace_id, func.coalesce(traces.c.dated, traces.c.first), traces.c.first)
        with self._database.read() as connection:
            rows = iter_matching_rows(connection, query, traces.c.trace_id, trace_ids)
            return {trace_id: ArrivalTime(*times) for trace_id, *times in rows}

    def _list_batches(self, connection: Connection, trace_ids: Sequence[str]) -> dict[str, tuple[int, ...]]:
        batches_by_trace: dict[str, tuple[int, ...]] = {}
        query = select(trace_batches.c.trace_id, trace_batches.c.batch_no).order_by(trace_batches.c.batch_no)
        for trace_id, number in iter_matching_rows(connection, query, trace_batches.c.trace_id, trace_ids):
            batches_by_trace[trace_id] = (*batches_by_trace.get(trace_id, ()), number)
        return batches_by_trace

    def mark_read(self, due_traces: Sequence[DueTrace]) -> set[str]:
        """Marks traces as read, in the transaction that keeps what came of them.

        Returns:
            Those that are. One stays as it is where more came since it was found due, or another process was faster.
        """
        with self._database.write() as connection:
            query = select(traces.c.trace_id, traces.c.due)
            trace_ids = [due_trace.trace_id for due_trace in due_traces]
            due_by_trace = dict(iter_matching_rows(connection, query, traces.c.trace_id, trace_ids))
            unchanged = {trace.trace_id for trace in due_traces if due_by_trace.get(trace.trace_id) == trace.due}
            for batch in split_batches(sorted(unchanged)):
                statement = update(traces).where(build_in_condition(traces.c.trace_id)).values(due=None)
                connection.execute(statement, {"values": list(batch)})
        return unchanged

    def counts(self) -> InboxCounts:
        """What is in it."""
        with self._database.read() as connection:
            batches, bytes_, oldest = connection.execute(
                select(func.count(), func.coalesce(func.sum(func.length(inbox.c.body)), 0), func.min(inbox.c.at))
            ).one()
            n_traces, late = connection.execute(
                select(func.count(), func.coalesce(func.sum(traces.c.late), 0)).select_from(traces)
            ).one()
            waiting, since = connection.execute(
                select(func.count(), func.min(traces.c.due)).where(traces.c.due.is_not(None))
            ).one()
        return InboxCounts(batches, bytes_, oldest, n_traces, waiting, since, late)

    def delete_old(self, raw_before: float, traces_before: float) -> int:
        """Deletes raw batches and values of gauges that came before a time, and what is known of traces before another.

        Returns:
            How many batches went. One that a waiting trace needs stays.
        """
        waiting = (
            select(trace_batches.c.batch_no)
            .join_from(trace_batches, traces, traces.c.trace_id == trace_batches.c.trace_id)
            .where(traces.c.due.is_not(None))
        )
        with self._database.write() as connection:
            n_deleted = connection.execute(
                delete(inbox).where(inbox.c.at < raw_before, inbox.c.batch_no.not_in(waiting))
            ).rowcount
            connection.execute(delete(signals).where(signals.c.at < raw_before))
            connection.execute(delete(traces).where(traces.c.first < traces_before, traces.c.due.is_(None)))
        return int(n_deleted)


def _compute_dated(began: float | None, arrived_at: float) -> float | None:
    """The moment that a trace is dated to: not after its arrival; None where its clock is 5 years behind that."""
    return None if began is None or arrived_at - began > MAX_AGE_S else min(began, arrived_at)
