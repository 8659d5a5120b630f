"""A run's scores as one polars frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, or_, select

from ragauge.core.score import STATUSES
from ragauge.store.database import raw_rows, rows_among
from ragauge.store.names import RANKED_METRICS, judge_no
from ragauge.store.responses import grouped
from ragauge.store.schema import examples, metrics, reasons, responses
from ragauge.store.schema import scores as table
from ragauge.store.text_codec import framed, unpack

if TYPE_CHECKING:
    import polars as pl

AT_A_TIME = 20_000


def frame(connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int) -> pl.DataFrame:
    """Integers and floats are read as they are; names are put in their place by polars, once per name."""
    import polars as pl

    rows = _numbers(connection, run_no, judge_id, judge_repeat)
    rows = rows.join(_metrics(connection, rows), on="metric_no", how="inner", maintain_order="left")
    rows = rows.join(_judges(connection, judge_id), on="judge_no", how="left", maintain_order="left")
    rows = rows.join(_responses(connection, run_no), on="response_no", how="left", maintain_order="left")
    rows = rows.join(_reasons(connection, rows), on="reason_no", how="left", maintain_order="left")
    status = pl.DataFrame({"code": range(len(STATUSES)), "status": STATUSES}, schema_overrides={"code": pl.Int64})
    rows = rows.join(status, on="code", how="left", maintain_order="left")
    # a judge is asked about those that were drawn, and each stands for those that were not
    drawn = pl.when(pl.col("judge_id").is_null()).then(1.0).otherwise(pl.col("chance").fill_null(1.0))
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
        pl.col("weight") / drawn,
        "cluster",
    )


def by_judge(connection: Connection, judge_id: str | None, judge_repeat: int) -> Any:
    """Condition: scores of one asking of a judge, and those that ask nobody."""
    nobody = judge_no(connection, None)
    judge = judge_no(connection, judge_id)
    asks_nobody = table.c.judge_no == (-1 if nobody is None else nobody)
    if judge_id is None or judge is None:
        return asks_nobody
    return or_(asks_nobody, and_(table.c.judge_no == judge, table.c.judge_repeat == judge_repeat))


def _numbers(connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int) -> pl.DataFrame:
    import polars as pl

    whole, real = pl.Int64, pl.Float64
    schema = {
        "response_no": whole,
        "metric_no": whole,
        "judge_no": whole,
        "code": whole,
        "value": real,
        "numerator": real,
        "denominator": real,
        "low": real,
        "high": real,
        "reason_no": whole,
    }
    c = table.c
    whose = (c.response_no, c.metric_no, c.judge_no, c.status)
    query = select(*whose, c.value, c.numerator, c.denominator, c.low, c.high, c.reason_no).where(
        c.run_no == run_no, by_judge(connection, judge_id, judge_repeat)
    )
    ordered = query.order_by(c.response_no, c.judge_no, c.judge_repeat, c.metric_no)
    parts = [pl.DataFrame([], schema=schema)]
    parts += (pl.DataFrame(part, schema=schema, orient="row") for part in raw_rows(connection, ordered, AT_A_TIME))
    return pl.concat(parts)


def _metrics(connection: Connection, rows: pl.DataFrame) -> pl.DataFrame:
    """metric_no and name of the newest version of each metric among the rows."""
    import polars as pl

    present = rows["metric_no"].unique().to_list()
    newest: dict[str, tuple[int, int]] = {}
    for number, name, _, rank in connection.execute(RANKED_METRICS.where(metrics.c.metric_no.in_(present))):
        newest[name] = max(newest.get(name, (0, 0)), (rank, number))
    columns = {"metric_no": [number for _, number in newest.values()], "metric": list(newest)}
    return pl.DataFrame(columns, schema={"metric_no": pl.Int64, "metric": pl.String})


def _judges(connection: Connection, judge_id: str | None) -> pl.DataFrame:
    """The judge's number and id; rows that ask nobody find none and have no judge."""
    import polars as pl

    known = [] if judge_id is None else [(judge_no(connection, judge_id), framed(judge_id))]
    return pl.DataFrame(known, schema={"judge_no": pl.Int64, "judge_id": pl.String}, orient="row")


def _responses(connection: Connection, run_no: int) -> pl.DataFrame:
    import polars as pl

    c = responses.c
    query = select(c.response_no, c.query_id, c.repeat, c.weight, c.chance, examples.c.groups)
    found = connection.execute(
        query.join_from(responses, examples, c.example_no == examples.c.example_no).where(c.run_no == run_no)
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
        (number, framed(query_id), repeat, weight, chance, _cluster(groups))
        for number, query_id, repeat, weight, chance, groups in found
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _cluster(groups: bytes | None) -> str | None:
    cluster: str | None = grouped(groups).get("cluster")
    return None if cluster is None else framed(cluster)


def reason_texts(connection: Connection, numbers: Sequence[int]) -> dict[int, str]:
    """Number -> text of reasons."""
    rows = rows_among(connection, select(reasons.c.reason_no, reasons.c.body), reasons.c.reason_no, numbers)
    return {number: framed(unpack(body)) for number, body in rows}


def _reasons(connection: Connection, rows: pl.DataFrame) -> pl.DataFrame:
    """reason_no and reason, of the reasons among the rows."""
    import polars as pl

    found = reason_texts(connection, rows["reason_no"].drop_nulls().unique().to_list())
    columns = {"reason_no": list(found), "reason": list(found.values())}
    return pl.DataFrame(columns, schema={"reason_no": pl.Int64, "reason": pl.String})
