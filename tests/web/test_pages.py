"""What pages show: the same as every other output, with links that lead somewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urljoin

import jsonschema
import pytest
from starlette.testclient import TestClient
from tests.web.conftest import Stored, rows

import ragauge as rg
from ragauge.comparison.tables.words import describe_against_baseline

Opened = Callable[..., TestClient]


def links(text: str) -> set[str]:
    """Where a page leads, the parts of itself aside."""
    return {unescape(to) for to in re.findall(r'href="([^"]+)"', text) if not to.startswith("#")}


def test_an_empty_store_says_how_to_begin(opened: Opened, tmp_path: Path) -> None:
    """Where there is no run yet the page gives the commands that make one."""
    text = opened(f"sqlite:///{tmp_path}/new.db").get("/runs").text
    assert "ragauge evaluate" in text
    assert "ragauge demo" in text


def kind(address: str, run_ids: Collection[str]) -> tuple[str, ...]:
    """What an address has in common with others like it: its page, its run, and the kinds of keys that it asks by."""
    path, _, question = address.partition("?")
    of = next((run_id for run_id in run_ids if run_id in path), "")
    path = re.sub("/(examples|sets)/.+/([^/]+)$", r"/\1/*/\2", re.sub("/examples/.+", "/examples/*", path))
    page = re.sub(r"/(runs|glossary|static|studies|judges)/.+?(?=/examples|$)", r"/\1/*", path)
    return page, of, *sorted({key.partition(".")[0] for key, _ in parse_qsl(question)})


def test_every_link_leads_to_a_page(opened: Opened, stored: Stored) -> None:
    """A link of each kind, followed from the first page on, is answered: those of a hostile run included.

    Links are of one kind that lead to the same page of the same run and ask by the same kinds of keys.
    """
    client, seen, todo = opened(), set[tuple[str, ...]](), ["/"]
    while todo:
        address = todo.pop()
        mine = kind(address, stored.ids.values())
        if mine in seen:
            continue
        seen.add(mine)
        answer = client.get(address)
        assert answer.status_code == 200, (address, re.findall(r'role="alert">([^<]+)', answer.text))
        if answer.headers["content-type"].startswith("text/html"):
            todo += sorted({urljoin(address, to) for to in links(answer.text)})
    pages = {page for page, *_ in seen}
    assert pages >= {
        "/",
        "/runs",
        "/history",
        "/sets",
        "/sets/*/diff",
        "/glossary",
        "/glossary/*",
        "/studies",
        "/studies/*",
        "/judges",
        "/judges/*",
    }
    for run_id in stored.ids.values():
        assert {page for page, of, *_ in seen if of == run_id} >= {"/runs/*", "/runs/*/examples", "/runs/*/examples/*"}


def test_data_never_becomes_markup(opened: Opened, stored: Stored) -> None:
    """No hostile text of a run, a parameter or a path stands in a page as markup, or in a header."""
    client = opened()
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    evil = f"/runs/{stored.ids['evil']}"
    for path in (evil, "/runs", f"/runs/{hostile}", f"/runs?sort={hostile}", f"/runs?{hostile}=1"):
        answer = client.get(path)
        assert "<script>alert" not in answer.text, path
        assert "<img" not in answer.text
        shown = re.sub(r' value="[^"]*"', "", answer.text)  # a form sends back what it was given
        assert not set(shown) & {"\x1b", "\u202e"}, path
        assert "x-evil" not in answer.headers


def test_a_run_is_its_report(opened: Opened, stored: Stored) -> None:
    """The page of a run, by id or name, has the report's numbers, and its JSON is that of `report --json`."""
    card = rg.open_run("bad", store=stored.url).scorecard(baseline="good")
    client = opened()
    value = client.get("/runs/bad.json?baseline=good").json()
    assert value == json.loads(card.to_json())
    page, report = client.get("/runs/bad?baseline=good").text, card.to_html()
    for name in ("scores", "todo", "changes", "segments"):
        told = [re.sub(r"<[^>]+>", " ", part) for part in (_section(page, name), _section(report, name))]
        numbers = [re.findall(r"\d+\.\d+", part) for part in told]
        assert numbers[0]
        assert numbers[0] == numbers[1], name
    assert unescape(page).count(describe_against_baseline(card.card)) == 1  # as the answer to whether it is worse


def _section(page: str, name: str) -> str:
    """A section of a page, without the lists behind marks, which a served page has pages for."""
    text = page.partition(f'<section aria-labelledby="{name}">')[2].partition("</section>")[0]
    return text.partition('<div class="behind"')[0]


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/runs/goood", 404, "nearest: good"),
        ("/runs/good?jugde=x", 400, "nearest: judge"),
        ("/runs/good?judge=locl", 400, "judge"),
        ("/runs/good?baseline=goood", 400, "nearest: good"),
        ("/runs?sotr=name", 400, "nearest: sort"),
        ("/runs?sort=nmae", 400, "nearest: name"),
        ("/runs?sort=name&sort=newest", 400, "twice"),
        ("/rums", 404, "such page"),
    ],
)
def test_what_is_not_there_names_the_nearest(opened: Opened, path: str, status: int, said: str) -> None:
    """An unknown run is 404, an unknown key or value 400, as a page and as JSON; each names what was meant."""
    client = opened()
    page = client.get(path)
    assert page.status_code == status
    assert said in unescape(page.text)
    start, sign, asked = path.partition("?")
    answer = client.get(f"{start}.json{sign}{asked}")
    assert (answer.status_code, answer.json()["status"]) == (status, status)
    assert said in answer.json()["error"]


def test_a_run_says_what_changed_since_the_one_before(opened: Opened, copied: str) -> None:
    """Every setting that differs from the run before over the set is named with both values; without one, none is."""
    client = opened(copied)
    lines = rows(3)
    for name, config in (("first", {"k": 5, "model": "a"}), ("second", {"k": 8, "rerank": True})):
        rg.evaluate(lines, name=name, store=copied, config=config, metrics=["recall@5"])
    row = rg.log(store=copied, limit=1).history.rows[0]
    assert {(one.path, one.how) for one in row.changed} == {("k", "changed"), ("model", "removed"), ("rerank", "added")}
    page = client.get("/runs/second").text.partition('id="since">')[2].partition("</section>")[0]
    assert row.before is not None
    assert f'href="/runs/{row.before.run_id}"' in page
    told = [re.findall(r">([^<>]+)</", line) for line in re.findall(r'<tr><th scope="row".*?</tr>', page)]
    assert sorted(told) == [["k", "5", "8"], ["model", "a", "–"], ["rerank", "–", "true"]]
    assert 'id="since"' not in client.get("/runs/good").text


def test_a_run_without_scores_says_what_to_do(opened: Opened, copied: str) -> None:
    """The page of a run that nobody evaluated shows what is known of it, and the command."""
    made = rg.run(lambda query: "An answer.", rg.read_set([{"query": "Why?"}], name="new"), name="raw", store=copied)
    page = opened(copied).get(f"/runs/{made.run.run_id}")
    assert page.status_code == 200
    assert f'href="/label?run={made.run.run_id}"' in page.text
    assert "ragauge evaluate raw" in page.text


def test_segments_of_a_comparison_lead_to_examples(opened: Opened, copied: str) -> None:
    """Each segment of a comparison leads to its examples in the run that it is about, the list that lost most too."""
    rg.evaluate(rows(9), name="worst", store=copied)
    ids = {row.name: row.run_id for row in rg.runs(store=copied)}
    client = opened(copied)
    page = client.get("/compare?base=good&new=bad&new=worst").text
    for name in ("bad", "worst"):
        address = f"/runs/{ids[name]}/examples?segment.type="
        assert f'href="{address}hop&amp;sort=quality"' in page
        assert f'href="{address}lookup&amp;sort=quality"' in page
        assert f'href="/runs/{ids[name]}/examples/q' in page
        assert client.get(f"{address}hop").status_code == 200


def test_json_is_as_its_schema_says(opened: Opened) -> None:
    """Each schema that /openapi.json names is served, and what the page's JSON holds is valid by it."""
    client, seen = opened(), {}
    for path, about in client.get("/openapi.json").json()["paths"].items():
        schema = about["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        if "$ref" in schema:
            seen[path] = client.get(urljoin("/openapi.json", schema["$ref"])).json()
    asked = {
        "/runs/{run}.json": "/runs/bad.json?baseline=good",
        "/compare.json": "/compare.json?base=good&new=bad",
        "/runs/{run}/examples/{query_id}.json": "/runs/bad/examples/q1.json",
    }
    assert set(seen) == set(asked)
    for path, address in asked.items():
        jsonschema.validate(client.get(address).json(), seen[path])
    assert client.get("/schemas/ragauge.json").status_code == 404


def test_a_base_is_a_baseline_first_and_never_the_new_run(opened: Opened, copied: str) -> None:
    """base= takes a baseline's name, as in every other place; the run itself as base and new is refused in words."""
    rg.set_baseline("bad", name="main", store=copied)
    client = opened(copied)
    assert client.get("/compare.json?base=main&new=good").json()["base"]["name"] == "bad"
    for base in ("bad", "main"):
        answer = client.get(f"/compare?base={base}&new=bad")
        assert (answer.status_code, "and new are the same run, bad" in answer.text) == (400, True)
