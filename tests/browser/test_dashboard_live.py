"""What moves on a page while it is open: labels that are given, and a run in flight."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page
from tests.browser.test_dashboard import opened
from tests.browser.test_report_accessible import axe
from tests.conftest import Demonstrated

import ragauge as rg
from ragauge.core.label import Label
from ragauge.store.store_access import open_store

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Served:
    """A store that may change, and where it is served."""

    store: str
    address: str

    def labels(self, annotator: str) -> list[Label]:
        """What somebody said."""
        with open_store(self.store) as found:
            return [one for one in found.labels.list() if one.annotator == annotator]


@pytest.fixture(scope="module")
def served(demonstrated: Demonstrated, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A copy of the demo's store, served by the command."""
    path = tmp_path_factory.mktemp("live") / "store.db"
    with (
        closing(sqlite3.connect(demonstrated.store.removeprefix("sqlite:///"))) as source,
        closing(sqlite3.connect(path)) as target,
    ):
        source.backup(target)
    store = f"sqlite:///{path}"
    command = [sys.executable, "-m", "ragauge", "ui", "--port", "0", "--no-open", "--store", store]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found is not None
        yield Served(store, found[0].rstrip("/"))
        server.terminate()


def shown_labels(page: Page) -> int:
    """How many labels the page says there are."""
    return int(page.inner_text("[data-labelled]").replace(",", ""))


def test_labels_by_keys_and_by_clicks(browser: Browser, served: Served) -> None:
    """Three sentences by keys, three by clicks: each label is kept at once, and the page goes on by itself."""
    number = rg.label_draw("good", n=8, store=served.store).draw
    with opened(browser, served.address) as (page, wrong):
        for who, press in (("keys", True), ("clicks", False)):
            page.goto(f"{served.address}/label?draw={number}&annotator={who}")
            for n in range(3):
                part = page.locator("form.part:not(:has([aria-pressed=true]))").first
                part.wait_for()  # of the next answer, where this one is done
                if press:
                    page.keyboard.press("2")
                else:
                    part.locator("button").nth(1).click()
                page.locator(f"[data-labelled]:text-is('{n + 1}')").wait_for()
                assert len(served.labels(who)) == n + 1
            assert {one.value for one in served.labels(who)} == {"contradicted"}
        assert wrong == []


def test_labels_without_script(browser: Browser, served: Served) -> None:
    """Without script each click keeps one label and leads to the next part; nothing else of the page is needed."""
    number = rg.label_draw("good", n=8, store=served.store).draw
    with opened(browser, served.address, script=False) as (page, wrong):
        page.goto(f"{served.address}/label?draw={number}")
        page.fill("#annotator", "<b>plain</b>")
        page.click("button:text-is('Begin')")
        for n in range(3):
            page.locator("form.part:not(:has([aria-pressed=true]))").first.locator("button").first.click()
            assert shown_labels(page) == n + 1
        assert len(served.labels("<b>plain</b>")) == 3
        assert wrong == []


def test_a_label_that_is_not_kept_is_said(browser: Browser, served: Served) -> None:
    """Where the server refuses, the part says so and is not labelled; the same again does."""
    number = rg.label_draw("good", n=8, store=served.store).draw
    with opened(browser, served.address) as (page, _):
        page.goto(f"{served.address}/label?draw={number}&annotator=lost")
        page.evaluate("document.querySelector('form.part [name=csrf]').value = 'x'")
        page.locator("form.part button").first.click()
        page.wait_for_selector(".saved.worse")
        assert "not saved" in page.inner_text(".saved.worse")
        assert page.locator("form.part").first.locator("[aria-pressed=true]").count() == 0
        assert served.labels("lost") == []


@pytest.mark.parametrize("width", [390, 1280])
def test_label_pages_are_accessible(browser: Browser, served: Served, width: int) -> None:
    """List, name, answer and agreement fit the window and pass axe-core, without a word on the console."""
    number = rg.label_draw("good", n=8, store=served.store).draw
    with opened(browser, served.address, width) as (page, wrong):
        for path in (
            "/label",
            f"/label?draw={number}",
            f"/label?draw={number}&annotator=ann",
            f"/label/agreement?draw={number}",
        ):
            page.goto(served.address + path)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
            assert wrong == [], path
            client = page.context.new_cdp_session(page)
            client.send("Page.setBypassCSP", {"enabled": True})  # axe-core is brought along
            page.reload()
            assert axe(page)["violations"] == [], path
            client.send("Page.setBypassCSP", {"enabled": False})
            wrong.clear()


def test_a_run_goes_on_while_its_page_is_open(browser: Browser, served: Served) -> None:
    """What is done is renewed in place while an evaluation moves, and whoever reads below is not moved."""
    run_id = rg.open_run("good", store=served.store).run.run_id
    with open_store(served.store) as store, opened(browser, served.address) as (page, wrong):
        store.evaluations.begin_evaluation(run_id, 40, 113)
        page.goto(f"{served.address}/runs/{run_id}")
        assert "40 of 113 evaluated, a random sample" in page.inner_text(".live")
        page.evaluate("window.scrollTo(0, 1500)")
        seen = page.locator("#scores, h2").nth(3).bounding_box()
        store.evaluations.record_progress(run_id, 20)
        page.locator(".live:has-text('60 of 113')").wait_for()
        assert "left" in page.inner_text(".live")
        assert page.evaluate("window.scrollY") == 1500
        assert page.locator("#scores, h2").nth(3).bounding_box() == seen
        store.evaluations.end(run_id)
        store.evaluations.record_progress(run_id, 53)
        page.locator(".live:has-text('finished')").wait_for()
        assert page.locator(".live a").count() == 1
        assert wrong == []
