"""Alerts of monitors and where their series stand, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.core.messages import format_command, format_count, format_value
from ragauge.monitoring.alerts import alert_coverage as watched
from ragauge.monitoring.alerts.alert_coverage import (
    build_shares_section,
    describe_false_alarms,
    describe_projects,
    format_headline,
)
from ragauge.monitoring.drift.tables import build_days_section
from ragauge.monitoring.series.monitor_specs import OPEN_STATES
from ragauge.monitoring.series.tables import (
    TONES,
    build_days_chart,
    build_replay_section,
    build_standing_section,
    describe_corrected,
    format_mean,
)
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, build_columns
from ragauge.rendering.words import to_line
from ragauge.scores.results.chart import ChartPoint, ReportChart

if TYPE_CHECKING:
    from ragauge.monitoring.replay.compute import MonitoringStatus, Replay, SeriesStatus
    from ragauge.monitoring.series.alert_details import AlertAccount, FactShare, SegmentShift
    from ragauge.monitoring.series.gauge_monitors import GaugeStatus
    from ragauge.monitoring.series.monitor_specs import Resolution
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.store.monitors import AlertList

RESOLUTION_WORDS: dict[str, str] = {"": "–", "acknowledged": "acknowledged", "false_alarm": "marked as a false alarm"}
MIN_CHANGE, MAX_QUERY_CHARS = 0.0005, 200  # characters of a question; a change below it is none
MINUS = "\N{MINUS SIGN}"
MAX_HEADLINES = 3  # open alerts of which status says what they are
MAX_CHARTS = 12  # series that are drawn, those that fire first
NO_ALERT = "No alerts so far. To see how close each monitor is to an alert:"
NO_SCORE = "No scores yet. Scores come from the traffic that ragauge monitor serve ingests."
DAYS_CAPTION = "daily mean ± 1.96 standard errors, with the allowed limit"
RESOLVE_NOTE = (
    "The first command shows one alert in full: causes, changes and the worst traces. The second marks it as a false "
    "alarm; without --as, it acknowledges the alert."
)


def build_replay_sections(replay: Replay) -> Iterator[ReportSection]:
    """The alerts there would have been, then where each series stands."""
    pending = f", {replay.pending:,} of them not judged yet" if replay.pending else ""
    about = f"{format_count(replay.requests, 'request')}{pending}, {replay.first} to {replay.last}"
    allowed = describe_false_alarms(replay.shares)
    lead = f"{format_count(len(replay.alerts), 'alert')}." if replay.alerts else "No alerts."
    yield ReportSection("Monitors", about, (Phrase(lead, "bad" if replay.alerts else "good"), allowed))
    unsegmented_monitors = {account.alert.monitor for account in replay.alerts if not account.alert.segment[0]}
    for account in replay.alerts:
        sections = build_alert_sections(account, replay.ended.get(account.alert.alert_id, ""))
        yield next(sections)
        if (
            not account.alert.segment[0] or account.alert.monitor not in unsegmented_monitors
        ):  # else the alert of all requests says it
            yield from sections
    yield build_replay_section(replay.series)
    if replay.drift:
        yield build_days_section(replay.drift)


def build_alert_sections(account: AlertAccount, ended: str = "") -> Iterator[ReportSection]:
    """One alert: since when, how much, where, why, what changed, which traces."""
    alert = account.alert
    yield ReportSection(
        format_headline(alert, account.corrected),
        f"alert {alert.alert_id}",
        tuple(_describe_change(account, ended)),
        after=tuple(_describe_shift(shift) for shift in account.shifts[:2]),
        top=True,
    )
    if account.shifts and account.shifts[0].parts:
        yield _build_shift_section(account.shifts[0])
    if account.mix:
        yield ReportSection(
            "Mix of requests", "segments whose share changed", table=_build_fact_table("segment", account.mix)
        )
    yield from watched.build_failure_sections(account)
    if account.facts:
        yield ReportSection("What changed in the traces", table=_build_fact_table("attribute", account.facts))
    if account.traces:
        worst = tuple(
            (
                Phrase(to_line(trace.trace_id), to=("trace", trace.trace_id)),
                Phrase(to_line(trace.run_id), to=("run", trace.run_id)),
                "–" if trace.at is None else f"{trace.at:%Y-%m-%d %H:%M}",
                to_line(trace.query, MAX_QUERY_CHARS),
                format_value(trace.value),
            )
            for trace in account.traces
        )
        names = (ReportColumn(name, whole=True) for name in ("trace", "run", "arrived"))
        headers = (*names, ReportColumn("question", room=1), ReportColumn("score", "number"))
        yield ReportSection("Worst traces", table=ReportTable(headers, worst))


def build_list_sections(alert_list: AlertList) -> Iterator[ReportSection]:
    """Every alert in a row: whether it is open, and what people say of it."""
    alerts = alert_list.alerts
    n_open = sum(entry.alert.ended_at is None for entry in alerts)
    lead = [NO_ALERT if not alerts else f"{format_count(len(alerts), 'alert')}, {n_open:,} open."]
    if alert_list.precision is not None:
        real = round(alert_list.precision * alert_list.resolved)
        lead.append(f"Of {format_count(alert_list.resolved, 'reviewed alert')}, {real:,} were not false alarms.")
    headers = (
        ReportColumn("alert", whole=True),
        ReportColumn("state", whole=True),
        ReportColumn("alert text"),
        ReportColumn("fired", whole=True, room=1),
        ReportColumn("resolution", whole=True),
    )
    rows = tuple(
        (
            Phrase(entry.alert.alert_id, to=("alert", entry.alert.alert_id)),
            _format_alert_state(entry.alert),
            format_headline(entry.alert, entry.corrected),
            f"{entry.alert.fired_at:%Y-%m-%d %H:%M}",
            RESOLUTION_WORDS[entry.resolution],
        )
        for entry in alerts
    )
    if not rows:
        yield ReportSection(lead=tuple(lead), commands=(format_command("monitor", "status"),))
        return
    commands = (
        format_command("monitor", "alerts", "ALERT"),
        format_command("monitor", "resolve", "ALERT", "--as", "false_alarm"),
    )
    yield ReportSection(lead=tuple(lead), table=ReportTable(headers, rows), notes=(RESOLVE_NOTE,), commands=commands)


def build_stored_alert_sections(
    account: AlertAccount, resolution: Resolution, missing: str = ""
) -> Iterator[ReportSection]:
    """One alert with what people say of it, and why it says no more than that, where it does not."""
    ended = "" if account.alert.ended_at is None else account.alert.ended_at.isoformat()
    first, *remaining = build_alert_sections(account, ended)
    resolution_text = f" It was {RESOLUTION_WORDS[resolution]}." if resolution else ""
    state = (_format_alert_state(account.alert), f".{resolution_text}" if resolution_text else "")
    yield replace(first, lead=(state, *first.lead), warnings=(missing,) if missing else (), top=False)
    yield from remaining


def build_status_sections(status: MonitoringStatus) -> Iterator[ReportSection]:
    """Where each series stands: its windows with what they may be off, and how near it is to an alert."""
    if status.missing:
        yield ReportSection(lead=(status.missing, *_describe_open_alerts(status.opened, ())))
    else:
        yield from _build_series_sections(status)
    if status.gauges:
        yield _build_gauge_section(status.gauges)


def _build_series_sections(status: MonitoringStatus) -> Iterator[ReportSection]:
    firing = sum(row.state in OPEN_STATES for row in status.series)
    lead = [] if status.series else [Phrase(NO_SCORE)]
    if firing:
        lead.append(Phrase(f"{format_count(firing, 'series is', 'series are')} firing.", "bad"))
    elif status.series and not status.opened:
        lead.append(Phrase("No alerts are firing.", "good"))
    lead += _describe_open_alerts(status.opened, status.series)
    if silent := sum(row.state == "no_data" for row in status.series):
        lead.append(Phrase(f"{format_count(silent, 'series gets', 'series get')} no more scores.", "unsure"))
    yield ReportSection(lead=(*lead, describe_false_alarms(status.shares), *describe_projects(status.projects)))
    if status.series:
        yield build_standing_section(status.series, status.opened)
    if status.shares.shares:
        yield build_shares_section(status.shares)
    ordered_rows = sorted(status.series, key=lambda row: (row.state not in OPEN_STATES, bool(row.segment[0])))
    if charts := tuple(filter(None, map(build_days_chart, ordered_rows)))[:MAX_CHARTS]:
        yield ReportSection("Daily means", DAYS_CAPTION, charts=charts, skip=("terminal", "markdown"), top=True)


def _describe_open_alerts(alerts: Sequence[Alert], series: Sequence[SeriesStatus]) -> list[Phrase]:
    """How many alerts are open, as the list of alerts counts them, and what the newest say."""
    if not alerts:
        return []
    corrected = {(row.monitor, row.project): row.corrected for row in series if not row.segment[0]}
    days = [
        () if alert.segment[0] else corrected.get((alert.monitor, alert.project), ())
        for alert in alerts[:MAX_HEADLINES]
    ]
    headlines = "; ".join(map(format_headline, alerts, days))
    more = f"; {len(alerts) - MAX_HEADLINES:,} more" if len(alerts) > MAX_HEADLINES else ""
    return [Phrase(f"{format_count(len(alerts), 'alert is', 'alerts are')} open: {headlines}{more}.", "bad")]


def _build_gauge_section(gauges: Sequence[GaugeStatus]) -> ReportSection:
    """Where each gauge stands, and the course of its last day."""
    headers = (
        ReportColumn("gauge", whole=True),
        ReportColumn("state", whole=True),
        ReportColumn("now", "number"),
        ReportColumn("limit", "number"),
        ReportColumn("sources", "number"),
        ReportColumn("min", "number", room=1),
        ReportColumn("max", "number", room=1),
        ReportColumn("last received", whole=True),
    )
    rows = tuple(
        (
            to_line(gauge.asks or gauge.name),
            Phrase(gauge.state.replace("_", " "), TONES.get(gauge.state, "good")),
            format_mean(gauge.value),
            format_mean(gauge.limit),
            f"{gauge.sources:,}",
            format_mean(gauge.least),
            format_mean(gauge.greatest),
            "–" if gauge.last is None else f"{gauge.last:%Y-%m-%d %H:%M}",
        )
        for gauge in gauges
    )
    charts = tuple(
        ReportChart(
            f"{to_line(gauge.name)}, by hour",
            "lines",
            "hours (the last one is now)",
            to_line(gauge.name),
            tuple(ChartPoint(hour, mean, "hourly mean") for hour, mean in gauge.hours),
        )
        for gauge in gauges
        if len(gauge.hours) > 1
    )
    return ReportSection("Gauges", table=ReportTable(headers, rows), charts=charts[:MAX_CHARTS], top=True)


def _format_alert_state(alert: Alert) -> Phrase:
    if alert.ended_at is None:
        return Phrase("open", "bad")
    return Phrase(f"ended {alert.ended_at:%Y-%m-%d %H:%M}", "faint")


def _describe_change(account: AlertAccount, ended: str) -> Iterator[str]:
    alert = account.alert
    fired_text = f"It fired at {alert.fired_at:%Y-%m-%d %H:%M} UTC"
    over = f" It ended at {ended[:16]}." if ended else ""
    if alert.said:
        yield f"Rule: {alert.asks}. {fired_text}.{over}"
        return
    if (gone := alert.n - account.n_now) > 0:
        raised = f"{format_count(alert.n, 'score')} with a mean of {format_mean(alert.mean)} raised it"
        yield f"{raised}. {gone:,} of them have been deleted since; the rest of this report covers the others."
    if account.corrected:
        yield describe_corrected(account.corrected)
    whose = "judge mean" if account.corrected else "mean"
    if account.before is not None and account.now is not None:
        change = account.now - account.before
        yield (
            f"The {whose} was {format_value(account.before)} before ({format_count(account.n_before, 'score')}) and "
            f"has been {format_value(account.now)} since ({account.n_now:,}): {f'{change:+.3f}'.replace('-', MINUS)}. "
            f"Rule: {alert.asks}."
        )
    else:
        yield f"The {whose} is {'unknown' if account.now is None else format_value(account.now)}. Rule: {alert.asks}."
    how = "the mean of the last 50 scores crossed the limit"
    if alert.decide == "test":
        share = f" (one of {alert.series:,} equal shares of the false-alarm budget)" if alert.series > 1 else ""
        how = f"its evidence was {alert.evidence:,.0f}, and the limit is {alert.limit:,.0f}{share}"
    hour = (
        f" It has been worse since about {account.since_at:%Y-%m-%d %H:%M} UTC." if account.since_at is not None else ""
    )
    yield f"{fired_text}: {how}.{hour}{over}"
    if account.blame.component:
        yield f"The fault is most likely in {account.blame.component}: {to_line(account.blame.why)}."


def _describe_shift(shift: SegmentShift) -> str:
    """What a segment explains of the change."""
    if abs(shift.mix) < MIN_CHANGE and abs(shift.within) < MIN_CHANGE:
        return f"By {to_line(shift.name)}: no effect on the mean."
    moved = "lower" if shift.within < 0 else "higher"
    mixed = abs(shift.mix) > abs(shift.within)
    mostly = "a different mix of requests" if mixed else f"{moved} scores, not to a different mix of requests"
    breakdown = f"{shift.within:+.3f} within its values, {shift.mix:+.3f} from a different mix of them"
    return f"By {to_line(shift.name)}: {breakdown}. The change is mostly due to {mostly}."


def _build_fact_table(name: str, moved: Sequence[FactShare]) -> ReportTable:
    headers = (*build_columns(name, "value"), ReportColumn("before", "number"), ReportColumn("now", "number"))
    return ReportTable(
        headers,
        tuple(
            (to_line(fact_share.fact), to_line(fact_share.value), f"{fact_share.before:.0%}", f"{fact_share.now:.0%}")
            for fact_share in moved
        ),
    )


def _build_shift_section(shift: SegmentShift) -> ReportSection:
    headers = build_columns(to_line(shift.name), numbers=("share before", "share now", "mean before", "mean now"))
    rows = tuple(
        (
            to_line(segment.value),
            f"{segment.share_before:.0%}",
            f"{segment.share_now:.0%}",
            format_mean(segment.before),
            format_mean(segment.now),
        )
        for segment in shift.parts
    )
    return ReportSection("Breakdown by segment", table=ReportTable(headers, rows))
