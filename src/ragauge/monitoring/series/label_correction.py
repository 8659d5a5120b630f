"""Days of traffic on which people labeled enough answers of a draw to correct the judge's mean."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple


class CorrectedDay(NamedTuple):
    """A metric on one day by people's labels: its mean with a 95 % interval, beside the judge's own mean.

    Attributes:
        day: UTC.
        mean: label-corrected.
        low: end of its interval.
        high: other end.
        judge_mean: the judge's own.
        labels: labeled answers.
    """

    day: date
    mean: float
    low: float
    high: float
    judge_mean: float
    labels: int
