"""How every chart is drawn: static SVG without script, colours from the page, marks that are links into it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from ragauge.rendering.words import make_safe

if TYPE_CHECKING:
    import altair as alt

CHART_WIDTH_PX = 400  # of a chart with its axes: a phone shows it at nine tenths, a desktop two in a row
ROW_HEIGHT_PX = 25
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"  # of one width everywhere, so that no label is cut
BASE = "https://vega.github.io/vega-datasets/"  # what the renderer puts before a relative link

_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_NOISE = re.compile(
    r'\s(?:role|aria-[a-z]+|xmlns(?::xlink)?|version|class|pointer-events|font-family|opacity(?=="1"))="[^"]*"'
)
# to an id of the page, or to an address below this server's: not one character of either needs escaping, & aside
_LINK = re.compile(
    rf'<a xlink:href="{re.escape(BASE)}(#[A-Za-z0-9_-]+|/[a-z](?:[A-Za-z0-9_.~%/?=-]|&amp;)+)">'
    r'(<[a-z]+) aria-label="([^"]*)"'
)
_CLIP = re.compile(r'(id="|url\(#)clip(\d+)')
_MARK = re.compile("<!--chart ([0-9a-f]{64})-->")  # of text from data, every < is escaped
_WAITING: ContextVar[dict[str, Mapping[str, Any]] | None] = ContextVar("charts that a page waits for", default=None)
FORMAT_VERSION = 1  # of the text that is made of the renderer's; another one is drawn anew
_EMPTY = re.compile(r'<path class="(?:background|foreground)"[^<>]*/>')


def build_data(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as a chart's data; what a chart cannot hold of a text is replaced."""
    import altair as alt

    values = [
        {key: make_safe(value) if isinstance(value, str) else value for key, value in row.items()} for row in rows
    ]
    return alt.Data(values=values)  # type: ignore[no-untyped-call]


def encode_link(rows: Sequence[Mapping[str, Any]], field: str = "link") -> dict[str, Any]:
    """The encoding that makes marks links to what a field of each row says, where any leads anywhere.

    As everywhere in charts a channel object, not its text, which altair tries against each of its schemas: 3 ms each.
    """
    import altair as alt

    return {"href": alt.Href(f"{field}:N")} if any(row[field] for row in rows) else {}


def get_color(name: str) -> str:
    """A colour of the page's style sheet, which has one for light and one for dark."""
    return f"var(--{name})"


def build_count_axis(title: str | None, max_value: float, *, grid: bool = True) -> alt.Axis:
    """An axis of counts: whole numbers only."""
    import altair as alt

    return alt.Axis(title=title, tickCount=max(1, min(int(max_value), 5)), format="d", tickMinStep=1, grid=grid)


def build_share_axis(title: str | None = None) -> alt.Axis:
    """An axis from 0 to 1."""
    import altair as alt

    return alt.Axis(title=title, values=[0, 0.25, 0.5, 0.75, 1], format=".2~f")


def build_name_axis(max_width: int = 170) -> alt.Axis:
    """An axis of names."""
    import altair as alt

    return alt.Axis(title=None, labelLimit=max_width, ticks=False, domain=False, labelPadding=8)


def draw_chart(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int, width: int = CHART_WIDTH_PX) -> str:
    """The chart as SVG for the inside of a page.

    Links lead to an id of the page, or to an address of the server that serves it; a mark's description becomes its
    tooltip. What the renderer says to screen readers goes away: the page holds the same numbers and links as a table.
    """
    import altair as alt

    sized = chart.properties(width=width, height=height, autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    spec: dict[str, Any] = sized.to_dict(validate=False)
    spec["config"] = build_style()
    return render_spec(spec)


class ChartStore(Protocol):
    """Where charts are kept that were drawn before."""

    def read(self, digests: Iterable[bytes]) -> Mapping[bytes, str]:
        """Digest -> SVG, of those that are kept."""

    def save(self, drawn: Mapping[bytes, str]) -> None:
        """Keeps charts by their digests."""


def render_spec(spec: Mapping[str, Any]) -> str:
    """The SVG of a specification; while a page is made `render_with_cache`, a mark in its place.

    Its ids are made of the specification's digest: the same specification gives the same text, and two charts of one
    page share no id, whichever process drew them.
    """
    text = json.dumps(spec, sort_keys=True, default=str)
    digest = hashlib.sha256(
        f"{FORMAT_VERSION} {_get_renderer_version()} {text}".encode("utf-8", "surrogatepass")
    ).hexdigest()
    waiting = _WAITING.get()
    if waiting is None:
        return _draw_svg(spec, digest)
    waiting[digest] = spec
    return f"<!--chart {digest}-->"


def render_with_cache(chart_store: ChartStore, make_page: Callable[[], str]) -> str:
    """A page whose charts are taken from where they are kept; those that are not there are drawn, and kept.

    Args:
        chart_store: asked once for all charts of the page, and given the new ones together.
        make_page: makes the page.
    """
    waiting: dict[str, Mapping[str, Any]] = {}
    token = _WAITING.set(waiting)
    try:
        text = make_page()
    finally:
        _WAITING.reset(token)
    if not waiting:
        return text
    cached = {digest.hex(): svg for digest, svg in chart_store.read(map(bytes.fromhex, waiting)).items()}
    new = {digest: _draw_svg(spec, digest) for digest, spec in waiting.items() if digest not in cached}
    if new:
        chart_store.save({bytes.fromhex(digest): svg for digest, svg in new.items()})
    svgs = cached | new
    return _MARK.sub(lambda mark: svgs[mark[1]], text)


def _draw_svg(spec: Mapping[str, Any], digest: str) -> str:
    import vl_convert

    svg = clean_svg(vl_convert.vegalite_to_svg(dict(spec)))
    numbers: dict[str, int] = {}  # the renderer counts on from chart to chart

    def replace_clip(match: re.Match[str]) -> str:
        return f"{match[1]}clip-{digest[:12]}-{numbers.setdefault(match[2], len(numbers))}"

    return _TAG.sub(lambda tag: _CLIP.sub(replace_clip, tag[0]), svg)


@cache
def _get_renderer_version() -> str:
    """Version of what draws."""
    from importlib.metadata import version

    return version("vl-convert-python")


def build_style() -> dict[str, Any]:
    """The look of all charts."""
    axis = {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": get_color("line"),
        "tickColor": get_color("line"),
        "gridColor": get_color("line"),
        "labelFont": FONT,
        "titleFont": FONT,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelOverlap": True,
    }
    return {
        "background": "transparent",
        "padding": {"left": 2, "right": 10, "top": 4, "bottom": 2},
        "axis": axis,
        "view": {"stroke": None},
        "text": {"font": FONT, "fontSize": 12, "fill": "currentColor"},
        "bar": {"fill": get_color("bar")},
        "customFormatTypes": False,
    }


def clean_svg(svg: str) -> str:
    """An SVG of the renderer made fit for the inside of a page.

    Fonts are named once, in the style sheet.

    >>> clean_svg('<svg class="marks"><path class="background" d="M0"/><text fill="#000">a" role="b"</text></svg>')
    '<svg><text>a" role="b"</text></svg>'
    """
    svg = _LINK.sub(r'<a href="\1" tabindex="-1"><title>\3</title>\2', _EMPTY.sub("", svg))
    return _TAG.sub(lambda tag: _NOISE.sub("", tag[0]).replace(' fill="#000"', ""), svg)
