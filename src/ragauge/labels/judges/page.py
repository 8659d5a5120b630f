"""`/judges` and `/judges/J`: the judges that the store knows, and how far people's labels bear each out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.dashboard.list_page import ListPage
from ragauge.dashboard.site import Site, Table, asked_of, there
from ragauge.evaluation.scorecard.html import sections_values
from ragauge.labels.judges.judge_inventory_tables import list_sections, name_of, trust_sections
from ragauge.labels.judges.verb import judge_trust, judges
from ragauge.rendering.encoder import encode
from ragauge.rendering.lists import ServedLinks, named_by

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams


@dataclass(frozen=True)
class JudgePage:
    """A judge.

    Attributes:
        site: what is served.
        value: how far it can be trusted.
    """

    site: Site
    value: Any

    def html(self) -> str:
        """The page."""
        links = ServedLinks(self.site.root, "")
        values = sections_values(trust_sections(self.value), links, name_of(self.value.judge), what="judge")
        return self.site.render("sections.html", "judges", above=((f"{self.site.root}/judges", "Judges"),), **values)


def page(site: Site, given: QueryParams) -> ListPage:
    """The list of judges."""
    asked_of(given, ())
    return ListPage(site, "judges", "Judges", judges(store=site.store), list_sections)


def table(site: Site, given: QueryParams) -> Table:
    """A row a judge, with accuracy and kappa of its last check."""
    rows = []
    for one_judge in page(site, given).value:
        step = one_judge.last
        checked = (
            {}
            if step is None
            else {
                "checked": step.at,
                "labels": step.file,
                "n": step.n,
                "accuracy": step.accuracy.value,
                "kappa": step.kappa.value,
                "fell": step.fell,
            }
        )
        rows.append({"judge_id": one_judge.judge_id, "spec": one_judge.spec, "runs": one_judge.runs, **checked})
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def one(site: Site, given: QueryParams, judge: str) -> JudgePage:
    """The judge that an address names.

    Raises:
        NoSuchPage: no such judge.
    """
    asked_of(given, ())
    judge_id = named_by(judge)
    there("judge", judge_id, (known.judge_id for known in judges(store=site.store)))
    return JudgePage(site, judge_trust(judge_id, store=site.store))


def checks_table(site: Site, given: QueryParams, judge: str) -> Table:
    """A row a check, the oldest first."""
    rows = [dict(encode(step)) for step in one(site, given, judge).value.steps]
    for row in rows:
        for name in ("accuracy", "kappa", "change"):
            figure = row.pop(name)
            row[name] = figure["value"] if isinstance(figure, dict) else figure
    return list(dict.fromkeys(name for row in rows for name in row)), rows
