"""The addresses that exporters send to, beside the pages of the dashboard."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ragauge.monitoring.intake.bodies import (
    TOO_SLOW,
    TYPES,
    Form,
    IncomingBody,
    RequestRefusedError,
    build_status,
    parse_encoding,
    parse_form,
    read_body,
)
from ragauge.monitoring.intake.body_parser import BodyParser, ParsedBody, SentBody
from ragauge.monitoring.intake.intake import Intake

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

THREAD_SIZE_BYTES = 256 * 1024  # bytes from which a body is read in a thread, so that it holds up nobody
LINE_TYPES = ("application/x-ndjson", "application/jsonl", "application/jsonlines")


class SenderAccess(Protocol):
    """Who may send."""

    @property
    def needs_token(self) -> bool:
        """Whether a sender must know a token."""

    def may_send(self, word: str) -> bool:
        """Whether a token lets its bearer send."""

    def knows_host(self, named: str) -> bool:
        """Whether a request's Host names this server."""


class Receiver:
    """Takes in what exporters send, and leaves every other address to the dashboard.

    Args:
        app: the dashboard.
        access: who may send.
        intake: keeps what is taken.
        taking: reads bodies.
    """

    def __init__(self, app: ASGIApp, access: SenderAccess, intake: Intake, taking: BodyParser | None = None) -> None:
        self._app, self._access, self._intake = app, access, intake
        self._taking = taking = taking or BodyParser()
        self._paths: dict[str, Callable[[SentBody], ParsedBody]] = {
            "/v1/traces": taking.parse_traces,
            "/api/public/otel/v1/traces": taking.parse_traces,
            "/v1/logs": taking.parse_logs,
            "/v1/metrics": taking.metrics,
            "/v1/responses": taking.responses,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        take = self._paths.get(scope["path"].rstrip("/")) if scope["type"] == "http" else None
        if take is None and not self._is_misdirected(scope):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        incoming = IncomingBody(receive, headers)
        form: Form = "protobuf" if "protobuf" in headers.get("content-type", "") else "json"
        try:
            if take is None:
                known_paths = ", ".join(path for path in self._paths if path.startswith("/v1/"))
                where = f"there is no endpoint at {scope['path'][:80]}"
                raise RequestRefusedError(404, f"{where}. Send traces to /v1/traces; available: {known_paths}.")
            body = await self._answer_request(take, scope["method"], headers, incoming)
            await _send_reply(send, 200, TYPES[form], body, {})
        except RequestRefusedError as refused:
            if refused.status != TOO_SLOW:  # it had its time
                await incoming.discard()
            body = build_status(form, refused.status, refused.why)
            await _send_reply(send, refused.status, TYPES[form], body, refused.headers)

    def _is_misdirected(self, scope: Scope) -> bool:
        """Whether a request is an exporter's that was sent to an address where nothing is taken in."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return False
        path: str = scope["path"]
        return path in ("/", "/v1") or path.startswith(("/v1/", "/api/public/"))

    async def _answer_request(
        self, take: Callable[[SentBody], ParsedBody], method: str, headers: dict[str, str], receive: Receive
    ) -> bytes:
        if method != "POST":
            raise RequestRefusedError(405, f"{method} is not allowed; exporters must use POST.", allow="POST")
        self._check_access(headers)
        form = (
            _parse_lines_form(headers)
            if take == self._taking.responses
            else parse_form(headers.get("content-type", ""))
        )
        encoding = parse_encoding(headers.get("content-encoding", ""))
        declared = headers.get("content-length", "")
        with self._intake.reserve_room() as grow:
            body = await read_body(receive, encoding, declared, grow)
            sent = SentBody(form, body, time.time(), headers.get("x-project-name", "").strip())
            taken = await asyncio.to_thread(take, sent) if len(body) > THREAD_SIZE_BYTES else take(sent)
            if taken.batch is not None:
                await self._intake.save_batch(taken.batch)
            if taken.points:
                await asyncio.to_thread(self._intake.save_points, taken.points)
            return taken.reply

    def _check_access(self, headers: dict[str, str]) -> None:
        if not self._access.needs_token:
            # only this machine reaches it; a page on the web must not reach it through a name of its own
            host = headers.get("host", "")
            if not self._access.knows_host(host):
                raise RequestRefusedError(421, f"the host in the request, {host[:80] or 'none'}, is not allowed.")
            return
        token = _parse_token(headers.get("authorization", ""))
        how = "Send the header Authorization: Bearer TOKEN (OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20TOKEN)."
        if not token:
            raise RequestRefusedError(401, f"a token is required. {how}", www_authenticate="Bearer")
        if not self._access.may_send(token):
            raise RequestRefusedError(403, f"this token may not send to this server. {how}")


def _parse_lines_form(headers: dict[str, str]) -> Form:
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in (*LINE_TYPES, "application/json"):
        return "json"
    raise RequestRefusedError(415, f"Content-Type must be application/x-ndjson, got {media_type[:60] or 'nothing'}.")


def _parse_token(header: str) -> str:
    """The token in an Authorization header: a bearer's, or Basic's password, where Langfuse puts its secret key."""
    scheme, _, word = header.partition(" ")
    if scheme.lower() == "bearer":
        return word.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(word.strip(), validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return ""


async def _send_reply(send: Send, status: int, kind: str, body: bytes, headers: dict[str, str]) -> None:
    more = {**headers, "content-type": kind, "content-length": str(len(body)), "cache-control": "no-store"}
    header_list = [(name.encode(), value.encode("latin-1", "replace")) for name, value in more.items()]
    await send({"type": "http.response.start", "status": status, "headers": header_list})
    await send({"type": "http.response.body", "body": body})
