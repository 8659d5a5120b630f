"""Runs a page at a time: which come in which order, and what a list shows of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, case, exists, or_, select

from ragauge.core.errors import UnknownName, UsageError
from ragauge.store.database import Database, iter_matching_rows, split_batches
from ragauge.store.names import NOBODY, find_run_no, load_run_numbers
from ragauge.store.page_schema import cards, evaluations, run_tags, summary_values
from ragauge.store.run_facts import RunFacts, load_facts
from ragauge.store.schema import judges, runs, sets
from ragauge.store.study_schema import studies, trials

STALE_AFTER_S = 55  # seconds without a sign of life after which a run in flight is stopped; pages show that within 60
SORTS = {
    "newest": (runs.c.run_no.desc(),),
    "oldest": (runs.c.run_no.asc(),),
    "name": (runs.c.name.asc(), runs.c.run_no.asc()),
}
FILTERS = {
    "set": runs.c.set_name,
    "version": runs.c.set_version,
    "system": runs.c.system,
    "name": runs.c.name,
    "kind": runs.c.kind,
    "variant": runs.c.variant,
}
SET_FILTERS = {"set": sets.c.name, "version": sets.c.version}
OTHER_FILTERS = ("state", "tag", "metric.NAME.lt", "metric.NAME.gt")
Condition = ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class RunOrder:
    """Which runs are listed, and in which order."""

    limit: int | None = None  #: of one page, at least 1; None = all.
    study: str | None = None  #: whose trials; None = runs that are no trial.
    after: str = ""  #: the run_id that the page before ended with; "" = from the start.
    sort: str = "newest"  #: newest, oldest, name, or a metric whose mean lists show.
    highest: bool = False  #: the highest mean first; runs without a mean come last either way, the newest first.
    #: set, version (of the set), system, name, kind, variant, state or tag -> its value; metric.NAME.lt or .gt -> a
    #: number.
    filter: Mapping[str, str] = field(default_factory=dict)


def load_page(connection: Connection, order: RunOrder) -> list[Row[Any]]:
    """The rows of one page.

    Raises:
        UsageError: a limit below 1, or a bound of a metric that is no number.
        UnknownName: no such sort or filter, or no run of the id in `after`.
    """
    if order.limit is not None and order.limit < 1:
        raise UsageError(f"runs: limit must be at least 1, got {order.limit}.")
    conditions = [_is_of_study(order.study), *(_build_filter(connection, *entry) for entry in order.filter.items())]
    if order.sort not in SORTS:
        return _load_by_mean(connection, order, conditions)
    if order.after:
        conditions.append(_build_after_condition(connection, order.after, order.sort))
    query = select(runs).where(*conditions).order_by(*SORTS[order.sort]).limit(order.limit)
    return list(connection.execute(query))


def is_no_trial() -> Condition:
    """Runs that are no trial."""
    return ~exists().where(trials.c.run_no == runs.c.run_no)


def _is_of_study(study: str | None) -> Condition:
    if study is None:
        return is_no_trial()
    return runs.c.run_no.in_(select(trials.c.run_no).join(studies).where(studies.c.name == study))


def _build_after_condition(connection: Connection, run_id: str, sort: str) -> Condition:
    """What comes after a run in this order."""
    number = find_run_no(connection, run_id)
    if sort == "newest":
        return runs.c.run_no < number
    if sort == "oldest":
        return runs.c.run_no > number
    name = connection.execute(select(runs.c.name).where(runs.c.run_no == number)).scalar_one()
    return or_(runs.c.name > name, and_(runs.c.name == name, runs.c.run_no > number))


def _load_by_mean(connection: Connection, order: RunOrder, conditions: Sequence[Condition]) -> list[Row[Any]]:
    """Runs by a metric's mean, then those without one."""
    _check_metric(connection, order.sort, "order of runs", SORTS)
    v = summary_values.c
    has_mean = and_(v.metric == order.sort, v.shown == 1, v.mean.is_not(None))
    sorting = (v.mean.desc(), v.run_no.desc()) if order.highest else (v.mean.asc(), v.run_no.asc())
    valued = select(runs).join_from(summary_values, runs, runs.c.run_no == v.run_no).where(has_mean, *conditions)
    others = select(runs).where(~exists().where(v.run_no == runs.c.run_no, has_mean), *conditions)
    rows: list[Row[Any]] = []
    last = find_run_no(connection, order.after) if order.after else None
    mean = None if last is None else connection.execute(select(v.mean).where(has_mean, v.run_no == last)).scalar()
    if last is None or mean is not None:
        if last is not None:
            beyond = (v.mean < mean, v.run_no < last) if order.highest else (v.mean > mean, v.run_no > last)
            valued = valued.where(or_(beyond[0], and_(v.mean == mean, beyond[1])))
        rows += connection.execute(valued.order_by(*sorting).limit(order.limit))
    else:
        others = others.where(runs.c.run_no < last)
    n_left = None if order.limit is None else order.limit - len(rows)
    if n_left is None or n_left > 0:
        rows += connection.execute(others.order_by(runs.c.run_no.desc()).limit(n_left))
    return rows


def _check_metric(
    connection: Connection, metric: str, description: str, others: Sequence[str] | Mapping[str, Any]
) -> None:
    """Raises UnknownName where no run has a mean of this metric."""
    metric_query = select(summary_values.c.run_no).where(summary_values.c.metric == metric).limit(1)
    if connection.execute(metric_query).first() is None:
        metrics = connection.execute(select(summary_values.c.metric).distinct()).scalars()
        raise UnknownName(description, metric, [*others, *metrics])


def _build_filter(connection: Connection, name: str, value: str) -> Condition:
    if name in FILTERS:
        # lists show a version by its beginning
        return FILTERS[name].startswith(value, autoescape=True) if name == "version" else FILTERS[name] == value
    if name == "tag":
        return exists().where(run_tags.c.run_no == runs.c.run_no, run_tags.c.tag == value)
    if name == "state":
        states = _build_state_conditions()
        if value not in states:
            raise UnknownName("state of runs", value, states)
        return states[value]
    start, _, metric_bound = name.partition(".")
    metric, _, bound = metric_bound.rpartition(".")
    if start != "metric" or bound not in ("lt", "gt"):
        raise UnknownName("filter of runs", name, [*FILTERS, *OTHER_FILTERS])
    _check_metric(connection, metric, "mean in a list of runs", ())
    try:
        limit = float(value)
    except ValueError:
        raise UsageError(f"runs: {name} must be a number, got {value!r}. Write {name}=0.5.") from None
    v = summary_values.c
    beyond = v.mean < limit if bound == "lt" else v.mean > limit
    # not asked for each run anew: what lies beyond is one stretch of an index
    return runs.c.run_no.in_(select(v.run_no).where(v.metric == metric, v.shown == 1, beyond))


def _build_state_conditions() -> dict[str, Condition]:
    running, finished = runs.c.state == "running", runs.c.state == "finished"
    is_alive, e = runs.c.heartbeat >= compute_stale_time(), evaluations.c
    is_begun = exists().where(e.run_no == runs.c.run_no, e.done < e.planned)
    is_judging = exists().where(e.run_no == runs.c.run_no, e.done < e.planned, e.heartbeat >= compute_stale_time())
    return {
        "in flight": or_(and_(running, is_alive), and_(finished, is_judging)),
        "stopped": or_(runs.c.state == "interrupted", and_(running, ~is_alive), and_(finished, is_begun, ~is_judging)),
        "finished": and_(finished, ~is_begun),
        **{state: runs.c.state == state for state in ("failed", "running", "interrupted")},
    }


def compute_stale_time(seconds: float = STALE_AFTER_S) -> str:
    """The time so many seconds ago, ISO 8601: a run in flight whose last sign of life is older counts as stopped."""
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


class RunList:
    """Runs as lists show them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load_numbers(self, run_ids: Sequence[str]) -> None:
        """Reads at once what is then asked of these runs one by one, where pages are served."""
        with self._database.read() as connection:
            load_run_numbers(connection, run_ids)

    def names(self, run_ids: Sequence[str]) -> dict[str, str]:
        """Run id -> what people call the run."""
        return {run_id: name for run_id, name, *_ in self._load_names_and_sets(run_ids)}

    def load_sets(self, run_ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """Run id -> name and content hash of its set, and its project where it is traffic ("" = it is none)."""
        return {
            run_id: (name, version, project) for run_id, _, name, version, project in self._load_names_and_sets(run_ids)
        }

    def find_oldest(self, run_ids: Sequence[str]) -> str:
        """Which of some runs was kept first, whatever clocks say: one may be set back."""
        with self._database.read() as connection:
            query = select(runs.c.run_id).where(runs.c.run_id.in_(run_ids)).order_by(runs.c.run_no).limit(1)
            return str(connection.execute(query).scalar_one())

    def _load_names_and_sets(self, run_ids: Sequence[str]) -> list[tuple[str, str, str, str, str]]:
        c = runs.c
        project = case((c.kind == "traffic", c.system), else_="")
        with self._database.read() as connection:
            query = select(c.run_id, c.name, c.set_name, c.set_version, project)
            return [tuple(row) for row in iter_matching_rows(connection, query, c.run_id, set(run_ids))]

    def facts(self, run_ids: Sequence[str]) -> dict[str, RunFacts]:
        """Run id -> what a list shows of it: a few statements, however many runs there are."""
        facts_by_run: dict[str, RunFacts] = {}
        with self._database.read() as connection:
            for batch in split_batches(run_ids):
                facts_by_run |= load_facts(connection, batch)
        return facts_by_run

    def check_filter(self, filter: Mapping[str, str]) -> None:
        """Raises UnknownName where a filter names a value that no run has, and no set that is kept is called."""
        with self._database.read() as connection:
            for name, value in filter.items():
                column = run_tags.c.tag if name == "tag" else FILTERS.get(name)
                if column is None:
                    continue
                valid_values = set(connection.execute(select(column).distinct()).scalars())
                if name in SET_FILTERS:
                    valid_values.update(connection.execute(select(SET_FILTERS[name]).distinct()).scalars())
                if not (
                    value in valid_values
                    or (name == "version" and any(known_version.startswith(value) for known_version in valid_values))
                ):
                    raise UnknownName(f"{name} of a stored run", value, valid_values - {""})

    def list_outdated(self) -> list[tuple[str, str | None]]:
        """Run id and judge's (None = nobody) of means that may be older than the scores: an evaluation is not over.

        Where a scorecard of the judge was kept after the last write, its means are those of now.
        """
        e, v = evaluations.c, summary_values.c
        fresh = exists().where(
            cards.c.run_no == v.run_no, cards.c.judge_no == v.judge_no, cards.c.writes == runs.c.writes
        )
        query = (
            select(runs.c.run_id, judges.c.judge_id)
            .distinct()
            .join_from(evaluations, runs, runs.c.run_no == e.run_no)
            .join(summary_values, and_(v.run_no == e.run_no, v.shown == 1))
            .join(judges, judges.c.judge_no == v.judge_no)
            .where(or_(e.done < e.planned, e.heartbeat != ""), ~fresh)
        )
        with self._database.read() as connection:
            return [(run_id, None if judge == NOBODY else judge) for run_id, judge in connection.execute(query)]
