"""A RAG service on this machine that fails on purpose, to try `ragauge run` on.

    with FlakyService(faults={"server": 0.2, "hang": 0.05}, seed=7) as service:
        rg.run(service.url, "golden.jsonl", timeout=2)

Its faults are those of `server.FAULTS` that concern a request: rate_limited, server, overloaded, garbage, hang,
drip, broken_connection.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.loopback.protocols import Refusal
from tests.loopback.server import FaultyServer, Request, _failed, _send

REFUSALS: Mapping[str, Refusal] = {
    "rate_limited": Refusal(429, {"detail": "Too many requests."}, {"retry-after": "0.05"}),
    "server": Refusal(500, {"detail": "The service had an error."}),
}
Respond = Callable[[Mapping[str, Any]], Any]


def echo(body: Mapping[str, Any]) -> Any:
    """A response that says what was asked."""
    query = str(body.get("query", ""))
    return {"answer": f"You asked: {query}", "passages": [{"doc_id": f"about {query}", "text": f"All about {query}"}]}


@dataclass
class FlakyService(FaultyServer):
    """A service in a thread of its own; use it as a context manager.

    Attributes:
        respond: makes the JSON of a response from that of a request; of a GET, from the parameters of its URL.
        status: of a successful answer; another one to answer everything with.
    """

    respond: Respond = echo
    status: int = 200

    @property
    def url(self) -> str:
        """Where questions go."""
        return f"http://127.0.0.1:{self.port}/ask"

    async def _answer(self, path: str, headers: Mapping[str, str], raw: bytes, writer: asyncio.StreamWriter) -> None:
        body = json.loads(raw) if raw else dict(parse_qsl(urlsplit(path).query))
        crowded = self.limit is not None and self._running > self.limit
        fault = "rate_limited" if crowded else self._fault(raw or path.encode())
        self.requests.append(Request(path, body, headers, fault))
        if self.latency:
            await asyncio.sleep(self.latency)
        if not await _failed(writer, fault, REFUSALS):
            await _send(writer, self.status, self.respond(body))
