"""Alerts of schedules: a gate that failed, a run that could not be made, a time that was missed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragauge.core.identity import hash_json
from ragauge.monitoring.series.monitor_tracker import Alert, build_schedule_name
from ragauge.monitoring.series.series import ALL

if TYPE_CHECKING:
    from ragauge.monitoring.jobs.scheduled_run import ScheduledOutcome
    from ragauge.scores.results.jobs import Job
    from ragauge.store.store_access import Store

MISSED_AFTER_S = 3600.0  # seconds after its time from which on an occurrence counts as missed
MAX_RULES = 3
GOOD_STATES = ("pass", "done")


def list_schedule_alerts(store: Store, job: Job, outcome: ScheduledOutcome, now: float) -> list[Alert]:
    """The alert that an occurrence raises, or the one that it ends: by one that was made in time and passed.

    Of an error it says why, as far as that holds no user's words; `monitor status` shows all that the run says of it.

    Args:
        store: with the alerts that are open.
        job: the occurrence.
        outcome: what came of it.
        now: seconds since 1970.
    """
    name, timestamp = build_schedule_name(job.name), datetime.fromtimestamp(now, UTC)
    open_alerts = [
        entry.alert
        for entry in store.monitors.list_alerts()
        if entry.alert.monitor == name and entry.alert.ended_at is None
    ]
    problem = _describe_problem(job, outcome)
    if not problem:
        return [replace(entry, ended_at=timestamp) for entry in open_alerts] if outcome.state in GOOD_STATES else []
    if open_alerts:
        return []
    due = datetime.fromtimestamp(job.due, UTC)
    return [
        Alert(
            hash_json([name, job.due])[:10],
            name,
            "a run on time that passes its gate",
            ALL,
            timestamp,
            -1,
            "",
            due.date(),
            None,
            0,
            0.0,
            None,
            1.0,
            1.0,
            1,
            "schedule",
            False,
            said=f"{name}, due {due:%Y-%m-%d %H:%M} UTC, {problem}",
        )
    ]


def _describe_problem(job: Job, outcome: ScheduledOutcome) -> str:
    """What was wrong with an occurrence; "" = nothing, or not enough data to say."""
    run = f" (run {outcome.run_id})" if outcome.run_id else ""
    if outcome.state == "fail":
        unmet = [
            text_line.removeprefix("- ") for text_line in outcome.message.splitlines() if text_line.startswith("- ")
        ][:MAX_RULES]
        return f"did not pass its gate{run}" + (f": {'; '.join(unmet)}" if unmet else "")
    if outcome.state == "error":
        return f"could not run{run}" + (f": {outcome.why}" if outcome.why else "")
    if not job.why and job.attempts == 1 and job.began - job.due > MISSED_AFTER_S:
        return f"was missed: it started {(job.began - job.due) / 3600:,.0f} hours late{run}"
    return ""
