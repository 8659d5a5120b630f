"""What people and judges said of the same texts."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, insert, select

from ragauge.store.check_contracts import LabelFile, TextScore
from ragauge.store.schema import check_scores, checks, judges
from ragauge.store.sql.clock import now
from ragauge.store.sql.database import Database
from ragauge.store.sql.names import judge_no, put_judges

FIELDS = ("metric", "item", "example", "people", "judge", "labels")


class SqlChecks:
    """`Checks` on a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, file: LabelFile, scores: Sequence[TextScore]) -> None:
        """Keeps scores of some texts of a file, together or not at all; see `Checks`."""
        with self._database.write() as connection:
            mine: dict[str, int | str]
            mine = {"judge_no": put_judges(self._database, connection, [file.judge_id])[file.judge_id],
                    "question": file.question, "version": file.version}  # fmt: skip
            check = self._check(connection, file, mine)
            table = check_scores.c
            there = [table[name] == value for name, value in mine.items()]
            once = {(one.item, one.metric): one for one in scores}.values()
            for item in dict.fromkeys(one.item for one in once):
                connection.execute(delete(check_scores).where(*there, table.item == item))
            rows = [{**mine, "check_no": check, **{name: getattr(one, name) for name in FIELDS}} for one in once]
            if rows:
                connection.execute(insert(check_scores), rows)

    def files(self, judge_id: str | None = None) -> builtins.list[LabelFile]:
        """The files that a judge, or any, was held against, in the order of their first check."""
        columns = (judges.c.judge_id, *(checks.c[name] for name in ("question", "version", "file", "name", "at")))
        query = select(*columns).join_from(checks, judges, judges.c.judge_no == checks.c.judge_no)
        query = query if judge_id is None else query.where(judges.c.judge_id == judge_id)
        with self._database.read() as connection:
            return [LabelFile(*row) for row in connection.execute(query.order_by(checks.c.check_no))]

    def scores(self, judge_id: str) -> builtins.list[TextScore]:
        """Every text that a judge was held against, once each; see `Checks`."""
        table = check_scores.c
        with self._database.read() as connection:
            number = judge_no(connection, judge_id)
            newest = (
                select(table.question, func.max(table.version).label("version"))
                .where(table.judge_no == number).group_by(table.question).subquery()
            )  # fmt: skip
            query = (
                select(*(table[name] for name in FIELDS), checks.c.file)
                .join_from(check_scores, checks, checks.c.check_no == table.check_no)
                .join(newest, (newest.c.question == table.question) & (newest.c.version == table.version))
                .where(table.judge_no == number).order_by(table.item, table.metric)
            )  # fmt: skip
            return [TextScore(**row) for row in connection.execute(query).mappings()]

    def forget(self, digest: bytes) -> int:
        """Removes a file with the texts that it was the last to label; returns how many checks of it there were."""
        with self._database.write() as connection:
            return connection.execute(delete(checks).where(checks.c.file == digest)).rowcount

    def _check(self, connection: Connection, file: LabelFile, mine: dict[str, int | str]) -> int:
        """The number of a file's check, made or brought to now."""
        statement = self._database.insert(checks)
        update = {name: statement.excluded[name] for name in ("name", "at")}
        values = {**mine, "file": file.digest, "name": file.name, "at": file.at or now()}
        keys = (*mine, "file")
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=update), [values])
        found: int = connection.execute(
            select(checks.c.check_no).where(*(checks.c[name] == values[name] for name in keys))
        ).scalar_one()
        return found
