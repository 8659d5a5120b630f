"""Whether nothing comes any more of what came before, and the alert that says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from ragauge.core.config.times import format_duration
from ragauge.monitoring.series.monitor_tracker import Alert
from ragauge.monitoring.series.series import ALL, Segment

if TYPE_CHECKING:
    from ragauge.monitoring.series.monitor_tracker import MonitorTracker, TrackerState


def build_no_data_alert(
    monitor: str, what: str, last: datetime, now: datetime, wait: timedelta, segment: Segment = ALL
) -> Alert:
    """What says that nothing comes any more of what came before.

    Args:
        monitor: what is watched.
        what: comes no more, such as "score of faithfulness".
        last: when the last of it came.
        now: when that was seen.
        wait: how long nothing may come.
        segment: of which it comes no more, while it does of others; ("", "") = of none it does.
    """
    is_segment = segment != ALL
    of, others = (f" of {segment[0]} {segment[1]}", ", while other segments send") if is_segment else ("", "")
    identity = "\0".join(["no data", what, last.isoformat(), *(segment if is_segment else ())])
    return Alert(
        sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:10],
        monitor,
        f"a {what} at least every {format_duration(wait)}",
        segment,
        now,
        -1,
        "",
        last.date(),
        None,
        0,
        0.0,
        None,
        1.0,
        1.0,
        1,
        "no_data",
        False,
        said=f"no {what}{of} has arrived since {last:%Y-%m-%d %H:%M} UTC{others}",
    )


def detect_silence(
    tracker: MonitorTracker,
    state: TrackerState,
    now: datetime,
    began: datetime,
    wait: timedelta,
    *,
    moved: bool = False,
) -> tuple[TrackerState, tuple[Alert, ...]]:
    """Where it stands when nothing has come for too long, of all or of a segment while it did of others.

    A segment is told of from its 20th score on, among the 100 largest, and not before it was silent for twice as
    long as ever in the days of a baseline: what is silent every night is not missed every night.

    Args:
        tracker: the monitor.
        state: where it stood.
        now: the moment.
        began: since when the server runs: what came before it did is not missed.
        wait: how long nothing may come.
        moved: whether scores have just been taken, however long ago their requests came.

    Returns:
        Where it stands, in no_data where nothing came, and the alerts that were raised.
    """
    if state.last is None or ALL in state.silent:
        return state, ()
    last = min(state.last, now)
    if last < state.last:  # the clock was put back since: the server heard nothing while it runs
        last = min(last, began)
    if not moved and now - max(last, began) >= wait:
        missing = {ALL: _build_missing_alert(tracker, ALL, last, now, wait)}
        return _mark_no_data(state, state.series, missing, now), (missing[ALL],)
    missing = dict(_list_missed(tracker, replace(state, last=last), now, max(began, state.resumed or began), wait))
    return (_mark_no_data(state, missing, missing, now), tuple(missing.values())) if missing else (state, ())


def _list_missed(
    tracker: MonitorTracker, state: TrackerState, now: datetime, since: datetime, wait: timedelta
) -> Iterator[tuple[Segment, Alert]]:
    """Segments of which nothing came for too long, by the last score of all that was taken, with their alerts."""
    late = dict[Segment, tuple[datetime, timedelta]]()
    for segment, series in state.series.items():
        last, longest = series.heard.last, series.heard.compute_wait(wait)
        if segment == ALL or segment in state.silent or last is None or longest is None or state.last is None:
            continue
        if state.last - max(last, since) >= longest:
            late[segment] = last, longest
    for segment in tracker.list_largest(state, state.day + 1) if late else ():
        if segment in late:
            yield segment, _build_missing_alert(tracker, segment, late[segment][0], now, late[segment][1])


def _build_missing_alert(
    tracker: MonitorTracker, segment: Segment, last: datetime, now: datetime, wait: timedelta
) -> Alert:
    alert = build_no_data_alert(str(tracker.watch), f"score of {tracker.watch}", last, now, wait, segment)
    whose = f" ({tracker.of})" if tracker.of and not tracker.watch.apart else ""
    return replace(alert, project=tracker.of, said=f"{alert.said}{whose}")


def _mark_no_data(
    state: TrackerState, segments: Iterable[Segment], missing: Mapping[Segment, Alert], now: datetime
) -> TrackerState:
    series = dict(state.series)
    for segment in segments:
        segment_series = series[segment]
        series[segment] = replace(
            segment_series, state=segment_series.state.after("no_data", now, timedelta(0), timedelta(0))
        )
    return replace(state, series=series, silent={**state.silent, **missing})
