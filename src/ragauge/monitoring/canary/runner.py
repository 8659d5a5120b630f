"""Whether the judge changed: frozen responses are judged anew every day, and no reply that is stored is used."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragauge.core.response import Response, Run
from ragauge.engine.plan import Selection, plan
from ragauge.engine.request_stream import day_of
from ragauge.evaluation.evaluate.verb import Planned, carried_out, planner
from ragauge.metrics.catalogue import questions
from ragauge.monitoring.canary.compute import (
    CANARY,
    CANARY_LOOK,
    FIRST_DAYS,
    FRESH,
    Verdicts,
    canary_day,
    changed_id,
    evenly,
    first_look,
)
from ragauge.monitoring.jobs.daily_job import DailyLook
from ragauge.monitoring.series.false_alarm_budget import level_of_a_day
from ragauge.monitoring.series.monitor_tracker import JUDGE_CHANGED, Alert
from ragauge.monitoring.series.series import ALL
from ragauge.verbs.evaluate_options import EvaluateOptions

if TYPE_CHECKING:
    from ragauge.core.config.monitor import MonitorSection
    from ragauge.core.example import Example
    from ragauge.engine.plan import Plan
    from ragauge.monitoring.canary.compute import CanaryDay
    from ragauge.scores.results.jobs import Job
    from ragauge.store.store_access import Store


class JudgeCanary(DailyLook):
    """The daily look at the judge of a configuration."""

    name = CANARY_LOOK

    @classmethod
    def wanted(cls, monitor: MonitorSection) -> bool:
        """Whether a model judges and responses are to be frozen."""
        return monitor.watches_judge

    def seen(self, store: Store, job: Job) -> tuple[str, Sequence[Alert]]:
        """What today's judgements say, and the alert that they raise or end."""
        run = self._frozen(store)
        if run is None:
            return f"not enough data: {self._monitor.canary} responses of one day are needed", ()
        planned = self._plan(store, run, 0)
        repeat = FRESH
        while store.scores.versions(run.run_id, planned.judge_id, repeat):
            repeat += 1
        if job.attempts > 1 and repeat > FRESH:  # whoever did it was killed: what is there of the day counts
            repeat -= 1
        self._judge(store, run, repeat)
        start = first_look([one.alert for one in store.monitors.alerts()], planned.judge_id)
        first = [self._verdicts(store, planned, one) for one in range(start, min(repeat, start + FIRST_DAYS))]
        found = canary_day(first, self._verdicts(store, planned, repeat), level_of_a_day(self._monitor))
        return found.reason, self._changed(store, planned, found, repeat)

    def _frozen(self, store: Store) -> Run | None:
        """The run with the frozen responses: the first ones of a day with enough of them, taken once.

        The judge judges the traffic of every project, so all that sent on that day have equal parts.
        """
        known = [run for run in store.runs.list() if run.name == CANARY]
        if known:
            return known[0]
        by_day: dict[str, list[Run]] = {}
        for run in store.runs.list(filter={"kind": "traffic"}, sort="oldest"):
            by_day.setdefault(day_of(run), []).append(run)
        for runs in (by_day[day] for day in sorted(by_day)):
            orders = [sorted(store.runs.order(run.run_id).numbers) for run in runs]
            parts = evenly([len(order) for order in orders], self._monitor.canary)
            if sum(parts) == self._monitor.canary:
                records = [
                    _called(f"{run.system}: ", *one) if len(runs) > 1 else one
                    for run, order, n in zip(runs, orders, parts, strict=True)
                    for one in _loaded(store, order[:n])
                ]
                of = " and ".join(run.run_id for run, n in zip(runs, parts, strict=True) if n)
                return store.runs.import_run(Run("", CANARY, config={"frozen of": of}), records)
        return None

    def _plan(self, store: Store, run: Run, repeat: int) -> Plan:
        """What is asked of the judge at one asking: the metrics of the configuration that ask it anything."""
        whole = planner(self._wanted(store))(store, run.run_id)[0]
        asked = [metric for metric in whole.metrics if questions([metric])]
        return plan(store, run.run_id, asked, whole.judge, Selection(controls=0), judge_repeat=repeat)

    def _wanted(self, store: Store) -> EvaluateOptions:
        most = self._monitor.sample.max_cost
        return EvaluateOptions(
            "",
            metrics=self._monitor.metrics,
            judge=self._monitor.judge,
            store=store.url,
            workers=1,
            max_cost=most,
            warn=lambda _: None,
        )

    def _judge(self, store: Store, run: Run, repeat: int) -> None:
        """Asks the judge about every frozen response; another number asks it anew."""
        wanted, todo = self._wanted(store), self._plan(store, run, repeat)
        asyncio.run(carried_out(Planned((todo,), run, False, None, wanted.of(todo.judge)), wanted, store))

    def _verdicts(self, store: Store, asked: Plan, repeat: int) -> Verdicts:
        frame = store.scores.frame(asked.run_id, asked.judge_id, repeat)
        names = {str(metric) for metric in asked.metrics}
        return {
            (row["query_id"], row["metric"]): row["value"] if row["status"] == "scored" else None
            for row in frame.select("query_id", "metric", "status", "value").to_dicts()
            if row["metric"] in names
        }

    def _changed(self, store: Store, asked: Plan, found: CanaryDay, look: int) -> list[Alert]:
        """What is raised or ends. One of which somebody said a word ends though the judge does not go back."""
        opened = [
            one for one in store.monitors.alerts() if one.alert.monitor == JUDGE_CHANGED and one.alert.ended_at is None
        ]
        now = datetime.fromtimestamp(self._clock(), UTC)
        if found.changed is False:
            return [replace(one.alert, ended_at=now, number=-1) for one in opened]
        if not found.changed or opened:
            return [replace(one.alert, ended_at=now) for one in opened if one.resolution and found.changed]
        said = f"the judge changed: {found.flipped} of {found.n} frozen responses are judged otherwise"
        share = found.flipped / found.n
        return [
            Alert(
                changed_id(asked.judge_id, now.date()),
                JUDGE_CHANGED,
                f"as few flips as in the first {FIRST_DAYS} days ({found.share_before or 0:.0%})",
                ALL,
                now,
                look,
                "",
                now.date(),
                share,
                found.n,
                found.share_before or 0.0,
                found.share_before,
                1.0,
                1.0,
                1,
                "canary",
                True,
                said=f"{said}; monitors that ask it pause",
            )
        ]


def _loaded(store: Store, numbers: Sequence[int]) -> list[tuple[Example, Response]]:
    return [(one.example, one.response) for one in store.runs.load(numbers)]


def _called(before: str, example: Example, response: Response) -> tuple[Example, Response]:
    """A request under another name: those of two projects may be called alike."""
    name = f"{before}{example.query_id}"
    return replace(example, query_id=name), replace(response, query_id=name)
