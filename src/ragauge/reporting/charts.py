"""Charts as static SVG: no script, colours from the page, so that dark mode and print just work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.analysis.scorecard import Scorecard, Summary
from ragauge.reporting.words import estimate, safe, share

if TYPE_CHECKING:
    import altair as alt

WIDTH = 560
ROW = 26
MOST_ROWS = 12
MARGIN = {"left": 24, "right": 8, "top": 4, "bottom": 4}     # a reader's font may be wider than the measured one


def causes(card: Scorecard) -> str:
    """Failed examples by cause, most frequent first; "" when nothing failed. Each bar links to its cause's heading."""
    if not card.causes:
        return ""
    import altair as alt
    import polars as pl

    rows = [
        {"cause": cause or "no cause named", "count": count, "label": share(count, card.failed_examples)}
        for cause, count in list(card.causes.items())[:MOST_ROWS]
    ]
    most = max(card.causes.values())
    base = alt.Chart(pl.DataFrame(rows)).encode(
        y=alt.Y("cause:N", sort=None, title=None, axis=alt.Axis(labelLimit=200)),
        x=alt.X("count:Q", title="failed examples", scale=alt.Scale(domain=[0, most * 1.35]), axis=_whole(most)),
    )
    bars = base.mark_bar(color="var(--bad)", cornerRadiusEnd=2)
    texts = base.mark_text(align="left", dx=6, color="currentColor").encode(text="label:N")
    return _svg(alt.layer(bars, texts).properties(width=WIDTH, height=ROW * len(rows)))


def segments(values: Mapping[str, Sequence[Summary]], names: Sequence[str]) -> str:
    """Mean per segment value and metric, darker is better, with the interval written in; "" when there is none."""
    rows = [
        {
            "value": f"{safe(value)} ({found[name].n})",
            "metric": name,
            "good": _goodness(found[name]),
            "label": estimate(found[name]),
        }
        for value, summaries in list(values.items())[:MOST_ROWS]
        for found in [{summary.metric: summary for summary in summaries}]
        for name in names
        if name in found and found[name].mean is not None
    ]
    if not rows:
        return ""
    import altair as alt
    import polars as pl

    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X("metric:N", sort=None, title=None, axis=alt.Axis(orient="top", labelAngle=0, labelLimit=160)),
        y=alt.Y("value:N", sort=None, title=None, axis=alt.Axis(labelLimit=220)),
    )
    boxes = base.mark_rect(color="var(--good)", stroke="var(--page)", strokeWidth=2).encode(
        opacity=alt.Opacity("good:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 0.55]), legend=None)
    )
    texts = base.mark_text(color="currentColor", fontSize=12).encode(text="label:N")
    shown = len({row["value"] for row in rows})
    return _svg(alt.layer(boxes, texts).properties(width=145 * len(names), height=(ROW + 6) * shown))


def _goodness(summary: Summary) -> float:
    value = min(1.0, max(0.0, summary.mean or 0.0))
    return 1 - value if summary.direction == "lower" else value


def _whole(most: int) -> alt.Axis:
    import altair as alt

    return alt.Axis(tickCount=min(most, 6), format="d", tickMinStep=1)


def _svg(chart: alt.LayerChart | alt.FacetChart) -> str:
    import vl_convert

    font = "system-ui, sans-serif"
    axis = {
        "labelColor": "currentColor", "titleColor": "currentColor", "domainColor": "var(--line)",
        "tickColor": "var(--line)", "gridColor": "var(--line)", "labelFont": font, "titleFont": font,
        "labelFontSize": 13, "titleFontWeight": "normal",
    }  # fmt: skip
    spec: dict[str, Any] = chart.configure(
        background="transparent", padding=MARGIN, axis=axis, view=_view(), text=_text(font)
    ).to_dict()
    drawn: str = vl_convert.vegalite_to_svg(spec)
    return drawn


def _view() -> Any:
    import altair as alt

    return alt.ViewConfig(stroke=None)


def _text(font: str) -> Any:
    import altair as alt

    return alt.MarkConfig(font=font, fontSize=13)
