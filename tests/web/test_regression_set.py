"""Examples are added to the regression set from a page, as `testset add` adds them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import EVIL, SEEN, Stored, read

import ragauge as rg
from ragauge.core.errors import ConfigError
from ragauge.dashboard.app import create_app
from ragauge.dashboard.security import Access
from ragauge.dashboard.serve import build_site
from ragauge.dashboard.site import Site

Opened = Callable[..., TestClient]
ORIGIN = {"origin": SEEN}


@pytest.fixture
def client(copied: str, tmp_path: Path) -> Iterator[TestClient]:
    """The dashboard of a project that names a regression set."""
    site = Site(copied, Access(csrf="known"), regression_set=str(tmp_path / "regression.jsonl"))
    with TestClient(create_app(site), base_url=SEEN, follow_redirects=False) as made:
        yield made


def lines(folder: Path) -> list[dict[str, Any]]:
    """The regression set without what differs by the time."""
    path = folder / "regression.jsonl"
    found = [json.loads(one) for one in path.read_text().splitlines()] if path.exists() else []
    for one in found:
        one["meta"].pop("at", None)
    return found


def add(client: TestClient, run: str = "bad", **fields: Any) -> Any:
    """Sends the form."""
    return client.post(f"/runs/{run}/regression", data={"csrf": "known", **fields}, headers=ORIGIN)


def test_ticked_examples_are_added_as_the_command_adds_them(client: TestClient, copied: str, tmp_path: Path) -> None:
    """The lines are those of `testset add RUN ID… --tag regression`, and the list that led here says how many."""
    page = client.get("/runs/bad/examples?status=failed&sort=quality").text
    ids = [unquote(unescape(one)) for one in re.findall(r'type="checkbox" name="id" value="([^"]*)"', page)][:2]
    asked = unescape(re.findall(r'name="list" value="([^"]*)"', page)[0])
    answer = add(client, id=ids, list=asked)
    assert answer.status_code == 303
    shown = client.get(answer.headers["location"]).text
    assert "2 examples added to" in shown
    assert "added=" not in re.sub(r"<form.*?</form>", "", shown, flags=re.DOTALL)
    mine = lines(tmp_path)
    (tmp_path / "regression.jsonl").unlink()
    rg.add_examples("bad", ids=ids, to=tmp_path / "regression.jsonl", tag="regression", store=copied)
    assert mine == lines(tmp_path)
    assert all("regression" in one["tags"] for one in mine)


def test_twice_is_once_and_said_so(client: TestClient, tmp_path: Path) -> None:
    """An example that the set has is not added again: list and example say that it is there."""
    page = client.get("/runs/bad/examples/q1?status=failed").text
    assert ">Add to " in page
    first = add(client, id="q1", repeat="0", list="status=failed")
    assert first.headers["location"].startswith("/runs/")
    assert "status=failed" in first.headers["location"]
    shown = client.get(first.headers["location"]).text
    assert "1 example added to" in shown
    assert "already contains this question, as <code>q1</code>" in shown
    assert ">Add to " not in shown
    again = client.get(add(client, id=["q1"]).headers["location"]).text
    assert "Nothing added to" in again
    assert "1 example was already in it" in again
    both = client.get(add(client, id=["q1", "q2"]).headers["location"]).text
    assert "1 example added to" in both
    assert [one["query_id"] for one in lines(tmp_path)] == ["q1", "q2"]


def test_without_a_set_the_line_is_shown(opened: Opened, copied: str, tmp_path: Path) -> None:
    """No form, but the very line that the command would add; a form that is sent all the same adds nothing."""
    client = opened(copied, csrf="known")
    page = client.get("/runs/bad/examples/q1").text
    assert "/regression" not in page
    assert 'type="checkbox"' not in client.get("/runs/bad/examples").text
    line = json.loads(unescape(re.findall(r'<pre class="small">(\{.*?\})</pre>', page, re.DOTALL)[0]))
    line["meta"].pop("at", None)
    rg.add_examples("bad", ids=["q1"], to=tmp_path / "regression.jsonl", tag="regression", store=copied)
    assert [line] == lines(tmp_path)
    answer = add(client, id="q1")
    assert answer.status_code == 400
    assert "regression_set" in read(answer.text)


def test_what_cannot_be_added_is_refused(client: TestClient, tmp_path: Path) -> None:
    """Nothing ticked, another id, a made-up list, a set that is none, no token: nothing is written, and why."""
    for fields, status in (({}, 400), ({"id": "none"}, 400), ({"id": EVIL}, 400), ({"id": "q1", "csrf": "x"}, 403)):
        assert add(client, **fields).status_code == status, fields
    assert lines(tmp_path) == []
    assert add(client, id="q1", list="//evil.example/?a=b\r\nX: 1").headers["location"].startswith("/runs/")
    (tmp_path / "regression.jsonl").write_text("{broken\n")
    assert add(client, id="q2").status_code >= 400
    assert (tmp_path / "regression.jsonl").read_text() == "{broken\n"
    page = client.get("/runs/bad/examples/q2")
    assert page.status_code == 200
    assert 'class="warning"' in page.text
    assert client.get("/runs/bad/examples?added=x").status_code == 400


def test_hostile_example_is_added_as_it_is(client: TestClient, stored: Stored, tmp_path: Path) -> None:
    """A hostile id and question go into the file as they are, and onto the page as text."""
    run = stored.ids["evil"]
    page = client.get(f"/runs/{run}/examples").text
    one = unescape(re.findall(r'type="checkbox" name="id" value="([^"]*)"', page)[0])
    answer = add(client, run, id=[one], repeat="0")
    assert answer.status_code == 303
    shown = client.get(answer.headers["location"])
    assert shown.status_code == 200
    assert "<script>alert" not in shown.text
    assert [found["query_id"] for found in lines(tmp_path)] == [unquote(one)]
    assert EVIL in unquote(one)


def test_ragauge_yaml_names_the_set(copied: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dashboard takes the set from `ui` of ragauge.yaml here; a mistake there ends it, one in the gate does not."""
    monkeypatch.chdir(tmp_path)
    from ragauge.verbs.options import UiOptions

    wanted, config = UiOptions(store=copied, no_open=True), tmp_path / "ragauge.yaml"
    assert build_site(wanted).regression_set == ""
    config.write_text("ui: {regression_set: eval/regression.jsonl}\ngate: {ruels: []}\n")
    assert build_site(wanted).regression_set == "eval/regression.jsonl"
    for text, said in (
        ("ui: {regresion_set: a.jsonl}", "nearest: regression_set"),
        ("ui: {regression_set: a.csv}", "a file that ends in .jsonl"),
        ("ui: {regression_set: ''}", "expected"),
    ):
        config.write_text(text)
        with pytest.raises(ConfigError, match=said):
            build_site(wanted)
