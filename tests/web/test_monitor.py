"""Pages of monitors: the same as the command line says, with links from an alert to the sentence that is wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient
from tests.analysis.monitored import stored as keep
from tests.analysis.monitored import traffic
from tests.monitoring.conftest import TRACE, traces
from tests.monitoring.test_settling import LATER, chain, finder
from tests.web.conftest import EVIL, SEEN

from ragauge.dashboard.app import create_app
from ragauge.dashboard.security import Access
from ragauge.dashboard.site import Site
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.alerts.verb import list_alerts
from ragauge.monitoring.intake.receiver import Receiver
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.replay.verb import require_monitor
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.scores.request_stream import Arrival
from ragauge.store.inbox import Batch, TracePart
from ragauge.store.ledger import LedgerLine
from ragauge.store.store_access import Store, open_store

pytest.importorskip("prometheus_client")
CONFIG = "monitor: {segments: {tenant: t}, monitors: [{metric: faithfulness, min: 0.8, segments: [tenant]}]}"
ORIGIN = {"origin": SEEN}


def with_spans(store: Store, came: Sequence[Arrival]) -> None:
    """A trace that came as spans, with a hostile name and text, and a line of the ledger for every other."""
    from ragauge.monitoring.intake.intake import Intake

    sent = traces(chain(f"14 days.{EVIL}", name=f"ask {EVIL}"), finder(content=f"Text.{EVIL}"))
    with TestClient(Receiver(create_app(Site(store.url, Access())), Access(), Intake(store)), base_url=SEEN) as client:
        assert client.post("/v1/traces", json=sent).status_code == 200
    settle_traces(store, Policy(), LATER)
    never = Arrival(0, came[0].at, f"never {EVIL}")
    store.inbox.add(
        [Batch(one.at.timestamp(), "traces", b"", (TracePart(one.trace_id, rooted=True),)) for one in (*came, never)]
    )
    lines = [
        LedgerLine(one.trace_id, f"shop {EVIL}", f"{one.at:%Y-%m-%d}", "scored", "", f"shop{one.at:%Y-%m-%d}")
        for one in came
    ]
    store.ledger.write_lines([*lines, LedgerLine(never.trace_id, "shop", "2026-01-01", "failed", EVIL)])


def watched_store(folder: Path) -> str:
    """A store with six days of traffic of two tenants, one of them hostile, that got worse on the fifth; its URL."""
    (folder / "ragauge.yaml").write_text(CONFIG)
    came = [
        replace(one, segments={"tenant": "acme" if n % 2 else f"bolt {EVIL}"})
        for n, one in enumerate(traffic([0.9, 0.9, 0.9, 0.9, 0.5, 0.5], rate=40))
    ]
    url = f"sqlite:///{folder}/store.db"
    with open_store(url) as store:
        keep(store, came)
        assert len(advance_monitors(store, *require_monitor(str(folder / "ragauge.yaml")), 0.0)) == 3
        with_spans(store, came)
    return url


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The store as it is served."""
    folder = tmp_path_factory.mktemp("watched")
    return Site(watched_store(folder), Access(csrf="known"), config=folder / "ragauge.yaml")


@pytest.fixture
def client(watched: Site) -> Iterator[TestClient]:
    with TestClient(create_app(watched), base_url=SEEN, follow_redirects=False) as made:
        yield made


def links(text: str, begins: str) -> list[str]:
    """Where a page leads that begins so, in order."""
    return [to for found in re.findall(r'href="([^"]+)"', text) if (to := unescape(found)).startswith(begins)]


def test_from_the_alert_to_the_example(client: TestClient, watched: Site) -> None:
    """The first page leads to monitors, those to alerts, an alert to its ten worst, each of them to its example."""
    assert "/monitor" in links(client.get("/").text, "/monitor")
    page, raised = client.get("/monitor").text, list_alerts(store=watched.store).data.alerts
    assert "3 series are firing." in page
    assert "faithfulness at least 0.8" in page
    assert page.count("<figure") == 3
    every, *firing = links(page, "/monitor/alerts")
    assert sorted(firing) == sorted(f"/monitor/alerts/{one.alert.alert_id}" for one in raised)  # of each that fires
    alert = links(client.get(every).text, "/monitor/alerts/")[-1]
    worst = links(client.get(alert).text, "/monitor/traces/")
    assert len(set(worst)) == 10
    for address in worst:
        (example,) = links(client.get(address).text.partition("Spans</h2>")[0], "/runs/shop2026-01-05/examples/")
        assert client.get(example).status_code == 200


def test_the_page_says_what_the_verb_says(client: TestClient, watched: Site) -> None:
    """JSON of the list of alerts is the verb's; a table has a row a series, an alert, a trace."""
    assert client.get("/monitor/alerts.json").json() == json.loads(list_alerts(store=watched.store).to_json())
    series = client.get("/monitor.json").json()["monitors"]["series"]
    assert [one["state"] for one in series] == ["firing"] * 3
    assert all(len(one["days"]) == 6 for one in series)
    for path, rows in (("/monitor.csv", 3), ("/monitor/alerts.csv", 3), ("/monitor/traces.csv", 242)):
        assert pl.read_csv(client.get(path).content).height == rows, path


def test_an_alert_is_resolved_by_a_form(client: TestClient, watched: Site) -> None:
    """A form of this server says what an alert was; no other form, word or alert changes anything."""
    name = list_alerts(store=watched.store).data.alerts[0].alert.alert_id
    path = f"/monitor/alerts/{name}"
    for fields, headers, at, status in (
        ({"csrf": "other", "resolution": "false_alarm"}, ORIGIN, path, 403),
        ({"csrf": "known", "resolution": "false_alarm"}, {"origin": "http://elsewhere"}, path, 403),
        ({"csrf": "known", "resolution": "fine"}, ORIGIN, path, 400),
        ({"csrf": "known", "resolution": "false_alarm"}, ORIGIN, "/monitor/alerts/zzz", 400),
    ):
        assert client.post(at, data=fields, headers=headers).status_code == status
    assert list_alerts(store=watched.store).data.resolved == 0
    answer = client.post(path, data={"csrf": "known", "resolution": "false_alarm"}, headers=ORIGIN)
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    assert (list_alerts(store=watched.store).data.resolved, list_alerts(store=watched.store).data.precision) == (1, 0.0)
    assert "marked as a false alarm" in client.get(path).text


@pytest.mark.parametrize(
    ("asked", "n"),
    [
        ("", 50),
        ("?page=5", 42),
        ("?outcome=failed", 1),
        ("?id=t16", 11),
        ("?outcome=failed&id=t16", 0),
        (f"?id={TRACE[:8].upper()}", 1),
        ("?id=%25", 0),
    ],
)
def test_the_ledger_is_searched(client: TestClient, asked: str, n: int) -> None:
    """By outcome, by how an id begins in any case, a page at a time; a sign of patterns is none."""
    text = client.get(f"/monitor/traces{asked}").text
    assert len(set(links(text, "/monitor/traces/"))) == n


def test_a_trace_is_a_tree_of_spans(client: TestClient) -> None:
    """A trace shows its spans, the inner below the outer, with their texts; by its id in another form too."""
    text = client.get(f"/monitor/traces/{TRACE.upper()}").text
    assert text.index("ask &#34;") < text.index("└ ask")
    assert "How long do refunds take?" in text
    assert len(client.get(f"/monitor/traces/{TRACE}.json").json()["spans"]) == 2
    assert client.get("/monitor/traces/none").status_code == client.get("/monitor/alerts/none").status_code == 404
    assert client.get("/monitor/traces?outcome=scord").status_code == 400


def test_drift_has_a_row_a_day(client: TestClient) -> None:
    """The page of drift shows what the command does: each of the last days, and why nothing can be said of it."""
    text = client.get("/monitor/drift?day=2026-01-06").text
    assert "not enough data" in text
    assert text.count("2026-01-06") >= 2
    assert client.get("/monitor/drift?day=soon").status_code == 400


def test_drift_of_each_project_has_its_page(client: TestClient) -> None:
    """Where several send, the page says whose drift it is and leads to that of the others; /monitor names them too."""
    text = client.get("/monitor/drift").text
    assert "Project: shop. Other projects: bot." in text
    (to,) = re.findall(r'href="(/monitor/drift[?]project=[^"]+)"', text)
    other = client.get(unescape(to)).text
    assert "Project: bot. Other projects: shop." in other
    assert client.get("/monitor/drift?project=nobody").status_code == 400
    assert "faithfulness (shop)" in client.get("/monitor").text


def test_no_text_of_traces_is_markup(client: TestClient) -> None:
    """Hostile ids, tenants, names and texts of spans stand in every page as text."""
    pages = ["/monitor", "/monitor/alerts", "/monitor/traces?outcome=failed", f"/monitor/traces/{TRACE}"]
    pages += links(client.get("/monitor/alerts").text, "/monitor/alerts/")
    pages += links(client.get("/monitor/traces?outcome=failed").text, "/monitor/traces/")
    for path in pages:
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert "<script>alert" not in answer.text
        assert "<img" not in answer.text
        assert not set(answer.text) & {"\x1b", "\u202e"}, path
        assert "x-evil" not in answer.headers


def test_prometheus_reads_it(client: TestClient) -> None:
    """The exposition is parsed by Prometheus' own reader: every outcome, state and alert with its count."""
    from prometheus_client.parser import text_string_to_metric_families as families

    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    found = {one.name: one.samples for one in families(answer.text)}
    assert {one.labels["outcome"]: one.value for one in found["ragauge_traces"]} == {
        "scored": 240,
        "failed": 1,
        "to score": 1,
    }
    firing = [one for one in found["ragauge_monitor_state"] if one.labels["state"] == "firing"]
    assert [one.value for one in firing] == [1.0] * 3
    assert f"bolt {EVIL}".replace("\r\n", "\n") in {one.labels["value"].replace("\r\n", "\n") for one in firing}
    assert sum(one.value for one in found["ragauge_alerts"]) == 3


def test_a_scrape_holds_no_sample_twice(tmp_path: Path) -> None:
    """Several monitors of one metric, a gauge and an unknown baseline: each series has one state, as the page says.

    Prometheus refuses a scrape in which a sample has the name and labels of another.
    """
    from prometheus_client.parser import text_string_to_metric_families as families

    url, path = watched_store(tmp_path), tmp_path / "ragauge.yaml"
    more = "{metric: faithfulness, max_drop: 3%}, {metric: faithfulness, min: 0.8, decide: point}"
    path.write_text(CONFIG.replace("monitors: [", f"monitors: [{more}, {{signal: shard_load, max: 3}}, "))
    with open_store(url) as store:
        advance_monitors(store, *require_monitor(str(path)), 0.0)
    with TestClient(create_app(Site(url, Access(), config=path)), base_url=SEEN) as client:
        samples = [one for family in families(client.get("/metrics").text) for one in family.samples]
        found, text = client.get("/monitor.json").json()["monitors"], client.get("/monitor").text
    assert len({(one.name, *sorted(one.labels.items())) for one in samples}) == len(samples)
    stands = Counter(one.labels["state"] for one in samples if one.name == "ragauge_monitor_state" and one.value)
    assert stands == Counter(one["state"] for one in (*found["series"], *found["gauges"]))
    assert stands["not_enough_data"] == text.count("not enough data") == 1
    assert stands["no_data"] == 1


def test_without_traffic_there_is_nothing_to_watch(tmp_path: Path) -> None:
    """A store without traffic leads to no monitor, and its page says how to begin."""
    with TestClient(create_app(Site(f"sqlite:///{tmp_path}/new.db", Access())), base_url=SEEN) as client:
        assert 'href="/monitor"' not in client.get("/runs").text
        assert "ragauge monitor serve" in client.get("/monitor").text
