"""Equal alerts, however traffic is cut into batches, how often it is looked at, and how many workers there are."""

from __future__ import annotations

import json
import shutil
import threading
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from tests.analysis.monitored import FIRST

from ragauge.core.config.config_loader import read_config
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.intake import body_parser
from ragauge.monitoring.policy import Policy, Sampler
from ragauge.monitoring.series.monitor_specs import read_monitor_specs
from ragauge.monitoring.series.monitor_tracker import Alert
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.store.inbox import DAY_S, Batch
from ragauge.store.store_access import Store, open_store

FILE = read_config(
    {
        "monitor": {
            "judge": "none",
            "metrics": ["empty_result_rate"],
            "segments": {"tenant": "tenant"},
            "monitors": [{"metric": "empty_result_rate", "max": 0.1, "segments": ["tenant"]}],
        }
    }
)
POLICY = Policy(0.7, judge="none", metrics=("empty_result_rate",), segments={"tenant": "tenant"})
RATES, A_DAY = (0.05, 0.7), 70  # of nothing found, day by day; requests a day
Sent = tuple[float, bytes, str]  # when, what, in whose name


def requests() -> list[Sent]:
    """Two days of requests of two projects and two tenants; on the second retrieval finds nothing for most."""
    draw, out = Random(26), list[Sent]()
    for day, rate in enumerate(RATES):
        for n in range(A_DAY):
            trace = sha256(f"{day} {n}".encode()).hexdigest()[:32]
            found = [] if draw.random() < rate else [{"doc_id": "a.md", "text": "Refunds take 14 days."}]
            row = {
                "query_id": trace,
                "query": "How long?",
                "answer": "14 days.",
                "passages": found,
                "tenant": draw.choice(["acme", "bolt"]),
            }
            out.append((FIRST.timestamp() + day * DAY_S + n, json.dumps(row).encode(), draw.choice(["shop", "desk"])))
    return out


def batches(size: int) -> list[Batch]:
    """The requests of a day in batches of a size, each at the time of its first; a batch is of one sender."""
    out, every = list[Batch](), requests()
    for start in range(0, len(every), A_DAY):
        of_day = every[start : start + A_DAY]
        while of_day:
            n = next((place for place, one in enumerate(of_day[:size]) if one[2] != of_day[0][2]), size)
            part, of_day = of_day[:n], of_day[n:]
            found = body_parser.parse_lines(b"\n".join(body for _, body, _ in part))
            out.append(Batch(part[0][0], "responses", found.body, found.parts, part[0][2]))
    return out


def worked(store: Store, now: float, limit: int = 200) -> None:
    """What a server's workers do until nothing is left."""
    sampler = Sampler(store, POLICY)
    while settle_traces(store, POLICY, now, limit, sampler):
        pass
    TrafficScorer(store, POLICY, lambda _: None).score()
    monitor = FILE.checked().monitor
    assert monitor is not None
    advance_monitors(store, monitor, read_monitor_specs(FILE)[0], now)


def alerts(store: Store) -> list[Alert]:
    """What was raised, without the second in which it was: a batch comes in one moment."""
    found = [
        replace(one.alert, fired_at=one.alert.fired_at.replace(second=0, minute=0, microsecond=0))
        for one in store.monitors.list_alerts()
    ]
    return sorted(found, key=lambda one: one.alert_id)


@pytest.fixture
def reference(tmp_path: Path, empty: Path) -> list[Alert]:
    """What is raised where everything comes one by one, and is looked at once at the end."""
    shutil.copy(empty, tmp_path / "reference.db")
    with open_store(f"sqlite:///{tmp_path / 'reference.db'}") as store:
        store.inbox.add(batches(1))
        worked(store, FIRST.timestamp() + 9 * DAY_S)
        found = alerts(store)
    assert [one.segment for one in found if not one.segment[0]] == [("", "")]
    assert all(one.fired_at - FIRST >= timedelta(days=1) for one in found)
    return found


@pytest.mark.parametrize(("size", "limit"), [(10, 200), (1000, 7)])
def test_batches_of_any_size(store: Store, reference: list[Alert], size: int, limit: int) -> None:
    """Batches of 10 and 1000, read as they come or seven at a time, raise the same alerts at the same requests."""
    sent = batches(size)
    for start in range(0, len(sent), 25):
        some = sent[start : start + 25]
        store.inbox.add(some)
        worked(store, some[-1].at + 60, limit)
    worked(store, FIRST.timestamp() + 9 * DAY_S)
    assert alerts(store) == reference


def test_two_workers_on_one_store(store: Store, reference: list[Alert]) -> None:
    """Two that read, score and watch at once come to the same alerts as one, each of them once."""
    over, wrong = threading.Event(), list[BaseException]()

    def work() -> None:
        try:
            with open_store(store.url) as own:
                while not over.is_set():
                    worked(own, FIRST.timestamp() + 9 * DAY_S, 13)
        except BaseException as error:
            wrong.append(error)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for one in workers:
        one.start()
    for batch in batches(10):
        store.inbox.add([batch])
    over.set()
    for one in workers:
        one.join()
    worked(store, FIRST.timestamp() + 9 * DAY_S)
    assert wrong == []
    assert alerts(store) == reference
    assert sum(run.done for run in store.runs.list()) == sum(one.n for one in store.ledger.counts() if one.run_id)
