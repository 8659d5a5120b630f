"""The contract of monitors: where they stand, what they raised, what is to be told."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log

import pytest
from sqlalchemy import select, update
from tests.analysis.monitored import FIRST, batches, fallen_at_noon, monitor, traffic, watched, watching

from ragauge.core.errors import UnknownName
from ragauge.monitoring.series.monitor_tracker import Alert, TrackerState
from ragauge.monitoring.series.series import ALL
from ragauge.store.monitor_schema import series
from ragauge.store.monitors import Delivery, StoredAlert
from ragauge.store.store_access import Store, open_store
from ragauge.store.text_codec import pack_text, unpack_text

BY = watching(monitor(level=0.8, drop=None, segments=("tenant",)))
STATE, ALERTS = watched(BY, traffic([0.9, 0.9, 0.5, 0.5], rate=60))
DELIVERY = Delivery("d1", ALERTS[0].alert_id, "t1", {"title": "it fell"}, 100.0)


class MonitorsContract:
    """What every store of monitors does. A back end supplies `store`."""

    def test_a_state_is_read_back(self, store: Store) -> None:
        """Where a monitor stands comes back equal, by another connection too; a new one stands at its beginning."""
        assert store.monitors.state("m") == TrackerState()
        assert store.monitors.save_progress("m", TrackerState(), STATE, ALERTS)
        with open_store(store.url) as again:
            found = again.monitors.state("m")
            assert replace(found, series={}) == replace(STATE, series={})
            assert found.series == STATE.series
            assert {one.alert.alert_id for one in again.monitors.list_alerts()} == {one.alert_id for one in ALERTS}

    @pytest.mark.parametrize("restarts", [1, 7])
    def test_restarts_make_no_difference(self, store: Store, restarts: int) -> None:
        """A monitor that is ended and read back between any batches comes to exactly the alerts that it had raised."""
        came, by = fallen_at_noon(), watching(monitor())
        _, expected = watched(by, came)
        found: list[Alert] = []
        for batch in batches(came, len(came) // (restarts + 1)):
            state = store.monitors.state(by.name)
            after, alerts = by.after(state, batch)
            assert store.monitors.save_progress(by.name, state, after, alerts)
            found += alerts
        assert [(one.alert_id, one.first, one.n, one.evidence) for one in found] == [
            (one.alert_id, one.first, one.n, one.evidence) for one in expected
        ]
        assert expected

    def test_evidence_of_an_earlier_version_is_read(self, store: Store) -> None:
        """Evidence that was kept as the log wealth of each day is as much evidence, and the monitor goes on."""
        store.monitors.save_progress("m", TrackerState(), STATE, ())
        with open_store(store.url) as again, again._database.write() as connection:
            body = json.loads(unpack_text(connection.execute(select(series.c.body)).scalar_one()))
            for _, one in body["series"]:
                one["evidence"] = {"m": 0.8, "days": 30, "wealth": [[log(3.0)] * 10, [log(1.5)] * 10]}
                one["recent"] = [pair[:2] for pair in one["recent"]]
            connection.execute(update(series).values(body=pack_text(json.dumps(body))))
        before = store.monitors.state("m")
        evidence = before.series[ALL].evidence
        assert evidence is not None
        assert evidence.value == pytest.approx((3 + 1.5 + 28) / 30)
        after, _ = BY.after(before, traffic([0.9] * 5, rate=60)[-60:])
        assert store.monitors.save_progress("m", before, after, ())

    def test_of_two_one_is_first(self, store: Store) -> None:
        """Who comes from a place where the monitor no longer stands keeps nothing."""
        assert store.monitors.save_progress("m", TrackerState(), STATE, ())
        assert not store.monitors.save_progress("m", TrackerState(), replace(STATE, cursor=9), ALERTS)
        assert store.monitors.list_alerts() == []
        assert store.monitors.state("m").cursor == STATE.cursor

    def test_alerts_end_and_are_resolved(self, store: Store) -> None:
        """An alert that ends is the same one; what people said of it stays; the last word counts."""
        store.monitors.save_progress("m", TrackerState(), STATE, ALERTS[:1])
        name = ALERTS[0].alert_id
        assert store.monitors.resolve_alert(name[:4], "false_alarm").resolution == "false_alarm"
        ended = replace(ALERTS[0], ended_at=FIRST)
        store.monitors.save_progress("m", STATE, replace(STATE, cursor=STATE.cursor + 1), [ended])
        assert store.monitors.list_alerts() == [StoredAlert(ended, "false_alarm")]
        with pytest.raises(UnknownName):
            store.monitors.resolve_alert("zzz", "acknowledged")

    def test_deliveries_wait_until_they_arrive(self, store: Store) -> None:
        """A delivery is due until an attempt arrives or nothing more is tried; the same is kept once."""
        store.monitors.save_progress("m", TrackerState(), STATE, ALERTS[:1])
        store.monitors.add_deliveries([DELIVERY, DELIVERY])
        assert store.monitors.list_due(99.0) == []
        assert store.monitors.list_due(100.0) == [DELIVERY]
        store.monitors.record_attempt(DELIVERY, "HTTP 500", 130.0)
        (again,) = store.monitors.list_due(130.0)
        assert (again.attempts, again.error) == (1, "HTTP 500")
        store.monitors.record_attempt(again, "", None)
        assert store.monitors.list_due(1e12) == []


class TestSqliteMonitors(MonitorsContract):
    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store
