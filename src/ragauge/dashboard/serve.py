"""Starts the dashboard, from the command line or from Python, or writes its pages as files."""

from __future__ import annotations

import queue
import re
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from html import escape
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ragauge.core.errors import MissingExtra, RagaugeError, UsageError
from ragauge.core.messages import format_count
from ragauge.dashboard.rights import read_required_tokens
from ragauge.dashboard.security import Access
from ragauge.dashboard.site import Site
from ragauge.evaluation.runs.verb import runs
from ragauge.testsets.add.verb import find_regression_set
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.options import ServeOptions, UiOptions
from ragauge.verbs.sources import resolve_served_url

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn import Server


SHUTDOWN_GRACE_S = 2  # seconds that answers which are under way have at the end


def build_site(options: ServeOptions, config: Path | None = None) -> Site:
    """What is served, checked before anything listens.

    Args:
        options: where and how.
        config: the file with the section monitor; None = ragauge.yaml, where there is one.

    Raises:
        UsageError: a base path that is none, or a host beyond this machine without a token.
        StoreError: the store cannot be opened.
        ConfigError: a mistake in what ragauge.yaml says of the dashboard.
    """
    base = options.base_path.rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", base):
        raise UsageError(f"--base-path: expected a path of letters, digits and hyphens, got {base!r}. Write /ragauge.")
    tokens = read_required_tokens(options.token_file, options.host)
    exported = isinstance(options, UiOptions) and options.export is not None
    if exported and (base or tokens):
        raise UsageError("--export writes files and needs no address or token: remove these options.")
    reads = options.read_only or exported
    access = Access(
        options.host,
        "",
        tuple(options.allowed_host),
        base,
        reads,
        rights=tokens,
        trusted_proxies=tuple(options.trusted_proxy),
    )
    store = resolve_served_url(options.store, read_only=options.read_only)
    site = Site(store, access, exported, find_regression_set(), config)
    runs(limit=1, store=site.store)  # it is made, upgraded and refused here, not under a page
    return site


def serve_dashboard(options: UiOptions, say: Callable[[str], None]) -> None:
    """Serves the dashboard until it is interrupted, or writes it as files.

    Args:
        options: where and how.
        say: told where it is, when it is there.

    Raises:
        MissingExtra: the extra `ui` is not installed.
        UsageError: the port is taken, or one of the options is wrong.
        StoreError: the store cannot be opened.
    """
    require_extra("The dashboard", "ui")
    from ragauge.dashboard.app import create_app

    site = build_site(options)
    if options.export is not None:
        from ragauge.dashboard.export import export_pages

        files = export_pages(site, create_app(site), options.export, tuple(options.run), options.limit)
        say(f"wrote {format_count(files, 'file')}; open {options.export / 'index.html'}")
        return

    def announce(address: str) -> None:
        say(f"The dashboard is at {address} (press Ctrl-C to stop)")
        if not options.no_open:
            open_browser(address)

    listen_and_serve(create_app(site), site, options.port, announce)


def require_extra(feature: str, extra: str) -> None:
    """Names the extra that is needed where a package of the dashboard is missing.

    Raises:
        MissingExtra: one is.
    """
    try:
        import fastapi  # noqa: F401 - named here where it is missing
        import python_multipart  # noqa: F401 - which reads forms
        import uvicorn  # noqa: F401 - named here where it is missing
    except ImportError as error:
        raise MissingExtra(feature, error.name or "fastapi", extra) from None


def listen_and_serve(
    app: ASGIApp,
    site: Site,
    port: int,
    announce: Callable[[str], None],
    leave: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Serves an application until it is interrupted; arguments and errors are those of `open_server`."""
    server, listening = open_server(app, site, port, announce, leave)
    with suppress(KeyboardInterrupt), listening:
        server.run([listening])


def open_server(
    app: ASGIApp,
    site: Site,
    port: int,
    announce: Callable[[str], None],
    leave: Callable[[], Awaitable[None]] | None = None,
) -> tuple[Server, socket.socket]:
    """A server that is ready to run, and the socket that it listens at.

    Args:
        app: what answers, the dashboard in it.
        site: what the dashboard shows.
        port: 0 takes a free one.
        announce: told the address, when it can be opened.
        leave: awaited at the end, when every request is answered.

    Raises:
        UsageError: the port is taken.
    """
    import uvicorn

    from ragauge.dashboard.patient_protocol import PatientProtocol

    host = site.access.host
    listening = _open_socket(host, port)
    shown_host = f"[{host}]" if ":" in host else host
    address = f"http://{shown_host}:{listening.getsockname()[1]}{site.root}/"

    class Announced(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            announce(address)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await super().shutdown(sockets)
            if leave is not None:
                await leave()

    config = uvicorn.Config(  # no access log: an address may hold what was searched for
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_S,
        http=PatientProtocol,
    )
    return Announced(config), listening


def _open_socket(host: str, port: int) -> socket.socket:
    """A socket that listens at a host and port."""
    listening_socket: socket.socket | None = None
    try:
        family, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening_socket = socket.socket(family, socket.SOCK_STREAM)
        listening_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening_socket.bind(where)
    except (OSError, OverflowError) as error:
        if listening_socket is not None:
            listening_socket.close()
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"cannot listen on {host} port {port}: {reason}. Choose another port; 0 chooses a free one."
        ) from error
    return listening_socket


def open_browser(address: str) -> None:
    """Opens the address in the reader's browser, where there is one."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


START_TIMEOUT_S = 60  # seconds within which a server that has its port answers


class Dashboard:
    """A dashboard that this process serves. A notebook shows a link to it; used as a context manager, it closes itself.

    Attributes:
        url: where its first page is.
    """

    def __init__(self, url: str, server: Server, thread: threading.Thread) -> None:
        self.url = url
        self._server, self._thread = server, thread

    def close(self) -> None:
        """Ends it, once what is being answered is answered; a second time does nothing."""
        self._server.should_exit = True
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<dashboard at {self.url}{'' if self._thread.is_alive() else ', closed'}>"

    def _repr_html_(self) -> str:
        """A notebook's view: a link, which leads to a page of its own."""
        if not self._thread.is_alive():
            return f"<p>The dashboard at {escape(self.url)} is closed.</p>"
        to = escape(self.url, quote=True)
        return f'<p>The dashboard is at <a href="{to}" target="_blank" rel="noopener noreferrer">{to}</a></p>'


@expand_options(ServeOptions)
def ui(options: ServeOptions) -> Dashboard:
    """Serves the dashboard from this process, as `ragauge ui` does; returns when it can be opened.

    Options:
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        host: where to listen; beyond this machine a token is needed.
        port: of the address; 0 takes a free one.
        token_file: a file with the token that readers log in with.
        allowed_host: names that the server is reached by.
        trusted_proxy: addresses of proxies whose X-Forwarded-Proto counts.
        base_path: what every address begins with, behind a proxy.
        read_only: open the store for reading, and take no change.
        no_open: open no browser.

    Returns:
        A handle with the address, `url`, and `close()`.

    Raises:
        MissingExtra: the extra `ui` is not installed.
        UsageError: the port is taken, or one of the options is wrong.
        StoreError: the store cannot be opened.
    """
    require_extra("The dashboard", "ui")
    from ragauge.dashboard.app import create_app

    ready: queue.SimpleQueue[str] = queue.SimpleQueue()
    site = build_site(options)
    server, listening = open_server(create_app(site), site, options.port, ready.put)
    thread = threading.Thread(target=_run_server, args=(server, listening), name="ragauge-ui", daemon=True)
    thread.start()
    try:
        dashboard = Dashboard(ready.get(timeout=START_TIMEOUT_S), server, thread)
    except queue.Empty:
        server.should_exit = True
        raise RagaugeError(
            f"The dashboard did not start in {START_TIMEOUT_S} s. Try `ragauge ui` in a terminal."
        ) from None
    if not options.no_open:
        open_browser(dashboard.url)
    return dashboard


def _run_server(server: Server, listening: socket.socket) -> None:
    with listening:
        server.run([listening])
