"""The clock is put back: no trace waits for it, no lease stays with the dead, no run is made twice, monitors see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.analysis.monitored import monitor, traffic, watched, watching
from tests.monitoring.test_scheduling import Server
from tests.monitoring.test_settling import LATER

from ragauge.core.config.config_loader import read_config
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.intake import body_parser
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.replay.verb import monitor_replay
from ragauge.monitoring.series.monitor_specs import read_monitor_specs
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.monitoring.traffic.verb import build_monitor_status
from ragauge.store.inbox import Batch
from ragauge.store.jobs import LEASE_S, Jobs
from ragauge.store.monitors import Delivery
from ragauge.store.store_access import Store

HOUR = 3600.0
NOON = LATER // 86_400 * 86_400 + 12 * HOUR
FREE = Policy(judge="none", metrics=("empty_result_rate",))


DAY = 24 * HOUR
TWO_MONITORS = """monitor:
  judge: none
  metrics: [empty_result_rate]
  monitors:
    - {metric: empty_result_rate, max: 0.3}
    - {metric: empty_result_rate, max: 0.4, decide: point}
"""


def came(store: Store, at: float, *names: str, found: bool = False) -> None:
    """Requests that came at a moment of the server's clock."""
    row = {"query": "How long?", "answer": "14 days.", "passages": ["14 days."] if found else []}
    parsed = body_parser.parse_lines("\n".join(json.dumps({"query_id": name, **row}) for name in names).encode())
    store.inbox.add([Batch(at, "responses", parsed.body, parsed.parts)])


def outcomes(store: Store, *names: str) -> list[str]:
    return [one.outcome for one in store.ledger.load_lines(names).values()]


def test_traces_are_read(store: Store) -> None:
    """What came seconds before the clock was put back is read at once, what comes after it in its time, each once."""
    came(store, NOON, "a", "b")
    now = NOON - HOUR
    came(store, now, "c")
    assert settle_traces(store, FREE, now) == 2
    assert settle_traces(store, FREE, now + 5.1) == 1
    assert settle_traces(store, FREE, NOON + HOUR) == 0
    TrafficScorer(store, FREE, print).score()
    assert outcomes(store, "a", "b", "c") == ["scored"] * 3
    assert [run.done for run in store.runs.list()] == [3]


@pytest.mark.parametrize("alive", [False, True])
def test_leases_of_the_dead(store: Store, alive: bool) -> None:
    """A job whose server died before the clock was put back is taken two minutes later; a living one keeps it."""
    elapsed = 0.0
    other = Jobs(store.jobs._database, lambda: elapsed)
    job = store.jobs.take_job("nightly", NOON, "a", NOON)
    assert job is not None
    taken = []
    for elapsed in range(0, int(LEASE_S) + 20, 10):
        now = NOON - HOUR + elapsed
        if alive:
            assert store.jobs.record_heartbeat(job, "a", now)
        taken.append(other.take_job("nightly", NOON, "b", now))
    assert [one is not None for one in taken] == [False] * 13 + [not alive]


def test_no_schedule_runs_twice(store: Store) -> None:
    """A run of noon that was made is not made again when noon comes a second time; the next day's is made."""
    server = Server(store, cron="0 12 * * *")
    moments = (NOON - 60, NOON + 1, NOON - HOUR, NOON - 1, NOON + 1, NOON + HOUR)
    assert [server.at(now) for now in moments] == [0, 1, 0, 0, 0, 0]
    assert server.at(NOON + 25 * HOUR) == 1


def test_schedules_go_on_after_a_step_of_the_clock(store: Store) -> None:
    """What was made by a clock of a month ahead holds up no run of the days between."""
    server = Server(store, cron="0 12 * * *")
    moments = (NOON - 60, NOON + 1, NOON + 30 * DAY, NOON + HOUR, NOON + 25 * HOUR, NOON + 25 * HOUR, NOON + 49 * HOUR)
    assert [server.at(now) for now in moments] == [0, 1, 1, 0, 1, 0, 1]
    assert server.at(NOON + 30 * DAY + HOUR) == 0


def test_what_waits_to_be_told_is_tried_by_the_right_clock(store: Store) -> None:
    """An attempt that was put off by a clock ahead is due at once."""
    _, (alert, *_) = watched(watching(monitor(level=0.8, drop=None)), traffic([0.5]))
    store.monitors.save_alerts([alert])
    store.monitors.add_deliveries([Delivery("a", alert.alert_id, "t", {}, NOON + DAY)])
    assert store.monitors.list_due(NOON) == []
    assert [one.delivery_id for one in store.monitors.list_due(NOON, ahead=2 * HOUR)] == ["a"]


@pytest.mark.parametrize("ahead", [3, 30])
@pytest.mark.parametrize("restarted", [False, True])
def test_monitors_see_what_comes_after_a_step_of_the_clock(
    store: Store, tmp_path: Path, ahead: int, restarted: bool
) -> None:
    """Forward by days for two requests, and back: a failure is told at once, by each monitor and by replay."""
    config = tmp_path / "ragauge.yaml"
    config.write_text(TWO_MONITORS)
    file = read_config(str(config))
    section, several = file.checked().monitor, read_monitor_specs(file)[0]
    assert section is not None
    began = NOON

    def served(at: float, names: list[str], *, found: bool) -> None:
        nonlocal began
        came(store, at, *names, found=found)
        if abs(at - began) > DAY:  # as RunningSince takes a step of the clock
            began = at
        settle_traces(store, FREE, at + 6)
        TrafficScorer(store, FREE, print).score()
        advance_monitors(store, section, several, began if restarted else at + 7, None, began)

    served(NOON, [f"a{n}" for n in range(60)], found=True)
    served(NOON + ahead * DAY, ["b0", "b1"], found=True)
    served(NOON + 60, [f"c{n}" for n in range(100)], found=False)
    alerts = [one.alert for one in store.monitors.list_alerts()]
    assert sorted(one.decide for one in alerts if one.ended_at is None) == ["point", "test"]
    assert {one.since for one in alerts} == {one.fired_at.date() for one in alerts}
    replayed = monitor_replay(config=str(config), store=store.url).data
    assert {one.alert.alert_id for one in replayed.alerts} == {one.alert_id for one in alerts}
    status = build_monitor_status(config=config, store=store.url).data.monitors
    assert {(one.state, one.passed, one.scores) for one in status.series} == {("firing", 0, 162)}
