"""A model's connections lie in groups, and proxies of the environment go before them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from ragauge.models.providers.library import GROUPS, build_limits, group_connections

PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """A server's address, and the client's port and path of each request."""
    requests: list[tuple[int, str]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            requests.append((self.client_address[1], self.path))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_address[1]}", requests
        listening.shutdown()


def get(url: str, times: int) -> None:
    async def ask() -> None:
        async with httpx.AsyncClient(limits=build_limits(httpx), mounts=group_connections(httpx)) as client:
            for _ in range(times):
                (await client.get(url)).raise_for_status()

    asyncio.run(ask())


def test_calls_take_turns(server: tuple[str, list[tuple[int, str]]]) -> None:
    """Calls one after another use each group in its turn, and each group keeps its connection."""
    url, requests = server
    get(url, 3 * GROUPS)
    ports = [port for port, _ in requests]
    assert len({*ports}) == GROUPS
    assert ports[:GROUPS] == ports[GROUPS : 2 * GROUPS] == ports[2 * GROUPS :]


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
def test_proxies_go_first(
    name: str, server: tuple[str, list[tuple[int, str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy for the scheme or for every address gets the calls, whatever host they name."""
    url, requests = server
    monkeypatch.setenv(name, url)
    get("http://models.example/v1", 2)
    assert [path for _, path in requests] == ["http://models.example/v1"] * 2


def test_hosts_without_a_proxy(server: tuple[str, list[tuple[int, str]]], monkeypatch: pytest.MonkeyPatch) -> None:
    """A host of NO_PROXY is called at its own address."""
    url, requests = server
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    get(f"{url}/own", 2)
    assert [path for _, path in requests] == ["/own"] * 2
