"""Scores, by integer keys."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, case, func, or_, select, update

from ragauge.core.score import STATUSES, Score
from ragauge.metrics.base import MetricResult
from ragauge.scores.arrays import Columns, ResponseIndex
from ragauge.store import score_columns
from ragauge.store.database import Database, get_timestamp, iter_matching_rows, split_batches
from ragauge.store.names import (
    METRIC_RANK,
    NOBODY,
    find_judge_no,
    find_metric_nos,
    find_run_no,
    put_judges,
    put_metrics,
    put_reasons,
)
from ragauge.store.responses import find_response_no
from ragauge.store.schema import judges, metrics, own_metrics, reasons, run_judges
from ragauge.store.schema import scores as table
from ragauge.store.score_frame import build_judge_condition, load_frame
from ragauge.store.text_codec import unpack_text
from ragauge.store.writes import count_write

if TYPE_CHECKING:
    import polars as pl

KEY_COLUMNS = ("run_no", "response_no", "judge_no", "judge_repeat", "metric_no")
VALUE_COLUMNS = ("status", "value", "numerator", "denominator", "low", "high", "reason_no")
STATUS_CODES = {status: code for code, status in enumerate(STATUSES)}
FAILED_CODE = STATUS_CODES["failed"]
BATCH_SIZE_ROWS = 20_000
ColumnKey = tuple[int, int, int]  # metric_no, judge_no, judge_repeat


@dataclass(frozen=True, slots=True)
class Column:
    """Whose score stands in one place of a row: the metric, and the judge where it asks one."""

    metric: str  #: printed name.
    version: int  #: of the metric.
    judge_id: str | None = None  #: None where nothing is asked.
    judge_repeat: int = 0  #: which asking of the judge; 0 where nothing is asked.


class Scores:
    """Scores, one row per run, response, metric and judge."""

    def __init__(self, database: Database) -> None:
        self._database = database
        statement = database.insert(table)
        upsert = statement.on_conflict_do_update(
            index_elements=list(KEY_COLUMNS), set_={name: statement.excluded[name] for name in VALUE_COLUMNS}
        )
        # compiled once and run with tuples: twice as fast as through dictionaries, and there are 25 rows an answer
        self._upsert = upsert.compile(dialect=database.engine.dialect, column_keys=[*KEY_COLUMNS, *VALUE_COLUMNS])

    def write(self, run_id: str, columns: Sequence[Column], rows: Iterable[tuple[int, Sequence[MetricResult]]]) -> int:
        """Stores scores; one already there is replaced, since scores are recomputable.

        Args:
            run_id: the run.
            columns: what stands in each place of a row.
            rows: (number of a response, one result per column).

        Returns:
            How many scores were written.
        """
        with self._database.write() as connection:
            run = find_run_no(connection, run_id)
            column_keys = self._put_columns(connection, columns)
            written = 0
            for batch in split_batches(rows, max(1, BATCH_SIZE_ROWS // max(1, len(columns)))):
                texts = {measured.reason for _, row in batch for measured in row if measured.reason}
                numbers = put_reasons(self._database, connection, sorted(texts)) if texts else {}
                written += self._insert_rows(connection, _iter_rows(run, column_keys, batch, numbers))
            self._record_judges(connection, run, column_keys)
        return written

    def find_complete(
        self, run_id: str, columns: Sequence[Column], *, failed_too: bool = True, only: Collection[int] | None = None
    ) -> set[int]:
        """Numbers of the responses that have a score in every column.

        Args:
            run_id: the run.
            columns: which scores are asked for.
            failed_too: a failed score counts as one; False leaves such responses out, to try them again.
            only: numbers of the responses that count; None = all.
        """
        with self._database.read() as connection:
            run = find_run_no(connection, run_id)
            column_keys = _find_column_keys(connection, columns)
            if column_keys is None or not column_keys:
                return set()
            query = (
                select(table.c.response_no)
                .where(table.c.run_no == run, or_(*(_build_column_condition(column_key) for column_key in column_keys)))
                .group_by(table.c.response_no)
                .having(func.count() == len(set(column_keys)))
            )
            if not failed_too:
                query = query.having(func.sum(case((table.c.status == FAILED_CODE, 1), else_=0)) == 0)
            if only is not None:
                return {row[0] for row in iter_matching_rows(connection, query, table.c.response_no, sorted(only))}
            return set(connection.execute(query).scalars())

    def load_frame(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> pl.DataFrame:
        """Every score of a run by one judge, with those that ask nobody, in example order.

        Columns: those of `summarize.build_score_frame`: query_id, repeat, metric, status, value, numerator,
        denominator, low, high, reason, judge_id, weight, cluster.
        Of a metric with several versions, the newest.
        """
        with self._database.read() as connection:
            return load_frame(connection, find_run_no(connection, run_id), judge_id, judge_repeat)

    def find_versions(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> dict[str, int]:
        """Printed name -> newest version that the run has scores of, by one judge or by nobody."""
        with self._database.read() as connection:
            run, asking = find_run_no(connection, run_id), (judge_id, judge_repeat)
            return self._database.cache_for_run(
                connection, run, ("versions", *asking), lambda: score_columns.find_versions(connection, run, *asking)
            )

    def has_any(self, run_id: str, judge_id: str | None) -> bool:
        """Whether the run has a score by one judge or by nobody."""
        with self._database.read() as connection:
            run = find_run_no(connection, run_id)

            def has_score() -> bool:
                score_query = select(table.c.metric_no).where(
                    table.c.run_no == run, build_judge_condition(connection, judge_id, 0)
                )
                return connection.execute(score_query.limit(1)).first() is not None

            return self._database.cache_for_run(connection, run, ("any score", judge_id), has_score)

    def metrics(self, run_id: str, judge_id: str | None, judge_repeat: int = 0) -> list[str]:
        """Printed names of the metrics that `load_frame` would show, in its order."""
        return list(self.find_versions(run_id, judge_id, judge_repeat))

    def evaluated(
        self, run_id: str, judge_id: str | None, names: Sequence[str], *, min_metrics: int = 1, judge_repeat: int = 0
    ) -> array[int]:
        """Numbers of the responses with scores of at least so many of the metrics, ascending."""
        with self._database.read() as connection:
            run = find_run_no(connection, run_id)
            return score_columns.find_evaluated(connection, run, judge_id, judge_repeat, names, min_metrics)

    def load_metrics(
        self,
        run_id: str,
        judge_id: str | None,
        names: Sequence[str],
        index: ResponseIndex,
        judge_repeat: int = 0,
        *,
        values_only: bool = False,
    ) -> dict[str, Columns]:
        """Printed name -> one metric's scores in example order, what `load_frame` would need for all metrics at once.

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
            run = find_run_no(connection, run_id)
            all_metrics = self._database.cache_for_run(
                connection, run, "metrics", lambda: tuple(score_columns.list_all_metrics(connection))
            )
            owner = score_columns.ScoreOwner(run, judge_id, judge_repeat)
            return score_columns.load_metrics(connection, owner, names, index, all_metrics, values_only=values_only)

    def load_for_response(
        self, run_id: str, query_id: str, repeat: int, judge_id: str | None, judge_repeat: int = 0
    ) -> dict[str, Score]:
        """Printed name -> score of one response."""
        with self._database.read() as connection:
            conditions = (
                table.c.run_no == find_run_no(connection, run_id),
                table.c.response_no == find_response_no(connection, run_id, query_id, repeat),
                build_judge_condition(connection, judge_id, judge_repeat),
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
                .where(*conditions)
                .order_by(metrics.c.metric_no)
            )
            rows = connection.execute(query).all()
        newest: dict[str, Any] = {}
        for row in rows:
            if row.name not in newest or row.rank > newest[row.name].rank:
                newest[row.name] = row
        return {name: _build_score(row, run_id, query_id, repeat) for name, row in newest.items()}

    def judges(self, run_id: str) -> list[str]:
        """Who judged this run, the last first."""
        with self._database.read() as connection:
            run = find_run_no(connection, run_id)
            query = (
                select(judges.c.judge_id)
                .join_from(run_judges, judges, run_judges.c.judge_no == judges.c.judge_no)
                .where(run_judges.c.run_no == run, judges.c.judge_id != NOBODY)
                .group_by(judges.c.judge_id)
                .order_by(func.max(run_judges.c.at).desc(), func.max(judges.c.judge_no).desc())
            )
            judge_ids = self._database.cache_for_run(
                connection, run, "judges", lambda: tuple(connection.execute(query).scalars())
            )
            return list(judge_ids)

    def record_judge_again(self, run_id: str, judge_id: str) -> None:
        """Notes that a judge of this run was asked for once more, though it had nothing new to say: it is the last."""
        with self._database.write() as connection:
            run = find_run_no(connection, run_id)
            conditions = run_judges.c.run_no == run, run_judges.c.judge_no == find_judge_no(connection, judge_id)
            connection.execute(update(run_judges).where(*conditions).values(at=get_timestamp()))
            count_write(connection, run)

    def _put_columns(self, connection: Connection, columns: Sequence[Column]) -> list[ColumnKey]:
        metric_numbers = put_metrics(
            self._database, connection, [(column.metric, column.version) for column in columns]
        )
        judge_numbers = put_judges(self._database, connection, {column.judge_id for column in columns})
        return [
            (metric_numbers[column.metric, column.version], judge_numbers[column.judge_id], column.judge_repeat)
            for column in columns
        ]

    def _record_judges(self, connection: Connection, run: int, column_keys: Sequence[ColumnKey]) -> None:
        """Notes that the run has moved, and who judged it."""
        timestamp = get_timestamp()
        count_write(connection, run, heartbeat=timestamp)
        rows = [
            {"run_no": run, "judge_no": judge, "judge_repeat": repeat, "at": timestamp}
            for judge, repeat in sorted({(judge, repeat) for _, judge, repeat in column_keys})
        ]
        if rows:
            statement = self._database.insert(run_judges)
            key = ["run_no", "judge_no", "judge_repeat"]
            connection.execute(
                statement.on_conflict_do_update(index_elements=key, set_={"at": statement.excluded["at"]}), rows
            )

    def _insert_rows(self, connection: Connection, rows: Iterator[tuple[Any, ...]]) -> int:
        values = list(rows)
        if not values:
            return 0
        connection.exec_driver_sql(str(self._upsert), values)
        return len(values)


def _iter_rows(
    run: int,
    column_keys: Sequence[ColumnKey],
    batch: Sequence[tuple[int, Sequence[MetricResult]]],
    numbers: dict[str, int],
) -> Iterator[tuple[Any, ...]]:
    for response, row in batch:
        for (metric, judge, repeat), measured in zip(column_keys, row, strict=True):
            value = measured.value
            yield (
                run,
                response,
                judge,
                repeat,
                metric,
                STATUS_CODES[measured.status],
                value,
                measured.numerator,
                measured.denominator,
                None if measured.low == value else measured.low,
                None if measured.high == value else measured.high,
                numbers[measured.reason] if measured.reason else None,
            )


def _find_column_keys(connection: Connection, columns: Sequence[Column]) -> list[ColumnKey] | None:
    """Numbers of the columns; None when one of them was never written."""
    metric_numbers = find_metric_nos(connection, [(column.metric, column.version) for column in columns])
    judge_numbers = {
        judge_id: find_judge_no(connection, judge_id) for judge_id in {column.judge_id for column in columns}
    }
    column_keys = []
    for column in columns:
        metric, judge = metric_numbers.get((column.metric, column.version)), judge_numbers[column.judge_id]
        if metric is None or judge is None:
            return None
        column_keys.append((metric, judge, column.judge_repeat))
    return column_keys


def _build_column_condition(column_key: ColumnKey) -> Any:
    metric, judge, repeat = column_key
    return and_(table.c.metric_no == metric, table.c.judge_no == judge, table.c.judge_repeat == repeat)


def _build_score(row: Any, run_id: str, query_id: str, repeat: int) -> Score:
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
        reason=unpack_text(row.body) if row.body is not None else "",
    )
