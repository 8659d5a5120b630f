"""What the monitors of a configuration ask for, and what about them makes no sense."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from math import isfinite
from typing import TYPE_CHECKING

from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.core.messages import valued

if TYPE_CHECKING:
    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.core.config.gate import Drop
    from ragauge.core.config.monitor import MonitorSection, WatchSection


@dataclass(frozen=True, slots=True)
class Watch:
    """One monitor of a metric. Scores are taken to [0, 1], higher better: x = 1 − value where lower is better.

    Attributes:
        place: in the list of monitors, from 1.
        metric: printed name.
        share_above: watched is the share of values above this; None = the mean of the values.
        lower: whether a lower value is better.
        level: the least (where lower is better, the greatest) mean allowed; None where a baseline decides.
        drop: how much worse than the baseline the mean may be; None where a level decides.
        baseline: the days before a period that it is held against.
        segments: in whose values it is watched too.
        decide: "test" or "point".
        wait: how long the estimate alone must be off before it alerts.
        project: whose traffic it watches; "" = that of the project whose traffic came first.
        apart: whether it names its project itself, so that its own name does.
    """

    place: int
    metric: str
    share_above: float | None
    lower: bool
    level: float | None
    drop: Drop | None
    baseline: timedelta
    segments: tuple[str, ...]
    decide: str
    wait: timedelta
    project: str = ""
    apart: bool = False

    def __str__(self) -> str:
        return watch_name(self.metric, self.share_above, self.project if self.apart else "")

    @property
    def asks(self) -> str:
        """What must hold, in words."""
        if self.drop is not None:
            side = "above" if self.lower else "below"
            return f"{self} no more than {self.drop.text} {side} that of the {self.baseline.days} days before"
        if self.share_above is not None:
            above = valued(self.share_above, self.metric)
            named = watch_name(self.metric, None, self.project if self.apart else "")
            return f"{named} above {above} in at most {100 * (self.level or 0):g}% of the requests"
        return f"{self} at {'most' if self.lower else 'least'} {self.level:g}"

    def score(self, value: float) -> float:
        """The score x of a value: in [0, 1], higher better."""
        if self.share_above is not None:
            value = float(value > self.share_above)
        return 1 - value if self.lower else value

    def shown(self, x: float) -> float:
        """The mean that people know for a mean of x."""
        return 1 - x if self.lower else x

    def allowed(self, mean: float) -> float:
        """By how much a mean of x may fall below the baseline's."""
        if self.drop is None:
            return 0.0
        return self.drop.amount * self.shown(mean) if self.drop.relative else self.drop.amount


@dataclass(frozen=True, slots=True)
class SignalWatch:
    """One monitor of a gauge that comes in with the traces.

    Attributes:
        place: in the list of monitors, from 1.
        signal: name of the gauge.
        kind: min, max, or skew: the greatest value over the mean of the sources.
        limit: of it.
        wait: how long it must be off before it alerts.
    """

    place: int
    signal: str
    kind: str
    limit: float
    wait: timedelta

    @property
    def asks(self) -> str:
        """What must hold, in words."""
        what = "greatest over mean" if self.kind == "skew" else self.kind
        return f"{self.signal}: {what} {'at least' if self.kind == 'min' else 'at most'} {self.limit:g}"

    def off(self, values: tuple[float, ...]) -> bool | None:
        """Whether the newest value of each source breaks the limit; None = there is none, or their mean is 0.

        >>> SignalWatch(1, "shard_load", "skew", 3, timedelta(0)).off((1.0, 1.0, 10.0))
        False
        >>> SignalWatch(1, "shard_load", "skew", 3, timedelta(0)).off((1.0, 1.0, 1.0, 1.0, 30.0))
        True
        """
        if not values or (self.kind == "skew" and not sum(values)):
            return None
        return self.shown(values) < self.limit if self.kind == "min" else self.shown(values) > self.limit

    def shown(self, values: tuple[float, ...]) -> float:
        """What is held to the limit: the greatest value, the least, or the greatest over the mean."""
        if self.kind == "skew":
            return max(values) / (sum(values) / len(values))
        return max(values) if self.kind == "max" else min(values)


@dataclass(frozen=True, slots=True)
class Watches:
    """Everything that is watched."""

    metrics: tuple[Watch, ...]
    signals: tuple[SignalWatch, ...]

    @property
    def asks(self) -> tuple[str, ...]:
        """What each of them asks for, in words."""
        return (*(one.asks for one in self.metrics), *(one.asks for one in self.signals))


def watch_name(metric: str, share_above: float | None, project: str = "") -> str:
    """What a monitor of a metric is called; with its project, where it names one itself.

    >>> watch_name("latency", 4000, "shop")
    'latency above 4000 (shop)'
    """
    above = "" if share_above is None else f" above {share_above:g}"
    return f"{metric}{above}{f' ({project})' if project else ''}"


def watches(file: ConfigFile) -> tuple[Watches, tuple[DataError, ...]]:
    """The monitors of a configuration file as far as they make sense, and every mistake in its section `monitor`."""
    from ragauge.metrics.configured import register_criteria

    register_criteria(file)  # whose mistakes are those of its own section
    monitor = file.config.monitor
    if monitor is None:
        return Watches((), ()), ()
    problems = [*_names(file, monitor), *_schedules_twice(file, monitor)]
    found: list[Watch] = []
    signals: list[SignalWatch] = []
    for section in monitor.monitors:
        try:
            if section.signal is not None:
                signals.append(_signal(section))
            else:
                of, apart = section.project or monitor.project, bool(section.project)
                found.append(replace(_watch(section), project=of, apart=apart))
        except UsageError as error:
            problems.append(file.problem(f"monitor.monitors[{section.place}]", str(error), section.line()))
    return Watches(tuple(found), tuple(signals)), (*problems, *_twice(file, monitor, found, signals))


def _twice(
    file: ConfigFile, monitor: MonitorSection, found: list[Watch], signals: list[SignalWatch]
) -> Iterator[DataError]:
    """Monitors that ask for the same: their series and alerts would have one name."""
    places: dict[tuple[str, str], int] = {}
    all_of = [(watch.asks, watch.decide, watch.place) for watch in found]
    all_of += [(gauge.asks, "signal", gauge.place) for gauge in signals]
    for asks, decide, place in all_of:
        if (first := places.setdefault((asks, decide), place)) != place:
            line = next(section.line() for section in monitor.monitors if section.place == place)
            text = f"{asks}: monitor {first} asks the same. Leave one out; segments: [a, b] takes several."
            yield file.problem(f"monitor.monitors[{place}]", text, line)


def _schedules_twice(file: ConfigFile, monitor: MonitorSection) -> Iterator[DataError]:
    """Schedules of one name: what came of one would count for the other."""
    places: dict[str, int] = {}
    for one in monitor.schedules:
        if (first := places.setdefault(one.name, one.place)) != one.place:
            text = f"schedule {first} is called {one.name} too. Give each a name of its own."
            yield file.problem(f"monitor.schedules[{one.place}].name", text, one.line("name"))


def _names(file: ConfigFile, monitor: MonitorSection) -> Iterator[DataError]:
    from ragauge.metrics.catalogue import select

    try:
        select(monitor.metrics)
    except UsageError as error:
        yield file.problem("monitor.metrics", str(error), monitor.line("metrics"))
    named = [
        (f"monitor.monitors[{watch.place}].segments", name, watch.line("segments"))
        for watch in monitor.monitors
        for name in watch.segments
    ]
    named += [("monitor.sample.at_least", name, monitor.sample.line("at_least")) for name in monitor.sample.at_least]
    for key, name, line in named:
        if name not in monitor.segments:
            yield file.problem(key, str(UnknownName("segment of monitor.segments", name, monitor.segments)), line)


def _signal(section: WatchSection) -> SignalWatch:
    limits = {"min": section.min, "max": section.max, "skew": section.skew_max}
    kind, limit = next((kind, limit) for kind, limit in limits.items() if limit is not None)
    return SignalWatch(section.place, section.signal or "", kind, limit, section.wait or timedelta(0))


def _watch(section: WatchSection) -> Watch:
    from ragauge.metrics.catalogue import in_own_units, parse
    from ragauge.metrics.own_class import ColumnMetric

    metric = parse(section.metric or "")
    metric.check()
    if metric.direction == "neither":
        raise UsageError(f"{metric} has no better side, so nothing can be called worse.")
    lower, (low, high) = metric.direction == "lower", metric.range
    if section.share_above is not None and not lower:
        raise UsageError(f"share_above is for metrics of which lower is better; of {metric} higher is.")
    if section.share_above is None and (low < 0 or high > 1):
        what = "from 0 on, without an end" if low == 0 and not isfinite(high) else f"from {low:g} to {high:g}"
        hint = "Write share_above: 4000 and max: 5%." if lower else "Choose a metric in [0, 1]."
        if in_own_units(metric) and not isinstance(metric, ColumnMetric):
            hint = "Declare its range: @rg.metric(range=(0, 1))."
        raise UsageError(f"the test needs values in [0, 1], and {metric} has values {what}. {hint}")
    level = section.max if lower else section.min
    if section.max_drop is None and level is None:
        raise UsageError(
            f"of {metric} {'lower' if lower else 'higher'} is better: "
            f"write {'max' if lower else 'min'}, not {'min' if lower else 'max'}."
        )
    if level is not None and not 0 < level < 1:
        raise UsageError(f"a limit of {metric} must be above 0 and below 1, got {level:g}.")
    return Watch(
        section.place,
        str(metric),
        section.share_above,
        lower,
        level,
        section.max_drop,
        section.baseline,
        section.segments,
        section.decide,
        section.wait or timedelta(0),
    )
