"""The scorecard as one self-contained HTML page: no script, no request, light and dark, print."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from ragauge.analysis.scorecard import Scorecard
from ragauge.data.canonical import plain
from ragauge.reporting import charts, examples
from ragauge.reporting.terminal import headline
from ragauge.reporting.words import (
    ARROWS,
    LAYERS,
    by_layer,
    counts,
    estimate,
    interval,
    left_out,
    number,
    opened,
    verdict,
)

if TYPE_CHECKING:
    from jinja2 import Template


def anchor(name: str) -> str:
    """A name as an id of the page.

    >>> anchor("context_precision:by=answer@5")
    'context_precision-by-answer-5'
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "none"


def percent(value: float) -> str:
    """A share as a CSS length inside 0 to 100 %."""
    return f"{100 * min(1.0, max(0.0, value)):.1f}%"


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ragauge.reporting"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["anchor"] = anchor
    environment.globals.update(
        number=number, interval=interval, estimate=estimate, counts=counts, opened=opened, percent=percent,
        arrows=dict(ARROWS), layer_names=dict(LAYERS),
    )  # fmt: skip
    return environment.get_template("report.html")


def html(card: Scorecard) -> str:
    """The whole page. Everything that comes from data is escaped; only our own charts are markup."""
    from markupsafe import Markup

    names = headline(card.summaries)
    drawn = [(column, charts.segments(values, names)) for column, values in card.segments.items()]
    views: list[dict[str, Any]] = [
        {
            "view": view,
            "pieces": examples.pieces(view),
            "shelves": examples.shelves(view),
            "wanted": examples.wanted(view),
            "missed": examples.missed(view),
        }
        for view in card.worst
    ]
    return _template().render(
        card=card,
        verdict=verdict(card),
        layers=by_layer(card.summaries),
        left_out=left_out(card.summaries),
        causes_chart=Markup(charts.causes(card)),  # noqa: S704 - drawn by the chart library, which escapes text
        segment_charts=[(column, Markup(svg)) for column, svg in drawn if svg],  # noqa: S704 - the same
        views=views,
        config=json.dumps(plain(card.run.config), indent=2, ensure_ascii=False, default=str),
    )
