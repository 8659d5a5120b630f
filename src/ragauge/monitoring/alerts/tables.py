"""Alerts of monitors and where their series stand, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log10
from typing import TYPE_CHECKING

from ragauge.core.messages import format_command, format_count, format_value
from ragauge.monitoring.alerts import alert_coverage as watched
from ragauge.monitoring.alerts.alert_coverage import (
    MAX_NAME_CHARS,
    build_shares_section,
    describe_false_alarms,
    describe_projects,
    format_headline,
    format_monitor_name,
)
from ragauge.monitoring.drift.tables import build_days_section
from ragauge.monitoring.series.states import OPEN_STATES
from ragauge.monitoring.series.tables import (
    BAND_STANDARD_ERRORS,
    build_day_points,
    describe_column,
    describe_corrected,
    format_newest_day,
)
from ragauge.rendering.sections import (
    Bar,
    Phrase,
    ReportColumn,
    ReportSection,
    ReportTable,
    TableCell,
    Tone,
    build_columns,
)
from ragauge.rendering.words import to_line
from ragauge.scores.results.chart import ChartPoint, ReportChart

if TYPE_CHECKING:
    from ragauge.monitoring.replay.compute import MonitoringStatus, Replay, SeriesStatus
    from ragauge.monitoring.series.alert_details import AlertAccount, FactShare, SegmentShift
    from ragauge.monitoring.series.gauge_monitors import GaugeStatus
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.monitoring.series.states import Resolution
    from ragauge.store.monitors import AlertList, StoredAlert

TONES: dict[str, Tone] = {
    "firing": "bad",
    "recovering": "unsure",
    "pending": "unsure",
    "error": "bad",
    "no_data": "unsure",
    "not_enough_data": "faint",
    "not_read": "unsure",
}
RESOLUTION_WORDS: dict[str, str] = {"": "–", "acknowledged": "acknowledged", "false_alarm": "called a false alarm"}
MIN_CHANGE, MAX_QUERY_CHARS = 0.0005, 200  # characters of a question; a change below it is none
MINUS = "\N{MINUS SIGN}"
MAX_HEADLINES = 3  # open alerts of which status says what they are
MAX_CHARTS = 12  # series that are drawn, those that fire first
NO_ALERT = "No alert was raised so far. How near each monitor is to one:"
NO_SCORE = "No score was taken so far: scores come with the traffic that ragauge monitor serve takes in."
ALLOWED_NOTE = "Allowed after N: it is known once there are N scores of days before; tomorrow: from then on."
NOT_READ_NOTE = "Not read: the judge cannot read texts of their language and layout. Such scores raise no alert."
BAND_NOTE = (
    "± is 1.96 standard errors of the mean of so many scores, which says what it may be off, and decides nothing."
)
SCORES_NOTE = "Scores: of the days that a series keeps, those of one period or of its baseline, whichever are more."
EVIDENCE_NOTE = (
    "Evidence: how strongly the scores say that more is lost than is allowed; an alert is raised where it reaches "
    "its limit. The bar shows both in powers of ten."
)
PASSED_NOTE = (
    "{name}: {n} of logs of the past and passed by: they are more than two days older than scores that had been "
    "taken before. ragauge monitor replay counts them."
)
CLOCK_NOTE = (
    "{name}: requests come more than two days before the last day that was taken, {day}, so the clock was put "
    "back. They count for that day, and are tested. {n} more, and it counts for theirs."
)
DAYS_CAPTION = "the mean of each day, ± 1.96 standard errors, beside what is allowed"
RESOLVE_NOTE = (
    "The first command shows all of one: causes, what changed, the worst traces. The second says that it was "
    "a false alarm; without --as, that somebody knows of it."
)


def build_replay_sections(replay: Replay) -> Iterator[ReportSection]:
    """The alerts there would have been, then where each series stands."""
    pending = f", {replay.pending:,} of them not judged yet" if replay.pending else ""
    about = f"{format_count(replay.requests, 'request')}{pending}, {replay.first} to {replay.last}"
    allowed = describe_false_alarms(replay.shares)
    lead = f"{format_count(len(replay.alerts), 'alert')}." if replay.alerts else "No alert."
    yield ReportSection("Monitors", about, (Phrase(lead, "bad" if replay.alerts else "good"), allowed))
    unsegmented_monitors = {account.alert.monitor for account in replay.alerts if not account.alert.segment[0]}
    for account in replay.alerts:
        sections = build_alert_sections(account, replay.ended.get(account.alert.alert_id, ""))
        yield next(sections)
        if (
            not account.alert.segment[0] or account.alert.monitor not in unsegmented_monitors
        ):  # else the alert of all requests says it
            yield from sections
    yield _build_replay_section(replay.series)
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
            "The mix of requests",
            "segments whose shares are others now",
            table=_build_fact_table("segment", account.mix),
        )
    yield from watched.build_failure_sections(account)
    if account.facts:
        yield ReportSection("What changed in the traces", table=_build_fact_table("of the traces", account.facts))
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
        names = (ReportColumn(name, whole=True) for name in ("trace", "run", "came"))
        headers = (*names, ReportColumn("question", room=1), ReportColumn("score", "number"))
        yield ReportSection("The worst since then", table=ReportTable(headers, worst))


def build_list_sections(alert_list: AlertList) -> Iterator[ReportSection]:
    """Every alert in a row: whether it is open, and what people say of it."""
    alerts = alert_list.alerts
    lead = [NO_ALERT if not alerts else f"{format_count(len(alerts), 'alert')}, {_count_open(alerts)}."]
    if alert_list.precision is not None:
        real = round(alert_list.precision * alert_list.resolved)
        lead.append(f"Of {alert_list.resolved:,} that people spoke of, {real:,} were not called false.")
    headers = (
        ReportColumn("alert", whole=True),
        ReportColumn("state", whole=True),
        ReportColumn("what"),
        ReportColumn("fired", whole=True, room=1),
        ReportColumn("said of it", whole=True),
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
        lead.append(Phrase(f"{format_count(firing, 'series fires', 'series fire')}.", "bad"))
    elif status.series and not status.opened:
        lead.append(Phrase("Nothing fires.", "good"))
    lead += _describe_open_alerts(status.opened, status.series)
    if silent := sum(row.state == "no_data" for row in status.series):
        lead.append(Phrase(f"Nothing comes any more of {format_count(silent, 'series', 'series')}.", "unsure"))
    yield ReportSection(lead=(*lead, describe_false_alarms(status.shares), *describe_projects(status.projects)))
    if status.series:
        yield _build_standing_section(status.series, status.opened)
    if status.shares.shares:
        yield build_shares_section(status.shares)
    ordered_rows = sorted(status.series, key=lambda row: (row.state not in OPEN_STATES, bool(row.segment[0])))
    if charts := tuple(filter(None, map(_build_days_chart, ordered_rows)))[:MAX_CHARTS]:
        yield ReportSection("Day by day", DAYS_CAPTION, charts=charts, skip=("terminal", "markdown"), top=True)


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


def _build_standing_section(series: Sequence[SeriesStatus], open_alerts: Sequence[Alert]) -> ReportSection:
    alerts = {(entry.monitor, entry.project, entry.segment): entry.alert_id for entry in open_alerts}
    alone = {
        (entry.monitor, entry.segment): entry.alert_id for entry in open_alerts if not entry.project
    }  # of the first to send
    unread, labeled = any(row.not_read for row in series), any(row.corrected for row in series)
    headers = (
        ReportColumn("monitor", whole=True),
        ReportColumn("segment"),
        ReportColumn("state", whole=True),
        ReportColumn("since", whole=True, room=4),
        ReportColumn("scores", "number", room=5),
        *((ReportColumn("not read", "number"),) if unread else ()),
        *((ReportColumn("by labels", "number", whole=True),) if labeled else ()),
        ReportColumn("last 50", "number", room=1, whole=True),
        ReportColumn("last 500", "number", room=3, whole=True),
        ReportColumn("allowed", "number", whole=True),
        ReportColumn("evidence", "number", whole=True, room=2),
        ReportColumn("on the way to an alert", "bar", room=6),
    )
    rows = tuple(
        (
            format_monitor_name(entry.monitor, entry.project),
            _format_segment(entry),
            _format_state(
                entry,
                alerts.get(
                    (entry.monitor, entry.project, entry.segment), alone.get((entry.monitor, entry.segment), "")
                ),
            ),
            "–" if entry.since is None else f"{entry.since:%Y-%m-%d %H:%M}",
            f"{entry.scores:,}",
            *((f"{entry.not_read:,}",) if unread else ()),
            *((format_newest_day(entry.corrected),) if labeled else ()),
            _format_band(entry.last_50, entry.error_50),
            _format_band(entry.last_500, entry.error_500),
            _format_allowed(entry),
            _format_series_evidence(entry),
            _build_evidence_bar(entry),
        )
        for entry in series
    )
    notes = (
        *((ALLOWED_NOTE,) if any(entry.allowed is None for entry in series) else ()),
        *((NOT_READ_NOTE,) if unread else ()),
    )
    notes = (
        *notes,
        *((describe_column(series),) if labeled else ()),
        BAND_NOTE,
        EVIDENCE_NOTE,
        *_list_passed_notes(series),
    )
    return ReportSection("Series", table=ReportTable(headers, rows, tight=True), notes=notes, top=True)


def _list_passed_notes(series: Sequence[SeriesStatus]) -> Iterator[str]:
    """What monitors passed by, and whose days the clock does not say."""
    for row in series:
        name = format_monitor_name(row.monitor, row.project)
        if row.passed:
            yield PASSED_NOTE.format(name=name, n=format_count(row.passed, "score was", "scores were"))
        if row.doubted is not None and row.days:
            yield CLOCK_NOTE.format(name=name, day=row.days[-1].day, n=format_count(row.doubted + 1, "score"))


def _build_gauge_section(gauges: Sequence[GaugeStatus]) -> ReportSection:
    """Where each gauge stands, and the course of its last day."""
    headers = (
        ReportColumn("gauge", whole=True),
        ReportColumn("state", whole=True),
        ReportColumn("now", "number"),
        ReportColumn("limit", "number"),
        ReportColumn("sources", "number"),
        ReportColumn("least", "number", room=1),
        ReportColumn("greatest", "number", room=1),
        ReportColumn("last came", whole=True),
    )
    rows = tuple(
        (
            to_line(gauge.asks or gauge.name),
            Phrase(gauge.state.replace("_", " "), TONES.get(gauge.state, "good")),
            _format_mean(gauge.value),
            _format_mean(gauge.limit),
            f"{gauge.sources:,}",
            _format_mean(gauge.least),
            _format_mean(gauge.greatest),
            "–" if gauge.last is None else f"{gauge.last:%Y-%m-%d %H:%M}",
        )
        for gauge in gauges
    )
    charts = tuple(
        ReportChart(
            f"{to_line(gauge.name)}, by hour",
            "lines",
            "hours, the last is now",
            to_line(gauge.name),
            tuple(ChartPoint(hour, mean, "mean of the hour") for hour, mean in gauge.hours),
        )
        for gauge in gauges
        if len(gauge.hours) > 1
    )
    return ReportSection("Gauges", table=ReportTable(headers, rows), charts=charts[:MAX_CHARTS], top=True)


def _build_evidence_bar(row: SeriesStatus) -> TableCell:
    """How near the evidence is to its limit, in powers of ten: from 1, where nothing speaks for a drop."""
    if row.evidence is None:
        return ""
    share = log10(max(1.0, row.evidence)) / log10(row.limit) if row.limit > 1 else 1.0
    return Bar(0.0, min(1.0, share), min(1.0, share), 1.0, "worse" if share >= 1 else "")


def _build_days_chart(row: SeriesStatus) -> ReportChart | None:
    """The mean of each day with its band, beside what is allowed; None for fewer than two days."""
    if len(row.days) < 2:
        return None
    first = row.days[0].day
    points = build_day_points(row.days, row.corrected, first)
    if row.allowed is not None:
        points += [ChartPoint((day - first).days, row.allowed, "allowed") for day in (first, row.days[-1].day)]
    project = "" if f"({row.project})" in row.asks else to_line(row.project, MAX_NAME_CHARS)
    where = ", ".join(filter(None, (project, _format_segment(row) if row.segment[0] else "")))
    title = f"{where}: {row.asks}" if where else row.asks
    return ReportChart(title, "lines", "day (UTC)", row.monitor, tuple(points), since=first)


def _format_segment(row: SeriesStatus) -> str:
    return " ".join(map(to_line, row.segment)).strip() or "all"


def _format_state(row: SeriesStatus, alert: str = "") -> Phrase:
    """What a series does, which leads to its open alert."""
    return Phrase(row.state.replace("_", " "), TONES.get(row.state, "good"), ("alert", alert) if alert else ())


def _format_allowed(row: SeriesStatus) -> str:
    if row.allowed is not None:
        return _format_mean(row.allowed)
    return f"after {row.needed:,}" if row.needed else "tomorrow"


def _format_series_evidence(row: SeriesStatus) -> str:
    return "–" if row.evidence is None else _format_evidence(row.evidence, row.limit)


def _format_band(mean: float | None, error: float | None) -> str:
    return (
        _format_mean(mean)
        if mean is None or error is None
        else f"{format_value(mean)} ± {format_value(BAND_STANDARD_ERRORS * error)}"
    )


def _format_alert_state(alert: Alert) -> Phrase:
    if alert.ended_at is None:
        return Phrase("open", "bad")
    return Phrase(f"ended {alert.ended_at:%Y-%m-%d %H:%M}", "faint")


def _count_open(alerts: Sequence[StoredAlert]) -> str:
    return f"{sum(entry.alert.ended_at is None for entry in alerts):,} open"


def _describe_change(account: AlertAccount, ended: str) -> Iterator[str]:
    alert = account.alert
    fired_text = f"It fired at {alert.fired_at:%Y-%m-%d %H:%M} UTC"
    over = f" It ended at {ended[:16]}." if ended else ""
    if alert.said:
        yield f"Asked: {alert.asks}. {fired_text}.{over}"
        return
    if (gone := alert.n - account.n_now) > 0:
        raised = f"It was raised by {format_count(alert.n, 'score')}, mean {_format_mean(alert.mean)}"
        yield f"{raised}. Deleted since: {gone:,} of them, so what follows is about those that are left."
    if account.corrected:
        yield describe_corrected(account.corrected)
    whose = "judge's own mean" if account.corrected else "mean"
    if account.before is not None and account.now is not None:
        change = account.now - account.before
        yield (
            f"The {whose} was {format_value(account.before)} before ({format_count(account.n_before, 'score')}) and is "
            f"{format_value(account.now)} since ({account.n_now:,}): {f'{change:+.3f}'.replace('-', MINUS)}. Asked: "
            f"{alert.asks}."
        )
    else:
        yield f"The {whose} is {'unknown' if account.now is None else format_value(account.now)}. Asked: {alert.asks}."
    how = "by the mean of the last 50 scores alone"
    if alert.decide == "test":
        sharing = f"it has one of {alert.series:,} equal parts of the false alarms" if alert.series > 1 else ""
        needed = f"{alert.limit:,.0f} is enough" + (f", since {sharing}" if sharing else "")
        how = f"its evidence was {alert.evidence:,.0f}, and {needed}"
    hour = f" It is worse since about {account.since_at:%Y-%m-%d %H:%M} UTC." if account.since_at is not None else ""
    yield f"{fired_text}: {how}.{hour}{over}"
    if account.blame.component:
        yield f"It lies most likely in {account.blame.component}: {to_line(account.blame.why)}."


def _describe_shift(shift: SegmentShift) -> str:
    """What a segment explains of the change."""
    if abs(shift.mix) < MIN_CHANGE and abs(shift.within) < MIN_CHANGE:
        return f"By {to_line(shift.name)}: no change of the mean."
    moved = "lower" if shift.within < 0 else "higher"
    mixed = abs(shift.mix) > abs(shift.within)
    mostly = "another mix of requests" if mixed else f"{moved} scores, not another mix of requests"
    breakdown = f"{shift.within:+.3f} within its values, {shift.mix:+.3f} by another mix of them"
    return f"By {to_line(shift.name)}: {breakdown}. It is mostly {mostly}."


def _build_fact_table(name: str, moved: Sequence[FactShare]) -> ReportTable:
    headers = (*build_columns(name, "value"), ReportColumn("before", "number"), ReportColumn("now", "number"))
    return ReportTable(
        headers,
        tuple(
            (
                to_line(fact_share.fact),
                to_line(fact_share.value),
                _format_share(fact_share.before),
                _format_share(fact_share.now),
            )
            for fact_share in moved
        ),
    )


def _build_shift_section(shift: SegmentShift) -> ReportSection:
    headers = build_columns(to_line(shift.name), numbers=("share before", "share now", "mean before", "mean now"))
    rows = tuple(
        (
            to_line(segment.value),
            _format_share(segment.share_before),
            _format_share(segment.share_now),
            _format_mean(segment.before),
            _format_mean(segment.now),
        )
        for segment in shift.parts
    )
    return ReportSection("Where", table=ReportTable(headers, rows))


def _build_replay_section(series: Sequence[SeriesStatus]) -> ReportSection:
    headers = (
        ReportColumn("monitor", whole=True),
        ReportColumn("segment"),
        ReportColumn("state", whole=True),
        ReportColumn("scores", "number"),
        ReportColumn("last 50", "number", room=1),
        ReportColumn("last 500", "number", room=2),
        ReportColumn("baseline", "number", room=4),
        ReportColumn("allowed", "number"),
        ReportColumn("evidence", "number", room=3),
        ReportColumn("false alarms of last 50", "number"),
    )
    rows: list[tuple[TableCell, ...]] = []
    for row in series:
        point = "–" if row.point_false_alarms is None else f"{row.point_false_alarms:.0%}"
        rows.append(
            (
                format_monitor_name(row.monitor, row.project),
                _format_segment(row),
                _format_state(row),
                f"{row.scores:,}",
                _format_mean(row.last_50),
                _format_mean(row.last_500),
                _format_mean(row.baseline),
                _format_allowed(row),
                _format_series_evidence(row),
                point,
            )
        )
    notes = (
        "False alarms of last 50: the share of periods in which an alert on the mean of the last 50 alone would be "
        "false, simulated with these scores.",
        SCORES_NOTE,
    )
    return ReportSection("Series", table=ReportTable(headers, tuple(rows)), notes=notes, top=True)


def _format_evidence(value: float, limit: float) -> str:
    return f"over {limit:,.0f}" if value >= limit else f"{value:.2g} of {limit:,.0f}"


def _format_mean(value: float | None) -> str:
    return "–" if value is None else format_value(value)


def _format_share(value: float) -> str:
    return f"{value:.0%}"
