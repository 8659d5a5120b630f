"""`/monitor`: where monitors stand, the alerts that they raised, and what became of each trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UnknownName
from ragauge.core.json_keys import encode
from ragauge.core.messages import format_count
from ragauge.dashboard.site import Address, ListPage, NoSuchPage, Site, Table, parse_number, parse_options
from ragauge.evaluation.scorecard.html import build_sections_context
from ragauge.monitoring.alerts import tables as reporting
from ragauge.monitoring.alerts import verb as monitor_alerts
from ragauge.monitoring.alerts.verb import AlertReport
from ragauge.monitoring.drift.tables import NO_ALERTS, build_drift_sections
from ragauge.monitoring.drift.verb import monitor_drift, monitor_mark
from ragauge.monitoring.replay.verb import NoTrafficError, read_section
from ragauge.monitoring.traffic import tables as told
from ragauge.monitoring.traffic.verb import build_traffic_status, find_trace, load_trace_page
from ragauge.rendering.lists import ServedLinks, decode_name, format_query
from ragauge.rendering.sections import ReportSection
from ragauge.rendering.words import opened
from ragauge.rendering.writers.html import render_sections

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

PAGE_SIZE = 50  # traces of a page


@dataclass(frozen=True)
class MonitorPage:
    """Where monitors stand."""

    site: Site  #: what is served.
    monitored: Any  #: each series.
    traffic: Any  #: what came in.
    alerts: Any  #: all of them.

    @property
    def value(self) -> dict[str, Any]:
        """Where monitors stand, and what came in."""
        return {"monitors": self.monitored, "traffic": self.traffic}

    def html(self) -> str:
        """The page."""
        root, n_open = self.site.root, sum(entry.alert.ended_at is None for entry in self.alerts.alerts)
        alerts_text = format_count(len(self.alerts.alerts), "alert") + (f", {n_open:,} open" if n_open else "")
        above = [
            (f"{root}/monitor/alerts", alerts_text),
            (f"{root}/monitor/traces", format_count(self.traffic.traces, "trace")),
            (f"{root}/monitor/drift", "Drift"),
        ]
        page_sections = chain(reporting.build_status_sections(self.monitored), told.build_status_sections(self.traffic))
        rendered = render_sections(page_sections, ServedLinks(root, ""))
        return self.site.render("list.html", "monitor", title="Monitor", sections=rendered, above=above)


def build_page(site: Site, params: QueryParams) -> MonitorPage:
    """Where every monitor of the configuration stands."""
    parse_options(params, ())
    monitored = monitor_alerts.list_monitors(config=site.config, store=site.store).data
    raised = monitor_alerts.list_alerts(store=site.store).data
    return MonitorPage(site, monitored, build_traffic_status(config=site.config, store=site.store).data, raised)


def build_table(site: Site, params: QueryParams) -> Table:
    """A row a series."""
    parse_options(params, ())
    rows = []
    for series_status in monitor_alerts.list_monitors(config=site.config, store=site.store).data.series:
        row = dict(encode(series_status))
        name, value = row.pop("segment")
        row.pop("days")
        rows.append({"segment": name, "value": value, **row})
    return _list_columns(rows), rows


def build_alerts_page(site: Site, params: QueryParams) -> ListPage:
    """Every alert."""
    parse_options(params, ())
    alert_list = monitor_alerts.list_alerts(store=site.store).data
    return ListPage(site, "monitor", "Alerts", alert_list, reporting.build_list_sections, _build_breadcrumbs(site))


def build_alerts_table(site: Site, params: QueryParams) -> Table:
    """A row an alert."""
    rows = []
    for entry in build_alerts_page(site, params).value.alerts:
        row = dict(encode(entry.alert))
        name, value = row.pop("segment")
        rows.append({**row, "segment": name, "value": value, "resolution": entry.resolution})
    return _list_columns(rows), rows


@dataclass(frozen=True)
class AlertPage:
    """One alert."""

    site: Site  #: what is served.
    value: AlertReport  #: all that it has to say.

    def html(self) -> str:
        """The page."""
        told_alert = self.value
        sections = reporting.build_stored_alert_sections(told_alert.account, told_alert.resolution, told_alert.missing)
        values = build_sections_context(sections, ServedLinks(self.site.root, ""), what="alert")
        above = (*_build_breadcrumbs(self.site), (f"{self.site.root}/monitor/alerts", "Alerts"))
        return self.site.render(
            "alert.html", "monitor", alert=told_alert.account.alert, said=told_alert.resolution, above=above, **values
        )


def build_alert_page(site: Site, params: QueryParams, alert: str) -> AlertPage:
    """The alert that an address names.

    Raises:
        NoSuchPage: no such alert.
    """
    parse_options(params, ())
    try:
        return AlertPage(site, monitor_alerts.find_alert(decode_name(alert), config=site.config, store=site.store).data)
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error


def resolve_alert(site: Site, alert: str, resolution: str) -> str:
    """Says what an alert was, as a form gives it; returns the address that shows it.

    Raises:
        UnknownName: no such alert, or no such word.
    """
    resolved = monitor_alerts.resolve_alert(decode_name(alert), resolution=resolution, store=site.store)
    return ServedLinks(site.root, "").link("alert", resolved.alert.alert_id)


@dataclass(frozen=True)
class TracesPage:
    """A page of the ledger."""

    site: Site  #: what is served.
    params: dict[str, str]  #: outcome, beginning of the id, page.
    value: Any  #: the rows.

    def html(self) -> str:
        """The page."""
        number = int(self.params.get("page", "1"))
        behind = number * PAGE_SIZE < self.value.matching
        return self.site.render(
            "traces.html",
            "monitor",
            found=self.value,
            asked=self.params,
            sections=render_sections(told.build_list_sections(self.value), ServedLinks(self.site.root, "")),
            before=self._link_page(number - 1) if number > 1 else "",
            behind=self._link_page(number + 1) if behind else "",
        )

    def _link_page(self, number: int) -> str:
        return f"{self.site.root}/monitor/traces{format_query({**self.params, 'page': str(number)})}"


def _build_traces_page(site: Site, params: QueryParams, limit: int | None) -> TracesPage:
    options = parse_options(params, ("outcome", "id", "page"))
    skip = 0 if limit is None else (parse_number(options, "page", 1, 1) - 1) * limit
    trace_list = load_trace_page(
        outcome=options.get("outcome", ""), begins=options.get("id", ""), limit=limit, skip=skip, store=site.store
    )
    return TracesPage(site, options, trace_list)


def build_traces_page(site: Site, params: QueryParams) -> TracesPage:
    """The part of the ledger that an address asks for; a whole id of one that was not read yet leads to it."""
    return _build_traces_page(site, params, PAGE_SIZE)


def build_traces_table(site: Site, params: QueryParams) -> Table:
    """A row a trace, whatever the page."""
    rows = [dict(encode(row)) for row in _build_traces_page(site, params, None).value.rows]
    return _list_columns(rows), rows


@dataclass(frozen=True)
class TracePage:
    """One trace."""

    site: Site  #: what is served.
    story: Any  #: what became of it.
    spans: Any  #: as they came; None where what reads them is not installed.

    @property
    def value(self) -> dict[str, Any]:
        """What became of it, and the spans."""
        return {"trace": self.story, "spans": self.spans}

    def html(self) -> str:
        """The page."""
        values = build_sections_context(self._build_sections(), ServedLinks(self.site.root, ""), what="trace")
        above = (*_build_breadcrumbs(self.site), (f"{self.site.root}/monitor/traces", "Traces"))
        return self.site.render("sections.html", "monitor", above=above, **values)

    def _build_sections(self) -> Iterator[ReportSection]:
        yield from told.build_trace_sections(self.story)
        if self.spans is not None:
            yield from told.build_span_sections(self.spans)


def build_trace_page(site: Site, params: QueryParams, trace: str) -> TracePage:
    """The trace that an address names.

    Raises:
        NoSuchPage: no part of it has come.
    """
    parse_options(params, ())
    story = _find_story(site, decode_name(trace))
    try:
        from ragauge.monitoring.intake.receiver import load_raw_spans
    except ImportError:  # without the extra `monitor`
        return TracePage(site, story, None)
    return TracePage(site, story, load_raw_spans(story.trace_id, site.store))


def _find_story(site: Site, trace_id: str) -> Any:
    try:
        return find_trace(trace_id, store=site.store).data
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error


@dataclass(frozen=True)
class DriftPage:
    """Drift of the stored traffic."""

    site: Site  #: what is served.
    params: dict[str, str]  #: the last day that is looked at, and the project.

    @property
    def value(self) -> Any:
        """The tests of the last seven days, and how the last one differs."""
        monitor = read_section(self.site.config)
        project = self.params.get("project") or ("" if monitor is None else monitor.project)
        return monitor_drift(day=self.params.get("day", ""), project=project, store=self.site.store).data

    def html(self) -> str:
        """The page, which takes seconds over much traffic: made once of the same responses."""
        days = build_traffic_status(config=self.site.config, store=self.site.store).data
        marked = monitor_mark(store=self.site.store).data
        jobs = [(job.name, job.due, job.run_id) for job in days.jobs]
        return self.site.get_or_render(
            ("drift", repr((days.days, marked, jobs)), *sorted(self.params.items())), self._render_page
        )

    def _render_page(self) -> str:
        above, sections = list(_build_breadcrumbs(self.site)), list[ReportSection]()
        try:
            drift_report = self.value
            sections += build_drift_sections(drift_report)
            above += [(self._link_project(name), f"Drift of {name}") for name in drift_report.others]
        except NoTrafficError as error:
            if self.params:
                raise
            sections.append(ReportSection(lead=(opened(str(error)),)))
        monitor = read_section(self.site.config)
        if monitor is None or not monitor.drift:
            sections.append(ReportSection(lead=(NO_ALERTS,)))
        rendered = render_sections(sections, ServedLinks(self.site.root, ""))
        return self.site.render("list.html", "monitor", title="Drift", sections=rendered, above=above)

    def _link_project(self, project: str) -> str:
        """The address of another project's drift, up to the same day."""
        return f"{self.site.root}/monitor/drift{format_query({**self.params, 'project': project})}"


def build_drift_page(site: Site, params: QueryParams) -> DriftPage:
    """Drift of a project up to the day that an address asks for; without one, to the last with traffic."""
    return DriftPage(site, parse_options(params, ("day", "project")))


def _build_breadcrumbs(site: Site) -> tuple[tuple[str, str], ...]:
    """What leads to a list of this section."""
    return ((f"{site.root}/monitor", "Monitor"),)


def _list_columns(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


ADDRESSES = (
    Address(
        "/monitor", build_page, "The state of each monitor by segment, and the incoming traffic.", table=build_table
    ),
    Address("/monitor/alerts", build_alerts_page, "All alerts and how they were resolved.", table=build_alerts_table),
    Address("/monitor/alerts/{alert:text}", build_alert_page, "One alert: start, segment, cause, worst traces."),
    Address("/monitor/drift", build_drift_page, "Whether questions and passages have changed, and how."),
    Address("/monitor/traces", build_traces_page, "The status of each trace.", table=build_traces_table),
    Address("/monitor/traces/{trace:text}", build_trace_page, "One trace: its status and raw spans."),
)
