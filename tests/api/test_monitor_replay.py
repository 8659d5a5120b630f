"""Replay of monitors over stored traffic: the alerts of the same requests in memory, and what each has to say."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.monitored import FIRST, stored, traffic

import ragauge as rg
from ragauge.monitoring.replay.verb import ReplayResult
from ragauge.store.store_access import open_store

CONFIG: dict[str, Any] = {
    "monitor": {
        "segments": {"tenant": "metadata.tenant"},
        "monitors": [{"metric": "faithfulness", "baseline": "14d", "max_drop": "5%", "segments": ["tenant"]}],
    }
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with three weeks of traffic: the mean falls on the 19th day."""
    path = tmp_path_factory.mktemp("replay") / "store.db"
    with open_store(f"sqlite:///{path}") as store:
        stored(store, traffic([0.9] * 18 + [0.6] * 3, rate=60))
    return f"sqlite:///{path}"


@pytest.fixture(scope="module")
def replay(url: str) -> ReplayResult:
    return rg.monitor_replay(CONFIG, store=url)


def test_the_alert_and_its_account(replay: ReplayResult) -> None:
    """The drop is an alert dated to its day, with means before and since, the segments and the ten worst traces."""
    found = replay.data
    assert (found.requests, found.pending) == (21 * 60, 0)
    alert = found.alerts[0].alert
    assert abs(alert.since - (FIRST + timedelta(days=18)).date()) <= timedelta(days=1)
    told = found.alerts[0]
    assert told.before == pytest.approx(0.9, abs=0.02)
    assert told.now == pytest.approx(0.6, abs=0.12)
    assert len(told.traces) == 10
    assert [one.value for one in told.traces] == sorted(one.value for one in told.traces)
    (shift,) = told.shifts
    assert shift.mix + shift.within == pytest.approx((told.now or 0) - (told.before or 0))
    assert abs(shift.mix) < 0.01
    whole = next(one for one in found.series if one.segment == ("", ""))
    assert whole.state in ("firing", "recovering")
    assert whole.point_false_alarms is not None


def test_two_monitors_of_one_metric(url: str, replay: ReplayResult) -> None:
    """Each alert is told by the monitor that raised it: as by that monitor alone, which fires a few scores earlier."""
    level = {"metric": "faithfulness", "min": 0.8}
    both = {"monitor": {**CONFIG["monitor"], "monitors": [*CONFIG["monitor"]["monitors"], level]}}
    found = rg.monitor_replay(both, store=url).data.alerts
    first = next(one for one in found if "14 days" in one.alert.asks)
    alone = replay.data.alerts[0]
    assert first.before == pytest.approx(alone.before, abs=0.005)
    assert first.n_before == pytest.approx(alone.n_before, abs=20)


def test_every_form(replay: ReplayResult, tmp_path: Path) -> None:
    """Terminal, Markdown, JSON and page say the same, and none holds a user's words."""
    headline = "faithfulness has been 0."
    page = replay.save(tmp_path / "replay.html").read_text()
    for text in (repr(replay), replay.to_markdown(), page):
        assert headline in text
        assert "What changed" not in text  # nothing did
        assert "How long?" not in text
    assert json.loads(replay.to_json())["alerts"][0]["alert"]["monitor"] == "faithfulness"
    series, _, note = repr(replay).rpartition("Series")[2].partition("False alarms, last 50:")
    assert note  # it speaks of a column that is there, however narrow the terminal
    assert "alarms" in series


def test_other_days_and_mistakes(url: str) -> None:
    """From a later day on fewer requests are gone through; a day that is none, and no traffic, are refused."""
    assert rg.monitor_replay(CONFIG, since="2026-01-10", store=url).data.requests == 12 * 60
    with pytest.raises(rg.UsageError, match="expected a day such as 2026-01-31, got 'monday'"):
        rg.monitor_replay(CONFIG, since="monday", store=url)
    with pytest.raises(rg.UsageError, match="no traffic run is stored since 2030-01-01"):
        rg.monitor_replay(CONFIG, since="2030-01-01", store=url)
    with pytest.raises(rg.UsageError, match="no metric is monitored"):
        rg.monitor_replay({"monitor": {}}, store=url)


def test_drift_of_the_last_days(tmp_path: Path) -> None:
    """Where it is asked for, a day of other questions is said to have moved, and days of the same are not."""
    arrivals = traffic([0.9] * 4, rate=60)
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as store:
        stored(store, arrivals, queries=_query)
    asked = {"monitor": {**CONFIG["monitor"], "drift": ["queries", "documents"]}}
    found = rg.monitor_replay(asked, store=f"sqlite:///{tmp_path / 'store.db'}").data
    queries = [one.drift.drifted for one in found.drift if one.drift.of == "queries"]
    assert queries == [None, False, False, True]
    assert all(one.drift.drifted is None for one in found.drift if one.drift.of == "documents")  # one text alone


def _query(number: int) -> str:
    """Questions about parcels, and on the fourth day about money."""
    if number < 180:
        return f"How many days does a parcel of {1 + number * 7 % 60} kilos to town {number * 13 % 60} take?"
    return f"What was the company's net income in fiscal year {1950 + number - 180}?"
