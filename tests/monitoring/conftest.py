"""What takes in traces, over a store of its own, asked without a network."""

from __future__ import annotations

import asyncio
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from tests.monitoring.serving import Server

from ragauge.dashboard.security import Access
from ragauge.monitoring.intake.body_parser import BodyParser
from ragauge.monitoring.intake.intake import Intake
from ragauge.monitoring.intake.receiver import Receiver
from ragauge.monitoring.intake.redaction import Redaction
from ragauge.store.inbox import DAY_S
from ragauge.store.store_access import Store, open_store

TRACE, ROOT, CHILD = "ab" * 16, "cd" * 8, "ef" * 8
BESIDE = PlainTextResponse("the dashboard")


def attributes(**named: Any) -> list[dict[str, Any]]:
    """Texts as OTLP/JSON writes attributes; a double underscore in a name is a dot."""
    return [{"key": name.replace("__", "."), "value": {"stringValue": value}} for name, value in named.items()]


def span(span_id: str = ROOT, parent: str = "", trace_id: str = TRACE, **more: Any) -> dict[str, Any]:
    """A span of OTLP/JSON that has ended."""
    return {
        "traceId": trace_id,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": "ask",
        "kind": 1,
        "startTimeUnixNano": "1000000000",
        "endTimeUnixNano": "3000000000",
        **more,
    }


def traces(*spans: Any, service: str = "bot") -> dict[str, Any]:
    """A request with spans of one service."""
    resource = {"attributes": attributes(service__name=service)}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an empty store; it is copied, since a new one takes a second to make."""
    path = tmp_path_factory.mktemp("empty") / "store.db"
    open_store(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def store(tmp_path: Path, empty: Path) -> Iterator[Store]:
    """An empty store."""
    shutil.copy(empty, tmp_path / "store.db")
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as opened:
        yield opened


@pytest.fixture
def sender(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., TestClient]]:
    """Makes a client that sends to the store, as who may send and with what is taken out.

    What is sent comes on one UTC day, of which ten minutes are left: traffic is a run a day.
    """
    ago = max(0.0, 600 - (DAY_S - time.time() % DAY_S))
    monkeypatch.setattr("ragauge.monitoring.intake.receiver.time", SimpleNamespace(time=lambda: time.time() - ago))
    made: list[tuple[TestClient, Intake]] = []

    def client(
        redaction: Redaction | None = None,
        intake: Intake | None = None,
        signals: frozenset[str] = frozenset(),
        **access: Any,
    ) -> TestClient:
        taken = intake or Intake(store)
        app = Receiver(BESIDE, Access(**access), taken, BodyParser(redaction, signals))
        made.append((TestClient(app, base_url="http://127.0.0.1:4318"), taken))
        return made[-1][0]

    yield client
    for one, taken in made:
        one.close()
        asyncio.run(taken.close())  # its thread would write until the tests end


@pytest.fixture
def served(store: Store) -> Iterator[Callable[..., Server]]:
    """Starts servers on the store."""
    started: list[Server] = []

    def start(*more: str) -> Server:
        started.append(Server(store.url, *more))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.end(signal.SIGKILL)
