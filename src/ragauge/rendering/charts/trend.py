"""A metric over the runs of a set, with intervals; runs that are not to be compared are not joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.rendering.charts.svg import build_data, draw_chart, encode_link, get_color
from ragauge.rendering.words import to_line

HEIGHT = 200
MAX_RUNS = 60  # drawn, the newest


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One run."""

    name: str  #: of the run.
    mean: float  #: of the metric.
    low: float  #: where its interval begins.
    high: float  #: where it ends.
    piece: int  #: number of the runs that it is joined with.
    changed: bool  #: whether settings, code, judge or set differ from the run before.
    link: str  #: where its mark leads.
    says: str  #: its tooltip.


def draw_trend(points: Sequence[TrendPoint]) -> str:
    """The points from the oldest to the newest as SVG; "" where there are fewer than two."""
    import altair as alt

    recent_points = points[-MAX_RUNS:]
    if len(recent_points) < 2:
        return ""
    rows = [
        {
            "at": index,
            "name": to_line(point.name, 20),
            "mean": point.mean,
            "low": point.low,
            "high": point.high,
            "piece": point.piece,
            "shape": "changed" if point.changed else "same",
            "link": point.link,
            "says": point.says,
        }
        for index, point in enumerate(recent_points)
    ]
    names = " : ".join(f'datum.value == {row["at"]} ? "{index + 1}"' for index, row in enumerate(rows))
    indices = [float(index) for index in range(len(rows))]
    axis = alt.Axis(title="runs, newest on the right", values=indices, labelExpr=f'{names} : ""', grid=False)
    x = alt.X("at:Q", axis=axis, scale=alt.Scale(domain=[-0.5, len(rows) - 0.5], nice=False))
    scale = alt.Scale(zero=False, nice=True, padding=6)
    base = alt.Chart(build_data(rows))
    intervals = base.mark_rule(strokeWidth=4, opacity=0.3, stroke=get_color("accent")).encode(
        x=x,
        y=alt.Y("low:Q", scale=scale, axis=alt.Axis(title=None, tickCount=5, format=".3~f")),
        y2=alt.Y2("high:Q"),
        description=alt.Description("says:N"),
        **encode_link(rows),
    )
    y = alt.Y("mean:Q", scale=scale)
    lines = base.mark_line(stroke=get_color("accent"), strokeWidth=1.5).encode(x=x, y=y, detail=alt.Detail("piece:N"))
    kinds = ["same", "changed"]
    shapes, colors = (
        alt.Scale(domain=kinds, range=scale_range)
        for scale_range in (["circle", "diamond"], [get_color("accent"), get_color("warn")])
    )
    marks = base.mark_point(filled=True, size=70, opacity=1, stroke=None).encode(
        x=x,
        y=y,
        description=alt.Description("says:N"),
        **encode_link(rows),
        shape=alt.Shape("shape:N", scale=shapes, legend=None),
        fill=alt.Fill("shape:N", scale=colors, legend=None),
    )
    return draw_chart(alt.layer(intervals, lines, marks), HEIGHT)
