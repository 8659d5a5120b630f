"""Where people labeled enough drawn answers of a day, the label-corrected mean counts, the judge's own beside it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.analysis.monitored import stored as keep
from tests.analysis.monitored import traffic
from tests.web.conftest import SEEN

import ragauge as rg
from ragauge.core.label import Label
from ragauge.dashboard.app import create_app
from ragauge.dashboard.security import Access
from ragauge.dashboard.site import Site
from ragauge.engine.label_questions import build_key
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.alerts.verb import find_alert, list_alerts, list_monitors
from ragauge.monitoring.replay.verb import require_monitor
from ragauge.store.labels import LabelDraw
from ragauge.store.store_access import Store, open_store

pytest.importorskip("prometheus_client")
CONFIG = "monitor: {monitors: [{metric: faithfulness, min: 0.8}]}"
QUESTION, RATE, DAY = "score:faithfulness", 120, "2026-01-03"


def labeled_store(folder: Path, labels: int) -> str:
    """Three days of traffic, the last worse by its judge, of which people labeled some answers better; its URL."""
    config, url = folder / "ragauge.yaml", f"sqlite:///{folder}/store.db"
    config.write_text(CONFIG)
    with open_store(url) as store:
        keep(store, traffic([0.9, 0.9, 0.5], rate=RATE), queries=lambda n: f"How long is {n}?")
        assert len(advance_monitors(store, *require_monitor(str(config)), 0.0)) == 1
        label(store, f"shop{DAY}", labels)
    return url


def label(store: Store, run_id: str, n: int) -> None:
    """People find some of a run's answers better by 0.2 than the judge does, but at most 1."""
    numbers = sorted(store.runs.load_order(run_id).numbers)
    frame = store.scores.load_frame(run_id, "local")
    values = dict(zip(frame["query_id"], frame["value"], strict=True))
    drawn = numbers[:: RATE // n][:n]
    store.draws.add(
        LabelDraw(run_id, QUESTION, "", "random", "answer", dict.fromkeys(numbers, n / RATE), frozenset(drawn))
    )
    new_labels = []
    for item in store.runs.load(drawn):
        key, score = build_key(QUESTION, item), min(1.0, values[item.response.query_id] + 0.2)
        assert key is not None
        new_labels.append(Label(key, None, QUESTION, f"{score:.3f}", "ann"))
    store.labels.add(new_labels)


@pytest.fixture
def labeled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], str]:
    """Makes a store where its configuration is, with so many labels."""
    monkeypatch.chdir(tmp_path)
    return lambda labels: labeled_store(tmp_path, labels)


def test_the_corrected_mean_is_the_figure(labeled: Callable[[int], str]) -> None:
    """Status and text of an alert name the run's label-corrected mean, and the judge's own beside it."""
    url = labeled(60)
    summary = rg.open_run(f"shop{DAY}", store=url).scorecard()["faithfulness"]
    (series,) = list_monitors(store=url).data.series
    (day,) = series.corrected
    assert (day.day, day.labels) == (date.fromisoformat(DAY), 60)
    assert (day.mean, day.judge_mean) == (summary.mean, summary.judge_mean)
    assert day.judge_mean + 0.05 < day.mean <= day.high
    figure = f"{day.mean:.2f} [{day.low:.2f}, {day.high:.2f}]"
    status = list_monitors(store=url).to_markdown().replace("\\", "")
    assert f"{figure}, judge {day.judge_mean:.2f}" in status
    (raised,) = list_alerts(store=url).data.alerts
    own = f"{raised.alert.mean:.2f} since {DAY}"
    headline = f"faithfulness was {day.mean:.2f} by labels on {DAY}, below the allowed 0.80 (judge mean: {own})"
    assert f"1 alert is open: {headline}." in status
    assert headline in str(list_alerts(store=url).to_markdown()).replace("\\", "")
    text = f"Label-corrected, the mean is {figure} on {DAY} (60 labels; judge mean: {day.judge_mean:.2f})."
    alert_text = str(find_alert(raised.alert.alert_id, store=url).to_markdown()).replace("\\", "")
    assert text in alert_text
    assert headline in alert_text
    assert "The judge mean was 0.9" in alert_text


def test_pages_show_the_corrected_mean(labeled: Callable[[int], str]) -> None:
    """The pages of monitors and of an alert, and their JSON, name the same."""
    url = labeled(60)
    (day,), (raised,) = list_monitors(store=url).data.series[0].corrected, list_alerts(store=url).data.alerts
    figure = f"{day.mean:.2f} [{day.low:.2f}, {day.high:.2f}]"
    site = Site(url, Access(), config=Path("ragauge.yaml"))
    with TestClient(create_app(site), base_url=SEEN) as client:
        assert f"{figure}, judge" in client.get("/monitor").text
        assert "Label-corrected, the mean is" in client.get(f"/monitor/alerts/{raised.alert.alert_id}").text
        (shown,) = client.get("/monitor.json").json()["monitors"]["series"]
    assert [one["labels"] for one in shown["corrected"]] == [60]


def test_too_few_labels_correct_nothing(labeled: Callable[[int], str]) -> None:
    """Below 50 labels the judge's own mean stays the figure, and nothing is said of labels."""
    url = labeled(40)
    found = list_monitors(store=url)
    assert [one.corrected for one in found.data.series] == [()]
    assert "by labels" not in found.to_markdown()
    (raised,) = list_alerts(store=url).data.alerts
    assert "abel-corrected" not in find_alert(raised.alert.alert_id, store=url).to_markdown()
