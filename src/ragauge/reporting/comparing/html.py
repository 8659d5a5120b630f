"""A comparison as one self-contained HTML page: no script, no request, light and dark, print."""

from __future__ import annotations

from ragauge.analysis.diagnosis.readings import words as reading
from ragauge.analysis.results.comparison import Compared
from ragauge.reporting.comparing import page, words
from ragauge.reporting.html import environment, style_sheet


def html(compared: Compared, *, framed: bool = False) -> str:
    """The whole page. Everything that comes from data is escaped; only our own charts and style are markup.

    Args:
        compared: what to show.
        framed: for the srcdoc of a frame, as notebooks show it.
    """
    from markupsafe import Markup

    style, digest = style_sheet()
    return environment().get_template("compare.html").render(
        **page.context(compared), framed=framed, style=Markup(style), digest=digest, say=words, reading=reading,  # noqa: S704 - our own file
    )     # fmt: skip
