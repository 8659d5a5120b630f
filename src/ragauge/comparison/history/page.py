"""`/history`: a metric over the runs of a set."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.comparison.history.tables import SETS, sections, trend_of
from ragauge.comparison.history.verb import EvaluationLog, log
from ragauge.dashboard.site import Site, asked_of
from ragauge.rendering.lists import ServedLinks
from ragauge.rendering.writers.html import sections_html

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

LIMIT = 60


@dataclass(frozen=True)
class HistoryPage:
    """The runs of one set, or of all.

    Attributes:
        site: what is served.
        found: the log.
        asked: which set, which metric, whose verdicts.
    """

    site: Site
    found: EvaluationLog
    asked: dict[str, str]

    @property
    def value(self) -> Any:
        """Every row."""
        return self.found.history

    def html(self) -> str:
        """The page; its charts are made once of the same rows."""
        made_of = hashlib.sha256(repr(self.value).encode("utf-8", "surrogatepass")).digest()
        return self.site.kept(("history", made_of, *sorted(self.asked.items())), self._made)

    def _made(self) -> str:
        links, history = ServedLinks(self.site.root, ""), self.value
        metric = self.asked.get("metric", "")
        names = [metric] if metric else [name for name in history.columns if name != "cost"]
        figures = [
            (name, [figure for one in names if (figure := trend_of(history, name, one, links)) is not None])
            for name in history.sets
        ]
        tables = sections_html(sections(history), links)
        return self.site.render("history.html", "history", figures=figures, asked=self.asked, tables=tables, sets=SETS)


def page(site: Site, given: QueryParams) -> HistoryPage:
    """The history that an address asks for.

    Raises:
        UnknownName: no run of this set or by this judge, no such metric.
    """
    asked = asked_of(given, ("set", "metric", "judge"))
    found = log(
        asked.get("set", ""), limit=LIMIT, metrics=asked.get("metric", ""), judge=asked.get("judge"), store=site.store
    )
    return HistoryPage(site, found, asked)
