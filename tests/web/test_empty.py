"""Pages of a store that holds nothing say what to do next, and so does each list without a row."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import SEEN, read

from ragauge.dashboard.app import create_app
from ragauge.dashboard.security import Access
from ragauge.dashboard.site import Site

NEXT = {
    "/": "ragauge demo",
    "/runs": "ragauge demo",
    "/sets": "ragauge testset generate DOCUMENTS",
    "/studies": "ragauge component chunking SET",
    "/judges": "ragauge evaluate answers.jsonl",
    "/history": "ragauge demo",
    "/monitor": "OTEL_EXPORTER_OTLP_ENDPOINT",
    "/monitor/alerts": "ragauge monitor status",
    "/monitor/traces": "OTEL_EXPORTER_OTLP_ENDPOINT",
    "/monitor/drift": "ragauge monitor serve",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """An empty store, without a configuration beside it."""
    monkeypatch.chdir(tmp_path)
    return Site(f"sqlite:///{tmp_path}/s.db", Access())


@pytest.mark.parametrize("path", NEXT)
def test_each_page_says_what_comes_next(site: Site, path: str) -> None:
    """Of a store that holds nothing each page is there, and names the command or the setting that fills it."""
    with TestClient(create_app(site), base_url=SEEN) as client:
        answer = client.get(path)
    assert answer.status_code == 200, answer.text
    assert NEXT[path] in read(answer.text.partition("<main")[2])


def test_what_is_watched_and_scheduled_is_shown_how(site: Site, tmp_path: Path) -> None:
    """Without monitors, schedules or drift the pages show the lines of ragauge.yaml that bring them, and they are read.

    With these lines in the file no page asks for them again.
    """
    from ragauge.monitoring.drift.tables import NO_ALERTS
    from ragauge.monitoring.replay.verb import EXAMPLE_SECTION, read_section
    from ragauge.monitoring.traffic.tables import NO_SCHEDULE

    schedules, drift = (text.partition("ragauge.yaml: ")[2] for text in (NO_SCHEDULE, NO_ALERTS))

    def said() -> list[bool]:
        with TestClient(create_app(site), base_url=SEEN) as client:
            page, drifted = (read(client.get(path).text) for path in ("/monitor", "/monitor/drift"))
        return [EXAMPLE_SECTION in page, schedules in page, drift in drifted]

    assert said() == [True] * 3
    monitors = EXAMPLE_SECTION.partition("{")[2].rpartition("}")[0]
    (tmp_path / "ragauge.yaml").write_text(f"monitor:\n  {monitors}\n  {schedules}\n  {drift}\n")
    section = read_section(None)
    assert section is not None
    assert (len(section.monitors), len(section.schedules), len(section.drift)) == (1, 1, 2)
    assert said() == [False] * 3


def test_a_server_of_monitors_leads_to_them_from_the_start(site: Site) -> None:
    """Before the first trace, the head of a page leads to monitors where this server takes traces in, else not."""
    from dataclasses import replace

    for watching in (False, True):
        with TestClient(create_app(replace(site, watching=watching)), base_url=SEEN) as client:
            assert ('href="/monitor"' in client.get("/").text) == watching
