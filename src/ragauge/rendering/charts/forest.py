"""Differences with their intervals, a row each, around the line of no difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.rendering.charts.svg import ROW_HEIGHT_PX, build_data, build_name_axis, draw_chart, encode_link, get_color
from ragauge.rendering.words import to_line

HUES = {"worse": "bad", "better": "good", "changed": "warn"}
SHAPES = {"bad": "triangle-down", "good": "triangle-up", "warn": "diamond", "soft": "circle"}
# ends of a scale from −end to end: the first that holds every interval
SCALES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 2.0, 5.0, 10.0, 50.0)


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One row."""

    name: str  #: of the metric, or of the segment and the metric.
    mean: float  #: the difference.
    low: float  #: lower end of its interval.
    high: float  #: upper end.
    verdict: str  #: gives the colour; better and worse are told apart by their shape too.
    link: str  #: where the mark leads.
    says: str  #: the numbers in words.
    #: ends of the interval including judge error, drawn lighter behind; None = the same.
    far: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Of what is drawn."""
        return self.far or (self.low, self.high)


def draw_forest(forest_rows: Sequence[ForestRow], title: str, *, percent: bool = False) -> str:
    """The plot; "" for no row. A change is a filled mark (▲ better, ▼ worse), anything else an open one.

    Args:
        forest_rows: from the top.
        title: of the axis.
        percent: differences are shares of what an amount was.
    """
    if not forest_rows:
        return ""
    import altair as alt

    greatest = max(abs(end) for row in forest_rows for end in (*row.ends, row.low, row.high))
    end = next((limit for limit in SCALES if greatest <= limit), greatest)
    rows = _list_rows(forest_rows)
    scale = alt.Scale(domain=[-end, end], nice=False)
    axis = alt.Axis(
        title=title,
        tickCount=5,
        format="+.0%" if percent else "+.2~f",
        labelExpr="datum.value == 0 ? '0' : datum.label",
    )
    hues = alt.Scale(domain=list(SHAPES), range=[get_color(shape) for shape in SHAPES])
    shapes = alt.Scale(domain=list(SHAPES), range=list(SHAPES.values()))
    base = alt.Chart(build_data(rows)).encode(
        y=alt.Y("name:N", sort=None, axis=build_name_axis(220)),
        description=alt.Description("says:N"),
        **encode_link(rows),
    )
    x = alt.X("mean:Q", scale=scale, axis=axis)
    zero = (
        alt.Chart(build_data([{"at": 0.0}]))
        .mark_rule(stroke=get_color("soft"), strokeDash=[3, 3])
        .encode(x=alt.X("at:Q", scale=scale, axis=axis))
    )
    stroke = alt.Stroke("hue:N", scale=hues, legend=None)
    reach, behind = (
        base.mark_rule(strokeWidth=width, opacity=opacity).encode(
            x=alt.X(f"{ends}low:Q", scale=scale, axis=axis), x2=alt.X2(f"{ends}high:Q"), stroke=stroke
        )
        for ends, width, opacity in (("", 2.5, 0.75), ("far_", 6, 0.22))
    )
    mark = base.mark_point(size=80, filled=True, stroke=None).encode(
        x=x, fill=alt.Fill("hue:N", scale=hues, legend=None), shape=alt.Shape("hue:N", scale=shapes, legend=None)
    )
    return draw_chart(
        alt.layer(zero, *([behind] if any(row.far for row in forest_rows) else []), reach, mark),
        ROW_HEIGHT_PX * len(rows),
    )


def _list_rows(forest_rows: Sequence[ForestRow]) -> list[dict[str, Any]]:
    return [
        {
            "name": to_line(row.name, 60),
            "mean": row.mean,
            "low": row.low,
            "high": row.high,
            "link": row.link,
            "far_low": row.ends[0],
            "far_high": row.ends[1],
            "says": to_line(row.says, 300),
            "hue": HUES.get(row.verdict, "soft"),
            "place": index,
        }
        for index, row in enumerate(forest_rows)
    ]
