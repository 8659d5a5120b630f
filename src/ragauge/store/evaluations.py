"""The last evaluation of each run: how far it is, and which run it was compared with."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, case, select, update

from ragauge.store.database import Database, get_timestamp
from ragauge.store.names import find_run_no
from ragauge.store.page_schema import evaluations as table
from ragauge.store.schema import runs


class EvaluationState(NamedTuple):
    """How far the last evaluation of a run is."""

    base_id: str  #: id of the run that it, or one before it, was compared with; "" for none.
    done: int  #: responses evaluated, in every asking of the judge.
    planned: int  #: responses that will be.
    heartbeat: str  #: when it last moved, ISO 8601; "" where it ended.


class RunEvaluations:
    """A row a run. Nothing that a scorecard is computed from is here."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin_evaluation(self, run_id: str, n_done: int, planned: int, base_id: str = "") -> None:
        """An evaluation begins, in place of the one before it; without a baseline that one's stays.

        Args:
            run_id: of the run.
            n_done: responses that need nothing more.
            planned: responses that it is about.
            base_id: id of the run that it is compared with; "" for none.
        """
        with self._database.write() as connection:
            row = {
                "run_no": find_run_no(connection, run_id),
                "base_id": base_id,
                "done": n_done,
                "planned": planned,
                "heartbeat": get_timestamp(),
            }
            statement = self._database.insert(table)
            changed = {name: statement.excluded[name] for name in ("done", "planned", "heartbeat")}
            changed |= {"base_id": statement.excluded.base_id} if base_id else {}
            connection.execute(statement.on_conflict_do_update(index_elements=["run_no"], set_=changed), [row])

    def record_progress(self, run_id: str, n_more: int = 0) -> None:
        """A sign of life, with the responses that were evaluated since the last one."""
        with self._database.write() as connection:
            n_done = table.c.done + n_more
            n_done = case((n_done > table.c.planned, table.c.planned), else_=n_done)
            connection.execute(
                update(table).where(_build_run_condition(run_id)).values(done=n_done, heartbeat=get_timestamp())
            )

    def end(self, run_id: str) -> None:
        """The evaluation ended, whether or not all is done."""
        with self._database.write() as connection:
            connection.execute(update(table).where(_build_run_condition(run_id)).values(heartbeat=""))

    def read(self, run_id: str) -> EvaluationState | None:
        """How far the last one is; None where none was seen."""
        columns = (table.c[name] for name in EvaluationState._fields)
        with self._database.read() as connection:
            row = connection.execute(select(*columns).where(_build_run_condition(run_id))).first()
        return None if row is None else EvaluationState(*row)


def _build_run_condition(run_id: str) -> ColumnElement[bool]:
    """The row of a run; none where the run was deleted meanwhile."""
    return table.c.run_no == select(runs.c.run_no).where(runs.c.run_id == run_id).scalar_subquery()
