"""How scores lie: small histograms, one a metric."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from ragauge.rendering.charts.svg import build_data, build_style, get_color, render_spec
from ragauge.rendering.lists import format_bin
from ragauge.scores.results.overview import Bin

WIDTH, HEIGHT = 240, 56
MAX_BAR_WIDTH = 0.12  # of a bar that stands for one value, as a share of the width
MIN_BAR_WIDTH = 0.015  # of the same, where values lie closer: equal but for rounding, for example
MIN_BAR_HEIGHT = (
    0.04  # height of a bar that is not empty, as a share of the highest: what is rare can be seen and clicked
)


def draw_histogram(bins: Sequence[Bin], kind: str, link: Callable[[int], str]) -> str:
    """Counts by bin, without axes: the page writes the ends under it, and the numbers stand in its table."""
    min_height = MIN_BAR_HEIGHT * max((score_bin.count for score_bin in bins), default=0)
    rows = [
        {
            "from": start,
            "to": end,
            "count": max(score_bin.count, min_height),
            "link": link(index),
            "says": f"{format_bin(score_bin, kind)}: {score_bin.count}",
        }
        for index, (score_bin, (start, end)) in enumerate(zip(bins, _place_bars(bins, kind), strict=True))
        if score_bin.count
    ]
    spec = copy.deepcopy(_build_spec())
    spec["data"]["values"] = rows
    spec["encoding"]["x"]["scale"]["domain"] = [0, 1]
    return render_spec(spec)


def is_on_unit(bins: Sequence[Bin], kind: str) -> bool:
    """Whether bins of one value each are drawn where they lie between 0 and 1."""
    return kind != "amount" and all(score_bin.low == score_bin.high and 0 <= score_bin.low <= 1 for score_bin in bins)


def _place_bars(bins: Sequence[Bin], kind: str) -> list[tuple[float, float]]:
    """Where each bar begins and ends, as shares of the width."""
    if not is_on_unit(bins, kind):
        return [((index + 0.04) / len(bins), (index + 0.96) / len(bins)) for index in range(len(bins))]
    values = [score_bin.low for score_bin in bins]
    gap = min((later - earlier for earlier, later in pairwise(values)), default=1.0)
    width = max(MIN_BAR_WIDTH, min(MAX_BAR_WIDTH, gap / (1 + gap) * 0.9))
    return [(value * (1 - width), value * (1 - width) + width) for value in values]


@cache
def _build_spec() -> dict[str, Any]:
    """The chart without its rows: made once, since it is drawn for every metric."""
    import altair as alt

    chart = (
        alt.Chart(build_data([]))
        .mark_rect()
        .encode(
            x=alt.X("from:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False)),
            x2=alt.X2("to:Q"),
            y=alt.Y("count:Q", axis=None, scale=alt.Scale(nice=False, zero=True)),
            y2=alt.datum(0),
            fill=alt.value(get_color("bar")),
            description=alt.Description("says:N"),
            href="link:N",
        )
    )
    spec: dict[str, Any] = chart.properties(width=WIDTH, height=HEIGHT).to_dict(validate=False)
    spec["config"] = {**build_style(), "padding": 0}
    return spec
