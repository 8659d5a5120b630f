"""Finding a trace: by how its id begins, in the list of the newest, and among the worst of an alert."""

from __future__ import annotations

import json
import time
from datetime import timedelta

import pytest
from tests.analysis.monitored import FIRST, monitor, traffic, watched, watching

from ragauge.core.errors import UnknownName, UsageError
from ragauge.monitoring.intake.body_parser import BodyParser, SentBody
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.series.alert_details import build_account, select_alert_requests
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.verb import find_trace, list_traces
from ragauge.store.inbox import ReadDelay
from ragauge.store.store_access import Store

ASKED = ("How long do refunds take?", "Where is the shop?")


def taken(store: Store) -> None:
    """Two responses, the second a minute later, and read."""
    for n, query in enumerate(ASKED):
        line = {"query_id": f"refund-{n}-of-2", "query": query, "answer": "14 days.", "passages": [{"text": "A."}]}
        batch = BodyParser().responses(SentBody("json", json.dumps(line).encode(), 1_700_000_000.0 + 60 * n, "")).batch
        assert batch is not None
        store.inbox.add([batch], ReadDelay())
    while settle_traces(store, Policy(), time.time()):
        pass


def test_a_trace_is_found_by_how_it_begins(store: Store) -> None:
    """The beginning of an id is enough where one trace begins so; of several one is named."""
    taken(store)
    assert find_trace("refund-1", store=store.url).data.trace_id == "refund-1-of-2"
    with pytest.raises(UnknownName, match=r"2 traces match, such as refund-0-of-2\. Give more"):
        find_trace("refund", store=store.url)
    with pytest.raises(UnknownName, match="No part of it has arrived"):
        find_trace("return", store=store.url)


def test_the_newest_traces_say_when_and_what(store: Store) -> None:
    """The list has the time of arrival and the question of each, of one outcome where that is asked for."""
    taken(store)
    found = list_traces(store=store.url)
    assert {(one.at, one.query) for one in found.data.rows} == {
        ("2023-11-14T22:13:20+00:00", ASKED[0]),
        ("2023-11-14T22:14:20+00:00", ASKED[1]),
    }
    assert "2023-11-14 22:13" in repr(found)
    assert list_traces(outcome="to score", limit=1, store=store.url).data.matching == 2
    with pytest.raises(UnknownName, match="trace outcome"):
        list_traces(outcome="scred", store=store.url)
    with pytest.raises(UsageError, match="--limit must be at least 1, got 0"):
        list_traces(limit=0, store=store.url)


def test_an_alert_says_since_what_time() -> None:
    """Where scores fell at noon, the time of the day is noon, give or take an hour; the worst say when they came."""
    watch = monitor(level=0.8, drop=None)
    calm, fallen = traffic([0.95] * 4, rate=240), traffic([0.95] * 3 + [0.3] * 3, rate=240)
    noon = FIRST + timedelta(days=3, hours=12)
    came = [one if one.at < noon else other for one, other in zip([*calm, *fallen[960:]], fallen, strict=True)]
    alert = next(one for one in watched(watching(watch), came)[1] if one.ended_at is None)
    told = build_account(alert, watch, select_alert_requests(alert, watch, came), {})
    assert alert.since == noon.date()
    assert told.since_at is not None
    assert abs(told.since_at - noon) <= timedelta(hours=1)
    assert {one.at.date() for one in told.traces if one.at is not None} == {noon.date()}
