"""Pages of test sets: what the store knows of them, as the commands on files say it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import Stored, rows

import ragauge as rg
from ragauge.core.example import EvalSet, Example
from ragauge.store.store_access import open_store

Opened = Callable[..., TestClient]


def examples(n: int, changed: str = "") -> tuple[Example, ...]:
    """Questions, half of them with a reference, the first one changed."""
    return tuple(
        Example(f"q{i}", f"What is {i}{changed if i == 0 else ''}?", references=("one",) if i % 2 else ())
        for i in range(n)
    )


def kept(url: str, *held: EvalSet) -> None:
    """Adds sets to a store."""
    with open_store(url) as store:
        for one in held:
            store.sets.add(one)


def test_a_set_says_what_it_can_show(opened: Opened, stored: Stored) -> None:
    """The page of a set counts its labels, lists its runs, and detects what `testset stats` does by the newest run."""
    client, run = opened(), rg.open_run("bad", store=stored.url).run
    address = f"/sets/{run.set_name}/{run.set_version}"
    value = client.get(f"{address}.json").json()
    asked = rows(7)
    assert value["counts"]["labels"] == {"references": 12, "relevant": 12}
    assert value["counts"]["segments"] == {"type": {"lookup": 6, "hop": 6}}
    assert value["counts"]["tags"] == {"golden": 3}
    assert [one["run_id"] for one in value["runs"]] == [stored.ids["bad"], stored.ids["good"]]
    assert [one["query"] for one in value["examples"]] == [one["query"] for one in asked]
    stats = rg.set_stats(asked, run="bad", store=stored.url).to_dict()
    assert value["reach"]["changes"] == stats["reach"]["changes"]
    text = client.get(address).text
    levels = [int(level) for level in re.findall(r"<h(\d)", text)]
    assert all(after <= before + 1 for before, after in zip([0, *levels], levels, strict=False)), levels
    assert f'href="/runs/{stored.ids["bad"]}/examples/q3"' in text
    assert f'href="{address}"' in client.get("/runs").text
    assert f'href="{address}"' in client.get("/runs/bad").text


def test_examples_of_a_set_come_a_page_at_a_time(opened: Opened, copied: str) -> None:
    """Pages follow each other to the last example; the table has all; a page beyond the last is refused."""
    held = EvalSet("long", examples(120))
    kept(copied, held)
    client, address = opened(copied), f"/sets/long/{held.version}"
    to: str | None = address
    seen: list[str] = []
    while to:
        text = client.get(to).text
        seen += re.findall(r">(q\d+)<", text)
        found = re.search(r'rel="next" href="([^"]+)"', text)
        to = unescape(found[1]) if found else None
    assert seen == [one.query_id for one in held]
    table = list(csv.DictReader(io.StringIO(client.get(f"{address}.csv").text)))
    assert [row["query"] for row in table] == [one.query for one in held]
    assert client.get(f"{address}?page=4").status_code == client.get(f"{address}?page=x").status_code == 400


def test_versions_differ_as_files_do(opened: Opened, copied: str, tmp_path: Path) -> None:
    """Two stored versions differ by what `testset diff` finds between their files."""
    old, new = EvalSet("held", examples(6)), EvalSet("held", examples(8, " now")[1:] + examples(1, " now"))
    kept(copied, old, new)
    for name, one in (("old", old), ("new", new)):
        lines = [json.dumps({"query_id": e.query_id, "query": e.query, "references": list(e.references)}) for e in one]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    wanted = rg.diff_sets(tmp_path / "old.jsonl", tmp_path / "new.jsonl").to_dict()
    client, address = opened(copied), "/sets/held/diff"
    value = client.get(f"{address}.json").json()
    for key in ("added", "removed", "changed", "same"):
        assert value[key] == wanted[key]
    assert (len(value["added"]), len(value["changed"])) == (2, 1)
    asked = f"?old={old.version}&new={new.version}"
    assert client.get(f"{address}.json{asked}").json() == value
    table = list(csv.DictReader(io.StringIO(client.get(f"{address}.csv{asked}").text)))
    assert [(row["query_id"], row["what"]) for row in table] == [("q6", "added"), ("q7", "added"), ("q0", "query")]
    assert client.get(address + asked.replace("&", "&amp;")).status_code == 400
    assert f'href="{address}{asked.replace("&", "&amp;")}"' in client.get(f"/sets/held/{new.version}").text
    assert client.get(f"{address}?new={old.version}").status_code == 400


@pytest.mark.parametrize("name", ["..", "", "a/b", "a/diff", "é <b>\n% 2", "x.json"])
def test_any_name_of_a_set_has_an_address(opened: Opened, tmp_path: Path, name: str) -> None:
    """Whatever a set is called, the list leads to its page, and that to its own."""
    url = f"sqlite:///{tmp_path}/names.db"
    held = EvalSet(name, examples(3))
    kept(url, held)
    client = opened(url)
    (address,) = {unescape(to) for to in re.findall(r'href="([^"]+)"', client.get("/sets").text) if held.version in to}
    assert client.get(f"{address}.json").json()["name"] == name
    assert client.get(address).status_code == 200


@pytest.mark.parametrize(("path", "said"), [("/sets/tabel/x", "nearest: table"), ("/sets/table/x", "Known")])
def test_a_set_that_is_not_there_names_the_nearest(opened: Opened, path: str, said: str) -> None:
    """An unknown set or version is 404, as a page and as JSON, with what there is."""
    client = opened()
    page, plain = client.get(path), client.get(f"{path}.json")
    assert (page.status_code, plain.status_code) == (404, 404)
    assert said in unescape(page.text)
    assert said in plain.json()["error"]
