"""A page that is one list: the sections that a report or the command line makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ragauge.dashboard.site import Site
from ragauge.rendering.lists import ServedLinks
from ragauge.rendering.sections import ReportSection
from ragauge.rendering.writers.html import render_sections


@dataclass(frozen=True)
class ListPage:
    """Everything of a kind."""

    site: Site  #: what is served.
    here: str  #: path of the section of the site that it belongs to.
    title: str  #: its heading.
    value: Any  #: what is listed, the newest first.
    sections: Callable[[Any], Iterable[ReportSection]]  #: makes the list of it.
    #: address and name of the page that leads to it; () = the head of every page does.
    above: tuple[tuple[str, str], ...] = ()

    def html(self) -> str:
        """The page."""
        rendered = render_sections(self.sections(self.value), ServedLinks(self.site.root, ""))
        return self.site.render("list.html", self.here, title=self.title, sections=rendered, above=self.above)
