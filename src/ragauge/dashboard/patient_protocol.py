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
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Waits on, unless the request is being answered."""
        self._began = self._began or self.loop.time()
        super().data_received(data)
        answering = self.cycle is not None and not self.cycle.response_complete
        if answering:
            self._stop_timer()
        elif self._waiting is None:
            self._start_timer()

    def on_response_complete(self) -> None:
        """Reads on for a while where the request was answered before it was whole."""
        cycle, remaining_s = self.cycle, (self._began or 0.0) + patience.REQUEST_TIMEOUT_S - self.loop.time()
        self._began = None
        super().on_response_complete()
        if cycle is not None and cycle.more_body:  # it was answered before it was whole
            self._lingering = self.loop.call_later(
                max(0.0, min(patience.LINGER_S, remaining_s)), self._close_half, cycle
            )

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for nothing more."""
        self._stop_timer()
        if self._lingering is not None:
            self._lingering.cancel()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._waiting = self.loop.call_later(patience.REQUEST_TIMEOUT_S, self._close_idle)

    def _stop_timer(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _close_idle(self) -> None:
        self._waiting = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def _close_half(self, cycle: Any) -> None:
        if cycle.more_body:
            self.transport.close()
