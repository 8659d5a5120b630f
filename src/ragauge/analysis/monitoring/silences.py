"""When no one is notified of an alert, because somebody said so beforehand: monitors go on, and alerts are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from ragauge.analysis.monitoring.series import ALL, Segment

if TYPE_CHECKING:
    from ragauge.analysis.monitoring.watching import Alert
    from ragauge.data.config.monitor import MonitorSection, SilenceSection


@dataclass(frozen=True, slots=True)
class Silence:
    """A time in which no one is notified of some alerts.

    Attributes:
        monitor: whose alerts, as they name it; "" = all.
        segment: of which segment; ("", "") = any.
        why: as somebody said.
        begins: None = it always did.
        ends: None = it does not.
        cron: when it begins again and again; "" = it does not.
        zone: of the cron.
        length: of each time of the cron.
        silence_id: of one that was said by command or page; "" = it stands in the configuration.
    """

    monitor: str
    segment: Segment
    why: str
    begins: datetime | None = None
    ends: datetime | None = None
    cron: str = ""
    zone: str = "UTC"
    length: timedelta = timedelta(0)
    silence_id: str = ""

    def until(self, now: datetime) -> datetime | None:
        """When the silence ends that holds at a moment; None = none does."""
        if (self.begins is not None and now < self.begins) or (self.ends is not None and now >= self.ends):
            return None
        if not self.cron:
            return self.ends or datetime.max.replace(tzinfo=UTC)
        end = datetime.fromtimestamp(last_due(self.cron, self.zone, now.timestamp()), UTC) + self.length
        return min(end, self.ends or end) if now < end else None

    def meets(self, alert: Alert) -> bool:
        """Whether it speaks of an alert. Of drift without a project it speaks of that of each."""
        of_all = alert.monitor.removesuffix(f" ({alert.project})") if alert.decide == "drift" else alert.monitor
        return self.monitor in ("", alert.monitor, of_all) and self.segment in (ALL, alert.segment)


class SilencedNow(NamedTuple):
    """Until when no one is notified of an alert, and why."""

    until: datetime
    why: str


class SilenceStatus(NamedTuple):
    """A silence, and when it ends where it holds now; None = it does not."""

    silence: Silence
    until: datetime | None


def last_due(cron: str, zone: str, now: float) -> float:
    """When a schedule was last due, seconds since 1970.

    A time that is skipped where clocks are put forward is due as much later; one that comes twice is due the first
    time.

    >>> datetime.fromtimestamp(last_due("0 2 * * *", "Europe/Berlin", 1767225600), UTC).isoformat()
    '2025-12-31T01:00:00+00:00'
    """
    from croniter import croniter

    there = ZoneInfo(zone)
    # by the clock on the wall: what it shows twice is then one time; a second later, so that the moment itself counts
    wall = datetime.fromtimestamp(now + 1, UTC).astimezone(there).replace(tzinfo=None)
    times = croniter(cron, wall)
    while True:
        found: datetime = times.get_prev(datetime)
        due = found.replace(tzinfo=there).timestamp()
        if due <= now:
            return due


def next_due(cron: str, zone: str, now: float) -> float:
    """When a schedule is due next, seconds since 1970.

    >>> datetime.fromtimestamp(next_due("0 2 * * *", "Europe/Berlin", 1767225600), UTC).isoformat()
    '2026-01-01T01:00:00+00:00'
    """
    from croniter import croniter

    there = ZoneInfo(zone)
    times = croniter(cron, datetime.fromtimestamp(now, UTC).astimezone(there).replace(tzinfo=None))
    while True:
        found: datetime = times.get_next(datetime)
        due = found.replace(tzinfo=there).timestamp()
        if due > now:
            return due


def configured(monitor: MonitorSection) -> Iterator[Silence]:
    """The silences of a configuration."""
    for one in monitor.silences:
        yield _silence(one)


def _silence(section: SilenceSection) -> Silence:
    zone = ZoneInfo(section.zone)
    begins, ends = (
        None if at is None else (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
        for at in (section.begins, section.until)
    )
    segment = next(iter(section.segment.items()), ALL)
    return Silence(
        section.monitor or "",
        segment,
        section.why,
        begins,
        ends,
        section.cron or "",
        section.zone,
        section.length or timedelta(0),
    )


def silenced(alert: Alert, silences: Iterable[Silence], now: datetime) -> SilencedNow | None:
    """Until when no one is notified of an alert, and why; None = somebody is. The longest silence counts."""
    held = [(until, one.why) for one in silences if one.meets(alert) and (until := one.until(now)) is not None]
    return SilencedNow(*max(held)) if held else None
