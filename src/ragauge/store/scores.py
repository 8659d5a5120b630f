"""Scores, by integer keys."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, case, func, or_, select, update

from ragauge.core.score import STATUSES, Score
from ragauge.metrics.base import Measured
from ragauge.scores.arrays import Columns, ResponseIndex
from ragauge.store import score_columns
from ragauge.store.database import Database, chunks, now, rows_among
from ragauge.store.names import METRIC_RANK, NOBODY, judge_no, metric_nos, put_judges, put_metrics, put_reasons, run_no
from ragauge.store.responses import response_no
from ragauge.store.schema import judges, metrics, own_metrics, reasons, run_judges
from ragauge.store.schema import scores as table
from ragauge.store.score_frame import by_judge, frame
from ragauge.store.text_codec import unpack
from ragauge.store.writes import count_write

if TYPE_CHECKING:
    import polars as pl

KEY = ("run_no", "response_no", "judge_no", "judge_repeat", "metric_no")
VALUES = ("status", "value", "numerator", "denominator", "low", "high", "reason_no")
CODES = {status: code for code, status in enumerate(STATUSES)}
FAILED = CODES["failed"]
AT_A_TIME = 20_000
Place = tuple[int, int, int]  # metric_no, judge_no, judge_repeat


@dataclass(frozen=True, slots=True)
class Column:
    """Whose score stands in one place of a row: the metric, and the judge where it asks one.

    Attributes:
        metric: printed name.
        version: of the metric.
        judge_id: None where nothing is asked.
        judge_repeat: which asking of the judge; 0 where nothing is asked.
    """

    metric: str
    version: int
    judge_id: str | None = None
    judge_repeat: int = 0


class Scores:
    """Scores, one row per run, response, metric and judge."""

    def __init__(self, database: Database) -> None:
        self._database = database
        statement = database.insert(table)
        upsert = statement.on_conflict_do_update(
            index_elements=list(KEY), set_={name: statement.excluded[name] for name in VALUES}
        )
        # compiled once and run with tuples: twice as fast as through dictionaries, and there are 25 rows an answer
        self._upsert = upsert.compile(dialect=database.engine.dialect, column_keys=[*KEY, *VALUES])

    def write(self, run_id: str, columns: Sequence[Column], rows: Iterable[tuple[int, Sequence[Measured]]]) -> int:
        """Keeps scores; one already there is replaced, since scores are recomputable.

        Args:
            run_id: the run.
            columns: what stands in each place of a row.
            rows: (number of a response, one result per column).

        Returns:
            How many scores were written.
        """
        with self._database.write() as connection:
            run = run_no(connection, run_id)
            places = self._put_places(connection, columns)
            written = 0
            for part in chunks(rows, max(1, AT_A_TIME // max(1, len(columns)))):
                texts = {measured.reason for _, row in part for measured in row if measured.reason}
                numbers = put_reasons(self._database, connection, sorted(texts)) if texts else {}
                written += self._insert(connection, _rows(run, places, part, numbers))
            self._touch(connection, run, places)
        return written

    def complete(
        self, run_id: str, columns: Sequence[Column], *, failed_too: bool = True, among: Collection[int] | None = None
    ) -> set[int]:
        """Numbers of the responses that have a score in every column.

        Args:
            run_id: the run.
            columns: which scores are asked for.
            failed_too: a failed score counts as one; False leaves such responses out, to try them again.
            among: numbers of the responses that count; None = all.
        """
        with self._database.read() as connection:
            run = run_no(connection, run_id)
            places = _places(connection, columns)
            if places is None or not places:
                return set()
            query = (
                select(table.c.response_no)
                .where(table.c.run_no == run, or_(*(_is_at(place) for place in places)))
                .group_by(table.c.response_no)
                .having(func.count() == len(set(places)))
            )
            if not failed_too:
                query = query.having(func.sum(case((table.c.status == FAILED, 1), else_=0)) == 0)
            if among is not None:
                return {row[0] for row in rows_among(connection, query, table.c.response_no, sorted(among))}
            return set(connection.execute(query).scalars())

    def frame(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> pl.DataFrame:
        """Every score of a run by one judge, with those that ask nobody, in example order.

        Columns: those of `analysis.frames.score_frame`: query_id, repeat, metric, status, value, numerator,
        denominator, low, high, reason, judge_id, weight, cluster.
        Of a metric with several versions, the newest.
        """
        with self._database.read() as connection:
            return frame(connection, run_no(connection, run_id), judge_id, judge_repeat)

    def versions(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> dict[str, int]:
        """Printed name -> newest version that the run has scores of, by one judge or by nobody."""
        with self._database.read() as connection:
            run, whose = run_no(connection, run_id), (judge_id, judge_repeat)
            return self._database.of_run(
                connection, run, ("versions", *whose), lambda: score_columns.versions(connection, run, *whose)
            )

    def any(self, run_id: str, judge_id: str | None) -> bool:
        """Whether the run has a score by one judge or by nobody."""
        with self._database.read() as connection:
            run = run_no(connection, run_id)

            def found() -> bool:
                mine = select(table.c.metric_no).where(table.c.run_no == run, by_judge(connection, judge_id, 0))
                return connection.execute(mine.limit(1)).first() is not None

            return self._database.of_run(connection, run, ("any score", judge_id), found)

    def metrics(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> list[str]:
        """Printed names of the metrics that `frame` would show, in its order."""
        return list(self.versions(run_id, judge_id, judge_repeat))

    def evaluated(
        self, run_id: str, judge_id: str | None, names: Sequence[str], *, least: int = 1, judge_repeat: int = 0
    ) -> array[int]:
        """Numbers of the responses with scores of at least so many of the metrics, ascending."""
        with self._database.read() as connection:
            run = run_no(connection, run_id)
            return score_columns.evaluated(connection, run, judge_id, judge_repeat, names, least)

    def of_metrics(
        self,
        run_id: str,
        judge_id: str | None,
        names: Sequence[str],
        index: ResponseIndex,
        judge_repeat: int = 0,
        *,
        values_only: bool = False,
    ) -> dict[str, Columns]:
        """Printed name -> one metric's scores in example order, what `frame` would need for all metrics at once.

        Args:
            run_id: the run.
            judge_id: whose scores, beside those that ask nobody; of a response scored both ways, the judge's.
            names: printed names; they are read together, since scores stand by response. One without a score gets
                empty arrays.
            index: the responses looked at; the scores of others are left out.
            judge_repeat: which asking of the judge.
            values_only: leave out numerators and denominators (NaN) and reasons (""), which is quicker.
        """
        with self._database.read() as connection:
            run = run_no(connection, run_id)
            every = self._database.of_run(
                connection, run, "metrics", lambda: tuple(score_columns.every_metric(connection))
            )
            whose = score_columns.Whose(run, judge_id, judge_repeat)
            return score_columns.of_metrics(connection, whose, names, index, every, values_only=values_only)

    def of_response(
        self, run_id: str, query_id: str, repeat: int, judge_id: str | None, judge_repeat: int = 0
    ) -> dict[str, Score]:
        """Printed name -> score of one response."""
        with self._database.read() as connection:
            mine = (
                table.c.run_no == run_no(connection, run_id),
                table.c.response_no == response_no(connection, run_id, query_id, repeat),
                by_judge(connection, judge_id, judge_repeat),
            )
            query = (
                select(
                    table,
                    metrics.c.name,
                    metrics.c.version,
                    METRIC_RANK.label("rank"),
                    judges.c.judge_id,
                    reasons.c.body,
                )
                .join_from(table, metrics, table.c.metric_no == metrics.c.metric_no)
                .join(own_metrics, own_metrics.c.metric_no == metrics.c.metric_no, isouter=True)
                .join(judges, judges.c.judge_no == table.c.judge_no)
                .join(reasons, reasons.c.reason_no == table.c.reason_no, isouter=True)
                .where(*mine)
                .order_by(metrics.c.metric_no)
            )
            rows = connection.execute(query).all()
        newest: dict[str, Any] = {}
        for row in rows:
            if row.name not in newest or row.rank > newest[row.name].rank:
                newest[row.name] = row
        return {name: _score(row, run_id, query_id, repeat) for name, row in newest.items()}

    def judges(self, run_id: str) -> list[str]:
        """Who judged this run, the last first."""
        with self._database.read() as connection:
            run = run_no(connection, run_id)
            query = (
                select(judges.c.judge_id)
                .join_from(run_judges, judges, run_judges.c.judge_no == judges.c.judge_no)
                .where(run_judges.c.run_no == run, judges.c.judge_id != NOBODY)
                .group_by(judges.c.judge_id)
                .order_by(func.max(run_judges.c.at).desc(), func.max(judges.c.judge_no).desc())
            )
            every = self._database.of_run(connection, run, "judges", lambda: tuple(connection.execute(query).scalars()))
            return list(every)

    def judged_again(self, run_id: str, judge_id: str) -> None:
        """Notes that a judge of this run was asked for once more, though it had nothing new to say: it is the last."""
        with self._database.write() as connection:
            run = run_no(connection, run_id)
            mine = run_judges.c.run_no == run, run_judges.c.judge_no == judge_no(connection, judge_id)
            connection.execute(update(run_judges).where(*mine).values(at=now()))
            count_write(connection, run)

    def _put_places(self, connection: Connection, columns: Sequence[Column]) -> list[Place]:
        named = put_metrics(self._database, connection, [(column.metric, column.version) for column in columns])
        judged = put_judges(self._database, connection, {column.judge_id for column in columns})
        return [
            (named[column.metric, column.version], judged[column.judge_id], column.judge_repeat) for column in columns
        ]

    def _touch(self, connection: Connection, run: int, places: Sequence[Place]) -> None:
        """Notes that the run has moved, and who judged it."""
        moment = now()
        count_write(connection, run, heartbeat=moment)
        rows = [
            {"run_no": run, "judge_no": judge, "judge_repeat": repeat, "at": moment}
            for judge, repeat in sorted({(judge, repeat) for _, judge, repeat in places})
        ]
        if rows:
            statement = self._database.insert(run_judges)
            key = ["run_no", "judge_no", "judge_repeat"]
            connection.execute(
                statement.on_conflict_do_update(index_elements=key, set_={"at": statement.excluded["at"]}), rows
            )

    def _insert(self, connection: Connection, rows: Iterator[tuple[Any, ...]]) -> int:
        values = list(rows)
        if not values:
            return 0
        connection.exec_driver_sql(str(self._upsert), values)
        return len(values)


def _rows(
    run: int, places: Sequence[Place], part: Sequence[tuple[int, Sequence[Measured]]], numbers: dict[str, int]
) -> Iterator[tuple[Any, ...]]:
    for response, row in part:
        for (metric, judge, repeat), one in zip(places, row, strict=True):
            value = one.value
            yield (
                run,
                response,
                judge,
                repeat,
                metric,
                CODES[one.status],
                value,
                one.numerator,
                one.denominator,
                None if one.low == value else one.low,
                None if one.high == value else one.high,
                numbers[one.reason] if one.reason else None,
            )


def _places(connection: Connection, columns: Sequence[Column]) -> list[Place] | None:
    """Numbers of the columns; None when one of them was never written."""
    named = metric_nos(connection, [(column.metric, column.version) for column in columns])
    judged = {judge_id: judge_no(connection, judge_id) for judge_id in {column.judge_id for column in columns}}
    places = []
    for column in columns:
        metric, judge = named.get((column.metric, column.version)), judged[column.judge_id]
        if metric is None or judge is None:
            return None
        places.append((metric, judge, column.judge_repeat))
    return places


def _is_at(place: Place) -> Any:
    metric, judge, repeat = place
    return and_(table.c.metric_no == metric, table.c.judge_no == judge, table.c.judge_repeat == repeat)


def _score(row: Any, run_id: str, query_id: str, repeat: int) -> Score:
    return Score(
        run_id=run_id,
        query_id=query_id,
        repeat=repeat,
        metric=row.name,
        metric_version=row.version,
        judge_id=row.judge_id or None,
        judge_repeat=row.judge_repeat,
        status=STATUSES[row.status],
        value=row.value,
        numerator=row.numerator,
        denominator=row.denominator,
        low=row.value if row.low is None else row.low,
        high=row.value if row.high is None else row.high,
        reason=unpack(row.body) if row.body is not None else "",
    )
