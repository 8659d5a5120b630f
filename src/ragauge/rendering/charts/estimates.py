"""Means with their intervals: by place, by stage, by length; and the spread of latencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.core.messages import format_value
from ragauge.rendering.charts.svg import (
    ROW_HEIGHT_PX,
    build_data,
    build_name_axis,
    build_share_axis,
    draw_chart,
    encode_link,
    get_color,
)
from ragauge.rendering.words import estimate, to_line
from ragauge.scores.results.overview import Alignment, MeanEstimate, Timing


@dataclass(frozen=True, slots=True)
class Point:
    """One mean with its interval, its name, and where its mark leads."""

    name: str
    estimate: MeanEstimate
    link: str = ""


def draw_estimates(chart_points: Sequence[Point], title: str, *, bars: bool = False, hue: str = "bar") -> str:
    """Shares from 0 to 1, a row each: dots (or bars) with the interval as a line; "" when none has a mean."""
    rows: list[dict[str, object]] = [
        {
            "name": f"{to_line(point.name, 60)}  ({point.estimate.n})",
            "mean": point.estimate.mean,
            "link": point.link,
            "low": point.estimate.interval.low if point.estimate.interval else point.estimate.mean,
            "high": point.estimate.interval.high if point.estimate.interval else point.estimate.mean,
            "says": f"{to_line(point.name)}: {estimate(point.estimate)}, n = {point.estimate.n}",
        }
        for point in chart_points
        if point.estimate.mean is not None
    ]
    if not rows:
        return ""
    import altair as alt

    scale = alt.Scale(domain=[0, 1])
    base = alt.Chart(build_data(rows)).encode(
        y=alt.Y("name:N", sort=None, axis=build_name_axis()), description=alt.Description("says:N")
    )
    x = alt.X("mean:Q", scale=scale, axis=build_share_axis(title))
    rule = base.mark_rule(
        stroke=get_color("ink" if bars else hue), strokeWidth=1.5 if bars else 3, opacity=0.75
    ).encode(x=alt.X("low:Q", scale=scale, axis=build_share_axis(title)), x2=alt.X2("high:Q"), **encode_link(rows))
    if bars:
        body = base.mark_bar(cornerRadiusEnd=2, size=ROW_HEIGHT_PX - 10).encode(
            x=x, fill=alt.value(get_color(hue)), **encode_link(rows)
        )
        return draw_chart(alt.layer(body, rule), ROW_HEIGHT_PX * len(rows))
    body = base.mark_point(filled=True, size=75, fill=get_color("accent"), stroke=None).encode(x=x, **encode_link(rows))
    return draw_chart(alt.layer(rule, body), ROW_HEIGHT_PX * len(rows))


def draw_rank_use(alignment: Alignment, links: Sequence[str], relevant: Sequence[str]) -> str:
    """Per rank, in how many answers its passage was used; a mark where only relevant passages count.

    Args:
        alignment: what to draw.
        links: where each bar leads.
        relevant: where each mark leads.
    """
    import altair as alt

    rows: list[dict[str, object]] = [
        {
            "rank": str(rank.rank),
            "used": rank.used / rank.n,
            "link": link,
            "leads": leads,
            "relevant": None if not rank.relevant else (rank.relevant_used or 0) / rank.relevant,
            "says": f"rank {rank.rank}: used in {rank.used} of {rank.n} answers",
            "tells": f"rank {rank.rank}: used in {rank.relevant_used} of {rank.relevant} answers where it is relevant",
        }
        for rank, link, leads in zip(alignment.ranks, links, relevant, strict=True)
        if rank.n
    ]
    if not rows:
        return ""
    base = alt.Chart(build_data(rows)).encode(
        x=alt.X("rank:O", sort=None, axis=alt.Axis(title="rank of the passage", labelAngle=0, ticks=False))
    )
    scale = alt.Scale(domain=[0, 1])
    body = base.mark_bar(cornerRadiusEnd=2, fill=get_color("bar")).encode(
        y=alt.Y("used:Q", scale=scale, axis=build_share_axis("share of answers")),
        description=alt.Description("says:N"),
        **encode_link(rows),
    )
    if all(row["relevant"] is None for row in rows):
        return draw_chart(body, 150)
    mark = base.mark_point(
        shape="diamond", filled=True, size=130, fill=get_color("ink"), stroke=get_color("page")
    ).encode(
        y=alt.Y("relevant:Q", scale=scale, axis=build_share_axis("share of answers")),
        description=alt.Description("tells:N"),
        **encode_link(rows, "leads"),
    )
    return draw_chart(alt.layer(body, mark), 150)


def draw_timings(timings: Sequence[Timing], links: Sequence[tuple[str, str, str]]) -> str:
    """Per stage, the median as a dot, a line to p95 and a thin one to p99; links are those of the three."""
    rows: list[dict[str, object]] = [
        {
            "stage": to_line(timing.stage, 40),
            "p50": timing.p50,
            "p95": timing.p95,
            "p99": timing.p99,
            "link": every,
            "middle": middle,
            "tail": tail,
            "says": f"{to_line(timing.stage)}: median {format_value(timing.p50, 'amount')} ms",
            "says95": f"{to_line(timing.stage)}: 95th percentile {format_value(timing.p95, 'amount')} ms",
            "says99": f"{to_line(timing.stage)}: 99th percentile {format_value(timing.p99, 'amount')} ms",
        }
        for timing, (every, middle, tail) in zip(timings, links, strict=True)
    ]
    if not rows:
        return ""
    import altair as alt

    axis = alt.Axis(title="milliseconds", tickCount=5)
    base = alt.Chart(build_data(rows)).encode(y=alt.Y("stage:N", sort=None, axis=build_name_axis()))
    thin = base.mark_rule(stroke=get_color("bar"), strokeWidth=2.5).encode(
        x=alt.X("p95:Q", axis=axis),
        x2=alt.X2("p99:Q"),
        description=alt.Description("says99:N"),
        **encode_link(rows, "tail"),
    )
    thick = base.mark_rule(stroke=get_color("bar"), strokeWidth=7, opacity=0.55).encode(
        x=alt.X("p50:Q"), x2=alt.X2("p95:Q"), description=alt.Description("says95:N"), **encode_link(rows, "middle")
    )
    dot = base.mark_point(filled=True, size=90, fill=get_color("accent"), stroke=get_color("page")).encode(
        x=alt.X("p50:Q"), description=alt.Description("says:N"), **encode_link(rows)
    )
    return draw_chart(alt.layer(thin, thick, dot), ROW_HEIGHT_PX * len(rows))
