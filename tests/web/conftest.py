"""The dashboard over a small store, asked without a network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

import ragauge as rg
from ragauge.dashboard.app import create_app
from ragauge.dashboard.security import Access
from ragauge.dashboard.site import Site

SEEN = "http://127.0.0.1:7471"
SWEEP = "sweep/of hubs.json"  # its name looks like a path, and like a form of a page
EVIL = "\"'`><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}</title>\x1b[31m\u202e../..\r\nX-Evil: 1"
TEXTS = (
    "A hub can be returned within 30 days of delivery. Return shipping is free.",
    "A hub can be paired with 60 devices. Pairing takes two minutes.",
    "The hub comes in grey and in white. The white one costs ten euros more.",
)
ASKED = (
    ("How long can a hub be returned?", "A hub can be returned within 30 days of delivery."),
    ("How many devices can be paired with a hub?", "60 devices can be paired with a hub."),
    ("In which colours does the hub come?", "The hub comes in grey and in white."),
)


def read(page: str) -> str:
    """A page as it is read, without the places where a name may break and what keeps words whole."""
    return unescape(re.sub(r"</?(wbr|span)[^>]*>", "", page))


def rows(wrong: int, evil: str = "") -> list[dict[str, Any]]:
    """Twelve answers about the texts, some of which answer another question, from another passage."""
    found = []
    for n in range(12):
        (query, answer), place = ASKED[n % 3], (n + (n < wrong)) % 3
        found.append(
            {
                "query_id": f"q{n}{evil}",
                "query": f"{query}{evil}",
                "answer": f"{ASKED[place][1]}{evil}",
                "reference_answer": answer,
                "passages": [{"doc_id": f"d{place}{evil}", "text": f"{TEXTS[place]}{evil}"}],
                "relevant": {f"d{n % 3}{evil}": 1},
                "segments": {f"type{evil}": f"hop{evil}" if n % 2 else "lookup"},
                "tags": ["golden"] if n % 4 == 0 else [],
                "latency_ms": 800 + 10 * n,
                "cost": 0.001,
            }
        )
    return found


def answering(wrong: int) -> Callable[[str], dict[str, Any]]:
    """A system that answers another question so often."""
    by_query = {row["query"]: row for row in rows(wrong)}
    return lambda query: {"answer": by_query[query]["answer"], "passages": by_query[query]["passages"]}


@dataclass(frozen=True)
class Stored:
    """A store with three runs, two alike and one whose every text is hostile; a sweep, and a judge that was checked."""

    url: str
    ids: dict[str, str]


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """The store; tests that change it take a copy."""
    url = f"sqlite:///{tmp_path_factory.mktemp('web')}/store.db"
    ids = {}
    for name, wrong, evil in (("good", 1, ""), ("bad", 7, ""), (f"evil {EVIL}", 5, EVIL)):
        card = rg.evaluate(rows(wrong, evil), name=name, store=url)
        ids[name.partition(" ")[0]] = card.run.run_id
    asked = [{key: row[key] for key in ("query_id", "query", "reference_answer", "segments")} for row in rows(0)]
    rg.sweep(
        answering,
        rg.read_set(asked, name="hubs"),
        parameters={"wrong": [0, 6]},
        objective="token_f1",
        name=SWEEP,
        store=url,
    )
    said = ("grey", "supported"), ("blue", "not_in_context")
    labelled = [
        {
            "query": f"Colour of hub {n}?",
            "passages": [TEXTS[2]],
            "answer": f"Hub {n} is {said[n % 2][0]}.",
            "label": said[n % 2][1],
        }
        for n in range(12)
    ]
    rg.check_judge(pl.DataFrame(labelled), store=url)
    return Stored(url, ids)


@pytest.fixture
def opened(stored: Stored) -> Iterator[Callable[..., TestClient]]:
    """Makes a client of the dashboard, as who may ask; the store is the shared one unless another is named."""
    clients: list[TestClient] = []

    def client(store: str = "", base: str = SEEN, **access: Any) -> TestClient:
        app = create_app(Site(store or stored.url, Access(**access)))
        made = TestClient(app, base_url=base, follow_redirects=False)
        clients.append(made)
        return made

    yield client
    for made in clients:
        made.close()


@pytest.fixture
def copied(stored: Stored, tmp_path: Path) -> str:
    """The URL of a copy of the store."""
    import sqlite3

    path = tmp_path / "copy.db"
    with sqlite3.connect(stored.url.removeprefix("sqlite:///")) as source, sqlite3.connect(path) as target:
        source.backup(target)
    source.close()
    target.close()
    return f"sqlite:///{path}"
