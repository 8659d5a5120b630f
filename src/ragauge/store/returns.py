"""Results that are given back: traces that were judged and wait for it, and batches on their way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update

from ragauge.store.outbox import Outbox
from ragauge.store.traffic_schema import return_batches, returns

MAX_FAILED_BATCHES = 1000  # batches that did not arrive whole, of which is known


@dataclass(frozen=True, slots=True)
class ReturnBatch:
    """Results on their way to one receiver."""

    batch_id: str  #: the same at every attempt.
    target: str  #: digest of who gets it.
    body: bytes  #: as it is sent.
    due: float | None = 0.0  #: of the next attempt, seconds since 1970; None = it is over.
    attempts: int = 0  #: so far.
    error: str = ""  #: of the last one.


@dataclass(frozen=True, slots=True)
class ReturnCounts:
    """How giving back stands: traces and batches that wait, batches that did not arrive whole, the last error."""

    traces: int
    batches: int
    failed: int
    error: str


class Returns(Outbox[ReturnBatch]):
    """Results to export. The ledger lists a trace in the transaction that says that it is judged."""

    _messages = return_batches

    def list_waiting(self, limit: int) -> dict[str, float]:
        """Traces whose results wait, the longest first -> when they were judged."""
        query = select(returns.c.trace_id, returns.c.at).order_by(returns.c.at, returns.c.trace_id).limit(limit)
        with self._database.read() as connection:
            return {row.trace_id: row.at for row in connection.execute(query)}

    def take_traces(self, waiting: Mapping[str, float], batches: Sequence[ReturnBatch]) -> None:
        """Takes traces off the list and keeps their batches, in one transaction; one that was judged anew stays."""
        statement = delete(returns).where(returns.c.trace_id == bindparam("trace"), returns.c.at == bindparam("moment"))
        with self._database.write() as connection:
            if waiting:
                connection.execute(
                    statement, [{"trace": trace_id, "moment": judged_at} for trace_id, judged_at in waiting.items()]
                )
            for batch in batches:
                row = {
                    name: getattr(batch, name) for name in ("batch_id", "target", "body", "due", "attempts", "error")
                }
                connection.execute(self._database.insert(return_batches).on_conflict_do_nothing(), row)

    def list_bodies(self) -> list[tuple[str, bytes]]:
        """Id and body of every batch that is kept."""
        with self._database.read() as connection:
            return [tuple(row) for row in connection.execute(select(return_batches.c.batch_id, return_batches.c.body))]

    def record_attempt(self, message: ReturnBatch, error: str, due: float | None) -> None:
        """Stores the outcome of an attempt; a batch that arrived is deleted, one that is given up loses its body."""
        if due is not None:
            super().record_attempt(message, error, due)
            return
        with self._database.write() as connection:
            if not error:
                connection.execute(delete(return_batches).where(self._is(message)))
                return
            updates = {"attempts": message.attempts + 1, "error": error, "due": None, "body": b""}
            connection.execute(update(return_batches).where(self._is(message)).values(**updates))
            ended = select(return_batches.c.batch_id).where(return_batches.c.due.is_(None))
            expired = ended.order_by(return_batches.c.batch_id).offset(MAX_FAILED_BATCHES).limit(-1)
            connection.execute(delete(return_batches).where(return_batches.c.batch_id.in_(expired)))

    def _build_message(self, row: Any) -> ReturnBatch:
        return ReturnBatch(*row)

    def counts(self) -> ReturnCounts:
        """How it stands."""
        with self._database.read() as connection:
            traces = connection.execute(select(func.count()).select_from(returns)).scalar_one()
            rows = connection.execute(select(return_batches.c.due, return_batches.c.error)).all()
        waiting = [error for due, error in rows if due is not None]
        failed = [error for due, error in rows if due is None]
        last = next((error for error in (*waiting, *failed) if error), "")
        return ReturnCounts(int(traces), len(waiting), len(failed), last)
