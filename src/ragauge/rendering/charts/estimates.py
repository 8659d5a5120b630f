"""Means with their intervals: by place, by stage, by length; and the spread of latencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.core.messages import number
from ragauge.rendering.charts.svg import ROW, colour, data, draw, linked, names_axis, share_axis
from ragauge.rendering.words import estimate, line
from ragauge.scores.results.overview import Alignment, MeanEstimate, Timing


@dataclass(frozen=True, slots=True)
class Point:
    """One mean with its interval, its name, and where its mark leads."""

    name: str
    found: MeanEstimate
    link: str = ""


def points(shown: Sequence[Point], title: str, *, bars: bool = False, hue: str = "bar") -> str:
    """Shares from 0 to 1, a row each: dots (or bars) with the interval as a line; "" when none has a mean."""
    rows: list[dict[str, object]] = [
        {
            "name": f"{line(point.name, 60)}  ({point.found.n})",
            "mean": point.found.mean,
            "link": point.link,
            "low": point.found.interval.low if point.found.interval else point.found.mean,
            "high": point.found.interval.high if point.found.interval else point.found.mean,
            "says": f"{line(point.name)}: {estimate(point.found)}, n = {point.found.n}",
        }
        for point in shown
        if point.found.mean is not None
    ]
    if not rows:
        return ""
    import altair as alt

    scale = alt.Scale(domain=[0, 1])
    base = alt.Chart(data(rows)).encode(y=alt.Y("name:N", sort=None, axis=names_axis()), description="says:N")
    x = alt.X("mean:Q", scale=scale, axis=share_axis(title))
    rule = base.mark_rule(stroke=colour("ink" if bars else hue), strokeWidth=1.5 if bars else 3, opacity=0.75).encode(
        x=alt.X("low:Q", scale=scale, axis=share_axis(title)), x2="high:Q", **linked(rows)
    )
    if bars:
        body = base.mark_bar(cornerRadiusEnd=2, size=ROW - 10).encode(x=x, fill=alt.value(colour(hue)), **linked(rows))
        return draw(alt.layer(body, rule), ROW * len(rows))
    body = base.mark_point(filled=True, size=75, fill=colour("accent"), stroke=None).encode(x=x, **linked(rows))
    return draw(alt.layer(rule, body), ROW * len(rows))


def ranks(alignment: Alignment, links: Sequence[str], relevant: Sequence[str]) -> str:
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
            "tells": f"rank {rank.rank}: used in {rank.relevant_used} of {rank.relevant} answers where relevant",
        }
        for rank, link, leads in zip(alignment.ranks, links, relevant, strict=True)
        if rank.n
    ]
    if not rows:
        return ""
    base = alt.Chart(data(rows)).encode(
        x=alt.X("rank:O", sort=None, axis=alt.Axis(title="rank of the passage", labelAngle=0, ticks=False))
    )
    scale = alt.Scale(domain=[0, 1])
    body = base.mark_bar(cornerRadiusEnd=2, fill=colour("bar")).encode(
        y=alt.Y("used:Q", scale=scale, axis=share_axis("share of answers")), description="says:N", **linked(rows)
    )
    if all(row["relevant"] is None for row in rows):
        return draw(body, 150)
    mark = base.mark_point(shape="diamond", filled=True, size=130, fill=colour("ink"), stroke=colour("page")).encode(
        y=alt.Y("relevant:Q", scale=scale, axis=share_axis("share of answers")),
        description="tells:N",
        **linked(rows, "leads"),
    )
    return draw(alt.layer(body, mark), 150)


def times(timings: Sequence[Timing], links: Sequence[tuple[str, str, str]]) -> str:
    """Per stage, the median as a dot, a line to p95 and a thin one to p99; links are those of the three."""
    rows: list[dict[str, object]] = [
        {
            "stage": line(timing.stage, 40),
            "p50": timing.p50,
            "p95": timing.p95,
            "p99": timing.p99,
            "link": every,
            "middle": middle,
            "tail": tail,
            "says": f"{line(timing.stage)}: median {number(timing.p50, 'amount')} ms",
            "says95": f"{line(timing.stage)}: 95th percentile {number(timing.p95, 'amount')} ms",
            "says99": f"{line(timing.stage)}: 99th percentile {number(timing.p99, 'amount')} ms",
        }
        for timing, (every, middle, tail) in zip(timings, links, strict=True)
    ]
    if not rows:
        return ""
    import altair as alt

    axis = alt.Axis(title="milliseconds", tickCount=5)
    base = alt.Chart(data(rows)).encode(y=alt.Y("stage:N", sort=None, axis=names_axis()))
    thin = base.mark_rule(stroke=colour("bar"), strokeWidth=2.5).encode(
        x=alt.X("p95:Q", axis=axis), x2="p99:Q", description="says99:N", **linked(rows, "tail")
    )
    thick = base.mark_rule(stroke=colour("bar"), strokeWidth=7, opacity=0.55).encode(
        x="p50:Q", x2="p95:Q", description="says95:N", **linked(rows, "middle")
    )
    dot = base.mark_point(filled=True, size=90, fill=colour("accent"), stroke=colour("page")).encode(
        x="p50:Q", description="says:N", **linked(rows)
    )
    return draw(alt.layer(thin, thick, dot), ROW * len(rows))
