"""How the providers' own clients reach a place: proxies, certificates, calls that are given up."""

from __future__ import annotations

import asyncio
import gc
import random
import ssl
import time
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trustme
from tests.llm.test_chat import ASK, each_provider
from tests.loopback.server import FaultyServer

from ragauge.data.ask import ModelName
from ragauge.llm.build import build_model
from ragauge.llm.model import CallError

pytestmark = pytest.mark.server
REFUSAL = b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "sk-0123456789abcdef")
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@asynccontextmanager
async def place(came: list[bytes], tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port of a server that notes the head of each request and refuses it."""
    talks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            came.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(REFUSAL)
            await reader.read()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.gather(*talks, return_exceptions=True)


async def trouble(provider: str, model: str, url: str) -> str:
    """What a call to a place comes to."""
    made = build_model(ModelName(provider, model, url))
    try:
        with pytest.raises(CallError) as caught:
            await made.reply(ASK, 60.0)
    finally:
        await made.close()
    return caught.value.trouble


@each_provider
@pytest.mark.parametrize("trusted", [True, False])
def test_only_a_server_with_a_trusted_certificate_is_spoken_to(
    provider: str, model: str, trusted: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Over https a request reaches a server whose certificate SSL_CERT_FILE vouches for, and no other."""
    authority, tls, came = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), list[bytes]()
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    (authority if trusted else trustme.CA()).cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))

    async def main() -> str:
        async with place(came, tls) as port:
            return await trouble(provider, model, f"https://127.0.0.1:{port}")

    assert asyncio.run(main()) == ("auth" if trusted else "unreachable")
    assert len(came) == trusted


@each_provider
def test_proxies_of_the_environment_are_used(
    provider: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP_PROXY and HTTPS_PROXY carry the calls, but for places that NO_PROXY names."""
    came = list[bytes]()

    async def main() -> None:
        async with place(came) as proxy, place(came) as inside:
            for name in ("HTTP_PROXY", "HTTPS_PROXY"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
            monkeypatch.setenv("NO_PROXY", "127.0.0.1")
            await trouble(provider, model, "http://llm.invalid")
            await trouble(provider, model, "https://llm.invalid")
            await trouble(provider, model, f"http://127.0.0.1:{inside}")

    asyncio.run(main())
    plain, tunnel, direct = came
    assert plain.startswith(b"POST http://llm.invalid/")
    assert tunnel.startswith(b"CONNECT llm.invalid:443 ")
    assert direct.startswith(b"POST /")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_calls_given_up_at_any_moment_leave_no_socket(host: str) -> None:
    """Calls cancelled while they connect, send or wait close what they opened, whether a host has one address or more.

    What was going on when they were given up is over a moment later.
    """
    draw = random.Random(3)

    async def main(port: int) -> None:
        for _ in range(10):
            made = build_model(ModelName("openai-chat", "any", f"http://{host}:{port}/v1"))

            async def call() -> None:
                with suppress(TimeoutError, CallError):
                    async with asyncio.timeout(draw.random() * 0.02):
                        await made.reply(ASK, 10.0)  # noqa: B023 - awaited in this turn

            await asyncio.gather(*(call() for _ in range(30)))
            await made.close()
        until = time.monotonic() + 60
        while len(asyncio.all_tasks()) > 1 and time.monotonic() < until:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.05)

    with FaultyServer() as server, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        asyncio.run(main(server.port))
        gc.collect()
    assert [str(one.message) for one in told if issubclass(one.category, ResourceWarning)] == []
