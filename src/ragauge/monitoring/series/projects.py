"""Whose traffic is watched, and whose comes in and is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.monitoring.series.monitor_specs import Watches


class WatchedProjects(NamedTuple):
    """The projects of production.

    Attributes:
        watched: by a monitor of a metric.
        others: whose traffic comes in, is scored, and is watched by none.
        unheard: that a configuration names, and of which nothing has come.
        drifting: whose texts are watched, and nothing else.
        meant: where a monitor names none; "" = nothing has come, or there is one project alone.
    """

    watched: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    drifting: tuple[str, ...] = ()
    meant: str = ""


def looked_into(monitor: MonitorSection, came: Sequence[str]) -> tuple[str, ...]:
    """The projects whose drift and models are watched: all that send, or where the section names one, it alone.

    Those that monitors name count as named by the section, where it names one.

    Args:
        monitor: the section.
        came: the projects with traffic, in the order in which they came.

    >>> from ragauge.core.config.config_loader import read_config
    >>> watch = {"metric": "faithfulness", "min": 0.8, "project": "desk"}
    >>> section = read_config({"monitor": {"monitors": [watch]}}).config.monitor
    >>> looked_into(section, ["shop", "desk", "lab"])
    ('shop', 'desk', 'lab')
    >>> looked_into(section.model_copy(update={"project": "shop"}), ["shop", "desk", "lab"])
    ('shop', 'desk')
    """
    named = {monitor.project, *(one.project for one in monitor.monitors)}
    known = [name for place, name in enumerate(came) if name or not place]  # without a name the first is meant
    return tuple(name for name in known if not monitor.project or name in named)


def watched_projects(monitor: MonitorSection, watched: Watches, came: Sequence[str]) -> WatchedProjects:
    """Whose traffic is watched.

    Args:
        monitor: the section.
        watched: its monitors.
        came: the projects with traffic, in the order in which they came: without a name the first is meant.
    """
    meant = monitor.project or next(iter(came), "")
    asked = [watch.project for watch in watched.metrics] + ([monitor.project] if monitor.drift else [])
    texts = looked_into(monitor, came) if monitor.drift else ()
    named = dict.fromkeys(name or meant for name in asked)
    by_metrics = dict.fromkeys(watch.project or meant for watch in watched.metrics)
    return WatchedProjects(
        tuple(name for name in by_metrics if name in came),
        tuple(name for name in came if name not in by_metrics and name not in texts),
        tuple(name for name in named if name and name not in came),
        tuple(name for name in texts if name not in by_metrics),
        meant if len(came) > 1 else "",
    )
