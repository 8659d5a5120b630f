"""Closes connections on which no request comes to its end."""

from __future__ import annotations

import asyncio
from typing import Any

PATIENCE = 30.0     # seconds that the head of a request, or what a form sends, may take to arrive


def patient_protocol() -> type[asyncio.Protocol]:
    """The server's protocol of HTTP, which closes a connection that has sent half a head, or nothing, for too long."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class PatientProtocol(AutoHTTPProtocol):     # type: ignore[valid-type, misc]
        _waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            answering = self.cycle is not None and not self.cycle.response_complete
            if answering:
                self._stop()
            elif self._waiting is None:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _wait(self) -> None:
            self._waiting = asyncio.get_running_loop().call_later(PATIENCE, self._close)

        def _stop(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _close(self) -> None:
            self._waiting = None
            if self.cycle is None or self.cycle.response_complete:
                self.transport.close()

    return PatientProtocol
