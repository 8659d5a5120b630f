"""Results that are given back: traces that were judged and wait for it, and batches on their way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, func, select, update

from ragauge.store.database import Database
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


class Returns:
    """What is given back. A trace is listed by the ledger, in the transaction that says that it is judged."""

    def __init__(self, database: Database) -> None:
        self._database = database

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

    def list_due(self, timestamp: float, limit: int) -> list[ReturnBatch]:
        """Batches whose next attempt is due, the longest waiting first."""
        query = (
            select(return_batches).where(return_batches.c.due <= timestamp).order_by(return_batches.c.due).limit(limit)
        )
        with self._database.read() as connection:
            return [ReturnBatch(*row) for row in connection.execute(query)]

    def take_delivery(self, batch: ReturnBatch, until: float) -> bool:
        """Takes the attempt that is due; False where another process did, and nobody else has it until a moment."""
        conditions = (return_batches.c.batch_id == batch.batch_id, return_batches.c.due == batch.due)
        with self._database.write() as connection:
            return connection.execute(update(return_batches).where(*conditions).values(due=until)).rowcount == 1

    def again(self, batch: ReturnBatch, error: str, due: float) -> None:
        """Notes an attempt that failed, and when the next is due."""
        statement = update(return_batches).where(return_batches.c.batch_id == batch.batch_id)
        with self._database.write() as connection:
            connection.execute(statement.values(attempts=batch.attempts + 1, error=error, due=due))

    def finish_batch(self, batch: ReturnBatch, error: str) -> None:
        """Deletes a batch that arrived; of another what went wrong is kept, without its body."""
        condition = return_batches.c.batch_id == batch.batch_id
        with self._database.write() as connection:
            if not error:
                connection.execute(delete(return_batches).where(condition))
                return
            updates = {"attempts": batch.attempts + 1, "error": error, "due": None, "body": b""}
            connection.execute(update(return_batches).where(condition).values(**updates))
            ended = select(return_batches.c.batch_id).where(return_batches.c.due.is_(None))
            expired = ended.order_by(return_batches.c.batch_id).offset(MAX_FAILED_BATCHES).limit(-1)
            connection.execute(delete(return_batches).where(return_batches.c.batch_id.in_(expired)))

    def counts(self) -> ReturnCounts:
        """How it stands."""
        with self._database.read() as connection:
            traces = connection.execute(select(func.count()).select_from(returns)).scalar_one()
            rows = connection.execute(select(return_batches.c.due, return_batches.c.error)).all()
        waiting = [error for due, error in rows if due is not None]
        failed = [error for due, error in rows if due is None]
        last = next((error for error in (*waiting, *failed) if error), "")
        return ReturnCounts(int(traces), len(waiting), len(failed), last)
