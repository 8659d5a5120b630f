"""When scores of a series came, and how long it may be silent before that is unusual for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil

MIN_SCORES = 20  # scores from which on anything is said of a silence
SILENCE_FACTOR = 2  # times the longest silence before: of gaps that come at random, few are so long
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class ScoreTiming:
    """When scores of a series came."""

    n: int = 0  #: how many came.
    last: datetime | None = None  #: when the last came; None before the first.
    #: day (ordinal) -> seconds of the longest silence that ended on it.
    gaps: Mapping[int, float] = field(default_factory=dict)

    def after(self, times: Iterable[datetime], day: int, oldest: int, since: datetime | None) -> ScoreTiming:
        """With more scores of one day.

        Args:
            times: when they came, in order.
            day: ordinal.
            oldest: gaps of days before it are forgotten.
            since: no silence counts from before it, such as when nothing came at all; None = from the last score on.
        """
        n, last, longest = self.n, self.last, self.gaps.get(day, 0.0)
        for timestamp in times:
            if last is not None:
                silence_start = last if since is None else max(last, since)
                longest = max(longest, (timestamp - silence_start).total_seconds())
            n, last = n + 1, timestamp if last is None else max(last, timestamp)
        return ScoreTiming(
            n, last, {gap_day: gap for gap_day, gap in self.gaps.items() if gap_day >= oldest} | {day: longest}
        )

    def drop_later_days(self, day: int, now: datetime) -> ScoreTiming:
        """Without the silences of later days (ordinal): the clock had been wrong, and the last came by now."""
        gaps = {gap_day: gap for gap_day, gap in self.gaps.items() if gap_day <= day}
        return ScoreTiming(self.n, None if self.last is None else min(self.last, now), gaps)

    def compute_wait(self, min_wait: timedelta) -> timedelta | None:
        """How long it must be silent until that is told: `min_wait`, but no less than twice its longest silence so far.

        None where fewer than 20 scores say what is usual.

        >>> noon, hour = datetime(2026, 1, 1, 12), timedelta(hours=1)
        >>> nightly = ScoreTiming().after([noon + n * hour for n in (*range(20), 30)], 1, 0, None)
        >>> nightly.compute_wait(6 * hour).total_seconds() / 3600, ScoreTiming().compute_wait(hour)
        (22.0, None)
        """
        if self.n < MIN_SCORES:
            return None
        usual = SILENCE_FACTOR * max(self.gaps.values(), default=0.0)
        return min_wait if usual <= min_wait.total_seconds() else timedelta(hours=ceil(usual / HOUR_S))
