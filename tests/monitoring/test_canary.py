"""The judge canary: a judge that changes is told from one that is never sure, and its monitors wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from tests.analysis.monitored import FIRST, stored, traffic
from tests.monitoring.test_watcher import configured

from ragauge.core.config.config_loader import read_config
from ragauge.core.response import Run
from ragauge.metrics.base import MetricResult
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.alerts.verb import resolve_alert
from ragauge.monitoring.canary.compute import CANARY, N_FIRST_DAYS, compare_canary_day
from ragauge.monitoring.canary.runner import JudgeCanary
from ragauge.monitoring.service import read_config_stages
from ragauge.monitoring.worker import StageTurn
from ragauge.store.inbox import DAY_S
from ragauge.store.scores import Column
from ragauge.store.store_access import Store

DAYS = traffic([0.9] * 3 + [0.4] * 3, rate=60)


class Canary(JudgeCanary):
    """A canary whose judge is a function of the day and the number of the response."""

    now, day = 0.0, 0

    def __init__(self, judge: Callable[[int, int], float]) -> None:
        monitor = read_config({"monitor": {"metrics": ["faithfulness"]}}).checked().monitor
        assert monitor is not None
        super().__init__(monitor)
        self.says = judge

    def _judge_frozen(self, store: Store, run: Run, repeat: int) -> None:
        numbers = sorted(store.runs.load_order(run.run_id).numbers)
        asked = self._build_plan(store, run, repeat)
        rows = [(number, [MetricResult.of(self.says(self.day, place))]) for place, number in enumerate(numbers)]
        store.scores.write(run.run_id, [Column("faithfulness", 1, asked.judge_id, repeat)], rows)

    def on(self, store: Store, day: int) -> int:
        """How many alerts were raised or ended on a day."""
        self.day, self.now = day, FIRST.timestamp() + (20 + day) * DAY_S + 2 * 3600
        return self.run_once(StageTurn(store, lambda: self.now))


def test_a_judge_that_changed_pauses_its_monitors(store: Store) -> None:
    """A judge that judges otherwise after seven days raises one alert; its monitor waits until a word is said."""
    stored(store, DAYS)
    canary = Canary(lambda day, place: 1.0 if day < 9 or place % 3 else 0.0)
    assert [canary.on(store, day) for day in range(9)] == [0] * 9
    assert (canary.on(store, 9), canary.on(store, 9), canary.on(store, 10)) == (1, 0, 0)
    (kept,) = store.monitors.list_alerts()
    assert kept.alert.said.startswith("the judge changed: 17 of 50 frozen responses got a different verdict")
    assert advance_monitors(store, *configured(), 0.0) == ()
    resolve_alert(kept.alert.alert_id, store=store.url)
    assert advance_monitors(store, *configured(), 0.0)
    assert sum(run.name == CANARY for run in store.runs.list()) == 1


def test_a_judge_that_is_itself_again_ends_the_alert(store: Store) -> None:
    """The first day without more flips than before ends it."""
    stored(store, DAYS[:60])
    canary = Canary(lambda day, place: float(day != 8 or place % 2))
    assert [canary.on(store, day) for day in range(10)] == [0] * 8 + [1, 1]
    (kept,) = store.monitors.list_alerts()
    assert kept.alert.ended_at is not None


def test_a_change_that_people_took_as_it_is_is_the_norm(store: Store) -> None:
    """Once a word is said of it the alert ends and first days begin anew: a second change is seen as the first was."""
    stored(store, DAYS[:60])
    canary = Canary(lambda day, place: float(day < 9 or place % (3 if day < 18 else 2)))
    assert [canary.on(store, day) for day in range(10)] == [0] * 9 + [1]
    (first,) = store.monitors.list_alerts()
    resolve_alert(first.alert.alert_id, store=store.url)
    assert [canary.on(store, day) for day in range(10, 19)] == [1] + [0] * 7 + [1]
    second, ended = (one.alert for one in store.monitors.list_alerts())
    assert ended == replace(first.alert, ended_at=datetime.fromtimestamp(FIRST.timestamp() + 30 * DAY_S + 7200, UTC))
    assert second.ended_at is None


def test_frozen_responses_come_from_all_projects(store: Store) -> None:
    """Those of the first day with enough are of all projects in equal parts, whatever they are called there.

    A judge that changes raises one alert, which names no project, and the monitors of all wait for a word.
    """
    stored(store, DAYS)
    for project, requests in (("desk2", DAYS), ("lab", DAYS[:5])):
        stored(store, requests, project=project)
    canary = Canary(lambda day, place: float(day < 9 or place < 23))
    assert [canary.on(store, day) for day in range(10)] == [0] * 9 + [1]
    (run,) = [run for run in store.runs.list() if run.name == CANARY]
    names = [example.query_id.split(":")[0] for example, _ in store.runs.pairs(run.run_id)]
    assert sorted(names.count(name) for name in ("shop", "desk2", "lab")) == [5, 22, 23]
    (kept,) = store.monitors.list_alerts()
    assert (kept.alert.monitor, kept.alert.project) == ("the judge", "")
    monitor, watched = configured({"webhook": "http://127.0.0.1:9/"})
    both = replace(
        watched,
        metrics=tuple(
            replace(one, project=project, apart=True) for one in watched.metrics for project in ("shop", "desk2")
        ),
    )
    assert advance_monitors(store, monitor, both, 0.0) == ()
    resolve_alert(kept.alert.alert_id, store=store.url)
    assert {one.monitor for one in advance_monitors(store, monitor, both, 0.0)} == {
        "faithfulness (shop)",
        "faithfulness (desk2)",
    }


def test_a_judge_that_is_never_sure_has_not_changed() -> None:
    """Of 300 days of a judge that flips a fifth of its verdicts at random at most 2 % count as changed at p 0.0017."""
    draw = np.random.default_rng(3)

    def day(flips: float) -> dict[tuple[str, str], float]:
        return {(f"q{n}", "faithfulness"): float(draw.random() >= flips) for n in range(50)}

    changed = [
        compare_canary_day([day(0.0), *(day(0.2) for _ in range(6))], day(0.2), 0.05 / 30).changed for _ in range(300)
    ]
    assert sum(map(bool, changed)) <= 6
    seen = [
        compare_canary_day([day(0.0), *(day(0.2) for _ in range(6))], day(0.6), 0.05 / 30).changed for _ in range(50)
    ]
    assert sum(map(bool, seen)) >= 45


def test_a_judge_that_fails_on_more_has_changed() -> None:
    """A response that has no value any more counts as one that is judged otherwise; a day without any tells nothing."""
    first = {(f"q{n}", "faithfulness"): 1.0 if n else None for n in range(50)}
    failing = {key: None if n < 15 else value for n, (key, value) in enumerate(first.items())}
    found = compare_canary_day([first] * N_FIRST_DAYS, failing, 0.05 / 30)
    assert (found.changed, found.flipped, found.n) == (True, 14, 49)
    assert compare_canary_day([failing] * N_FIRST_DAYS, failing, 0.05 / 30).changed is False
    assert compare_canary_day([first] * N_FIRST_DAYS, dict.fromkeys(first), 0.05 / 30).changed is None


def test_the_judge_is_asked_anew(store: Store) -> None:
    """Each day's judgements stand beside the others, under the judge's own name."""
    stored(store, DAYS[:60])
    monitor = read_config({"monitor": {"metrics": ["faithfulness"], "canary": 5}}).checked().monitor
    assert monitor is not None
    now = [FIRST.timestamp() + 20 * DAY_S + 7200]
    canary = JudgeCanary(monitor)
    for _ in range(2):
        canary.run_once(StageTurn(store, lambda: now[0]))
        now[0] += DAY_S
    (run,) = [run for run in store.runs.list() if run.name == CANARY]
    (judge_id,) = store.scores.judges(run.run_id)
    assert [len(store.scores.load_frame(run.run_id, judge_id, repeat)) for repeat in range(4)] == [0, 5, 5, 0]
    told = store.jobs.newest(JudgeCanary.name)
    assert told is not None
    assert told.said == f"not enough data: this is day 2 of the first {N_FIRST_DAYS} days"


@pytest.mark.parametrize(("judge", "there"), [("local", False), ("openai:gpt-5-mini", True)])
def test_only_a_model_is_looked_at(judge: str, there: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The local judge cannot change by itself."""
    path = tmp_path_factory.mktemp("config") / "ragauge.yaml"
    path.write_text(f"monitor: {{judge: {judge}}}\n")
    assert [stage.lane for stage in read_config_stages(path)].count("alerts") == there
