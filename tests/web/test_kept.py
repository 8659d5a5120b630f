"""What pages keep from one reader to the next: few statements, and nothing that is no longer so."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine, event
from starlette.testclient import TestClient
from tests.web.conftest import Stored
from tests.web.test_label import ORIGIN, forms

import ragauge as rg
from ragauge.engine import people
from ragauge.store import sqlite

Opened = Callable[..., TestClient]
MOST_STATEMENTS = 27
PAGES = (
    "/",
    "/runs",
    "/runs?sort=faithfulness",
    "/runs/{bad}",
    "/runs/{bad}?baseline=good",
    "/runs/{bad}/examples",
    "/runs/{bad}/examples?status=failed&sort=quality&segment.type=hop&metric.mrr.lt=0.9&page=1",
    "/runs/{bad}/examples?sort=faithfulness",
    "/runs/{bad}/examples/q1",
    "/runs/{bad}/examples/q1?status=failed",
    "/compare?base={good}&new={bad}",
    "/history",
    "/sets",
    "{set}",
    "/glossary",
    "/glossary/mrr",
)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that are executed on connections made from now on, those below SQLAlchemy too."""
    statements: list[str] = []

    def executed(statement: str) -> None:
        if not statement.startswith(("BEGIN", "PRAGMA", "ROLLBACK", "COMMIT")):
            statements.append(statement)

    def connected(connection: Any, _: object) -> None:
        connection.set_trace_callback(executed)

    made = sqlite.build_engine

    def engine_of(url: str, access: sqlite.Access, wait: float = 1.0) -> Engine:
        engine = made(url, access, wait)
        event.listen(engine, "connect", connected)
        return engine

    monkeypatch.setattr(sqlite, "build_engine", engine_of)
    return statements


@pytest.mark.parametrize("path", PAGES)
def test_a_page_takes_few_statements(opened: Opened, stored: Stored, counted: list[str], path: str) -> None:
    """A page that was opened before is read in at most 27 statements."""
    client = opened()
    over = rg.open_run("bad", store=stored.url).run
    path = path.format(**stored.ids, set=f"/sets/{over.set_name}/{over.set_version}")
    client.get(path)  # verdicts and means that nobody asked for before are computed, and kept
    first = client.get(path)
    counted.clear()
    again = client.get(path)
    assert again.status_code == 200
    told = [re.sub(r"\d\d:\d\d:\d\d", "", one.text) for one in (first, again)]  # a line to copy says when
    assert told[1] == told[0].replace(csrf(first.text), csrf(again.text))
    assert 0 < len(counted) <= MOST_STATEMENTS, "\n".join(counted)


@pytest.mark.parametrize("path", ["/label", "/label?draw={draw}&annotator=ann", "/label/agreement?draw={draw}"])
def test_pages_of_labels_take_few_statements(
    opened: Opened, copied: str, counted: list[str], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Twenty draws are listed in at most 25 statements, and texts are read of those that are shown alone."""
    draws = [rg.label_draw(which, n=1, store=copied).draw for which in ("bad", "good") for _ in range(10)]
    client, path = opened(copied), path.format(draw=draws[0])
    form = forms(client.get(f"/label?draw={draws[0]}&annotator=ann").text)[0]
    client.post("/label", data={**form, "value": "supported"}, headers=ORIGIN)
    monkeypatch.setattr(people, "BATCH_SIZE_RESPONSES", 2)  # a run is read in so many parts as a large one
    first = client.get(path)
    counted.clear()
    again = client.get(path)
    assert again.text.replace(csrf(again.text), "") == first.text.replace(csrf(first.text), "")
    assert 0 < len(counted) <= MOST_STATEMENTS, "\n".join(counted)
    texts = [one for one in counted if "FROM texts" in one]
    assert len(texts) == (path != "/label")


def csrf(text: str) -> str:
    """What a page's forms carry; a text that stands nowhere where it has none."""
    return text.partition('name="csrf" value="')[2].partition('"')[0] or "\0"


@pytest.mark.parametrize("path", ["/runs/{bad}", "/compare?base={good}&new={bad}"])
def test_a_kept_page_is_that_of_the_store_as_it_is(opened: Opened, stored: Stored, copied: str, path: str) -> None:
    """After a run was scored again a page that was kept shows it, as a server does that has kept nothing."""
    client, path = opened(copied), path.format(**stored.ids)
    assert "hit@3" not in client.get(path).text
    rg.evaluate("bad", metrics="hit@3", store=copied)
    rg.evaluate("good", metrics="hit@3", store=copied)
    kept, new = client.get(path).text, opened(copied).get(path).text
    assert "hit@3" in kept
    assert kept.replace(csrf(kept), "") == new.replace(csrf(new), "")


def test_a_store_that_is_another_is_read_anew(opened: Opened, stored: Stored, copied: str) -> None:
    """Where another file takes the place of the store, pages show what is in that one."""
    import shutil
    from pathlib import Path

    place, client = Path(copied.removeprefix("sqlite:///")), opened(copied)
    aside = place.with_name("aside.db")
    shutil.copy(place, aside)
    rg.open_run("good", store=f"sqlite:///{aside}").delete()
    assert f"/runs/{stored.ids['good']}" in client.get("/runs").text
    for end in ("-wal", "-shm"):
        place.with_name(f"{place.name}{end}").unlink(missing_ok=True)
    aside.replace(place)
    assert f"/runs/{stored.ids['good']}" not in client.get("/runs").text
