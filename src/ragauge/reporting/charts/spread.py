"""How scores lie: small histograms, one a metric."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ragauge.analysis.overview import Bin
from ragauge.reporting.charts.drawing import colour, data, inside, style
from ragauge.reporting.lists import span

WIDTH, HEIGHT = 240, 56


def histogram(bins: Sequence[Bin], kind: str, link: Callable[[int], str]) -> str:
    """Counts by bin, without axes: the page writes the ends under it, and the numbers stand in its table."""
    import vl_convert

    rows = [
        {
            "from": place + 0.04, "to": place + 0.96, "count": part.count, "link": link(place),
            "says": f"{span(part, kind)}: {part.count}",
        }
        for place, part in enumerate(bins)
    ]  # fmt: skip
    spec = copy.deepcopy(_spec())
    spec["data"]["values"] = rows
    spec["encoding"]["x"]["scale"]["domain"] = [0, len(bins)]
    return inside(vl_convert.vegalite_to_svg(spec))


@cache
def _spec() -> dict[str, Any]:
    """The chart without its rows: made once, since it is drawn for every metric."""
    import altair as alt

    chart = alt.Chart(data([])).mark_rect().encode(
        x=alt.X("from:Q", axis=None, scale=alt.Scale(domain=[0, 1], nice=False)), x2="to:Q",
        y=alt.Y("count:Q", axis=None, scale=alt.Scale(nice=False, zero=True)), y2=alt.datum(0),
        fill=alt.value(colour("bar")), description="says:N", href="link:N",
    )     # fmt: skip
    spec: dict[str, Any] = chart.properties(width=WIDTH, height=HEIGHT).to_dict(validate=False)
    spec["config"] = {**style(), "padding": 0}
    return spec
