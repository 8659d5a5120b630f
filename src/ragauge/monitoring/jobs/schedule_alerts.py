"""Alerts of schedules: a gate that failed, a run that could not be made, a time that was missed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragauge.core.identity import digest
from ragauge.monitoring.series.monitor_tracker import Alert, schedule_name
from ragauge.monitoring.series.series import ALL

if TYPE_CHECKING:
    from ragauge.monitoring.jobs.scheduled_run import ScheduledOutcome
    from ragauge.scores.results.jobs import Job
    from ragauge.store.store_access import Store

MISSED = 3600.0  # seconds after its time from which on an occurrence counts as missed
MOST_RULES = 3
WELL = ("pass", "done")


def schedule_alerts(store: Store, job: Job, outcome: ScheduledOutcome, now: float) -> list[Alert]:
    """The alert that an occurrence raises, or the one that it ends: by one that was made in time and passed.

    Of an error it says why, as far as that holds no user's words; `monitor status` shows all that the run says of it.

    Args:
        store: with the alerts that are open.
        job: the occurrence.
        outcome: what came of it.
        now: seconds since 1970.
    """
    name, at = schedule_name(job.name), datetime.fromtimestamp(now, UTC)
    opened = [one.alert for one in store.monitors.alerts() if one.alert.monitor == name and one.alert.ended_at is None]
    said = _problem(job, outcome)
    if not said:
        return [replace(one, ended_at=at) for one in opened] if outcome.state in WELL else []
    if opened:
        return []
    due = datetime.fromtimestamp(job.due, UTC)
    return [
        Alert(
            digest([name, job.due])[:10],
            name,
            "a run in time that passes its gate",
            ALL,
            at,
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
            said=f"{name} of {due:%Y-%m-%d %H:%M} UTC {said}",
        )
    ]


def _problem(job: Job, outcome: ScheduledOutcome) -> str:
    """What was wrong with an occurrence; "" = nothing, or not enough data to say."""
    run = f" (run {outcome.run_id})" if outcome.run_id else ""
    if outcome.state == "fail":
        unmet = [part.removeprefix("- ") for part in outcome.said.splitlines() if part.startswith("- ")][:MOST_RULES]
        return f"did not pass its gate{run}" + (f": {'; '.join(unmet)}" if unmet else "")
    if outcome.state == "error":
        return f"could not be made{run}" + (f": {outcome.why}" if outcome.why else "")
    if not job.why and job.attempts == 1 and job.began - job.due > MISSED:
        return f"was missed: it began {(job.began - job.due) / 3600:,.0f} hours late{run}"
    return ""
