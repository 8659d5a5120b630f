"""Several projects on one server: each has its own drift, they share one part of the false alarms, none doubles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from tests.analysis.monitored import FIRST, stored, traffic

from ragauge.core.config.config_loader import read_config
from ragauge.core.config.monitor import MonitorSection
from ragauge.monitoring.alerts.alert_coverage import format_headline
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.alerts.verb import list_monitors
from ragauge.monitoring.drift.compute import count_permutations
from ragauge.monitoring.drift.drift_job import DriftJob
from ragauge.monitoring.drift.drift_measures import count_testable_projects
from ragauge.monitoring.drift.verb import monitor_drift
from ragauge.monitoring.replay.verb import monitor_replay
from ragauge.monitoring.series.false_alarm_budget import compute_daily_level
from ragauge.monitoring.series.monitor_specs import read_monitor_specs
from ragauge.monitoring.worker import StageTurn
from ragauge.stats.drift import mean_shift
from ragauge.store.inbox import DAY_S
from ragauge.store.store_access import Store

A_DAY, DRIFT = 60, 5  # requests of a project a day; the day, the first being 0, on which one asks something else
OWN = ("How do I reset the router of floor {n}?", "Where is the switch of room {n} mounted?", "Is port {n} blocked?")
OTHER = ("Which wine goes with dish {n} of the menu?", "How long is cake {n} baked?", "Is soup {n} vegan?")


def section(**more: Any) -> MonitorSection:
    """Drift of questions, told to somebody."""
    monitor = {"drift": ["queries"], "notify": [{"webhook": "http://127.0.0.1:9/"}], **more}
    read = read_config({"monitor": monitor}).checked().monitor
    assert read is not None
    return read


def fill(store: Store, project: str, first: int, days: int, drifts: Callable[[int], bool] = lambda day: False) -> None:
    """Days of one project's questions from a day on; of another topic on those that drift."""
    requests = traffic([0.9] * (first + days), A_DAY, first=10_000 * len(project))
    numbers = {one.number: number // A_DAY for number, one in enumerate(requests)}
    kept = [one for number, one in enumerate(requests) if number // A_DAY >= first]

    def asked(number: int) -> str:
        several = OTHER if drifts(numbers[number]) else OWN
        return several[number % 3].format(n=37 * number % 97)

    stored(store, kept, queries=asked, project=project)


def looks(store: Store, day: float, monitor: MonitorSection) -> int:
    """How many alerts were raised or ended when a server looked two hours after the day began."""
    now = FIRST.timestamp() + day * DAY_S + 2 * 3600
    return DriftJob(monitor).run_once(StageTurn(store, lambda: now))


def test_drift_of_one_project_is_its_own(store: Store) -> None:
    """What one project drifts in raises one alert with its name, told once; the other's questions are as before.

    Servers that are started again, and a second one, raise and tell it no second time; it ends by its own next day.
    """
    fill(store, "shop", 0, 7)
    fill(store, "desk2", 0, 7, lambda day: day == DRIFT)
    monitor = section()
    assert looks(store, DRIFT, monitor) == 0
    assert [looks(store, DRIFT + 1, monitor) for _ in range(3)] == [1, 0, 0]
    (kept,) = store.monitors.list_alerts()
    assert (kept.alert.monitor, kept.alert.project) == ("drift of queries (desk2)", "desk2")
    assert format_headline(kept.alert).startswith(
        "queries of desk2 on 2026-01-06 differ from those of the 28 days before"
    )
    (delivery,) = store.monitors.list_due(1e12)
    assert (delivery.body["project"], delivery.body["title"]) == ("desk2", format_headline(kept.alert))
    told = store.jobs.newest(DriftJob.name)
    assert told is not None
    assert "shop, 2026-01-06: queries: the mean embedding did not move" in told.said
    assert "desk2, 2026-01-06: queries: the mean embedding moved" in told.said
    assert looks(store, DRIFT + 2, monitor) == 1
    (ended,) = store.monitors.list_alerts()
    assert (ended.alert.alert_id, ended.alert.ended_at is None) == (kept.alert.alert_id, False)


def test_an_alert_goes_on_when_another_project_comes(store: Store) -> None:
    """One raised while a project was alone, which no alert named then, is neither doubled nor lost once a second comes.

    With one project alone nothing names it.
    """
    fill(store, "shop", 0, 6, lambda day: day == DRIFT)
    monitor = section()
    assert looks(store, DRIFT + 1, monitor) == 1
    (kept,) = store.monitors.list_alerts()
    assert (kept.alert.monitor, kept.alert.project) == ("drift of queries", "")
    assert format_headline(kept.alert).startswith("queries on 2026-01-06 differ from")
    fill(store, "desk2", DRIFT, 2)
    assert looks(store, DRIFT + 1.5, monitor) == 0
    fill(store, "shop", DRIFT + 1, 1)
    assert looks(store, DRIFT + 2, monitor) == 1
    (ended,) = store.monitors.list_alerts()
    assert (ended.alert.alert_id, ended.alert.ended_at is None) == (kept.alert.alert_id, False)


def test_a_project_that_the_section_names_is_watched_alone(store: Store) -> None:
    """With `project:` the drift of no other raises anything, but of those that monitors name."""
    fill(store, "shop", 0, 6)
    fill(store, "desk2", 0, 6, lambda day: day == DRIFT)
    assert looks(store, DRIFT + 1, section(project="shop")) == 0
    named = section(project="shop", monitors=[{"metric": "faithfulness", "min": 0.1, "project": "desk2"}])
    assert looks(store, DRIFT + 2, named) == 1


def test_alerts_of_metrics_say_whose_traffic_it_is(store: Store) -> None:
    """Where several send, an alert names its project once, and what is sent bears it; where one does, nothing does."""
    rules = [{"metric": "faithfulness", "min": 0.8}, {"metric": "faithfulness", "min": 0.8, "project": "desk"}]
    read = read_config({"monitor": {"monitors": rules, "notify": [{"webhook": "http://127.0.0.1:9/"}]}})
    monitor = read.checked().monitor
    assert monitor is not None
    bad = traffic([0.9, 0.9, 0.4, 0.4], rate=40)
    stored(store, bad)
    (alone,) = advance_monitors(store, monitor, read_monitor_specs(read)[0], 0.0)
    assert format_headline(alone).startswith("faithfulness has been 0.")
    other, late = traffic([0.9], rate=40, first=900), bad[-1].at.timestamp() + DAY_S
    stored(store, other, project="desk")
    advance_monitors(store, monitor, read_monitor_specs(read)[0], late, began=late)
    advance_monitors(store, monitor, read_monitor_specs(read)[0], late + DAY_S, began=late)
    silent = {one.alert.monitor: one.alert for one in store.monitors.list_alerts() if one.alert.decide == "no_data"}
    assert {name: one.project for name, one in silent.items()} == {
        "faithfulness": "shop",
        "faithfulness (desk)": "desk",
    }
    assert format_headline(silent["faithfulness"]).endswith("UTC (shop)")
    said = format_headline(silent["faithfulness (desk)"])
    assert said.startswith("no score of faithfulness (desk) has arrived since")
    assert said.endswith("UTC")
    bodies = {one.body["monitor"]: one.body["project"] for one in store.monitors.list_due(1e12)}
    assert bodies == {"faithfulness": "shop", "faithfulness (desk)": "desk"}
    assert format_headline(replace(alone, project="shop")).startswith("faithfulness (shop) has been 0.")


def test_projects_are_named_wherever_there_are_several(store: Store, tmp_path: Any) -> None:
    """Status, replay and drift say whose texts they mean; the part of drift is divided among both projects' days."""
    config = tmp_path / "ragauge.yaml"
    config.write_text(
        "monitor: {drift: [queries], monitors: [{metric: faithfulness, min: 0.5}], false_alarms: 5% per 30d}\n"
    )
    fill(store, "shop", 0, 6)
    alone = monitor_replay(str(config), store=store.url)
    assert [one.project for one in alone.data.drift] == [""] * 6
    assert alone.data.shares.shares[1].among == 30
    assert "| project |" not in alone.to_markdown()
    assert "Beside" not in monitor_drift(store=store.url).to_markdown()
    fill(store, "desk2", 0, 6)
    both = monitor_replay(str(config), store=store.url)
    assert [one.project for one in both.data.drift] == ["shop"] * 6 + ["desk2"] * 6
    assert both.data.shares.shares[1].among == 60
    assert "| project |" in both.to_markdown()
    assert "Project: desk2. Other projects: shop." in monitor_drift(project="desk2", store=store.url).to_markdown()
    said = list_monitors(config=config, store=store.url).to_markdown()
    assert "Monitored: shop. Only tested for drift: desk2. To monitor it, add a monitor with project: desk2." in said


def test_projects_share_a_day_once_they_have_a_baseline(store: Store) -> None:
    """A day is divided among those with 50 requests in the 28 days before, whatever comes on the day itself."""
    fill(store, "shop", 0, 3)
    fill(store, "desk2", 2, 1)
    both, day = ("shop", "desk2"), FIRST.date()
    found = [count_testable_projects(store, both, day + timedelta(days=n)) for n in (0, 1, 2, 3, 30, 31, 60)]
    assert found == [1, 1, 1, 2, 2, 1, 1]
    assert count_testable_projects(store, ("shop",), date(2026, 1, 4)) == 1


@pytest.mark.parametrize("projects", [2, 5])
def test_stable_months_of_several_projects_have_few_alarms(projects: int) -> None:
    """Of stable months at most 5 %, and what chance adds to that once in a hundred, have any alarm of drift.

    The last project comes amid them.
    The same days tested as if each project were alone have more than that: the division is what keeps the promise.
    """
    monitor, months, days = section(false_alarms="5% per 10d"), 400 // projects, 10
    draw, kept, alone = np.random.default_rng(7), 0, 0
    least = compute_daily_level(monitor, projects)
    for _ in range(months):
        found, found_alone = False, False
        for day in range(days):
            there = projects if day >= days // 2 else max(1, projects - 1)
            p = [
                mean_shift(
                    draw.normal(size=(50, 2)),
                    draw.normal(size=(50, 2)),
                    seed=day,
                    permutations=count_permutations(least),
                ).p
                for _ in range(there)
            ]
            found |= min(p) <= compute_daily_level(monitor, there)
            found_alone |= min(p) <= compute_daily_level(monitor)
        kept, alone = kept + found, alone + found_alone
    assert kept <= binom.ppf(0.99, months, 0.05)
    assert alone > kept
