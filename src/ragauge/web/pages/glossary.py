"""`/glossary` and `/glossary/M`: what is measured, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.api import catalogue
from ragauge.errors import UsageError
from ragauge.web.site import NoSuchPage, Site, asked_of

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams


@dataclass(frozen=True)
class GlossaryPage:
    """Every metric and preset.

    Attributes:
        site: what is served.
        value: as `ragauge metrics --json` prints them.
    """

    site: Site
    value: dict[str, Any]

    def html(self) -> str:
        """The page."""
        return self.site.render("glossary.html", "glossary", **self.value)


@dataclass(frozen=True)
class MetricPage:
    """One metric.

    Attributes:
        site: what is served.
        value: as `ragauge metrics NAME --json` prints it.
        definition: as written in its file.
    """

    site: Site
    value: dict[str, Any]
    definition: str

    def html(self) -> str:
        """The page."""
        return self.site.render("metric.html", "glossary", metric=self.value, definition=self.definition)


def page(site: Site, given: QueryParams) -> GlossaryPage:
    """All of them."""
    asked_of(given, ())
    return GlossaryPage(site, catalogue.listed())


def one(site: Site, given: QueryParams, metric: str) -> MetricPage:
    """The metric that an address names.

    Raises:
        NoSuchPage: no such metric; the nearest are in the text.
    """
    asked_of(given, ())
    try:
        return MetricPage(site, catalogue.one(metric), catalogue.definition(metric))
    except UsageError as error:
        raise NoSuchPage(str(error)) from error
