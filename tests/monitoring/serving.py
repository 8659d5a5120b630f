"""The server as it is started: a process of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx

PATIENCE = 200.0  # seconds, of a machine at whatever load; what never comes is told before pytest's own time-out


class Server:
    """A server of its own process on a store, to be killed at any moment."""

    def __init__(self, url: str, *more: str) -> None:
        command = [sys.executable, "-m", "ragauge", "monitor", "serve", "--store", url, "--port", "0", *more]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.told: list[str] = []
        self.address = ""
        assert self.process.stderr is not None
        for said in self.process.stderr:
            self.told.append(said)
            found = re.search(r"OTEL_EXPORTER_OTLP_ENDPOINT=(\S+)", said)
            if found:
                self.address = found[1]
                return
        raise AssertionError("".join(self.told))

    def post(self, sent: dict[str, Any]) -> int:
        """Sends spans; returns the status."""
        return self.send("/v1/traces", json.dumps(sent).encode(), "application/json")

    def send(self, path: str, body: bytes, content_type: str) -> int:
        """Sends a body; returns the status."""
        headers = {"content-type": content_type}
        return httpx.post(self.address + path, content=body, headers=headers, timeout=PATIENCE).status_code

    def end(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        assert self.process.stderr is not None
        self.told += self.process.stderr.readlines()
        self.process.stderr.close()
        return code


def waits(for_: Callable[[], bool], seconds: float = PATIENCE) -> None:
    until = time.monotonic() + seconds
    while not for_():
        assert time.monotonic() < until
        time.sleep(0.1)
