"""What stands before every page: who may ask, from where, and what a browser may do with the answer.

A page on the web can let a name of its own lead to this machine (DNS rebinding) and so read what is served here: each
request must name a host that is known. It can also send forms here: each POST must come from a page of this server, and
bring the token that only those pages hold. Who reaches the server from another machine must know its access token.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qs, quote, urlsplit

from ragauge.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST_TOKEN = 16             # characters
MOST_BODY = 1 << 20          # bytes of a form
LOGIN_DELAY = 0.5            # seconds that a wrong token waits for its answer
COOKIE = "ragauge_session"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SAFE = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)


def read_token(path: Path | None, host: str) -> str:
    """The token in a file; "" where none is needed.

    Raises:
        UsageError: a host beyond this machine without a token, a file that cannot be read, or too short a token.
    """
    if path is None:
        if not is_loopback(host):
            raise UsageError(
                f"--host {host} lets other machines in, which needs a token. Write one of at least {LEAST_TOKEN} "
                "characters into a file, and name it with --token-file."
            )
        return ""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--token-file {path} cannot be read: {error}. Name a text file with the token.") from error
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"--token-file {path}: expected a token of at least {LEAST_TOKEN} letters, digits and signs, without "
            f"blanks, got {len(token)} characters. Make one with: python -c 'import secrets; "
            "print(secrets.token_urlsafe())'"
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("::1")
    (True, True, False, True)
    """
    address = _address(host)
    return host.casefold() == "localhost" if address is None else address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


@dataclass(frozen=True)
class Access:
    """Who may ask.

    Attributes:
        host: that the server listens at.
        token: that readers log in with; "" = anyone on this machine may read.
        allowed: further names of the server.
        base_path: what every path begins with; "" = nothing.
        read_only: no POST is taken.
        csrf: what a form of this server brings back.
    """

    host: str = LOOPBACK[0]
    token: str = field(default="", repr=False)
    allowed: Sequence[str] = ()
    base_path: str = ""
    read_only: bool = False
    csrf: str = field(default_factory=secrets.token_urlsafe, repr=False)

    @property
    def session(self) -> str:
        """What the cookie of who logged in holds: it follows from the token, which it does not give away."""
        return hmac.new(self.token.encode(), b"ragauge ui session", hashlib.sha256).hexdigest()

    def knows_host(self, named: str) -> bool:
        """Whether a request's Host names this server.

        A name may lead anywhere, so it must be known. An address leads nowhere else; it is let in where the server
        listens at every address of the machine.
        """
        try:
            host = (urlsplit(f"//{named}").hostname or "").casefold()
        except ValueError:
            return False
        known = {name.casefold().strip("[]") for name in (*self.allowed, self.host)}
        known |= set(LOOPBACK)
        at = _address(self.host)
        anywhere = at is not None and at.is_unspecified
        return host in known or (anywhere and _address(host) is not None)


class Refusal(Protocol):
    """Makes what a refusal shows."""

    def __call__(self, status: int, why: str, login: str, *, plain: bool) -> tuple[str, str]:
        """Content type and body; `login` is the address that a log-in leads on to, "" where it is not about that."""


def _text(value: bytes) -> str:
    return value.decode("latin-1")


class Guard:
    """Lets in what may come in, and says with every answer what a browser may do with it.

    Args:
        app: what answers.
        access: who may ask.
        refusal: makes what a refusal shows.
    """

    def __init__(self, app: ASGIApp, access: Access, refusal: Refusal) -> None:
        self._app, self._access, self._refusal = app, access, refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(_text(name).lower(), []).append(_text(value))
        reply = _with_headers(send, is_loopback(self._access.host))
        asked = GuardedRequest(scope, headers)
        if (refused := self._refused(asked)) is not None:
            await self._say(asked, *refused, reply)
            return
        inner = dict(scope, path=asked.path.removeprefix(self._access.base_path) or "/")
        if scope["method"] not in SAFE:
            body = await _body(receive)
            if (refused := self._refused_form(asked, body)) is not None:
                await self._say(asked, *refused, reply)
                return
            if inner["path"] == "/login":
                await self._log_in(asked, body or b"", reply)
                return
            receive = _again(body or b"", receive)
        await self._app(inner, receive, reply)

    def _refused(self, asked: GuardedRequest) -> tuple[int, str] | None:
        """Status and reason where a request is not let in whatever it holds."""
        hosts = asked.headers.get("host", [])
        if len(hosts) != 1 or not self._access.knows_host(hosts[0]):
            got = ", ".join(hosts)[:80] or "none"
            return 421, f"the request names the host {got}, which is not known here. Allow it with --allowed-host NAME."
        base = self._access.base_path
        if base and asked.path != base and not asked.path.startswith(f"{base}/"):
            return 404, f"no such page. Every address begins with {base}/."
        method = asked.scope["method"]
        if method not in (*SAFE, "POST"):
            return 405, f"{method} is not taken here; pages are read with GET and changed with POST."
        if self._access.token and not self._knows(asked) and not self._is_open(asked):
            return 401, "the token is needed. Give it here, or as the header Authorization: Bearer TOKEN."
        if method == "POST" and self._access.read_only and not asked.path.endswith("/login"):
            return 403, "this server was started with --read-only: nothing can be changed here."
        return None

    def _is_open(self, asked: GuardedRequest) -> bool:
        """Whether who is not logged in may see it: the log-in, and what its page looks like."""
        path = asked.path.removeprefix(self._access.base_path)
        return path == "/login" or path.startswith("/static/")

    def _knows(self, asked: GuardedRequest) -> bool:
        """Whether the token came along, or the cookie of who gave it before; both compared in constant time."""
        given = next(iter(asked.headers.get("authorization", [])), "")
        scheme, _, word = given.partition(" ")
        if scheme.lower() == "bearer" and _same(word.strip(), self._access.token):
            return True
        return any(_same(value, self._access.session) for value in asked.cookies(COOKIE))

    def _refused_form(self, asked: GuardedRequest, body: bytes | None) -> tuple[int, str] | None:
        """Status and reason where a POST is not from a page of this server."""
        if body is None:
            return 413, f"a form holds at most {MOST_BODY:,} bytes."
        if not asked.is_own_form():
            return 403, "the form was sent from another site. Open the page here, and send it from there."
        kind = asked.one("content-type").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            return 415, f"expected a form (application/x-www-form-urlencoded), got {kind[:60] or 'nothing'}."
        given = _fields(body).get("csrf", "")
        if not _same(given, self._access.csrf):
            return 403, "the form is not of this page as it is served now. Load the page again, and send it then."
        return None

    async def _log_in(self, asked: GuardedRequest, body: bytes, send: Send) -> None:
        fields, root = _fields(body), self._access.base_path
        to = local(fields.get("next", ""), root)
        if not self._access.token or not _same(fields.get("token", ""), self._access.token):
            await asyncio.sleep(LOGIN_DELAY)
            await self._say(asked, 401, "that is not the token.", send, to)
            return
        secure = "; Secure" if asked.scope.get("scheme") == "https" else ""
        cookie = f"{COOKIE}={self._access.session}; Path={root or '/'}; HttpOnly; SameSite=Strict{secure}"
        await _answer(send, 303, b"", {"location": to, "set-cookie": cookie})

    async def _say(self, asked: GuardedRequest, status: int, why: str, send: Send, to: str = "") -> None:
        login = (to or local(asked.address, self._access.base_path)) if status == 401 else ""
        plain = asked.path.endswith(".json") or "text/html" not in asked.one("accept")
        kind, text = self._refusal(status, why, login, plain=plain)
        more = {"www-authenticate": "Bearer"} if status == 401 and plain else {}
        await _answer(send, status, text.encode(), {"content-type": kind, **more})


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
        asked = _text(self.scope.get("query_string", b""))
        return quote(self.path) + (f"?{asked}" if asked else "")

    def one(self, name: str) -> str:
        """A header that stands there once; else ""."""
        found = self.headers.get(name, [])
        return found[0] if len(found) == 1 else ""

    def cookies(self, name: str) -> Iterator[str]:
        """The values of a cookie."""
        for header in self.headers.get("cookie", []):
            try:
                found = SimpleCookie(header).get(name)
            except CookieError:
                continue
            if found is not None:
                yield found.value

    def is_own_form(self) -> bool:
        """Whether a page of this server sent it.

        With no-referrer a browser says "null" of its own forms; Sec-Fetch-Site, which no page can set, then tells.
        """
        origin = self.one("origin")
        if origin == "null":
            return self.one("sec-fetch-site") == "same-origin"
        own = f"{self.scope.get('scheme', 'http')}://{self.one('host')}"
        return bool(origin) and origin.casefold() in (own.casefold(), f"https://{self.one('host')}".casefold())


def local(address: str, root: str) -> str:
    r"""An address of this server, as it is; the first page where it is any other.

    >>> local("/runs?q=a", ""), local("//evil.example", ""), local("https://evil.example", "/p"), local("/x\r\ny", "")
    ('/runs?q=a', '/', '/p/', '/')
    """
    plain = address.startswith(f"{root}/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if plain and address.isascii() and "\\" not in address else f"{root}/"


def _same(given: str, known: str) -> bool:
    return bool(known) and hmac.compare_digest(given.encode(), known.encode())


def _fields(body: bytes) -> dict[str, str]:
    try:
        return {name: values[-1] for name, values in parse_qs(body.decode(), keep_blank_values=True).items()}
    except (UnicodeDecodeError, ValueError):
        return {}


async def _body(receive: Receive) -> bytes | None:
    """What was sent; None where it is too long."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BODY:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


def _again(body: bytes, rest: Receive) -> Receive:
    """A body that was read, to be read once more."""
    waiting = [body]

    async def receive() -> Message:
        return {"type": "http.request", "body": waiting.pop(), "more_body": False} if waiting else await rest()

    return receive


def _with_headers(send: Send, loopback: bool) -> Send:
    """Sends every answer with what a browser may do with it.

    Beyond this machine, where no encryption may be, browsers send no Sec-Fetch-Site; so that they name the origin of
    forms there, they may name this server to itself, and to nobody else.
    """
    referrer = "no-referrer" if loopback else "same-origin"
    fixed = {
        "content-security-policy": POLICY, "x-content-type-options": "nosniff", "referrer-policy": referrer,
        "cross-origin-resource-policy": "same-origin", "cross-origin-opener-policy": "same-origin",
    }     # fmt: skip

    async def sends(message: Message) -> None:
        if message["type"] == "http.response.start":
            named = {name.lower() for name, _ in message.get("headers", [])}
            more = fixed if b"cache-control" in named else {**fixed, "cache-control": "private, no-cache"}
            message = {**message, "headers": [
                *message.get("headers", []), *((name.encode(), value.encode()) for name, value in more.items()),
            ]}     # fmt: skip
        await send(message)

    return sends


async def _answer(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    listed = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    listed.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})
