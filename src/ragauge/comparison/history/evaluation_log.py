"""The log of evaluations: a row a run, what changed since the previous run, and which rows may be compared at all.

Which runs are over the same set, whatever its files were called and however it grew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.comparison.comparability import MeasurementSpec, collect_settings, diff_configs
from ragauge.core.response import Run
from ragauge.core.verdict import NOT_COUNTED, VerdictCounts
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import list_questions
from ragauge.scores.results.history_rows import ChangedSetting, History, HistoryRow
from ragauge.scores.results.summary import Summary

USUAL_METRICS = ("recall@5", "mrr", "faithfulness", "answer_relevance", "answer_correctness", "cost")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """What is stored of one evaluated run."""

    run: Run  #: whose responses.
    listed: str  #: the set that it is listed under; see `assign_sets`.
    measuring: MeasurementSpec  #: how it was measured: judge, versions of metrics and questions.
    summaries: Mapping[str, Summary]  #: printed name -> summary, of every metric computed.
    responses: int  #: how many the run has.
    evaluated_at: str = ""  #: when this judge, or nobody, scored it last, ISO 8601.
    judging: float | None = None  #: US dollars that judging it has cost; None where a price is unknown.
    note: str = ""  #: what somebody wrote about it.
    baselines: tuple[str, ...] = ()  #: names of the baselines that mean this run.
    set_by_source: Mapping[str, str] = field(default_factory=dict)  #: what its system said of itself.
    counts: VerdictCounts = NOT_COUNTED  #: of the verdicts on its examples.


@dataclass(slots=True)
class _Series:
    """How the rows of one series were measured, as far as their columns tell."""

    number: int
    first: LogEntry
    judge_id: str | None = None
    versions: dict[str, int] = field(default_factory=dict)
    questions: dict[str, tuple[int, ...]] = field(default_factory=dict)


def build_log(entries: Sequence[LogEntry], metrics: Sequence[Metric], limit: int | None = None) -> History:
    """The log of some evaluated runs.

    Two rows belong to one series where they answered the same version of one set with passages of the same origin
    (own, oracle …), and no metric of the columns was judged by another judge, or in another version of the metric or
    of a question that it needs. Metrics that ask nobody set no two rows apart.

    Args:
        entries: evaluated runs, the newest first.
        metrics: the columns; those that no row has, and usual ones without any value, are left out.
        limit: rows at most; the newest stay.
    """
    previous_entries: dict[str, LogEntry] = {}
    series_by_set: dict[str, list[_Series]] = {}
    latest: dict[str, _Series] = {}
    oldest_first: list[HistoryRow] = []
    count = 0
    for entry in reversed(entries):
        name = entry.listed
        last, set_series = previous_entries.get(name), series_by_set.setdefault(name, [])
        nearest = [latest[name], *reversed(set_series)] if name in latest else []
        series = next((number for number in nearest if not any(_find_mismatches(number, entry, metrics))), None)
        if series is None:
            count += 1
            series = _Series(count, entry)
            set_series.append(series)
        mismatches = (
            () if last is None or series is latest.get(name) else tuple(_describe_mismatches(last, entry, metrics))
        )
        _add_to_series(series, entry, metrics)
        previous_entries[name], latest[name] = entry, series
        oldest_first.append(_build_row(entry, series.number, metrics, last, mismatches))
    rows = tuple(reversed(oldest_first))[:limit]
    valued = {
        name for row in rows for name, summary in row.metrics.items() if summary.scored or name not in USUAL_METRICS
    }
    columns = tuple(str(metric) for metric in metrics if str(metric) in valued)
    return History(columns, rows, len(oldest_first) > len(rows))


def _build_row(
    entry: LogEntry, series: int, metrics: Sequence[Metric], last: LogEntry | None, mismatches: tuple[str, ...]
) -> HistoryRow:
    summaries = {str(metric): entry.summaries[str(metric)] for metric in metrics if str(metric) in entry.summaries}
    n = max((summary.n for summary in (summaries or entry.summaries).values()), default=0)
    return HistoryRow(
        entry.run,
        entry.listed,
        series,
        entry.measuring.judge_id or "",
        n,
        entry.responses,
        summaries,
        entry.evaluated_at,
        entry.judging / n if entry.judging is not None and n else None,
        entry.note,
        entry.baselines,
        None if last is None else last.run,
        () if last is None else tuple(_list_changed_settings(last, entry)),
        mismatches,
        entry.counts,
    )


def _list_changed_settings(previous: LogEntry, current: LogEntry) -> Iterator[ChangedSetting]:
    """Settings that differ, the system's own name before them."""
    if previous.run.system != current.run.system:
        yield ChangedSetting("system", "changed", previous.run.system, current.run.system)
    diff = diff_configs(
        collect_settings(previous.run, previous.set_by_source), collect_settings(current.run, current.set_by_source)
    )
    yield from (ChangedSetting(setting.path, "changed", setting.base, setting.new) for setting in diff.changed)
    yield from (ChangedSetting(setting.path, "added", None, setting.new) for setting in diff.added)
    yield from (ChangedSetting(setting.path, "removed", setting.base, None) for setting in diff.removed)


def _list_judged_metrics(entry: LogEntry, metrics: Sequence[Metric]) -> list[Metric]:
    """The columns of a row that a judge was asked for."""
    return [metric for metric in metrics if str(metric) in entry.summaries and list_questions([metric])]


def _add_to_series(series: _Series, entry: LogEntry, metrics: Sequence[Metric]) -> None:
    """Takes a row's way of measuring into its series."""
    row_metrics = [metric for metric in metrics if str(metric) in entry.summaries]
    if _list_judged_metrics(entry, metrics):
        series.judge_id = entry.measuring.judge_id
    series.versions |= {
        str(m): entry.measuring.metrics[str(m)] for m in row_metrics if str(m) in entry.measuring.metrics
    }
    question_versions = entry.measuring.questions
    series.questions |= {
        question: question_versions[question]
        for question in list_questions(row_metrics)
        if question in question_versions
    }


def _find_mismatches(series: _Series, entry: LogEntry, metrics: Sequence[Metric]) -> Iterator[bool]:
    """What keeps a row out of a series."""
    row_metrics = [metric for metric in metrics if str(metric) in entry.summaries]
    first, run, measuring = series.first.run, entry.run, entry.measuring
    yield (first.kind, first.set_version, first.variant) != (run.kind, run.set_version, run.variant)
    if _list_judged_metrics(entry, metrics):
        yield series.judge_id is not None and series.judge_id != measuring.judge_id
    for name in map(str, row_metrics):
        yield series.versions.get(name, measuring.metrics.get(name)) != measuring.metrics.get(name)
    for question in list_questions(row_metrics):
        if question in measuring.questions:
            yield series.questions.get(question, measuring.questions[question]) != measuring.questions[question]


def _describe_mismatches(previous: LogEntry, current: LogEntry, metrics: Sequence[Metric]) -> Iterator[str]:
    """Why two rows that follow each other cannot be compared, one sentence each."""
    old, new = previous.run, current.run
    if old.set_version != new.set_version:
        yield f"different version of the set ({old.set_version[:8]} → {new.set_version[:8]})"
    if old.variant != new.variant:
        yield f"passages from a different source ({old.variant} → {new.variant})"
    previous_spec, current_spec = previous.measuring, current.measuring
    if previous_spec.judge_id != current_spec.judge_id:
        yield f"different judge ({previous_spec.judge_id or 'nobody'} → {current_spec.judge_id or 'nobody'})"
    row_metrics = [metric for metric in metrics if str(metric) in current.summaries]
    for name in map(str, row_metrics):
        if (
            name in previous_spec.metrics
            and name in current_spec.metrics
            and previous_spec.metrics[name] != current_spec.metrics[name]
        ):
            yield f"different version of {name} ({previous_spec.metrics[name]} → {current_spec.metrics[name]})"
    for question in list_questions(row_metrics):
        versions = [spec.questions.get(question, ()) for spec in (previous_spec, current_spec)]
        if all(versions) and versions[0] != versions[1]:
            words = " → ".join(" and ".join(map(str, version)) for version in versions)
            yield f"different version of the question {question} ({words})"


TRAFFIC_SET = "traffic"  # what the log calls the set of runs that have none


def assign_sets(runs: Iterable[Run], is_same_set: Callable[[Run, Run], bool]) -> dict[str, str]:
    """The set that each run is listed under: run id -> name of the set when it was evaluated first.

    A run is over the set of an earlier run that answered the same version of it, or else that calls its set the same,
    or else of the newest with which it has most examples in common. What comes later moves no earlier run.

    Args:
        runs: the oldest first.
        is_same_set: whether two versions of a set, each given by a run over it, have most of their examples in common.

    >>> base, other = Run("1", "base", set_name="base", set_version="a"), Run("3", "k5", set_name="k5", set_version="c")
    >>> again = Run("2", "k8", set_name="k8", set_version="a")
    >>> assign_sets([base, again, other], lambda one, earlier: False)
    {'1': 'base', '2': 'base', '3': 'k5'}
    """
    by_run: dict[str, str] = {}
    names: dict[str, str] = {}
    versions: dict[str, str] = {}
    first_runs: list[Run] = []
    for run in runs:
        if run.kind == "traffic":
            by_run[run.run_id] = TRAFFIC_SET
            continue
        name = versions.get(run.set_version, names.get(run.set_name))
        if name is None:
            similar = next((earlier for earlier in reversed(first_runs) if is_same_set(run, earlier)), None)
            name = run.set_name if similar is None else versions[similar.set_version]
        if run.set_version not in versions:
            first_runs.append(run)
        by_run[run.run_id] = names[run.set_name] = versions[run.set_version] = name
    return by_run
