"""Days of traffic on which people labeled enough answers of a draw to correct the judge's mean."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple


class CorrectedDay(NamedTuple):
    """A metric on one day by people's labels: its mean with a 95 % interval, beside the judge's own mean."""

    day: date  #: UTC.
    mean: float  #: label-corrected.
    low: float  #: end of its interval.
    high: float  #: other end.
    judge_mean: float  #: the judge's own.
    labels: int  #: labeled answers.
