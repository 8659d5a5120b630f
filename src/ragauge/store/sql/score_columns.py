"""A run's scores one metric at a time: a few numbers a response, however many metrics there are."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, func, select

from ragauge.data.score import STATUSES
from ragauge.store.schema import metrics
from ragauge.store.schema import scores as table
from ragauge.store.sql.names import judge_no
from ragauge.store.sql.score_frame import by_judge, reasons_of

if TYPE_CHECKING:
    import polars as pl

AT_A_TIME = 4_000     # rows held as Python objects


def metric_names(connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int) -> list[str]:
    """Printed names of the metrics that a run has scores of, in the order of its scores."""
    first = func.min(table.c.response_no).label("first")
    found = (     # by number, before the names come in: a run has hundreds of thousands of scores
        select(table.c.judge_no, table.c.metric_no, first)
        .where(table.c.run_no == run_no, by_judge(connection, judge_id, judge_repeat))
        .group_by(table.c.metric_no, table.c.judge_no)
        .subquery()
    )
    query = (
        select(metrics.c.name)
        .join_from(found, metrics, found.c.metric_no == metrics.c.metric_no)
        .order_by(found.c.first, found.c.judge_no, found.c.metric_no)
    )
    return list(dict.fromkeys(connection.execute(query).scalars()))


def versions(connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int) -> dict[str, int]:
    """Printed name -> newest version that a run has scores of."""
    names = metric_names(connection, run_no, judge_id, judge_repeat)
    newest = _newest(connection, run_no, judge_id, judge_repeat, names)
    return {name: newest[name][1] for name in names if name in newest}


def evaluated(
    connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int, names: Sequence[str], least: int
) -> array[int]:
    """Numbers of the responses with scores of at least so many of the metrics, ascending."""
    numbers = [number for number, _ in _newest(connection, run_no, judge_id, judge_repeat, names).values()]
    mine = (table.c.run_no == run_no, by_judge(connection, judge_id, judge_repeat), table.c.metric_no.in_(numbers))
    query = select(table.c.response_no).where(*mine).order_by(table.c.response_no)
    if least > 1:
        query = query.group_by(table.c.response_no).having(func.count(table.c.metric_no.distinct()) >= least)
    else:
        query = query.distinct()
    return array("q", (number for part in _parts(connection, query) for (number,) in part))


def of_metrics(
    connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int, names: Sequence[str],
    *, values_only: bool = False,
) -> dict[str, pl.DataFrame]:     # fmt: skip
    """The scores of some metrics in their newest versions, a row each, in example order: read in one go over the run.

    With `values_only` numerators and denominators are null and reasons empty.
    """
    import polars as pl

    newest = _newest(connection, run_no, judge_id, judge_repeat, names)
    c, whole, real = table.c, pl.Int64, pl.Float64
    schema = {
        "metric_no": whole, "response_no": whole, "code": whole, "value": real, "low": real, "high": real,
        **({} if values_only else {"numerator": real, "denominator": real, "reason_no": whole}),
    }     # fmt: skip
    parts = [pl.DataFrame([], schema=schema)]
    if newest:
        numbers = [number for number, _ in newest.values()]
        mine = (c.run_no == run_no, by_judge(connection, judge_id, judge_repeat), c.metric_no.in_(numbers))
        columns = (c.metric_no, c.response_no, c.status, *(c[name] for name in list(schema)[3:]))
        asked_last = c.judge_no == judge_no(connection, judge_id)
        rows = _parts(connection, select(*columns).where(*mine).order_by(c.response_no, asked_last))
        parts += [pl.DataFrame(part, schema=schema, orient="row") for part in rows]
    found = pl.concat(parts, rechunk=True)
    if values_only:
        none = pl.lit(None, dtype=real)
        found = found.with_columns(none.alias("numerator"), none.alias("denominator"), pl.lit("").alias("reason"))
    else:
        found = found.join(reasons_of(connection, found), on="reason_no", how="left", maintain_order="left")
    # of a response that was scored both without and with a judge, the judge's
    found = found.unique(["metric_no", "response_no"], keep="last", maintain_order=True).select(
        "metric_no", "response_no",
        pl.col("code").replace_strict(range(len(STATUSES)), list(STATUSES), return_dtype=pl.String).alias("status"),
        "value", "numerator", "denominator", pl.coalesce("low", "value"), pl.coalesce("high", "value"),
        pl.col("reason").fill_null(""),
    )     # fmt: skip
    by_number = found.partition_by("metric_no", as_dict=True, include_key=False, maintain_order=True)
    empty = found.clear().drop("metric_no")
    return {name: by_number.get((newest[name][0],), empty) if name in newest else empty for name in names}


def _newest(
    connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int, names: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """Name -> number and version of the newest version of it that the run has a score of."""
    found: dict[str, tuple[int, int]] = {}
    known = select(metrics.c.metric_no, metrics.c.name, metrics.c.version).where(metrics.c.name.in_(names))
    for number, name, version in connection.execute(known.order_by(metrics.c.version)).all():
        mine = (table.c.run_no == run_no, by_judge(connection, judge_id, judge_repeat), table.c.metric_no == number)
        if connection.execute(select(table.c.run_no).where(*mine).limit(1)).first() is not None:
            found[name] = (number, version)
    return found


def _parts(connection: Connection, query: Select[Any]) -> Iterator[list[tuple[Any, ...]]]:
    """Rows straight from the driver: as SQLAlchemy's row objects a million of them take twice the time."""
    compiled = query.compile(connection.engine, compile_kwargs={"literal_binds": True})
    cursor: Any = connection.connection.cursor()
    try:
        cursor.execute(str(compiled))
        while part := cursor.fetchmany(AT_A_TIME):
            yield part
    finally:
        cursor.close()
