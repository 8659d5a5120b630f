"""How scores lie: small histograms, one a metric."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from ragauge.rendering.charts.svg import colour, data, rendered, style
from ragauge.rendering.lists import span
from ragauge.scores.results.overview import Bin

WIDTH, HEIGHT = 240, 56
WIDEST = 0.12  # of a bar that stands for one value, as a share of the width
NARROWEST = 0.015  # of the same, where values lie closer: equal but for rounding, for example
LEAST = 0.04  # height of a bar that is not empty, as a share of the highest: what is rare can be seen and clicked


def histogram(bins: Sequence[Bin], kind: str, link: Callable[[int], str]) -> str:
    """Counts by bin, without axes: the page writes the ends under it, and the numbers stand in its table."""
    least = LEAST * max((part.count for part in bins), default=0)
    rows = [
        {
            "from": start,
            "to": end,
            "count": max(part.count, least),
            "link": link(index),
            "says": f"{span(part, kind)}: {part.count}",
        }
        for index, (part, (start, end)) in enumerate(zip(bins, _places(bins, kind), strict=True))
        if part.count
    ]
    spec = copy.deepcopy(_spec())
    spec["data"]["values"] = rows
    spec["encoding"]["x"]["scale"]["domain"] = [0, 1]
    return rendered(spec)


def on_unit(bins: Sequence[Bin], kind: str) -> bool:
    """Whether bins of one value each are drawn where they lie between 0 and 1."""
    return kind != "amount" and all(part.low == part.high and 0 <= part.low <= 1 for part in bins)


def _places(bins: Sequence[Bin], kind: str) -> list[tuple[float, float]]:
    """Where each bar begins and ends, as shares of the width."""
    if not on_unit(bins, kind):
        return [((index + 0.04) / len(bins), (index + 0.96) / len(bins)) for index in range(len(bins))]
    values = [part.low for part in bins]
    gap = min((later - earlier for earlier, later in pairwise(values)), default=1.0)
    width = max(NARROWEST, min(WIDEST, gap / (1 + gap) * 0.9))
    return [(value * (1 - width), value * (1 - width) + width) for value in values]


@cache
def _spec() -> dict[str, Any]:
    """The chart without its rows: made once, since it is drawn for every metric."""
    import altair as alt

    chart = (
        alt.Chart(data([]))
        .mark_rect()
        .encode(
            x=alt.X("from:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False)),
            x2="to:Q",
            y=alt.Y("count:Q", axis=None, scale=alt.Scale(nice=False, zero=True)),
            y2=alt.datum(0),
            fill=alt.value(colour("bar")),
            description="says:N",
            href="link:N",
        )
    )
    spec: dict[str, Any] = chart.properties(width=WIDTH, height=HEIGHT).to_dict(validate=False)
    spec["config"] = {**style(), "padding": 0}
    return spec
