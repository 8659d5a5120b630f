"""A run's scores one metric at a time, as arrays."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, exists, func, select

from ragauge.analysis.scores.arrays import NUMBERS, CategoryColumn, Columns, ResponseIndex, placed
from ragauge.store.database import raw_rows
from ragauge.store.names import judge_no
from ragauge.store.schema import metrics, responses
from ragauge.store.schema import scores as table
from ragauge.store.score_frame import by_judge, number_frame, reason_texts

if TYPE_CHECKING:
    import polars as pl


def metric_names(connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int) -> list[str]:
    """Printed names of the metrics that a run has scores of, in the order of its scores."""
    return list(versions(connection, run_no, judge_id, judge_repeat))


def versions(connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int) -> dict[str, int]:
    """Printed name -> newest version that a run has scores of, in the order of its scores."""
    mine = (table.c.run_no == run_no, by_judge(connection, judge_id, judge_repeat))
    every = func.min(table.c.response_no)
    begin = select(every).where(*mine).scalar_subquery()
    # the first response has nearly all of them: the others of hundreds of thousands of scores are not even grouped
    head = _first_seen(connection, (*mine, table.c.response_no == begin))
    numbers = list(dict.fromkeys(head))
    rest = _first_seen(connection, (*mine, table.c.metric_no.not_in(numbers))) if numbers else []
    named = {number: (name, version) for number, name, version in connection.execute(select(metrics))}
    newest: dict[str, int] = {}
    for number in (*numbers, *rest):
        name, version = named[number]
        newest[name] = max(newest.get(name, 0), version)
    return newest


def _first_seen(connection: Connection, mine: Sequence[ColumnElement[bool]]) -> list[int]:
    """Numbers of the metrics of some scores, in the order in which these stand."""
    c = table.c
    query = select(c.metric_no).where(*mine).group_by(c.metric_no, c.judge_no)
    return list(connection.execute(query.order_by(func.min(c.response_no), c.judge_no, c.metric_no)).scalars())


def evaluated(
    connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int, names: Sequence[str], least: int
) -> array[int]:
    """Numbers of the responses with scores of at least so many of the metrics, ascending."""
    mine = (table.c.run_no == run_no, by_judge(connection, judge_id, judge_repeat))
    numbers = _newest(connection, mine, names).values()
    wanted = table.c.metric_no.in_(numbers)
    if least > 1:
        query = select(table.c.response_no).where(*mine, wanted).group_by(table.c.response_no)
        query = query.having(func.count(table.c.metric_no.distinct()) >= least).order_by(table.c.response_no)
    else:     # most have one among their first scores: the others are not looked at
        has_one = exists().where(*mine, wanted, table.c.response_no == responses.c.response_no)
        query = select(responses.c.response_no).where(responses.c.run_no == run_no, has_one)
        query = query.order_by(responses.c.response_no)
    found = array("q")
    for part in raw_rows(connection, query):
        found.extend(next(zip(*part, strict=True)))
    return found


def of_metrics(
    connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int, names: Sequence[str],
    index: ResponseIndex,
) -> dict[str, Columns]:
    """The scores of some metrics in their newest versions, in example order: read in one go over the run.

    Of a response that was scored both without and with a judge, the judge's score counts.
    """
    import polars as pl

    mine: list[Any] = [table.c.run_no == run_no, by_judge(connection, judge_id, judge_repeat)]
    numbers = _newest(connection, mine, names)
    if _some(connection, numbers):
        mine.append(table.c.metric_no.in_(numbers.values()))
    places = pl.DataFrame({"response_no": index.number}).with_row_index("place")
    asked = pl.col("judge_no") == judge_no(connection, judge_id)
    rows = number_frame(connection, mine).join(places, on="response_no").sort("metric_no", "place", asked)
    rows = rows.unique(["metric_no", "place"], keep="last", maintain_order=True)
    texts = reason_texts(connection, rows["reason_no"].unique().drop_nulls().to_list())
    parts = rows.partition_by("metric_no", as_dict=True)
    return {name: _columns(parts.get((numbers.get(name),), rows.clear()), index, texts) for name in names}


def _columns(rows: pl.DataFrame, index: ResponseIndex, texts: Mapping[int, str]) -> Columns:
    """The scores of one metric."""
    reason = CategoryColumn[int | None].of(rows["reason_no"])
    return placed(
        index, rows["place"].to_numpy(), status=rows["status"].to_numpy(), reason=reason.codes,
        reasons=tuple("" if number is None else texts[number] for number in reason.values),
        **{name: rows[name].to_numpy() for name in NUMBERS},
    )     # fmt: skip


def _newest(connection: Connection, mine: Sequence[Any], names: Sequence[str]) -> dict[str, int]:
    """Name -> number of the newest version of it that there is a score of.

    Of a metric known in one version only it is not asked whether there is one.

    Args:
        connection: to the store.
        mine: conditions: whose scores count.
        names: of metrics.
    """
    known: dict[str, list[int]] = {}
    wanted = set(names)
    for number, name, _ in connection.execute(select(metrics).order_by(metrics.c.version)):
        if name in wanted:
            known.setdefault(name, []).append(number)
    found = {}
    for name, numbers in known.items():
        while len(numbers) > 1:
            query = select(table.c.run_no).where(*mine, table.c.metric_no == numbers[-1]).limit(1)
            if connection.execute(query).first() is not None:
                break
            numbers.pop()
        found[name] = numbers[-1]
    return found


def _some(connection: Connection, numbers: Mapping[str, int]) -> bool:
    """Whether these are some of the metrics that the store knows, not all."""
    return connection.execute(select(func.count()).select_from(metrics)).scalar_one() > len(numbers)
