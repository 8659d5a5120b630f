"""Results are given back: as OpenTelemetry's events, durable, once, without a user's words, whoever hangs."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from starlette.testclient import TestClient
from tests.monitoring.conftest import ROOT, TRACE, traces
from tests.monitoring.test_settling import LATER, chain, finder

from ragauge.core.config.config_loader import read_config
from ragauge.monitoring.otlp_log_client import post_body
from ragauge.monitoring.outbox import queue_results, send_due
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.monitoring.traffic.verb import build_monitor_status
from ragauge.monitoring.worker import StageTurn
from ragauge.store.store_access import Store

METRICS = ("faithfulness", "latency", "recall@5", "context_tokens")


class Collector(BaseHTTPRequestHandler):
    """An OTLP receiver that parses what comes as OpenTelemetry's own messages, and refuses the first of it."""

    refused: ClassVar[int]
    rejected: ClassVar[int]
    seen: ClassVar[list[tuple[dict[str, str], bytes, str]]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((dict(self.headers), body, self.path))
        answer = ExportLogsServiceResponse()
        answer.partial_success.rejected_log_records = self.rejected
        self.send_response(503 if len(self.seen) <= self.refused else 200)
        self.end_headers()
        self.wfile.write(answer.SerializeToString())

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def collector(refusals: int = 0, rejections: int = 0) -> Iterator[tuple[str, list[tuple[dict[str, str], bytes, str]]]]:
    """A receiver: its address and what it was sent."""

    class Own(Collector):
        refused: ClassVar = refusals
        rejected: ClassVar = rejections
        seen: ClassVar = []

    with HTTPServer(("127.0.0.1", 0), Own) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", Own.seen
        server.shutdown()


@pytest.fixture
def judged(sender: Callable[..., TestClient], store: Store) -> Store:
    """A trace that came in, was read and judged."""
    assert sender().post("/v1/traces", json=traces(chain("14 days."), finder())).status_code == 200
    settle_traces(store, Policy(metrics=METRICS), LATER)
    assert TrafficScorer(store, Policy(metrics=METRICS), lambda _: None).score() == 1
    return store


def giver(now: list[float], **receiver: Any) -> Callable[[Store], int]:
    """Makes batches of results and sends what is due; returns how many arrived."""
    monitor = read_config({"monitor": {"notify": [receiver] if receiver else []}}).checked().monitor
    assert monitor is not None

    def give(store: Store) -> int:
        queue_results(StageTurn(store, lambda: now[0]), monitor)
        return send_due(store, monitor, now[0])

    return give


def events(body: bytes) -> dict[str, dict[str, Any]]:
    """Metric -> what its event says, the ids among it."""
    request = ExportLogsServiceRequest.FromString(gzip.decompress(body))
    found = {}
    for record in request.resource_logs[0].scope_logs[0].log_records:
        assert record.event_name == "gen_ai.evaluation.result"
        said = {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in record.attributes}
        found[said["gen_ai.evaluation.name"]] = said | {"ids": (record.trace_id.hex(), record.span_id.hex())}
    return found


def test_results_come_back_until_they_arrive(judged: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each metric of a trace is one event with its trace and outermost span; a resend is the same under the same id.

    A receiver that refuses is tried again later; address and token, out of the environment, are not kept.
    """
    with collector(1) as (address, seen):
        monkeypatch.setenv("TOKEN", "Bearer known")
        monkeypatch.setenv("COLLECTOR", address)
        now = [1e9]
        one = giver(now, otlp="$COLLECTOR", headers={"authorization": "$TOKEN"})
        assert one(judged) == 0
        assert judged.returns.counts().batches == 1
        assert "HTTP 503" in build_monitor_status(store=judged.url).to_markdown()
        assert one(judged) == 0
        now[0] += 30
        assert giver(now, otlp="$COLLECTOR", headers={"authorization": "$TOKEN"})(judged) == 1
        assert one(judged) == 0
        (first, body, path), (second, again, _) = seen
    assert path == "/v1/logs"
    assert (first["Idempotency-Key"], body) == (second["Idempotency-Key"], again)
    assert first["Authorization"] == "Bearer known"
    found = events(body)
    assert found.keys() == set(METRICS)
    assert {said["ids"] for said in found.values()} == {(TRACE, ROOT)}
    assert found["latency"]["gen_ai.evaluation.score.value"] == 2000.0
    assert found["recall@5"]["gen_ai.evaluation.score.label"] in ("undefined", "not_applicable")
    assert "gen_ai.evaluation.score.value" not in found["recall@5"]
    assert "gen_ai.evaluation.explanation" not in found["recall@5"]
    assert b"refunds" not in gzip.decompress(body)
    assert judged.returns.counts().batches == judged.returns.counts().failed == 0


def test_two_servers_send_a_batch_once(judged: Store) -> None:
    """Of two servers that find a batch due one sends it; what a killed one had taken is due two minutes later."""
    now = [1e9]
    with collector(1) as (address, seen):
        one = giver(now, otlp=address)
        assert one(judged) == 0
        now[0] += 30
        (batch,) = judged.returns.list_due(now[0], 1)
        assert judged.returns.take_delivery(batch, now[0] + 120)
        assert not judged.returns.take_delivery(batch, now[0] + 120)
        assert one(judged) == 0
        assert len(seen) == 1
        now[0] += 120
        assert one(judged) == 1


def test_reasons_are_sent_where_they_are_asked_for(judged: Store) -> None:
    """With `text: true` the reason is in it."""
    with collector() as (address, seen):
        assert giver([1e9], otlp=address, text=True)(judged) == 1
    assert events(seen[0][1])["recall@5"]["gen_ai.evaluation.explanation"]


def test_what_a_receiver_does_not_take_is_said(judged: Store) -> None:
    """A receiver that leaves some out is not sent them again, and the status says how many."""
    with collector(rejections=2) as (address, seen):
        one = giver([1e9], otlp=address)
        assert (one(judged), one(judged), len(seen)) == (0, 0, 1)
    assert "2 rejected" in build_monitor_status(store=judged.url).to_markdown()


def test_without_a_receiver_nothing_is_kept(judged: Store) -> None:
    """Where nobody is given results, none waits."""
    assert judged.returns.counts().traces == 1
    giver([1e9])(judged)
    assert judged.returns.counts() == type(judged.returns.counts())(0, 0, 0, "")


def test_what_was_given_back_is_not_taken_in(judged: Store, sender: Callable[..., TestClient]) -> None:
    """Results that a collector hands on to the server that made them are left out: nothing is judged again for ever."""
    with collector() as (address, seen):
        giver([1e9], otlp=address)(judged)
    client = sender()
    answer = client.post(
        "/v1/logs", content=seen[0][1], headers={"content-type": "application/x-protobuf", "content-encoding": "gzip"}
    )
    assert answer.status_code == 200
    taken = ExportLogsServiceResponse.FromString(answer.content)
    assert taken.partial_success.rejected_log_records == len(METRICS)
    assert judged.inbox.list_due(1e12, 10) == []


@pytest.mark.parametrize("drips", [False, True])
def test_a_receiver_that_hangs_holds_nobody_up(drips: bool) -> None:
    """A receiver that says nothing, or a byte now and then, has as long as was said and no longer."""
    over = threading.Event()

    def hang(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            while not over.wait(0.05):
                if drips:
                    try:
                        connection.send(b"H")
                    except OSError:
                        return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=hang, args=(listening,), daemon=True)
        thread.start()
        began = time.monotonic()
        with pytest.raises(TimeoutError, match=r"no response within 0\.5 s"):
            post_body(f"http://127.0.0.1:{listening.getsockname()[1]}", b"{}", {}, timeout=0.5)
        assert time.monotonic() - began < 60  # it would hang for ever
        over.set()
        thread.join(10)
