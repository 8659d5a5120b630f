"""What a report must never do: ask for something, run something, let data become markup."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from tests.browser.conftest import LOOKS, WIDTHS

pytestmark = pytest.mark.browser
REPORTS = ("thousand", "hostile", "bare", "nothing", "good", "broken-retrieval", "corrupted-generation")
INTRUDER = (
    "<script>document.title = 'ran'</script><img src=//x onerror=\"document.title = 'ran'\"><img src={0}/img>"
    "<link rel=stylesheet href={0}/css><iframe src={0}/frame></iframe><p style='background: url({0}/style)'>p</p>"
    "<style>body {{ background: url({0}/sheet) }}</style></body>"
)
LOADED = {"/img", "/css", "/frame", "/style", "/sheet"}  # what the intruder asks for, where it can
OUR_OWN = {
    "a",
    "article",
    "bdi",
    "body",
    "br",
    "circle",
    "clipPath",
    "code",
    "dd",
    "defs",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "g",
    "h1",
    "h2",
    "h3",
    "h4",
    "head",
    "header",
    "html",
    "li",
    "line",
    "main",
    "mark",
    "meta",
    "nav",
    "ol",
    "p",
    "path",
    "pre",
    "rect",
    "section",
    "small",
    "span",
    "strong",
    "style",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "wbr",
}


@pytest.mark.parametrize("name", REPORTS)
def test_opening_asks_for_nothing(reports: Any, window: Any, trap: Any, name: str) -> None:
    """In every width and scheme the file is the only request; nothing is said on the console, and nothing pops up."""
    trap.asked.clear()
    with window.open(reports[name]) as seen:
        for width, scheme in LOOKS:
            seen.page.set_viewport_size({"width": width, "height": WIDTHS[width]})
            seen.page.emulate_media(color_scheme=scheme)
            seen.page.evaluate("() => scrollTo(0, 0)")
            for _ in range(3):
                seen.page.mouse.wheel(0, 20_000)
            seen.page.wait_for_timeout(50)
    assert seen.asked == [reports[name].as_uri()]
    assert (seen.said, seen.alerts, trap.asked) == ([], [], [])


@pytest.mark.parametrize("bypass", [False, True], ids=["policy", "no-policy"])
def test_hostile_strings_make_no_element(reports: Any, window: Any, trap: Any, bypass: bool) -> None:
    """With hostile strings in every field, even without its policy, a page holds no element that is not our own."""
    trap.asked.clear()
    with window.open(reports["hostile"], bypass=bypass) as seen:
        if bypass:
            seen.open_all()
        page = seen.page
        tags = page.evaluate("() => [...document.querySelectorAll('*')].map((node) => node.localName)")
        named = "() => [...document.querySelectorAll('*')].flatMap((node) => node.getAttributeNames())"
        attributes = page.evaluate(named)
        links = page.evaluate("() => [...document.querySelectorAll('[href]')].map((node) => node.getAttribute('href'))")
        shown = page.locator("main").text_content() or ""
        metas = page.locator("meta").count()
        page.wait_for_timeout(100)
        assert page.title().startswith("k=8, new chunks")
    assert set(tags) <= OUR_OWN
    assert not {"style", "src", "srcset", "srcdoc", "action"} & set(attributes)
    assert [name for name in attributes if name.startswith("on")] == []
    assert [link for link in links if not link.startswith("#")] == []
    assert metas == 4
    assert shown.count("<script>document.title='ran'") > 300
    assert "\x1b" not in shown
    assert seen.asked == [reports["hostile"].as_uri()]
    assert (seen.said, seen.alerts, trap.asked) == ([], [], [])


def test_hostile_strings_stay_in_their_place(reports: Any, window: Any) -> None:
    """Characters that turn the direction of writing do not turn what follows the field that holds them."""
    with window.open(reports["hostile"]) as seen:
        turned = seen.page.evaluate("""() => [...document.querySelectorAll('h2, dt, .tag, thead th')].filter((node) =>
            getComputedStyle(node).direction !== 'ltr' && !node.closest('[dir]')).map((node) => node.textContent)""")
    assert turned == []


def test_policy_stops_what_gets_in(reports: Any, window: Any, trap: Any, tmp_path: Path) -> None:
    """Were markup to get into a report, its policy would let it neither run nor load; without it, it does both."""
    bad = tmp_path / "bad.html"
    text = reports["bare"].read_text(encoding="utf-8")
    bad.write_text(text.replace("</body>", INTRUDER.format(trap.address)), encoding="utf-8")
    trap.asked.clear()
    with window.open(bad) as seen:
        until(seen.page, lambda: any("Content Security Policy" in said for said in seen.said))
        seen.page.wait_for_timeout(200)
        title = seen.page.title()
    assert title != "ran"
    assert trap.asked == []
    assert any("Content Security Policy" in said for said in seen.said)
    with window.open(bad, bypass=True) as seen:
        until(seen.page, lambda: seen.page.title() == "ran" and LOADED & set(trap.asked))
        assert seen.page.title() == "ran"
    assert LOADED & set(trap.asked)


def until(page: Page, done: Callable[[], object]) -> None:
    """Lets the page go on until that is so, for a minute at most."""
    for _ in range(600):
        if done():
            return
        page.wait_for_timeout(100)
