"""The dashboard from Python: served beside what goes on, as notebooks want it."""

from __future__ import annotations

import queue
import threading
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ragauge.core.errors import RagaugeError
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.options import ServeOptions

if TYPE_CHECKING:
    import socket

    from uvicorn import Server

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
    from ragauge.dashboard.serve import build_site, open_browser, open_server, require_extra

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
