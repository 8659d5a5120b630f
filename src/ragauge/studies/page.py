"""`/studies` and `/studies/S`: sweeps and studies of components, each with the sections and charts of its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.dashboard.site import Address, Site, Table, parse_options, require_known
from ragauge.evaluation.scorecard.html import build_sections_context
from ragauge.rendering.lists import ServedLinks, decode_name
from ragauge.rendering.writers.html import render_sections
from ragauge.studies.tables import build_list_sections, build_study_page, describe_study
from ragauge.studies.verb import add_verdicts, list_stored_studies, open_study

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

    from ragauge.studies.result import StudyResult

READING_KEYS = ("metric", "base", "target", "cost")  # how a study is read, as `ragauge study show` takes it
VERDICT_TIMEOUT_S = 3.0  # seconds for what came of studies


@dataclass(frozen=True)
class StudiesPage:
    """Every study."""

    site: Site  #: what is served.
    rows: list[dict[str, Any]]  #: the newest first.

    @property
    def value(self) -> list[dict[str, Any]]:
        """Every row with what came of it."""
        return add_verdicts(self.rows, store=self.site.store)

    def html(self) -> str:
        """The page; of studies that would take long, what came of them is left to their own page."""
        rows = add_verdicts(self.rows, store=self.site.store, seconds=None if self.site.exported else VERDICT_TIMEOUT_S)
        rendered = render_sections(build_list_sections(rows), ServedLinks(self.site.root, ""))
        return self.site.render("list.html", "studies", title="Studies", sections=rendered)


@dataclass(frozen=True)
class StudyPage:
    """A study."""

    site: Site  #: what is served.
    study: StudyResult  #: its trials, and what they say together.

    @property
    def value(self) -> Mapping[str, Any]:
        """Every number, as `ragauge study show --json` prints them."""
        return self.study.to_dict()

    def html(self) -> str:
        """The page."""
        study, links = self.study.study, ServedLinks(self.site.root, "")
        values = build_sections_context(
            build_study_page(self.study.figures), links, study.name, describe_study(study), "study"
        )
        return self.site.render("sections.html", "studies", above=((f"{self.site.root}/studies", "Studies"),), **values)


def build_page(site: Site, params: QueryParams) -> StudiesPage:
    """The list of studies."""
    parse_options(params, ())
    return StudiesPage(site, list_stored_studies(store=site.store))


def build_table(site: Site, params: QueryParams) -> Table:
    """A row a study, with its trials by state."""
    rows = [
        {**{name: value for name, value in row.items() if name != "trials"}, **row["trials"]}
        for row in build_page(site, params).value
    ]
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def build_detail_page(site: Site, params: QueryParams, name: str) -> StudyPage:
    """The study that an address names, read as it asks.

    Raises:
        NoSuchPage: no such study.
        UsageError: no such metric, measurement or trial; a target that is no number.
    """
    options, name = parse_options(params, READING_KEYS), decode_name(name)
    require_known("study", name, (row["name"] for row in list_stored_studies(store=site.store)))
    return StudyPage(
        site,
        open_study(
            name,
            metric=options.get("metric", ""),
            base=options.get("base", ""),
            target=options.get("target"),
            cost=options.get("cost", ""),
            store=site.store,
        ),
    )


def build_trials_table(site: Site, params: QueryParams, name: str) -> Table:
    """A row a trial: its parameters, measurements and means."""
    trials = build_detail_page(site, params, name).study.trials
    return trials.columns, trials.to_dicts()


ADDRESSES = (
    Address("/studies", build_page, "All sweeps and component studies with their results.", table=build_table),
    Address(
        "/studies/{name:text}",
        build_detail_page,
        "One study: trials, charts, segments and the recommendation.",
        table=build_trials_table,
    ),
)
