"""Charts of studies: bars a trial, lines over cutoffs, quality against cost, effects, maps of two parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, get_args

from ragauge.core.messages import three_digits
from ragauge.rendering.charts.svg import FONT, ROW, colour, data, draw, names_axis
from ragauge.rendering.words import line
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.studies.effects import Verdict

if TYPE_CHECKING:
    import altair as alt

VERDICTS = get_args(Verdict)  # on effects
HUES = ("accent", "good", "warn", "bad", "soft", "ink")  # of the style sheet, in turn
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
HEIGHT = 240
WIDTH = 560
EPOCH = date(1970, 1, 1)
MOST_TICKS = 8  # of an axis on which every value measured is named
NAMED = 60  # characters of a series
LABEL = (6.2, 13)  # pixels of a label: a character's width, a line's height
DASHES = ([1, 0], [6, 3], [2, 2])  # of lines, where there are more series than colours
PLOT = 340  # pixels at least that points spread over, beside the room for labels
FARTHEST = 4  # lines that a label is moved by; one that has no room even there is left to the table


def study_chart(chart: ReportChart) -> str:
    """One chart as SVG; "" where it has no point."""
    if not chart.points:
        return ""
    rows = [_row(chart, one) for one in chart.points]
    drawn = {"bars": _bars, "forest": _forest, "heat": _heat}.get(chart.mark, _over_numbers)
    return drawn(chart, rows)


def _row(chart: ReportChart, one: ChartPoint) -> dict[str, Any]:
    ends = "" if one.low is None or one.high is None else f" [{three_digits(one.low)}, {three_digits(one.high)}]"
    at = "" if isinstance(one.x, str) else f" at {three_digits(one.x)}"
    if chart.since is not None and not isinstance(one.x, str):
        at = f" on {chart.since + timedelta(one.x)}"
    named = " ".join(filter(None, (one.x if isinstance(one.x, str) else "", one.series, one.label)))
    says = f"{named}: {chart.y} {three_digits(one.y)}{ends}{at}"
    if chart.mark == "heat":
        says = f"{chart.x} {one.x}, {chart.y} {one.series}: {three_digits(one.y)}"
    return {
        "x": one.x,
        "y": one.y,
        "series": line(one.series, NAMED),
        "label": line(one.label, NAMED),
        "low": one.y if one.low is None else one.low,
        "high": one.y if one.high is None else one.high,
        "says": line(says, 300),
    }


def _colours(rows: list[dict[str, Any]], names: Sequence[str], hues_of: Sequence[str] = HUES) -> dict[str, Any]:
    """Colour, shape and dash by series, no two alike, told by a legend where there are several."""
    import altair as alt

    several = len({row["series"] for row in rows}) > 1
    round_of = [n // len(hues_of) for n in range(len(names))]  # after all colours they come again, otherwise shaped
    hues = [colour(hues_of[n % len(hues_of)]) for n in range(len(names))]
    shapes = [SHAPES[(n + turn) % len(SHAPES)] for n, turn in enumerate(round_of)]
    legend = (
        alt.Legend(
            title=None,
            orient="bottom",
            columns=2,
            labelLimit=260,
            labelFont=FONT,
            labelFontSize=12,
            symbolOpacity=1,
            symbolStrokeWidth=2,
        )
        if several
        else None
    )
    return {
        "color": alt.Color("series:N", sort=None, legend=legend, scale=alt.Scale(domain=names, range=hues)),
        "shape": alt.Shape("series:N", sort=None, legend=legend, scale=alt.Scale(domain=names, range=shapes)),
        "strokeDash": alt.StrokeDash(
            "series:N",
            sort=None,
            legend=None,
            scale=alt.Scale(domain=names, range=[DASHES[turn % len(DASHES)] for turn in round_of]),
        ),
    }


def _apart(rows: list[dict[str, Any]], log: bool) -> list[dict[str, Any]]:
    """The rows with a label, each with label_y where it stands clear of points and of the other labels."""

    def place(value: float) -> float:
        return math.log(value) if log else value

    across, up = [place(row["x"]) for row in rows], [row[end] for row in rows for end in ("low", "high")]
    wide, high = (max(of) - min(of) or 1.0 for of in (across, up))
    taken: list[tuple[float, float, float]] = []  # left, right, middle, in pixels
    found = []
    for row, x in sorted(zip(rows, across, strict=True), key=lambda one: -one[0]["y"]):
        left, at = (x - min(across)) / wide * PLOT, (max(up) - row["y"]) / high * (HEIGHT - 16)
        right = left + 9 + LABEL[0] * len(row["label"])
        for lines in sorted(range(-FARTHEST, FARTHEST + 1), key=abs) if row["label"] else ():
            middle = at + lines * LABEL[1]
            if all(right < a or b < left or abs(middle - there) >= LABEL[1] for a, b, there in taken):
                taken.append((left, right, middle))
                found.append({**row, "label_y": max(up) - middle / (HEIGHT - 16) * high})
                break
    return found


def _bars(chart: ReportChart, rows: list[dict[str, Any]]) -> str:
    import altair as alt

    names = list(dict.fromkeys(row["series"] for row in rows))
    many = len(names) > 1
    hue = {"fill": _colours(rows, names)["color"]} if many else {"fill": alt.value(colour("bar"))}
    axis = alt.Axis(title=chart.y, tickCount=5)
    base = alt.Chart(data(rows)).encode(y=alt.Y("x:N", sort=None, axis=names_axis(260)), description="says:N")
    offset = {"yOffset": alt.YOffset("series:N", sort=None)} if many else {}
    bar = base.mark_bar(cornerRadiusEnd=2).encode(x=alt.X("y:Q", axis=axis), **offset, **hue)
    rule = base.mark_rule(stroke=colour("ink"), strokeWidth=1.5, opacity=0.75).encode(
        x=alt.X("low:Q", axis=axis), x2="high:Q", **offset
    )
    return draw(alt.layer(bar, rule), ROW * len(rows), WIDTH)


def _forest(chart: ReportChart, rows: list[dict[str, Any]]) -> str:
    import altair as alt

    hues = _colours(rows, [*VERDICTS], ("accent", "soft", "warn"))
    axis = alt.X("y:Q", axis=alt.Axis(title=chart.y, tickCount=6))
    base = alt.Chart(data(rows)).encode(y=alt.Y("x:N", sort=None, axis=names_axis(260)), description="says:N")
    none = alt.Chart(data([{"at": 0}])).mark_rule(stroke=colour("ink"), strokeDash=[3, 3]).encode(x=alt.X("at:Q"))
    ends = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", color=hues["color"])
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x=axis, color=hues["color"], shape=hues["shape"])
    return draw(alt.layer(none, ends, point), ROW * len({row["x"] for row in rows}), WIDTH)


def _heat(chart: ReportChart, rows: list[dict[str, Any]]) -> str:
    """A cell the darker the greater it is; faint enough for its number to be read in light and dark."""
    import altair as alt

    across = alt.X("x:N", sort=None, title=chart.x, axis=alt.Axis(labelAngle=0, ticks=False, domain=False))
    down = alt.Y("series:N", sort=None, title=chart.y, axis=alt.Axis(ticks=False, domain=False, labelLimit=160))
    base = alt.Chart(data(rows)).encode(x=across, y=down, description="says:N")
    least, most = min(row["y"] for row in rows), max(row["y"] for row in rows)
    share = alt.Opacity(
        "y:Q", legend=None, scale=alt.Scale(domain=[least, most if most > least else least + 1], range=[0.08, 0.55])
    )
    cell = base.mark_rect(fill=colour("accent"), stroke=colour("page"), strokeWidth=2).encode(opacity=share)
    return draw(alt.layer(cell, base.mark_text().encode(text="label:N")), 34 * len({r["series"] for r in rows}), WIDTH)


def _over_numbers(chart: ReportChart, rows: list[dict[str, Any]]) -> str:
    import altair as alt

    at = sorted({float(row["x"]) for row in rows})
    scale = alt.Scale(type="log" if chart.log else "linear", zero=False, nice=False, padding=24)
    few = chart.mark == "lines" and len(at) <= MOST_TICKS  # then what was measured is named
    ticks = alt.Axis(values=at) if few else alt.Axis(tickCount=6, labelBound=True)
    if chart.since is not None:
        day = f"utcFormat((datum.value + {(chart.since - EPOCH).days}) * 86400000, '%-d %b')"
        ticks = alt.Axis(values=at[:: math.ceil(len(at) / MOST_TICKS)], labelExpr=day)
    x = alt.X("x:Q", title=chart.x, scale=scale, axis=ticks)
    y = alt.Y("y:Q", title=chart.y, scale=alt.Scale(zero=False, padding=8))
    base = alt.Chart(data(sorted(rows, key=lambda row: row["series"] != "beaten"))).encode(x=x, description="says:N")
    names = sorted(dict.fromkeys(row["series"] for row in rows), key=lambda one: one == "beaten")
    hues = _colours(rows, names, HUES if chart.mark == "lines" else ("accent", "warn", *HUES[1:2], *HUES[3:]))
    dash = hues.pop("strokeDash")
    layers: list[alt.Chart] = []
    if chart.mark == "lines":
        layers.append(base.mark_line(strokeWidth=2).encode(y=y, color=hues["color"], strokeDash=dash))
    if any(row["low"] != row["high"] for row in rows):
        ends = alt.Y("low:Q", title=chart.y, scale=alt.Scale(zero=False, padding=8))
        layers.append(base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(y=ends, y2="high:Q", color=hues["color"]))
    layers.append(base.mark_point(filled=True, size=70, opacity=1).encode(y=y, **hues))
    if labelled := _apart(rows, chart.log):
        label_y = alt.Y("label_y:Q", title=chart.y, scale=alt.Scale(zero=False, padding=8))
        named = alt.Chart(data(labelled)).mark_text(dx=9, align="left", limit=200)
        layers.append(named.encode(x=x, y=label_y, text="label:N"))
    return draw(alt.layer(*layers), HEIGHT, WIDTH)
