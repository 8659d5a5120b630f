"""A run's scores one metric at a time, as arrays: a few numbers a response, however many metrics there are."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, exists, func, or_, select

from ragauge.analysis.scores.arrays import Columns, ResponseIndex, placed
from ragauge.data.score import STATUSES
from ragauge.store.schema import metrics, responses
from ragauge.store.schema import scores as table
from ragauge.store.sql.database import raw_rows
from ragauge.store.sql.names import judge_no
from ragauge.store.sql.score_frame import by_judge, reason_texts

SPAN = 1 << 40     # above every number of a response
WHOLE = ("numerator", "denominator", "reason_no")
BOUNDED = or_(table.c.low.is_not(None), table.c.high.is_not(None))     # few are: value stands for both


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
    index: ResponseIndex, *, values_only: bool = False,
) -> dict[str, Columns]:     # fmt: skip
    """The scores of some metrics in their newest versions, in example order: read in one go over the run.

    With `values_only` there are no numerators and denominators, and the reasons are empty.
    """
    mine: list[Any] = [table.c.run_no == run_no, by_judge(connection, judge_id, judge_repeat)]
    numbers = _newest(connection, mine, names)
    if _some(connection, numbers):
        mine.append(table.c.metric_no.in_(numbers.values()))
    asked = case((table.c.judge_no == judge_no(connection, judge_id), 1), else_=0)
    place = (table.c.metric_no * SPAN + table.c.response_no) * 2 + asked     # one number is read sooner than three
    more = () if values_only else WHOLE
    code = (place * len(STATUSES) + table.c.status) * 2 + case((BOUNDED, 1), else_=0)
    query = select(code, table.c.value, *(table.c[name] for name in more))
    scores = _Scores(_arrays(connection, query.where(*mine), 2 + len(more)))
    if scores.bounded:
        bounds = select(place, func.coalesce(table.c.low, table.c.value), func.coalesce(table.c.high, table.c.value))
        scores.bound(_arrays(connection, bounds.where(*mine, BOUNDED), 3))
    texts = reason_texts(connection, scores.reason_nos)
    return {name: scores.of_metric(numbers.get(name, -1), index, texts) for name in names}


class _Scores:
    """Scores of several metrics, metric by metric and in example order.

    Args:
        read: place, status and whether there are bounds in one number, value and, where they were asked for, what
            WHOLE names.

    Attributes:
        bounded: whether some have bounds that are not the value.
    """

    def __init__(self, read: Sequence[Any]) -> None:
        import numpy as np

        found, code = np.divmod(read[0], 2 * len(STATUSES))
        status, bounded = np.divmod(code, 2)
        self.bounded = bool(bounded.any())
        order = np.argsort(found)
        self._place, self._status = found[order], status[order]
        self._value, *more = (part[order] for part in read[1:])
        self._numerator, self._denominator, reason = more or [np.full(order.size, np.nan)] * len(WHOLE)
        self._reason = np.nan_to_num(reason, nan=0.0).astype(np.int64)     # reasons are numbered from 1
        self._low, self._high = self._value.copy(), self._value.copy()

    @property
    def reason_nos(self) -> list[int]:
        """Numbers of the reasons that there are."""
        import numpy as np

        found: list[int] = np.unique(self._reason[self._reason > 0]).tolist()
        return found

    def bound(self, read: Sequence[Any]) -> None:
        """Takes in the bounds that are not the value: place, low and high."""
        import numpy as np

        at = np.searchsorted(self._place, read[0])
        self._low[at], self._high[at] = read[1:]

    def of_metric(self, number: int, index: ResponseIndex, texts: Mapping[int, str]) -> Columns:
        """The scores of one metric; of a response that was scored both without and with a judge, the judge's."""
        import numpy as np

        ends = np.searchsorted(self._place, [2 * SPAN * number, 2 * SPAN * (number + 1)])
        responses = self._place[slice(*ends)] % (2 * SPAN) // 2
        rows = ends[0] + np.flatnonzero(np.append(responses[1:] != responses[:-1], [True] * bool(responses.size)))
        reasons, reason = np.unique(self._reason[rows], return_inverse=True)
        return placed(
            index, responses[rows - ends[0]], status=self._status[rows], value=self._value[rows],
            numerator=self._numerator[rows], denominator=self._denominator[rows], low=self._low[rows],
            high=self._high[rows], reason=reason, reasons=tuple(texts.get(one, "") for one in reasons.tolist()),
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


def _arrays(connection: Connection, query: Select[Any], width: int) -> list[Any]:
    """The columns of a query: whole numbers first, then numbers, NaN where there is none."""
    import numpy as np

    parts: list[list[Any]] = [[np.empty(0, dtype=np.float64 if at else np.int64)] for at in range(width)]
    for rows in raw_rows(connection, query):
        for at, column in enumerate(zip(*rows, strict=True)):
            parts[at].append(np.array(column, dtype=np.float64 if at else np.int64))     # None becomes NaN
    return [np.concatenate(part) for part in parts]
