"""Whose traffic is watched, and whose comes in and is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.series.monitor_specs import MonitorSpecs


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
