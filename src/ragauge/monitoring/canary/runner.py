"""Whether the judge changed: frozen responses are judged anew every day, and no reply that is stored is used."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragauge.core.response import Response, Run
from ragauge.engine.plan import Selection, build_plan
from ragauge.engine.request_stream import get_traffic_day
from ragauge.evaluation.evaluate.verb import EvaluationPlan, build_planner, execute_plans
from ragauge.metrics.catalogue import list_questions
from ragauge.monitoring.canary.compute import (
    CANARY,
    CANARY_LOOK,
    FIRST_ASKING,
    N_FIRST_DAYS,
    Verdicts,
    build_change_id,
    compare_canary_day,
    divide_evenly,
    find_first_look,
)
from ragauge.monitoring.jobs.scheduler import DailyJob
from ragauge.monitoring.series.false_alarm_budget import compute_daily_level
from ragauge.monitoring.series.monitor_tracker import JUDGE_CHANGED, Alert
from ragauge.monitoring.series.series import ALL
from ragauge.verbs.evaluate_options import EvaluateOptions

if TYPE_CHECKING:
    from ragauge.core.example import Example
    from ragauge.engine.plan import Plan
    from ragauge.monitoring.canary.compute import CanaryDay
    from ragauge.monitoring.worker import StageTurn
    from ragauge.scores.results.monitoring import Job
    from ragauge.store.store_access import Store


class JudgeCanary(DailyJob):
    """The daily look at the judge of a configuration."""

    name = CANARY_LOOK

    def check_day(self, turn: StageTurn, job: Job) -> tuple[str, Sequence[Alert]]:
        """What today's judgements say, and the alert that they raise or end."""
        store = turn.store
        run = self._find_frozen_run(store)
        if run is None:
            return f"not enough data: needs {self._monitor.canary} responses from one day", ()
        planned = self._build_plan(store, run, 0)
        repeat = FIRST_ASKING
        while store.scores.find_versions(run.run_id, planned.judge_id, repeat):
            repeat += 1
        if job.attempts > 1 and repeat > FIRST_ASKING:  # whoever did it was killed: what is there of the day counts
            repeat -= 1
        self._judge_frozen(store, run, repeat)
        start = find_first_look([item.alert for item in store.monitors.list_alerts()], planned.judge_id)
        first = [self._read_verdicts(store, planned, item) for item in range(start, min(repeat, start + N_FIRST_DAYS))]
        day_result = compare_canary_day(
            first, self._read_verdicts(store, planned, repeat), compute_daily_level(self._monitor)
        )
        return day_result.reason, self._update_alerts(turn, planned, day_result, repeat)

    def _find_frozen_run(self, store: Store) -> Run | None:
        """The run with the frozen responses: the first ones of a day with enough of them, taken once.

        The judge judges the traffic of every project, so all that sent on that day have equal parts.
        """
        canary_runs = [run for run in store.runs.list() if run.name == CANARY]
        if canary_runs:
            return canary_runs[0]
        by_day: dict[str, list[Run]] = {}
        for run in store.runs.list(filter={"kind": "traffic"}, sort="oldest"):
            by_day.setdefault(get_traffic_day(run), []).append(run)
        for runs in (by_day[day] for day in sorted(by_day)):
            orders = [sorted(store.runs.load_order(run.run_id).numbers) for run in runs]
            sizes = divide_evenly([len(order) for order in orders], self._monitor.canary)
            if sum(sizes) == self._monitor.canary:
                records = [
                    _add_name_prefix(f"{run.system}: ", *record) if len(runs) > 1 else record
                    for run, order, n in zip(runs, orders, sizes, strict=True)
                    for record in ((stored.example, stored.response) for stored in store.runs.load(order[:n]))
                ]
                of = " and ".join(run.run_id for run, n in zip(runs, sizes, strict=True) if n)
                return store.runs.import_run(Run("", CANARY, config={"frozen of": of}), records)
        return None

    def _build_plan(self, store: Store, run: Run, repeat: int) -> Plan:
        """What is asked of the judge at one asking: the metrics of the configuration that ask it anything."""
        full_plan = build_planner(self._build_options(store))(store, run.run_id)[0]
        judge_metrics = [metric for metric in full_plan.metrics if list_questions([metric])]
        return build_plan(store, run.run_id, judge_metrics, full_plan.judge, Selection(controls=0), judge_repeat=repeat)

    def _build_options(self, store: Store) -> EvaluateOptions:
        max_cost = self._monitor.sample.max_cost
        return EvaluateOptions(
            "",
            metrics=self._monitor.metrics,
            judge=self._monitor.judge,
            store=store.url,
            workers=1,
            max_cost=max_cost,
            warn=lambda _: None,
        )

    def _judge_frozen(self, store: Store, run: Run, repeat: int) -> None:
        """Asks the judge about every frozen response; another number asks it anew."""
        options, todo = self._build_options(store), self._build_plan(store, run, repeat)
        asyncio.run(execute_plans(EvaluationPlan((todo,), run, False, None, options.of(todo.judge)), options, store))

    def _read_verdicts(self, store: Store, judge_plan: Plan, repeat: int) -> Verdicts:
        frame = store.scores.load_frame(judge_plan.run_id, judge_plan.judge_id, repeat)
        names = {str(metric) for metric in judge_plan.metrics}
        return {
            (row["query_id"], row["metric"]): row["value"] if row["status"] == "scored" else None
            for row in frame.select("query_id", "metric", "status", "value").to_dicts()
            if row["metric"] in names
        }

    def _update_alerts(self, turn: StageTurn, judge_plan: Plan, day_result: CanaryDay, look: int) -> list[Alert]:
        """What is raised or ends. One of which somebody said a word ends though the judge does not go back."""
        open_alerts = [
            saved_alert
            for saved_alert in turn.store.monitors.list_alerts()
            if saved_alert.alert.monitor == JUDGE_CHANGED and saved_alert.alert.ended_at is None
        ]
        now = datetime.fromtimestamp(turn.clock(), UTC)
        if day_result.changed is False:
            return [replace(saved_alert.alert, ended_at=now, number=-1) for saved_alert in open_alerts]
        if not day_result.changed or open_alerts:
            return [
                replace(saved_alert.alert, ended_at=now)
                for saved_alert in open_alerts
                if saved_alert.resolution and day_result.changed
            ]
        message = f"the judge changed: {day_result.flipped} of {day_result.n} frozen responses got a different verdict"
        share = day_result.flipped / day_result.n
        return [
            Alert(
                build_change_id(judge_plan.judge_id, now.date()),
                JUDGE_CHANGED,
                f"no more flips than in the first {N_FIRST_DAYS} days ({day_result.share_before or 0:.0%})",
                ALL,
                now,
                look,
                "",
                now.date(),
                share,
                day_result.n,
                day_result.share_before or 0.0,
                day_result.share_before,
                1.0,
                1.0,
                1,
                "canary",
                True,
                said=f"{message}; monitors that use it are paused",
            )
        ]


def _add_name_prefix(prefix: str, example: Example, response: Response) -> tuple[Example, Response]:
    """A request under another name: those of two projects may be called alike."""
    name = f"{prefix}{example.query_id}"
    return replace(example, query_id=name), replace(response, query_id=name)
