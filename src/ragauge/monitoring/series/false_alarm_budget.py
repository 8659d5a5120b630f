"""Who shares the false alarms that a configuration allows: the one place where they are counted and divided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ragauge.monitoring.series.monitor_tracker import JUDGE_CHANGED

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.series.monitor_specs import MonitorSpec, MonitorSpecs


class AlarmShare(NamedTuple):
    """One part of what may alarm falsely: the chance of even one in a period, and among how many it is divided.

    A monitor divides its part among its series, what is looked at daily among the days of a period, of drift also among
    the projects of each day.
    """

    what: str
    chance: float
    among: int


@dataclass(frozen=True, slots=True)
class AlarmShares:
    """How the false alarms that are allowed are shared."""

    chance: float = 0.0  #: of even one false alarm in a period, over all parts.
    days: int = 0  #: of a period.
    shares: tuple[AlarmShare, ...] = ()  #: the parts, all of one size.
    excluded: tuple[str, ...] = ()  #: what raises alerts for which the promise does not hold.


def count_parts(monitor: MonitorSection) -> int:
    """How many share the false alarms, K: monitors that are tested, kinds of texts whose drift is, and the canary.

    By the union bound the chance of even one false alarm of any is at most `false_alarms`, however they depend.

    >>> from ragauge.core.config.config_loader import read_config
    >>> watch = {"metric": "faithfulness", "min": 0.8}
    >>> both = {"monitors": [watch, {**watch, "decide": "point"}], "drift": ["queries", "documents"]}
    >>> [count_parts(read_config({"monitor": {**both, "judge": judge}}).config.monitor) for judge in ("local",
    ...     "openai:x")]
    [3, 4]
    """
    tested = sum(section.metric is not None and section.decide == "test" for section in monitor.monitors)
    return max(1, tested + len(monitor.drift) + int(monitor.has_judge_canary))


def compute_daily_level(monitor: MonitorSection, projects: int = 1) -> float:
    """The p at which one daily look, at one kind of texts of a project or at the judge, raises an alert.

    A kind of texts has one part however many projects send: they divide what it may spend on a day, as many as there
    are on that day. Over any days of a period that adds up to the part, whenever a project comes or goes.

    Args:
        monitor: the section.
        projects: that are tested on the day, at least 1; of the judge there is one.

    >>> from ragauge.core.config.config_loader import read_config
    >>> section = read_config({"monitor": {"drift": ["queries"]}}).config.monitor
    >>> round(1 / compute_daily_level(section)), round(1 / compute_daily_level(section, 2))
    (600, 1200)
    """
    return monitor.false_alarms.chance / (count_parts(monitor) * monitor.false_alarms.days * max(1, projects))


def build_alarm_shares(
    monitor: MonitorSection, watched: Sequence[MonitorSpec], limits: Mapping[str, float], projects: int = 1
) -> AlarmShares:
    """How a configuration's false alarms are shared.

    Args:
        monitor: the section.
        watched: its monitors of metrics.
        limits: what a monitor asks for -> the evidence that raises its alarm now, which says how many series it has.
        projects: whose drift is tested.
    """
    promise, n = monitor.false_alarms, count_parts(monitor)
    each, tested = promise.chance / n, [monitor_spec.asks for monitor_spec in watched if monitor_spec.decide == "test"]
    shares = [AlarmShare(asks, each, max(1, round(limits.get(asks, 0.0) * each))) for asks in tested]
    shares += [AlarmShare(f"drift of {texts}", each, promise.days * max(1, projects)) for texts in monitor.drift]
    shares += [AlarmShare(JUDGE_CHANGED, each, promise.days)] if monitor.has_judge_canary else []
    return AlarmShares(promise.chance, promise.days, tuple(shares), tuple(_list_excluded(monitor)))


def _list_excluded(monitor: MonitorSection) -> Iterator[str]:
    if any(section.metric is not None and section.decide == "point" for section in monitor.monitors):
        yield "monitors with decide: point"
    if any(section.signal is not None for section in monitor.monitors):
        yield "gauge monitors"
    if monitor.monitors:
        yield "no-data alerts"
    if monitor.schedules:
        yield "schedules, which their own gate decides"


class MonitoredProjects(NamedTuple):
    """The projects of production."""

    watched: tuple[str, ...] = ()  #: by a monitor of a metric.
    others: tuple[str, ...] = ()  #: whose traffic comes in, is scored, and is watched by none.
    unheard: tuple[str, ...] = ()  #: that a configuration names, and of which nothing has come.
    drifting: tuple[str, ...] = ()  #: whose texts are watched, and nothing else.
    meant: str = ""  #: where a monitor names none; "" = nothing has come, or there is one project alone.


def select_projects(monitor: MonitorSection, came: Sequence[str]) -> tuple[str, ...]:
    """The projects whose drift and models are watched: all that send, or where the section names one, it alone.

    Those that monitors name count as named by the section, where it names one.

    Args:
        monitor: the section.
        came: the projects with traffic, in the order in which they came.

    >>> from ragauge.core.config.config_loader import read_config
    >>> watch = {"metric": "faithfulness", "min": 0.8, "project": "desk"}
    >>> section = read_config({"monitor": {"monitors": [watch]}}).config.monitor
    >>> select_projects(section, ["shop", "desk", "lab"])
    ('shop', 'desk', 'lab')
    >>> select_projects(section.model_copy(update={"project": "shop"}), ["shop", "desk", "lab"])
    ('shop', 'desk')
    """
    named_projects = {monitor.project, *(entry.project for entry in monitor.monitors)}
    valid_projects = [name for index, name in enumerate(came) if name or not index]  # without a name the first is meant
    return tuple(name for name in valid_projects if not monitor.project or name in named_projects)


def find_watched_projects(monitor: MonitorSection, watched: MonitorSpecs, came: Sequence[str]) -> MonitoredProjects:
    """Whose traffic is watched.

    Args:
        monitor: the section.
        watched: its monitors.
        came: the projects with traffic, in the order in which they came: without a name the first is meant.
    """
    meant = monitor.project or next(iter(came), "")
    requested = [monitor_spec.project for monitor_spec in watched.metrics] + (
        [monitor.project] if monitor.drift else []
    )
    texts = select_projects(monitor, came) if monitor.drift else ()
    resolved_names = dict.fromkeys(name or meant for name in requested)
    by_metrics = dict.fromkeys(monitor_spec.project or meant for monitor_spec in watched.metrics)
    return MonitoredProjects(
        tuple(name for name in by_metrics if name in came),
        tuple(name for name in came if name not in by_metrics and name not in texts),
        tuple(name for name in resolved_names if name and name not in came),
        tuple(name for name in texts if name not in by_metrics),
        meant if len(came) > 1 else "",
    )
