"""The comparison's page in a real browser: nothing asked, nothing run, no sideways scrolling, marks that lead."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.browser.conftest import LOOKS, Trap, Window
from tests.reporting.test_compare_reports import compared, comparison

from ragauge.evaluation.scorecard.html import render_comparison

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, trap: Trap) -> Path:
    """A comparison of hostile text that names a server, written to a file."""
    text = f"<script src={trap.address}/js></script><img src={trap.address}/img onerror=alert(1)>" + "Endlessword" * 20
    path = tmp_path_factory.mktemp("compare") / "change.html"
    path.write_text(render_comparison(compared(comparison(text=text), text=text)), encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_page_is_closed_and_fits(window: Window, page: Path, trap: Trap, width: int, scheme: str) -> None:
    """It asks nobody, runs nothing, says nothing on the console, and is no wider than the window."""
    with window.open(page, width, scheme) as seen:
        assert seen.asked == [page.as_uri()]
        assert seen.said == seen.alerts == trap.asked == []
    with window.open(page, width, scheme, bypass=True) as seen:  # so that every fold and list can be opened
        seen.open_all()
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_mark_leads_to_its_examples(window: Window, page: Path) -> None:
    """A mark of the forest shows the examples that lost most, and one of them leads to both of its answers."""
    with window.open(page) as seen:
        marks = seen.page.locator(".chart a[href='#moved-1-faithfulness'], .chart a[*|href='#moved-1-faithfulness']")
        assert marks.count() >= 1
        assert not seen.page.locator("#moved-1-faithfulness").is_visible()
        seen.page.goto(f"{page.as_uri()}#moved-1-faithfulness")
        behind = seen.page.locator("#moved-1-faithfulness")
        assert behind.is_visible()
        behind.locator("a", has_text="q1").first.click()
        assert seen.page.url.endswith("#flip-1-q1")
        assert seen.page.locator("#flip-1-q1").is_visible()
