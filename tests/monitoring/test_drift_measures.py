"""What explains drift beside what is usual: bands out of marked days, golden runs, clusters that become drafts."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.analysis.monitored import FIRST, stored, traffic
from tests.monitoring.test_drifting import A_DAY, Server, asked

from ragauge.core.document import IndexListing
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import EvalSet, Example, Relevant
from ragauge.core.response import Passage, Response, Run
from ragauge.monitoring.alerts.alert_coverage import format_headline
from ragauge.monitoring.drift.compute import learn_band
from ragauge.monitoring.drift.drift_measures import compute_reformulation_rate
from ragauge.monitoring.drift.verb import DriftResult, monitor_drift, monitor_mark
from ragauge.store.inbox import DAY_S
from ragauge.store.store_access import Store, open_store


def measure(found: DriftResult, of: str, name: str) -> tuple[float, bool | None]:
    (one,) = (one for one in found.data.measures if (one.of, one.name) == (of, name))
    return one.value, one.is_outside


@pytest.mark.parametrize(
    ("good", "bad", "value", "inside"),
    [
        ([0.8, 0.8, 0.8, 0.8, 0.8], [], 0.79, False),
        ([0.8, 0.82, 0.81, 0.79, 0.8], [], 0.82, True),
        ([0.8, 0.82, 0.81, 0.79, 0.8], [], 0.86, True),  # a fifth day says little of a sixth
        ([0.8, 0.82, 0.81, 0.79, 0.8], [0.85], 0.84, False),  # halfway between 0.82 and 0.85
        ([0.8, 0.82, 0.81, 0.79, 0.8], [0.805], 0.86, True),  # among the good ones it says nothing
        ([0.8, 0.82, 0.81, 0.79, 0.8], [0.76], 0.77, False),
    ],
)
def test_what_a_band_holds(good: list[float], bad: list[float], value: float, *, inside: bool) -> None:
    """It holds what further days like the good ones bring, and ends halfway to bad days beyond all good ones."""
    band = learn_band(good, bad)
    assert band is not None
    assert (band.low <= value <= band.high) == inside, band


def test_four_good_days_make_no_band() -> None:
    """With fewer than five good days nothing is called usual."""
    assert learn_band([1.0, 1.1, 1.2, 1.3], [9.0]) is None


def golden(store: Store, day: int, found: str, *, gone: bool = False) -> None:
    """A nightly run over twenty labelled questions, each of which finds its own document or another."""
    examples = [Example(f"q{n}", f"What is {n}?", relevant=(Relevant((f"d{n}",)),)) for n in range(20)]
    run = store.collecting.begin_run(Run("", f"nightly {day}", set_name="golden"), EvalSet("golden", tuple(examples)))
    pairs = [
        (one, Response(one.query_id, passages=(Passage(f"{found}{n}", f"{found}{n}", "Text."),), answer="a"))
        for n, one in enumerate(examples)
    ]
    store.collecting.add(run.run_id, pairs)
    store.collecting.finish_run(run.run_id)
    store.listings.write(run.run_id, IndexListing(100, frozenset({"d3"} if gone else ())))
    due = FIRST.timestamp() + day * DAY_S
    job = store.jobs.take_job("nightly", due, "me", due)
    assert job is not None
    assert store.jobs.end(job, "me", due, "pass", run_id=run.run_id)


@pytest.fixture
def filled(store: Store) -> Store:
    """Nine days of questions, on the last about food; each with a nightly run, whose last finds nothing."""

    def query(number: int) -> str:
        return asked(5 * A_DAY + number % A_DAY if number // A_DAY == 8 else number % A_DAY + 6 * A_DAY)

    stored(store, traffic([0.9] * 9, rate=A_DAY), queries=query)
    for day in range(9):
        golden(store, day, "x" if day == 8 else "d", gone=day == 8)
    return store


def test_a_bad_day_lies_outside_the_bands(filled: Store) -> None:
    """After a week marked good, a day of food and of lost documents is unusual in all that moved, and only there."""
    unmarked = monitor_drift(store=filled.url)
    assert {one.is_outside for one in unmarked.data.measures} == {None}
    assert "A normal range needs 5 good days" in unmarked.to_markdown()
    monitor_mark("good", since="2026-01-02", until="2026-01-08", store=filled.url)
    found = monitor_drift(store=filled.url)
    assert (found.data.good, found.data.bad) == (7, 0)
    for name in ("js_divergence", "pairwise_kl"):
        assert measure(found, "queries", name)[1], name
    assert measure(found, "queries", "language_shift")[1] is False
    assert measure(found, "nightly", "recall@10") == (0.0, True)
    assert measure(found, "nightly", "neighbour_overlap@10") == (0.0, True)
    assert measure(found, "nightly", "gold_alive") == (0.95, True)
    day_before = monitor_drift(day="2026-01-08", store=filled.url)
    assert measure(day_before, "nightly", "gold_alive") == (1.0, False)
    assert measure(day_before, "queries", "js_divergence")[1] is False
    assert "unusual" in found.to_markdown()
    assert "unusual" not in day_before.to_markdown()


def test_the_page_and_the_alert_say_what_is_unusual(filled: Store) -> None:
    """The page of drift has bands as soon as days are marked; the morning after, the alert names what is outside."""
    from ragauge.dashboard.app import create_app
    from ragauge.dashboard.security import Access
    from ragauge.dashboard.site import Site

    with TestClient(create_app(Site(filled.url, Access())), base_url="http://127.0.0.1") as client:
        before = client.get("/monitor/drift").text
        assert "not learned" in before
        monitor_mark("good", since="2026-01-02", until="2026-01-08", store=filled.url)
        after = client.get("/monitor/drift").text.replace("<wbr>", "")
    assert "neighbour_overlap@10" in after
    assert "unusual" in after
    assert Server(filled).at(9) == 1
    (kept,) = filled.monitors.list_alerts()
    assert "unusual: js_divergence of queries" in format_headline(kept.alert)
    assert "gold_alive of nightly = 0.95" in format_headline(kept.alert)


def test_a_bad_day_is_no_baseline(filled: Store) -> None:
    """A day marked bad is left out of what later days are held against: alone before them, nothing is left."""
    stored(
        filled,
        [one for one in traffic([0.9] * 10, rate=A_DAY) if one.at.day == 10],
        queries=lambda number: asked(5 * A_DAY + number % A_DAY),
    )
    with_it = monitor_drift(store=filled.url).data.days[-2].drift
    monitor_mark("bad", since="2026-01-09", why="a flood of questions about food", store=filled.url)
    without = monitor_drift(store=filled.url).data.days[-2].drift
    assert with_it.distance is not None
    assert without.distance is not None
    assert without.distance > with_it.distance


def test_clusters_that_grew_become_drafts(filled: Store, tmp_path: Path) -> None:
    """The questions shown of clusters that grew are added to a set, once, tagged and as drafts of their run."""
    to = tmp_path / "golden.jsonl"
    for _ in range(2):
        found = monitor_drift(to=str(to), store=filled.url)
    lines = [json.loads(line) for line in to.read_text().splitlines()]
    shown = [text.text for cluster in found.data.details[0].grown for text in cluster.texts]
    assert 1 <= len(lines) <= 15
    assert sorted(one["query"] for one in lines) == sorted(set(shown))
    assert all(one["tags"] == ["drift"] and one["meta"]["origin"]["run"] == "shop2026-01-09" for one in lines)


def test_marks_are_listed_and_taken_back(store: Store) -> None:
    """What was said last of a day counts; forget takes back whole periods; what makes no sense is refused."""
    url = store.url
    assert "No days are marked" in monitor_mark(store=url).to_markdown()
    monitor_mark("good", since="2026-01-01", until="2026-01-10", store=url)
    told = monitor_mark("bad", since="2026-01-05", until="2026-01-06", why="<b>outage", store=url)
    assert (told.data.good, told.data.bad) == (8, 2)
    assert monitor_mark("forget", since="2026-01-05", until="2026-01-07", store=url).data.good == 10
    with pytest.raises(UnknownName, match="good"):
        monitor_mark("fine", since="2026-01-01", store=url)
    for since, until in (("", ""), ("2026-01-05", "2026-01-04"), ("2026-02-30", "")):
        with pytest.raises(UsageError):
            monitor_mark("good", since=since, until=until, store=url)
    assert [one.since for one in store.periods.list()] == [date(2026, 1, 1)]


def test_how_often_questions_are_put_otherwise() -> None:
    """Of forty conversations of two questions, ten ask again in other words; too few are not counted."""
    again = [("How do I reset the router?", "How can I reset my router?")] * 10
    other = [("How do I reset the router?", "When is the canteen open on Fridays?")] * 30
    assert compute_reformulation_rate([*again, *other]) == 0.25
    assert compute_reformulation_rate(again) is None


def test_clicks_and_conversations_of_a_day(store: Store) -> None:
    """The share of answers with a click, and of questions put otherwise, stand among what is measured of a day."""
    run = store.collecting.open_traffic(Run("r", "shop 2026-01-01", kind="traffic", created_at="2026-01-01T12:00:00Z"))
    asks = ("How do I reset the router?", "How can I reset my router?")
    pairs = [
        (Example(f"t{n}", asks[n % 2], cluster=f"c{n // 2}"), Response(f"t{n}", outcome={"click": n % 4 == 0}))
        for n in range(60)
    ]
    store.collecting.replace_responses(run.run_id, pairs, ())
    found = monitor_drift(store=store.url)
    assert measure(found, "requests", "click_through_rate")[0] == 0.25
    assert measure(found, "queries", "reformulation_rate")[0] == 1.0


def test_marks_survive(tmp_path: Path) -> None:
    """A mark is there when the store is opened again."""
    url = f"sqlite:///{tmp_path}/s.db"
    with open_store(url):
        monitor_mark("good", since="2026-01-01", store=url)
    with open_store(url) as again:
        assert len(again.periods.list()) == 1
