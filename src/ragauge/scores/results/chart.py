"""A chart of a section, as its marks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A mark of a chart.

    Attributes:
        x: a number; of bars the name of the bar.
        y: its height; of bars their length.
        series: which line, or which colour.
        low: lower end of its interval; None = none is drawn.
        high: upper end.
        label: what stands beside it, such as knee.
    """

    x: float | str
    y: float
    series: str = ""
    low: float | None = None
    high: float | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class ReportChart:
    """A chart of the HTML report; other outputs leave it out, and JSON holds its points.

    Attributes:
        title: what it shows.
        mark: bars (one a name, lying), lines (one a series), points, forest (a point with its interval a name, around
            the line of 0, series being a verdict), or heat (a cell for x and series, the darker the greater y).
        x: title of the axis of x; of bars and forest unused.
        y: title of the axis of y; of bars and forest that of lengths, of heat that of the series.
        points: its marks, in order.
        log: whether x is logarithmic; then every x lies above 0.
        since: the day that x = 0 stands for, where x counts days: dates stand on its axis then.
    """

    title: str
    mark: Literal["bars", "lines", "points", "forest", "heat"]
    x: str
    y: str
    points: tuple[ChartPoint, ...]
    log: bool = False
    since: date | None = None
