"""When scores of a series came, and how long it may be silent before that is unusual for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

LEAST = 20  # scores from which on anything is said of a silence
USUAL = 2  # times the longest silence before: of gaps that come at random, few are so long
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Hearing:
    """When scores of a series came.

    Attributes:
        n: how many came.
        last: when the last came; None before the first.
        gaps: day (ordinal) -> seconds of the longest silence that ended on it.
    """

    n: int = 0
    last: datetime | None = None
    gaps: Mapping[int, float] = field(default_factory=dict)

    def after(self, times: Iterable[datetime], day: int, oldest: int, since: datetime | None) -> Hearing:
        """With more scores of one day.

        Args:
            times: when they came, in order.
            day: ordinal.
            oldest: gaps of days before it are forgotten.
            since: no silence counts from before it, such as when nothing came at all; None = from the last score on.
        """
        n, last, longest = self.n, self.last, self.gaps.get(day, 0.0)
        for at in times:
            if last is not None:
                begun = last if since is None else max(last, since)
                longest = max(longest, (at - begun).total_seconds())
            n, last = n + 1, at if last is None else max(last, at)
        return Hearing(n, last, {one: gap for one, gap in self.gaps.items() if one >= oldest} | {day: longest})

    def until(self, day: int, now: datetime) -> Hearing:
        """Without the silences of later days (ordinal): the clock had been wrong, and the last came by now."""
        gaps = {one: gap for one, gap in self.gaps.items() if one <= day}
        return Hearing(self.n, None if self.last is None else min(self.last, now), gaps)

    def wait(self, least: timedelta) -> timedelta | None:
        """How long it must be silent until that is told: `least`, but no less than twice its longest silence so far.

        None where fewer than 20 scores say what is usual.

        >>> noon, hour = datetime(2026, 1, 1, 12), timedelta(hours=1)
        >>> nightly = Hearing().after([noon + n * hour for n in (*range(20), 30)], 1, 0, None)
        >>> nightly.wait(6 * hour).total_seconds() / 3600, Hearing().wait(hour)
        (22.0, None)
        """
        if self.n < LEAST:
            return None
        usual = USUAL * max(self.gaps.values(), default=0.0)
        return least if usual <= least.total_seconds() else timedelta(hours=ceil(usual / HOUR))
