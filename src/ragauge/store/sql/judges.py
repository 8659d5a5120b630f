"""What is known about judges."""

from __future__ import annotations

from sqlalchemy import select

from ragauge.store.schema import judges as table
from ragauge.store.schema import run_judges
from ragauge.store.sql.database import Database
from ragauge.store.sql.names import judge_no, run_no


class SqlJudges:
    """`Judges` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, judge_id: str, spec: str) -> None:
        """Keeps the spec that a judge is built from."""
        statement = self._database.insert(table)
        update = {"spec": statement.excluded.spec}
        with self._database.write() as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=["judge_id"], set_=update),
                [{"judge_id": judge_id, "spec": spec}],
            )

    def spec(self, judge_id: str) -> str | None:
        """The spec; None where none is known."""
        with self._database.read() as connection:
            found: str | None = connection.execute(select(table.c.spec).where(table.c.judge_id == judge_id)).scalar()
        return found

    def repeats(self, run_id: str, judge_id: str) -> list[int]:
        """Which askings of a judge have scored this run, ascending."""
        with self._database.read() as connection:
            mine = (
                run_judges.c.run_no == run_no(connection, run_id),
                run_judges.c.judge_no == judge_no(connection, judge_id),
            )
            query = select(run_judges.c.judge_repeat).where(*mine).order_by(run_judges.c.judge_repeat)
            return list(connection.execute(query).scalars())
