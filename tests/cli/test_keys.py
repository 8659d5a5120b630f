"""Keys reach no store, report or message, even where a server sends them back in all it says."""

from __future__ import annotations

import asyncio
import json
import traceback
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.cli.conftest import Cli
from tests.loopback.server import FaultyServer, _send

import ragauge as rg
from ragauge.core.errors import JudgeError

pytestmark = pytest.mark.server
KEY = "Zebra quartz+77/Q=ü"  # looks like no provider's key, and changes when it is quoted
PLAIN = "Zebra-quartz+77/Q=xyz"


def forms(key: str) -> list[str]:
    """How a server may show a key."""
    return [
        key,
        f"Bearer {key}",
        quote(key, safe=""),
        json.dumps(key)[1:-1],
        b64encode(key.encode()).decode().rstrip("="),
    ]


@dataclass
class Echo(FaultyServer):
    """Says the key that it was sent in every form, with any status: in the error, the text, the model's name."""

    status: int = 400
    shown: str = ""

    async def _answer(self, path: str, headers: Mapping[str, str], raw: bytes, writer: asyncio.StreamWriter) -> None:
        assert PLAIN in json.dumps(dict(headers))
        if self.status != 200:
            await _send(writer, self.status, {"error": {"message": self.shown, "type": self.shown, "code": 1}})
            return
        message = {"role": "assistant", "content": json.dumps({"sentences": [], "note": self.shown})}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        used = {"prompt_tokens": 5_000, "completion_tokens": 5, "total_tokens": 5_005}
        body: dict[str, Any] = {"id": "1", "object": "chat.completion", "created": 1, "model": f"m {self.shown}"}
        await _send(writer, 200, {**body, "choices": choices, "usage": used}, {"x-echo": PLAIN})


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", PLAIN)
    monkeypatch.setenv("ANOTHER_SECRET", KEY)
    monkeypatch.setattr("ragauge.engine.caller.RETRY_WAITS_S", (0.01,))


@pytest.mark.parametrize("status", [200, 400, 401, 402, 403, 404, 422, 500, 529])
def test_a_key_that_is_sent_back_reaches_nothing(cli: Cli, small: Path, tmp_path: Path, status: int) -> None:
    """Whatever the server does with the key, it is not in the store, the cache, the reports or on the terminal."""
    shown = " | ".join([*forms(PLAIN), *forms(KEY)])
    reports = [f"-o{tmp_path / name}" for name in ("r.html", "r.md", "r.json", "scores.jsonl")]
    with Echo(status=status, shown=shown) as server:
        judge = f"openai-chat:any@{server.url},key_env=OPENAI_API_KEY"
        told = cli("evaluate", small, "-m", "faithfulness", "--judge", judge, "--concurrency", "2", *reports)
    if told.code == 0:
        cli("show", "latest", "--cost")
        assert cli("store", "cache", "export", tmp_path / "cache.jsonl").code == 0
    written = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    everything = {**written, "out": told.out.encode(), "err": told.err.encode()}
    assert len(written) >= (6 if told.code == 0 else 1)
    for name, content in everything.items():
        assert [one for one in [*forms(PLAIN), *forms(KEY)] if one.encode() in content] == [], name


@pytest.mark.parametrize("status", [401, 404])
def test_no_traceback_shows_a_key(small: Path, tmp_path: Path, status: int) -> None:
    """The exception that Python code meets holds no key, nor do those that it came from."""
    with Echo(status=status, shown=" ".join(forms(PLAIN))) as server, pytest.raises(JudgeError) as caught:
        rg.evaluate(
            small, judge=f"openai-chat:any@{server.url},key_env=OPENAI_API_KEY", store=f"sqlite:///{tmp_path}/s.db"
        )
    whole = "".join(traceback.format_exception(caught.value))
    assert [one for one in forms(PLAIN) if one in whole] == []


ODD = ["Zebra-quartz-1234\n", " Zebra-quartz-1234\r\n", "Zebra-qu\u00e4rtz", "\u201cZebra1234\u201d"]


@pytest.mark.parametrize("key", ODD)
def test_a_key_that_no_header_can_carry_is_said_and_not_shown(
    cli: Cli, small: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """A line's end around a key is left out; letters that no header carries are one clear message, without the key."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with FaultyServer() as server:
        judge = f"openai-chat:any@{server.url},key_env=OPENAI_API_KEY"
        told = cli("evaluate", small, "-m", "faithfulness", "--judge", judge)
    if key.isascii():
        assert told.code == 0
        assert server.requests[0].headers["authorization"] == "Bearer Zebra-quartz-1234"
    else:
        assert told.code == 1
        assert "OPENAI_API_KEY" in told.err
        assert "Traceback" not in told.err
    assert "Zebra" not in told.err + told.out
