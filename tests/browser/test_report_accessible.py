"""Who cannot see well, or has no mouse: axe-core, contrast in every corner, keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
pytestmark = pytest.mark.browser
REPORTS = ("good", "broken-retrieval", "corrupted-generation", "hostile", "bare", "nothing", "thousand")
QUICK = {("good", 1280), ("corrupted-generation", 390), ("hostile", 390), ("bare", 1280), ("nothing", 390)}
COLOUR = ["color-contrast", "link-in-text-block"]  # take most of the time

RUN = """async ([tags, rules, apart]) => {
    // the rows of a long list are drawn by the same few lines
    document.querySelectorAll('.list tbody tr:nth-child(n+4)').forEach((row) => row.remove())
    // a link in running text is as high as its line (WCAG 2.5.8 leaves it out, axe-core only beside plain text)
    axe.configure({rules: [{id: 'target-size', selector: ':not(.text *)'}]})
    const found = await axe.run(document, {resultTypes: ['violations'],
        runOnly: rules ? {type: 'rule', values: rules} : {type: 'tag', values: tags},
        rules: rules ? {} : Object.fromEntries(apart.map((rule) => [rule, {enabled: false}]))})
    return {violations: found.violations.map((rule) => [rule.id, rule.help,
        rule.nodes.slice(0, 5).map((node) => [node.html.slice(0, 200), node.failureSummary])]),
        passes: found.passes.map((rule) => rule.id)}
}"""
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")

FOCUSED = """() => {
    const node = document.activeElement, box = node.getBoundingClientRect(), style = getComputedStyle(node)
    return {name: node.className || node.tagName, text: node.textContent.trim().slice(0, 30),
        seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
        ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2}
}"""


def axe(page: Any, rules: list[str] | None = None) -> dict[str, list[Any]]:
    """What axe-core finds: by these rules, or by all that apply but those of colour."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: dict[str, list[Any]] = page.evaluate(RUN, [TAGS, rules, COLOUR])
    return found


@pytest.mark.parametrize(
    ("name", "width"),
    [
        pytest.param(name, width, marks=() if (name, width) in QUICK else pytest.mark.prove)
        for name in REPORTS
        for width in (390, 1280)
    ],
)
def test_axe_finds_no_violation(reports: Any, window: Any, name: str, width: int) -> None:
    """With everything opened, axe-core finds nothing wrong by WCAG 2.2 A and AA or best practice, colour apart."""
    with window.open(reports[name], width, bypass=True) as seen:
        seen.open_all()
        found = axe(seen.page)
    assert found["violations"] == []
    assert len(found["passes"]) > 15


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_poor_colour(reports: Any, window: Any, width: int, scheme: str) -> None:
    """As the page opens, axe-core finds no text of too little contrast, and no link that only its colour shows."""
    with window.open(reports["corrupted-generation"], width, scheme, bypass=True) as seen:
        found = axe(seen.page, COLOUR)
    assert found["violations"] == []
    assert set(found["passes"]) == set(COLOUR)


@pytest.mark.parametrize(
    "name", [*REPORTS[1:-1], *(pytest.param(name, marks=pytest.mark.prove) for name in ("good", "thousand"))]
)
def test_every_text_has_contrast(reports: Any, window: Any, name: str) -> None:
    """With everything opened, every text stands out from what is behind it by 4.5 to 1, a large one by 3 to 1."""
    with window.open(reports[name], bypass=True) as seen:
        seen.open_all()
        for width in (1280, 390):
            seen.page.set_viewport_size({"width": width, "height": 844})
            for scheme in ("light", "dark"):
                seen.page.emulate_media(color_scheme=scheme)
                found = seen.page.evaluate(CONTRAST)
                assert found["poor"] == [], (width, scheme)
                assert found["seen"] > 30


def test_poor_contrast_is_seen(reports: Any, window: Any) -> None:
    """The measure of contrast finds grey on grey, behind a half clear box and in a drawing."""
    with window.open(reports["nothing"], bypass=True) as seen:
        seen.page.set_content(
            "<body style='background: white; color: #767676'>fine<p style='color: #777'>poor 1</p>"
            "<div style='background: rgb(0 0 0 / .1)'>poor 2</div><svg><text fill='#bbb'>poor 3</text></svg>"
            "<p style='font-size: 24px; color: #949494'>fine</p>"
        )
        found = seen.page.evaluate(CONTRAST)
    assert [text for _, _, text in found["poor"]] == ["poor 1", "poor 2", "poor 3"]


@pytest.mark.parametrize("width", [390, 1280])
def test_keys_reach_the_report(reports: Any, window: Any, width: int) -> None:
    """The first key stop skips to the report; each stop shows, with a ring; tables that scroll are stops."""
    with window.open(reports["corrupted-generation"], width) as seen:
        stops = []
        for _ in range(50):
            seen.page.keyboard.press("Tab")
            stops.append(seen.page.evaluate(FOCUSED))
        seen.page.reload()
        seen.page.keyboard.press("Tab")
        seen.page.keyboard.press("Enter")
        seen.page.keyboard.press("Tab")
        skipped = seen.page.evaluate("() => document.activeElement.closest('main') !== null")
    assert stops[0]["name"] == "skip"
    assert [stop for stop in stops if not stop["seen"] or not stop["ring"]] == []
    assert "scroll" in [stop["name"] for stop in stops]
    assert skipped


@pytest.mark.parametrize("name", ["broken-retrieval", "hostile"])
def test_what_scrolls_sideways_is_a_key_stop(reports: Any, window: Any, name: str) -> None:
    """On a phone, every box that is wider inside than outside can be reached and scrolled by key."""
    with window.open(reports[name], 390, bypass=True) as seen:
        seen.open_all()
        wide = seen.page.evaluate("""() => [...document.querySelectorAll('body *')].filter((node) =>
            node.scrollWidth > node.clientWidth + 1 && ['auto', 'scroll'].includes(getComputedStyle(node).overflowX)
            && node.clientWidth > 1).map((node) => [node.className || node.tagName,
            node.tabIndex >= 0 || node.querySelector('a[href]') !== null])""")
    assert wide
    assert [name for name, reached in wide if not reached] == []
