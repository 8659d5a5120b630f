"""Failed examples by cause: which few causes make most of the failures, and in which segments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.rendering.charts.svg import ROW, colour, data, draw, linked, names_axis, number_axis
from ragauge.rendering.words import UNNAMED, line, share
from ragauge.scores.results.scorecard import ScorecardData

if TYPE_CHECKING:
    import altair as alt

MOST_CAUSES = 20  # all that there are
MOST_COLOURS = 7  # causes with a colour of their own; the others share one
MOST_VALUES = 8
OTHERS = "other causes"


@dataclass(frozen=True, slots=True)
class CauseBar:
    """One cause: how many failed by it, and how many by it and all more frequent ones."""

    cause: str
    count: int
    cumulative: float
    link: str
    before: int | None


def bars(card: ScorecardData, link: Callable[[str], str]) -> tuple[CauseBar, ...]:
    """The causes, most frequent first."""
    bars_drawn, so_far = [], 0
    before = card.baseline.failures.base if card.baseline else None
    for cause, count in card.causes.items():
        so_far += count
        part = so_far / card.failed_examples if card.failed_examples else 0.0
        earlier = None if before is None else before.get(cause, 0)
        bars_drawn.append(CauseBar(cause or UNNAMED, count, part, link(cause), earlier))
    return tuple(bars_drawn)


def pareto(shown: tuple[CauseBar, ...], failed: int) -> str:
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
            "place": min(index, MOST_COLOURS + 1),
            "says": f"{bar.cause}: {share(bar.count, failed)} failed examples",
            "adds": f"{bar.cause} and all more frequent causes: {bar.cumulative:.0%}",
        }
        for index, bar in enumerate(shown[:MOST_CAUSES], 1)
    ]
    scale = alt.Scale(domain=[0, max(1, failed) * 1.12], nice=False)
    axis = number_axis("failed examples", failed)
    base = alt.Chart(data(rows)).encode(y=alt.Y("cause:N", sort=None, axis=names_axis()))
    drawn = base.mark_bar(cornerRadiusEnd=2).encode(
        x=alt.X("count:Q", scale=scale, axis=axis),
        fill=alt.Fill("place:O", scale=_palette(), legend=None),
        description="says:N",
        **linked(rows),
    )
    reached = base.encode(x=alt.X("reached:Q", scale=scale, axis=axis))
    line_of = reached.mark_line(stroke=colour("soft"), strokeWidth=1.5)
    points = reached.mark_point(filled=True, size=28, fill=colour("soft"), stroke=None).encode(
        description="adds:N", **linked(rows)
    )
    labels = reached.mark_text(align="left", dx=7, fontSize=11).encode(text="label:N")
    return draw(alt.layer(drawn, line_of, points, labels), ROW * len(rows))


def coloured(card: ScorecardData) -> dict[str, int]:
    """Cause -> number of its colour; the last number is for all others together."""
    return {cause: min(index, MOST_COLOURS) + 1 for index, cause in enumerate(card.causes)}


def _palette() -> alt.Scale:
    """The colours of the causes."""
    import altair as alt

    numbers = list(range(1, MOST_COLOURS + 2))
    return alt.Scale(domain=numbers, range=[colour(f"c{number}") for number in numbers])


def by_segment(
    values: Mapping[str, Mapping[str, int]], colours: Mapping[str, int], link: Callable[[str, str], str]
) -> str:
    """One bar a segment value, made of the failed examples by cause; "" when nothing failed."""
    import altair as alt

    most = list(values.items())[:MOST_VALUES]
    rows: list[dict[str, object]] = [
        {
            "value": f"{line(value, 60)}  {sum(causes.values())}",
            "count": count,
            "place": colours.get(cause, 1),
            "link": link(value, cause),
            "says": f"{line(value)}: {cause or UNNAMED} {count}",
        }
        for value, causes in most
        for cause, count in sorted(causes.items(), key=lambda item: colours.get(item[0], MOST_COLOURS + 1))
        if count
    ]
    if not rows:
        return ""
    longest = max(sum(causes.values()) for _, causes in most)
    chart = (
        alt.Chart(data(rows))
        .mark_bar(stroke=colour("page"), strokeWidth=1)
        .encode(
            y=alt.Y("value:N", sort=None, axis=names_axis()),
            x=alt.X("count:Q", stack="zero", axis=number_axis("failed examples", longest)),
            fill=alt.Fill("place:O", scale=_palette(), legend=None),
            order="place:Q",
            description="says:N",
            **linked(rows),
        )
    )
    return draw(chart, ROW * len(most))
