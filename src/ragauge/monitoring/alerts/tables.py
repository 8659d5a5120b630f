"""Alerts of monitors and where their series stand, as sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log10
from typing import TYPE_CHECKING

from ragauge.core.messages import command, number, plural
from ragauge.monitoring.alerts import alert_coverage as watched
from ragauge.monitoring.alerts.alert_coverage import (
    MOST_NAME,
    headline,
    name_monitor,
    projects_said,
    promise,
    shares_section,
)
from ragauge.monitoring.drift.tables import days_section
from ragauge.monitoring.series.states import OPEN
from ragauge.monitoring.series.tables import BAND, day_points, describe_column, describe_corrected, newest_day
from ragauge.rendering.sections import Bar, Phrase, ReportColumn, ReportSection, ReportTable, TableCell, Tone, columns
from ragauge.rendering.words import line
from ragauge.scores.results.chart import ChartPoint, ReportChart

if TYPE_CHECKING:
    from ragauge.monitoring.replay.compute import Monitored, Replay, SeriesStatus
    from ragauge.monitoring.series.alert_details import AlertAccount, FactShare, SegmentShift
    from ragauge.monitoring.series.gauge_monitors import GaugeStatus
    from ragauge.monitoring.series.monitor_tracker import Alert
    from ragauge.monitoring.series.states import Resolution
    from ragauge.store.monitors import AlertList, KeptAlert

TONES: dict[str, Tone] = {
    "firing": "bad",
    "recovering": "unsure",
    "pending": "unsure",
    "error": "bad",
    "no_data": "unsure",
    "not_enough_data": "faint",
    "not_read": "unsure",
}
SPOKEN: dict[str, str] = {"": "–", "acknowledged": "acknowledged", "false_alarm": "called a false alarm"}
SMALL, MOST_QUERY = 0.0005, 200  # characters of a question; a change below it is none
MINUS = "\N{MINUS SIGN}"
MOST_SAID = 3  # open alerts of which status says what they are
MOST_CHARTS = 12  # series that are drawn, those that fire first
NO_ALERT = "No alert was raised so far. How near each monitor is to one:"
NO_SCORE = "No score was taken so far: scores come with the traffic that ragauge monitor serve takes in."
LEARNING = "Allowed after N: it is known once there are N scores of days before; tomorrow: from then on."
NOT_READ = "Not read: the judge cannot read texts of their language and layout. Such scores raise no alert."
BANDS = "± is 1.96 standard errors of the mean of so many scores, which says what it may be off, and decides nothing."
KEPT = "Scores: of the days that a series keeps, those of one period or of its baseline, whichever are more."
WAY = (
    "Evidence: how strongly the scores say that more is lost than is allowed; an alert is raised where it reaches "
    "its limit. The bar shows both in powers of ten."
)
PASSED = (
    "{name}: {n} of logs of the past and passed by: they are more than two days older than scores that had been "
    "taken before. ragauge monitor replay counts them."
)
PUT_BACK = (
    "{name}: requests come more than two days before the last day that was taken, {day}, so the clock was put "
    "back. They count for that day, and are tested. {n} more, and it counts for theirs."
)
DAYS = "the mean of each day, ± 1.96 standard errors, beside what is allowed"
RESOLVING = (
    "The first command shows all of one: causes, what changed, the worst traces. The second says that it was "
    "a false alarm; without --as, that somebody knows of it."
)


def replay_sections(replay: Replay) -> Iterator[ReportSection]:
    """The alerts there would have been, then where each series stands."""
    pending = f", {replay.pending:,} of them not judged yet" if replay.pending else ""
    about = f"{plural(replay.requests, 'request')}{pending}, {replay.first} to {replay.last}"
    allowed = promise(replay.shares)
    lead = f"{plural(len(replay.alerts), 'alert')}." if replay.alerts else "No alert."
    yield ReportSection("Monitors", about, (Phrase(lead, "bad" if replay.alerts else "good"), allowed))
    whole = {told.alert.monitor for told in replay.alerts if not told.alert.segment[0]}
    for told in replay.alerts:
        parts = alert_sections(told, replay.ended.get(told.alert.alert_id, ""))
        yield next(parts)
        if not told.alert.segment[0] or told.alert.monitor not in whole:  # else the alert of all requests says it
            yield from parts
    yield _series(replay.series)
    if replay.drift:
        yield days_section(replay.drift)


def alert_sections(told: AlertAccount, ended: str = "") -> Iterator[ReportSection]:
    """One alert: since when, how much, where, why, what changed, which traces."""
    alert = told.alert
    yield ReportSection(
        headline(alert, told.corrected),
        f"alert {alert.alert_id}",
        tuple(_how_much(told, ended)),
        after=tuple(_shift(shift) for shift in told.shifts[:2]),
        top=True,
    )
    if told.shifts and told.shifts[0].parts:
        yield _parts(told.shifts[0])
    if told.mix:
        yield ReportSection(
            "The mix of requests", "segments whose shares are others now", table=_moved("segment", told.mix)
        )
    yield from watched.failure_sections(told)
    if told.facts:
        yield ReportSection("What changed in the traces", table=_moved("of the traces", told.facts))
    if told.traces:
        worst = tuple(
            (
                Phrase(line(one.trace_id), to=("trace", one.trace_id)),
                Phrase(line(one.run_id), to=("run", one.run_id)),
                "–" if one.at is None else f"{one.at:%Y-%m-%d %H:%M}",
                line(one.query, MOST_QUERY),
                number(one.value),
            )
            for one in told.traces
        )
        names = (ReportColumn(name, whole=True) for name in ("trace", "run", "came"))
        heads = (*names, ReportColumn("question", room=1), ReportColumn("score", "number"))
        yield ReportSection("The worst since then", table=ReportTable(heads, worst))


def list_sections(kept: AlertList) -> Iterator[ReportSection]:
    """Every alert in a row: whether it is open, and what people say of it."""
    found = kept.alerts
    lead = [NO_ALERT if not found else f"{plural(len(found), 'alert')}, {_open(found)}."]
    if kept.precision is not None:
        real = round(kept.precision * kept.resolved)
        lead.append(f"Of {kept.resolved:,} that people spoke of, {real:,} were not called false.")
    heads = (
        ReportColumn("alert", whole=True),
        ReportColumn("state", whole=True),
        ReportColumn("what"),
        ReportColumn("fired", whole=True, room=1),
        ReportColumn("said of it", whole=True),
    )
    rows = tuple(
        (
            Phrase(one.alert.alert_id, to=("alert", one.alert.alert_id)),
            _alert_state(one.alert),
            headline(one.alert, one.corrected),
            f"{one.alert.fired_at:%Y-%m-%d %H:%M}",
            SPOKEN[one.resolution],
        )
        for one in found
    )
    if not rows:
        yield ReportSection(lead=tuple(lead), commands=(command("monitor", "status"),))
        return
    commands = (command("monitor", "alerts", "ALERT"), command("monitor", "resolve", "ALERT", "--as", "false_alarm"))
    yield ReportSection(lead=tuple(lead), table=ReportTable(heads, rows), notes=(RESOLVING,), commands=commands)


def kept_sections(told: AlertAccount, resolution: Resolution, missing: str = "") -> Iterator[ReportSection]:
    """One alert with what people say of it, and why it says no more than that, where it does not."""
    ended = "" if told.alert.ended_at is None else told.alert.ended_at.isoformat()
    first, *rest = alert_sections(told, ended)
    said = f" It was {SPOKEN[resolution]}." if resolution else ""
    state = (_alert_state(told.alert), f".{said}" if said else "")
    yield replace(first, lead=(state, *first.lead), warnings=(missing,) if missing else (), top=False)
    yield from rest


def monitored_sections(found: Monitored) -> Iterator[ReportSection]:
    """Where each series stands: its windows with what they may be off, and how near it is to an alert."""
    if found.missing:
        yield ReportSection(lead=(found.missing, *_opened(found.opened, ())))
    else:
        yield from _tested(found)
    if found.gauges:
        yield _gauges(found.gauges)


def _tested(found: Monitored) -> Iterator[ReportSection]:
    firing = sum(one.state in OPEN for one in found.series)
    lead = [] if found.series else [Phrase(NO_SCORE)]
    if firing:
        lead.append(Phrase(f"{plural(firing, 'series fires', 'series fire')}.", "bad"))
    elif found.series and not found.opened:
        lead.append(Phrase("Nothing fires.", "good"))
    lead += _opened(found.opened, found.series)
    if silent := sum(one.state == "no_data" for one in found.series):
        lead.append(Phrase(f"Nothing comes any more of {plural(silent, 'series', 'series')}.", "unsure"))
    yield ReportSection(lead=(*lead, promise(found.shares), *projects_said(found.projects)))
    if found.series:
        yield _standing(found.series, found.opened)
    if found.shares.shares:
        yield shares_section(found.shares)
    drawn = sorted(found.series, key=lambda one: (one.state not in OPEN, bool(one.segment[0])))
    if charts := tuple(filter(None, map(_days_chart, drawn)))[:MOST_CHARTS]:
        yield ReportSection("Day by day", DAYS, charts=charts, skip=("terminal", "markdown"), top=True)


def _opened(alerts: Sequence[Alert], series: Sequence[SeriesStatus]) -> list[Phrase]:
    """How many alerts are open, as the list of alerts counts them, and what the newest say."""
    if not alerts:
        return []
    corrected = {(row.monitor, row.project): row.corrected for row in series if not row.segment[0]}
    days = [
        () if alert.segment[0] else corrected.get((alert.monitor, alert.project), ()) for alert in alerts[:MOST_SAID]
    ]
    headlines = "; ".join(map(headline, alerts, days))
    more = f"; {len(alerts) - MOST_SAID:,} more" if len(alerts) > MOST_SAID else ""
    return [Phrase(f"{plural(len(alerts), 'alert is', 'alerts are')} open: {headlines}{more}.", "bad")]


def _standing(series: Sequence[SeriesStatus], opened: Sequence[Alert]) -> ReportSection:
    alerts = {(one.monitor, one.project, one.segment): one.alert_id for one in opened}
    alone = {(one.monitor, one.segment): one.alert_id for one in opened if not one.project}  # of the first to send
    unread, labeled = any(row.not_read for row in series), any(row.corrected for row in series)
    heads = (
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
            name_monitor(one.monitor, one.project),
            _segment(one),
            _state(one, alerts.get((one.monitor, one.project, one.segment), alone.get((one.monitor, one.segment), ""))),
            "–" if one.since is None else f"{one.since:%Y-%m-%d %H:%M}",
            f"{one.scores:,}",
            *((f"{one.not_read:,}",) if unread else ()),
            *((newest_day(one.corrected),) if labeled else ()),
            _band(one.last_50, one.error_50),
            _band(one.last_500, one.error_500),
            _allowed(one),
            _evidence_of(one),
            _way(one),
        )
        for one in series
    )
    notes = (*((LEARNING,) if any(one.allowed is None for one in series) else ()), *((NOT_READ,) if unread else ()))
    notes = (*notes, *((describe_column(series),) if labeled else ()), BANDS, WAY, *_left_out(series))
    return ReportSection("Series", table=ReportTable(heads, rows, tight=True), notes=notes, top=True)


def _left_out(series: Sequence[SeriesStatus]) -> Iterator[str]:
    """What monitors passed by, and whose days the clock does not say."""
    for one in series:
        name = name_monitor(one.monitor, one.project)
        if one.passed:
            yield PASSED.format(name=name, n=plural(one.passed, "score was", "scores were"))
        if one.doubted is not None and one.days:
            yield PUT_BACK.format(name=name, day=one.days[-1].day, n=plural(one.doubted + 1, "score"))


def _gauges(gauges: Sequence[GaugeStatus]) -> ReportSection:
    """Where each gauge stands, and the course of its last day."""
    heads = (
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
            line(one.asks or one.name),
            Phrase(one.state.replace("_", " "), TONES.get(one.state, "good")),
            _mean(one.value),
            _mean(one.limit),
            f"{one.sources:,}",
            _mean(one.least),
            _mean(one.greatest),
            "–" if one.last is None else f"{one.last:%Y-%m-%d %H:%M}",
        )
        for one in gauges
    )
    charts = tuple(
        ReportChart(
            f"{line(one.name)}, by hour",
            "lines",
            "hours, the last is now",
            line(one.name),
            tuple(ChartPoint(hour, mean, "mean of the hour") for hour, mean in one.hours),
        )
        for one in gauges
        if len(one.hours) > 1
    )
    return ReportSection("Gauges", table=ReportTable(heads, rows), charts=charts[:MOST_CHARTS], top=True)


def _way(one: SeriesStatus) -> TableCell:
    """How near the evidence is to its limit, in powers of ten: from 1, where nothing speaks for a drop."""
    if one.evidence is None:
        return ""
    share = log10(max(1.0, one.evidence)) / log10(one.limit) if one.limit > 1 else 1.0
    return Bar(0.0, min(1.0, share), min(1.0, share), 1.0, "worse" if share >= 1 else "")


def _days_chart(one: SeriesStatus) -> ReportChart | None:
    """The mean of each day with its band, beside what is allowed; None for fewer than two days."""
    if len(one.days) < 2:
        return None
    first = one.days[0].day
    points = day_points(one.days, one.corrected, first)
    if one.allowed is not None:
        points += [ChartPoint((day - first).days, one.allowed, "allowed") for day in (first, one.days[-1].day)]
    project = "" if f"({one.project})" in one.asks else line(one.project, MOST_NAME)
    where = ", ".join(filter(None, (project, _segment(one) if one.segment[0] else "")))
    title = f"{where}: {one.asks}" if where else one.asks
    return ReportChart(title, "lines", "day (UTC)", one.monitor, tuple(points), since=first)


def _segment(one: SeriesStatus) -> str:
    return " ".join(map(line, one.segment)).strip() or "all"


def _state(one: SeriesStatus, alert: str = "") -> Phrase:
    """What a series does, which leads to its open alert."""
    return Phrase(one.state.replace("_", " "), TONES.get(one.state, "good"), ("alert", alert) if alert else ())


def _allowed(one: SeriesStatus) -> str:
    if one.allowed is not None:
        return _mean(one.allowed)
    return f"after {one.needed:,}" if one.needed else "tomorrow"


def _evidence_of(one: SeriesStatus) -> str:
    return "–" if one.evidence is None else _evidence(one.evidence, one.limit)


def _band(mean: float | None, error: float | None) -> str:
    return _mean(mean) if mean is None or error is None else f"{number(mean)} ± {number(BAND * error)}"


def _alert_state(alert: Alert) -> Phrase:
    if alert.ended_at is None:
        return Phrase("open", "bad")
    return Phrase(f"ended {alert.ended_at:%Y-%m-%d %H:%M}", "faint")


def _open(found: Sequence[KeptAlert]) -> str:
    return f"{sum(one.alert.ended_at is None for one in found):,} open"


def _how_much(told: AlertAccount, ended: str) -> Iterator[str]:
    alert = told.alert
    at = f"It fired at {alert.fired_at:%Y-%m-%d %H:%M} UTC"
    over = f" It ended at {ended[:16]}." if ended else ""
    if alert.said:
        yield f"Asked: {alert.asks}. {at}.{over}"
        return
    if (gone := alert.n - told.n_now) > 0:
        raised = f"It was raised by {plural(alert.n, 'score')}, mean {_mean(alert.mean)}"
        yield f"{raised}. Deleted since: {gone:,} of them, so what follows is about those that are left."
    if told.corrected:
        yield describe_corrected(told.corrected)
    whose = "judge's own mean" if told.corrected else "mean"
    if told.before is not None and told.now is not None:
        change = told.now - told.before
        yield (
            f"The {whose} was {number(told.before)} before ({plural(told.n_before, 'score')}) and is "
            f"{number(told.now)} since ({told.n_now:,}): {f'{change:+.3f}'.replace('-', MINUS)}. Asked: {alert.asks}."
        )
    else:
        yield f"The {whose} is {'unknown' if told.now is None else number(told.now)}. Asked: {alert.asks}."
    how = "by the mean of the last 50 scores alone"
    if alert.decide == "test":
        sharing = f"it has one of {alert.series:,} equal parts of the false alarms" if alert.series > 1 else ""
        asked = f"{alert.limit:,.0f} is enough" + (f", since {sharing}" if sharing else "")
        how = f"its evidence was {alert.evidence:,.0f}, and {asked}"
    hour = f" It is worse since about {told.since_at:%Y-%m-%d %H:%M} UTC." if told.since_at is not None else ""
    yield f"{at}: {how}.{hour}{over}"
    if told.blame.component:
        yield f"It lies most likely in {told.blame.component}: {line(told.blame.why)}."


def _shift(shift: SegmentShift) -> str:
    """What a segment explains of the change."""
    if abs(shift.mix) < SMALL and abs(shift.within) < SMALL:
        return f"By {line(shift.name)}: no change of the mean."
    moved = "lower" if shift.within < 0 else "higher"
    mixed = abs(shift.mix) > abs(shift.within)
    mostly = "another mix of requests" if mixed else f"{moved} scores, not another mix of requests"
    parts = f"{shift.within:+.3f} within its values, {shift.mix:+.3f} by another mix of them"
    return f"By {line(shift.name)}: {parts}. It is mostly {mostly}."


def _moved(name: str, moved: Sequence[FactShare]) -> ReportTable:
    heads = (*columns(name, "value"), ReportColumn("before", "number"), ReportColumn("now", "number"))
    return ReportTable(
        heads, tuple((line(one.fact), line(one.value), _share(one.before), _share(one.now)) for one in moved)
    )


def _parts(shift: SegmentShift) -> ReportSection:
    heads = columns(line(shift.name), numbers=("share before", "share now", "mean before", "mean now"))
    rows = tuple(
        (line(one.value), _share(one.share_before), _share(one.share_now), _mean(one.before), _mean(one.now))
        for one in shift.parts
    )
    return ReportSection("Where", table=ReportTable(heads, rows))


def _series(series: Sequence[SeriesStatus]) -> ReportSection:
    heads = (
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
    for one in series:
        point = "–" if one.point_false_alarms is None else f"{one.point_false_alarms:.0%}"
        rows.append(
            (
                name_monitor(one.monitor, one.project),
                _segment(one),
                _state(one),
                f"{one.scores:,}",
                _mean(one.last_50),
                _mean(one.last_500),
                _mean(one.baseline),
                _allowed(one),
                _evidence_of(one),
                point,
            )
        )
    notes = (
        "False alarms of last 50: the share of periods in which an alert on the mean of the last 50 alone would be "
        "false, simulated with these scores.",
        KEPT,
    )
    return ReportSection("Series", table=ReportTable(heads, tuple(rows)), notes=notes, top=True)


def _evidence(value: float, limit: float) -> str:
    return f"over {limit:,.0f}" if value >= limit else f"{value:.2g} of {limit:,.0f}"


def _mean(value: float | None) -> str:
    return "–" if value is None else number(value)


def _share(value: float) -> str:
    return f"{value:.0%}"
