"""The dashboard from Python: served beside what goes on, until it is closed."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from tests.web.conftest import Stored

import ragauge as rg

pytestmark = pytest.mark.server


def test_it_serves_until_it_is_closed(stored: Stored) -> None:
    """When `ui` returns the address answers with the store's runs, the process goes on; after `close` nobody does."""
    with rg.ui(store=stored.url, port=0, no_open=True, base_path="/p") as dashboard:
        with urlopen(f"{dashboard.url}runs") as answer:  # noqa: S310 - this machine
            assert "good" in answer.read().decode()
        assert rg.open_run("good", store=stored.url).run.name == "good"  # as notebooks do meanwhile
        assert f'<a href="{dashboard.url}"' in dashboard._repr_html_()
        assert "<iframe" not in dashboard._repr_html_()
        with pytest.raises(rg.UsageError, match="0 chooses a free one"):
            rg.ui(store=stored.url, port=int(dashboard.url.split(":")[2].split("/")[0]), no_open=True)
    with pytest.raises(URLError):
        urlopen(dashboard.url)  # noqa: S310 - this machine
    dashboard.close()
    assert "closed" in repr(dashboard)
    assert "href" not in dashboard._repr_html_()


def test_what_cannot_be_served_is_refused(tmp_path: Path) -> None:
    """Beyond this machine a token is needed, and nothing listens before it is there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(rg.UsageError, match="token"):
        rg.ui(store=f"sqlite:///{tmp_path}/s.db", host="0.0.0.0", port=port, no_open=True)  # noqa: S104 - refused
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 1):
        pass
