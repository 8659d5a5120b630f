"""What a list shows of each run beside its own row: judges, means, tags, cost, and the run before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import ColumnElement, Connection, ScalarSelect, Select, and_, exists, func, or_, select

from ragauge.core.verdict import VerdictCounts
from ragauge.store.evaluations import EvaluationState
from ragauge.store.names import NOBODY
from ragauge.store.page_schema import evaluations, run_tags, summary_values
from ragauge.store.schema import calls, judges, run_judges, run_notes, runs
from ragauge.store.study_schema import studies, trials
from ragauge.store.verdict_schema import verdict_counts

_previous_runs, _earlier = runs.alias(), runs.alias()
_means, _earlier_means = summary_values.alias(), summary_values.alias()
N_MEAN = 9  # columns that make a mean; those behind them count the verdicts of the same run and judge
# what `load_facts` asks of some runs; the first column is the run's number
MEAN_QUERY = (
    select(
        *(
            summary_values.c[name]
            for name in ("run_no", "metric", "measures", "direction", "kind", "n", "scored", "mean", "low", "high")
        ),
        *(verdict_counts.c[column.name] for column in fields(VerdictCounts)),
    )
    .outerjoin_from(
        summary_values,
        verdict_counts,
        and_(*(verdict_counts.c[name] == summary_values.c[name] for name in ("run_no", "judge_no", "judge_repeat"))),
    )
    .where(summary_values.c.shown == 1)
    .order_by(summary_values.c.run_no, summary_values.c.place)
)
JUDGE_QUERY = (
    select(run_judges.c.run_no, judges.c.judge_id)
    .join_from(run_judges, judges, judges.c.judge_no == run_judges.c.judge_no)
    .where(judges.c.judge_id != NOBODY)
    .group_by(run_judges.c.run_no, judges.c.judge_no, judges.c.judge_id)
    .order_by(func.max(run_judges.c.at).desc(), judges.c.judge_no.desc())
)
TAG_QUERY = select(run_tags.c.run_no, run_tags.c.tag).order_by(run_tags.c.tag)
NOTE_QUERY = select(run_notes.c.run_no, run_notes.c.text)
STUDY_QUERY = select(trials.c.run_no, studies.c.name).join_from(
    trials, studies, trials.c.study_no == studies.c.study_no
)
COST_QUERY = select(
    calls.c.run_no,
    func.coalesce(func.sum(calls.c.cost), 0.0),
    func.sum(and_(calls.c.input_tokens.is_not(None), calls.c.cost.is_(None))),
).group_by(calls.c.run_no)
_baseline_runs = runs.alias()
# a run that was deleted is none to hold anything against
_base_id = select(_baseline_runs.c.run_id).where(_baseline_runs.c.run_id == evaluations.c.base_id).scalar_subquery()
EVALUATION_QUERY = select(
    evaluations.c.run_no,
    func.coalesce(_base_id, "").label("base_id"),
    *(evaluations.c[name] for name in EvaluationState._fields if name != "base_id"),
)


def _build_previous_run(same_set: ColumnElement[bool]) -> ScalarSelect[int]:
    """The newest evaluated run before a run, of its variant, that has the same set; of traffic, the same project.

    It measures every layer that the run measures: answers without passages are no baseline of answers with them.
    """
    earlier, own_means, earlier_means = _earlier.c, _means.c, _earlier_means.c
    has_layer = (
        exists()
        .where(
            earlier_means.run_no == earlier.run_no,
            earlier_means.shown == 1,
            earlier_means.measures == own_means.measures,
            earlier_means.mean.is_not(None),
        )
        .correlate(_earlier, _means)
    )
    lacks_layer = (
        exists()
        .where(own_means.run_no == runs.c.run_no, own_means.shown == 1, own_means.mean.is_not(None), ~has_layer)
        .correlate(runs, _earlier)
    )
    return (
        select(func.max(earlier.run_no))
        .where(
            same_set,
            earlier.run_no < runs.c.run_no,
            earlier.variant == runs.c.variant,
            earlier.kind == runs.c.kind,
            earlier.confirms == "",
            earlier.state == "finished",
            exists().where(summary_values.c.run_no == earlier.run_no),
            or_(runs.c.kind != "traffic", earlier.system == runs.c.system),
            ~exists().where(trials.c.run_no == earlier.run_no),
            ~lacks_layer,
        )
        .correlate(runs)
        .scalar_subquery()
    )


PREVIOUS_RUN_QUERY = select(
    runs.c.run_no, _previous_runs.c.run_id
).join_from(  # over the same examples, or else a set of the same name
    runs,
    _previous_runs,
    _previous_runs.c.run_no
    == func.coalesce(
        _build_previous_run(_earlier.c.set_version == runs.c.set_version),
        _build_previous_run(_earlier.c.set_name == runs.c.set_name),
    ),
)


@dataclass(frozen=True, slots=True)
class MeanValue:
    """The mean of a metric over a run, as lists show it."""

    metric: str  #: printed name.
    measures: str  #: retrieval, generation or end_to_end.
    direction: str  #: higher, lower or neither is better.
    kind: str  #: rate, mean or amount.
    n: int  #: examples.
    scored: int  #: of them, with a value.
    mean: float | None  #: None when none is scored.
    #: where the interval begins, including judge error where that is known; None without an interval.
    low: float | None
    high: float | None  #: where it ends.


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a list shows of a run beside its own row."""

    judges: tuple[str, ...]  #: who judged it, the last first.
    means: tuple[MeanValue, ...]  #: of the judge that scored it last, in the order of its scorecard.
    tags: tuple[str, ...]  #: in the order of the alphabet.
    note: str  #: what somebody wrote about it; "" for nothing.
    study: str  #: that it is a trial of; "" for none.
    #: US dollars of the calls to models that were made for it; None where the price of one is unknown.
    cost: float | None
    evaluation: EvaluationState | None  #: how far its last one is; None where none was seen.
    #: id of the run before it over the same set, of the same variant, that measures its layers; "" for none.
    before: str
    #: of the verdicts on its examples, of the judge whose means these are; None where none were counted.
    counts: VerdictCounts | None = None


def load_facts(connection: Connection, run_ids: Sequence[str]) -> dict[str, RunFacts]:
    """Run id -> what a list shows of it; of at most `MAX_IN_VALUES` runs."""
    run_query = select(runs.c.run_no, runs.c.run_id).where(runs.c.run_id.in_(run_ids))
    rows: Any = connection.execute(run_query).all()
    numbers: dict[int, str] = dict(rows)

    def group_by_run(
        query: Select[Any], column: ColumnElement[int], read: Callable[[Any], Any]
    ) -> dict[int, list[Any]]:
        values_by_run: dict[int, list[Any]] = {}
        for number, *values in connection.execute(query.where(column.in_(numbers))):
            values_by_run.setdefault(number, []).append(read(values))
        return values_by_run

    means = group_by_run(MEAN_QUERY, summary_values.c.run_no, _read_mean)
    judges_by_run = group_by_run(JUDGE_QUERY, run_judges.c.run_no, _take_first)
    tags = group_by_run(TAG_QUERY, run_tags.c.run_no, _take_first)
    notes = group_by_run(NOTE_QUERY, run_notes.c.run_no, _take_first)
    studies_by_run = group_by_run(STUDY_QUERY, trials.c.run_no, _take_first)
    costs = group_by_run(COST_QUERY, calls.c.run_no, lambda values: None if values[1] else values[0])
    evaluated = group_by_run(EVALUATION_QUERY, evaluations.c.run_no, lambda values: EvaluationState(*values))
    previous_runs = group_by_run(PREVIOUS_RUN_QUERY, runs.c.run_no, _take_first)
    return {
        run_id: RunFacts(
            tuple(judges_by_run.get(number, ())),
            tuple(mean for mean, _ in means.get(number, ())),
            tuple(tags.get(number, ())),
            _take_first(notes.get(number, ("",))),
            _take_first(studies_by_run.get(number, ("",))),
            _take_first(costs.get(number, (0.0,))),
            _take_first(evaluated.get(number, (None,))),
            _take_first(previous_runs.get(number, ("",))),
            next((counts for _, counts in means.get(number, ())), None),
        )
        for number, run_id in numbers.items()
    }


def _read_mean(values: Sequence[Any]) -> tuple[MeanValue, VerdictCounts | None]:
    """A mean, and the counts of verdicts that stand beside it; None where none were kept."""
    counts = values[N_MEAN:]
    return MeanValue(*values[:N_MEAN]), None if counts[0] is None else VerdictCounts(*counts)


def _take_first(values: Sequence[Any]) -> Any:
    return values[0]
