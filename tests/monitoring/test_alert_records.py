"""Alerts by OTLP: an event that says what fired, told until it arrives, without users' words."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from sqlalchemy import select
from starlette.testclient import TestClient
from tests.analysis.monitored import FIRST, stored
from tests.monitoring.test_giving_back import collector
from tests.monitoring.test_watcher import DAYS, configured

from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.alerts.notifications import EVENT, build_deliveries, find_severity
from ragauge.monitoring.outbox import send_due
from ragauge.monitoring.series.alert_details import build_plain_account
from ragauge.monitoring.series.fault_attribution import Blame
from ragauge.monitoring.series.no_data_detection import build_no_data_alert
from ragauge.store.monitor_schema import deliveries as kept
from ragauge.store.store_access import Store


def record(body: bytes) -> tuple[Any, dict[str, Any]]:
    """The one log record of a request, and its attributes."""
    request = ExportLogsServiceRequest.FromString(gzip.decompress(body))
    (found,) = request.resource_logs[0].scope_logs[0].log_records
    said = {}
    for one in found.attributes:
        kind = str(one.value.WhichOneof("value"))
        value = getattr(one.value, kind)
        said[one.key] = [each.string_value for each in value.values] if kind == "array_value" else value
    return found, said


def test_an_alert_is_a_log_record_until_it_arrives(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fired is the event ragauge.alert with what it is about; its end is another one of the same alert.

    A receiver that refuses is sent the same bytes under the same id later, and nothing once it took them. Its address,
    out of the environment, is not kept, and no user's words are sent.
    """
    with collector(2) as (address, seen):
        monkeypatch.setenv("COLLECTOR", address)
        monkeypatch.setenv("TOKEN", "Bearer known")
        monitor, watched = configured({"otlp": "$COLLECTOR", "headers": {"authorization": "$TOKEN"}})
        one_series = replace(watched, metrics=tuple(replace(one, segments=()) for one in watched.metrics))
        stored(store, DAYS[:160])
        (raised,) = advance_monitors(store, monitor, one_series, 0.0)
        assert [send_due(store, monitor, at) for at in (0.0, 29.0, 30.0, 90.0, 1e9)] == [0, 0, 0, 1, 0]
        stored(store, DAYS[160:])
        (ended,) = advance_monitors(store, monitor, one_series, 1e9)
        assert send_due(store, monitor, 1e9) == 1
    assert (ended.alert_id, len(seen)) == (raised.alert_id, 4)
    assert {path for _, _, path in seen} == {"/v1/logs"}
    assert len({(headers["Idempotency-Key"], body) for headers, body, _ in seen[:3]}) == 1
    assert seen[0][0]["Authorization"] == "Bearer known"
    found, said = record(seen[2][1])
    assert (found.event_name, found.severity_text, found.severity_number) == (EVENT, "ERROR", 17)
    assert found.body.string_value.startswith("faithfulness has been 0.")
    assert found.time_unix_nano == int(raised.fired_at.timestamp()) * 10**9 + raised.fired_at.microsecond * 1000
    project = store.runs.list(filter={"kind": "traffic"})[0].system
    assert project
    wanted = {
        "id": raised.alert_id,
        "state": "fired",
        "monitor": "faithfulness",
        "asked": raised.asks,
        "project": project,
        "mean": raised.mean,
        "allowed": 0.8,
    }
    assert {name: said[f"{EVENT}.{name}"] for name in wanted} == pytest.approx(wanted)
    assert said[f"{EVENT}.since"].startswith(raised.since.isoformat())
    assert 5 <= len(said[f"{EVENT}.traces"]) <= 10
    assert said["gen_ai.evaluation.name"] == "faithfulness"
    assert said["ragauge.delivery.id"] == seen[2][0]["Idempotency-Key"]
    assert b"How long?" not in gzip.decompress(seen[2][1])
    last, at_the_end = record(seen[3][1])
    assert (last.severity_text, at_the_end[f"{EVENT}.state"]) == ("INFO", "ended")
    assert at_the_end[f"{EVENT}.id"] == raised.alert_id
    assert seen[3][0]["Idempotency-Key"] != seen[2][0]["Idempotency-Key"]


def test_segments_and_words(store: Store) -> None:
    """A segment's alert names it; questions and answers of the worst come with `text: true`."""
    monitor, watched = configured({"otlp": "http://127.0.0.1:9/", "text": True})
    with collector() as (address, seen):
        told = configured({"otlp": address, "text": True})[0]
        stored(store, DAYS[:160])
        advance_monitors(store, told, watched, 0.0)
        kept = store.monitors.list_due(0.0)
        assert send_due(store, told, 0.0) == len(kept) == 3
        assert send_due(store, monitor, 1e9) == 0  # another receiver is another target
    found = [record(body)[1] for _, body, _ in seen]
    assert {one.get(f"{EVENT}.segment.tenant") for one in found} == {None, "acme", "bolt"}
    assert not any(f"{EVENT}.component" in one for one in found)  # nobody can tell
    assert json.loads(found[0][f"{EVENT}.examples"])[0] == {"query": "How long?", "answer": "Long."}


def test_severity_component_and_the_last_word(store: Store) -> None:
    """What is worse than it may be is an ERROR, what changed or comes no more a WARN, what has ended INFO.

    The component at fault is named where it is known. What a receiver does not take is not sent again.
    """
    assert [find_severity(one, "fired") for one in ("test", "point", "signal", "schedule")] == ["ERROR"] * 4
    assert [find_severity(one, "fired") for one in ("no_data", "drift", "canary")] == ["WARN"] * 3
    assert find_severity("test", "ended") == "INFO"
    with collector(rejections=1) as (address, seen):
        monitor = configured({"otlp": address})[0]
        quiet = build_no_data_alert("faithfulness", "score", FIRST, FIRST, timedelta(hours=6))
        store.monitors.save_alerts([quiet])
        told = replace(build_plain_account(quiet), blame=Blame("retrieval", "its failures grew most"))
        store.monitors.add_deliveries(build_deliveries(store, monitor, told, 0.0))
        assert send_due(store, monitor, 0.0) == 0
        assert send_due(store, monitor, 1e9) == 0
    ((_, body, _),) = seen
    found, said = record(body)
    assert (found.severity_number, found.body.string_value) == (13, quiet.said)
    assert (said[f"{EVENT}.component"], said[f"{EVENT}.why"]) == ("retrieval", "its failures grew most")
    assert not said.keys() & {"gen_ai.evaluation.name", f"{EVENT}.mean", f"{EVENT}.allowed", f"{EVENT}.project"}
    with store._database.read() as connection:
        attempt = select(kept.c.delivery_id, kept.c.error, kept.c.due)
        assert connection.execute(attempt).all() == [(said["ragauge.delivery.id"], "1 rejected", None)]


def test_alerts_are_not_taken_in(store: Store, sender: Callable[..., TestClient]) -> None:
    """An alert that a collector hands on to the server that sent it is left out, and said to be."""
    with collector() as (address, seen):
        monitor, watched = configured({"otlp": address})
        stored(store, DAYS[:160])
        advance_monitors(store, monitor, watched, 0.0)
        send_due(store, monitor, 0.0)
    headers = {"content-type": "application/x-protobuf", "content-encoding": "gzip"}
    answer = sender().post("/v1/logs", content=seen[0][1], headers=headers)
    assert answer.status_code == 200
    assert ExportLogsServiceResponse.FromString(answer.content).partial_success.rejected_log_records == 1
