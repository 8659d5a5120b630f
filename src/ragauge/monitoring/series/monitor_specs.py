"""What the monitors of a configuration ask for, and the states of a monitor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.core.messages import format_metric_value

if TYPE_CHECKING:
    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.core.config.gate import Drop
    from ragauge.core.config.monitor import MonitorSection, WatchSection


@dataclass(frozen=True, slots=True)
class MonitorSpec:
    """One monitor of a metric. Scores are taken to [0, 1], higher better: x = 1 − value where lower is better."""

    place: int  #: in the list of monitors, from 1.
    metric: str  #: printed name.
    share_above: float | None  #: watched is the share of values above this; None = the mean of the values.
    lower: bool  #: whether a lower value is better.
    level: float | None  #: the least (where lower is better, the greatest) mean allowed; None where a baseline decides.
    drop: Drop | None  #: how much worse than the baseline the mean may be; None where a level decides.
    baseline: timedelta  #: the days before a period that it is held against.
    segments: tuple[str, ...]  #: in whose values it is watched too.
    decide: str  #: "test" or "point".
    wait: timedelta  #: how long the estimate alone must be off before it alerts.
    project: str = ""  #: whose traffic it watches; "" = that of the project whose traffic came first.
    apart: bool = False  #: whether it names its project itself, so that its own name does.

    def __str__(self) -> str:
        return build_monitor_name(self.metric, self.share_above, self.project if self.apart else "")

    @property
    def asks(self) -> str:
        """What must hold, in words."""
        if self.drop is not None:
            direction = "above" if self.lower else "below"
            return f"{self} no more than {self.drop.text} {direction} that of the {self.baseline.days} days before"
        if self.share_above is not None:
            above = format_metric_value(self.share_above, self.metric)
            name_text = build_monitor_name(self.metric, None, self.project if self.apart else "")
            return f"{name_text} above {above} in at most {100 * (self.level or 0):g}% of the requests"
        return f"{self} at {'most' if self.lower else 'least'} {self.level:g}"

    def score(self, value: float) -> float:
        """The score x of a value: in [0, 1], higher better."""
        if self.share_above is not None:
            value = float(value > self.share_above)
        return 1 - value if self.lower else value

    def shown(self, x: float) -> float:
        """The mean that people know for a mean of x."""
        return 1 - x if self.lower else x

    def compute_allowed_drop(self, mean: float) -> float:
        """By how much a mean of x may fall below the baseline's."""
        if self.drop is None:
            return 0.0
        return self.drop.amount * self.shown(mean) if self.drop.relative else self.drop.amount


@dataclass(frozen=True, slots=True)
class GaugeSpec:
    """One monitor of a gauge that comes in with the traces."""

    place: int  #: in the list of monitors, from 1.
    signal: str  #: name of the gauge.
    kind: str  #: min, max, or skew: the greatest value over the mean of the sources.
    limit: float  #: of it.
    wait: timedelta  #: how long it must be off before it alerts.

    @property
    def asks(self) -> str:
        """What must hold, in words."""
        what = "greatest over mean" if self.kind == "skew" else self.kind
        return f"{self.signal}: {what} {'at least' if self.kind == 'min' else 'at most'} {self.limit:g}"

    def is_off(self, values: tuple[float, ...]) -> bool | None:
        """Whether the newest value of each source breaks the limit; None = there is none, or their mean is 0.

        >>> GaugeSpec(1, "shard_load", "skew", 3, timedelta(0)).is_off((1.0, 1.0, 10.0))
        False
        >>> GaugeSpec(1, "shard_load", "skew", 3, timedelta(0)).is_off((1.0, 1.0, 1.0, 1.0, 30.0))
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
class MonitorSpecs:
    """Everything that is watched."""

    metrics: tuple[MonitorSpec, ...]
    signals: tuple[GaugeSpec, ...]

    @property
    def asks(self) -> tuple[str, ...]:
        """What each of them asks for, in words."""
        return (*(spec.asks for spec in self.metrics), *(spec.asks for spec in self.signals))


def build_monitor_name(metric: str, share_above: float | None, project: str = "") -> str:
    """What a monitor of a metric is called; with its project, where it names one itself.

    >>> build_monitor_name("latency", 4000, "shop")
    'latency above 4000 (shop)'
    """
    above = "" if share_above is None else f" above {share_above:g}"
    return f"{metric}{above}{f' ({project})' if project else ''}"


def read_monitor_specs(file: ConfigFile) -> tuple[MonitorSpecs, tuple[DataError, ...]]:
    """The monitors of a configuration file as far as they make sense, and every mistake in its section `monitor`."""
    from ragauge.metrics.configured import register_criteria

    register_criteria(file)  # whose mistakes are those of its own section
    monitor = file.config.monitor
    if monitor is None:
        return MonitorSpecs((), ()), ()
    problems = [*_check_names(file, monitor), *_list_duplicate_schedules(file, monitor)]
    metric_specs: list[MonitorSpec] = []
    gauge_specs: list[GaugeSpec] = []
    for section in monitor.monitors:
        try:
            if section.signal is not None:
                gauge_specs.append(_build_gauge_spec(section))
            else:
                project, has_own_project = section.project or monitor.project, bool(section.project)
                metric_specs.append(replace(_build_monitor_spec(section), project=project, apart=has_own_project))
        except UsageError as error:
            problems.append(file.build_problem(f"monitor.monitors[{section.place}]", str(error), section.line()))
    return MonitorSpecs(tuple(metric_specs), tuple(gauge_specs)), (
        *problems,
        *_list_duplicates(file, monitor, metric_specs, gauge_specs),
    )


def _list_duplicates(
    file: ConfigFile, monitor: MonitorSection, metric_specs: list[MonitorSpec], gauge_specs: list[GaugeSpec]
) -> Iterator[DataError]:
    """Monitors that ask for the same: their series and alerts would have one name."""
    numbers_by_rule: dict[tuple[str, str], int] = {}
    all_of = [(monitor_spec.asks, monitor_spec.decide, monitor_spec.place) for monitor_spec in metric_specs]
    all_of += [(gauge.asks, "signal", gauge.place) for gauge in gauge_specs]
    for asks, decide, number in all_of:
        if (first := numbers_by_rule.setdefault((asks, decide), number)) != number:
            line = next(section.line() for section in monitor.monitors if section.place == number)
            text = (
                f"{asks}: monitor {first} has the same rule. Remove one; for several segments, write segments: [a, b]."
            )
            yield file.build_problem(f"monitor.monitors[{number}]", text, line)


def _list_duplicate_schedules(file: ConfigFile, monitor: MonitorSection) -> Iterator[DataError]:
    """Schedules of one name: what came of one would count for the other."""
    numbers_by_name: dict[str, int] = {}
    for schedule in monitor.schedules:
        if (first := numbers_by_name.setdefault(schedule.name, schedule.place)) != schedule.place:
            text = f"schedule {first} is also named {schedule.name}. Give each schedule its own name."
            yield file.build_problem(f"monitor.schedules[{schedule.place}].name", text, schedule.line("name"))


def _check_names(file: ConfigFile, monitor: MonitorSection) -> Iterator[DataError]:
    from ragauge.metrics.catalogue import select_metrics

    try:
        select_metrics(monitor.metrics)
    except UsageError as error:
        yield file.build_problem("monitor.metrics", str(error), monitor.line("metrics"))
    segment_names = [
        (f"monitor.monitors[{section.place}].segments", name, section.line("segments"))
        for section in monitor.monitors
        for name in section.segments
    ]
    segment_names += [
        ("monitor.sample.at_least", name, monitor.sample.line("at_least")) for name in monitor.sample.at_least
    ]
    for key, name, line in segment_names:
        if name not in monitor.segments:
            yield file.build_problem(key, str(UnknownName("segment in monitor.segments", name, monitor.segments)), line)


def _build_gauge_spec(section: WatchSection) -> GaugeSpec:
    limits = {"min": section.min, "max": section.max, "skew": section.skew_max}
    kind, limit = next((kind, limit) for kind, limit in limits.items() if limit is not None)
    return GaugeSpec(section.place, section.signal or "", kind, limit, section.wait or timedelta(0))


def _build_monitor_spec(section: WatchSection) -> MonitorSpec:
    from ragauge.metrics.catalogue import has_own_units, parse_metric
    from ragauge.metrics.own_class import ColumnMetric

    metric = parse_metric(section.metric or "")
    metric.check()
    if metric.direction == "neither":
        raise UsageError(f"neither higher nor lower is better for {metric}, so no value is worse than another.")
    lower, (low, high) = metric.direction == "lower", metric.range
    if section.share_above is not None and not lower:
        raise UsageError(f"share_above needs a metric for which lower is better; for {metric}, higher is better.")
    if section.share_above is None and (low < 0 or high > 1):
        what = "from 0 with no upper limit" if low == 0 and not isfinite(high) else f"from {low:g} to {high:g}"
        hint = "Write share_above: 4000 and max: 5%." if lower else "Choose a metric in [0, 1]."
        if has_own_units(metric) and not isinstance(metric, ColumnMetric):
            hint = "Declare its range: @rg.metric(range=(0, 1))."
        raise UsageError(f"the test needs values in [0, 1], but {metric} has values {what}. {hint}")
    level = section.max if lower else section.min
    if section.max_drop is None and level is None:
        raise UsageError(
            f"for {metric}, {'lower' if lower else 'higher'} is better: "
            f"write {'max' if lower else 'min'}, not {'min' if lower else 'max'}."
        )
    if level is not None and not 0 < level < 1:
        raise UsageError(f"a limit of {metric} must be above 0 and below 1, got {level:g}.")
    return MonitorSpec(
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


State = Literal["normal", "pending", "firing", "recovering", "no_data", "error"]
# what is shown: nothing is tested before a baseline is known, nor while the judge cannot read what comes
Standing = State | Literal["not_enough_data", "not_read"]
Observation = Literal["ok", "off", "no_data", "error"]
Resolution = Literal["", "acknowledged", "false_alarm"]
OPEN_STATES: tuple[State, ...] = ("firing", "recovering")


@dataclass(frozen=True, slots=True)
class MonitorState:
    """Where a monitor stands."""

    #: normal: nothing is off; pending: it is, but not yet for as long as `for` says; firing: an alert is open;
    #: recovering: it is open and nothing is off any more; no_data: nothing comes in; error: scores cannot be had.
    state: State = "normal"
    since: datetime | None = None  #: when it came into this state; None before anything was seen.
    open: bool = False  #: whether an alert is open, also while there is no data.

    def after(
        self, observation: Observation, timestamp: datetime, wait: timedelta, cool_down: timedelta
    ) -> MonitorState:
        """Where it stands after one look.

        Args:
            observation: what the look showed.
            timestamp: when; not before the last look.
            wait: how long something must be off before it fires; 0 = at once.
            cool_down: how long nothing may be off before an alert ends.

        >>> noon = datetime(2026, 1, 1, 12)
        >>> late = noon + timedelta(hours=1)
        >>> off = MonitorState().after("off", noon, timedelta(hours=1), timedelta(0))
        >>> off.state, off.after("off", late, timedelta(hours=1), timedelta(0)).state
        ('pending', 'firing')
        """
        state = self._find_next_state(observation, timestamp, wait, cool_down)
        if state == self.state and self.since is not None:
            return self
        return replace(
            self, state=state, since=timestamp, open=state in OPEN_STATES or (self.open and state != "normal")
        )

    def _find_next_state(
        self, observation: Observation, timestamp: datetime, wait: timedelta, cool_down: timedelta
    ) -> State:
        if observation == "no_data" or observation == "error":
            return observation
        since = timestamp if self.since is None else self.since
        if observation == "off":
            if self.open or not wait or (self.state == "pending" and timestamp - since >= wait):
                return "firing"
            return "pending"
        if not self.open:
            return "normal"
        if self.state == "recovering" and timestamp - since >= cool_down:
            return "normal"
        return "recovering" if cool_down else "normal"
