"""Charts of studies: bars a trial, lines over cutoffs, quality against cost, effects, maps of two parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, get_args

from ragauge.core.messages import format_three_digits
from ragauge.rendering.charts.svg import FONT, ROW_HEIGHT_PX, build_data, build_name_axis, draw_chart, get_color
from ragauge.rendering.words import to_line
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
MAX_TICKS = 8  # of an axis on which every value measured is named
MAX_SERIES_CHARS = 60  # characters of a series
LABEL_SIZE_PX = (6.2, 13)  # pixels of a label: a character's width, a line's height
DASHES = ([1, 0], [6, 3], [2, 2])  # of lines, where there are more series than colours
MIN_PLOT_WIDTH_PX = 340  # pixels at least that points spread over, beside the room for labels
MAX_LABEL_SHIFT_LINES = 4  # lines that a label is moved by; one that has no room even there is left to the table


def draw_study_chart(chart: ReportChart) -> str:
    """One chart as SVG; "" where it has no point."""
    if not chart.points:
        return ""
    rows = [_build_row(chart, point) for point in chart.points]
    draw_mark = {"bars": _draw_bars, "forest": _draw_forest, "heat": _draw_heatmap}.get(chart.mark, _draw_over_numbers)
    return draw_mark(chart, rows)


def _build_row(chart: ReportChart, point: ChartPoint) -> dict[str, Any]:
    interval_text = (
        ""
        if point.low is None or point.high is None
        else f" [{format_three_digits(point.low)}, {format_three_digits(point.high)}]"
    )
    position_text = "" if isinstance(point.x, str) else f" at {format_three_digits(point.x)}"
    if chart.since is not None and not isinstance(point.x, str):
        position_text = f" on {chart.since + timedelta(point.x)}"
    title = " ".join(filter(None, (point.x if isinstance(point.x, str) else "", point.series, point.label)))
    says = f"{title}: {chart.y} {format_three_digits(point.y)}{interval_text}{position_text}"
    if chart.mark == "heat":
        says = f"{chart.x} {point.x}, {chart.y} {point.series}: {format_three_digits(point.y)}"
    return {
        "x": point.x,
        "y": point.y,
        "series": to_line(point.series, MAX_SERIES_CHARS),
        "label": to_line(point.label, MAX_SERIES_CHARS),
        "low": point.y if point.low is None else point.low,
        "high": point.y if point.high is None else point.high,
        "says": to_line(says, 300),
    }


def _encode_colors(rows: list[dict[str, Any]], names: Sequence[str], hues_of: Sequence[str] = HUES) -> dict[str, Any]:
    """Colour, shape and dash by series, no two alike, told by a legend where there are several."""
    import altair as alt

    several = len({row["series"] for row in rows}) > 1
    round_of = [n // len(hues_of) for n in range(len(names))]  # after all colours they come again, otherwise shaped
    hues = [get_color(hues_of[n % len(hues_of)]) for n in range(len(names))]
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


def _place_labels(rows: list[dict[str, Any]], log: bool) -> list[dict[str, Any]]:
    """The rows with a label, each with label_y where it stands clear of points and of the other labels."""

    def to_axis(value: float) -> float:
        return math.log(value) if log else value

    across, up = [to_axis(row["x"]) for row in rows], [row[end] for row in rows for end in ("low", "high")]
    wide, high = (max(values) - min(values) or 1.0 for values in (across, up))
    taken: list[tuple[float, float, float]] = []  # left, right, middle, in pixels
    labeled_rows = []
    for row, x in sorted(zip(rows, across, strict=True), key=lambda pair: -pair[0]["y"]):
        left_edge, center_y = (x - min(across)) / wide * MIN_PLOT_WIDTH_PX, (max(up) - row["y"]) / high * (HEIGHT - 16)
        right = left_edge + 9 + LABEL_SIZE_PX[0] * len(row["label"])
        for lines in sorted(range(-MAX_LABEL_SHIFT_LINES, MAX_LABEL_SHIFT_LINES + 1), key=abs) if row["label"] else ():
            middle = center_y + lines * LABEL_SIZE_PX[1]
            if all(right < a or b < left_edge or abs(middle - taken_y) >= LABEL_SIZE_PX[1] for a, b, taken_y in taken):
                taken.append((left_edge, right, middle))
                labeled_rows.append({**row, "label_y": max(up) - middle / (HEIGHT - 16) * high})
                break
    return labeled_rows


def _draw_bars(chart: ReportChart, rows: list[dict[str, Any]]) -> str:
    import altair as alt

    names = list(dict.fromkeys(row["series"] for row in rows))
    many = len(names) > 1
    hue = {"fill": _encode_colors(rows, names)["color"]} if many else {"fill": alt.value(get_color("bar"))}
    axis = alt.Axis(title=chart.y, tickCount=5)
    base = alt.Chart(build_data(rows)).encode(
        y=alt.Y("x:N", sort=None, axis=build_name_axis(260)), description="says:N"
    )
    offset = {"yOffset": alt.YOffset("series:N", sort=None)} if many else {}
    bar = base.mark_bar(cornerRadiusEnd=2).encode(x=alt.X("y:Q", axis=axis), **offset, **hue)
    rule = base.mark_rule(stroke=get_color("ink"), strokeWidth=1.5, opacity=0.75).encode(
        x=alt.X("low:Q", axis=axis), x2="high:Q", **offset
    )
    return draw_chart(alt.layer(bar, rule), ROW_HEIGHT_PX * len(rows), WIDTH)


def _draw_forest(chart: ReportChart, rows: list[dict[str, Any]]) -> str:
    import altair as alt

    hues = _encode_colors(rows, [*VERDICTS], ("accent", "soft", "warn"))
    axis = alt.X("y:Q", axis=alt.Axis(title=chart.y, tickCount=6))
    base = alt.Chart(build_data(rows)).encode(
        y=alt.Y("x:N", sort=None, axis=build_name_axis(260)), description="says:N"
    )
    none = (
        alt.Chart(build_data([{"at": 0}])).mark_rule(stroke=get_color("ink"), strokeDash=[3, 3]).encode(x=alt.X("at:Q"))
    )
    intervals = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", color=hues["color"])
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x=axis, color=hues["color"], shape=hues["shape"])
    return draw_chart(alt.layer(none, intervals, point), ROW_HEIGHT_PX * len({row["x"] for row in rows}), WIDTH)


def _draw_heatmap(chart: ReportChart, rows: list[dict[str, Any]]) -> str:
    """A cell the darker the greater it is; faint enough for its number to be read in light and dark."""
    import altair as alt

    across = alt.X("x:N", sort=None, title=chart.x, axis=alt.Axis(labelAngle=0, ticks=False, domain=False))
    down = alt.Y("series:N", sort=None, title=chart.y, axis=alt.Axis(ticks=False, domain=False, labelLimit=160))
    base = alt.Chart(build_data(rows)).encode(x=across, y=down, description="says:N")
    lowest, highest = min(row["y"] for row in rows), max(row["y"] for row in rows)
    share = alt.Opacity(
        "y:Q",
        legend=None,
        scale=alt.Scale(domain=[lowest, highest if highest > lowest else lowest + 1], range=[0.08, 0.55]),
    )
    cell = base.mark_rect(fill=get_color("accent"), stroke=get_color("page"), strokeWidth=2).encode(opacity=share)
    return draw_chart(
        alt.layer(cell, base.mark_text().encode(text="label:N")), 34 * len({r["series"] for r in rows}), WIDTH
    )


def _draw_over_numbers(chart: ReportChart, rows: list[dict[str, Any]]) -> str:
    import altair as alt

    positions = sorted({float(row["x"]) for row in rows})
    scale = alt.Scale(type="log" if chart.log else "linear", zero=False, nice=False, padding=24)
    few = chart.mark == "lines" and len(positions) <= MAX_TICKS  # then what was measured is named
    ticks = alt.Axis(values=positions) if few else alt.Axis(tickCount=6, labelBound=True)
    if chart.since is not None:
        day = f"utcFormat((datum.value + {(chart.since - EPOCH).days}) * 86400000, '%-d %b')"
        ticks = alt.Axis(values=positions[:: math.ceil(len(positions) / MAX_TICKS)], labelExpr=day)
    x = alt.X("x:Q", title=chart.x, scale=scale, axis=ticks)
    y = alt.Y("y:Q", title=chart.y, scale=alt.Scale(zero=False, padding=8))
    base = alt.Chart(build_data(sorted(rows, key=lambda row: row["series"] != "beaten"))).encode(
        x=x, description="says:N"
    )
    names = sorted(dict.fromkeys(row["series"] for row in rows), key=lambda series_name: series_name == "beaten")
    hues = _encode_colors(rows, names, HUES if chart.mark == "lines" else ("accent", "warn", *HUES[1:2], *HUES[3:]))
    dash = hues.pop("strokeDash")
    layers: list[alt.Chart] = []
    if chart.mark == "lines":
        layers.append(base.mark_line(strokeWidth=2).encode(y=y, color=hues["color"], strokeDash=dash))
    if any(row["low"] != row["high"] for row in rows):
        low_axis = alt.Y("low:Q", title=chart.y, scale=alt.Scale(zero=False, padding=8))
        layers.append(base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(y=low_axis, y2="high:Q", color=hues["color"]))
    layers.append(base.mark_point(filled=True, size=70, opacity=1).encode(y=y, **hues))
    if labeled_rows := _place_labels(rows, chart.log):
        label_y = alt.Y("label_y:Q", title=chart.y, scale=alt.Scale(zero=False, padding=8))
        labels = alt.Chart(build_data(labeled_rows)).mark_text(dx=9, align="left", limit=200)
        layers.append(labels.encode(x=x, y=label_y, text="label:N"))
    return draw_chart(alt.layer(*layers), HEIGHT, WIDTH)
