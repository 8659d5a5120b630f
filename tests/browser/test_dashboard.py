"""The dashboard in a real browser: the command's own server, by mouse, by keys, and without script."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page
from tests.browser.conftest import PATIENCE
from tests.browser.test_report_accessible import CONTRAST, axe
from tests.conftest import Demonstrated

import ragauge as rg

pytestmark = pytest.mark.browser
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PAGES = (
    "/",
    "/runs",
    "/runs/broken-retrieval",
    "/runs/broken-retrieval/examples?status=failed&sort=recall@5",
    "/runs/broken-retrieval/examples/q033?status=failed",
    "/compare?base=good&new=broken-retrieval",
    "/history",
    "/sets",
    "/studies",
    "/judges",
    "/label",
    "/glossary",
    "/glossary/faithfulness",
)


# options of commands that stand on two lines, and tables of lists that are cut where no more fits
TORN = """() => {
  const torn = [], walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) for (const found of walk.currentNode.data.matchAll(/(?<![^\\s(`])--?[a-z][a-z-]*/g)) {
    const range = document.createRange()
    range.setStart(walk.currentNode, found.index)
    range.setEnd(walk.currentNode, found.index + found[0].length)
    if (new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size > 1) torn.push(found[0])
  }
  return torn
}"""
CUT = """() => [...document.querySelectorAll('.sheet .scroll')].filter(
  (one) => one.querySelector('.runs, td[data-head]') && one.scrollWidth > one.clientWidth + 1
).map((one) => one.textContent.slice(0, 80))"""


@pytest.fixture(scope="module")
def address(demonstrated: Demonstrated) -> Iterator[str]:
    """Where `ragauge ui` serves the demo's runs."""
    with serving(demonstrated.store) as found:
        yield found


@contextmanager
def serving(store: str) -> Iterator[str]:
    """Where `ragauge ui` serves a store."""
    command = [sys.executable, "-m", "ragauge", "ui", "--port", "0", "--no-open", "--store", store]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        said = server.stderr.readline()
        found = re.search(r"http://\S+", said)
        assert found is not None, said
        try:
            yield found[0].rstrip("/")
        finally:
            server.terminate()  # else a test that fails waits for it for ever


@contextmanager
def opened(
    browser: Browser, address: str, width: int = 1280, *, script: bool = True
) -> Iterator[tuple[Page, list[str]]]:
    """A page of a window, and what it must not do: say something on the console, or ask elsewhere."""
    wrong: list[str] = []
    context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=script)
    context.set_default_timeout(PATIENCE)
    context.on("console", lambda message: wrong.append(message.text))
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("request", lambda asked: None if asked.url.startswith(address) else wrong.append(asked.url))
    try:
        yield context.new_page(), wrong
    finally:
        context.close()


def fits_and_reads(page: Page, address: str, path: str) -> None:
    """Opens a page and holds it to a phone and a desk, axe-core, and contrast in light and dark.

    On a phone no list is cut, and no option of a command stands on two lines.
    """
    page.goto(address + path)
    page.set_viewport_size({"width": 390, "height": 900})
    assert axe(page)["violations"] == [], path
    assert (page.evaluate(TORN), page.evaluate(CUT)) == ([], []), path
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (path, width)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(CONTRAST)["poor"] == [], (path, width, scheme)


def test_pages_are_accessible_and_closed(browser: Browser, address: str) -> None:
    """Every page fits a phone and a desk, passes axe-core, has contrast in light and dark, and asks no other server."""
    with opened(browser, address) as (page, wrong):
        for path in PAGES:
            fits_and_reads(page, address, path)
            assert wrong == [], path


def test_endless_words_break(browser: Browser, tmp_path: Path) -> None:
    """Segments, ids and names of 300 characters without a blank widen no page, and no column beyond the window."""
    word, store = "x" * 300, f"sqlite:///{tmp_path}/s.db"
    for name in ("base", "new"):
        rows = [
            {
                "query_id": f"{n}{word}",
                "query": word,
                "answer": f"{name} {word}",
                "passages": [word],
                "segments": {"type": f"{n % 2}{word}"},
            }
            for n in range(4)
        ]
        rg.evaluate(rows, name=f"{name}{word}", store=store, metrics=["faithfulness"])
    new, base = (row.run_id for row in rg.runs(store=store))
    version = rg.open_run(new, store=store).run.set_version
    rg.open_run(new, store=store).scorecard(baseline=base)
    with serving(store) as address, opened(browser, address, 390) as (page, wrong):
        for path in (
            "/",
            "/runs",
            f"/runs/{new}",
            f"/runs/{new}/examples",
            f"/compare?base={base}&new={new}",
            "/history",
            "/sets",
            f"/sets/table/{version}",
        ):
            page.goto(address + path)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
            widest = "() => Math.max(0, ...[...document.querySelectorAll('td, th')].map((cell) => cell.offsetWidth))"
            assert page.evaluate(widest) <= 390, path
        assert wrong == []


def test_worse_where_and_why_are_a_few_clicks_away(browser: Browser, address: str) -> None:
    """From the first page, without script: one click says whether it is worse, three lead to where, four to why.

    Where: a failing example of the worst segment. Why: the sentence that decides a claim of it.
    """
    with opened(browser, address, script=False) as (page, wrong):
        page.goto(f"{address}/")
        page.click(".verdict a")
        assert re.match(r"Is it worse\? \S", page.text_content(".told") or "")
        page.click("table.heat tbody th a")
        page.click("table.list tbody th a")
        assert re.search(r"/runs/\w+/examples/q\d+\?segment", page.url)
        assert page.locator("h1 ~ p .tag.bad").count() == 1  # the cause of its failure
        page.click(".verdicts a[href*='-p']")
        assert page.locator(":target").count() == 1
        assert wrong == []


def test_ticking_compares(browser: Browser, address: str) -> None:
    """Without script, two ticked runs lead to their comparison, against the older one."""
    with opened(browser, address, script=False) as (page, wrong):
        page.goto(f"{address}/runs")
        for box in page.locator("tbody input[type=checkbox]").all()[:2]:
            box.check()
        page.click("text=Compare selected runs")
        assert re.search(r"/compare\?base=\w+&new=\w+$", page.url)
        assert wrong == []


def test_keys_go_where_links_go(browser: Browser, address: str) -> None:
    """With j and k one moves between rows, with n and p between examples; / searches, ? lists the keys."""
    with opened(browser, address) as (page, wrong):
        page.goto(f"{address}/runs/good/examples")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.type("j/")  # a field takes letters as letters
        assert page.input_value("#q") == "j/"
        page.evaluate("document.activeElement.blur()")
        for key in ("j", "j", "k", "j"):
            page.keyboard.press(key)
        rows = page.locator("tbody th a")
        assert page.evaluate("document.activeElement.textContent") == rows.nth(1).text_content()
        page.keyboard.press("Enter")
        page.wait_for_url("**/examples/**")
        second = page.url
        page.keyboard.press("n")
        page.wait_for_url(lambda url: url != second)
        page.keyboard.press("p")
        page.wait_for_url(second)
        page.keyboard.press("?")
        assert page.locator("dialog.keys").is_visible()
        assert wrong == []


def test_own_forms_are_taken(browser: Browser, address: str) -> None:
    """A tag given on a page, without script and under no-referrer, stands there afterwards, and can be taken away."""
    with opened(browser, address, script=False) as (page, wrong):
        page.goto(f"{address}/runs/good")
        page.click("#manage summary")
        page.fill("#m-tag", "tried <b>out</b>")
        page.click("#manage button:text-is('Tag')")
        page.goto(f"{address}/runs?tag=tried+%3Cb%3Eout%3C%2Fb%3E")
        assert page.locator("tbody tr").count() == 1
        page.goto(f"{address}/runs/good")
        page.click("#manage summary")
        page.click("#manage button:has-text('Remove tag')")
        page.goto(f"{address}/runs?tag=tried+%3Cb%3Eout%3C%2Fb%3E")
        assert page.locator("tbody tr").count() == 0
        assert [said for said in wrong if "400" not in said] == []


def test_it_is_ready_and_leaves_quickly(demonstrated: Demonstrated, tmp_path: Path) -> None:
    """The command says where it is when it answers, and ends at once when it is told to, without a traceback."""
    command = [
        sys.executable,
        "-m",
        "ragauge",
        "ui",
        "--port",
        "0",
        "--no-open",
        "--store",
        f"sqlite:///{tmp_path}/s.db",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert "The dashboard is at http://127.0.0.1:" in server.stderr.readline()
        began = time.monotonic()
        server.send_signal(2)
        assert server.stderr.read() == ""
        assert server.wait() == 0
    assert time.monotonic() - began < 60
