"""Charts of studies: bars a trial, lines over budgets or cutoffs, quality against cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragauge.analysis.studies.figures import ChartPoint, StudyChart
from ragauge.reporting.charts.drawing import FONT, ROW, colour, data, draw, names_axis
from ragauge.reporting.words import line
from ragauge.text.messages import three_digits

if TYPE_CHECKING:
    import altair as alt

HUES = ("accent", "good", "warn", "bad", "soft", "ink")     # of the style sheet, in turn
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
HEIGHT = 240
WIDTH = 560
MOST_TICKS = 8     # of an axis on which every value measured is named
NAMED = 60     # characters of a series


def study_chart(chart: StudyChart) -> str:
    """One chart as SVG; "" where it has no point."""
    if not chart.points:
        return ""
    rows = [_row(chart, one) for one in chart.points]
    return _bars(chart, rows) if chart.mark == "bars" else _over_numbers(chart, rows)


def _row(chart: StudyChart, one: ChartPoint) -> dict[str, Any]:
    ends = "" if one.low is None or one.high is None else f" [{three_digits(one.low)}, {three_digits(one.high)}]"
    at = "" if isinstance(one.x, str) else f" at {three_digits(one.x)}"
    named = " ".join(filter(None, (one.x if isinstance(one.x, str) else "", one.series, one.label)))
    return {
        "x": one.x, "y": one.y, "series": line(one.series, NAMED), "label": line(one.label, NAMED),
        "low": one.y if one.low is None else one.low, "high": one.y if one.high is None else one.high,
        "says": line(f"{named}: {chart.y} {three_digits(one.y)}{ends}{at}", 300),
    }     # fmt: skip


def _colours(rows: list[dict[str, Any]], hues_of: tuple[str, ...] = HUES) -> dict[str, Any]:
    """Colour and shape by series, told by a legend where there are several."""
    import altair as alt

    names = list(dict.fromkeys(row["series"] for row in rows))
    hues, shapes = ([kinds[n % len(kinds)] for n in range(len(names))] for kinds in (hues_of, SHAPES))
    legend = alt.Legend(
        title=None, orient="bottom", columns=2, labelLimit=260, labelFont=FONT, labelFontSize=12,
    ) if len(names) > 1 else None     # fmt: skip
    return {
        "color": alt.Color("series:N", sort=None, legend=legend, scale=alt.Scale(
            domain=names, range=[colour(hue) for hue in hues])),
        "shape": alt.Shape("series:N", sort=None, legend=legend, scale=alt.Scale(domain=names, range=shapes)),
    }     # fmt: skip


def _bars(chart: StudyChart, rows: list[dict[str, Any]]) -> str:
    import altair as alt

    many = len({row["series"] for row in rows}) > 1
    hue = {"fill": _colours(rows)["color"]} if many else {"fill": alt.value(colour("bar"))}
    axis = alt.Axis(title=chart.y, tickCount=5)
    base = alt.Chart(data(rows)).encode(y=alt.Y("x:N", sort=None, axis=names_axis(260)), description="says:N")
    offset = {"yOffset": alt.YOffset("series:N", sort=None)} if many else {}
    bar = base.mark_bar(cornerRadiusEnd=2).encode(x=alt.X("y:Q", axis=axis), **offset, **hue)
    rule = base.mark_rule(stroke=colour("ink"), strokeWidth=1.5, opacity=0.75).encode(
        x=alt.X("low:Q", axis=axis), x2="high:Q", **offset
    )
    return draw(alt.layer(bar, rule), ROW * len(rows), WIDTH)


def _over_numbers(chart: StudyChart, rows: list[dict[str, Any]]) -> str:
    import altair as alt

    at = sorted({float(row["x"]) for row in rows})
    scale = alt.Scale(type="log" if chart.log else "linear", zero=False, nice=False, padding=24)
    few = chart.mark == "lines" and len(at) <= MOST_TICKS     # then what was measured is named
    ticks = alt.Axis(values=at) if few else alt.Axis(tickCount=6)
    x = alt.X("x:Q", title=chart.x, scale=scale, axis=ticks)
    y = alt.Y("y:Q", title=chart.y, scale=alt.Scale(zero=False, padding=8))
    base = alt.Chart(data(rows)).encode(x=x, description="says:N")
    hues = _colours(rows, HUES if chart.mark == "lines" else ("accent", "soft", *HUES[1:4]))
    layers: list[alt.Chart] = []
    if chart.mark == "lines":
        layers.append(base.mark_line(strokeWidth=2).encode(y=y, color=hues["color"]))
    if any(row["low"] != row["high"] for row in rows):
        ends = alt.Y("low:Q", title=chart.y, scale=alt.Scale(zero=False, padding=8))
        layers.append(base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(y=ends, y2="high:Q", color=hues["color"]))
    layers.append(base.mark_point(filled=True, size=70, opacity=1).encode(y=y, **hues))
    if any(row["label"] for row in rows):
        layers.append(base.mark_text(dx=9, align="left", limit=200).encode(y=y, text="label:N"))
    return draw(alt.layer(*layers), HEIGHT, WIDTH)
