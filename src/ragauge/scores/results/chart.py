"""A chart of a section, as its marks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A mark of a chart."""

    x: float | str  #: a number; of bars the name of the bar.
    y: float  #: its height; of bars their length.
    series: str = ""  #: which line, or which colour.
    low: float | None = None  #: lower end of its interval; None = none is drawn.
    high: float | None = None  #: upper end.
    label: str = ""  #: what stands beside it, such as knee.


@dataclass(frozen=True, slots=True)
class ReportChart:
    """A chart of the HTML report; other outputs leave it out, and JSON holds its points."""

    title: str  #: what it shows.
    #: bars (one a name, lying), lines (one a series), points, forest (a point with its interval a name, around the line
    #: of 0, series being a verdict), or heat (a cell for x and series, the darker the greater y).
    mark: Literal["bars", "lines", "points", "forest", "heat"]
    x: str  #: title of the axis of x; of bars and forest unused.
    y: str  #: title of the axis of y; of bars and forest that of lengths, of heat that of the series.
    points: tuple[ChartPoint, ...]  #: its marks, in order.
    log: bool = False  #: whether x is logarithmic; then every x lies above 0.
    since: date | None = None  #: the day that x = 0 stands for, where x counts days: dates stand on its axis then.
