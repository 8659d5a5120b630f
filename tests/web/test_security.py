"""Who is let in: every refusal of the guard, and what every answer tells a browser."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from starlette.testclient import TestClient

import ragauge as rg
from ragauge.core.errors import StoreError, UsageError
from ragauge.dashboard import patience, security
from ragauge.dashboard.rights import (
    IDLE_S,
    MAX_SESSION_S,
    AccessTokens,
    Sessions,
    is_loopback,
    read_required_tokens,
    read_tokens,
)
from ragauge.dashboard.security import CONTENT_SECURITY_POLICY, COOKIE, Access, Guard, sanitize_redirect
from ragauge.dashboard.serve import build_site
from ragauge.verbs.options import UiOptions

Opened = Callable[..., TestClient]
TOKEN = "a-word-of-some-length"  # noqa: S105 - known to nobody but these tests
ANYWHERE = "0.0.0.0"  # noqa: S104 - nothing listens


def form(client: TestClient, path: str = "/login", origin: str | None = "http://127.0.0.1:7471", **fields: str) -> int:
    """The status of a form that was sent."""
    headers = {} if origin is None else {"origin": origin}
    return client.post(path, data=fields, headers=headers).status_code


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:7471", "", "[::", "10.0.0.7"])
def test_foreign_hosts_are_refused(opened: Opened, host: str) -> None:
    """A name that leads here without being known, as in DNS rebinding, gets no page, and learns of no run."""
    answer = opened().get("/runs", headers={"host": host})
    assert answer.status_code == 421
    assert "good" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:1", "LOCALHOST", "[::1]:7471", "ragauge.example:443"])
def test_known_hosts_are_let_in(opened: Opened, host: str) -> None:
    """This machine's own names and those that were allowed are let in, with any port."""
    assert opened(allowed=("ragauge.example",)).get("/runs", headers={"host": host}).status_code == 200


def test_every_answer_binds_the_browser(opened: Opened) -> None:
    """Pages, files, refusals and errors carry the policy, and none lets another site read."""
    client = opened()
    for path in ("/runs", "/runs.json", "/runs/none", "/nothing", "/static/x/ui.css", "/static/x/none", "/favicon.ico"):
        headers = client.get(path, headers={"origin": "https://evil.example"}).headers
        assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY, path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert not [name for name in headers if name.startswith("access-control")]
    assert (
        client.get("/runs", headers={"host": "evil.example"}).headers["content-security-policy"]
        == CONTENT_SECURITY_POLICY
    )


@pytest.mark.parametrize(
    "origin", [None, "null", "https://evil.example", "http://127.0.0.1:7472", "http://localhost:7471"]
)
def test_forms_of_other_sites_are_refused(opened: Opened, origin: str | None) -> None:
    """A POST from another origin, or from none, is refused even with the right token."""
    access = Access(token=TOKEN)
    client = opened(token=TOKEN, csrf=access.csrf)
    assert form(client, origin=origin, csrf=access.csrf, token=TOKEN) == 403


def test_forms_need_what_only_this_server_knows(opened: Opened) -> None:
    """A POST without the CSRF token, with a wrong one, or as another type is refused; the right one is taken."""
    client = opened(token=TOKEN, csrf="known")
    assert form(client, token=TOKEN) == 403
    assert form(client, token=TOKEN, csrf="other") == 403
    own = {"origin": "http://127.0.0.1:7471"}
    assert client.post("/login", json={"csrf": "known"}, headers=own).status_code == 415
    assert client.post("/login", content=b"x" * 1_100_000, headers=own).status_code == 413
    assert form(client, token=TOKEN, csrf="known") == 303


def test_own_forms_under_no_referrer_are_taken(opened: Opened) -> None:
    """Browsers say that the origin of our own forms is null; where they add that it is the same, it is taken."""
    client = opened(token=TOKEN, csrf="known")
    fields = {"token": TOKEN, "csrf": "known"}
    for site, status in (("same-origin", 303), ("cross-site", 403), ("same-site", 403), ("none", 403)):
        headers = {"origin": "null", "sec-fetch-site": site}
        assert client.post("/login", data=fields, headers=headers).status_code == status


def test_a_token_is_asked_for(opened: Opened) -> None:
    """Without the token every page is a log-in; with it as a bearer, or with the log-in's cookie, it is shown."""
    client = opened(token=TOKEN, csrf="known")
    page = client.get("/runs?sort=name", headers={"accept": "text/html"})
    assert page.status_code == 401
    assert 'name="next" value="/runs?sort=name"' in page.text
    assert "good" not in page.text
    assert client.get("/openapi.json").status_code == client.get("/runs.json").status_code == 401
    for given in ("Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN):
        assert client.get("/runs", headers={"authorization": given}).status_code == 401, given
    assert client.get("/runs", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    own = {"origin": "http://127.0.0.1:7471"}
    wrong = client.post("/login", data={"token": "no", "csrf": "known"}, headers=own)
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (401, False)
    done = client.post("/login", data={"token": TOKEN, "csrf": "known", "next": "/runs?sort=name"}, headers=own)
    assert (done.status_code, done.headers["location"]) == (303, "/runs?sort=name")
    cookie = done.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    assert client.get("/runs").status_code == 200
    client.cookies.set(COOKIE, "0" * 64)
    client.cookies.clear()
    assert client.get("/runs", headers={"cookie": f"{COOKIE}={'0' * 64}"}).status_code == 401


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", ""])
def test_a_log_in_leads_nowhere_else(opened: Opened, to: str) -> None:
    """After the log-in a reader stays on this server, whatever the address asked for."""
    client = opened(token=TOKEN, csrf="known")
    done = client.post(
        "/login", data={"token": TOKEN, "csrf": "known", "next": to}, headers={"origin": "http://127.0.0.1:7471"}
    )
    assert done.headers["location"] == "/" == sanitize_redirect(to, "")


def test_nothing_but_reading_and_forms(opened: Opened) -> None:
    """Other methods are refused, and every POST where the server only reads."""
    client = opened(csrf="known", read_only=True)
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert client.request(method, "/runs").status_code == 405
    assert form(client, "/runs/good/tags", csrf="known") == 403


@pytest.mark.parametrize(
    "path",
    [
        "/static/x/../../app.py",
        "/static/x/..%2F..%2Fapp.py",
        "/static/%2e%2e/security.py",
        "/../../etc/passwd",
        "/runs/..%2f..%2fetc%2fpasswd",
    ],
)
def test_paths_do_not_climb(opened: Opened, path: str) -> None:
    """No path leads to a file beside those that pages load."""
    answer = opened().get(path)
    assert answer.status_code == 404
    assert "import" not in answer.text


def test_pages_live_below_the_base_path(opened: Opened) -> None:
    """Behind a proxy every page stands below the base path, and all its links lead there."""
    client = opened(base_path="/p")
    page = client.get("/p/runs")
    assert page.status_code == 200
    assert 'href="/p/runs/' in page.text
    assert 'href="/runs' not in page.text
    assert client.get("/runs").status_code == client.get("/pruns").status_code == 404


def test_other_machines_need_a_token(tmp_path: Path) -> None:
    """A host beyond this machine is refused without a token, and with one that is short; this machine needs none."""
    file = tmp_path / "token"
    for host in (ANYWHERE, "::", "10.0.0.7", "box.example"):
        with pytest.raises(UsageError, match="--token-file"):
            read_required_tokens(None, host)
    assert is_loopback("127.0.0.2")
    assert not read_required_tokens(None, "127.0.0.1")
    for short in ("", "fifteen-letters", "with blanks in it, and long"):
        file.write_text(short)
        with pytest.raises(UsageError, match="at least 16"):
            read_required_tokens(file, ANYWHERE)
    file.write_text(f"{TOKEN}\n")
    assert read_required_tokens(file, ANYWHERE) == AccessTokens(TOKEN)
    with pytest.raises(UsageError, match="cannot be read"):
        read_required_tokens(tmp_path / "none", "127.0.0.1")
    assert TOKEN not in repr(Access(token=TOKEN))


def test_options_are_checked_before_listening(tmp_path: Path) -> None:
    """A base path that is none and a store that is to be read but not there are refused."""
    url = f"sqlite:///{tmp_path}/store.db"
    for base in ("ragauge", "/a b", "/../x", "//evil", "/a?b"):
        with pytest.raises(UsageError, match="base-path"):
            build_site(UiOptions(store=url, base_path=base))
    with pytest.raises(StoreError, match="no store to read"):
        build_site(UiOptions(store=url, read_only=True))
    assert not (tmp_path / "store.db").exists()
    assert build_site(UiOptions(store=url, base_path="/p/")).root == "/p"
    assert build_site(UiOptions(store=url, read_only=True)).store == f"sqlite+read:///{tmp_path}/store.db"


RIGHTS = AccessTokens(read="r" * 20, write="w" * 20, ingest="i" * 20)


def test_three_tokens_have_three_rights(opened: Opened) -> None:
    """The reading token shows pages and changes nothing, the writing one does both, the sending one neither."""
    client, own = opened(rights=RIGHTS, csrf="known"), {"origin": "http://127.0.0.1:7471"}
    for token, page, change in (("r", 200, 403), ("w", 200, 404), ("i", 401, 401), ("x", 401, 401)):
        headers = {"authorization": f"Bearer {token * 20}", **own}
        assert client.get("/runs", headers=headers).status_code == page
        sent = client.post("/runs/none/tags", data={"csrf": "known", "tag": "a"}, headers=headers)
        assert sent.status_code == change, token
    assert not RIGHTS.may_send("r" * 20) | RIGHTS.may_send("w" * 20)
    assert RIGHTS.may_send("i" * 20) & AccessTokens(TOKEN).may_send(TOKEN)
    assert "rrrr" not in repr(Access(rights=RIGHTS))


def test_a_file_names_rights(tmp_path: Path) -> None:
    """Lines name who may what; one token alone has every right; a mistake says what is expected."""
    file = tmp_path / "tokens"
    file.write_text(f"read: {'r' * 20}\nwrite: {'w' * 20}\ningest: {'i' * 20}\n")
    assert read_tokens(file) == RIGHTS
    file.write_text(TOKEN)
    assert (read_tokens(file).right_of(TOKEN), read_tokens(file).may_send(TOKEN)) == ("write", True)
    for wrong, why in (
        ("read: short", "at least 16"),
        (f"read: {'r' * 20}\n{TOKEN}", "expected lines"),
        (f"read: {'r' * 20}\nwrite: {'r' * 20}", "one token"),
    ):
        file.write_text(wrong)
        with pytest.raises(UsageError, match=why):
            read_tokens(file)


def test_sessions_end() -> None:
    """A session ends after an hour without use, twelve hours after its log-in however it is used, and by log-out."""
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    idle, busy, left = (sessions.begin_session("read") for _ in range(3))
    sessions.end(left)
    assert [sessions.right_of(one) for one in (idle, busy, left, "")] == ["read", "read", "", ""]
    for _ in range(int(MAX_SESSION_S // (IDLE_S / 2)) - 1):
        now[0] += IDLE_S / 2
        assert sessions.right_of(busy) == "read"
    assert sessions.right_of(idle) == ""
    now[0] += IDLE_S / 2
    assert sessions.right_of(busy) == ""


def test_a_log_out_ends_the_session(opened: Opened) -> None:
    """After the log-out the cookie that was given is worth nothing, also where the browser kept it."""
    client, own = opened(token=TOKEN, csrf="known"), {"origin": "http://127.0.0.1:7471"}
    client.post("/login", data={"token": TOKEN, "csrf": "known"}, headers=own)
    given = client.cookies[COOKIE]
    assert "Log out" in client.get("/runs").text
    assert client.post("/logout", data={"csrf": "other"}, headers=own).status_code == 403
    assert client.post("/logout", data={"csrf": "known"}, headers=own).status_code == 303
    client.cookies.clear()
    assert client.get("/runs", headers={"cookie": f"{COOKIE}={given}"}).status_code == 401
    assert "Log out" not in opened().get("/runs").text


@pytest.mark.parametrize(
    ("trusted", "forwarded", "secure"),
    [
        (("testclient",), "https", True),
        (("testclient",), "http", False),
        (("10.0.0.1",), "https", False),
        ((), "https", False),
    ],
)
def test_the_cookie_is_secure_behind_tls(
    opened: Opened, trusted: tuple[str, ...], forwarded: str, secure: bool
) -> None:
    """A proxy that is trusted says that the reader came by TLS; whoever else says so is not believed."""
    client = opened(token=TOKEN, csrf="known", trusted_proxies=trusted)
    headers = {"origin": "http://127.0.0.1:7471", "x-forwarded-proto": forwarded}
    done = client.post("/login", data={"token": TOKEN, "csrf": "known"}, headers=headers)
    assert ("; Secure" in done.headers["set-cookie"]) == secure


def test_probes_need_no_token_and_show_nothing(opened: Opened) -> None:
    """/livez and /readyz answer whoever asks, by whatever name, with a word; a store that fails is not ready."""
    client = opened(token=TOKEN, base_path="/p")
    for path in ("/livez", "/readyz", "/p/livez", "/p/readyz"):
        answer = client.get(path, headers={"host": "10.1.2.3"})
        assert (answer.status_code, answer.text) == (200, "ok"), path
    broken = TestClient(Guard(client.app, Access(), lambda *_, **__: ("", ""), lambda: "the disk is gone"))
    assert (broken.get("/readyz").status_code, broken.get("/readyz").text) == (503, "not ready")
    assert broken.get("/livez").status_code == 200


def test_a_body_that_drips_is_closed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However steadily its bytes come: a form is answered after its time, and nothing more of it is read."""
    for module in (patience, security):
        monkeypatch.setattr(module, "REQUEST_TIMEOUT_S", 0.4)
    with rg.ui(store=f"sqlite:///{tmp_path}/store.db", port=0, no_open=True) as served:
        where = urlsplit(served.url)
        with socket.create_connection((where.hostname, where.port), timeout=20) as connection:
            connection.sendall(f"POST /login HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Length: 999\r\n\r\n".encode())
            heard, drops = b"", 0
            with suppress(ConnectionError):
                while drops < 900:
                    connection.sendall(b"a")
                    drops += 1
                    if select.select([connection], [], [], 0.02)[0]:
                        if not (part := connection.recv(4096)):
                            break
                        heard += part
        assert heard.startswith(b"HTTP/1.1 413")
        assert drops < 100  # of 18 seconds two


def test_half_a_request_is_closed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A connection that sends nothing, half a head or half a form is closed after its time; a whole one is answered."""
    for module in (patience, security):
        monkeypatch.setattr(module, "REQUEST_TIMEOUT_S", 0.4)
    with rg.ui(store=f"sqlite:///{tmp_path}/store.db", port=0, no_open=True) as served:
        where = urlsplit(served.url)
        head = f"Host: {where.netloc}\r\n"
        form = f"POST /login HTTP/1.1\r\n{head}Content-Length: 9\r\n\r\ncsrf"
        for sent in ("", "GET /livez HT", f"GET /livez HTTP/1.1\r\n{head}", form):
            with socket.create_connection((where.hostname, where.port), timeout=20) as connection:
                connection.sendall(sent.encode())
                heard = b"".join(iter(lambda: connection.recv(4096), b""))
            assert heard[:12] == (b"HTTP/1.1 413" if sent == form else b""), sent
        assert urlopen(f"{served.url}livez").read() == b"ok"  # noqa: S310 - this server
