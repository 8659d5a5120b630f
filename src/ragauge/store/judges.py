"""What is known about judges: what they are built from, and what they and people said of the same texts."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from ragauge.store.database import Database, get_timestamp
from ragauge.store.names import NOBODY, find_judge_no, find_run_no, put_judges
from ragauge.store.schema import check_scores, checks, judges, run_judges, runs
from ragauge.store.writes import count_judge_write

SCORE_FIELDS = ("metric", "item", "example", "people", "judge", "labels")


@dataclass(frozen=True, slots=True)
class LabelFile:
    """A judge that was compared with a file of labels."""

    judge_id: str  #: whose verdicts.
    question: str  #: that it was asked, such as verify_answer.
    version: int  #: of the question.
    digest: bytes  #: 32 bytes: a hash of its name and of what people said in it.
    name: str = ""  #: of the file.
    at: str = ""  #: when it was last checked, ISO 8601; filled in by the store.


@dataclass(frozen=True, slots=True)
class TextScore:
    """What people and a judge make of one labeled text."""

    metric: str  #: printed name of what both are a score of.
    item: bytes  #: 32 bytes: a hash of the text and of all that the question sees; the same text counts once.
    example: bytes  #: 32 bytes: a hash of what texts share that are not independent.
    people: float  #: their score, in [0, 1].
    judge: float  #: its score, in [0, 1].
    labels: int  #: on how many labeled parts it rests.
    file: bytes = b""  #: the digest of the file that said so last; filled in by the store.


class Judges:
    """What is known about judges."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_spec(self, judge_id: str, spec: str) -> None:
        """Stores the spec that a judge is built from: a text that names no key."""
        statement = self._database.insert(judges)
        updates = {"spec": statement.excluded.spec}
        if self.find_spec(judge_id) == spec:  # as with every evaluation but the first
            return
        with self._database.write() as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=["judge_id"], set_=updates),
                [{"judge_id": judge_id, "spec": spec}],
            )
            count_judge_write(connection, judges.c.judge_id == judge_id)

    def find_spec(self, judge_id: str) -> str | None:
        """The spec that a judge is built from; None where none is known."""
        with self._database.read() as connection:
            spec: str | None = connection.execute(select(judges.c.spec).where(judges.c.judge_id == judge_id)).scalar()
        return spec

    def list(self) -> builtins.list[tuple[str, str | None, int]]:
        """Every judge: its id, its spec where one is known, and how many runs it judged; the newest first."""
        n_runs = func.count(func.distinct(run_judges.c.run_no))
        query = (
            select(judges.c.judge_id, judges.c.spec, n_runs)
            .join_from(judges, run_judges, run_judges.c.judge_no == judges.c.judge_no, isouter=True)
            .where(judges.c.judge_id != NOBODY)
            .group_by(judges.c.judge_no)
            .order_by(judges.c.judge_no.desc())
        )
        with self._database.read() as connection:
            return [(judge_id, spec, n) for judge_id, spec, n in connection.execute(query)]

    def runs(self, judge_id: str, limit: int) -> builtins.list[tuple[str, str]]:
        """Id and name of the newest runs that a judge judged, at most so many."""
        with self._database.read() as connection:
            judged_nos = select(run_judges.c.run_no).where(run_judges.c.judge_no == find_judge_no(connection, judge_id))
            query = (
                select(runs.c.run_id, runs.c.name)
                .where(runs.c.run_no.in_(judged_nos))
                .order_by(runs.c.run_no.desc())
                .limit(limit)
            )
            return [(run_id, name) for run_id, name in connection.execute(query)]

    def list_repeats(self, run_id: str, judge_id: str) -> builtins.list[int]:
        """Which askings of a judge have scored this run, ascending."""
        with self._database.read() as connection:
            conditions = (
                run_judges.c.run_no == find_run_no(connection, run_id),
                run_judges.c.judge_no == find_judge_no(connection, judge_id),
            )
            query = select(run_judges.c.judge_repeat).where(*conditions).order_by(run_judges.c.judge_repeat)
            return builtins.list(connection.execute(query).scalars())


class Checks:
    """What people and judges said of the same texts. It belongs to no run, and stays when runs are deleted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_scores(self, file: LabelFile, scores: Sequence[TextScore]) -> None:
        """Stores scores of some texts of a file, together or not at all, as checked now.

        What was known of the same texts by this judge, from this file or another, is replaced: labels that were
        mended count as they are now. Of a text that is given twice the last counts. Other texts stay.
        """
        with self._database.write() as connection:
            check_key: dict[str, int | str]
            check_key = {
                "judge_no": put_judges(self._database, connection, [file.judge_id])[file.judge_id],
                "question": file.question,
                "version": file.version,
            }
            count_judge_write(connection, judges.c.judge_no == check_key["judge_no"])
            check = self._put_check(connection, file, check_key)
            table = check_scores.c
            conditions = [table[name] == value for name, value in check_key.items()]
            unique_scores = {(score.item, score.metric): score for score in scores}.values()
            for item in dict.fromkeys(score.item for score in unique_scores):
                connection.execute(delete(check_scores).where(*conditions, table.item == item))
            rows = [
                {**check_key, "check_no": check, **{name: getattr(score, name) for name in SCORE_FIELDS}}
                for score in unique_scores
            ]
            if rows:
                connection.execute(insert(check_scores), rows)

    def files(self, judge_id: str | None = None) -> builtins.list[LabelFile]:
        """The files that a judge, or any, was compared with, in the order of their first check."""
        columns = (judges.c.judge_id, *(checks.c[name] for name in ("question", "version", "file", "name", "at")))
        query = select(*columns).join_from(checks, judges, judges.c.judge_no == checks.c.judge_no)
        query = query if judge_id is None else query.where(judges.c.judge_id == judge_id)
        with self._database.read() as connection:
            return [LabelFile(*row) for row in connection.execute(query.order_by(checks.c.check_no))]

    def scores(self, judge_id: str) -> builtins.list[TextScore]:
        """Every text that a judge was compared on, once each, by the newest version of each question."""
        table = check_scores.c
        with self._database.read() as connection:
            number = find_judge_no(connection, judge_id)
            newest = (
                select(table.question, func.max(table.version).label("version"))
                .where(table.judge_no == number)
                .group_by(table.question)
                .subquery()
            )
            query = (
                select(*(table[name] for name in SCORE_FIELDS), checks.c.file)
                .join_from(check_scores, checks, checks.c.check_no == table.check_no)
                .join(newest, (newest.c.question == table.question) & (newest.c.version == table.version))
                .where(table.judge_no == number)
                .order_by(table.item, table.metric)
            )
            return [TextScore(**row) for row in connection.execute(query).mappings()]

    def delete_file(self, digest: bytes, shared: Iterable[tuple[str, bytes, Iterable[bytes]]] = ()) -> int:
        """Removes a file with the texts that it was the last to label; returns how many checks of it there were.

        Args:
            digest: of the file.
            shared: judge id, another file, and items of which that file says the same: they stay, as that file's.
        """
        judge_nos = select(checks.c.judge_no).where(checks.c.file == digest)
        check_nos, table = select(checks.c.check_no).where(checks.c.file == digest), check_scores.c
        with self._database.write() as connection:
            for judge_id, other, items in shared:
                other_checks = select(checks.c.check_no, checks.c.judge_no, checks.c.question, checks.c.version).where(
                    checks.c.file == other, checks.c.judge_no == find_judge_no(connection, judge_id)
                )
                for check_no, *key in connection.execute(other_checks).all():
                    conditions = [
                        table[name] == value
                        for name, value in zip(("judge_no", "question", "version"), key, strict=True)
                    ]
                    for item in items:
                        moved = update(check_scores).where(
                            *conditions, table.item == item, table.check_no.in_(check_nos)
                        )
                        connection.execute(moved.values(check_no=check_no))
            count_judge_write(connection, judges.c.judge_no.in_(judge_nos))
            return connection.execute(delete(checks).where(checks.c.file == digest)).rowcount

    def _put_check(self, connection: Connection, file: LabelFile, check_key: dict[str, int | str]) -> int:
        """The number of a file's check, made or brought to now."""
        statement = self._database.insert(checks)
        update = {name: statement.excluded[name] for name in ("name", "at")}
        values = {**check_key, "file": file.digest, "name": file.name, "at": file.at or get_timestamp()}
        keys = (*check_key, "file")
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=update), [values])
        check_no: int = connection.execute(
            select(checks.c.check_no).where(*(checks.c[name] == values[name] for name in keys))
        ).scalar_one()
        return check_no
