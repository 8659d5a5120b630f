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
    EVERY,
    NUMBERED,
    OWN,
    Question,
    System,
    SystemTrouble,
    kind_of,
    known_settings,
    mapping_of,
    seconds_of,
)
from ragauge.systems.json_path import (
    ASKED,
    HANDED,
    JsonPath,
    NoValue,
    check,
    filled,
    filled_url,
    holds,
    values_of,
    with_environment,
)
from ragauge.systems.response_parser import SPENT, response_of, spent_of
from ragauge.text.citation_marks import with_numbers

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
OF_PASSAGE = ("doc_id", "passage_id", "text", "score", "updated_at", "superseded_by", "hop")
NEEDED = ("doc_id", "passage_id", "text", "score")  # of a passage: in one of them at least, where there is a path
REQUEST = ("url", "method", "body", "params")
SETTINGS = ("name", "config", *REQUEST, "headers", *FIELDS, "passage", "with_passages")
SHORT, LONG = 4, 8  # characters from which on a variable's value, a word of a header is a secret: "Bearer" is none
STREAMS = ("text/event-stream", "application/x-ndjson", "application/jsonl")
SHOWN = 300  # characters of an error page that are kept


@dataclass(frozen=True, slots=True)
class RequestKind:
    """One kind of request.

    Attributes:
        method: POST, GET, PUT or PATCH.
        url: with placeholders.
        body: JSON with placeholders; None = no body.
        params: of the query string, with placeholders.
    """

    method: str
    url: str
    body: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def read(settings: Mapping[str, Any], url: str, known: tuple[str, ...], where: str) -> RequestKind:
        """The request that settings describe. UnknownName for a method or placeholder that there is not."""
        method = str(settings.get("method") or "POST").upper()
        if method not in METHODS:
            raise UnknownName("method", method, METHODS)
        body, params = settings.get("body"), mapping_of(settings, "params")
        if body is None and not params and method != "GET" and not holds(url, known):
            body = {"query": "{{query}}"}
        for name, template in (("url", url), ("body", body), ("params", params)):
            check(template, known, f"{where}{name}")
        if not any(holds(template, ("query", "history", "query_id")) for template in (url, body, params)):
            raise UsageError(f"{where}body: the question stands nowhere in the request. Write {{{{query}}}} in it.")
        return RequestKind(method, url, body, params)


@dataclass(frozen=True, slots=True)
class ReplyMapping:
    """Where the parts of a response stand in a reply; without any path the reply's own names are read.

    Attributes:
        fields: our field -> path.
        passage: part of a passage -> path within one of the passages.
    """

    fields: Mapping[str, JsonPath]
    passage: Mapping[str, JsonPath]

    @staticmethod
    def read(settings: Mapping[str, Any]) -> ReplyMapping:
        """The paths in settings; tokens and latency_ms may be given kind by kind."""
        fields: dict[str, JsonPath] = {}
        for name in FIELDS:
            given = settings.get(name)
            if isinstance(given, Mapping) and name in ("tokens", "latency_ms"):
                fields |= {f"{name}.{kind}": JsonPath.parse(path, f"{name}.{kind}") for kind, path in given.items()}
            elif given is not None and not (name == "citations" and given == NUMBERED):
                fields[name] = JsonPath.parse(given, name)
        passage = mapping_of(settings, "passage")
        known_settings(passage, OF_PASSAGE, "passage")
        if "scores" in fields and "passages" not in fields:
            raise UsageError("scores: one for each passage; say with `passages` where these are.")
        if passage and "passages" not in fields:
            raise UsageError("passage: says where the parts of one passage stand; say with `passages` where they are.")
        return ReplyMapping(fields, {name: JsonPath.parse(path, f"passage.{name}") for name, path in passage.items()})

    def of(self, reply: Any) -> Any:
        """The values by our names; NoValue where a path leads nowhere."""
        if not self.fields:
            return reply
        found: dict[str, Any] = {}
        for name, path in self.fields.items():
            try:
                value = path.of(reply)
            except NoValue:
                if name.partition(".")[0] in ("answer", "passages", "scores", "retrieved_ids"):
                    raise
                continue  # tokens, cost and the like come and go
            field_name, _, kind = name.partition(".")
            if kind:
                found.setdefault(field_name, {})[kind] = value
            else:
                found[name] = self._parts(value) if name in ("passages", "candidates") else value
        if "scores" in found:
            found["passages"] = _scored(found["passages"], found.pop("scores"), self.fields["scores"].text)
        return found

    def spent(self, reply: Any) -> dict[str, Any]:
        """Latency, tokens and cost by our names, as far as the paths lead to any."""
        asked = {name: path for name, path in self.fields.items() if name.partition(".")[0] in SPENT}
        found: dict[str, Any] = {}
        for name, path in asked.items():
            field_name, _, kind = name.partition(".")
            value = path.find(reply)
            if value is not None and kind:
                found.setdefault(field_name, {})[kind] = value
            elif value is not None:
                found[name] = value
        return found

    def _parts(self, passages: Any) -> Any:
        if not self.passage or not isinstance(passages, list):
            return passages
        found = [
            {name: value for name, path in self.passage.items() if (value := path.find(passage)) is not None}
            for passage in passages
        ]
        for name, path in self.passage.items():  # in none of them: the path is wrong
            if passages and name in NEEDED and not any(name in one for one in found):
                path.of(passages[0])
        return found


def _scored(passages: Any, scores: Any, path: str) -> Any:
    """Passages with the scores that stand in a list of their own."""
    if not isinstance(passages, list) or not isinstance(scores, list) or len(passages) != len(scores):
        counts = " and ".join(str(len(one)) if isinstance(one, list) else "no list" for one in (scores, passages))
        raise NoValue(f"scores: {path}: expected one for each passage, got {counts}.")
    named = [passage if isinstance(passage, Mapping) else {"text": passage} for passage in passages]
    return [{**one, "score": score} for one, score in zip(named, scores, strict=True)]


class HttpSystem(System):
    """Sends each question to a URL.

    Args:
        url: http or https, with placeholders; a user and password in it are sent, and neither stored nor shown.
        settings: as in `SETTINGS`; see ragauge docs systems.

    Raises:
        UsageError: a setting, placeholder or path that is not known, an environment variable that is not set.
    """

    implement = "a section with_passages: the url and body, with {{passages}} or {{texts}}, that its generator takes"

    def __init__(self, url: str, settings: Mapping[str, Any]) -> None:
        known_settings(settings, SETTINGS, "an HTTP system")
        given = str(settings.get("url") or url)
        filled_in, secrets = with_environment({**settings, "url": given}, "")
        self._request = RequestKind.read(filled_in, filled_in["url"], ASKED, "")
        self._handed = self._of_handed(filled_in)
        self._mapped, self._numbered = ReplyMapping.read(settings), settings.get("citations") == NUMBERED
        self._headers = {str(name): str(value) for name, value in mapping_of(filled_in, "headers").items()}
        shown = without_credentials(given)
        config = {**mapping_of(settings, "config"), **_kept(settings), "url": shown}
        super().__init__(str(settings.get("name") or shown), config, OWN if self._handed is None else EVERY)
        self.address = filled_in["url"]
        self.secrets = _secrets(secrets, self._headers.values(), urlsplit(filled_in["url"]).password or "")
        self._client: AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        """The response to a question; see `System.respond`."""
        request = self._request if passages is None else self._handed
        if request is None:
            self.check("replayed")
            raise UsageError(f"{self.name} takes no passages.")
        reply = await self._sent(request, values_of(question, passages))
        if not reply.is_success:
            self._refused(reply)
        try:
            found = self._mapped.of(_json(reply) if self._mapped.fields else _json_or_text(reply))
        except NoValue as error:
            said = f"{error}. The reply begins: {_beginning(reply)}"
            raise SystemTrouble("unreadable", said, spent=self._spent(reply)) from None
        response = response_of(found, question, passages=passages)
        return with_numbers(response) if self._numbered else response

    async def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _of_handed(self, settings: Mapping[str, Any]) -> RequestKind | None:
        handed = mapping_of(settings, "with_passages")
        if not handed:
            return None
        known_settings(handed, REQUEST, "with_passages")
        request = RequestKind.read(
            handed, str(handed.get("url") or settings["url"]), (*ASKED, *HANDED), "with_passages."
        )
        if not holds(request.body, HANDED):
            raise UsageError("with_passages.body: write {{passages}} or {{texts}} where the passages belong.")
        return request

    async def _sent(self, request: RequestKind, values: Mapping[str, Any]) -> Reply:
        import httpx2

        client = self._opened()
        body = filled(request.body, values)
        sent: dict[str, Any] = {}
        if body is not None:
            sent = {"content": body.encode()} if isinstance(body, str) else {"json": body}
        params = {name: filled(value, values) for name, value in request.params.items()}
        try:
            return await client.request(
                request.method, filled_url(request.url, values), params=params or None, headers=self._headers, **sent
            )
        except httpx2.TimeoutException as error:
            raise SystemTrouble("timeout", f"{type(error).__name__}: {error}") from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise SystemTrouble("not_found", f"{type(error).__name__}: {error}") from error
        except httpx2.HTTPError as error:
            raise SystemTrouble("connection", f"{type(error).__name__}: {error}") from error

    def _opened(self) -> AsyncClient:
        """The client; a new one on another loop, since connections belong to theirs."""
        import httpx2

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
            # the caller bounds the whole time; the library's would only bound each pause
            self._client, self._loop = httpx2.AsyncClient(timeout=None, limits=limits), loop
        return self._client

    def _refused(self, reply: Reply) -> None:
        kind = kind_of(reply.status_code)
        where = f"; it points to {reply.headers['location']}: give that URL" if "location" in reply.headers else ""
        said = _beginning(reply) or reply.reason_phrase
        asked = seconds_of(reply.headers.get("retry-after"))
        text = f"HTTP {reply.status_code}: {said}{where}"
        raise SystemTrouble(kind, text, retry_after=asked, spent=self._spent(reply))

    def _spent(self, reply: Reply) -> Response | None:
        """What a reply without a response says of latency, tokens and cost: where the settings say, or by its names."""
        try:
            found = json.loads(reply.content)
        except (ValueError, RecursionError):
            return None
        return spent_of(self._mapped.spent(found) or found)


def _secrets(values: Iterable[str], headers: Iterable[str], password: str) -> tuple[str, ...]:
    """What must not be shown; a word so short that it stands in other words is no secret that could be hidden."""
    words = [word for value in headers for word in (value, *value.split()) if len(word) >= LONG]
    return (*(value for value in (*values, password) if len(value) >= SHORT), *words)


def _kept(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for the record: as written, ${VARIABLES} unread, of headers the names alone."""
    kept = {key: value for key, value in settings.items() if key not in ("url", "name", "config", "headers")}
    if settings.get("headers"):
        kept["headers"] = sorted(map(str, settings["headers"]))
    handed = kept.get("with_passages")
    if isinstance(handed, Mapping) and "url" in handed:
        kept["with_passages"] = {**handed, "url": without_credentials(str(handed["url"]))}
    return kept


def without_credentials(url: str) -> str:
    """A URL without user, password and query string.

    >>> without_credentials("https://me:secret@host/ask?key=1")
    'https://host/ask'
    """
    scheme, mark, rest = url.partition("?")[0].partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}" if mark else scheme


def adapt(target: str, name: str, settings: Mapping[str, Any]) -> System:  # noqa: ARG001 - an adapter's form
    """The service behind a URL; see `HttpSystem`."""
    return HttpSystem(target, settings)


def _beginning(reply: Reply) -> str:
    return " ".join(reply.text[:SHOWN].split())


def _json(reply: Reply) -> Any:
    try:
        return json.loads(reply.content)
    except (ValueError, RecursionError):
        kind = reply.headers.get("content-type", "").partition(";")[0] or "nothing that it names"
        said = f"not JSON but {kind}: {_beginning(reply)}" if reply.content else "an empty reply"
        if kind in STREAMS:
            hint = "Ask for the reply as a whole, often by stream: false in the body"
            said = f"a stream ({kind}). {hint}. It begins: {_beginning(reply)}"
        raise SystemTrouble("unreadable", said) from None


def _json_or_text(reply: Reply) -> Any:
    if reply.headers.get("content-type", "").startswith("text/plain"):
        return reply.text
    return _json(reply)
