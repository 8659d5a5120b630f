"""Traces of the past, taken in at once: each counts for its own day, a monitor has its baseline, nobody is alarmed."""

from __future__ import annotations

import json
import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.data.spans import attributes
from tests.monitoring.conftest import CHILD, ROOT, span, traces
from tests.monitoring.serving import Server, waits

from ragauge.core.config.config_loader import read_config
from ragauge.engine.request_stream import get_traffic_day, list_traffic_runs
from ragauge.monitoring.alerts.alert_worker import advance_monitors
from ragauge.monitoring.intake import body_parser
from ragauge.monitoring.intake.body_parser import BodyParser, SentBody
from ragauge.monitoring.intake.receiver import TailedFile
from ragauge.monitoring.policy import read_policy
from ragauge.monitoring.series.monitor_specs import read_monitor_specs
from ragauge.monitoring.series.monitor_tracker import TrackerState
from ragauge.monitoring.series.series import ALL
from ragauge.monitoring.traffic.trace_assembly import settle_traces
from ragauge.monitoring.traffic.traffic_scorer import TrafficScorer
from ragauge.store.inbox import DAY_S, Batch, TracePart
from ragauge.store.store_access import Store, open_store

MONITOR = {
    "judge": "none",
    "metrics": ["empty_result_rate"],
    "sample": {"rate": "100%"},
    "wait": {"ended": "1s", "quiet": "1s"},
    "monitors": [{"metric": "empty_result_rate", "baseline": "28d", "max_drop": "10 points"}],
    "notify": [{"webhook": "http://127.0.0.1:9/x"}],
}
NOON = DAY_S / 2
KIND = "openinference.span.kind"


def request(n: int, at: float, *, found: bool = True) -> dict[str, Any]:
    """One request with its search, as an exporter sends it, by the clock of its own day."""
    times = {"startTimeUnixNano": str(int(at * 1e9)), "endTimeUnixNano": str(int((at + 1) * 1e9))}
    document = {"retrieval.documents.0.document.id": "a.md", "retrieval.documents.0.document.content": "14 days."}
    searched = {KIND: "RETRIEVER", **(document if found else {"output.value": "[]"})}
    asked = {KIND: "CHAIN", "input.value": "How long do refunds take?", "output.value": "14 days."}
    named = {"trace_id": f"{n:032x}"}
    return traces(
        span(ROOT, attributes=attributes(asked), **named, **times),
        span(CHILD, ROOT, attributes=attributes(searched), **named, **times),
    )


def history(days: int, each: int, bad: tuple[int, ...] = (), *, n: int = 1) -> list[str]:
    """Lines of the requests of so many days before yesterday; on bad ones nothing is found."""
    today = (time.time() // DAY_S - 1) * DAY_S  # so that all is more than a day old at any hour
    return [
        json.dumps(request(n + day * each + one, today - (days - day) * DAY_S + NOON + 60 * one, found=day not in bad))
        for day in range(days)
        for one in range(each)
    ]


class Monitored:
    """A store, and what the server's worker does with it, without waiting."""

    def __init__(self, store: Store, config: Path) -> None:
        config.write_text(yaml.safe_dump({"monitor": MONITOR}))
        self.store, self.policy = store, replace(read_policy(config), dated=True)
        file = read_config(config).checked()
        assert file.monitor is not None
        self.section, self.watched = file.monitor, read_monitor_specs(read_config(config))[0]

    def take(self, path: Path) -> None:
        TailedFile(self.store, path, BodyParser(dated=True), self.policy.patience, print).read()

    def send(self, *sent: str) -> None:
        taken = (
            BodyParser(dated=True).parse_traces(SentBody("json", one.encode(), time.time(), "")).batch for one in sent
        )
        self.store.inbox.add([one for one in taken if one is not None], self.policy.patience)

    def work(self) -> None:
        while settle_traces(self.store, self.policy, time.time() + 60):
            pass
        TrafficScorer(self.store, self.policy, print).score_free()
        advance_monitors(self.store, self.section, self.watched, time.time(), began=time.time() - 1)

    @property
    def state(self) -> TrackerState:
        (name,) = self.store.monitors.names()
        return self.store.monitors.state(name)


@pytest.fixture
def monitored(store: Store, tmp_path: Path) -> Monitored:
    return Monitored(store, tmp_path / "ragauge.yaml")


def days_of(store: Store) -> dict[str, int]:
    return {get_traffic_day(run): run.done for run in list_traffic_runs(store)}


def expected_days(days: int, each: int) -> dict[str, int]:
    today = (time.time() // DAY_S - 1) * DAY_S  # so that all is more than a day old at any hour
    dates = (datetime.fromtimestamp(today - (days - day) * DAY_S, UTC).date().isoformat() for day in range(days))
    return dict.fromkeys(dates, each)


@pytest.mark.prove
def test_sixty_days_give_a_baseline_at_once(monitored: Monitored, tmp_path: Path) -> None:
    """Sixty days out of a file in any order: a run a day, a baseline, no alert of the past; the present raises one."""
    days, each = 60, 8
    given = history(days, each, bad=(40, 41, 42, 43))
    random.Random(8).shuffle(given)
    path = tmp_path / "logs.jsonl"
    path.write_text("\n".join(given) + "\n")
    monitored.take(path)
    monitored.work()
    store = monitored.store
    assert days_of(store) == expected_days(days, each)
    state = monitored.state
    assert datetime.fromordinal(state.day).date().isoformat() == max(expected_days(days, each))
    assert (store.monitors.list_alerts(), store.monitors.list_due(1e12), state.last) == ([], [], None)
    reference = state.series[ALL].reference
    assert reference is not None
    assert reference.baseline is not None
    written = {run.run_id: run.done for run in list_traffic_runs(store)}
    monitored.send(*given)  # the same once more, over the wire
    monitored.work()
    assert {run.run_id: run.done for run in list_traffic_runs(store)} == written
    assert repr(monitored.state) == repr(state)  # what is not known is NaN, which equals nothing
    now = time.time()
    monitored.send(*(json.dumps(request(10**6 + n, now - 1, found=False)) for n in range(150)))
    monitored.work()
    (alert,) = store.monitors.list_alerts()
    assert alert.alert.ended_at is None
    assert now - 60 < alert.alert.fired_at.timestamp() <= time.time()
    assert len(store.monitors.list_due(1e12)) == 1


@pytest.mark.prove
def test_what_is_off_when_the_present_begins_is_told_then(monitored: Monitored) -> None:
    """A drop of the last days before today raises nothing by itself; the first request of today tells of it."""
    monitored.send(*history(40, 10, bad=(33, 34, 35, 36, 37, 38, 39)))
    monitored.work()
    assert list(monitored.state.alerts) == [ALL]
    assert monitored.store.monitors.list_alerts() == []
    monitored.send(json.dumps(request(10**6, time.time() - 1, found=False)))
    monitored.work()
    (alert,) = monitored.store.monitors.list_alerts()
    assert (alert.alert.ended_at, len(monitored.store.monitors.list_due(1e12))) == (None, 1)


def test_older_ones_wait_for_none_and_newer_ones_for_the_older(store: Store) -> None:
    """While the past comes in nothing is read; then all by date, and at the latest ten minutes after it was due."""
    now = 1e9

    def came(trace_id: str, at: float, began: float | None) -> None:
        store.inbox.add([Batch(at, "traces", b"x", (TracePart(trace_id, rooted=True, began=began),))])

    came("new", now, now - 1)
    came("past2", now + 1, now - 5 * DAY_S)
    came("past1", now + 2, now - 9 * DAY_S)
    came("undated", now + 2.5, None)
    assert store.inbox.list_due(now + 9, 9) == []
    assert [one.trace_id for one in store.inbox.list_due(now + 13, 9)] == ["past1", "past2", "new", "undated"]
    came("past3", now + 604, now - 7 * DAY_S)
    assert [one.trace_id for one in store.inbox.list_due(now + 605.5, 9)] == ["new"]
    assert [one.trace_id for one in store.inbox.list_due(now + 615, 3)] == ["past1", "past3", "past2"]


@pytest.mark.parametrize(
    ("began", "day", "past"),
    [
        (-3 * DAY_S, -3 * DAY_S, True),
        (3 * DAY_S, 0.0, False),  # a clock that is ahead
        (-3000 * DAY_S, 0.0, False),  # one that nobody has set
        (-60.0, -60.0, False),
    ],
)
def test_whose_day_a_trace_counts_for(store: Store, began: float, day: float, past: bool) -> None:
    """That of its own spans; that of its arrival where their clock cannot be right."""
    now = 1.8e9
    sent = SentBody("json", json.dumps(request(7, now + began)).encode(), now, "")
    for taking, moment, of_past in ((BodyParser(dated=True), now + day, past), (BodyParser(), now, False)):
        batch = taking.parse_traces(sent).batch
        assert batch is not None
        store.inbox.add([replace(batch, parts=(replace(batch.parts[0], trace_id=str(moment)),))])
        time_of = store.inbox.load_arrival_times([str(moment)])[str(moment)]
        assert time_of.at == pytest.approx(moment)
        assert (time_of.first, time_of.is_past) == (now, of_past)


def test_captured_lines_count_for_the_day_in_their_ids() -> None:
    """A response that rg.capture wrote says when; one with an id of its own counts from its arrival."""
    rows = [{"query_id": name, "query": "?", "answer": "!"} for name in ("20260131T101500.250000-3f9a", "q1")]
    body = b"\n".join(json.dumps(row).encode() for row in rows)
    assert [part.began for part in body_parser.parse_lines(body, dated=True).parts] == [1769854500.25, None]
    assert [part.began for part in body_parser.parse_lines(body).parts] == [None, None]


def test_what_came_long_after_its_date_is_kept_from_its_arrival(store: Store) -> None:
    """Retention counts from when a trace came, and more of it that comes the same day is not late."""
    now = 1.8e9
    for n in range(2):
        part = TracePart("old", rooted=True, began=now - 300 * DAY_S + n)
        store.inbox.add([Batch(now + 3600 * n, "traces", b"x", (part,))])
    (due,) = store.inbox.list_due(now + DAY_S, 9)
    assert (due.is_late, due.at) == (False, now - 300 * DAY_S)
    store.inbox.mark_read([due])
    assert store.inbox.delete_old(now - 7 * DAY_S, now - 90 * DAY_S) == 0
    assert store.inbox.counts().traces == 1


def killed_while_it_reads(start: Callable[..., Server], store: Store, options: list[str], feed: Iterator[None]) -> None:
    """Kills a server that takes in the past twice, and lets the third one end."""
    for _ in range(2):
        server = start(*options)
        before = store.inbox.counts().traces
        next(feed, None)
        waits(lambda before=before: store.inbox.counts().traces > before)  # type: ignore[misc] # a default in a lambda
        server.end(signal.SIGKILL)
    server = start(*options)
    for _ in feed:
        pass
    waits(lambda: (there := store.inbox.counts()).waiting == 0 and there.traces > 0)
    waits(lambda: {count.outcome for count in store.ledger.counts()} == {"scored"})
    waits(lambda: bool(store.monitors.names()))
    assert server.end() == 0


@pytest.mark.server
def test_sixty_days_out_of_a_file_across_kills(
    served: Callable[..., Server], monitored: Monitored, tmp_path: Path
) -> None:
    """Killed twice while a file of sixty days is read: each trace once, on its own day, in order, and no alert."""
    days, each = 60, 20
    given = history(days, each, bad=(30, 31))
    path = tmp_path / "logs.jsonl"
    path.write_text("")

    def feed() -> Iterator[None]:
        for start in range(0, len(given), 400):  # a file may take longer to come than what is read is held for
            part = given[start : start + 400]
            random.Random(9).shuffle(part)
            with path.open("a") as file:
                file.writelines(f"{line}\n" for line in part)
            yield

    options = ["--config", str(tmp_path / "ragauge.yaml"), "--date-from", "span", "--tail", str(path)]
    killed_while_it_reads(served, monitored.store, options, feed())
    with open_store(monitored.store.url) as store:
        assert days_of(store) == expected_days(days, each)
        assert store.monitors.list_alerts() == []
        numbers = [store.runs.load_order(run.run_id).numbers for run in list_traffic_runs(store)]
        assert all(max(one) < min(other) for one, other in pairwise(numbers))


@pytest.mark.server
def test_the_past_over_the_wire(served: Callable[..., Server], monitored: Monitored, tmp_path: Path) -> None:
    """Sent to the server's address, with a kill between and all sent again: as out of a file."""
    days, each = 12, 20
    given = history(days, each)

    server = served("--config", str(tmp_path / "ragauge.yaml"), "--date-from", "span")
    assert any(line.startswith("Dated: traces count toward the day of their own spans") for line in server.told)
    for line in given[:100]:
        assert server.send("/v1/traces", line.encode(), "application/json") == 200
    server.end(signal.SIGKILL)
    server = served("--config", str(tmp_path / "ragauge.yaml"), "--date-from", "span")
    for line in given:
        assert server.send("/v1/traces", line.encode(), "application/json") == 200
    store = monitored.store
    waits(lambda: sum(count.n for count in store.ledger.counts() if count.outcome == "scored") == days * each)
    assert server.end() == 0
    with open_store(store.url) as again:
        assert days_of(again) == expected_days(days, each)
        assert again.monitors.list_alerts() == []
