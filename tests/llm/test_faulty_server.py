"""The server that fails on purpose leaves nothing behind itself."""

from __future__ import annotations

import contextlib
import gc
import socket
import warnings
from typing import Any

import pytest
from tests.loopback.server import FAULTS, FaultyServer, spoiled

ASKED = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}"


@pytest.mark.server
def test_no_connection_is_left_open_when_it_ends() -> None:
    """Connections that are being accepted, read, answered or kept hanging are closed when the server ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for round_ in range(60):
            clients = []
            with FaultyServer(faults={"hang": 0.5, "drip": 0.5}, seed=round_) as server:
                for place in range(1 + round_ % 8):
                    client = socket.create_connection(("127.0.0.1", server.port))
                    clients.append(client)
                    if place % 3 == 1:
                        client.sendall(ASKED[:20])
                    elif place % 3 == 2:
                        client.sendall(ASKED)
                clients.pop().close()
            for client in clients:
                _read_to_the_end(client)
        gc.collect()  # what was left open would warn now


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("whole", [{"claims": ["a", "b"], "aspects": []}, {"better": "first"}])
def test_an_answer_without_numbers_can_be_spoiled_too(fault: str, whole: dict[str, Any]) -> None:
    """Every fault can be met by every question: lists of texts and single words are spoiled where they can be."""
    assert spoiled(whole, fault).keys() == whole.keys()


def _read_to_the_end(client: socket.socket) -> None:
    """Returns once the other end has closed or reset the connection; a connection that stays open is a time-out."""
    client.settimeout(5)
    with client, contextlib.suppress(ConnectionError):
        while client.recv(1_000):
            pass
