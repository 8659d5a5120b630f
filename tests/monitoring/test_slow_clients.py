"""Clients that send a byte at a time: they wait alone, cost next to nothing, and are told when their time is over."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.monitoring.conftest import traces
from tests.monitoring.serving import Server
from tests.monitoring.test_settling import chain

from ragauge.monitoring import bodies
from ragauge.monitoring.bodies import Refused, read_body

SLOW = 100


def test_a_body_that_does_not_come_in_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """408 with the time that it had, however steadily its bytes drip in."""
    monkeypatch.setattr(bodies, "PATIENCE", 0.1)

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b" ", "more_body": True}

    with pytest.raises(Refused, match=r"not whole after 0\.1 seconds") as refused:
        asyncio.run(read_body(receive, "", ""))
    assert refused.value.status == 408


@pytest.mark.server
def test_slow_clients_wait_alone(served: Callable[..., Server]) -> None:
    """While a hundred clients drip their bodies, others are answered within two seconds, and memory stays as it was."""
    server = served()
    where = urlsplit(server.address)
    body = json.dumps(traces(chain())).encode()
    head = f"POST /v1/traces HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
    status = Path(f"/proc/{server.process.pid}/status")

    def resident() -> float:
        return next(int(row.split()[1]) for row in status.read_text().splitlines() if row.startswith("VmRSS")) / 1024

    assert server.post(traces(chain(trace_id="0" * 31 + "1"))) == 200
    before = resident()
    slow = [socket.create_connection((where.hostname, where.port)) for _ in range(SLOW)]
    try:
        for one in slow:
            one.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode())
        longest = 0.0
        for turn in range(10):
            for one in slow:
                one.sendall(body[turn : turn + 1])
            began = time.monotonic()
            assert server.post(traces(chain(trace_id=f"{turn + 2:032x}"))) == 200
            longest = max(longest, time.monotonic() - began)
        assert longest < 2
        assert resident() < before + 20
        slow[0].sendall(body[10:])     # whoever goes on is answered all the same
        slow[0].settimeout(20)
        assert slow[0].recv(64).startswith(b"HTTP/1.1 200")
    finally:
        for one in slow:
            one.close()
    assert server.end() == 0
