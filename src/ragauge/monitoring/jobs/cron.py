"""When a schedule is due, by the clock of its time zone."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def find_last_due(cron: str, zone: str, now: float) -> float:
    """When a schedule was last due, seconds since 1970.

    A time that is skipped where clocks are put forward is due as much later; one that comes twice is due the first
    time.

    >>> datetime.fromtimestamp(find_last_due("0 2 * * *", "Europe/Berlin", 1767225600), UTC).isoformat()
    '2025-12-31T01:00:00+00:00'
    """
    from croniter import croniter

    time_zone = ZoneInfo(zone)
    # by the clock on the wall: what it shows twice is then one time; a second later, so that the moment itself counts
    wall = datetime.fromtimestamp(now + 1, UTC).astimezone(time_zone).replace(tzinfo=None)
    times = croniter(cron, wall)
    while True:
        occurrence: datetime = times.get_prev(datetime)
        due = occurrence.replace(tzinfo=time_zone).timestamp()
        if due <= now:
            return due


def find_next_due(cron: str, zone: str, now: float) -> float:
    """When a schedule is due next, seconds since 1970.

    >>> datetime.fromtimestamp(find_next_due("0 2 * * *", "Europe/Berlin", 1767225600), UTC).isoformat()
    '2026-01-01T01:00:00+00:00'
    """
    from croniter import croniter

    time_zone = ZoneInfo(zone)
    times = croniter(cron, datetime.fromtimestamp(now, UTC).astimezone(time_zone).replace(tzinfo=None))
    while True:
        occurrence: datetime = times.get_next(datetime)
        due = occurrence.replace(tzinfo=time_zone).timestamp()
        if due > now:
            return due
