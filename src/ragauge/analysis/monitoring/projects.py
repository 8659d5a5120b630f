"""Whose traffic is watched, and whose comes in and is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ragauge.analysis.monitoring.watches import Watches
    from ragauge.data.config.monitor import MonitorSection


class WatchedProjects(NamedTuple):
    """The projects of production.

    Attributes:
        watched: by a monitor of a metric, or by drift.
        others: whose traffic comes in, is scored, and is watched by none.
        unheard: that a configuration names, and of which nothing has come.
    """

    watched: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()


def watched_projects(monitor: MonitorSection, watched: Watches, came: Sequence[str]) -> WatchedProjects:
    """Whose traffic is watched.

    Args:
        monitor: the section.
        watched: its monitors.
        came: the projects with traffic, in the order in which they came: without a name the first is meant.
    """
    asked = [watch.project for watch in watched.metrics] + ([monitor.project] if monitor.drift else [])
    named = dict.fromkeys(name or next(iter(came), "") for name in asked)
    return WatchedProjects(
        tuple(name for name in named if name in came), tuple(name for name in came if name not in named),
        tuple(name for name in named if name and name not in came),
    )  # fmt: skip
