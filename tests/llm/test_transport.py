"""The transport of a judge's calls, against a server that sends exactly the bytes that a test says."""

from __future__ import annotations

import asyncio
import gc
import random
import ssl
import warnings
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trustme
import uvloop
from tests.loopback.server import FaultyServer

from ragauge.llm import transport as module
from ragauge.llm.providers.openai import _proxied
from ragauge.llm.transport import DirectTransport

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Place:
    """A server: what it was sent, and how many connections were made to it."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self.talks: set[asyncio.Task[None]] = set()
        self.url = ""


async def request_of(reader: asyncio.StreamReader) -> bytes:
    """One request with its body; b"" where there is no further one."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    try:
        return head + await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


@asynccontextmanager
async def saying(
    *parts: bytes, apart: float = 0.0, close: bool = False, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Place]:
    """A server that answers each request with these bytes, a moment apart, and then closes where that is wanted."""
    place = Place()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place.connections += 1
        task = asyncio.current_task()
        assert task is not None
        place.talks.add(task)
        while request := await request_of(reader):
            place.requests.append(request)
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(apart)
            if close:
                break
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls)
    place.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/x?y=1"
    try:
        yield place
    finally:
        server.close()
        await asyncio.gather(*place.talks, return_exceptions=True)     # the client has closed its connections


def answers(n: int = 1, method: str = "POST", parts: Sequence[bytes] = (OK,), *, apart: float = 0.0,
            close: bool = False) -> tuple[list[httpx2.Response], Place]:     # fmt: skip
    """What n requests, one after another, are answered by a server that says these bytes."""

    async def run() -> tuple[list[httpx2.Response], Place]:
        async with saying(*parts, apart=apart, close=close) as place, client() as http:
            body = b"body" if method == "POST" else None
            return [await http.request(method, place.url, content=body) for _ in range(n)], place

    return asyncio.run(run())


def client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=DirectTransport(), timeout=None)


def test_request_is_sent_as_it_is() -> None:
    """The request line, the headers and the body arrive as they were given; the answer is read with its headers."""
    (found,), place = answers(parts=[b"HTTP/1.1 201 Created\r\nX-A: 1\r\nx-a:  2 \r\nContent-Length: 3\r\n\r\nyes"])
    sent = place.requests[0]
    assert sent.startswith(b"POST /v1/x?y=1 HTTP/1.1\r\n")
    assert sent.endswith(b"\r\n\r\nbody")
    assert b"Host: 127.0.0.1:" in sent
    assert (found.status_code, found.text, found.headers.get_list("x-a")) == (201, "yes", ["1", "2"])


def test_connection_is_used_again() -> None:
    """Requests one after another go over one connection; where the server says close, over one each."""
    assert answers(3)[1].connections == 1
    closing = [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"]
    assert answers(3, parts=closing)[1].connections == 3


def test_closed_connection_is_not_used_again() -> None:
    """A connection that the server closed after its answer is noticed before the next request, which is not lost."""

    async def run() -> tuple[list[str], Place]:
        async with saying(OK, close=True) as place, client() as http:
            found = []
            for _ in range(3):
                found.append((await http.post(place.url)).text)
                await asyncio.sleep(0.05)
            return found, place

    found, place = asyncio.run(run())
    assert found == ["ok"] * 3
    assert place.connections == 3


def test_old_connection_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that nobody used for a while is closed instead of used."""
    monkeypatch.setattr(module, "IDLE", 0.0)
    assert answers(2)[1].connections == 2


def test_every_framing_of_a_body() -> None:
    """A length, chunks with extensions and trailers, the end of the connection, no body at all: all are read whole."""
    chunked = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"4;a=b\r\nwiki\r", b"\n0005\r\npedia\r\n",
               b"0\r\nX-After: 1\r\n", b"\r\n"]     # fmt: skip
    found, place = answers(2, parts=chunked, apart=0.01)
    assert [one.text for one in found] == ["wikipedia", "wikipedia"]
    assert place.connections == 1
    assert answers(parts=[b"HTTP/1.0 200 OK\r\n\r\nto the ", b"end"], apart=0.01, close=True)[0][0].text == "to the end"
    assert answers(2, parts=[b"HTTP/1.1 204 No Content\r\n\r\n"])[1].connections == 1
    assert answers(method="HEAD", parts=[b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"])[0][0].content == b""


def test_slow_bytes_and_early_answers() -> None:
    """An answer that comes byte by byte is whole, and what a server says before its answer is passed over."""
    whole = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK
    parts = [whole[n : n + 1] for n in range(len(whole))]
    assert answers(parts=parts, apart=0.0005)[0][0].text == "ok"


def test_compressed_body_is_unpacked() -> None:
    """A body in gzip is unpacked by the client, as over its own transport."""
    import gzip

    packed = gzip.compress(b"small")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    assert answers(parts=[head + packed])[0][0].text == "small"


@pytest.mark.parametrize(
    ("parts", "kind", "told"),
    [
        ([b""], httpx2.RemoteProtocolError, "without sending a response"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"], httpx2.RemoteProtocolError, "after 4 of 9 bytes"),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"], httpx2.RemoteProtocolError, "of a chunk"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"], httpx2.RemoteProtocolError, "length of a body"),
        ([b"SSH-2.0-OpenSSH_9.6\r\n\r\n"], httpx2.RemoteProtocolError, "no HTTP/1.1 response: b'SSH-2.0"),
        ([b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 20_000], httpx2.RemoteProtocolError, "headers do not end"),
    ],
)
def test_broken_answers_are_errors(parts: list[bytes], kind: type[Exception], told: str) -> None:
    """What ends early or is no HTTP/1.1 is an error of the library's own kinds that says what came."""
    with pytest.raises(kind, match=told):
        answers(parts=parts, close=True)


def test_nobody_listens() -> None:
    """A place where nobody listens is a connection error."""

    async def run() -> None:
        async with client() as http:
            await http.post("http://127.0.0.1:9/v1")

    with pytest.raises(httpx2.ConnectError):
        asyncio.run(run())


def test_other_scheme_is_refused() -> None:
    """A place that is neither http nor https is named as what it is."""

    async def run() -> None:
        async with client() as http:
            await http.post("ftp://127.0.0.1/")

    with pytest.raises(httpx2.UnsupportedProtocol):
        asyncio.run(run())


def test_header_cannot_break_out() -> None:
    """A header with a line break is refused before anything is sent."""

    async def run() -> Place:
        async with saying(OK) as place, client() as http:
            with pytest.raises(httpx2.LocalProtocolError, match="line break"):
                await http.post(place.url, headers=[(b"X-A", b"1\r\nX-B: 2")])
            return place

    assert asyncio.run(run()).requests == []


def test_cancelled_call_closes_its_connection() -> None:
    """A call that is given up closes its connection, and what comes late is nobody's answer."""

    async def run() -> tuple[str, Place]:
        async with saying(OK) as place, client() as http:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):     # the server waits for a body that is longer than what is sent
                    await http.post(place.url, content=b"x", headers={"content-length": "2"})
            return (await http.post(place.url)).text, place

    found, place = asyncio.run(run())
    assert found == "ok"
    assert place.connections == 2


def test_many_at_once() -> None:
    """A hundred calls at once take a connection each, and the next hundred the same ones."""

    async def run() -> Place:
        async with saying(OK) as place, client() as http:
            for _ in range(2):
                found = await asyncio.gather(*[http.post(place.url, content=b"%d" % n) for n in range(100)])
                assert {one.text for one in found} == {"ok"}
            return place

    place = asyncio.run(run())
    assert place.connections == 100
    assert len(place.requests) == 200


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_over_tls(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Over https, under a certificate that is trusted, replies larger than any buffer arrive whole; one connection."""
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    body = random.Random(5).randbytes(300_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)

    async def talked() -> tuple[list[bytes], int]:
        async with saying(head + body[:70_000], body[70_000:], tls=tls) as place, client() as http:
            found = [(await http.post(place.url, content=b"body")).content for _ in range(3)]
            return found, place.connections

    assert run(talked()) == ([body] * 3, 1)


def test_server_is_verified() -> None:
    """Over https nothing is sent before the server has shown a certificate that is trusted."""
    came: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"no certificate\r\n")
        came.append(await reader.read())
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        async with server, client() as http:
            with pytest.raises(httpx2.ConnectError):
                await http.post(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/", content=b"secret")

    asyncio.run(run())
    assert not any(b"secret" in one for one in came)
    made = httpx2.create_ssl_context()
    assert made.verify_mode == ssl.CERT_REQUIRED
    assert made.check_hostname


def test_proxies_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place behind a proxy of the environment is left to the library; one that NO_PROXY names is not."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert not _proxied("https://api.openai.com/v1")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1,.inside.example")
    assert _proxied("https://api.openai.com/v1")
    assert not _proxied("http://127.0.0.1:8000/v1")
    assert not _proxied("https://llm.inside.example:8443/v1")


@pytest.mark.server
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_calls_given_up_while_they_connect_leave_no_socket(host: str) -> None:
    """Calls cancelled at every moment of connecting close what they opened, whether one address is tried or several."""
    draw = random.Random(3)

    async def call(http: httpx2.AsyncClient, url: str) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(draw.random() * 0.004):
                await http.post(url, content=b"{}")

    async def main(port: int) -> None:
        url = f"http://{host}:{port}/v1/embeddings"
        for _ in range(20):
            async with client() as http:
                await asyncio.gather(*(call(http, url) for _ in range(30)))
        await asyncio.sleep(0.05)

    with FaultyServer() as server, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        asyncio.run(main(server.port))
        gc.collect()
    assert [str(one.message) for one in told if issubclass(one.category, ResourceWarning)] == []
