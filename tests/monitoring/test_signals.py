"""Gauges that come in with the traces: kept by name, watched, and told of once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from starlette.testclient import TestClient
from tests.monitoring.conftest import attributes

from ragauge.core.config.config_loader import read_config
from ragauge.monitoring.alerts.alert_worker import watch_gauges
from ragauge.monitoring.alerts.verb import list_monitors
from ragauge.monitoring.intake.redaction import Redaction
from ragauge.monitoring.series.gauge_monitors import SignalPoint
from ragauge.monitoring.series.monitor_specs import read_monitor_specs
from ragauge.monitoring.worker import StageTurn, SteadyClock
from ragauge.store.store_access import Store

MONITOR: dict[str, Any] = {
    "monitors": [{"signal": "shard_load", "skew_max": 3, "for": "30m"}],
    "cool_down": "1h",
    "notify": [{"webhook": "http://127.0.0.1:9/"}],
}


def gauge(name: str, *values: float) -> dict[str, Any]:
    """A request with one value for each shard."""
    points = [
        {"asDouble": value, "attributes": [{"key": "shard", "value": {"intValue": str(n)}}]}
        for n, value in enumerate(values)
    ]
    metric = {"name": name, "gauge": {"dataPoints": points}}
    other = {"name": "elsewhere", "sum": {"dataPoints": [{"asInt": "1"}]}}
    return {"resourceMetrics": [{"scopeMetrics": [{"metrics": [metric, other]}]}]}


def test_a_skew_that_lasts_is_one_alert(sender: Callable[..., TestClient], store: Store) -> None:
    """Gauges that are named are kept by source; a skew of 30 minutes raises one alert, which ends after the cool-down.

    However often the server looks, by one watcher or by a new one after each value, the alert is the same.
    """
    answer = sender(signals=frozenset({"shard_load"})).post("/v1/metrics", json=gauge("shard_load", 1, 1, 1, 1, 1))
    assert answer.json()["partialSuccess"]["rejectedDataPoints"] == "1"
    kept = store.inbox.list_signal_points("shard_load", 0.0)
    assert [(one.source, one.value) for one in kept] == [(f"shard={n}", 1.0) for n in range(5)]
    file = read_config({"monitor": MONITOR})
    monitor = file.checked().monitor
    assert monitor is not None
    start, counts, loads = kept[0].at, list[int](), [1.0, *[30.0] * 5, *[1.0] * 8]
    for n, load in enumerate(loads):
        now = start + 600 * (n + 1)
        store.inbox.add_signals(
            [("shard_load", replace_point(one, now, load if one.source == "shard=4" else 1.0)) for one in kept]
        )
        for _ in range(2):
            watch_gauges(StageTurn(store, partial(float, now)), monitor, read_monitor_specs(file)[0].signals)
        counts.append(len([one for one in store.monitors.list_alerts() if one.alert.ended_at is None]))
    assert counts == [0, 0, 0, 0, 1, 1, *[1] * 6, 0, 0]  # off from the second on, 30 minutes later an alert
    (told,) = store.monitors.list_alerts()
    assert told.alert.mean == 30 / (34 / 5)
    assert told.alert.said.endswith("the value is 4.41 over 5 sources; the highest is 30, from shard=4")


def test_an_alert_of_a_gauge_names_its_source(sender: Callable[..., TestClient], store: Store) -> None:
    """The least value is named with the attributes of its source; a gauge without attributes has a value alone."""
    client = sender(signals=frozenset({"load", "ctr"}))
    client.post("/v1/metrics", json=gauge("load", 5, 1, 5))
    store.inbox.add_signals([("ctr", SignalPoint(store.inbox.list_signal_points("load", 0.0)[0].at, "", 0.25))])
    file = read_config({"monitor": {"monitors": [{"signal": "load", "min": 2}, {"signal": "ctr", "min": 0.5}]}})
    monitor = file.checked().monitor
    assert monitor is not None
    assert watch_gauges(StageTurn(store), monitor, read_monitor_specs(file)[0].signals) == 2
    assert {one.alert.said.partition("is violated: ")[2] for one in store.monitors.list_alerts()} == {
        "the value is 1 over 3 sources; the lowest is 1, from shard=1",
        "the value is 0.25",
    }  # of the same moment, so in any order


def test_a_gauge_that_comes_no_more(sender: Callable[..., TestClient], store: Store) -> None:
    """Six hours without a value are one alert, which ends with the next; the page shows both."""
    sender(signals=frozenset({"shard_load"})).post("/v1/metrics", json=gauge("shard_load", 1, 2))
    file = read_config({"monitor": MONITOR})
    monitor = file.checked().monitor
    assert monitor is not None
    now = [store.inbox.list_signal_points("shard_load", 0.0)[0].at]
    steady_clock, specs = SteadyClock(lambda: now[0]), read_monitor_specs(file)[0].signals
    steady_clock.find_start(now[0])

    def watch() -> int:
        return watch_gauges(StageTurn(store, lambda: now[0], steady_clock=steady_clock), monitor, specs)

    counts = []
    for hours in (1, 5.5, 6.5, 8):
        now[0] = store.inbox.list_signal_points("shard_load", 0.0)[0].at + 3600 * hours
        counts.append(watch())
    assert counts == [0, 0, 1, 0]
    store.inbox.add_signals(
        [("shard_load", replace_point(store.inbox.list_signal_points("shard_load", 0.0)[0], now[0], 1.0))]
    )
    assert (watch(), watch()) == (1, 0)
    (told,) = store.monitors.list_alerts()
    assert told.alert.said.startswith("no value of shard_load has arrived since")


def test_gauges_stand_beside_the_monitors(sender: Callable[..., TestClient], store: Store, tmp_path: Path) -> None:
    """Where monitors stand says of each gauge its newest values, its limit and its state, with or without a monitor."""
    answer = sender(signals=frozenset({"shard_load", "ctr"})).post("/v1/metrics", json=gauge("shard_load", 1, 1, 1, 9))
    assert answer.status_code == 200
    path = tmp_path / "ragauge.yaml"
    path.write_text("monitor: {signals: [ctr], monitors: [{signal: shard_load, skew_max: 2}]}")
    shown = list_monitors(config=path, store=store.url)
    assert [(one.name, one.state, one.value, one.limit) for one in shown.data.gauges] == [
        ("shard_load", "pending", 3.0, 2.0),
        ("ctr", "no_data", None, None),
    ]
    assert "greatest over mean at most 2" in shown.to_markdown()


def replace_point(point: Any, at: float, value: float) -> Any:
    return point._replace(at=at, value=value)


def test_gauges_that_nobody_names(sender: Callable[..., TestClient], store: Store) -> None:
    """Without names nothing is kept, and the exporter is told so with 200."""
    answer = sender().post("/v1/metrics", json=gauge("shard_load", 1))
    assert (answer.status_code, answer.json()["partialSuccess"]["rejectedDataPoints"]) == (200, "2")
    assert store.inbox.list_signal_points("shard_load", 0.0) == []


def test_sources_of_gauges_are_redacted(sender: Callable[..., TestClient], store: Store) -> None:
    """What attributes of a value name or a pattern matches is gone from its source; two such sources stay apart."""
    redaction = Redaction(("user.*",), (r"[\w.]+@[\w.]+",), key="k")
    mails = ("a@b.de", "c@d.de")
    points = [{"asDouble": 1.0, "attributes": attributes(user__id="anna", mail=mail, shard="3")} for mail in mails]
    sent = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "load", "gauge": {"dataPoints": points}}]}]}]}
    client, protobuf = sender(redaction, signals=frozenset({"load"})), {"content-type": "application/x-protobuf"}
    body = ParseDict(sent, ExportMetricsServiceRequest()).SerializeToString()
    assert client.post("/v1/metrics", json=sent).status_code == 200
    assert client.post("/v1/metrics", content=body, headers=protobuf).status_code == 200
    hashed = [f"mail={redaction.text(mail)},shard=3,user.id=__REDACTED__" for mail in mails]
    assert [one.source for one in store.inbox.list_signal_points("load", 0.0)] == hashed * 2
    assert hashed[0] != hashed[1]


@pytest.mark.parametrize(("bad", "got"), [("NaN", "nan"), ("Infinity", "inf"), ("-Infinity", "-inf"), (None, "none")])
def test_values_that_are_no_numbers_are_counted(
    bad: str | None, got: str, sender: Callable[..., TestClient], store: Store
) -> None:
    """A value of a gauge that is not finite, or not there, is counted as rejected, with the reason; others are kept."""
    sent = gauge("load", 1, 2)
    points = sent["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["gauge"]["dataPoints"]
    points[0] |= {"asDouble": bad}
    del sent["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][1]
    answer = sender(signals=frozenset({"load"})).post("/v1/metrics", json=sent)
    assert (answer.status_code, answer.json()["partialSuccess"]) == (
        200,
        {"rejectedDataPoints": "1", "errorMessage": f"gauge load: values must be finite numbers, got {got}"},
    )
    assert [(one.source, one.value) for one in store.inbox.list_signal_points("load", 0.0)] == [("shard=1", 2.0)]
