"""`/history`: a metric over the runs of a set."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.comparison.history.tables import SETS_NOTE, build_sections, build_trend_figure
from ragauge.comparison.history.verb import EvaluationLog, log
from ragauge.dashboard.site import Address, Site, parse_options
from ragauge.rendering.lists import ServedLinks
from ragauge.rendering.writers.html import render_sections

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

MAX_RUNS = 60


@dataclass(frozen=True)
class HistoryPage:
    """The runs of one set, or of all."""

    site: Site  #: what is served.
    log: EvaluationLog  #: the log.
    params: dict[str, str]  #: which set, which metric, whose verdicts.

    @property
    def value(self) -> Any:
        """Every row."""
        return self.log.history

    def html(self) -> str:
        """The page; its charts are made once of the same rows."""
        made_of = hashlib.sha256(repr(self.value).encode("utf-8", "surrogatepass")).digest()
        return self.site.get_or_render(("history", made_of, *sorted(self.params.items())), self._render_page)

    def _render_page(self) -> str:
        links, history = ServedLinks(self.site.root, ""), self.value
        metric = self.params.get("metric", "")
        names = [metric] if metric else [name for name in history.columns if name != "cost"]
        figures = [
            (
                name,
                [
                    figure
                    for metric_name in names
                    if (figure := build_trend_figure(history, name, metric_name, links)) is not None
                ],
            )
            for name in history.set_names
        ]
        tables = render_sections(build_sections(history), links)
        return self.site.render(
            "history.html", "history", figures=figures, asked=self.params, tables=tables, sets=SETS_NOTE
        )


def build_page(site: Site, params: QueryParams) -> HistoryPage:
    """The history that an address asks for.

    Raises:
        UnknownName: no run of this set or by this judge, no such metric.
    """
    options = parse_options(params, ("set", "metric", "judge"))
    evaluation_log = log(
        options.get("set", ""),
        limit=MAX_RUNS,
        metrics=options.get("metric", ""),
        judge=options.get("judge"),
        store=site.store,
    )
    return HistoryPage(site, evaluation_log, options)


ADDRESSES = (Address("/history", build_page, "A metric over all runs of a set."),)
