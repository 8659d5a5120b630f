"""Links of a report, followed: what they lead to shows."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import PATIENCE

pytestmark = pytest.mark.browser
REPORTS = ("good", "broken-retrieval", "corrupted-generation", "thousand", "hostile", "bare", "nothing")
FOLLOWED = [
    ("corrupted-generation", 390),
    ("thousand", 1280),
    *(pytest.param(*look, marks=pytest.mark.prove) for look in (("corrupted-generation", 1280), ("hostile", 390))),
]
EVERY = """() => [...new Set([...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href')))]"""
MISSING = """() => [...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))
    .filter((href) => !href.startsWith('#') || document.getElementById(href.slice(1)) === null)"""
FOLLOW = """async (links) => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))), lost = []
    for (const link of links) {
        location.hash = link
        await frame()
        const node = document.getElementById(link.slice(1)), box = node.getBoundingClientRect()
        if (!node.checkVisibility({contentVisibilityAuto: true}) || box.bottom <= 0 || box.top >= innerHeight)
            lost.push([link, Math.round(box.top), Math.round(box.bottom)])
    }
    return lost
}"""


@pytest.mark.parametrize("name", REPORTS)
def test_every_link_has_its_target(reports: Any, window: Any, name: str) -> None:
    """Each link of the page names an element that is there."""
    with window.open(reports[name]) as seen:
        assert len(seen.page.evaluate(EVERY)) >= 4
        assert seen.page.evaluate(MISSING) == []


@pytest.mark.parametrize(("name", "width"), FOLLOWED)
def test_every_target_shows_when_followed(reports: Any, window: Any, name: str, width: int) -> None:
    """Following a link brings its target into the window: folds open, lists behind marks appear."""
    with window.open(reports[name], width) as seen:
        links = seen.page.evaluate(EVERY)
        some = links[:: max(1, len(links) // 150)]
        assert seen.page.evaluate(FOLLOW, some) == []


def test_list_leads_into_a_folded_example_and_to_its_sentence(reports: Any, window: Any) -> None:
    """From the list of examples to a folded one, which opens; from a claim to the marked sentence; from there back."""
    with window.open(reports["corrupted-generation"]) as seen:
        page = seen.page
        folded = page.locator("details.example:not([open]):has(a.claim[href*='-w'])").last
        body = folded.locator(".ex-body").get_attribute("id")
        assert not page.locator(f"[id='{body}']").is_visible()
        page.locator(f".list a[href='#{body}']").click()
        assert page.locator(f"[id='{body}']").is_visible()
        claim = page.locator(f"[id='{body}'] a.claim[href*='-w']").first
        place = claim.get_attribute("href") or ""
        claim.click()
        mark = page.locator(f"[id='{place[1:]}']")
        assert page.evaluate("(id) => document.getElementById(id).matches(':target')", place[1:])
        mark.locator("a").click()
        back = page.evaluate("() => document.querySelector(':target').closest('.ex-body').id")
        page.go_back()
        assert page.url.endswith(place)
    assert back == body


def test_bar_leads_to_its_examples(reports: Any, window: Any) -> None:
    """A click on a bar of a histogram shows the list of its examples; close puts it away."""
    with window.open(reports["broken-retrieval"]) as seen:
        page = seen.page
        bar = page.locator(".small-ones .chart a[href^='#bin-']").first
        listed = page.locator(f"[id='{(bar.get_attribute('href') or '')[1:]}']")
        assert not listed.is_visible()
        bar.click()
        assert listed.is_visible()
        listed.get_by_text("close").click()
        assert not listed.is_visible()


def test_links_of_a_notebook_stay_in_its_frame(reports: Any, window: Any) -> None:
    """In the frame that a notebook shows, links move inside the frame, and the page around it stays."""
    with window.open(reports["notebook"]) as seen:
        page, outside = seen.page, seen.page.url
        frame = page.frame_locator("iframe")
        frame.locator(".toc a").last.click()
        target = frame.locator("h2[id='configuration']")
        expect(target).to_be_in_viewport(timeout=PATIENCE)
        assert target.bounding_box() is not None
        top = target.evaluate("(node) => node.getBoundingClientRect().top")
        assert -20 <= top < 720
        assert page.url == outside
        assert len(page.frames) == 2
    assert seen.asked == [outside]
    assert seen.said == []
