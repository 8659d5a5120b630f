"""Which values of a measure are usual: learned from days that people marked good and bad."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import sqrt
from statistics import fmean, stdev
from typing import Literal, NamedTuple

Marked = Literal["good", "bad"]
MIN_GOOD_DAYS = 5  # good days that a band takes
OUTSIDE_CHANCE = 0.01  # the chance that a day like the good ones lies outside


@dataclass(frozen=True, slots=True)
class MarkedPeriod:
    """Days of which somebody said how production was."""

    since: date  #: the first day.
    until: date  #: the last one, which counts too.
    was: Marked  #: good or bad.
    why: str = ""  #: in their words; "" = not said.


class Band(NamedTuple):
    """The values that are usual."""

    low: float  #: the least.
    high: float  #: the greatest.
    good: int  #: days marked good that it was learned from.
    bad: int  #: days marked bad.
    caught: int  #: how many of the bad days lie outside.


@dataclass(frozen=True, slots=True)
class DriftMeasure:
    """One thing that is measured of a day, beside what is usual. It explains, and decides nothing."""

    of: str  #: what it is measured on: queries, documents, requests, or the runs of a schedule.
    name: str  #: of the measure.
    value: float  #: of the day.
    band: Band | None = None  #: None where fewer than five days with this measure are marked good.

    @property
    def is_outside(self) -> bool | None:
        """Whether it is unusual; None without a band."""
        return None if self.band is None else not self.band.low <= self.value <= self.band.high


def list_marked_days(periods: Iterable[MarkedPeriod]) -> dict[date, Marked]:
    """Each day that was marked; where periods overlap, what was said last counts.

    >>> sample = MarkedPeriod(date(2026, 1, 1), date(2026, 1, 2), "good")
    >>> sorted(list_marked_days([sample, MarkedPeriod(date(2026, 1, 2), date(2026, 1, 2), "bad")]).values())
    ['bad', 'good']
    """
    return {
        period.since + timedelta(days=offset): period.was
        for period in periods
        for offset in range((period.until - period.since).days + 1)
    }


def learn_band(good: Sequence[float], bad: Sequence[float]) -> Band | None:
    """The band of a measure: where 99 % of further days like the good ones lie, narrowed by the bad ones.

    mean ± t · s · √(1 + 1/n),  t the 99.5 % quantile of Student's t with n − 1 degrees of freedom, but at least as
    wide as the good days' values. Where bad days lie beyond all good ones, the limit on that side is at most halfway
    between the two.

    Args:
        good: values of the days marked good, n of them.
        bad: of those marked bad.

    Returns:
        None with fewer than five good days.

    Source: Hahn and Meeker (1991), Statistical Intervals: the prediction interval for one further observation.

    >>> learn_band([1.0] * 4, [])
    >>> learn_band([0.1, 0.2, 0.1, 0.2, 0.15], [0.3, 0.12]).high
    0.25
    """
    from scipy.stats import t

    n = len(good)
    if n < MIN_GOOD_DAYS:
        return None
    mean, reach = fmean(good), float(t.ppf(1 - OUTSIDE_CHANCE / 2, n - 1)) * stdev(good) * sqrt(1 + 1 / n)
    lowest, highest = min(good), max(good)
    low, high = min(lowest, mean - reach), max(highest, mean + reach)
    if above := [value for value in bad if value > highest]:
        high = min(high, (highest + min(above)) / 2)
    if below := [value for value in bad if value < lowest]:
        low = max(low, (lowest + max(below)) / 2)
    caught = sum(not low <= value <= high for value in bad)
    return Band(low, high, n, len(bad), caught)
