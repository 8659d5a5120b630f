"""Failed examples by cause: which few causes make most of the failures, and in which segments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.rendering.charts.svg import (
    ROW_HEIGHT_PX,
    build_count_axis,
    build_data,
    build_name_axis,
    draw_chart,
    encode_link,
    get_color,
)
from ragauge.rendering.words import UNNAMED, share, to_line
from ragauge.scores.results.scorecard import ScorecardData

if TYPE_CHECKING:
    import altair as alt

MAX_CAUSES = 20  # all that there are
MAX_COLORS = 7  # causes with a colour of their own; the others share one
MAX_VALUES = 8
OTHERS = "other causes"


@dataclass(frozen=True, slots=True)
class CauseBar:
    """One cause: how many failed by it, and how many by it and all more frequent ones."""

    cause: str
    count: int
    cumulative: float
    link: str
    before: int | None


def build_cause_bars(card: ScorecardData, link: Callable[[str], str]) -> tuple[CauseBar, ...]:
    """The causes, most frequent first."""
    cause_bars, so_far = [], 0
    previous_counts = card.baseline.failures.base if card.baseline else None
    for cause, count in card.causes.items():
        so_far += count
        cumulative_share = so_far / card.failed_examples if card.failed_examples else 0.0
        earlier = None if previous_counts is None else previous_counts.get(cause, 0)
        cause_bars.append(CauseBar(cause or UNNAMED, count, cumulative_share, link(cause), earlier))
    return tuple(cause_bars)


def draw_pareto(cause_bars: tuple[CauseBar, ...], failed: int) -> str:
    """Bars of counts with the line of the cumulative share, lying on its side so that names can be read.

    The bars have the colours that their causes have in the bars by segment.
    """
    import altair as alt

    rows = [
        {
            "cause": f"{bar.cause}  {bar.count}",
            "count": bar.count,
            "reached": bar.cumulative * failed,
            "label": f"{bar.cumulative:.0%}",
            "link": bar.link,
            "place": min(index, MAX_COLORS + 1),
            "says": f"{bar.cause}: {share(bar.count, failed)} failed examples",
            "adds": f"{bar.cause} and all more frequent causes: {bar.cumulative:.0%}",
        }
        for index, bar in enumerate(cause_bars[:MAX_CAUSES], 1)
    ]
    scale = alt.Scale(domain=[0, max(1, failed) * 1.12], nice=False)
    axis = build_count_axis("failed examples", failed)
    base = alt.Chart(build_data(rows)).encode(y=alt.Y("cause:N", sort=None, axis=build_name_axis()))
    bar_marks = base.mark_bar(cornerRadiusEnd=2).encode(
        x=alt.X("count:Q", scale=scale, axis=axis),
        fill=alt.Fill("place:O", scale=_build_palette(), legend=None),
        description=alt.Description("says:N"),
        **encode_link(rows),
    )
    reached = base.encode(x=alt.X("reached:Q", scale=scale, axis=axis))
    share_line = reached.mark_line(stroke=get_color("soft"), strokeWidth=1.5)
    points = reached.mark_point(filled=True, size=28, fill=get_color("soft"), stroke=None).encode(
        description=alt.Description("adds:N"), **encode_link(rows)
    )
    labels = reached.mark_text(align="left", dx=7, fontSize=11).encode(text=alt.Text("label:N"))
    return draw_chart(alt.layer(bar_marks, share_line, points, labels), ROW_HEIGHT_PX * len(rows))


def number_colors(card: ScorecardData) -> dict[str, int]:
    """Cause -> number of its colour; the last number is for all others together."""
    return {cause: min(index, MAX_COLORS) + 1 for index, cause in enumerate(card.causes)}


def _build_palette() -> alt.Scale:
    """The colours of the causes."""
    import altair as alt

    numbers = list(range(1, MAX_COLORS + 2))
    return alt.Scale(domain=numbers, range=[get_color(f"c{number}") for number in numbers])


def draw_by_segment(
    values: Mapping[str, Mapping[str, int]], colors: Mapping[str, int], link: Callable[[str, str], str]
) -> str:
    """One bar a segment value, made of the failed examples by cause; "" when nothing failed."""
    import altair as alt

    shown_values = list(values.items())[:MAX_VALUES]
    rows: list[dict[str, object]] = [
        {
            "value": f"{to_line(value, 60)}  {sum(causes.values())}",
            "count": count,
            "place": colors.get(cause, 1),
            "link": link(value, cause),
            "says": f"{to_line(value)}: {cause or UNNAMED} {count}",
        }
        for value, causes in shown_values
        for cause, count in sorted(causes.items(), key=lambda item: colors.get(item[0], MAX_COLORS + 1))
        if count
    ]
    if not rows:
        return ""
    longest = max(sum(causes.values()) for _, causes in shown_values)
    chart = (
        alt.Chart(build_data(rows))
        .mark_bar(stroke=get_color("page"), strokeWidth=1)
        .encode(
            y=alt.Y("value:N", sort=None, axis=build_name_axis()),
            x=alt.X("count:Q", stack="zero", axis=build_count_axis("failed examples", longest)),
            fill=alt.Fill("place:O", scale=_build_palette(), legend=None),
            order="place:Q",
            description=alt.Description("says:N"),
            **encode_link(rows),
        )
    )
    return draw_chart(chart, ROW_HEIGHT_PX * len(shown_values))
