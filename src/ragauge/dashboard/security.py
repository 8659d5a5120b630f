"""What stands before every page: who may ask, from where, and what a browser may do with the answer.

A page on the web can let a name of its own lead to this machine (DNS rebinding) and so read what is served here: each
request must name a host that is known. It can also send forms here: each POST must come from a page of this server, and
bring the token that only those pages hold. Who reaches the server from another machine must know its access token.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qs, quote, urlsplit

from ragauge.dashboard.patience import REQUEST_TIMEOUT_S
from ragauge.dashboard.rights import MAX_SESSION_S, AccessTokens, Right, Sessions, _parse_address, is_loopback, is_same

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 1 << 20  # bytes of a form
LOGIN_DELAY_S = 0.5  # seconds that a wrong token waits for its answer
COOKIE = "ragauge_session"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SAFE_METHODS = ("GET", "HEAD")
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)


@dataclass(frozen=True)
class Access:
    """Who may ask."""

    host: str = LOOPBACK[0]  #: that the server listens at.
    #: that gives every right; "" = anyone on this machine may read, or `rights` names others.
    token: str = field(default="", repr=False)
    allowed: Sequence[str] = ()  #: further names of the server.
    base_path: str = ""  #: what every path begins with; "" = nothing.
    read_only: bool = False  #: no POST is taken.
    csrf: str = field(default_factory=secrets.token_urlsafe, repr=False)  #: what a form of this server brings back.
    rights: AccessTokens = field(default_factory=AccessTokens, repr=False)  #: tokens that give some rights each.
    trusted_proxies: Sequence[str] = ()  #: addresses of proxies whose X-Forwarded-Proto counts.

    @property
    def tokens(self) -> AccessTokens:
        """All that are known."""
        return AccessTokens(self.token) if self.token else self.rights

    @property
    def needs_token(self) -> bool:
        """Whether whoever asks must know one."""
        return bool(self.tokens)

    def may_send(self, word: str) -> bool:
        """Whether a token lets its bearer send traces."""
        return self.tokens.may_send(word)

    def is_encrypted(self, scope: Scope, forwarded: str) -> bool:
        """Whether a request came by TLS: to here, or to a proxy that is trusted and says so (X-Forwarded-Proto)."""
        client = (scope.get("client") or ("",))[0]
        return scope.get("scheme") == "https" or (client in self.trusted_proxies and forwarded.lower() == "https")

    def knows_host(self, host_header: str) -> bool:
        """Whether a request's Host names this server.

        A name may lead anywhere, so it must be known. An address leads nowhere else; it is let in where the server
        listens at every address of the machine.
        """
        try:
            host = (urlsplit(f"//{host_header}").hostname or "").casefold()
        except ValueError:
            return False
        known_hosts = {name.casefold().strip("[]") for name in (*self.allowed, self.host)}
        known_hosts |= set(LOOPBACK)
        listen_address = _parse_address(self.host)
        anywhere = listen_address is not None and listen_address.is_unspecified
        return host in known_hosts or (anywhere and _parse_address(host) is not None)


class Refusal(Protocol):
    """Makes what a refusal shows."""

    def __call__(self, status: int, why: str, login: str, *, plain: bool) -> tuple[str, str]:
        """Content type and body; `login` is the address that a log-in leads on to, "" where it is not about that."""


def _decode_header(value: bytes) -> str:
    return value.decode("latin-1")


class Guard:
    """Lets in what may come in, and says with every answer what a browser may do with it.

    Args:
        app: what answers.
        access: who may ask.
        refusal: makes what a refusal shows.
        ready: why nothing can be shown now, "" = it can be.
        sessions: of who logged in.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        refusal: Refusal,
        ready: Callable[[], str] = str,
        sessions: Sessions | None = None,
    ) -> None:
        self._app, self._access, self._refusal, self._ready = app, access, refusal, ready
        self._sessions = sessions or Sessions()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(_decode_header(name).lower(), []).append(_decode_header(value))
        reply = _add_headers(send, is_loopback(self._access.host))
        request = GuardedRequest(scope, headers)
        if await self._answer_probe(request, reply):
            return
        if (refused := self._find_refusal(request)) is not None:
            await self._send_refusal(request, *refused, reply)
            return
        inner = dict(scope, path=request.path.removeprefix(self._access.base_path) or "/")
        if scope["method"] not in SAFE_METHODS:
            body = await _read_body(receive)
            if (refused := self._refused_form(request, body)) is not None:
                await self._send_refusal(request, *refused, reply)
                return
            if inner["path"] in ("/login", "/logout"):
                await (self._log_in if inner["path"] == "/login" else self._log_out)(request, body or b"", reply)
                return
            receive = _replay_body(body or b"", receive)
        await self._app(inner, receive, reply)

    def _find_refusal(self, request: GuardedRequest) -> tuple[int, str] | None:
        """Status and reason where a request is not let in whatever it holds."""
        hosts = request.headers.get("host", [])
        if len(hosts) != 1 or not self._access.knows_host(hosts[0]):
            got = ", ".join(hosts)[:80] or "none"
            return 421, f"the request is for the unknown host {got}. Allow it with --allowed-host NAME."
        base = self._access.base_path
        if base and request.path != base and not request.path.startswith(f"{base}/"):
            return 404, f"no such page. Every address begins with {base}/."
        method = request.scope["method"]
        if method not in (*SAFE_METHODS, "POST"):
            return 405, f"{method} is not supported here; pages are read with GET and changed with POST."
        right = self._find_right(request) if self._access.needs_token else "write"
        if not right and not self._is_open(request):
            return 401, "a token is required. Enter it here, or send it in the header Authorization: Bearer TOKEN."
        if method == "POST" and not request.path.endswith(("/login", "/logout")):
            if self._access.read_only:
                return 403, "this server was started with --read-only: nothing can be changed here."
            if right != "write":
                return 403, "this token can only read. Log in with a token that can write to change anything."
        return None

    async def _answer_probe(self, request: GuardedRequest, send: Send) -> bool:
        """Answers /livez and /readyz, which hold no data, without a token; whether it was one of them."""
        path = request.path.removeprefix(self._access.base_path)
        if path not in ("/livez", "/readyz") or request.scope["method"] not in SAFE_METHODS:
            return False
        reason = await asyncio.to_thread(self._ready) if path == "/readyz" else ""
        body = b"not ready" if reason else b"ok"
        await _send_answer(
            send, 503 if reason else 200, body, {"content-type": "text/plain", "cache-control": "no-store"}
        )
        return True

    def _is_open(self, request: GuardedRequest) -> bool:
        """Whether who is not logged in may see it: the log-in, and what its page looks like."""
        path = request.path.removeprefix(self._access.base_path)
        return path == "/login" or path.startswith("/static/")

    def _find_right(self, request: GuardedRequest) -> Right:
        """What the token that came along lets do, or the session of who gave it before."""
        authorization = next(iter(request.headers.get("authorization", [])), "")
        scheme, _, word = authorization.partition(" ")
        if scheme.lower() == "bearer" and (right := self._access.tokens.right_of(word.strip())):
            return right
        rights = [self._sessions.right_of(value) for value in request.list_cookies(COOKIE)]
        return "write" if "write" in rights else "read" if "read" in rights else ""

    def _refused_form(self, request: GuardedRequest, body: bytes | None) -> tuple[int, str] | None:
        """Status and reason where a POST is not from a page of this server."""
        if body is None:
            return (
                413,
                f"a form may have at most {MAX_BODY_BYTES:,} bytes and must arrive within {REQUEST_TIMEOUT_S:g} s.",
            )
        if not request.is_own_form():
            return 403, "the form was sent from another site. Open the page here and send the form again."
        kind = request.one("content-type").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            return 415, f"expected a form (application/x-www-form-urlencoded), got {kind[:60] or 'nothing'}."
        csrf_token = _parse_form(body).get("csrf", "")
        if not is_same(csrf_token, self._access.csrf):
            return 403, "the form is out of date. Reload the page and send the form again."
        return None

    async def _log_in(self, request: GuardedRequest, body: bytes, send: Send) -> None:
        fields, root = _parse_form(body), self._access.base_path
        to = sanitize_redirect(fields.get("next", ""), root)
        right = self._access.tokens.right_of(fields.get("token", ""))
        if not right:
            await asyncio.sleep(LOGIN_DELAY_S)
            await self._send_refusal(request, 401, "wrong token.", send, to)
            return
        cookie = self._build_cookie(request, self._sessions.begin_session(right), int(MAX_SESSION_S))
        await _send_answer(send, 303, b"", {"location": to, "set-cookie": cookie})

    async def _log_out(self, request: GuardedRequest, _: bytes, send: Send) -> None:
        for name in request.list_cookies(COOKIE):
            self._sessions.end(name)
        headers = {"location": f"{self._access.base_path}/", "set-cookie": self._build_cookie(request, "", 0)}
        await _send_answer(send, 303, b"", headers)

    def _build_cookie(self, request: GuardedRequest, value: str, seconds: int) -> str:
        secure = "; Secure" if self._access.is_encrypted(request.scope, request.one("x-forwarded-proto")) else ""
        path = self._access.base_path or "/"
        return f"{COOKIE}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"

    async def _send_refusal(self, request: GuardedRequest, status: int, reason: str, send: Send, to: str = "") -> None:
        login = (to or sanitize_redirect(request.address, self._access.base_path)) if status == 401 else ""
        wants_text = request.path.endswith(".json") or "text/html" not in request.one("accept")
        kind, text = self._refusal(status, reason, login, plain=wants_text)
        more = {"www-authenticate": "Bearer"} if status == 401 and wants_text else {}
        await _send_answer(send, status, text.encode(), {"content-type": kind, **more})


@dataclass(frozen=True)
class GuardedRequest:
    """What a request says of itself; names of headers are in small letters."""

    scope: Scope
    headers: Mapping[str, list[str]]

    @property
    def path(self) -> str:
        """As it was asked for, decoded."""
        path: str = self.scope["path"]
        return path

    @property
    def address(self) -> str:
        """Path and question, as in a link."""
        query_string = _decode_header(self.scope.get("query_string", b""))
        return quote(self.path) + (f"?{query_string}" if query_string else "")

    def one(self, name: str) -> str:
        """A header that stands there once; else ""."""
        values = self.headers.get(name, [])
        return values[0] if len(values) == 1 else ""

    def list_cookies(self, name: str) -> Iterator[str]:
        """The values of a cookie."""
        for header in self.headers.get("cookie", []):
            try:
                cookie = SimpleCookie(header).get(name)
            except CookieError:
                continue
            if cookie is not None:
                yield cookie.value

    def is_own_form(self) -> bool:
        """Whether a page of this server sent it.

        With no-referrer a browser says "null" of its own forms; Sec-Fetch-Site, which no page can set, then tells.
        """
        origin = self.one("origin")
        if origin == "null":
            return self.one("sec-fetch-site") == "same-origin"
        own_origin = f"{self.scope.get('scheme', 'http')}://{self.one('host')}"
        return bool(origin) and origin.casefold() in (own_origin.casefold(), f"https://{self.one('host')}".casefold())


def sanitize_redirect(address: str, root: str) -> str:
    r"""An address of this server, as it is; the first page where it is any other.

    >>> (sanitize_redirect("/runs?q=a", ""), sanitize_redirect("//evil.example", ""),
    ...     sanitize_redirect("https://evil.example", "/p"), sanitize_redirect("/x\r\ny", ""))
    ('/runs?q=a', '/', '/p/', '/')
    """
    is_local = address.startswith(f"{root}/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if is_local and address.isascii() and "\\" not in address else f"{root}/"


def _parse_form(body: bytes) -> dict[str, str]:
    try:
        return {name: values[-1] for name, values in parse_qs(body.decode(), keep_blank_values=True).items()}
    except (UnicodeDecodeError, ValueError):
        return {}


async def _read_body(receive: Receive) -> bytes | None:
    """What was sent; None where it is too long, or not whole in time."""
    body_parts, size = list[bytes](), 0
    with suppress(TimeoutError):
        async with asyncio.timeout(REQUEST_TIMEOUT_S):
            while (message := await receive())["type"] == "http.request":
                body_parts.append(message.get("body", b""))
                size += len(body_parts[-1])
                if size > MAX_BODY_BYTES:
                    return None
                if not message.get("more_body"):
                    return b"".join(body_parts)
    return None


def _replay_body(body: bytes, receive_rest: Receive) -> Receive:
    """A body that was read, to be read once more."""
    waiting = [body]

    async def receive() -> Message:
        return {"type": "http.request", "body": waiting.pop(), "more_body": False} if waiting else await receive_rest()

    return receive


def _add_headers(send: Send, loopback: bool) -> Send:
    """Sends every answer with what a browser may do with it.

    Beyond this machine, where no encryption may be, browsers send no Sec-Fetch-Site; so that they name the origin of
    forms there, they may name this server to itself, and to nobody else.
    """
    referrer = "no-referrer" if loopback else "same-origin"
    fixed = {
        "content-security-policy": CONTENT_SECURITY_POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": referrer,
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
    }

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            header_names = {name.lower() for name, _ in message.get("headers", [])}
            more = fixed if b"cache-control" in header_names else {**fixed, "cache-control": "private, no-cache"}
            message = {
                **message,
                "headers": [
                    *message.get("headers", []),
                    *((name.encode(), value.encode()) for name, value in more.items()),
                ],
            }
        await send(message)

    return send_with_headers


async def _send_answer(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    header_list = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    header_list.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": header_list})
    await send({"type": "http.response.body", "body": body})
