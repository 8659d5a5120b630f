"""Starts the dashboard and says when it can be opened, or writes its pages as files."""

from __future__ import annotations

import re
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ragauge.core.errors import MissingExtra, UsageError
from ragauge.core.messages import plural
from ragauge.dashboard.security import Access, tokens_for
from ragauge.dashboard.site import Site
from ragauge.evaluation.runs.verb import runs
from ragauge.testsets.add.verb import regression_set
from ragauge.verbs.options import ServedOptions, UiOptions
from ragauge.verbs.sources import served_store

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn import Server

GRACE = 2  # seconds that answers which are under way have at the end


def site_of(wanted: ServedOptions, config: Path | None = None) -> Site:
    """What is served, checked before anything listens.

    Args:
        wanted: where and how.
        config: the file with the section monitor; None = ragauge.yaml, where there is one.

    Raises:
        UsageError: a base path that is none, or a host beyond this machine without a token.
        StoreError: the store cannot be opened.
        ConfigError: a mistake in what ragauge.yaml says of the dashboard.
    """
    base = wanted.base_path.rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", base):
        raise UsageError(f"--base-path: expected a path of letters, digits and hyphens, got {base!r}. Write /ragauge.")
    tokens = tokens_for(wanted.token_file, wanted.host)
    exported = isinstance(wanted, UiOptions) and wanted.export is not None
    if exported and (base or tokens):
        raise UsageError("--export writes files, which no address and no token stand before: leave these options out.")
    reads = wanted.read_only or exported
    access = Access(
        wanted.host,
        "",
        tuple(wanted.allowed_host),
        base,
        reads,
        rights=tokens,
        trusted_proxies=tuple(wanted.trusted_proxy),
    )
    store = served_store(wanted.store, read_only=wanted.read_only)
    site = Site(store, access, exported, regression_set(), config)
    runs(limit=1, store=site.store)  # it is made, upgraded and refused here, not under a page
    return site


def serve(wanted: UiOptions, say: Callable[[str], None]) -> None:
    """Serves the dashboard until it is interrupted, or writes it as files.

    Args:
        wanted: where and how.
        say: told where it is, when it is there.

    Raises:
        MissingExtra: the extra `ui` is not installed.
        UsageError: the port is taken, or one of the options is wrong.
        StoreError: the store cannot be opened.
    """
    require("The dashboard", "ui")
    from ragauge.dashboard.app import application

    site = site_of(wanted)
    if wanted.export is not None:
        from ragauge.dashboard.export import export

        files = export(site, application(site), wanted.export, tuple(wanted.run), wanted.limit)
        say(f"wrote {plural(files, 'file')}; begin with {wanted.export / 'index.html'}")
        return

    def announced(address: str) -> None:
        say(f"The dashboard is at {address} (Ctrl-C ends it)")
        if not wanted.no_open:
            open_browser(address)

    listen_and_serve(application(site), site, wanted.port, announced)


def require(feature: str, extra: str) -> None:
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
    """Serves an application until it is interrupted; arguments and errors are those of `listen`."""
    server, listening = listen(app, site, port, announce, leave)
    with suppress(KeyboardInterrupt), listening:
        server.run([listening])


def listen(
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
    listening = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}{site.root}/"

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
        timeout_graceful_shutdown=GRACE,
        http=PatientProtocol,
    )
    return Announced(config), listening


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens at a host and port."""
    found: socket.socket | None = None
    try:
        family, *_, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(where)
    except (OSError, OverflowError) as error:
        if found is not None:
            found.close()
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{host} port {port} cannot be listened at: {why}. Take another port; 0 takes a free one."
        ) from error
    return found


def open_browser(address: str) -> None:
    """Opens the address in the reader's browser, where there is one."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
