"""The last summary of each run."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import select

from ragauge.analysis.results.scorecard import Summary
from ragauge.data.canonical import canonical, plain
from ragauge.data.codec import from_plain
from ragauge.store.packing import pack, unpack
from ragauge.store.schema import summaries as table
from ragauge.store.sql.database import Database
from ragauge.store.sql.names import judge_no, put_judges, run_no


class SqlSummaries:
    """`Summaries` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, run_id: str, judge_id: str | None, summaries: Sequence[Summary], judge_repeat: int = 0) -> None:
        """Keeps the summaries of a run in place of earlier ones."""
        if self._database.access != "write":     # they follow from the scores: a report can do without keeping them
            return
        body = pack(canonical(plain(list(summaries))))
        with self._database.write() as connection:
            judge = put_judges(self._database, connection, [judge_id])[judge_id]
            key = {"run_no": run_no(connection, run_id), "judge_no": judge, "judge_repeat": judge_repeat}
            statement = self._database.insert(table)
            connection.execute(
                statement.on_conflict_do_update(index_elements=list(key), set_={"body": statement.excluded.body}),
                [{**key, "body": body}],
            )

    def read(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> tuple[Summary, ...]:
        """The summaries kept last; () when there are none."""
        with self._database.read() as connection:
            mine = (
                table.c.run_no == run_no(connection, run_id),
                table.c.judge_no == judge_no(connection, judge_id),
                table.c.judge_repeat == judge_repeat,
            )
            body = connection.execute(select(table.c.body).where(*mine)).scalar()
        if body is None:
            return ()
        return tuple(from_plain(Summary, item) for item in json.loads(unpack(body)))
