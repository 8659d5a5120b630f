"""`/judges` and `/judges/J`: the judges that the store knows, and how far people's labels bear each out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.core.json_keys import encode
from ragauge.dashboard.site import Address, ListPage, Site, Table, parse_options, require_known
from ragauge.evaluation.scorecard.html import build_sections_context
from ragauge.labels.judges.tables import build_list_sections, build_trust_sections, format_name
from ragauge.labels.judges.verb import build_judge_trust, list_judges
from ragauge.rendering.lists import ServedLinks, decode_name

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams


@dataclass(frozen=True)
class JudgePage:
    """A judge."""

    site: Site  #: what is served.
    value: Any  #: how far it can be trusted.

    def html(self) -> str:
        """The page."""
        links = ServedLinks(self.site.root, "")
        values = build_sections_context(
            build_trust_sections(self.value), links, format_name(self.value.judge), what="judge"
        )
        return self.site.render("sections.html", "judges", above=((f"{self.site.root}/judges", "Judges"),), **values)


def build_page(site: Site, params: QueryParams) -> ListPage:
    """The list of judges."""
    parse_options(params, ())
    return ListPage(site, "judges", "Judges", list_judges(store=site.store), build_list_sections)


def build_table(site: Site, params: QueryParams) -> Table:
    """A row a judge, with accuracy and kappa of its last check."""
    rows = []
    for judge in build_page(site, params).value:
        step = judge.last
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
        rows.append({"judge_id": judge.judge_id, "spec": judge.spec, "runs": judge.runs, **checked})
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def build_judge_page(site: Site, params: QueryParams, judge: str) -> JudgePage:
    """The judge that an address names.

    Raises:
        NoSuchPage: no such judge.
    """
    parse_options(params, ())
    judge_id = decode_name(judge)
    require_known("judge", judge_id, (judge_row.judge_id for judge_row in list_judges(store=site.store)))
    return JudgePage(site, build_judge_trust(judge_id, store=site.store))


def build_checks_table(site: Site, params: QueryParams, judge: str) -> Table:
    """A row a check, the oldest first."""
    rows = [dict(encode(step)) for step in build_judge_page(site, params, judge).value.steps]
    for row in rows:
        for name in ("accuracy", "kappa", "change"):
            figure = row.pop(name)
            row[name] = figure["value"] if isinstance(figure, dict) else figure
    return list(dict.fromkeys(name for row in rows for name in row)), rows


ADDRESSES = (
    Address("/judges", build_page, "All judges, each with its last check.", table=build_table),
    Address(
        "/judges/{judge:text}", build_judge_page, "One judge: its error, checks and runs.", table=build_checks_table
    ),
)
