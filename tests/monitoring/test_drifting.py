"""Daily drift: an alert where a day's questions are of something else, told once, ended when they are as before."""

from __future__ import annotations

from datetime import datetime

import pytest
from tests.analysis.monitored import FIRST, stored, traffic

from ragauge.core.config.config_loader import read_config
from ragauge.core.errors import UsageError
from ragauge.monitoring.alerts.alert_coverage import format_headline
from ragauge.monitoring.alerts.verb import find_alert
from ragauge.monitoring.drift.drift_job import DriftJob
from ragauge.monitoring.drift.verb import monitor_drift
from ragauge.monitoring.worker import StageTurn
from ragauge.store.inbox import DAY_S
from ragauge.store.store_access import Store

A_DAY = 60
OWN = ("How do I reset the router of floor {n}?", "Where is the switch of room {n} mounted?", "Is port {n} blocked?")
OTHER = ("Which wine goes with dish {n} of the menu?", "How long is cake {n} baked?", "Is soup {n} vegan?")
DAYS = traffic([0.9] * 7, rate=A_DAY)


def asked(number: int) -> str:
    """A question about a network; on the sixth day, about food."""
    several = OTHER if number // A_DAY == 5 else OWN
    return several[number % 3].format(n=number)


class Server:
    """A look at a store whose clock is set."""

    def __init__(self, store: Store) -> None:
        monitor = read_config({"monitor": {"drift": ["queries"], "notify": [{"webhook": "http://127.0.0.1:9/"}]}})
        section = monitor.checked().monitor
        assert section is not None
        self.store, self.now = store, 0.0
        self._watcher = DriftJob(section)

    def at(self, day: int, hours: float = 2) -> int:
        """How many alerts were raised or ended when it looked on a day, the first being 0."""
        self.now = FIRST.timestamp() + day * DAY_S + hours * 3600
        return self._watcher.run_once(StageTurn(self.store, lambda: self.now))


@pytest.fixture
def filled(store: Store) -> Store:
    """Seven days of questions."""
    stored(store, DAYS, queries=asked)
    return store


def test_another_topic_raises_one_alert_that_ends(filled: Store) -> None:
    """One server raises it in the morning after, with its delivery; the day after the questions are as before."""
    one, two = Server(filled), Server(filled)
    assert one.at(5) == 0
    assert one.at(6, hours=0.5) == 0
    assert (one.at(6), two.at(6), one.at(6, hours=20)) == (1, 0, 0)
    (kept,) = filled.monitors.list_alerts()
    assert format_headline(kept.alert).startswith(
        "queries on 2026-01-06 differ from those of the 28 days before (p = 0.000"
    )
    (delivery,) = filled.monitors.list_due(1e12)
    assert delivery.body["title"] == format_headline(kept.alert)
    assert "wine" not in str(delivery.body)
    assert "no longer in the configuration" not in find_alert(kept.alert.alert_id, store=filled.url).to_markdown()
    assert two.at(7) == 1
    (ended,) = filled.monitors.list_alerts()
    assert ended.alert.ended_at == datetime.fromisoformat("2026-01-07T00:00+00:00")
    told = filled.jobs.newest(DriftJob.name)
    assert told is not None
    assert told.said.startswith("2026-01-07: queries: the mean embedding did not move")


def test_days_without_a_server_are_looked_at(filled: Store) -> None:
    """What began and ended while nobody looked is kept, with its end."""
    assert Server(filled).at(7) == 1
    (kept,) = filled.monitors.list_alerts()
    assert (kept.alert.since.isoformat(), kept.alert.ended_at is None) == ("2026-01-06", False)
    assert Server(filled).at(8) == 0


def test_what_differs_is_told(filled: Store) -> None:
    """The command says which day moved, and of the last day lengths, languages and the clusters that grew."""
    url = filled.url
    found = monitor_drift(day="2026-01-06", store=url)
    queries = found.data.details[0]
    assert [(str(one.day), one.drift.drifted) for one in found.data.days if one.drift.of == "queries"][-1:] == [
        ("2026-01-06", True)
    ]
    assert (queries.of, queries.words_before, queries.languages[0].language) == ("queries", 8, "en")
    assert queries.divergence is not None
    assert queries.divergence > 0.2
    grown = queries.grown[0]
    assert grown.now > grown.before
    assert 1 <= len(grown.texts) <= 5
    assert "2026-01-06" in found.to_markdown()
    with pytest.raises(UsageError, match="day: expected a day such as"):
        monitor_drift(day="monday", store=url)
    with pytest.raises(UsageError, match="no traffic run is stored until 2020-01-01"):
        monitor_drift(day="2020-01-01", store=url)
