"""A model server on this machine that speaks the OpenAI protocol and fails on purpose.

It speaks chat completions, responses and embeddings, and as much of Anthropic's and Google's protocols as judges use.

    with FaultyServer(faults={"rate_limited": 0.1, "hang": 0.05}, seed=7) as server:
        rg.evaluate("answers.jsonl", judge=f"openai-chat:any@{server.url}", timeout=2)

Or from a shell: python -m tests.loopback.server --port 8080 --fault rate_limited=0.1 --latency 0.2
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

from tests.loopback.answers import answer
from tests.loopback.caching import Looked, PrefixCache
from tests.loopback.protocols import Asked, Refusal, Said, embeddings, protocol_of

from ragauge.core.errors import UnknownName, UsageError
from ragauge.models.chat import count_fewest_tokens

FAULTS: Mapping[str, str] = {
    "rate_limited": "429 with Retry-After",
    "server": "500",
    "overloaded": "503 without a body that says anything",
    "too_long": "400: the prompt does not fit the model's context",
    "filtered_prompt": "400: the provider's filter refuses the prompt, as Azure says it",
    "garbage": "200 with a page instead of JSON",
    "hang": "no answer at all",
    "drip": "the answer, a byte at a time, for ever",
    "broken_connection": "the connection is closed in the middle of the answer",
    "cut_json": "the model's text ends in the middle of its JSON",
    "prose": "the model talks instead of giving JSON",
    "fenced": "the JSON stands in a code fence after a preamble",
    "missing": "half of the numbers have no verdict; half of the texts no vector",
    "extra": "verdicts on numbers that were never sent",
    "twice": "one number comes twice, and the verdicts disagree",
    "wrong_types": "words and numbers where others are expected; vectors of unequal length",
    "unknown_word": "a verdict that is none of those asked for",
    "content_filter": "the provider's filter stops the answer",
    "length": "the answer is cut off at the most tokens",
}
TOKEN = re.compile(r"\w{1,6}|[^\w\s]")  # as a tokenizer that knows few words counts them
Answerer = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any] | str]


@dataclass
class Request:
    """One request that came in: its path, body, headers, and the fault it met ("" = none)."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    fault: str


@dataclass
class FaultyServer:
    """A server in a thread of its own; use it as a context manager.

    Attributes:
        faults: fault -> share of the requests that meet it, in [0, 1]; they must not exceed 1 together.
        latency: seconds before every answer.
        seed: of the draw; a request's fault depends on it, on its text, and on how often that text came before.
        once: a text meets at most one fault, so that trying again helps.
        reply: makes the answer from (system text, user text, schema), structured or a plain text; the default reads
            words.
        refuses: parameters that are refused with a 400, as some models refuse temperature.
        schema_modes: ways of giving a schema that are taken: native, tool, prompted; others are refused.
        talks_when: ways of giving a schema that are passed over: the model talks instead.
        limit: requests at a time, beyond which 429 is answered; None = no limit.
        cache: keeps how prompts begin; None = nothing is kept.
        context: tokens beyond which prompts are cut without a word, as Ollama does; 0 = never.
        left: tokens that are left of one that is cut: the context itself, or half of it and what is always kept.
        answers: path -> status and headers that are answered there whatever is asked; None = it is served.
        port: 0 = any free one.
        requests: what came in, in order.
    """

    faults: Mapping[str, float] = field(default_factory=dict)
    latency: float = 0.0
    seed: int = 0
    once: bool = False
    reply: Answerer = answer
    refuses: Sequence[str] = ()
    schema_modes: Sequence[str] = ("native", "tool", "prompted")
    talks_when: Sequence[str] = ()
    limit: int | None = None
    cache: PrefixCache | None = None
    context: int = 0
    left: Callable[[int], int] = lambda context: context // 2 + 2
    answers: Callable[[str], tuple[int, Mapping[str, str]] | None] = lambda _: None
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    _seen: Counter[str] = field(default_factory=Counter)
    _faulted: set[str] = field(default_factory=set)
    _running: int = 0
    _open: dict[asyncio.Protocol, asyncio.Transport] = field(default_factory=dict)
    _serving: set[asyncio.Task[Any]] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None

    def __post_init__(self) -> None:
        for fault, share in self.faults.items():
            if fault not in FAULTS:
                raise UnknownName("fault", fault, FAULTS)
            if not 0 <= share <= 1:
                raise UsageError(f"faults: the share of {fault} must be in [0, 1], got {share}.")
        if sum(self.faults.values()) > 1:
            raise UsageError(f"faults: together at most 1, got {sum(self.faults.values()):g}.")

    @property
    def url(self) -> str:
        """The base URL to give to a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def met(self) -> Counter[str]:
        """Fault -> how many requests met it; "" counts those that met none."""
        return Counter(request.fault for request in self.requests)

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True, name="faulty-server")
        self._thread.start()
        ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _run(self, ready: threading.Event) -> None:
        loop = self._loop = asyncio.new_event_loop()
        server = loop.run_until_complete(loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        try:
            loop.run_forever()
        finally:
            loop.remove_reader(server.sockets[0].fileno())
            loop.run_until_complete(self._ended())
            server.close()
            loop.close()

    async def _ended(self) -> None:
        """Ends every connection; what is just being accepted is first taken up, or its socket would stay open."""
        while self._open or len(asyncio.all_tasks()) > 1:
            for transport in list(self._open.values()):
                transport.abort()
            for task in self._serving:
                task.cancel()
            await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:])}
                raw = await reader.readexactly(int(headers.get("content-length", "0")))
                path = head[0].split(" ")[1] if " " in head[0] else "/"
                self._running += 1
                try:
                    await self._answer(path, headers, raw, writer)
                finally:
                    self._running -= 1
        writer.close()

    async def _answer(self, path: str, headers: Mapping[str, str], raw: bytes, writer: asyncio.StreamWriter) -> None:
        try:
            body = json.loads(raw)
        except ValueError:
            await _send(writer, 400, {"error": {"message": "the body is no JSON", "type": "invalid_request_error"}})
            return
        crowded = self.limit is not None and self._running > self.limit
        fault = "rate_limited" if crowded else self._fault(raw, protocol_of(path).asked(body).user)
        self.requests.append(Request(path, body, headers, fault))
        if (fixed := self.answers(path)) is not None:
            status, more = fixed
            await _send(writer, status, {"error": {"message": "Not Found", "type": "invalid_request_error"}}, more)
            return
        protocol, looked = protocol_of(path), Looked("", 0)
        if self.cache is not None:
            looked = self.cache.look(path.partition("?")[0], body, protocol.asked(body))
        if self.latency:
            await asyncio.sleep(self.latency)
        if path.partition("?")[0].endswith(("/embeddings", ":batchEmbedContents")):
            if not await _failed(writer, fault, protocol.refusals):
                await _send(writer, 200, embeddings(body, fault))
            return
        asked = protocol.asked(body)
        refused = self._refused(body, asked)
        if refused:
            await _send(writer, 400, {"error": {"message": refused, "type": "invalid_request_error"}})
        elif not await _failed(writer, fault, protocol.refusals):
            if self.cache is not None:
                self.cache.keep(looked)
            await _send(writer, 200, protocol.reply(self._said(body, asked, fault, looked)))

    def _fault(self, raw: bytes, asked: str = "") -> str:
        if not self.faults:
            return ""
        text = raw.decode("utf-8", "replace")
        self._seen[text] += 1
        key = asked or text  # an ask for a better reply begins as the one before it, and is of the same text
        if self.once and any(key.startswith(one) for one in self._faulted):
            return ""
        place = random.Random(f"{self.seed}\x00{self._seen[text]}\x00{text}").random()
        for fault, share in self.faults.items():
            if place < share:
                self._faulted.add(key)
                return fault
            place -= share
        return ""

    def _refused(self, body: Mapping[str, Any], asked: Asked) -> str:
        for name in self.refuses:
            if name in body or name in body.get("generationConfig", {}):
                return f"Unsupported parameter: '{name}' is not supported with this model."
        if asked.mode not in self.schema_modes:
            return f"{'response_format json_schema' if asked.mode == 'native' else 'tools'} is not supported here."
        return ""

    def _said(self, body: Mapping[str, Any], asked: Asked, fault: str, looked: Looked) -> Said:
        talks = fault == "prose" or asked.mode in self.talks_when
        read = len(TOKEN.findall(asked.system + asked.user))
        cut = 0 < self.context < read
        if cut:  # what is left is the end, and no passage
            read = self.left(self.context)
            asked = replace(asked, user=asked.user[asked.user.rfind("<<<") :])
        value = self.reply(asked.system, asked.user, asked.schema)
        shown = value if isinstance(value, str) else spoiled(value, fault)
        cached, written = looked.kept // 4, (len(looked.text) - looked.kept) // 4
        text, finish = _as_text(shown, "prose" if talks else fault)
        as_tool = asked.mode == "tool" and not talks
        by_size = (looked.schema + len(asked.system) + len(asked.user)) // 4
        tokens = read if self.context else max(by_size, count_fewest_tokens(asked.user)), len(text) // 4 + 1
        served = f"{body.get('model', 'any')}-served"
        return Said(text, as_tool, finish, served, *tokens, int(body.get("n") or 1), cached, written)


class _Connection(asyncio.StreamReaderProtocol):
    """One connection of a server, which knows it for as long as it is open."""

    def __init__(self, server: FaultyServer) -> None:
        super().__init__(asyncio.StreamReader(limit=1 << 24), server._serve)
        self._server = server

    def connection_made(self, transport: Any) -> None:
        self._server._open[self] = transport
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        del self._server._open[self]
        super().connection_lost(error)


def spoiled(value: Mapping[str, Any], fault: str) -> Mapping[str, Any]:
    """A structured answer with a fault in it; every list is spoiled alike, those without numbers where they can be."""
    if set(value) == {"reply"}:
        return {"reply": spoiled(value["reply"], fault)}
    lists = {key: part for key, part in value.items() if isinstance(part, list)}
    numbered = {key: part for key, part in lists.items() if all(isinstance(one, dict) for one in part)}
    if fault == "missing":
        return {**value, **{key: part[: len(part) // 2] for key, part in lists.items()}}
    if fault == "extra":
        return {
            **value,
            **{
                key: [*part, *({**one, "n": 900 + place} for place, one in enumerate(part[:2]))]
                for key, part in numbered.items()
            },
        }
    if fault == "twice":
        return {**value, **{key: [*part, *map(_opposite, part[:1])] for key, part in numbered.items()}}
    if fault == "wrong_types":
        return {key: "many" if isinstance(part, list) else 7 for key, part in value.items()}
    if fault == "unknown_word":
        told: Mapping[str, Any] = json.loads(
            re.sub(r'"(supported|contradicted|absent|agrees|fully)"', '"probably"', json.dumps(value))
        )
        return told
    return value


def _opposite(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same number with the opposite verdict."""
    turned = {key: not part if isinstance(part, bool) else part for key, part in one.items()}
    if "verdict" in one:
        turned |= {"verdict": "absent" if one["verdict"] != "absent" else "contradicted", "by": []}
    if "claims" in one:
        turned["claims"] = [] if one["claims"] else [{"text": "Something else.", "verdict": "absent"}]
    return turned


def _as_text(value: Mapping[str, Any] | str, fault: str) -> tuple[str, str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if fault in ("cut_json", "length"):
        return text[: len(text) // 2], "length" if fault == "length" else "stop"
    if fault == "prose":
        return "I can only say that most of it seems to be supported, about 3 out of 4.", "stop"
    if fault == "fenced":
        return f"Let me think.\n```json\n{text[:-1]},}}\n```\nThat is all.", "stop"
    if fault == "content_filter":
        return "", "content_filter"
    return text, "stop"


async def _failed(writer: asyncio.StreamWriter, fault: str, refusals: Mapping[str, Refusal]) -> bool:
    """Fails the connection or the request where the fault is of that kind."""
    refusal = refusals.get(fault)
    if refusal is not None:
        await _send(writer, refusal.status, refusal.body, refusal.headers)
    elif fault == "garbage":
        page = b"<html><body>Welcome to the network.</body></html>"
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: %d\r\n\r\n" % len(page) + page)
        await writer.drain()
    elif fault == "overloaded":
        writer.write(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy")
        await writer.drain()
    elif fault == "hang":
        await asyncio.sleep(3_600)
    elif fault == "drip":
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.05)
    elif fault == "broken_connection":
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"id": "re')
        await writer.drain()
        writer.close()
        raise ConnectionError
    else:
        return False
    return True


async def _send(
    writer: asyncio.StreamWriter, status: int, value: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> None:
    raw = json.dumps(value).encode()
    lines = [f"HTTP/1.1 {status} {'OK' if status == 200 else 'Failed'}", "content-type: application/json"]
    lines += [f"content-length: {len(raw)}", *(f"{name}: {text}" for name, text in (headers or {}).items())]
    writer.write("\r\n".join([*lines, "", ""]).encode() + raw)
    await writer.drain()


def main() -> None:
    """Serves until it is stopped."""
    parser = argparse.ArgumentParser(prog="python -m tests.loopback.server", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=SHARE", help=", ".join(FAULTS))
    given = parser.parse_args()
    faults = {name: float(share or 1) for name, _, share in (one.partition("=") for one in given.fault)}
    with FaultyServer(faults, given.latency, given.seed, port=given.port) as server:
        print(server.url, flush=True)  # noqa: T201 - what the user waits for
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
