"""How a report lies: on a phone, on a desktop, on paper; and how fast it opens."""

from __future__ import annotations

import os
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

SHOTS = Path(__file__).resolve().parents[2] / "build/screenshots"
pytestmark = pytest.mark.browser
REPORTS = ("thousand", "hostile", "bare", "nothing", "good", "broken-retrieval", "corrupted-generation")
TILE = 2_400  # height of a screenshot; a drawing surface ends at 16,384
MOST_TILES = 4
PAPER = 718  # A4 in CSS pixels without 10 mm at either side
OUTSIDE = """() => [...document.querySelectorAll('body *')].filter((node) => {
    const box = node.getBoundingClientRect()
    return box.width > 1 && (box.right > innerWidth + 1 || box.left < -1) && !node.closest('.vh, .skip')
        && !node.matches('svg *')
        && getComputedStyle(node).display !== 'inline'     // blanks hang over the end of a line
}).map((node) => [node.localName, String(node.className), node.textContent.slice(0, 40)]).slice(0, 20)"""
FOLDED = """() => [...document.querySelectorAll('.ex-body, .ex-body .passage')].filter((node) =>
    !node.checkVisibility({contentVisibilityAuto: true}) || node.getBoundingClientRect().height < 20).length"""
TIMES = """() => { const [way] = performance.getEntriesByType('navigation')
    const [paint] = performance.getEntriesByName('first-contentful-paint')     // told after the frame, often after load
    return way.loadEventEnd && paint ? [way.loadEventEnd, paint.startTime] : null }"""


@pytest.mark.parametrize("name", REPORTS)
def test_page_never_scrolls_sideways(reports: Any, window: Any, name: str) -> None:
    """From 320 pixels up the page is never wider than the window, opened or not."""
    with window.open(reports[name], 390, bypass=True) as seen:
        for opened in (False, True):
            if opened:
                seen.open_all()
            for width in (1280, 768, 390, 320):
                seen.page.set_viewport_size({"width": width, "height": 800})
                wide = seen.page.evaluate("() => document.scrollingElement.scrollWidth")
                assert wide <= width, (opened, width)


@pytest.mark.parametrize("name", ["broken-retrieval", "corrupted-generation", "hostile", "bare"])
def test_paper_holds_everything(reports: Any, window: Any, name: str) -> None:
    """In print every folded example is open, nothing reaches over the edge, and Chromium prints its pages."""
    with window.open(reports[name], PAPER) as seen:
        seen.page.emulate_media(media="print")
        folded = seen.page.evaluate(FOLDED)
        outside = seen.page.evaluate(OUTSIDE)
        wide = seen.page.evaluate("() => document.scrollingElement.scrollWidth")
        printed = seen.page.pdf(format="A4", margin=dict.fromkeys(("top", "right", "bottom", "left"), "10mm"))
    assert folded == 0
    assert outside == []
    assert wide <= PAPER
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert pages >= (2 if name == "bare" else 10)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "name",
    ["broken-retrieval", *(pytest.param(name, marks=pytest.mark.prove) for name in ("good", "corrupted-generation"))],
)
def test_screenshots_are_taken(reports: Any, window: Any, name: str, width: int, scheme: str) -> None:
    """The demo's reports are drawn in both widths and schemes, and dark is darker than light."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    for old in SHOTS.glob(f"{name}-{width}-{scheme}-*.png"):
        old.unlink()
    with window.open(reports[name], width, scheme) as seen:
        page = seen.page
        page.set_viewport_size({"width": width, "height": TILE})
        end = page.evaluate("() => document.getElementById('all').getBoundingClientRect().top + scrollY")
        tiles = min(MOST_TILES, max(1, round(end / TILE))) if name != "good" else 1
        for tile in range(tiles):
            page.evaluate("(top) => scrollTo(0, top)", tile * TILE)
            page.screenshot(path=SHOTS / f"{name}-{width}-{scheme}-{tile + 1}.png")
        ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (SHOTS / f"{name}-{width}-{scheme}-1.png").stat().st_size > 30_000
    assert (max(map(int, re.findall(r"\d+", ground))) < 60) == (scheme == "dark")


def test_thousand_examples_open_at_once(reports: Any, window: Any, record_property: Any) -> None:
    """A report over 1,000 examples is loaded and painted in under 1 s, on a machine that has nothing else to do.

    On a loaded machine the bound grows with the load for each processor, and the quickest of five openings counts.
    """
    path = reports["thousand"]
    loads, paints = [], []
    for _ in range(5):
        with window.open(path) as seen:
            load, paint = seen.page.wait_for_function(TIMES).json_value()
        loads.append(load)
        paints.append(paint)
    busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    size = path.stat().st_size
    record_property(
        "figure",
        (
            f"report over 1,000 examples: {size / 1e6:.2f} MB, loaded in {statistics.median(loads):.0f} ms, "
            f"first painted at {statistics.median(paints):.0f} ms (medians of 5; load {busy:.1f} for each processor)"
        ),
    )
    assert min(paints) > 0
    assert max(min(loads), min(paints)) < 1_000 * busy
    assert size < 5_000_000
