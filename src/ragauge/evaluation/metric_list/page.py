"""`/glossary` and `/glossary/M`: what is measured, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.dashboard.site import Address, NoSuchPage, Site, parse_options
from ragauge.evaluation.metric_list import verb as catalogue

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

# where facts are from that no judge is asked for
ORIGINS = {"response": "recorded with the answer", "set": "from the eval set", "labels": "from the labels of the set"}


@dataclass(frozen=True)
class GlossaryPage:
    """Every metric and preset."""

    site: Site  #: what is served.
    value: dict[str, Any]  #: as `ragauge metrics --json` prints them.

    def html(self) -> str:
        """The page."""
        return self.site.render("glossary.html", "glossary", **self.value)


@dataclass(frozen=True)
class MetricPage:
    """One metric."""

    site: Site  #: what is served.
    value: dict[str, Any]  #: as `ragauge metrics NAME --json` prints it.
    written: Any  #: what stands in its file, in parts.

    def html(self) -> str:
        """The page."""
        needs = tuple(map(_format_need, self.value["needs"].values()))
        return self.site.render("metric.html", "glossary", metric=self.value, written=self.written, needs=needs)


def _format_need(fact: str) -> str:
    """A fact that a metric needs, and where it is from."""
    source, _, name = fact.partition(".")
    return f"{name.replace('_', ' ')} ({ORIGINS.get(source, f'from the judge question {source}')})"


def build_page(site: Site, params: QueryParams) -> GlossaryPage:
    """All of them."""
    parse_options(params, ())
    return GlossaryPage(site, catalogue.list_metrics())


def build_metric_page(site: Site, params: QueryParams, metric: str) -> MetricPage:
    """The metric that an address names.

    Raises:
        NoSuchPage: no such metric; the nearest are in the text.
    """
    parse_options(params, ())
    try:
        return MetricPage(site, catalogue.describe_metric(metric), catalogue.parse_definition(metric))
    except UsageError as error:
        raise NoSuchPage(str(error)) from error


ADDRESSES = (
    Address("/glossary", build_page, "All metrics."),
    Address("/glossary/{metric}", build_metric_page, "One metric: formula, undefined cases, source."),
)
