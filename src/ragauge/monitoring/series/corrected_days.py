"""Means of days of traffic that people's labels correct, by the code that corrects those of any run."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragauge.monitoring.series.label_correction import CorrectedDay
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.store.store_access import Store


def find_alert_days(store: Store, alert: Alert, project: str = "", metric: str = "") -> tuple[CorrectedDay, ...]:
    """The corrected days of an alert on all requests, from the one since which it is worse to the one when it fired.

    Args:
        store: with runs, draws and labels.
        alert: what fired.
        project: whose traffic its monitor watches, where the alert names none.
        metric: its monitor's; "" = the monitor is called as its metric is.
    """
    if alert.segment[0]:
        return ()
    last = alert.fired_at.date()
    return find_corrected_days(store, metric or alert.monitor, alert.since, last, project=alert.project or project)


def find_corrected_days(
    store: Store, metric: str, first: date, last: date | None = None, *, project: str = ""
) -> tuple[CorrectedDay, ...]:
    """The days whose mean labels correct, the oldest first; () where nobody labeled 50 answers of a draw.

    Args:
        store: with runs, draws and labels.
        metric: its printed name.
        first: the first day that counts.
        last: the last; None = all since.
        project: whose traffic, as `traffic_runs` takes it.
    """
    from ragauge.engine.request_stream import get_traffic_day, list_traffic_runs
    from ragauge.metrics.catalogue import parse_metric
    from ragauge.monitoring.series.label_correction import CorrectedDay
    from ragauge.scores.summarize import summarize_scores
    from ragauge.verbs.columns import StoredColumns

    days = []
    for run in list_traffic_runs(store, first.isoformat(), project=project):
        day = date.fromisoformat(get_traffic_day(run))
        if (last is not None and day > last) or not store.draws.list_for_run(run.run_id):
            continue
        judge_id = next(iter(store.scores.judges(run.run_id)), None)
        if metric not in store.scores.metrics(run.run_id, judge_id):
            continue
        index = store.runs.index(run.run_id, store.scores.evaluated(run.run_id, judge_id, [metric]))
        columns = StoredColumns(store, run.run_id, judge_id, index, values_only=True).labelled()
        (summary,) = summarize_scores(columns, [parse_metric(metric)])
        if summary.rectified is not None and summary.judge_mean is not None:
            interval, labels = summary.rectified.interval, summary.rectified.n
            mean = summary.rectified.mean
            days.append(CorrectedDay(day, mean, interval.low, interval.high, summary.judge_mean, labels))
    return tuple(sorted(days))
