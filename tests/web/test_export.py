"""The dashboard as files: the pages that are served, with links from file to file."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import Stored

import ragauge as rg
from ragauge.core.errors import RagaugeError, UsageError
from ragauge.core.messages import format_metric_value, format_value
from ragauge.dashboard.app import create_app, list_addresses
from ragauge.dashboard.security import Access
from ragauge.dashboard.serve import serve_dashboard
from ragauge.dashboard.site import NoSuchPage, Site
from ragauge.evaluation.overview.verb import compare_with_default
from ragauge.verbs.options import UiOptions

NUMBER = re.compile(r"\d+\.\d+")


@pytest.fixture(scope="module")
def folder(stored: Stored, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs as files, one of them hostile."""
    said: list[str] = []
    found = tmp_path_factory.mktemp("export") / "pages"
    wanted = UiOptions(store=stored.url, export=found, run=tuple(stored.ids.values()), limit=2)
    serve_dashboard(wanted, said.append)
    files = [path for path in found.rglob("*") if path.is_file()]
    assert said == [f"wrote {len(files)} files; open {found / 'index.html'}"]
    return found


def test_every_link_leads_to_a_file(folder: Path) -> None:
    """No link of a file leads to a server or to a file that is not there, and every file is led to."""
    reached = {folder / "index.html"}
    for path in folder.rglob("*.html"):
        for to in re.findall(r' (?:href|src)="([^"]*)"', path.read_text(encoding="utf-8")):
            file = unquote(unescape(to).partition("#")[0])
            assert not file.startswith(("/", "http")), (path, to)
            target = (path.parent / file).resolve() if file else path
            assert target.is_file(), (path, to)
            reached.add(target)
    assert reached >= {path for path in folder.rglob("*") if path.is_file()}


def test_files_hold_what_was_chosen(folder: Path, stored: Stored) -> None:
    """The chosen runs have a report and at most so many examples; trials of a study have none, and there is no form."""
    pages = {path.name for path in (folder / "runs").glob("*.html")}
    assert pages == {f"{run_id}.html" for run_id in stored.ids.values()}
    for name in stored.ids:
        assert len(list((folder / "runs" / stored.ids[name] / "examples").glob("*.html"))) == 2
    for path in folder.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "<form" not in text
        assert "<script>alert" not in text


@pytest.fixture(scope="module")
def client(stored: Stored) -> Iterator[TestClient]:
    """The same pages, served."""
    with TestClient(create_app(Site(stored.url, Access())), base_url="http://localhost") as made:
        yield made


@pytest.mark.parametrize("name", ["good", "bad", "evil"])
def test_every_form_has_equal_numbers(folder: Path, stored: Stored, client: TestClient, name: str) -> None:
    """Every metric of a run has the same numbers in every form.

    The JSON of its page is that of `evaluate --json`, the CSV of runs has the mean to the last digit, and page, file
    and HTML report print it and its interval alike.
    """
    run_id = stored.ids[name]
    card = rg.evaluate(run_id, store=stored.url)
    told = json.loads(card.to_json())["metrics"]
    assert len(told) > 15
    assert client.get(f"/runs/{run_id}.json").json()["metrics"] == told
    (row,) = (row for row in csv.DictReader(io.StringIO(client.get("/runs.csv").text)) if row["run_id"] == run_id)
    forms = [
        compare_with_default(card.run, store=stored.url).shown.to_html(),
        client.get(f"/runs/{run_id}").text,
        (folder / "runs" / f"{run_id}.html").read_text(encoding="utf-8"),
    ]
    rows = [printed(text) for text in forms]
    assert rows[0] == rows[1] == rows[2]
    for summary in card.card.summaries:
        metric, mean = summary.metric, told[summary.metric]["mean"]
        assert row[metric] == ("" if mean is None else str(mean)), metric
        if mean is not None:
            shown = format_metric_value(mean, metric, summary.kind)
            assert shown in rows[0][metric], metric
            if summary.interval is not None:
                assert format_value(summary.interval.low, summary.kind) in rows[0][metric], metric
    report, page = (NUMBER.findall(re.sub(r"<[^>]+>", " ", text.partition("<main")[2])) for text in forms[1:])
    assert report == page
    assert len(page) > 50


def printed(page: str) -> dict[str, str]:
    """Metric -> what the table of a report's scores prints of it."""
    table = page.partition('<section aria-labelledby="scores">')[2].partition("</section>")[0]
    table = re.sub(r"<svg.*?</svg>|<wbr>", "", table, flags=re.DOTALL)
    rows = re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
    plain = (re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", row))).strip() for row in rows)
    return {row.partition(" ")[0]: row for row in plain}


def test_files_stand_behind_no_address(stored: Stored, tmp_path: Path) -> None:
    """A base path or a token says nothing about files, so they are refused beside --export."""
    with pytest.raises(UsageError, match="--export"):
        serve_dashboard(UiOptions(store=stored.url, export=tmp_path, base_path="/p"), print)


def test_one_dead_page_costs_no_other(stored: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that ends in a fault, and one that is refused, are named when all the others are written."""

    def faulty(*_: object) -> None:
        raise ZeroDivisionError

    def refused(*_: object) -> None:
        raise NoSuchPage("nothing here")

    dead = {"/judges": faulty, "/glossary": refused}
    monkeypatch.setattr(
        "ragauge.dashboard.app.list_addresses",
        lambda: [replace(one, page=dead.get(one.path, one.page)) for one in list_addresses()],
    )
    with pytest.raises(RagaugeError, match="2 pages could not be written") as told:
        serve_dashboard(UiOptions(store=stored.url, export=tmp_path, run=(stored.ids["good"],), limit=1), print)
    assert "/judges answered 500" in str(told.value)
    assert "/glossary answered 404" in str(told.value)
    assert (tmp_path / "runs" / f"{stored.ids['good']}.html").is_file()
    assert (tmp_path / "history.html").is_file()


def test_failed_calls_are_defined(client: TestClient) -> None:
    """The row of comparisons that counts failed calls has the page that its link leads to."""
    page = client.get("/glossary/system_failed")
    assert page.status_code == 200
    assert "Whether the system gave an error instead of a response" in page.text
