"""The addresses and the files that traces are read from."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from ragauge.core.errors import StoreError
from ragauge.monitoring.intake import body_parser
from ragauge.monitoring.intake.body_parser import BodyParser, ParsedBody, SentBody
from ragauge.monitoring.intake.intake import (
    MAX_UNPACKED_BYTES,
    MEBIBYTE,
    TOO_SLOW,
    TYPES,
    Form,
    IncomingBody,
    Intake,
    RequestRefusedError,
    build_status,
    parse_encoding,
    parse_form,
    read_body,
)
from ragauge.monitoring.traffic.trace_assembly import collect_contents
from ragauge.readers.traces.spans import TraceSpan
from ragauge.store.inbox import Batch, ReadDelay, TailPosition
from ragauge.store.store_access import Store, open_store

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


READ_SIZE_BYTES = 4 * MEBIBYTE  # bytes that are read and kept at a time
HEAD_SIZE_BYTES = 1024  # bytes by which a file is known again


@dataclass(frozen=True, slots=True)
class _WholeLines:
    """The next whole lines of a file."""

    body: bytes
    after: TailPosition


class TailedFile:
    """A file of JSON lines that grows: requests of OTLP/JSON (spans, log records), or responses.

    How far it was read is kept with what it held, in one transaction. A file that another one has taken the place of is
    read to its end under its new name, where that begins with the old one's stem and is in the same folder; then those
    that took its place and were renamed before they were looked at.

    Args:
        store: with the inbox.
        path: of the file; it need not be there yet.
        taking: reads lines.
        patience: how long a trace waits for more.
        say: told what is left out.

    Attributes:
        path: of the file, as it was named.
    """

    def __init__(
        self, store: Store, path: Path, taking: BodyParser, patience: ReadDelay, say: Callable[[str], None]
    ) -> None:
        self._store, self.path, self._path = store, path, path.absolute()
        self._taking, self._patience, self._say = taking, patience, say

    def read(self) -> int:
        """Takes the whole lines that have come; returns how many bytes."""
        name, taken = str(self._path), 0
        while True:
            position = self._store.inbox.load_tail(name)
            whole_lines = self._read_next(position)
            if whole_lines is None:
                return taken
            batches = self._build_batches(whole_lines.body, position.offset)
            self._store.inbox.add_tail(name, position, whole_lines.after, batches, self._patience)
            taken += len(whole_lines.body)

    def _read_next(self, position: TailPosition) -> _WholeLines | None:
        """What is to be taken next; None where nothing has come. Of a file that was replaced its last lines first."""
        try:
            current_file = self._path.open("rb")
        except FileNotFoundError:
            current_file = None
        except OSError as error:
            raise StoreError(f"{self._path} cannot be read: {error.strerror}.") from error
        if current_file is not None:
            with current_file:
                if _is_same_file(current_file, position):
                    return _read_whole_lines(current_file, position)
        if current_file is None and not position.head:
            return None
        old = self._find_renamed(position)
        for path in () if old is None else (old, *self._list_rotated(old)):
            with path.open("rb") as old_file:
                whole_lines = _read_whole_lines(
                    old_file, position if path == old else TailPosition(), is_final=current_file is not None
                )
            if whole_lines is not None or current_file is None:
                return whole_lines
        if current_file is None:
            return None
        if old is None:
            self._say(
                f"{self._path} was replaced, and the previous file was not found next to it: "
                "lines added to that file after the last read are skipped."
            )
        return _WholeLines(b"", TailPosition())

    def _find_renamed(self, position: TailPosition) -> Path | None:
        """The file that was read up to a place, under another name beside it."""
        for path in sorted(self._path.parent.glob(f"{escape(self._path.stem)}*")):
            if path != self._path and path.is_file():
                with path.open("rb") as file:
                    if _is_same_file(file, position):
                        return path
        return None

    def _list_rotated(self, old: Path) -> list[Path]:
        """The files that stood here after one that was read, the oldest first: by the number or time in their names."""
        own_order = self._parse_rotation(old)
        if own_order is None:
            return []
        neighbors = self._path.parent.glob(f"{escape(self._path.stem)}*")
        ordered = [(order, path) for path in neighbors if (order := self._parse_rotation(path)) is not None]
        return [path for order, path in sorted(ordered) if order[0] == own_order[0] and order > own_order]

    def _parse_rotation(self, path: Path) -> tuple[bool, int, str] | None:
        """Where a file comes among those that were renamed, the oldest first; None = its name is none of a rotation.

        Of `spans.jsonl` these are spans.jsonl.2, spans.jsonl.1, and spans-2026-01-31T10-00-00.000.jsonl, with the time.
        """
        stem, ending = re.escape(self._path.stem), re.escape(self._path.suffix)
        if match := re.fullmatch(rf"{stem}{ending}\.(\d{{1,6}})", path.name):
            return True, -int(match[1]), ""
        if match := re.fullmatch(rf"{stem}(?:{ending})?[-.](\d[\dTZ:._-]*?)(?:{ending})?", path.name):
            return False, 0, match[1]
        return None

    def _build_batches(self, body: bytes, offset: int) -> list[Batch]:
        """What lines hold; those that cannot be read are left out, and the user is told."""
        batches: list[Batch] = []
        responses: list[bytes] = []
        wrong: list[str] = []
        for line in body.splitlines(keepends=True):
            offset += len(line)
            taken, reason = self._take_line(line)
            if taken is None and not reason:
                responses.append(line)
            elif taken is not None and taken.batch is not None:
                batches.append(taken.batch)
            if reason:
                wrong.append(f"the line ending at byte {offset:,}: {reason}")
        if responses:
            taken = self._taking.responses(SentBody("json", b"".join(responses), time.time(), ""))
            batches += [taken.batch] if taken.batch is not None else []
        if wrong:
            self._say(f"{self._path}: skipped {body_parser.format_mistakes(wrong)}.")
        return batches

    def _take_line(self, line: bytes) -> tuple[ParsedBody | None, str]:
        """What a line of OTLP holds, and why something of it is left out; (None, "") = it is a response, or empty."""
        if not line.strip():
            return None, ""
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            return None, f"it is not valid JSON ({str(error)[:100]})"
        if not isinstance(row, Mapping):
            return None, body_parser.find_response_problem(row)
        ways = {
            "resourceSpans": self._taking.parse_traces,
            "resourceLogs": self._taking.parse_logs,
            "resourceMetrics": self._taking.metrics,
        }
        take = next((way for key, way in ways.items() if key in row), None)
        if take is None:
            return None, body_parser.find_response_problem(row)
        try:
            taken = take(SentBody("json", line, time.time(), ""))
        except RequestRefusedError as refused:
            return None, refused.why.rstrip(".")
        return taken, taken.left.first


def _is_same_file(file: BinaryIO, position: TailPosition) -> bool:
    """Whether a file is the one that was read up to a place."""
    file.seek(0)
    head = file.read(min(HEAD_SIZE_BYTES, position.offset))
    return _hash_head(head) == position.head and file.seek(0, 2) >= position.offset


def _hash_head(first: bytes) -> str:
    return hashlib.sha256(first).hexdigest()[:32] if first else ""


def _read_whole_lines(file: BinaryIO, position: TailPosition, *, is_final: bool = False) -> _WholeLines | None:
    """The whole lines after a place, some megabytes at most; with `is_final` a last line without its end is one too.

    A line of more than 64 MiB is cut there: neither part can be read, and both are told.
    """
    file.seek(position.offset)
    body, end = b"", 0
    while not end and len(body) < MAX_UNPACKED_BYTES:
        more = file.read(READ_SIZE_BYTES)
        body += more
        end = body.rfind(b"\n") + 1
        if not more:
            break
    end = end or (len(body) if is_final or len(body) >= MAX_UNPACKED_BYTES else 0)
    if not end:
        return None
    offset = position.offset + end
    file.seek(0)
    return _WholeLines(body[:end], TailPosition(offset, _hash_head(file.read(min(HEAD_SIZE_BYTES, offset)))))


def load_raw_spans(trace_id: str, store: str) -> tuple[TraceSpan, ...]:
    """The spans of a trace, as far as its raw batches are kept, by their start; none of one that came as a response.

    Args:
        trace_id: of the trace, as the store has it.
        store: its URL.
    """
    with open_store(store) as opened_store:
        due_trace = opened_store.inbox.find_trace(trace_id)
        spans = [] if due_trace is None else collect_contents(opened_store, [due_trace])[trace_id].list_spans()
    return tuple(sorted(spans, key=lambda span: (span.start, span.span_id)))
