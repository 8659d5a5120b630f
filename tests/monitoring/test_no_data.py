"""That nothing comes is a state of its own, which is told once."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.analysis.monitored import FIRST, stored, traffic
from tests.monitoring.test_watcher import configured

from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.alerts.exposition import render_metrics
from ragauge.monitoring.alerts.verb import list_monitors
from ragauge.monitoring.intake.body_parser import parse_lines
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.series.series import ALL
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.worker import SteadyClock
from ragauge.store.inbox import Batch
from ragauge.store.store_access import Store

HOUR, DAYS = 3600.0, traffic([0.9] * 5, rate=40)
START = FIRST.timestamp()
LAST = START + 60 * HOUR  # noon of the third day, when its traffic is stored


def test_what_comes_no_more_is_told_once(store: Store) -> None:
    """Six hours after the last score the monitor is in no_data and one alert says so; it ends with the next score.

    A server that has just begun to run waits for six hours of its own.
    """
    stored(store, DAYS[:120])
    given = configured({"webhook": "http://127.0.0.1:9/"})
    advance_monitors(store, *given, LAST, began=START)
    assert advance_monitors(store, *given, LAST + 6 * HOUR - 1, began=START) == ()
    assert advance_monitors(store, *given, LAST + 9 * HOUR, began=LAST + 4 * HOUR) == ()
    (raised,) = advance_monitors(store, *given, LAST + 6 * HOUR, began=START)
    assert (raised.decide, raised.said) == (
        "no_data",
        "no score of faithfulness has arrived since 2026-01-03 12:00 UTC",
    )
    assert advance_monitors(store, *given, LAST + 7 * HOUR, began=START) == ()
    assert [one.body["title"] for one in store.monitors.list_due(1e12)] == [raised.said]
    assert {one.state.state for one in store.monitors.state(_name(given)).series.values()} == {"no_data"}
    stored(store, DAYS[120:])
    (ended,) = advance_monitors(store, *given, LAST + 30 * HOUR, began=START)
    assert (ended.alert_id, ended.ended_at) == (raised.alert_id, FIRST + timedelta(days=3, hours=12))
    assert {one.state.state for one in store.monitors.state(_name(given)).series.values()} == {"normal"}


def test_a_clock_that_steps_is_no_silence(store: Store) -> None:
    """A day by which the clock of a running server steps is not waited; six hours that pass after it are.

    A step back counts from its moment on likewise. What waits to be read, or to be scored, is not missing either.
    """
    stored(store, DAYS[:120])
    monitor, watched = configured()
    ran, steps = [0.0], [0.0]
    steady_clock = SteadyClock(lambda: ran[0])

    def look(hours: float, step: float = 0.0) -> int:
        ran[0] += hours * HOUR
        steps[0] += step * HOUR
        now = LAST + ran[0] + steps[0]
        return len(advance_monitors(store, monitor, watched, now, None, steady_clock.find_start(now)))

    assert [look(0), look(1), look(1, 24), look(5.9)] == [0, 0, 0, 0]
    assert [look(0, -2), look(5.9)] == [0, 0]
    body = b'{"query_id": "late", "query": "How long?", "answer": "14 days.", "passages": []}'
    found = parse_lines(body)
    store.inbox.add([Batch(LAST, "responses", found.body, found.parts, "shop")])
    assert look(1) == 0
    settle_traces(store, Policy(metrics=("faithfulness",)), LAST + 24 * HOUR)
    assert look(6) == 0
    (line,) = store.ledger.load_lines(["late"]).values()
    store.ledger.decide(store.ledger.list_waiting(line.run_id), "scored", timestamp=LAST)
    assert [look(6), look(1)] == [1, 0]


def _name(given: Any) -> str:
    from ragauge.monitoring.replay.compute import build_trackers

    return build_trackers(*given)[0].name


def test_a_segment_that_falls_silent_is_told_alone(store: Store, tmp_path: Path) -> None:
    """A tenant of which nothing comes for six hours while others send is in no_data, on the page and in /metrics.

    One alert names it, in words and by segment, and ends with its next score; the others stay as they were.
    """
    path = tmp_path / "ragauge.yaml"
    rule = "{metric: faithfulness, min: 0.8, segments: [tenant]}"
    path.write_text(f"monitor: {{segments: {{tenant: metadata.tenant}}, monitors: [{rule}]}}")
    given = configured({"webhook": "http://127.0.0.1:9/"})
    stored(store, DAYS[:80])
    advance_monitors(store, *given, START + 36 * HOUR, began=START)
    stored(store, [one for one in DAYS[80:] if one.segments["tenant"] == "acme"])
    assert advance_monitors(store, *given, START + 108 * HOUR, began=START + 102 * HOUR + 60) == ()
    (raised,) = advance_monitors(store, *given, START + 108 * HOUR, began=START)
    said = "no score of faithfulness of tenant bolt has arrived since 2026-01-02 12:00 UTC, while other segments send"
    assert (raised.decide, raised.segment, raised.said) == ("no_data", ("tenant", "bolt"), said)
    assert advance_monitors(store, *given, START + 109 * HOUR, began=START) == ()
    assert [one.body["segment"] for one in store.monitors.list_due(1e12)] == [{"tenant": "bolt"}]
    states = {name: one.state.state for name, one in store.monitors.state(_name(given)).series.items()}
    assert states == {ALL: "normal", ("tenant", "acme"): "normal", ("tenant", "bolt"): "no_data"}
    shown = list_monitors(config=path, store=store.url)
    assert [one.segment for one in shown.data.series if one.state == "no_data"] == [("tenant", "bolt")]
    page = shown.to_markdown()
    assert re.search(r"tenant bolt \| \**no data", page)
    assert "1 series gets no more scores" in page
    named = 'segment="tenant",state="no_data",value="bolt"'
    assert re.search(rf"ragauge_monitor_state{{.*{named}}} 1.0", render_metrics(store.url, path).decode())
    stored(store, [one for one in traffic([0.9] * 6, rate=40, first=1000)[200:] if one.segments["tenant"] == "bolt"])
    (ended,) = advance_monitors(store, *given, START + 132 * HOUR, began=START)
    assert (ended.alert_id, ended.ended_at) == (raised.alert_id, FIRST + timedelta(days=5, hours=12))
