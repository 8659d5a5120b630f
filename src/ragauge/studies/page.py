"""`/studies` and `/studies/S`: sweeps and studies of components, each with the sections and charts of its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.dashboard.site import Site, Table, asked_of, there
from ragauge.evaluation.scorecard.html import sections_values
from ragauge.rendering.lists import ServedLinks, named_by
from ragauge.rendering.writers.html import sections_html
from ragauge.studies.tables import about_study, sections, study_page
from ragauge.studies.verb import open_study, studies, with_verdicts

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

    from ragauge.studies.result import StudyResult

READING = ("metric", "base", "target", "cost")  # how a study is read, as `ragauge study show` takes it
PATIENCE = 3.0  # seconds for what came of studies


@dataclass(frozen=True)
class StudiesPage:
    """Every study.

    Attributes:
        site: what is served.
        rows: the newest first.
    """

    site: Site
    rows: list[dict[str, Any]]

    @property
    def value(self) -> list[dict[str, Any]]:
        """Every row with what came of it."""
        return with_verdicts(self.rows, store=self.site.store)

    def html(self) -> str:
        """The page; of studies that would take long, what came of them is left to their own page."""
        rows = with_verdicts(self.rows, store=self.site.store, seconds=None if self.site.exported else PATIENCE)
        shown = sections_html(sections(rows), ServedLinks(self.site.root, ""))
        return self.site.render("list.html", "studies", title="Studies", sections=shown)


@dataclass(frozen=True)
class StudyPage:
    """A study.

    Attributes:
        site: what is served.
        found: its trials, and what they say together.
    """

    site: Site
    found: StudyResult

    @property
    def value(self) -> Mapping[str, Any]:
        """Every number, as `ragauge study show --json` prints them."""
        return self.found.to_dict()

    def html(self) -> str:
        """The page."""
        study, links = self.found.study, ServedLinks(self.site.root, "")
        values = sections_values(study_page(self.found.figures), links, study.name, about_study(study), "study")
        return self.site.render("sections.html", "studies", above=((f"{self.site.root}/studies", "Studies"),), **values)


def page(site: Site, given: QueryParams) -> StudiesPage:
    """The list of studies."""
    asked_of(given, ())
    return StudiesPage(site, studies(store=site.store))


def table(site: Site, given: QueryParams) -> Table:
    """A row a study, with its trials by state."""
    rows = [
        {**{name: value for name, value in row.items() if name != "trials"}, **row["trials"]}
        for row in page(site, given).value
    ]
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def one(site: Site, given: QueryParams, name: str) -> StudyPage:
    """The study that an address names, read as it asks.

    Raises:
        NoSuchPage: no such study.
        UsageError: no such metric, measurement or trial; a target that is no number.
    """
    asked, name = asked_of(given, READING), named_by(name)
    there("study", name, (row["name"] for row in studies(store=site.store)))
    return StudyPage(
        site,
        open_study(
            name,
            metric=asked.get("metric", ""),
            base=asked.get("base", ""),
            target=asked.get("target"),
            cost=asked.get("cost", ""),
            store=site.store,
        ),
    )


def trials_table(site: Site, given: QueryParams, name: str) -> Table:
    """A row a trial: its parameters, measurements and means."""
    trials = one(site, given, name).found.trials
    return trials.columns, trials.to_dicts()
