"""`/monitor`: where monitors stand, the alerts that they raised, and what became of each trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UnknownName
from ragauge.core.messages import plural
from ragauge.dashboard.list_page import ListPage
from ragauge.dashboard.site import NoSuchPage, Site, Table, asked_of, number_of
from ragauge.evaluation.scorecard.html import sections_values
from ragauge.monitoring.alerts import tables as reporting
from ragauge.monitoring.alerts import verb as monitor_alerts
from ragauge.monitoring.alerts.verb import ToldAlert
from ragauge.monitoring.drift.tables import NO_ALERTS, drift_sections
from ragauge.monitoring.drift.verb import monitor_drift, monitor_mark
from ragauge.monitoring.replay.verb import NoTraffic, section_of
from ragauge.monitoring.traffic import tables as told
from ragauge.monitoring.traffic.verb import trace, traces, traffic
from ragauge.rendering.encoder import encode
from ragauge.rendering.lists import ServedLinks, named_by, question
from ragauge.rendering.sections import ReportSection
from ragauge.rendering.words import opened
from ragauge.rendering.writers.html import sections_html

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

LIMIT = 50  # traces of a page


@dataclass(frozen=True)
class MonitorPage:
    """Where monitors stand.

    Attributes:
        site: what is served.
        monitored: each series.
        traffic: what came in.
        alerts: all of them.
    """

    site: Site
    monitored: Any
    traffic: Any
    alerts: Any

    @property
    def value(self) -> dict[str, Any]:
        """Where monitors stand, and what came in."""
        return {"monitors": self.monitored, "traffic": self.traffic}

    def html(self) -> str:
        """The page."""
        root, opened = self.site.root, sum(one.alert.ended_at is None for one in self.alerts.alerts)
        said = plural(len(self.alerts.alerts), "alert") + (f", {opened:,} open" if opened else "")
        above = [
            (f"{root}/monitor/alerts", said),
            (f"{root}/monitor/traces", plural(self.traffic.traces, "trace")),
            (f"{root}/monitor/drift", "Drift"),
        ]
        found = chain(reporting.monitored_sections(self.monitored), told.status_sections(self.traffic))
        shown = sections_html(found, ServedLinks(root, ""))
        return self.site.render("list.html", "monitor", title="Monitor", sections=shown, above=above)


def page(site: Site, given: QueryParams) -> MonitorPage:
    """Where every monitor of the configuration stands."""
    asked_of(given, ())
    found = monitor_alerts.monitors(config=site.config, store=site.store).found
    raised = monitor_alerts.alerts(store=site.store).found
    return MonitorPage(site, found, traffic(config=site.config, store=site.store).found, raised)


def table(site: Site, given: QueryParams) -> Table:
    """A row a series."""
    asked_of(given, ())
    rows = []
    for one in monitor_alerts.monitors(config=site.config, store=site.store).found.series:
        row = dict(encode(one))
        name, value = row.pop("segment")
        row.pop("days")
        rows.append({"segment": name, "value": value, **row})
    return _columns(rows), rows


def alerts_page(site: Site, given: QueryParams) -> ListPage:
    """Every alert."""
    asked_of(given, ())
    found = monitor_alerts.alerts(store=site.store).found
    return ListPage(site, "monitor", "Alerts", found, reporting.list_sections, _above(site))


def alerts_table(site: Site, given: QueryParams) -> Table:
    """A row an alert."""
    rows = []
    for one in alerts_page(site, given).value.alerts:
        row = dict(encode(one.alert))
        name, value = row.pop("segment")
        rows.append({**row, "segment": name, "value": value, "resolution": one.resolution})
    return _columns(rows), rows


@dataclass(frozen=True)
class AlertPage:
    """One alert.

    Attributes:
        site: what is served.
        value: all that it has to say.
    """

    site: Site
    value: ToldAlert

    def html(self) -> str:
        """The page."""
        found = self.value
        sections = reporting.kept_sections(found.account, found.resolution, found.missing)
        values = sections_values(sections, ServedLinks(self.site.root, ""), what="alert")
        above = (*_above(self.site), (f"{self.site.root}/monitor/alerts", "Alerts"))
        return self.site.render(
            "alert.html", "monitor", alert=found.account.alert, said=found.resolution, above=above, **values
        )


def one_alert(site: Site, given: QueryParams, alert: str) -> AlertPage:
    """The alert that an address names.

    Raises:
        NoSuchPage: no such alert.
    """
    asked_of(given, ())
    try:
        return AlertPage(site, monitor_alerts.alert(named_by(alert), config=site.config, store=site.store).found)
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error


def resolve(site: Site, alert: str, said: str) -> str:
    """Says what an alert was, as a form gives it; returns the address that shows it.

    Raises:
        UnknownName: no such alert, or no such word.
    """
    found = monitor_alerts.resolve_alert(named_by(alert), resolution=said, store=site.store)
    return ServedLinks(site.root, "").link("alert", found.alert.alert_id)


@dataclass(frozen=True)
class TracesPage:
    """A page of the ledger.

    Attributes:
        site: what is served.
        asked: outcome, beginning of the id, page.
        value: the rows.
    """

    site: Site
    asked: dict[str, str]
    value: Any

    def html(self) -> str:
        """The page."""
        number = int(self.asked.get("page", "1"))
        behind = number * LIMIT < self.value.matching
        return self.site.render(
            "traces.html",
            "monitor",
            found=self.value,
            asked=self.asked,
            sections=sections_html(told.list_sections(self.value), ServedLinks(self.site.root, "")),
            before=self._turned(number - 1) if number > 1 else "",
            behind=self._turned(number + 1) if behind else "",
        )

    def _turned(self, number: int) -> str:
        return f"{self.site.root}/monitor/traces{question({**self.asked, 'page': str(number)})}"


def _listed(site: Site, given: QueryParams, limit: int | None) -> TracesPage:
    asked = asked_of(given, ("outcome", "id", "page"))
    skip = 0 if limit is None else (number_of(asked, "page", 1, 1) - 1) * limit
    found = traces(
        outcome=asked.get("outcome", ""), begins=asked.get("id", ""), limit=limit, skip=skip, store=site.store
    )
    return TracesPage(site, asked, found)


def traces_page(site: Site, given: QueryParams) -> TracesPage:
    """The part of the ledger that an address asks for; a whole id of one that was not read yet leads to it."""
    return _listed(site, given, LIMIT)


def traces_table(site: Site, given: QueryParams) -> Table:
    """A row a trace, whatever the page."""
    rows = [dict(encode(row)) for row in _listed(site, given, None).value.rows]
    return _columns(rows), rows


@dataclass(frozen=True)
class TracePage:
    """One trace.

    Attributes:
        site: what is served.
        story: what became of it.
        spans: as they came; None where what reads them is not installed.
    """

    site: Site
    story: Any
    spans: Any

    @property
    def value(self) -> dict[str, Any]:
        """What became of it, and the spans."""
        return {"trace": self.story, "spans": self.spans}

    def html(self) -> str:
        """The page."""
        values = sections_values(self._sections(), ServedLinks(self.site.root, ""), what="trace")
        above = (*_above(self.site), (f"{self.site.root}/monitor/traces", "Traces"))
        return self.site.render("sections.html", "monitor", above=above, **values)

    def _sections(self) -> Iterator[ReportSection]:
        yield from told.trace_sections(self.story)
        if self.spans is not None:
            yield from told.span_sections(self.spans)


def one_trace(site: Site, given: QueryParams, trace: str) -> TracePage:
    """The trace that an address names.

    Raises:
        NoSuchPage: no part of it has come.
    """
    asked_of(given, ())
    story = _story(site, named_by(trace))
    try:
        from ragauge.monitoring.intake.raw import raw_spans
    except ImportError:  # without the extra `monitor`
        return TracePage(site, story, None)
    return TracePage(site, story, raw_spans(story.trace_id, site.store))


def _story(site: Site, trace_id: str) -> Any:
    try:
        return trace(trace_id, store=site.store).found
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error


@dataclass(frozen=True)
class DriftPage:
    """Drift of the stored traffic.

    Attributes:
        site: what is served.
        asked: the last day that is looked at, and the project.
    """

    site: Site
    asked: dict[str, str]

    @property
    def value(self) -> Any:
        """The tests of the last seven days, and how the last one differs."""
        monitor = section_of(self.site.config)
        project = self.asked.get("project") or ("" if monitor is None else monitor.project)
        return monitor_drift(day=self.asked.get("day", ""), project=project, store=self.site.store).found

    def html(self) -> str:
        """The page, which takes seconds over much traffic: made once of the same responses."""
        days = traffic(config=self.site.config, store=self.site.store).found
        marked = monitor_mark(store=self.site.store).found
        jobs = [(one.name, one.due, one.run_id) for one in days.jobs]
        return self.site.kept(("drift", repr((days.days, marked, jobs)), *sorted(self.asked.items())), self._made)

    def _made(self) -> str:
        above, sections = list(_above(self.site)), list[ReportSection]()
        try:
            found = self.value
            sections += drift_sections(found)
            above += [(self._of(name), f"Drift of {name}") for name in found.others]
        except NoTraffic as error:
            if self.asked:
                raise
            sections.append(ReportSection(lead=(opened(str(error)),)))
        monitor = section_of(self.site.config)
        if monitor is None or not monitor.drift:
            sections.append(ReportSection(lead=(NO_ALERTS,)))
        shown = sections_html(sections, ServedLinks(self.site.root, ""))
        return self.site.render("list.html", "monitor", title="Drift", sections=shown, above=above)

    def _of(self, project: str) -> str:
        """The address of another project's drift, up to the same day."""
        return f"{self.site.root}/monitor/drift{question({**self.asked, 'project': project})}"


def drift(site: Site, given: QueryParams) -> DriftPage:
    """Drift of a project up to the day that an address asks for; without one, to the last with traffic."""
    return DriftPage(site, asked_of(given, ("day", "project")))


def _above(site: Site) -> tuple[tuple[str, str], ...]:
    """What leads to a list of this section."""
    return ((f"{site.root}/monitor", "Monitor"),)


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))
