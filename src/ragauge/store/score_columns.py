"""A run's scores one metric at a time, as arrays: a few numbers a response, however many metrics there are."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, case, exists, func, or_, select

from ragauge.core.score import STATUSES
from ragauge.scores.arrays import Columns, RawScores, ResponseIndex, place_scores
from ragauge.scores.categories import narrow_codes
from ragauge.store.database import MAX_IN_VALUES, iter_raw_rows
from ragauge.store.names import METRIC_RANK, RANKED_METRICS, find_judge_no
from ragauge.store.schema import responses
from ragauge.store.schema import scores as table
from ragauge.store.score_frame import build_judge_condition, load_reason_texts

RESPONSE_NO_SPAN = 1 << 40  # above every number of a response
ABSENT_STATUS = 255  # status of a response that has no score
DETAIL_COLUMNS = ("numerator", "denominator", "reason_no")
HAS_BOUNDS = or_(table.c.low.is_not(None), table.c.high.is_not(None))  # few are: value stands for both


def find_versions(connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int) -> dict[str, int]:
    """Printed name -> newest version that a run has scores of, in the order of its scores."""
    conditions = (table.c.run_no == run_no, build_judge_condition(connection, judge_id, judge_repeat))
    first_number = func.min(table.c.response_no)
    first_response = select(first_number).where(*conditions).scalar_subquery()
    # the first response has nearly all of them: the others of hundreds of thousands of scores are not even grouped
    head = _list_metric_nos(connection, (*conditions, table.c.response_no == first_response))
    numbers = list(dict.fromkeys(head))
    other_numbers = _list_metric_nos(connection, (*conditions, table.c.metric_no.not_in(numbers))) if numbers else []
    metrics_by_no = {
        number: (name, rank, version) for number, name, version, rank in connection.execute(RANKED_METRICS)
    }
    newest: dict[str, tuple[int, int]] = {}
    for number in (*numbers, *other_numbers):
        name, *ranked = metrics_by_no[number]
        newest[name] = max(newest.get(name, (0, 0)), (ranked[0], ranked[1]))
    return {name: version for name, (_, version) in newest.items()}


def _list_metric_nos(connection: Connection, conditions: Sequence[ColumnElement[bool]]) -> list[int]:
    """Numbers of the metrics of some scores, in the order in which these stand."""
    columns = table.c
    query = select(columns.metric_no).where(*conditions).group_by(columns.metric_no, columns.judge_no)
    return list(
        connection.execute(query.order_by(func.min(columns.response_no), columns.judge_no, columns.metric_no)).scalars()
    )


def find_evaluated(
    connection: Connection, run_no: int, judge_id: str | None, judge_repeat: int, names: Sequence[str], min_metrics: int
) -> array[int]:
    """Numbers of the responses with scores of at least so many of the metrics, ascending."""
    conditions = (table.c.run_no == run_no, build_judge_condition(connection, judge_id, judge_repeat))
    numbers = find_newest_numbers(connection, conditions, names, list_all_metrics(connection)).values()
    is_requested = table.c.metric_no.in_(numbers)
    if min_metrics > 1:
        query = select(table.c.response_no).where(*conditions, is_requested).group_by(table.c.response_no)
        query = query.having(func.count(table.c.metric_no.distinct()) >= min_metrics).order_by(table.c.response_no)
    else:  # most have one among their first scores: the others are not looked at
        has_one = exists().where(*conditions, is_requested, table.c.response_no == responses.c.response_no)
        query = select(responses.c.response_no).where(responses.c.run_no == run_no, has_one)
        query = query.order_by(responses.c.response_no)
    response_numbers = array("q")
    for rows in iter_raw_rows(connection, query):
        response_numbers.extend(next(zip(*rows, strict=True)))
    return response_numbers


class ScoreOwner(NamedTuple):
    """Scores of one run, by one asking of a judge and by nobody."""

    run_no: int
    judge_id: str | None
    judge_repeat: int


def load_metrics(
    connection: Connection,
    owner: ScoreOwner,
    names: Sequence[str],
    index: ResponseIndex,
    all_metrics: Sequence[tuple[int, str]],
    *,
    values_only: bool = False,
) -> dict[str, Columns]:
    """The scores of some metrics in their newest versions, in example order: read in one go over the run.

    `all_metrics` is what `list_all_metrics` gives. With `values_only` there are no numerators and denominators, and the
    reasons
    are empty.
    """
    conditions: list[Any] = [
        table.c.run_no == owner.run_no,
        build_judge_condition(connection, owner.judge_id, owner.judge_repeat),
    ]
    numbers = find_newest_numbers(connection, conditions, names, all_metrics)
    if len(all_metrics) > len(numbers):
        conditions.append(table.c.metric_no.in_(numbers.values()))
    is_judged = case((table.c.judge_no == find_judge_no(connection, owner.judge_id), 1), else_=0)
    score_code = (
        table.c.metric_no * RESPONSE_NO_SPAN + table.c.response_no
    ) * 2 + is_judged  # one number is read sooner than three
    detail_columns = () if values_only else DETAIL_COLUMNS
    code = (score_code * len(STATUSES) + table.c.status) * 2 + case((HAS_BOUNDS, 1), else_=0)
    if len(index) <= MAX_IN_VALUES:  # a page of a list: the scores of the others are not read
        conditions.append(table.c.response_no.in_(index.number.tolist()))
    scores = _Scores(index, sorted(numbers.values()), values_only=values_only, by_judge=owner.judge_id is not None)
    query = select(code, table.c.value, *(table.c[name] for name in detail_columns))
    for arrays in _iter_arrays(connection, query.where(*conditions)):
        scores.add(*arrays)
    if scores.bounded:
        bounds = select(
            score_code, func.coalesce(table.c.low, table.c.value), func.coalesce(table.c.high, table.c.value)
        )
        for arrays in _iter_arrays(connection, bounds.where(*conditions, HAS_BOUNDS)):
            scores.add_bounds(*arrays)
    texts = load_reason_texts(connection, scores.reason_nos)
    return {name: scores.build_columns(numbers.get(name, -1), texts) for name in names}


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
        self._status = np.full(shape, ABSENT_STATUS, dtype=np.uint8)
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

        owner_codes, status_code = np.divmod(code, 2 * len(STATUSES))
        status, bounded = np.divmod(status_code, 2)
        self.bounded |= bool(bounded.any())
        metric, index, is_judged, is_known = self._decode_codes(owner_codes)
        for selected in (is_known & ~is_judged, is_known & is_judged):
            rows = np.flatnonzero(selected)
            rows = rows[is_judged[rows] | ~self._judged[metric[rows], index[rows]]]
            positions = metric[rows], index[rows]
            self._status[positions], self._judged[positions] = status[rows], is_judged[rows]
            for stored_values, new_values in zip(self._numbers, numbers, strict=False):
                stored_values[positions] = new_values[rows]
            if self._reason is not None:
                self._reason[positions] = np.nan_to_num(numbers[-1][rows], nan=0.0)  # reasons are numbered from 1

    def _decode_codes(self, owner_codes: Any) -> tuple[Any, Any, Any, Any]:
        """Metric, place, whether a judge was asked, and whether the metric and the response are looked at."""
        import numpy as np

        number, is_judged = np.divmod(owner_codes, 2)
        metric_no, response = np.divmod(number, RESPONSE_NO_SPAN)
        metric, metric_known = _locate_numbers(self._metrics, metric_no)
        index, place_known = _locate_numbers(self._index.number, response)
        return metric, index, is_judged.astype(bool), metric_known & place_known

    @property
    def reason_nos(self) -> list[int]:
        """Numbers of the reasons that there are."""
        import numpy as np

        if self._reason is None:
            return []
        return [number for number in np.unique(self._reason).tolist() if number > 0]

    def add_bounds(self, owner_codes: Any, low: Any, high: Any) -> None:
        """Takes in some bounds that are not the value."""
        metric, index, is_judged, is_known = self._decode_codes(owner_codes)
        is_known[is_known] = is_judged[is_known] == self._judged[metric[is_known], index[is_known]]
        self._bounds.append([column[is_known] for column in (metric, index, low, high)])

    def build_columns(self, number: int, texts: Mapping[int, str]) -> Columns:
        """The scores of one metric."""
        import numpy as np

        row = self._metrics.tolist().index(number) if number in self._metrics else len(self._metrics)
        rows = np.flatnonzero(self._status[row] != ABSENT_STATUS)

        def select_row(stored_values: Any) -> Any:
            return (
                stored_values[row] if rows.size == len(self._index) else stored_values[row][rows]
            )  # in most runs nothing is copied

        value, *more = (select_row(stored_values) for stored_values in self._numbers)
        numerator, denominator = more or [np.full(rows.size, np.nan)] * 2
        low = high = value
        for metric, index, *bounds in self._bounds:
            positions = np.searchsorted(rows, index[metric == row])
            low, high = (old.copy() if old is value else old for old in (low, high))
            low[positions], high[positions] = (bound[metric == row] for bound in bounds)
        reason_nos = np.zeros(rows.size, dtype=np.int32) if self._reason is None else select_row(self._reason)
        reasons, reason = np.unique(reason_nos, return_inverse=True)
        raw = RawScores(
            select_row(self._status),
            value,
            numerator,
            denominator,
            low,
            high,
            narrow_codes(reason, reasons.size),
            tuple(texts.get(reason_no, "") for reason_no in reasons.tolist()),
        )
        sampled = self._by_judge and rows.size > 0 and bool(self._judged[row][rows].all())
        return place_scores(self._index, rows, raw, sampled=sampled)


def _locate_numbers(ascending: Any, numbers: Any) -> tuple[Any, Any]:
    """Where numbers stand among others, and whether they do."""
    import numpy as np

    if not ascending.size:
        return np.zeros(numbers.size, dtype=np.int64), np.zeros(numbers.size, dtype=bool)
    positions = np.minimum(np.searchsorted(ascending, numbers), ascending.size - 1)
    return positions, ascending[positions] == numbers


def list_all_metrics(connection: Connection) -> list[tuple[int, str]]:
    """Number and name of every metric that the store knows, by ascending version."""
    return [(number, name) for number, name, *_ in connection.execute(RANKED_METRICS.order_by(METRIC_RANK))]


def find_newest_numbers(
    connection: Connection, conditions: Sequence[Any], names: Sequence[str], all_metrics: Sequence[tuple[int, str]]
) -> dict[str, int]:
    """Name -> number of the newest version of it that there is a score of.

    Of a metric known in one version only it is not asked whether there is one.

    Args:
        connection: to the store.
        conditions: conditions: whose scores count.
        names: of metrics.
        all_metrics: as `list_all_metrics` gives them.
    """
    numbers_by_name: dict[str, list[int]] = {}
    requested = set(names)
    for number, name in all_metrics:
        if name in requested:
            numbers_by_name.setdefault(name, []).append(number)
    newest = {}
    for name, numbers in numbers_by_name.items():
        while len(numbers) > 1:
            query = select(table.c.run_no).where(*conditions, table.c.metric_no == numbers[-1]).limit(1)
            if connection.execute(query).first() is not None:
                break
            numbers.pop()
        newest[name] = numbers[-1]
    return newest


def _iter_arrays(connection: Connection, query: Select[Any]) -> Iterator[list[Any]]:
    """The columns of a query, some rows at a time: whole numbers first, then numbers, NaN where there is none."""
    import numpy as np

    for rows in iter_raw_rows(connection, query):
        columns = zip(*rows, strict=True)
        yield [np.array(column, dtype=np.float64 if index else np.int64) for index, column in enumerate(columns)]
