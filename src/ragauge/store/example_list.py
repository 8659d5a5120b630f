"""The examples of a run as lists show them: which, in which order, and what there is to choose from.

What a list is cut from is chosen in the database, so that a page of a large run costs little more than its rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, and_, case, exists, func, or_, select

from ragauge.core.codec import decode
from ragauge.core.errors import UnknownName
from ragauge.core.example import Example
from ragauge.core.score import STATUSES
from ragauge.store.causes import current_name, known_causes
from ragauge.store.database import Database, raw_rows, rows_among
from ragauge.store.names import judge_no, run_no
from ragauge.store.page_schema import example_groups
from ragauge.store.responses import in_group, response_no, stored_response
from ragauge.store.schema import causes, examples, responses
from ragauge.store.schema import scores as table
from ragauge.store.score_columns import every_metric, newest_numbers
from ragauge.store.score_frame import by_judge
from ragauge.store.text_codec import framed, unescape, unpack

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SCORED = STATUSES.index("scored")
r = responses.c


@dataclass(frozen=True, kw_only=True)
class ExampleOrder:
    """Which responses of a run are listed, and in which order.

    Attributes:
        groups: segment column or "tag" -> value.
        bounds: (metric, lt, lte, gt or gte, number); a response without a score is outside.
        statuses: metric -> status of its score.
        sort: a metric by whose score they stand, those without one last; "" = as in the run.
        highest: the highest score first.
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    bounds: Sequence[tuple[str, str, float]] = ()
    statuses: Mapping[str, str] = field(default_factory=dict)
    sort: str = ""
    highest: bool = False

    @property
    def decides(self) -> bool:
        """Whether it is anything but all of the run as they stand."""
        return bool(self.groups or self.metrics)

    @property
    def metrics(self) -> list[str]:
        """Those whose scores decide."""
        named = (*(metric for metric, _, _ in self.bounds), *self.statuses, self.sort)
        return list(dict.fromkeys(filter(None, named)))


class ListedTexts(NamedTuple):
    """What a response and its example say in a list.

    Attributes:
        query: the question.
        answer: of the system; None where it gave none.
        segments: column -> value.
        tags: of the example, in the order of the alphabet.
    """

    query: str
    answer: str | None
    segments: Mapping[str, str]
    tags: tuple[str, ...]


NO_TEXTS = ListedTexts("", None, {}, ())  # of a response that is gone meanwhile


class ExampleList:
    """The examples of runs as lists show them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def groups(self, run_id: str) -> dict[str, tuple[str, ...]]:
        """Column of a segment -> its values in the order of the alphabet, columns as they first appear; "" = tags."""
        g, found = example_groups.c, dict[str, set[str]]()
        with self._database.read() as connection:
            every = select(g.name, g.value).join_from(responses, example_groups, g.example_no == r.example_no)
            mine = every.where(r.run_no == run_no(connection, run_id)).group_by(g.name, g.value)
            for part in raw_rows(connection, mine.order_by(func.min(r.response_no))):
                for name, value in part:
                    found.setdefault(framed(unescape(name)), set()).add(framed(unescape(value)))
        return {name: tuple(sorted(values)) for name, values in found.items()}

    def numbers(self, run_id: str, judge_id: str | None, order: ExampleOrder) -> array[int]:
        """Numbers of the responses that are listed, in their order."""
        with self._database.read() as connection:
            run = run_no(connection, run_id)
            whose = (table.c.run_no == run, by_judge(connection, judge_id, 0))
            known = newest_numbers(connection, whose, order.metrics, every_metric(connection)) if order.metrics else {}
            joined: FromClause = responses
            values: dict[str, tuple[Any, Any]] = {}
            for name in order.metrics:
                joined, values[name] = _with_score(connection, joined, (run, known.get(name, -1)), judge_id)
            wanted = [r.run_no == run, *(in_group(*one) for one in order.groups.items())]
            wanted += [_within(values[metric][1], how, limit) for metric, how, limit in order.bounds]
            wanted += [values[metric][0] == STATUSES.index(status) for metric, status in order.statuses.items()]
            query = select(r.response_no).select_from(joined).where(*wanted)
            if order.sort:
                value = values[order.sort][1]
                query = query.order_by(value.is_(None), value.desc() if order.highest else value)
            found = array("q")
            for part in raw_rows(connection, query.order_by(r.response_no)):
                found.extend(next(zip(*part, strict=True)))
            return found

    def qualities(
        self, run_id: str, judge_id: str | None, scales: Mapping[str, tuple[float, float]]
    ) -> dict[int, float]:
        """Number of a response -> the mean of its scores on their scales, 1 = best; responses without any are left out.

        The database adds it up, so that no score of a large run is read; see `analysis.scores.quality.Quality`.

        Args:
            run_id: of the run.
            judge_id: whose verdicts; None = nobody's.
            scales: printed name of a metric -> its worst and its best value.
        """
        with self._database.read() as connection:
            return _qualities(connection, run_no(connection, run_id), judge_id, scales)

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
            run, c = run_no(connection, run_id), table.c
            mine = [c.run_no == run, by_judge(connection, judge_id, 0)]
            known = newest_numbers(connection, mine, names, every_metric(connection))
            family = {known[name]: at for at, part in enumerate(families) for name in part if name in known}
            if not family:
                return
            code = case(family, value=c.metric_no) * len(STATUSES) + c.status
            mine += [c.metric_no.in_(family), *_judges_first(connection, run, judge_id, [*family])]
            for part in raw_rows(connection, select(c.response_no * width + code).where(*mine).distinct()):
                response, found = np.divmod(np.fromiter((row[0] for row in part), dtype=np.int64), width)
                for at in range(len(families)):
                    rows = found // len(STATUSES) == at
                    yield at, response[rows], found[rows] % len(STATUSES)

    def cause_names(self, run_id: str, judge_id: str | None) -> dict[int, str]:
        """Number of a failed response -> its cause by the verdicts of a judge; "" where it is unclear."""
        with self._database.read() as connection:
            query = select(causes.c.response_no, causes.c.name).where(known_causes(connection, run_id, judge_id, 0))
            return {number: current_name(name) for part in raw_rows(connection, query) for number, name in part}

    def number(self, run_id: str, query_id: str, repeat: int) -> int | None:
        """Number of a response; None where the run has none such."""
        with self._database.read() as connection:
            try:
                return response_no(connection, run_id, query_id, repeat)
            except UnknownName:
                return None

    def keys(self, numbers: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Number -> query_id and repeat of some responses."""
        with self._database.read() as connection:
            query = select(r.response_no, r.query_id, r.repeat)
            return {row[0]: (framed(row[1]), row[2]) for row in rows_among(connection, query, r.response_no, numbers)}

    def texts(self, numbers: Sequence[int]) -> dict[int, ListedTexts]:
        """Number -> what some responses and their examples say, without passages."""
        query = select(r.response_no, r.body, examples.c.body).join_from(
            responses, examples, r.example_no == examples.c.example_no
        )
        with self._database.read() as connection:
            found = (
                (row[0], stored_response(row[1]), decode(Example, unpack(row[2])))
                for row in rows_among(connection, query, r.response_no, numbers)
            )
            return {
                number: ListedTexts(
                    example.query,
                    response.get("answer"),
                    {framed(name): framed(str(value)) for name, value in example.segments.items()},
                    tuple(sorted(framed(tag) for tag in example.tags)),
                )
                for number, response, example in found
            }


def _with_score(
    connection: Connection, joined: FromClause, of: tuple[int, int], judge_id: str | None
) -> tuple[FromClause, tuple[ColumnElement[Any], ColumnElement[Any]]]:
    """The responses with one metric's score, and its status and value: the judge's before what asks nobody.

    Args:
        connection: to the store.
        joined: the responses.
        of: number of the run, and of the metric.
        judge_id: whose verdicts.
    """
    nobody, judge = judge_no(connection, None), judge_no(connection, judge_id)
    sides = []
    for number in dict.fromkeys((judge, nobody)):
        side = table.alias()
        mine = (
            side.c.run_no == of[0],
            side.c.response_no == r.response_no,
            side.c.judge_no == (number or -1),
            side.c.judge_repeat == 0,
            side.c.metric_no == of[1],
        )
        joined = joined.outerjoin(side, and_(*mine))
        sides.append(side.c)
    status = func.coalesce(*(side.status for side in sides), None)
    value = case(*((side.status.is_not(None), case((side.status == SCORED, side.value))) for side in sides))
    return joined, (status, value)


def _qualities(
    connection: Connection, run: int, judge_id: str | None, scales: Mapping[str, tuple[float, float]]
) -> dict[int, float]:
    c, mine = table.c, [table.c.run_no == run, by_judge(connection, judge_id, 0)]
    numbers = newest_numbers(connection, mine, list(scales), every_metric(connection))
    by_scale: dict[tuple[float, float], list[int]] = {}
    for name, number in numbers.items():
        by_scale.setdefault(scales[name], []).append(number)
    every = by_scale.pop((0.0, 1.0), [])  # most: they stand as they are
    others = [(c.metric_no.in_(of), (c.value - low) / (high - low)) for (low, high), of in by_scale.items()]
    value = case(*others, else_=c.value) if others else c.value
    wanted = [*every, *(number for of in by_scale.values() for number in of)]
    mine += [c.metric_no.in_(wanted), c.status == SCORED, *_judges_first(connection, run, judge_id, wanted)]
    query = select(c.response_no, func.round(func.avg(value), 12)).where(*mine).group_by(c.response_no)
    return {number: mean for part in raw_rows(connection, query) for number, mean in part}


def _judges_first(
    connection: Connection, run: int, judge_id: str | None, among: Sequence[int]
) -> list[ColumnElement[bool]]:
    """Conditions: no score that asked nobody where the judge scored the same of a response; [] where none is."""
    nobody, judge = judge_no(connection, None), judge_no(connection, judge_id)
    if None in (nobody, judge) or nobody == judge:
        return []
    side = table.alias()
    asked = (side.c.run_no == run, side.c.judge_no == judge, side.c.judge_repeat == 0)
    seen = set(connection.execute(select(side.c.metric_no).where(*asked).distinct()).scalars()).intersection(among)
    unasked = (table.c.run_no == run, table.c.judge_no == nobody, table.c.metric_no.in_(seen))
    if not seen or connection.execute(select(table.c.response_no).where(*unasked).limit(1)).first() is None:
        return []
    same = exists().where(*asked, side.c.response_no == table.c.response_no, side.c.metric_no == table.c.metric_no)
    return [or_(table.c.judge_no == judge, table.c.metric_no.not_in(seen), ~same)]


def _within(value: ColumnElement[Any], how: str, limit: float) -> ColumnElement[bool]:
    match how:
        case "lt":
            return value < limit
        case "lte":
            return value <= limit
        case "gt":
            return value > limit
    return value >= limit
