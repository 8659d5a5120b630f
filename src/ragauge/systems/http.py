"""A service behind a URL as a system."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.response import Passage, Response
from ragauge.systems.base import (
    ALL_VARIANTS,
    NUMBERED,
    OWN_ONLY,
    Question,
    System,
    SystemTrouble,
    check_setting_names,
    classify_status,
    parse_retry_after,
    read_mapping,
)
from ragauge.systems.json_path import (
    PASSAGE_PLACEHOLDERS,
    QUESTION_PLACEHOLDERS,
    JsonPath,
    NoValue,
    build_values,
    check_placeholders,
    expand_environment,
    fill_template,
    fill_url,
    has_placeholder,
)
from ragauge.systems.response_parser import USAGE_FIELDS, find_usage, response_of
from ragauge.text.citation_marks import add_answer_citations

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from httpx2 import Response as Reply

METHODS = ("POST", "GET", "PUT", "PATCH")
FIELDS = (
    "answer",
    "passages",
    "scores",
    "retrieved_ids",
    "candidates",
    "citations",
    "latency_ms",
    "latency_s",
    "tokens",
    "cost",
    "error",
)
PASSAGE_FIELDS = ("doc_id", "passage_id", "text", "score", "updated_at", "superseded_by", "hop")
# of a passage: in one of them at least, where there is a path
REQUIRED_PASSAGE_FIELDS = ("doc_id", "passage_id", "text", "score")
REQUEST = ("url", "method", "body", "params")
SETTINGS = ("name", "config", *REQUEST, "headers", *FIELDS, "passage", "with_passages")
# characters from which on a variable's value, a word of a header is a secret: "Bearer" is none
MIN_VARIABLE_CHARS, MIN_HEADER_CHARS = (4, 8)
STREAMS = ("text/event-stream", "application/x-ndjson", "application/jsonl")
MAX_SHOWN_CHARS = 300  # characters of an error page that are kept


@dataclass(frozen=True, slots=True)
class RequestKind:
    """One kind of request."""

    method: str  #: POST, GET, PUT or PATCH.
    url: str  #: with placeholders.
    body: Any = None  #: JSON with placeholders; None = no body.
    params: Mapping[str, Any] = field(default_factory=dict)  #: of the query string, with placeholders.

    @staticmethod
    def from_settings(settings: Mapping[str, Any], url: str, valid_names: tuple[str, ...], where: str) -> RequestKind:
        """The request that settings describe. UnknownName for a method or placeholder that there is not."""
        method = str(settings.get("method") or "POST").upper()
        if method not in METHODS:
            raise UnknownName("method", method, METHODS)
        body, params = settings.get("body"), read_mapping(settings, "params")
        if body is None and not params and method != "GET" and not has_placeholder(url, valid_names):
            body = {"query": "{{query}}"}
        for name, template in (("url", url), ("body", body), ("params", params)):
            check_placeholders(template, valid_names, f"{where}{name}")
        if not any(has_placeholder(template, ("query", "history", "query_id")) for template in (url, body, params)):
            raise UsageError(f"{where}body: the request does not contain the question. Write {{{{query}}}} in it.")
        return RequestKind(method, url, body, params)


@dataclass(frozen=True, slots=True)
class ReplyMapping:
    """Where the parts of a response stand in a reply; without any path the reply's own names are read."""

    fields: Mapping[str, JsonPath]  #: our field -> path.
    passage: Mapping[str, JsonPath]  #: part of a passage -> path within one of the passages.

    @staticmethod
    def from_settings(settings: Mapping[str, Any]) -> ReplyMapping:
        """The paths in settings; tokens and latency_ms may be given kind by kind."""
        fields: dict[str, JsonPath] = {}
        for name in FIELDS:
            raw = settings.get(name)
            if isinstance(raw, Mapping) and name in ("tokens", "latency_ms"):
                fields |= {f"{name}.{kind}": JsonPath.parse(path, f"{name}.{kind}") for kind, path in raw.items()}
            elif raw is not None and not (name == "citations" and raw == NUMBERED):
                fields[name] = JsonPath.parse(raw, name)
        passage = read_mapping(settings, "passage")
        check_setting_names(passage, PASSAGE_FIELDS, "passage")
        if "scores" in fields and "passages" not in fields:
            raise UsageError(
                "scores needs `passages`, the path of the passages, because there is one score per passage."
            )
        if passage and "passages" not in fields:
            raise UsageError("passage gives the paths within one passage; set `passages` to the path of the passages.")
        return ReplyMapping(fields, {name: JsonPath.parse(path, f"passage.{name}") for name, path in passage.items()})

    def of(self, reply: Any) -> Any:
        """The values by our names; NoValue where a path leads nowhere."""
        if not self.fields:
            return reply
        values: dict[str, Any] = {}
        for name, path in self.fields.items():
            try:
                value = path.of(reply)
            except NoValue:
                if name.partition(".")[0] in ("answer", "passages", "scores", "retrieved_ids"):
                    raise
                continue  # tokens, cost and the like come and go
            field_name, _, kind = name.partition(".")
            if kind:
                values.setdefault(field_name, {})[kind] = value
            else:
                values[name] = self._read_passages(value) if name in ("passages", "candidates") else value
        if "scores" in values:
            values["passages"] = _attach_scores(values["passages"], values.pop("scores"), self.fields["scores"].text)
        return values

    def spent(self, reply: Any) -> dict[str, Any]:
        """Latency, tokens and cost by our names, as far as the paths lead to any."""
        usage_paths = {name: path for name, path in self.fields.items() if name.partition(".")[0] in USAGE_FIELDS}
        values: dict[str, Any] = {}
        for name, path in usage_paths.items():
            field_name, _, kind = name.partition(".")
            value = path.find_value(reply)
            if value is not None and kind:
                values.setdefault(field_name, {})[kind] = value
            elif value is not None:
                values[name] = value
        return values

    def _read_passages(self, passages: Any) -> Any:
        if not self.passage or not isinstance(passages, list):
            return passages
        rows = [
            {name: value for name, path in self.passage.items() if (value := path.find_value(passage)) is not None}
            for passage in passages
        ]
        for name, path in self.passage.items():  # in none of them: the path is wrong
            if passages and name in REQUIRED_PASSAGE_FIELDS and not any(name in row for row in rows):
                path.of(passages[0])
        return rows


def _attach_scores(passages: Any, scores: Any, path: str) -> Any:
    """Passages with the scores that stand in a list of their own."""
    if not isinstance(passages, list) or not isinstance(scores, list) or len(passages) != len(scores):
        counts = " and ".join(str(len(item)) if isinstance(item, list) else "no list" for item in (scores, passages))
        raise NoValue(f"scores: {path}: expected one per passage, got {counts}")
    items = [passage if isinstance(passage, Mapping) else {"text": passage} for passage in passages]
    return [{**item, "score": score} for item, score in zip(items, scores, strict=True)]


class HttpSystem(System):
    """Sends each question to a URL.

    Args:
        url: http or https, with placeholders; a user and password in it are sent, and neither stored nor shown.
        settings: as in `SETTINGS`; see ragauge docs systems.

    Raises:
        UsageError: a setting, placeholder or path that is not known, an environment variable that is not set.
    """

    implement = "a with_passages section with the url and body of its generator, including {{passages}} or {{texts}}"

    def __init__(self, url: str, settings: Mapping[str, Any]) -> None:
        check_setting_names(settings, SETTINGS, "an HTTP system")
        raw_url = str(settings.get("url") or url)
        filled_in, secrets = expand_environment({**settings, "url": raw_url}, "")
        self._request = RequestKind.from_settings(filled_in, filled_in["url"], QUESTION_PLACEHOLDERS, "")
        self._handed = self._read_passage_request(filled_in)
        self._mapped, self._numbered = ReplyMapping.from_settings(settings), settings.get("citations") == NUMBERED
        self._headers = {str(name): str(value) for name, value in read_mapping(filled_in, "headers").items()}
        visible_url = strip_credentials(raw_url)
        config = {**read_mapping(settings, "config"), **_redact_settings(settings), "url": visible_url}
        super().__init__(
            str(settings.get("name") or visible_url), config, OWN_ONLY if self._handed is None else ALL_VARIANTS
        )
        self.address = filled_in["url"]
        self.secrets = _collect_secrets(secrets, self._headers.values(), urlsplit(filled_in["url"]).password or "")
        self._client: AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response to a question; see `System.respond`."""
        request = self._request if passages is None else self._handed
        if request is None:
            self.check_variant("replayed")
            raise UsageError(f"{self.name} takes no passages.")
        reply = await self._send_request(request, build_values(question, passages))
        if not reply.is_success:
            self._raise_refused(reply)
        try:
            payload = self._mapped.of(_parse_json(reply) if self._mapped.fields else _parse_json_or_text(reply))
        except NoValue as error:
            message = f"{error}. The reply starts with: {_preview_text(reply)}"
            raise SystemTrouble("unreadable", message, spent=self._find_usage(reply)) from None
        response = response_of(payload, question, passages=passages)
        return add_answer_citations(response) if self._numbered else response

    async def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _read_passage_request(self, settings: Mapping[str, Any]) -> RequestKind | None:
        handed = read_mapping(settings, "with_passages")
        if not handed:
            return None
        check_setting_names(handed, REQUEST, "with_passages")
        request = RequestKind.from_settings(
            handed,
            str(handed.get("url") or settings["url"]),
            (*QUESTION_PLACEHOLDERS, *PASSAGE_PLACEHOLDERS),
            "with_passages.",
        )
        if not has_placeholder(request.body, PASSAGE_PLACEHOLDERS):
            raise UsageError("with_passages.body: write {{passages}} or {{texts}} where the passages go.")
        return request

    async def _send_request(self, request: RequestKind, values: Mapping[str, Any]) -> Reply:
        import httpx2

        client = self._open_client()
        body = fill_template(request.body, values)
        sent: dict[str, Any] = {}
        if body is not None:
            sent = {"content": body.encode()} if isinstance(body, str) else {"json": body}
        params = {name: fill_template(value, values) for name, value in request.params.items()}
        try:
            return await client.request(
                request.method, fill_url(request.url, values), params=params or None, headers=self._headers, **sent
            )
        except httpx2.TimeoutException as error:
            raise SystemTrouble("timeout", f"{type(error).__name__}: {error}") from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise SystemTrouble("not_found", f"{type(error).__name__}: {error}") from error
        except httpx2.HTTPError as error:
            raise SystemTrouble("connection", f"{type(error).__name__}: {error}") from error

    def _open_client(self) -> AsyncClient:
        """The client; a new one on another loop, since connections belong to theirs."""
        import httpx2

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
            # the caller bounds the whole time; the library's would only bound each pause
            self._client, self._loop = httpx2.AsyncClient(timeout=None, limits=limits), loop
        return self._client

    def _raise_refused(self, reply: Reply) -> None:
        kind = classify_status(reply.status_code)
        where = f"; it points to {reply.headers['location']}; use that URL" if "location" in reply.headers else ""
        message = _preview_text(reply) or reply.reason_phrase
        retry_after = parse_retry_after(reply.headers.get("retry-after"))
        text = f"HTTP {reply.status_code}: {message}{where}"
        raise SystemTrouble(kind, text, retry_after=retry_after, spent=self._find_usage(reply))

    def _find_usage(self, reply: Reply) -> Response | None:
        """What a reply without a response says of latency, tokens and cost: where the settings say, or by its names."""
        try:
            payload = json.loads(reply.content)
        except (ValueError, RecursionError):
            return None
        return find_usage(self._mapped.spent(payload) or payload)


def _collect_secrets(values: Iterable[str], headers: Iterable[str], password: str) -> tuple[str, ...]:
    """What must not be shown; a word so short that it stands in other words is no secret that could be hidden."""
    words = [word for value in headers for word in (value, *value.split()) if len(word) >= MIN_HEADER_CHARS]
    return (*(value for value in (*values, password) if len(value) >= MIN_VARIABLE_CHARS), *words)


def _redact_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for the record: as written, ${VARIABLES} unread, of headers the names alone."""
    recorded = {key: value for key, value in settings.items() if key not in ("url", "name", "config", "headers")}
    if settings.get("headers"):
        recorded["headers"] = sorted(map(str, settings["headers"]))
    handed = recorded.get("with_passages")
    if isinstance(handed, Mapping) and "url" in handed:
        recorded["with_passages"] = {**handed, "url": strip_credentials(str(handed["url"]))}
    return recorded


def strip_credentials(url: str) -> str:
    """A URL without user, password and query string.

    >>> strip_credentials("https://me:secret@host/ask?key=1")
    'https://host/ask'
    """
    scheme, mark, remaining = url.partition("?")[0].partition("://")
    host, slash, path = remaining.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}" if mark else scheme


def adapt(target: str, name: str, settings: Mapping[str, Any]) -> System:  # noqa: ARG001 - an adapter's form
    """The service behind a URL; see `HttpSystem`."""
    return HttpSystem(target, settings)


def _preview_text(reply: Reply) -> str:
    return " ".join(reply.text[:MAX_SHOWN_CHARS].split())


def _parse_json(reply: Reply) -> Any:
    try:
        return json.loads(reply.content)
    except (ValueError, RecursionError):
        kind = reply.headers.get("content-type", "").partition(";")[0] or "an unnamed type"
        message = f"expected JSON, got {kind}: {_preview_text(reply)}" if reply.content else "an empty reply"
        if kind in STREAMS:
            hint = "Turn streaming off, often with stream: false in the body"
            message = f"a stream ({kind}). {hint}. It starts with: {_preview_text(reply)}"
        raise SystemTrouble("unreadable", message) from None


def _parse_json_or_text(reply: Reply) -> Any:
    if reply.headers.get("content-type", "").startswith("text/plain"):
        return reply.text
    return _parse_json(reply)
