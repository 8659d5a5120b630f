"""The examples of a run as lists show them: which, in which order, and what there is to choose from.

What a list is cut from is chosen in the database, so that a page of a large run costs little more than its rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, and_, case, exists, func, or_, select

from ragauge.core.codec import decode_json
from ragauge.core.errors import UnknownName
from ragauge.core.example import Example
from ragauge.core.score import STATUSES
from ragauge.store.causes import build_causes_condition, translate_cause_name
from ragauge.store.database import Database, iter_matching_rows, iter_raw_rows
from ragauge.store.names import find_judge_no, find_run_no
from ragauge.store.page_schema import example_groups
from ragauge.store.responses import build_group_condition, find_response_no, parse_stored_response
from ragauge.store.schema import causes, examples, responses
from ragauge.store.schema import scores as table
from ragauge.store.score_columns import find_newest_numbers, list_all_metrics
from ragauge.store.score_frame import build_judge_condition
from ragauge.store.text_codec import escape_for_frame, unescape_text, unpack_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SCORED = STATUSES.index("scored")
r = responses.c


@dataclass(frozen=True, kw_only=True)
class ExampleOrder:
    """Which responses of a run are listed, and in which order."""

    groups: Mapping[str, str] = field(default_factory=dict)  #: segment column or "tag" -> value.
    #: (metric, lt, lte, gt or gte, number); a response without a score is outside.
    bounds: Sequence[tuple[str, str, float]] = ()
    statuses: Mapping[str, str] = field(default_factory=dict)  #: metric -> status of its score.
    sort: str = ""  #: a metric by whose score they stand, those without one last; "" = as in the run.
    highest: bool = False  #: the highest score first.

    @property
    def is_restricted(self) -> bool:
        """Whether it is anything but all of the run as they stand."""
        return bool(self.groups or self.metrics)

    @property
    def metrics(self) -> list[str]:
        """Those whose scores decide."""
        names = (*(metric for metric, _, _ in self.bounds), *self.statuses, self.sort)
        return list(dict.fromkeys(filter(None, names)))


class ListedTexts(NamedTuple):
    """What a response and its example say in a list."""

    query: str  #: the question.
    answer: str | None  #: of the system; None where it gave none.
    segments: Mapping[str, str]  #: column -> value.
    tags: tuple[str, ...]  #: of the example, in the order of the alphabet.


NO_TEXTS = ListedTexts("", None, {}, ())  # of a response that is gone meanwhile


class ExampleList:
    """The examples of runs as lists show them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def groups(self, run_id: str) -> dict[str, tuple[str, ...]]:
        """Column of a segment -> its values in the order of the alphabet, columns as they first appear; "" = tags."""
        group_columns, values_by_name = example_groups.c, dict[str, set[str]]()
        with self._database.read() as connection:
            base_query = select(group_columns.name, group_columns.value).join_from(
                responses, example_groups, group_columns.example_no == r.example_no
            )
            own_query = base_query.where(r.run_no == find_run_no(connection, run_id)).group_by(
                group_columns.name, group_columns.value
            )
            for rows in iter_raw_rows(connection, own_query.order_by(func.min(r.response_no))):
                for name, value in rows:
                    values_by_name.setdefault(escape_for_frame(unescape_text(name)), set()).add(
                        escape_for_frame(unescape_text(value))
                    )
        return {name: tuple(sorted(values)) for name, values in values_by_name.items()}

    def list_numbers(self, run_id: str, judge_id: str | None, order: ExampleOrder) -> array[int]:
        """Numbers of the responses that are listed, in their order."""
        with self._database.read() as connection:
            run = find_run_no(connection, run_id)
            score_conditions = (table.c.run_no == run, build_judge_condition(connection, judge_id, 0))
            metric_nos = (
                find_newest_numbers(connection, score_conditions, order.metrics, list_all_metrics(connection))
                if order.metrics
                else {}
            )
            joined: FromClause = responses
            values: dict[str, tuple[Any, Any]] = {}
            for name in order.metrics:
                joined, values[name] = _join_score(connection, joined, (run, metric_nos.get(name, -1)), judge_id)
            conditions = [r.run_no == run, *(build_group_condition(*group) for group in order.groups.items())]
            conditions += [_build_bound_condition(values[metric][1], how, limit) for metric, how, limit in order.bounds]
            conditions += [values[metric][0] == STATUSES.index(status) for metric, status in order.statuses.items()]
            query = select(r.response_no).select_from(joined).where(*conditions)
            if order.sort:
                value = values[order.sort][1]
                query = query.order_by(value.is_(None), value.desc() if order.highest else value)
            numbers = array("q")
            for rows in iter_raw_rows(connection, query.order_by(r.response_no)):
                numbers.extend(next(zip(*rows, strict=True)))
            return numbers

    def compute_qualities(
        self, run_id: str, judge_id: str | None, scales: Mapping[str, tuple[float, float]]
    ) -> dict[int, float]:
        """Number of a response -> the mean of its scores on their scales, 1 = best; responses without any are left out.

        The database adds it up, so that no score of a large run is read; see `scores.quality.QualityScores`.

        Args:
            run_id: of the run.
            judge_id: whose verdicts; None = nobody's.
            scales: printed name of a metric -> its worst and its best value.
        """
        with self._database.read() as connection:
            return _compute_qualities(connection, find_run_no(connection, run_id), judge_id, scales)

    def seen(
        self, run_id: str, judge_id: str | None, families: Sequence[Sequence[str]]
    ) -> Iterator[tuple[int, npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Which responses have scores of which status, once each, some at a time.

        Args:
            run_id: of the run.
            judge_id: whose verdicts; None = nobody's.
            families: printed names of metrics that are not told apart.

        Yields:
            Number of the family, and numbers of responses with the statuses of their scores, an entry a pair.
        """
        import numpy as np

        names, width = [name for family in families for name in family], len(families) * len(STATUSES)
        if not names:
            return
        with self._database.read() as connection:
            run, columns = find_run_no(connection, run_id), table.c
            conditions = [columns.run_no == run, build_judge_condition(connection, judge_id, 0)]
            metric_nos = find_newest_numbers(connection, conditions, names, list_all_metrics(connection))
            family = {
                metric_nos[name]: index
                for index, rows_or_names in enumerate(families)
                for name in rows_or_names
                if name in metric_nos
            }
            if not family:
                return
            code = case(family, value=columns.metric_no) * len(STATUSES) + columns.status
            conditions += [
                columns.metric_no.in_(family),
                *_build_judge_precedence(connection, run, judge_id, [*family]),
            ]
            for rows_or_names in iter_raw_rows(
                connection, select(columns.response_no * width + code).where(*conditions).distinct()
            ):
                response, codes = np.divmod(np.fromiter((row[0] for row in rows_or_names), dtype=np.int64), width)
                for index in range(len(families)):
                    rows = codes // len(STATUSES) == index
                    yield index, response[rows], codes[rows] % len(STATUSES)

    def load_cause_names(self, run_id: str, judge_id: str | None) -> dict[int, str]:
        """Number of a failed response -> its cause by the verdicts of a judge; "" where it is unclear."""
        with self._database.read() as connection:
            query = select(causes.c.response_no, causes.c.name).where(
                build_causes_condition(connection, run_id, judge_id, 0)
            )
            return {
                number: translate_cause_name(name) for rows in iter_raw_rows(connection, query) for number, name in rows
            }

    def number(self, run_id: str, query_id: str, repeat: int) -> int | None:
        """Number of a response; None where the run has none such."""
        with self._database.read() as connection:
            try:
                return find_response_no(connection, run_id, query_id, repeat)
            except UnknownName:
                return None

    def keys(self, numbers: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Number -> query_id and repeat of some responses."""
        with self._database.read() as connection:
            query = select(r.response_no, r.query_id, r.repeat)
            return {
                row[0]: (escape_for_frame(row[1]), row[2])
                for row in iter_matching_rows(connection, query, r.response_no, numbers)
            }

    def load_texts(self, numbers: Sequence[int]) -> dict[int, ListedTexts]:
        """Number -> what some responses and their examples say, without passages."""
        query = select(r.response_no, r.body, examples.c.body).join_from(
            responses, examples, r.example_no == examples.c.example_no
        )
        with self._database.read() as connection:
            stored_rows = (
                (row[0], parse_stored_response(row[1]), decode_json(Example, unpack_text(row[2])))
                for row in iter_matching_rows(connection, query, r.response_no, numbers)
            )
            return {
                number: ListedTexts(
                    example.query,
                    response.get("answer"),
                    {escape_for_frame(name): escape_for_frame(str(value)) for name, value in example.segments.items()},
                    tuple(sorted(escape_for_frame(tag) for tag in example.tags)),
                )
                for number, response, example in stored_rows
            }


def _join_score(
    connection: Connection, joined: FromClause, run_and_metric: tuple[int, int], judge_id: str | None
) -> tuple[FromClause, tuple[ColumnElement[Any], ColumnElement[Any]]]:
    """The responses with one metric's score, and its status and value: the judge's before what asks nobody.

    Args:
        connection: to the store.
        joined: the responses.
        run_and_metric: number of the run, and of the metric.
        judge_id: whose verdicts.
    """
    nobody, judge = find_judge_no(connection, None), find_judge_no(connection, judge_id)
    score_columns = []
    for number in dict.fromkeys((judge, nobody)):
        scores_alias = table.alias()
        conditions = (
            scores_alias.c.run_no == run_and_metric[0],
            scores_alias.c.response_no == r.response_no,
            scores_alias.c.judge_no == (number or -1),
            scores_alias.c.judge_repeat == 0,
            scores_alias.c.metric_no == run_and_metric[1],
        )
        joined = joined.outerjoin(scores_alias, and_(*conditions))
        score_columns.append(scores_alias.c)
    status = func.coalesce(*(scores_alias.status for scores_alias in score_columns), None)
    value = case(
        *(
            (scores_alias.status.is_not(None), case((scores_alias.status == SCORED, scores_alias.value)))
            for scores_alias in score_columns
        )
    )
    return joined, (status, value)


def _compute_qualities(
    connection: Connection, run: int, judge_id: str | None, scales: Mapping[str, tuple[float, float]]
) -> dict[int, float]:
    columns, conditions = table.c, [table.c.run_no == run, build_judge_condition(connection, judge_id, 0)]
    numbers = find_newest_numbers(connection, conditions, list(scales), list_all_metrics(connection))
    by_scale: dict[tuple[float, float], list[int]] = {}
    for name, number in numbers.items():
        by_scale.setdefault(scales[name], []).append(number)
    unit_scale_nos = by_scale.pop((0.0, 1.0), [])  # most: they stand as they are
    others = [
        (columns.metric_no.in_(metric_nos), (columns.value - low) / (high - low))
        for (low, high), metric_nos in by_scale.items()
    ]
    value = case(*others, else_=columns.value) if others else columns.value
    scored_nos = [*unit_scale_nos, *(number for metric_nos in by_scale.values() for number in metric_nos)]
    conditions += [
        columns.metric_no.in_(scored_nos),
        columns.status == SCORED,
        *_build_judge_precedence(connection, run, judge_id, scored_nos),
    ]
    query = (
        select(columns.response_no, func.round(func.avg(value), 12)).where(*conditions).group_by(columns.response_no)
    )
    return {number: mean for rows in iter_raw_rows(connection, query) for number, mean in rows}


def _build_judge_precedence(
    connection: Connection, run: int, judge_id: str | None, metric_nos: Sequence[int]
) -> list[ColumnElement[bool]]:
    """Conditions: no score that asked nobody where the judge scored the same of a response; [] where none is."""
    nobody, judge = find_judge_no(connection, None), find_judge_no(connection, judge_id)
    if None in (nobody, judge) or nobody == judge:
        return []
    scores_alias = table.alias()
    conditions = (scores_alias.c.run_no == run, scores_alias.c.judge_no == judge, scores_alias.c.judge_repeat == 0)
    judged_metrics = set(
        connection.execute(select(scores_alias.c.metric_no).where(*conditions).distinct()).scalars()
    ).intersection(metric_nos)
    unasked = (table.c.run_no == run, table.c.judge_no == nobody, table.c.metric_no.in_(judged_metrics))
    if not judged_metrics or connection.execute(select(table.c.response_no).where(*unasked).limit(1)).first() is None:
        return []
    is_judged = exists().where(
        *conditions, scores_alias.c.response_no == table.c.response_no, scores_alias.c.metric_no == table.c.metric_no
    )
    return [or_(table.c.judge_no == judge, table.c.metric_no.not_in(judged_metrics), ~is_judged)]


def _build_bound_condition(value: ColumnElement[Any], operator: str, limit: float) -> ColumnElement[bool]:
    match operator:
        case "lt":
            return value < limit
        case "lte":
            return value <= limit
        case "gt":
            return value > limit
    return value >= limit
