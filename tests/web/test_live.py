"""A run in flight: how far it is, what is left, and what its scores so far say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import SEEN, Stored

import ragauge as rg
from ragauge.dashboard.app import create_app
from ragauge.dashboard.security import Access
from ragauge.dashboard.site import Site
from ragauge.evaluation.runs.run_rows import RunPaces
from ragauge.store.store_access import open_store


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def watched(copied: str) -> Iterator[tuple[TestClient, Clock]]:
    """The dashboard with a clock of its own."""
    clock = Clock()
    site = Site(copied, Access(), paces=RunPaces(clock))
    with closing(TestClient(create_app(site), base_url=SEEN, follow_redirects=False)) as client:
        yield client, clock


def test_pace_is_that_of_the_last_minute() -> None:
    """Time left is known once something moved, follows a change of pace within a minute, and begins anew with a run."""
    clock = Clock()
    paces = RunPaces(clock)

    def left(done: int, to_do: int = 100) -> float | None:
        return paces.seconds_left("r", "answers", done, to_do)

    assert left(0) is None
    clock.seconds = 10
    assert left(0) is None
    clock.seconds = 20
    assert left(10) == 90 * 20 / 10
    for second, done in ((50, 20), (80, 40), (110, 60)):
        clock.seconds = second
        left(done)
    assert left(60) == 40 * 60 / 40  # 60 seconds for the last 40
    clock.seconds = 140
    assert left(60) == 40 * 60 / 20  # it rests
    assert left(5) is None  # less than before: begun anew
    assert left(5, 50) is None


def test_page_shows_what_is_done_and_the_means_so_far(
    watched: tuple[TestClient, Clock], copied: str, stored: Stored
) -> None:
    """Done and planned, time left from the second look on, and the means with intervals of the scores there are."""
    (client, clock), bad = watched, stored.ids["bad"]
    with open_store(copied) as store:
        store.evaluations.begin_evaluation(bad, 5, 12)
        first = client.get(f"/runs/{bad}/state.json").json()
        assert (first["state"], first["stage"], first["done"], first["to_do"]) == ("in flight", "evaluation", 5, 12)
        assert first["seconds_left"] is None
        clock.seconds = 10
        store.evaluations.record_progress(bad, 2)
    again = client.get(f"/runs/{bad}/state.json").json()
    assert (again["done"], again["seconds_left"]) == (7, 25.0)
    page = client.get(f"/runs/{bad}").text
    live = page[page.index('class="live"') :].partition("</section>")[0]
    assert f'data-live="/runs/{bad}/state"' in live
    assert "7 of 12 evaluated, a random sample, 25 s left" in live
    older = "This report covers the 12 examples evaluated when the page was opened"
    assert older in page
    assert older not in client.get(f"/runs/{stored.ids['good']}").text  # nothing goes on there
    summaries = {one.metric: one for one in rg.open_run(bad, store=copied).scorecard().card.summaries}
    assert again["so_far"]
    for one in again["so_far"]:
        whole = summaries[one["metric"]]
        assert whole.interval is not None
        assert (one["mean"], one["scored"]) == (whole.mean, whole.scored)
        assert (one["low"], one["high"]) == (whole.interval.low, whole.interval.high)
        assert f"[{one['low']:.2f}, {one['high']:.2f}]" in live
    assert "data-progress" in client.get(f"/runs/{bad}/state").text


def test_a_run_in_flight_is_called_so_everywhere(
    watched: tuple[TestClient, Clock], copied: str, stored: Stored
) -> None:
    """An evaluated run whose system or judge is being asked is in flight in every form of its page, never running."""
    client, bad, now = watched[0], stored.ids["bad"], datetime.now(UTC).isoformat(timespec="milliseconds")
    with open_store(copied) as store:
        store.evaluations.begin_evaluation(bad, 5, 12)
    judging = client.get(f"/runs/{bad}").text
    with closing(_raw(copied)) as raw, raw:
        raw.execute("UPDATE runs SET state = 'running', planned = 20, heartbeat = ? WHERE run_id = ?", (now, bad))
    for page in (judging, client.get(f"/runs/{bad}").text):
        assert "<dt>state</dt><dd><bdi>in flight</bdi></dd>" in page
    assert client.get(f"/runs/{bad}/state.json").json()["state"] == "in flight"
    for text in (client.get(f"/runs/{bad}.json").text, rg.open_run(bad, store=copied).scorecard().to_html()):
        assert not re.search(r"[>\"]running[<\"]", text)


def test_without_a_sign_of_life_it_is_stopped(watched: tuple[TestClient, Clock], copied: str, stored: Stored) -> None:
    """After a minute the page says stopped and how to go on, tells no time left, and is renewed no more."""
    import sqlite3

    client, bad = watched[0], stored.ids["bad"]
    with open_store(copied) as store:
        store.evaluations.begin_evaluation(bad, 5, 12)
    client.get(f"/runs/{bad}/state")
    late = (datetime.now(UTC) - timedelta(seconds=61)).isoformat(timespec="milliseconds")
    with closing(sqlite3.connect(copied.removeprefix("sqlite:///"))) as raw, raw:
        raw.execute("UPDATE evaluations SET heartbeat = ? WHERE done = 5", (late,))
    watched[1].seconds = 100
    found: dict[str, Any] = client.get(f"/runs/{bad}/state.json").json()
    assert (found["state"], found["seconds_left"]) == ("stopped", None)
    page = client.get(f"/runs/{bad}").text
    assert "data-live" not in page
    assert re.search(r'class="live".*?stopped</span><span[^>]*>5 of 12 evaluated, a random sample<', page, re.DOTALL)
    assert f"<code>ragauge evaluate {bad}" in page


def test_silence_tells_no_time_left(watched: tuple[TestClient, Clock], copied: str, stored: Stored) -> None:
    """After 15 s without a sign of life a run that still counts as in flight tells no time left: it would climb."""
    (client, clock), bad = watched, stored.ids["bad"]
    with open_store(copied) as store:
        store.evaluations.begin_evaluation(bad, 5, 12)
        client.get(f"/runs/{bad}/state.json")
        store.evaluations.record_progress(bad, 2)
    clock.seconds = 10
    assert client.get(f"/runs/{bad}/state.json").json()["seconds_left"] == 25.0
    for silent, left in ((5, 25.0), (16, None)):
        moment = (datetime.now(UTC) - timedelta(seconds=silent)).isoformat(timespec="milliseconds")
        with closing(_raw(copied)) as raw, raw:
            raw.execute("UPDATE evaluations SET heartbeat = ? WHERE done = 7", (moment,))
        found = client.get(f"/runs/{bad}/state.json").json()
        assert (found["state"], found["seconds_left"]) == ("in flight", left)


@pytest.mark.parametrize("looked", [True, False])
def test_a_pause_is_no_pace(watched: tuple[TestClient, Clock], copied: str, stored: Stored, looked: bool) -> None:
    """Killed and taken up ten minutes later, what is left is told by the pace since, whether or not somebody looked."""
    (client, clock), bad = watched, stored.ids["bad"]

    def left() -> float | None:
        found: float | None = client.get(f"/runs/{bad}/state.json").json()["seconds_left"]
        return found

    with open_store(copied) as store:
        store.evaluations.begin_evaluation(bad, 2, 12)
        assert left() is None
        store.evaluations.record_progress(bad, 2)
        clock.seconds = 10
        assert left() == 8 * 10 / 2
        if looked:
            moment = (datetime.now(UTC) - timedelta(seconds=20)).isoformat(timespec="milliseconds")
            with closing(_raw(copied)) as raw, raw:
                raw.execute("UPDATE evaluations SET heartbeat = ? WHERE done = 4", (moment,))
            clock.seconds = 30
            assert left() is None
        clock.seconds = 50 if looked else 610
        store.evaluations.begin_evaluation(bad, 5, 12)
        assert left() is None
        store.evaluations.record_progress(bad, 1)
        clock.seconds += 2
        assert left() == 6 * 2 / 1


def test_answers_that_arrive_are_counted(watched: tuple[TestClient, Clock], copied: str) -> None:
    """A run whose system is being asked shows answers of planned ones on the page of a run without scores."""
    from ragauge.core.response import Run

    client = watched[0]
    with open_store(copied) as store:
        run = store.runs.import_run(Run("", "asking"), [])
        with closing(_raw(copied)) as raw, raw:
            raw.execute(
                "UPDATE runs SET state = 'running', planned = 1000, heartbeat = ? WHERE run_id = ?",
                (datetime.now(UTC).isoformat(timespec="milliseconds"), run.run_id),
            )
    page = client.get(f"/runs/{run.run_id}").text
    assert re.search(r"0 of 1,000, a random sample", page)
    assert 'class="live"' in page
    assert "0 of 1,000 questions answered" in page
    assert "Wait until it has finished." in page
    assert "ragauge evaluate asking" not in page
    assert "Run the same `ragauge run` command" not in page
    assert client.get(f"/runs/{run.run_id}.json").json()["state"] == "in flight"
    late = (datetime.now(UTC) - timedelta(seconds=61)).isoformat(timespec="milliseconds")
    with closing(_raw(copied)) as raw, raw:
        raw.execute("UPDATE runs SET heartbeat = ? WHERE run_id = ?", (late, run.run_id))
    page = client.get(f"/runs/{run.run_id}").text
    assert page.index("Run the same `ragauge run` command") < page.index("ragauge evaluate asking")
    assert client.get(f"/runs/{run.run_id}.json").json()["state"] == "stopped"


def _raw(url: str) -> Any:
    import sqlite3

    return sqlite3.connect(Path(url.removeprefix("sqlite:///")))
