"""A run's scores as one polars frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, or_, select

from ragauge.core.score import STATUSES
from ragauge.store.database import iter_matching_rows, iter_raw_rows
from ragauge.store.names import RANKED_METRICS, find_judge_no
from ragauge.store.responses import parse_groups
from ragauge.store.schema import examples, metrics, reasons, responses
from ragauge.store.schema import scores as table
from ragauge.store.text_codec import escape_for_frame, unpack_text

if TYPE_CHECKING:
    import polars as pl

ROWS_PER_FETCH = 20_000


def load_frame(connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int) -> pl.DataFrame:
    """Integers and floats are read as they are; names are put in their place by polars, once per name."""
    import polars as pl

    rows = _load_numbers(connection, run_no, judge_id, judge_repeat)
    rows = rows.join(_load_metrics(connection, rows), on="metric_no", how="inner", maintain_order="left")
    rows = rows.join(_build_judges(connection, judge_id), on="judge_no", how="left", maintain_order="left")
    rows = rows.join(_load_responses(connection, run_no), on="response_no", how="left", maintain_order="left")
    rows = rows.join(_load_reasons(connection, rows), on="reason_no", how="left", maintain_order="left")
    status = pl.DataFrame({"code": range(len(STATUSES)), "status": STATUSES}, schema_overrides={"code": pl.Int64})
    rows = rows.join(status, on="code", how="left", maintain_order="left")
    # a judge is asked about those that were drawn, and each stands for those that were not
    judge_chance = pl.when(pl.col("judge_id").is_null()).then(1.0).otherwise(pl.col("chance").fill_null(1.0))
    return rows.select(
        "query_id",
        "repeat",
        "metric",
        "status",
        "value",
        "numerator",
        "denominator",
        pl.coalesce("low", "value"),
        pl.coalesce("high", "value"),
        pl.col("reason").fill_null(""),
        "judge_id",
        pl.col("weight") / judge_chance,
        "cluster",
    )


def build_judge_condition(connection: Connection, judge_id: str | None, judge_repeat: int) -> Any:
    """Condition: scores of one asking of a judge, and those that ask nobody."""
    nobody = find_judge_no(connection, None)
    judge = find_judge_no(connection, judge_id)
    asks_nobody = table.c.judge_no == (-1 if nobody is None else nobody)
    if judge_id is None or judge is None:
        return asks_nobody
    return or_(asks_nobody, and_(table.c.judge_no == judge, table.c.judge_repeat == judge_repeat))


def _load_numbers(connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int) -> pl.DataFrame:
    import polars as pl

    integer, real = pl.Int64, pl.Float64
    schema = {
        "response_no": integer,
        "metric_no": integer,
        "judge_no": integer,
        "code": integer,
        "value": real,
        "numerator": real,
        "denominator": real,
        "low": real,
        "high": real,
        "reason_no": integer,
    }
    columns = table.c
    key_columns = (columns.response_no, columns.metric_no, columns.judge_no, columns.status)
    query = select(
        *key_columns,
        columns.value,
        columns.numerator,
        columns.denominator,
        columns.low,
        columns.high,
        columns.reason_no,
    ).where(columns.run_no == run_no, build_judge_condition(connection, judge_id, judge_repeat))
    ordered = query.order_by(columns.response_no, columns.judge_no, columns.judge_repeat, columns.metric_no)
    frames = [pl.DataFrame([], schema=schema)]
    frames += (
        pl.DataFrame(rows, schema=schema, orient="row") for rows in iter_raw_rows(connection, ordered, ROWS_PER_FETCH)
    )
    return pl.concat(frames)


def _load_metrics(connection: Connection, rows: pl.DataFrame) -> pl.DataFrame:
    """metric_no and name of the newest version of each metric among the rows."""
    import polars as pl

    present = rows["metric_no"].unique().to_list()
    newest: dict[str, tuple[int, int]] = {}
    for number, name, _, rank in connection.execute(RANKED_METRICS.where(metrics.c.metric_no.in_(present))):
        newest[name] = max(newest.get(name, (0, 0)), (rank, number))
    columns = {"metric_no": [number for _, number in newest.values()], "metric": list(newest)}
    return pl.DataFrame(columns, schema={"metric_no": pl.Int64, "metric": pl.String})


def _build_judges(connection: Connection, judge_id: str | None) -> pl.DataFrame:
    """The judge's number and id; rows that ask nobody find none and have no judge."""
    import polars as pl

    judge_rows = [] if judge_id is None else [(find_judge_no(connection, judge_id), escape_for_frame(judge_id))]
    return pl.DataFrame(judge_rows, schema={"judge_no": pl.Int64, "judge_id": pl.String}, orient="row")


def _load_responses(connection: Connection, run_no: int) -> pl.DataFrame:
    import polars as pl

    columns = responses.c
    query = select(
        columns.response_no, columns.query_id, columns.repeat, columns.weight, columns.chance, examples.c.groups
    )
    stored_rows = connection.execute(
        query.join_from(responses, examples, columns.example_no == examples.c.example_no).where(
            columns.run_no == run_no
        )
    )
    text = pl.String
    schema = {
        "response_no": pl.Int64,
        "query_id": text,
        "repeat": pl.Int64,
        "weight": pl.Float64,
        "chance": pl.Float64,
        "cluster": text,
    }
    rows = [
        (number, escape_for_frame(query_id), repeat, weight, chance, _find_cluster(groups))
        for number, query_id, repeat, weight, chance, groups in stored_rows
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _find_cluster(groups: bytes | None) -> str | None:
    cluster: str | None = parse_groups(groups).get("cluster")
    return None if cluster is None else escape_for_frame(cluster)


def load_reason_texts(connection: Connection, numbers: Sequence[int]) -> dict[int, str]:
    """Number -> text of reasons."""
    rows = iter_matching_rows(connection, select(reasons.c.reason_no, reasons.c.body), reasons.c.reason_no, numbers)
    return {number: escape_for_frame(unpack_text(body)) for number, body in rows}


def _load_reasons(connection: Connection, rows: pl.DataFrame) -> pl.DataFrame:
    """reason_no and reason, of the reasons among the rows."""
    import polars as pl

    texts_by_no = load_reason_texts(connection, rows["reason_no"].drop_nulls().unique().to_list())
    columns = {"reason_no": list(texts_by_no), "reason": list(texts_by_no.values())}
    return pl.DataFrame(columns, schema={"reason_no": pl.Int64, "reason": pl.String})
