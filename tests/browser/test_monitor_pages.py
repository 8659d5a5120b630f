"""Pages of monitors in a real browser: from an alert to a regression test, wide and narrow, light and dark."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bench import alert_causes
from bench.planted_system import faults
from playwright.sync_api import Browser
from tests.browser.test_dashboard import fits_and_reads, opened, serving
from tests.monitoring.conftest import TRACE
from tests.web.test_monitor import watched_store

import ragauge as rg
from ragauge.core.response import Response
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.policy import Policy
from ragauge.store.store_access import open_store

pytestmark = pytest.mark.browser
UI = "\nui: {regression_set: regression.jsonl}\n"
PAGES = ("/monitor", "/monitor/alerts", "/monitor/traces?id=t1", f"/monitor/traces/{TRACE}", "/monitor/traces?id=never")


def test_from_an_alert_to_a_regression_test(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without script, an alert is acknowledged, and leads by its worst trace to the example, which is kept as a test.

    Every page on the way, of a store with hostile tenants, ids and texts, fits a phone and a desk, passes axe-core, has
    contrast in light and dark, and asks no other server.
    """
    store, kept = watched_store(tmp_path), tmp_path / "regression.jsonl"
    with (tmp_path / "ragauge.yaml").open("a") as file:
        file.write("\nui: {regression_set: regression.jsonl}\n")
    monkeypatch.chdir(tmp_path)
    seen = list(PAGES)
    with serving(store) as address:
        with opened(browser, address, script=False) as (page, wrong):
            page.goto(f"{address}/monitor")
            page.click("main a[href='/monitor/alerts']")
            page.click("main td a[href^='/monitor/alerts/'], main th a[href^='/monitor/alerts/']")
            seen.append(page.url.removeprefix(address))
            page.click("text=Acknowledge")
            assert page.get_attribute("button:text-is('Acknowledge')", "aria-pressed") == "true"
            page.click("a[href^='/monitor/traces/']")
            page.click("a[href*='/examples/']")
            page.click("button:has-text('Add to regression.jsonl')")
            assert kept.read_text().count("\n") == 1
            assert wrong == []
        with opened(browser, address) as (page, wrong):
            for path in seen:
                fits_and_reads(page, address, path)
                assert wrong == [], path


@pytest.mark.slow
def test_from_an_alert_to_a_gate_that_fails(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers that a system invents from one day on: alert, worst trace, the sentence that nothing supports, a test.

    The question kept as a regression test fails the gate while the system invents, and passes it as it was before.
    """
    monkeypatch.setattr(alert_causes, "RATE", 60)
    (tmp_path / "ragauge.yaml").write_text(alert_causes.MONITORS.format(judge="local") + UI)
    monkeypatch.chdir(tmp_path)
    store, traffic = f"sqlite:///{tmp_path}/store.db", alert_causes.Traffic()
    (fault,) = (one for one in faults() if one.name == "invent_number")

    def invented(watched: alert_causes.Watched) -> None:
        with open_store(store) as opened_store:
            for day in range(6):
                now = alert_causes.served(opened_store, traffic.day(day, 21, fault if day == 5 else None), Policy())
                advance_monitors(opened_store, watched.monitor, watched.watches, now)

    with ThreadPoolExecutor(1) as apart:  # the browser has a loop of events in this one
        apart.submit(invented, alert_causes.Watched.of()).result()
    with serving(store) as address, opened(browser, address, script=False) as (page, wrong):
        page.goto(f"{address}/monitor/alerts")
        page.click("main tr:has-text('fabricated_specifics') a[href^='/monitor/alerts/']")
        assert "generation" in page.inner_text("body")
        page.click("a[href^='/monitor/traces/']")
        page.click("a[href*='/examples/']")
        question = page.inner_text("h1")
        assert "not in the passages" in page.inner_text("main")
        page.click("button:has-text('Add to regression.jsonl')")
        assert wrong == []

    def passes(answers: Mapping[str, Response]) -> str:
        asked = {one.query: answers[one.query_id] for one in traffic.examples if one.query_id in answers}
        rg.evaluate(rg.run(lambda query: asked[query], "regression.jsonl", store=store).run, store=store)
        rule = {"metric": "fabricated_specifics", "max": 0.0, "decide": "point"}
        return rg.gate(rules={"gate": {"min_n": 1, "rules": [rule]}}, store=store).verdict

    assert question in (tmp_path / "regression.jsonl").read_text()
    with ThreadPoolExecutor(1) as apart:
        assert [*apart.map(passes, (traffic.spoilt(fault), traffic.honest))] == ["fail", "pass"]
