"""Clients that send slowly, nothing or without end: they wait alone, cost little, and are told when it is over."""

from __future__ import annotations

import asyncio
import json
import os
import select
import socket
import time
import zlib
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.monitoring.conftest import traces
from tests.monitoring.serving import PATIENCE, Server, waits
from tests.monitoring.test_settling import chain

from ragauge.monitoring.intake import intake
from ragauge.monitoring.intake.intake import IncomingBody, RequestRefusedError, read_body

SLOW, SILENT = 100, 200
MIB, PACKED = 1 << 20, "\r\nContent-Encoding: gzip"


@contextmanager
def clients(server: Server, several: int, more: str) -> Iterator[tuple[list[socket.socket], bytes]]:
    """Connections to a server, and the head of a request whose body they may begin, with further headers."""
    where = urlsplit(server.address)
    head = f"POST /v1/traces HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n{more}\r\n\r\n"
    with ExitStack() as opened:
        found = [opened.enter_context(socket.create_connection((where.hostname, where.port))) for _ in range(several)]
        yield found, head.encode()


def resident(server: Server) -> float:
    """MB of memory that a server's process has."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(row.split()[1]) for row in status.splitlines() if row.startswith("VmRSS")) / 1024


def worked(server: Server) -> float:
    """Seconds that a server's process had of the processor."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_body_that_does_not_come_in_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """408 with the time that it had, however steadily its bytes drip in."""
    monkeypatch.setattr(intake, "BODY_TIMEOUT_S", 0.1)

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b" ", "more_body": True}

    with pytest.raises(RequestRefusedError, match=r"not complete after 0\.1 seconds") as refused:
        asyncio.run(read_body(receive, "", "", lambda _: None))
    assert refused.value.status == 408


@pytest.mark.parametrize(
    ("headers", "read"),
    [
        ({}, 32),
        ({"content-length": str(20 * MIB)}, 32),
        ({"content-length": str(33 * MIB)}, 0),
        ({"expect": "100-continue"}, 0),
    ],
)
def test_of_what_is_refused_no_more_than_the_limit_is_read(headers: dict[str, str], read: int) -> None:
    """32 MiB of a body without end; nothing of one that declares more, or that waits to be asked for."""
    asked: list[int] = []

    async def receive() -> MutableMapping[str, Any]:
        asked.append(MIB)
        return {"type": "http.request", "body": bytes(MIB), "more_body": True}

    asyncio.run(IncomingBody(receive, headers).discard())
    assert sum(asked) == read * MIB


def test_what_is_refused_is_waited_for_briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sends nothing more is answered when the time is over; who has sent everything, or is gone, at once."""
    monkeypatch.setattr(intake, "DISCARD_TIMEOUT_S", 0.1)
    for last in ({"type": "http.request", "body": b"x"}, {"type": "http.disconnect"}, None):
        parts: list[Any] = [last]

        async def receive(parts: list[Any] = parts) -> MutableMapping[str, Any]:
            part = parts.pop()
            if part is None:
                await asyncio.sleep(PATIENCE)
            return dict(part)

        asyncio.run(IncomingBody(receive, {}).discard())
        assert parts == []


@pytest.mark.server
def test_too_long_a_body_gets_its_answer(served: Callable[..., Server]) -> None:
    """A client that sends all of its body before it reads is answered with 413 or 415, and its connection not reset."""
    server = served()
    for kind, length, status in (("application/json", 17, 413), ("application/json", 32, 413), ("text/plain", 15, 415)):
        where = urlsplit(server.address)
        with closing(HTTPConnection(where.hostname or "", where.port, timeout=PATIENCE)) as client:
            client.request("POST", "/v1/traces", bytes(length * MIB), {"Content-Type": kind})
            assert client.getresponse().status == status
    assert server.end() == 0


@pytest.mark.server
def test_slow_clients_wait_alone(served: Callable[..., Server]) -> None:
    """While a hundred clients drip their bodies, others are answered for next to no work, and memory stays as it was.

    They are answered long before the time of the slow ones is over, so they did not wait for them.
    """
    server = served()
    body = json.dumps(traces(chain())).encode()
    assert server.post(traces(chain(trace_id="0" * 31 + "1"))) == 200
    before = resident(server)
    with clients(server, SLOW, f"Content-Length: {len(body)}") as (slow, head):
        for one in slow:
            one.sendall(head)
        longest, work = 0.0, worked(server)
        for turn in range(10):
            for one in slow:
                one.sendall(body[turn : turn + 1])
            began = time.monotonic()
            assert server.post(traces(chain(trace_id=f"{turn + 2:032x}"))) == 200
            longest = max(longest, time.monotonic() - began)
        assert longest < intake.BODY_TIMEOUT_S / 2
        assert worked(server) - work < 2
        assert resident(server) < before + 20
        slow[0].sendall(body[10:])  # whoever goes on is answered all the same
        slow[0].settimeout(PATIENCE)
        assert slow[0].recv(64).startswith(b"HTTP/1.1 200")
    assert server.end() == 0


@pytest.mark.server
def test_what_is_declared_and_not_sent_takes_no_room(served: Callable[..., Server]) -> None:
    """While two hundred clients declare the longest body and send nothing of it, others get 200 at once.

    What is sent takes room: packed or not, 128 MiB of bodies that do not end are held and no more, who sends more is
    answered with 429, and with 200 once they are gone.
    """
    server = served()
    assert server.post(traces(chain(trace_id="0" * 31 + "1"))) == 200
    with ExitStack() as opened:
        for packing in ("", PACKED):
            silent, head = opened.enter_context(clients(server, SILENT // 2, f"Content-Length: {16 * MIB}{packing}"))
            for one in silent:
                one.sendall(head)
        began, work = time.monotonic(), worked(server)
        for turn in range(10):
            assert server.post(traces(chain(trace_id=f"{turn + 2:032x}"))) == 200
        assert time.monotonic() - began < intake.BODY_TIMEOUT_S  # the time of the silent ones is not over
        assert worked(server) - work < 2
    packer = zlib.compressobj(1, wbits=31)
    zeros = packer.compress(bytes(60 * MIB)) + packer.flush(zlib.Z_SYNC_FLUSH)
    _fill(server, bytes(15 * MIB), "", 8)
    _fill(server, zeros, PACKED, 2)
    assert server.end() == 0


def _fill(server: Server, body: bytes, packing: str, within: int) -> None:
    """Sends more bodies than there is room for, of which so many fit."""
    before = resident(server)
    with clients(server, within + 4, f"Content-Length: {16 * MIB}{packing}") as (several, head):
        for one in several:
            one.sendall(head)
            with suppress(ConnectionError):  # who is refused is not read to the end
                one.sendall(body)
        waits(lambda: len(select.select(several, [], [], 0.1)[0]) == 4, 20)
        assert all(one.recv(64).startswith(b"HTTP/1.1 429") for one in select.select(several, [], [], 0)[0])
        assert resident(server) < before + 128 + 40
    waits(lambda: server.post(traces(chain(trace_id="0" * 31 + "2"))) == 200)
