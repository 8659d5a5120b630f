"""Gauges that come in with the traces: when a monitor of one begins to be off for long enough, and when that ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from ragauge.monitoring.series.monitor_specs import MonitorState, Standing

if TYPE_CHECKING:
    from ragauge.monitoring.series.monitor_specs import GaugeSpec

HOUR_S, DAY_S = 3600.0, 86_400.0


class SignalPoint(NamedTuple):
    """A value of a gauge: when it arrived (seconds since 1970), of which source, such as a shard, and the value."""

    at: float
    source: str
    value: float


class SignalTurn(NamedTuple):
    """A moment at which an alert opens (or, where not, ends), the value of each source then, and their sources."""

    at: datetime
    opens: bool
    values: tuple[float, ...]
    sources: tuple[str, ...] = ()


class GaugeHour(NamedTuple):
    """Hours before now, and the mean of a gauge's values in that hour."""

    hours: int
    mean: float


@dataclass(frozen=True, slots=True)
class GaugeStatus:
    """Where one gauge stands."""

    name: str  #: of the gauge.
    asks: str  #: what its monitor asks for; "" = it is only kept.
    state: Standing  #: normal, pending (it breaks the limit), firing, or no_data.
    #: what the monitor looks at, of the newest value of each source; the mean of them where there is none.
    value: float | None
    limit: float | None  #: of it; None without a monitor.
    sources: int  #: how many sent a value.
    least: float | None  #: the least of the newest values; None without any.
    greatest: float | None  #: the greatest of them.
    last: datetime | None  #: when the newest arrived.
    hours: tuple[GaugeHour, ...]  #: of the last day.


def build_gauge_status(
    name: str,
    gauge_spec: GaugeSpec | None,
    points: Sequence[SignalPoint],
    now: float,
    no_data: timedelta,
    *,
    firing: bool = False,
) -> GaugeStatus:
    """Where a gauge stands by the values of the last day and before.

    Args:
        name: of the gauge.
        gauge_spec: its monitor; None = it is only kept.
        points: in order of arrival.
        now: seconds since 1970.
        no_data: how long nothing may come.
        firing: whether an alert of the monitor is open.
    """
    newest = {point.source: point.value for point in points}
    values = tuple(newest.values())
    hours: dict[int, list[float]] = {}
    for point in points:
        if now - point.at < DAY_S:
            hours.setdefault(int((point.at - now) // HOUR_S) + 1, []).append(point.value)
    last = points[-1].at if points else None
    quiet = last is None or now - last >= no_data.total_seconds()
    off = gauge_spec.is_off(values) if gauge_spec is not None else False
    state: Standing = "no_data" if quiet else "firing" if firing else "pending" if off else "normal"
    mean = sum(values) / len(values) if values else None
    return GaugeStatus(
        name,
        gauge_spec.asks if gauge_spec is not None else "",
        state,
        mean if gauge_spec is None or off is None or not values else gauge_spec.shown(values),
        gauge_spec.limit if gauge_spec is not None else None,
        len(values),
        min(values, default=None),
        max(values, default=None),
        None if last is None else datetime.fromtimestamp(last, UTC),
        tuple(GaugeHour(hour, sum(several) / len(several)) for hour, several in sorted(hours.items())),
    )


def list_signal_turns(
    gauge_spec: GaugeSpec,
    points: Sequence[SignalPoint],
    cool_down: timedelta,
    *,
    since: float = 0.0,
    is_open: bool = False,
) -> Iterator[SignalTurn]:
    """When alerts of a gauge open and end. What arrives in one moment is looked at together.

    Args:
        gauge_spec: what must hold.
        points: in order of arrival.
        cool_down: how long nothing may be off before an alert ends.
        since: only moments after this one count; the points before say what the sources had then.
        is_open: whether an alert is open at that moment.

    >>> from ragauge.monitoring.series.monitor_specs import GaugeSpec
    >>> watch = GaugeSpec(1, "load", "max", 5, timedelta(minutes=1))
    >>> points = [SignalPoint(60.0 * minute, "a", value) for minute, value in enumerate([1, 9, 9, 9, 1])]
    >>> [(turn.at.minute, turn.opens) for turn in list_signal_turns(watch, points, timedelta(0))]
    [(2, True), (4, False)]
    """
    newest: dict[str, float] = {}
    state = MonitorState("firing", None, True) if is_open else MonitorState()
    for timestamp, several in groupby(points, key=lambda point: point.at):
        newest |= {point.source: point.value for point in several}
        if timestamp <= since:
            continue
        off = gauge_spec.is_off(tuple(newest.values()))
        moment, previous = datetime.fromtimestamp(timestamp, UTC), state
        state = state.after("no_data" if off is None else "off" if off else "ok", moment, gauge_spec.wait, cool_down)
        if previous.open != state.open:
            yield SignalTurn(moment, state.open, tuple(newest.values()), tuple(newest))
