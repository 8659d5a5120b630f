"""`/runs/R`: the report of a run; of one that has not been evaluated, what is known of it and the command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.comparison.baselines.verb import baselines, list_baseline_names
from ragauge.comparison.history.tables import build_change_sections
from ragauge.comparison.tables.words import describe_against_baseline
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.messages import format_count
from ragauge.dashboard.site import Address, Site, parse_options
from ragauge.evaluation.overview.verb import compare_with_default
from ragauge.evaluation.runs.run_rows import RunProgress, RunRow
from ragauge.evaluation.runs.verb import OpenRun
from ragauge.evaluation.scorecard import page_parts as report
from ragauge.evaluation.scorecard.result import Scorecard
from ragauge.labels.label.label_session import list_draws
from ragauge.rendering.verdict_texts import verdict
from ragauge.rendering.writers.html import render_sections

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

KEYS = ("judge", "baseline")
FORM_ACTIONS = ("tag", "untag", "note", "baseline", "remove-baseline")  # what a form of this page did
UNFINISHED = ("in flight", "stopped")  # states of which a page says how far the run is


@dataclass(frozen=True)
class ReportPage:
    """An evaluated run."""

    site: Site  #: what is served.
    run: OpenRun  #: of the store.
    #: its scorecard, beside the run that was asked for, or else the one that it is usually held against.
    card: Scorecard
    why: str  #: it is held against the latter; "" where the former was asked for, or there is none.
    params: dict[str, str]  #: whose verdicts, beside which other run.
    row: RunRow  #: the run as lists show it.
    done: str = ""  #: what a form of this page did, in a sentence; "" where none was sent.

    @property
    def value(self) -> Any:
        """Every number that was asked for: a comparison only where a baseline was named."""
        return self.run.scorecard(self.params.get("judge")).card if self.why else self.card.card

    def html(self) -> str:
        """The page."""
        live = self.run.progress(self.site.paces) if self.row.state in UNFINISHED else None
        if self.card.kept_as is None or live is not None:
            return self._render_page(live)
        made_of = (self.card.kept_as, self.why, self.done, *sorted(self.params.items()), repr(self.row))
        return self.site.get_or_render(("run", *made_of), lambda: self._render_page(None))

    def _render_page(self, live: RunProgress | None) -> str:
        link_options = {"judge": self.params["judge"]} if "judge" in self.params else {}
        card = self.card.card
        links = self.site.build_links(self.run, link_options)
        values = report.build_context(card, links)
        return self.site.render(
            "run.html",
            "runs",
            **values,
            now=verdict(card),
            now_of=card.run.name,
            manage=self.row,
            changed_since=render_sections(build_change_sections(card.history), links, 3),
            told=describe_against_baseline(card),
            why=self.why,
            live=live,
            shown_of=card.n,
            **_build_management(self.site, self.run, self.done),
            held=card.baseline.base.run_id if card.baseline is not None else "",
        )


@dataclass(frozen=True)
class FactsPage:
    """A run that nobody has evaluated."""

    site: Site  #: what is served.
    run: OpenRun  #: of the store.
    why: str  #: it has no scorecard, and how to get it.
    done: str = ""  #: what a form of this page did, in a sentence; "" where none was sent.

    @property
    def value(self) -> dict[str, Any]:
        """What is known of it, its state in the words of lists."""
        return self.run.to_dict() | {"state": self.run.row().state}

    def html(self) -> str:
        """The page."""
        row = self.run.progress(self.site.paces)
        return self.site.render(
            "facts.html",
            "runs",
            run=self.run.run,
            row=row,
            why=self.why,
            manage=row,
            live=row.state in UNFINISHED,
            **_build_management(self.site, self.run, self.done),
        )


def _build_management(site: Site, run: OpenRun, done_text: str) -> dict[str, Any]:
    """What the forms of a run's page say beside the run: what was just done, its baselines, and its draws."""
    draws = () if site.exported or site.access.read_only else list_draws(run.run.run_id, store=site.store)
    draw_texts = [f"draw {draw.draw} ({format_count(sum(draw.labelled.values()), 'label')})" for draw in draws]
    return {"done": done_text, "stands_for": list_baseline_names(run, site.store), "drawn": draw_texts}


def _describe_done(site: Site, run: OpenRun, options: dict[str, str]) -> str:
    """What the form that led here did, as far as it is so now; its keys are taken out of what is asked for.

    Raises:
        UnknownName: nothing that a form does.
    """
    did, what = options.pop("did", ""), options.pop("what", "")
    if not did:
        return ""
    if did not in FORM_ACTIONS:
        raise UnknownName("action", did, FORM_ACTIONS)
    row = run.row()
    if did == "note":
        return "The note was saved." if row.note else "The note was removed."
    if did in ("tag", "untag"):
        so = (what in row.tags) == (did == "tag")
        return "" if not so else f"Tagged {what}." if did == "tag" else f"The tag {what} was removed."
    if did == "remove-baseline":
        return "" if what in list_baseline_names(run, site.store) else f"{what} is no longer a baseline."
    current, previous = ([*baselines(name=what, history=True, store=site.store), None, None])[:2]
    if current is None or current["run_id"] != row.run_id:
        return ""
    was = "" if previous is None or not previous["run_id"] else f"; it was {previous['run']}"
    return f"The baseline {what} is now {row.name}{was}."


@dataclass(frozen=True)
class StatePage:
    """Progress of a run."""

    site: Site  #: what is served.
    value: RunProgress  #: the run as lists show it, and how it goes on.

    def html(self) -> str:
        """The words alone, as they stand in lists and on the run's page."""
        return self.site.render("state.html", "runs", row=self.value)


def build_state_page(site: Site, params: QueryParams, run: str) -> StatePage:
    """How far the run of an address is.

    Raises:
        NoSuchPage: no such run.
    """
    parse_options(params, ())
    return StatePage(site, site.run(run).progress(site.paces))


def build_page(site: Site, params: QueryParams, run: str) -> ReportPage | FactsPage:
    """The page that an address asks for.

    Raises:
        NoSuchPage: no such run.
        UsageError: no such judge or baseline, or a baseline that was judged otherwise.
    """
    options = parse_options(params, (*KEYS, "did", "what"))
    opened_run = site.run(run)
    done_text = _describe_done(site, opened_run, options)
    try:
        comparison = compare_with_default(
            opened_run.run, options.get("judge"), baseline=options.get("baseline", ""), store=site.store
        )
    except UnknownName:
        raise
    except UsageError as error:
        if options:
            raise
        return FactsPage(site, opened_run, str(error), done_text)
    return ReportPage(site, opened_run, comparison.shown, comparison.why, options, comparison.row, done_text)


ADDRESSES = (
    Address("/runs/{run}", build_page, "One run: verdict, what to do, scores.", "scorecard"),
    Address("/runs/{run}/state", build_state_page, "Progress of a run."),
)
