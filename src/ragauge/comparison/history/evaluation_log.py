"""The log of evaluations: a row a run, what changed since the run before, and which rows may be compared at all.

Which runs are over the same set, whatever its files were called and however it grew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ragauge.comparison.comparability import MeasurementSpec, config_diff, settings_of
from ragauge.core.response import Run
from ragauge.core.verdict import NOT_COUNTED, VerdictCounts
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import questions
from ragauge.scores.results.history_rows import Changed, History, HistoryRow
from ragauge.scores.results.summary import Summary

USUAL = ("recall@5", "mrr", "faithfulness", "answer_relevance", "answer_correctness", "cost")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """What is stored of one evaluated run.

    Attributes:
        run: whose responses.
        listed: the set that it is listed under; see `listed_under`.
        measuring: how it was measured: judge, versions of metrics and questions.
        summaries: printed name -> summary, of every metric computed.
        responses: how many the run has.
        evaluated_at: when this judge, or nobody, scored it last, ISO 8601.
        judging: US dollars that judging it has cost; None where a price is unknown.
        note: what somebody wrote about it.
        baselines: names of the baselines that mean this run.
        said: what its system said of itself.
        counts: of the verdicts on its examples.
    """

    run: Run
    listed: str
    measuring: MeasurementSpec
    summaries: Mapping[str, Summary]
    responses: int
    evaluated_at: str = ""
    judging: float | None = None
    note: str = ""
    baselines: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)
    counts: VerdictCounts = NOT_COUNTED


@dataclass(slots=True)
class _Series:
    """How the rows of one series were measured, as far as their columns tell."""

    number: int
    first: LogEntry
    judge_id: str | None = None
    versions: dict[str, int] = field(default_factory=dict)
    questions: dict[str, tuple[int, ...]] = field(default_factory=dict)


def history(entries: Sequence[LogEntry], metrics: Sequence[Metric], limit: int | None = None) -> History:
    """The log of some evaluated runs.

    Two rows belong to one series where they answered the same version of one set with passages of the same origin
    (own, oracle …), and no metric of the columns was judged by another judge, or in another version of the metric or
    of a question that it needs. Metrics that ask nobody set no two rows apart.

    Args:
        entries: evaluated runs, the newest first.
        metrics: the columns; those that no row has, and usual ones without any value, are left out.
        limit: rows at most; the newest stay.
    """
    before: dict[str, LogEntry] = {}
    every: dict[str, list[_Series]] = {}
    latest: dict[str, _Series] = {}
    oldest_first: list[HistoryRow] = []
    count = 0
    for entry in reversed(entries):
        name = entry.listed
        last, known = before.get(name), every.setdefault(name, [])
        nearest = [latest[name], *reversed(known)] if name in latest else []
        series = next((number for number in nearest if not any(_apart(number, entry, metrics))), None)
        if series is None:
            count += 1
            series = _Series(count, entry)
            known.append(series)
        apart = () if last is None or series is latest.get(name) else tuple(_words(last, entry, metrics))
        _joined(series, entry, metrics)
        before[name], latest[name] = entry, series
        oldest_first.append(_row(entry, series.number, metrics, last, apart))
    rows = tuple(reversed(oldest_first))[:limit]
    valued = {name for row in rows for name, summary in row.metrics.items() if summary.scored or name not in USUAL}
    columns = tuple(str(metric) for metric in metrics if str(metric) in valued)
    return History(columns, rows, len(oldest_first) > len(rows))


def _row(
    entry: LogEntry, series: int, metrics: Sequence[Metric], last: LogEntry | None, apart: tuple[str, ...]
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
        () if last is None else tuple(_changed(last, entry)),
        apart,
        entry.counts,
    )


def _changed(before: LogEntry, now: LogEntry) -> Iterator[Changed]:
    """Settings that differ, the system's own name before them."""
    if before.run.system != now.run.system:
        yield Changed("system", "changed", before.run.system, now.run.system)
    diff = config_diff(settings_of(before.run, before.said), settings_of(now.run, now.said))
    yield from (Changed(setting.path, "changed", setting.base, setting.new) for setting in diff.changed)
    yield from (Changed(setting.path, "added", None, setting.new) for setting in diff.added)
    yield from (Changed(setting.path, "removed", setting.base, None) for setting in diff.removed)


def _judged(entry: LogEntry, metrics: Sequence[Metric]) -> list[Metric]:
    """The columns of a row that a judge was asked for."""
    return [metric for metric in metrics if str(metric) in entry.summaries and questions([metric])]


def _joined(series: _Series, entry: LogEntry, metrics: Sequence[Metric]) -> None:
    """Takes a row's way of measuring into its series."""
    mine = [metric for metric in metrics if str(metric) in entry.summaries]
    if _judged(entry, metrics):
        series.judge_id = entry.measuring.judge_id
    series.versions |= {str(m): entry.measuring.metrics[str(m)] for m in mine if str(m) in entry.measuring.metrics}
    asked = entry.measuring.questions
    series.questions |= {question: asked[question] for question in questions(mine) if question in asked}


def _apart(series: _Series, entry: LogEntry, metrics: Sequence[Metric]) -> Iterator[bool]:
    """What keeps a row out of a series."""
    mine = [metric for metric in metrics if str(metric) in entry.summaries]
    first, run, how = series.first.run, entry.run, entry.measuring
    yield (first.kind, first.set_version, first.variant) != (run.kind, run.set_version, run.variant)
    if _judged(entry, metrics):
        yield series.judge_id is not None and series.judge_id != how.judge_id
    for name in map(str, mine):
        yield series.versions.get(name, how.metrics.get(name)) != how.metrics.get(name)
    for question in questions(mine):
        if question in how.questions:
            yield series.questions.get(question, how.questions[question]) != how.questions[question]


def _words(before: LogEntry, now: LogEntry, metrics: Sequence[Metric]) -> Iterator[str]:
    """Why two rows that follow each other cannot be compared, one sentence each."""
    old, new = before.run, now.run
    if old.set_version != new.set_version:
        yield f"another version of the set ({old.set_version[:8]} → {new.set_version[:8]})"
    if old.variant != new.variant:
        yield f"passages of another origin ({old.variant} → {new.variant})"
    was, now_is = before.measuring, now.measuring
    if was.judge_id != now_is.judge_id:
        yield f"another judge ({was.judge_id or 'nobody'} → {now_is.judge_id or 'nobody'})"
    mine = [metric for metric in metrics if str(metric) in now.summaries]
    for name in map(str, mine):
        if name in was.metrics and name in now_is.metrics and was.metrics[name] != now_is.metrics[name]:
            yield f"another version of {name} ({was.metrics[name]} → {now_is.metrics[name]})"
    for question in questions(mine):
        versions = [how.questions.get(question, ()) for how in (was, now_is)]
        if all(versions) and versions[0] != versions[1]:
            words = " → ".join(" and ".join(map(str, version)) for version in versions)
            yield f"another version of the question {question} ({words})"


TRAFFIC = "traffic"  # what the log calls the set of runs that have none


def listed_under(runs: Iterable[Run], alike: Callable[[Run, Run], bool]) -> dict[str, str]:
    """The set that each run is listed under: run id -> name of the set when it was evaluated first.

    A run is over the set of an earlier run that answered the same version of it, or else that calls its set the same,
    or else of the newest with which it has most examples in common. What comes later moves no earlier run.

    Args:
        runs: the oldest first.
        alike: whether two versions of a set, each given by a run over it, have most of their examples in common.

    >>> base, other = Run("1", "base", set_name="base", set_version="a"), Run("3", "k5", set_name="k5", set_version="c")
    >>> again = Run("2", "k8", set_name="k8", set_version="a")
    >>> listed_under([base, again, other], lambda one, earlier: False)
    {'1': 'base', '2': 'base', '3': 'k5'}
    """
    by_run: dict[str, str] = {}
    names: dict[str, str] = {}
    versions: dict[str, str] = {}
    known: list[Run] = []
    for run in runs:
        if run.kind == "traffic":
            by_run[run.run_id] = TRAFFIC
            continue
        name = versions.get(run.set_version, names.get(run.set_name))
        if name is None:
            like = next((earlier for earlier in reversed(known) if alike(run, earlier)), None)
            name = run.set_name if like is None else versions[like.set_version]
        if run.set_version not in versions:
            known.append(run)
        by_run[run.run_id] = names[run.set_name] = versions[run.set_version] = name
    return by_run
