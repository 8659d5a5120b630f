"""What tests of metrics of the user's own share."""

from __future__ import annotations

from ragauge.metrics import catalogue


def forget_own() -> None:
    """Takes out every metric of the user's own, as in a process that never saw one."""
    catalogue._OWN.clear()
    catalogue._clear_caches()
