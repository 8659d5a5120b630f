"""A run's scores one metric at a time, as arrays: a few numbers a response, however many metrics there are."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, case, exists, func, or_, select

from ragauge.core.score import STATUSES
from ragauge.scores.arrays import Columns, RawScores, ResponseIndex, placed
from ragauge.scores.categories import narrow
from ragauge.store.database import MOST_IN, raw_rows
from ragauge.store.names import METRIC_RANK, RANKED_METRICS, judge_no
from ragauge.store.schema import responses
from ragauge.store.schema import scores as table
from ragauge.store.score_frame import by_judge, reason_texts

SPAN = 1 << 40  # above every number of a response
ABSENT = 255  # status of a response that has no score
WHOLE = ("numerator", "denominator", "reason_no")
BOUNDED = or_(table.c.low.is_not(None), table.c.high.is_not(None))  # few are: value stands for both


def versions(connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int) -> dict[str, int]:
    """Printed name -> newest version that a run has scores of, in the order of its scores."""
    mine = (table.c.run_no == run_no, by_judge(connection, judge_id, judge_repeat))
    every = func.min(table.c.response_no)
    begin = select(every).where(*mine).scalar_subquery()
    # the first response has nearly all of them: the others of hundreds of thousands of scores are not even grouped
    head = _first_seen(connection, (*mine, table.c.response_no == begin))
    numbers = list(dict.fromkeys(head))
    rest = _first_seen(connection, (*mine, table.c.metric_no.not_in(numbers))) if numbers else []
    named = {number: (name, rank, version) for number, name, version, rank in connection.execute(RANKED_METRICS)}
    newest: dict[str, tuple[int, int]] = {}
    for number in (*numbers, *rest):
        name, *ranked = named[number]
        newest[name] = max(newest.get(name, (0, 0)), (ranked[0], ranked[1]))
    return {name: version for name, (_, version) in newest.items()}


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
    numbers = newest_numbers(connection, mine, names, every_metric(connection)).values()
    wanted = table.c.metric_no.in_(numbers)
    if least > 1:
        query = select(table.c.response_no).where(*mine, wanted).group_by(table.c.response_no)
        query = query.having(func.count(table.c.metric_no.distinct()) >= least).order_by(table.c.response_no)
    else:  # most have one among their first scores: the others are not looked at
        has_one = exists().where(*mine, wanted, table.c.response_no == responses.c.response_no)
        query = select(responses.c.response_no).where(responses.c.run_no == run_no, has_one)
        query = query.order_by(responses.c.response_no)
    found = array("q")
    for part in raw_rows(connection, query):
        found.extend(next(zip(*part, strict=True)))
    return found


class Whose(NamedTuple):
    """Scores of one run, by one asking of a judge and by nobody."""

    run_no: int
    judge_id: str | None
    judge_repeat: int


def of_metrics(
    connection: Connection,
    whose: Whose,
    names: Sequence[str],
    index: ResponseIndex,
    every: Sequence[tuple[int, str]],
    *,
    values_only: bool = False,
) -> dict[str, Columns]:
    """The scores of some metrics in their newest versions, in example order: read in one go over the run.

    `every` is what `every_metric` gives. With `values_only` there are no numerators and denominators, and the reasons
    are empty.
    """
    mine: list[Any] = [table.c.run_no == whose.run_no, by_judge(connection, whose.judge_id, whose.judge_repeat)]
    numbers = newest_numbers(connection, mine, names, every)
    if len(every) > len(numbers):
        mine.append(table.c.metric_no.in_(numbers.values()))
    asked = case((table.c.judge_no == judge_no(connection, whose.judge_id), 1), else_=0)
    which = (table.c.metric_no * SPAN + table.c.response_no) * 2 + asked  # one number is read sooner than three
    more = () if values_only else WHOLE
    code = (which * len(STATUSES) + table.c.status) * 2 + case((BOUNDED, 1), else_=0)
    if len(index) <= MOST_IN:  # a page of a list: the scores of the others are not read
        mine.append(table.c.response_no.in_(index.number.tolist()))
    scores = _Scores(index, sorted(numbers.values()), values_only=values_only, by_judge=whose.judge_id is not None)
    query = select(code, table.c.value, *(table.c[name] for name in more))
    for part in _arrays(connection, query.where(*mine)):
        scores.add(*part)
    if scores.bounded:
        bounds = select(which, func.coalesce(table.c.low, table.c.value), func.coalesce(table.c.high, table.c.value))
        for part in _arrays(connection, bounds.where(*mine, BOUNDED)):
            scores.bound(*part)
    texts = reason_texts(connection, scores.reason_nos)
    return {name: scores.of_metric(numbers.get(name, -1), texts) for name in names}


class _Scores:
    """Scores of several metrics, each at its place: thirty bytes a score, and of what was read no more than a part.

    Args:
        index: the responses; scores of others are left out.
        metric_nos: numbers of the metrics, ascending.
        values_only: there are no numerators, denominators and reasons.
        by_judge: there is a judge whose scores are among them.

    Attributes:
        bounded: whether some have bounds that are not the value.
    """

    def __init__(self, index: ResponseIndex, metric_nos: Sequence[int], *, values_only: bool, by_judge: bool) -> None:
        import numpy as np

        self.bounded, self._by_judge = False, by_judge
        self._index, self._metrics = index, np.array(metric_nos, dtype=np.int64)
        shape, numbers = (len(metric_nos) + 1, len(index)), 1 if values_only else 3  # the last has no scores
        self._status = np.full(shape, ABSENT, dtype=np.uint8)
        self._judged = np.zeros(shape, dtype=bool)
        self._numbers = [np.full(shape, np.nan) for _ in range(numbers)]
        self._reason = None if values_only else np.zeros(shape, dtype=np.int32)
        self._bounds: list[Any] = []

    def add(self, code: Any, *numbers: Any) -> None:
        """Takes in some scores; of a response that was scored both without and with a judge, the judge's stays.

        Args:
            code: metric, response, judged or not, status, and whether there are bounds, in one number.
            numbers: the value and, where they were asked for, what WHOLE names.
        """
        import numpy as np

        whose, rest = np.divmod(code, 2 * len(STATUSES))
        status, bounded = np.divmod(rest, 2)
        self.bounded |= bool(bounded.any())
        metric, place, judged, known = self._whose(whose)
        for mine in (known & ~judged, known & judged):
            rows = np.flatnonzero(mine)
            rows = rows[judged[rows] | ~self._judged[metric[rows], place[rows]]]
            at = metric[rows], place[rows]
            self._status[at], self._judged[at] = status[rows], judged[rows]
            for kept, read in zip(self._numbers, numbers, strict=False):
                kept[at] = read[rows]
            if self._reason is not None:
                self._reason[at] = np.nan_to_num(numbers[-1][rows], nan=0.0)  # reasons are numbered from 1

    def _whose(self, whose: Any) -> tuple[Any, Any, Any, Any]:
        """Metric, place, whether a judge was asked, and whether the metric and the response are looked at."""
        import numpy as np

        number, judged = np.divmod(whose, 2)
        metric_no, response = np.divmod(number, SPAN)
        metric, metric_known = _found(self._metrics, metric_no)
        place, place_known = _found(self._index.number, response)
        return metric, place, judged.astype(bool), metric_known & place_known

    @property
    def reason_nos(self) -> list[int]:
        """Numbers of the reasons that there are."""
        import numpy as np

        if self._reason is None:
            return []
        return [number for number in np.unique(self._reason).tolist() if number > 0]

    def bound(self, whose: Any, low: Any, high: Any) -> None:
        """Takes in some bounds that are not the value."""
        metric, place, judged, known = self._whose(whose)
        known[known] = judged[known] == self._judged[metric[known], place[known]]
        self._bounds.append([part[known] for part in (metric, place, low, high)])

    def of_metric(self, number: int, texts: Mapping[int, str]) -> Columns:
        """The scores of one metric."""
        import numpy as np

        row = self._metrics.tolist().index(number) if number in self._metrics else len(self._metrics)
        rows = np.flatnonzero(self._status[row] != ABSENT)

        def mine(kept: Any) -> Any:
            return kept[row] if rows.size == len(self._index) else kept[row][rows]  # in most runs nothing is copied

        value, *more = (mine(kept) for kept in self._numbers)
        numerator, denominator = more or [np.full(rows.size, np.nan)] * 2
        low = high = value
        for metric, place, *ends in self._bounds:
            at = np.searchsorted(rows, place[metric == row])
            low, high = (old.copy() if old is value else old for old in (low, high))
            low[at], high[at] = (end[metric == row] for end in ends)
        reason_nos = np.zeros(rows.size, dtype=np.int32) if self._reason is None else mine(self._reason)
        reasons, reason = np.unique(reason_nos, return_inverse=True)
        raw = RawScores(
            mine(self._status),
            value,
            numerator,
            denominator,
            low,
            high,
            narrow(reason, reasons.size),
            tuple(texts.get(one, "") for one in reasons.tolist()),
        )
        sampled = self._by_judge and rows.size > 0 and bool(self._judged[row][rows].all())
        return placed(self._index, rows, raw, sampled=sampled)


def _found(ascending: Any, numbers: Any) -> tuple[Any, Any]:
    """Where numbers stand among others, and whether they do."""
    import numpy as np

    if not ascending.size:
        return np.zeros(numbers.size, dtype=np.int64), np.zeros(numbers.size, dtype=bool)
    at = np.minimum(np.searchsorted(ascending, numbers), ascending.size - 1)
    return at, ascending[at] == numbers


def every_metric(connection: Connection) -> list[tuple[int, str]]:
    """Number and name of every metric that the store knows, by ascending version."""
    return [(number, name) for number, name, *_ in connection.execute(RANKED_METRICS.order_by(METRIC_RANK))]


def newest_numbers(
    connection: Connection, mine: Sequence[Any], names: Sequence[str], every: Sequence[tuple[int, str]]
) -> dict[str, int]:
    """Name -> number of the newest version of it that there is a score of.

    Of a metric known in one version only it is not asked whether there is one.

    Args:
        connection: to the store.
        mine: conditions: whose scores count.
        names: of metrics.
        every: as `every_metric` gives them.
    """
    known: dict[str, list[int]] = {}
    wanted = set(names)
    for number, name in every:
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


def _arrays(connection: Connection, query: Select[Any]) -> Iterator[list[Any]]:
    """The columns of a query, some rows at a time: whole numbers first, then numbers, NaN where there is none."""
    import numpy as np

    for rows in raw_rows(connection, query):
        columns = zip(*rows, strict=True)
        yield [np.array(column, dtype=np.float64 if at else np.int64) for at, column in enumerate(columns)]
