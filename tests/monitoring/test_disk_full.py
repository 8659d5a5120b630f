"""The disk is full: 503 before anything acknowledged could be lost, and all goes on when there is room again."""

from __future__ import annotations

import resource
import secrets
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.monitoring.conftest import traces
from tests.monitoring.serving import PATIENCE, Server, waits
from tests.monitoring.test_settling import chain, finder

from ragauge.store.store_access import Store

CONFIG = "monitor: {judge: none, metrics: [latency], sample: {rate: 100%}, wait: {ended: 1s, quiet: 2s}}\n"
ROOM = 64 * 1024  # bytes that a file may grow by once the server has begun


def sent(server: Server) -> tuple[str, httpx.Response]:
    """Sends a trace of some kilobytes; its id and the answer."""
    name = secrets.token_hex(16)
    spans = chain(secrets.token_hex(4_000), trace_id=name), finder(trace_id=name)
    return name, httpx.post(f"{server.address}/v1/traces", json=traces(*spans), timeout=PATIENCE)


@pytest.mark.server
def test_a_full_disk(served: Callable[..., Server], store: Store, tmp_path: Path) -> None:
    """Files that may not grow any more stand for the disk: what is answered with 200 is there, all else is 503.

    The server goes on, says why traces wait, and reads them when there is room again.
    """
    config = tmp_path / "ragauge.yaml"
    config.write_text(CONFIG)
    server, pid = (one := served("--config", str(config))), one.process.pid
    unlimited = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    acknowledged = [sent(server)[0]]
    largest = max(path.stat().st_size for path in tmp_path.iterdir() if path.is_file())
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest + ROOM, unlimited[1]))
    refused = list[str]()
    while len(refused) < 3:
        name, answer = sent(server)
        (acknowledged if answer.status_code == 200 else refused).append(name)
        if answer.status_code != 200:
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
            assert "Nothing from this request was saved" in answer.json()["message"]
        assert len(acknowledged) < 1_000
    assert httpx.get(f"{server.address}/metrics", timeout=PATIENCE).status_code == 200
    resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
    waits(lambda: sent(server)[1].status_code == 200)
    every = dict.fromkeys(acknowledged, "scored")
    waits(lambda: {name: one.outcome for name, one in store.ledger.load_lines(acknowledged).items()} == every)
    assert store.ledger.load_lines(refused) == {}
    assert server.end() == 0
