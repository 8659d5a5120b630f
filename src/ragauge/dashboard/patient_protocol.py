"""Closes connections on which no request comes to its end; loaded where the server is, since it needs its library."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ragauge.dashboard import patience


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[valid-type, misc]
    """The server's protocol of HTTP, which closes a connection on which a request is not whole after its time."""

    _waiting: asyncio.TimerHandle | None = None
    _lingering: asyncio.TimerHandle | None = None
    _began: float | None = None  # when the request began that comes in

    def connection_made(self, transport: Any) -> None:
        """Begins to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Waits on, unless the request is being answered."""
        self._began = self._began or self.loop.time()
        super().data_received(data)
        answering = self.cycle is not None and not self.cycle.response_complete
        if answering:
            self._stop()
        elif self._waiting is None:
            self._wait()

    def on_response_complete(self) -> None:
        """Reads on for a while where the request was answered before it was whole."""
        cycle, left = self.cycle, (self._began or 0.0) + patience.PATIENCE - self.loop.time()
        self._began = None
        super().on_response_complete()
        if cycle is not None and cycle.more_body:  # it was answered before it was whole
            self._lingering = self.loop.call_later(max(0.0, min(patience.LINGERING, left)), self._close_half, cycle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for nothing more."""
        self._stop()
        if self._lingering is not None:
            self._lingering.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(patience.PATIENCE, self._close)

    def _stop(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _close(self) -> None:
        self._waiting = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def _close_half(self, cycle: Any) -> None:
        if cycle.more_body:
            self.transport.close()
