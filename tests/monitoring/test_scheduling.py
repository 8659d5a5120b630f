"""Schedules: each occurrence once over all servers, a missed one once, and what came of it is kept."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ragauge.core.config.config_loader import read_config
from ragauge.core.errors import UsageError
from ragauge.monitoring.alerts.notifications import format_slack_text
from ragauge.monitoring.jobs.scheduled_run import ScheduledOutcome, ScheduledRun, build_error_outcome, find_last_due
from ragauge.monitoring.jobs.scheduler import IsAlive, Scheduler, run_in_process
from ragauge.monitoring.traffic.tables import build_status_sections
from ragauge.monitoring.traffic.verb import build_traffic_status
from ragauge.monitoring.worker import StageTurn
from ragauge.scores.results.monitoring import JobState
from ragauge.store.jobs import LEASE_S
from ragauge.store.store_access import Store, open_store

NIGHTLY = {"name": "nightly", "cron": "0 2 * * *", "run": "my_app:answer", "set": "golden.jsonl"}
HOUR, DAY = 3600.0, 86400.0
NOON = datetime.fromisoformat("2026-01-05T12:00+00:00").timestamp()


class Server:
    """A scheduler with a clock that is set, and a list of what it did."""

    def __init__(self, store: Store, monitor: dict[str, Any] | None = None, **changed: object) -> None:
        self.store, self.now, self.did = store, NOON, list[ScheduledRun]()
        before = (monitor or {}).get("schedules", [])
        section = {**(monitor or {}), "schedules": [*before, {**NIGHTLY, **changed}]}
        read = read_config({"monitor": section}).checked().monitor
        assert read is not None
        self._scheduler = Scheduler(read, "ragauge.yaml", self.do)
        self.outcome: ScheduledOutcome | None = ScheduledOutcome("pass", "r1", "fine")
        self.then: Callable[[], object] = lambda: None  # what happens while it does a run

    def do(self, wanted: ScheduledRun, alive: IsAlive) -> ScheduledOutcome | None:
        """Done at once, unless there is nobody left to do it."""
        self.did.append(wanted)
        self.then()
        assert alive() or self.outcome is None
        return self.outcome

    def at(self, now: float, over: threading.Event | None = None) -> int:
        """How many runs it did when it looked at a time."""
        self.now = now
        return self._scheduler.run_once(StageTurn(self.store, lambda: self.now, over))


def utc(text: str) -> float:
    return datetime.fromisoformat(f"{text}+00:00").timestamp()


@pytest.mark.parametrize(
    ("cron", "zone", "now", "due"),
    [
        ("0 2 * * *", "UTC", "2026-01-05T02:00", "2026-01-05T02:00"),
        ("0 2 * * *", "UTC", "2026-01-05T01:59", "2026-01-04T02:00"),
        ("0 2 * * *", "Europe/Berlin", "2026-07-05T00:30", "2026-07-05T00:00"),
        ("30 1 * * *", "Europe/Berlin", "2026-10-25T12:00", "2026-10-24T23:30"),
        ("0 6 1 * *", "UTC", "2026-03-15T00:00", "2026-03-01T06:00"),
    ],
)
def test_cron_is_read_in_its_zone(cron: str, zone: str, now: str, due: str) -> None:
    """The last time is that of the zone's clock, and the moment itself counts."""
    assert find_last_due(cron, zone, utc(now)) == utc(due)


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_a_night_of_changed_clocks_has_one_run(day: str) -> None:
    """Half past two comes twice or not at all in Berlin in these nights; the job is due once in each."""
    minutes = [utc(f"{day}T00:00") - 2 * HOUR + 60 * minute for minute in range(0, 16 * 60, 10)]
    dues = {find_last_due("30 2 * * *", "Europe/Berlin", minute) for minute in minutes}
    assert len([due for due in dues if due >= minutes[0]]) == 1


def test_a_run_is_done_at_its_time_once(store: Store) -> None:
    """A new schedule waits for its time; then it is done once, however often is looked and by how many servers."""
    one, two = Server(store), Server(store)
    assert one.at(NOON) == two.at(NOON) == 0
    assert one.at(NOON + 13 * HOUR) == 0
    assert one.at(NOON + 14 * HOUR + 1) == 1
    assert two.at(NOON + 14 * HOUR + 2) == one.at(NOON + 20 * HOUR) == 0
    assert one.did[0].name == "nightly 2026-01-06 02:00"
    assert two.at(NOON + 38 * HOUR) == 1
    assert [job.state for job in store.jobs.list_latest(9)] == ["pass", "pass", "noted"]


def test_a_schedule_that_breaks_stops_no_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time that cannot be computed, or work that raises, is an error of that schedule, kept once; the others run."""
    broken = {**NIGHTLY, "name": "broken", "cron": "1 1 1 1 1"}
    server = Server(store, {"schedules": [broken]})

    def due(cron: str, zone: str, now: float) -> float:
        if cron == "1 1 1 1 1":
            raise ZeroDivisionError("no such time")
        return find_last_due(cron, zone, now)

    monkeypatch.setattr("ragauge.monitoring.jobs.scheduler.find_last_due", due)
    server.at(NOON)
    assert [server.at(NOON + DAY), server.at(NOON + DAY + 60), server.at(NOON + 2 * DAY)] == [1, 0, 1]
    kept = [one for one in store.jobs.list_latest(9) if one.name == "broken" and one.state == "error"]
    assert [one.said for one in kept] == ["ZeroDivisionError: no such time"]


def test_missed_runs_are_done_once(store: Store) -> None:
    """After a week without a server one run is done, that of the last time."""
    server = Server(store)
    server.at(NOON)
    assert server.at(NOON + 7 * DAY) == 1
    assert server.at(NOON + 7 * DAY + 60) == 0
    assert [wanted.name for wanted in server.did] == ["nightly 2026-01-12 02:00"]


def test_a_schedule_that_fails_is_one_alert(store: Store) -> None:
    """A gate that fails, a run that cannot be made and a time that was missed raise an alert each schedule has once.

    It ends with the first run that is made in time and passes; a gate that cannot tell ends and raises nothing.
    """
    server = Server(store)
    server.at(NOON)
    states: list[JobState] = ["fail", "error", "not_enough_data", "pass", "error", "pass", "pass", "done"]
    opened = []
    for n, state in enumerate(states):
        said_by_run = "- recall@5 0.5, at least 0.8" if state == "fail" else "the system failed at: who is Ann?"
        server.outcome = ScheduledOutcome(state, "r1", f"said\n{said_by_run}")
        assert server.at(NOON + n * DAY + (20 if n == 6 else 14.1) * HOUR) == 1
        opened.append(any(one.alert.ended_at is None for one in store.monitors.list_alerts()))
    assert opened == [True, True, True, False, True, False, True, False]
    said = [one.alert.said for one in reversed(store.monitors.list_alerts())]
    assert said == [
        "schedule nightly, due 2026-01-06 02:00 UTC, did not pass its gate (run r1): recall@5 0.5, at least 0.8",
        "schedule nightly, due 2026-01-10 02:00 UTC, could not run (run r1)",
        "schedule nightly, due 2026-01-12 02:00 UTC, was missed: it started 6 hours late (run r1)",
    ]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (UsageError("gate.rules[3].tag: no example"), "gate.rules[3].tag: no example"),
        (KeyError("who is Ann?"), "KeyError; see its message with ragauge monitor status"),
    ],
)
def test_a_run_that_cannot_be_made_says_why(tmp_path: Path, error: Exception, told: str) -> None:
    """The reason is in the alert and in what is sent; of an error that may quote a user, the kind alone."""
    with open_store(f"sqlite:///{tmp_path / 'store.db'}") as store:
        server = Server(store, {"notify": [{"webhook": "http://127.0.0.1:9/"}]})
        server.at(NOON)
        server.outcome = build_error_outcome(error)
        server.at(NOON + DAY)
        (kept,) = store.monitors.list_alerts()
        (sent,) = store.monitors.list_due(1e12)
    assert told in kept.alert.said
    assert told in sent.body["why"]
    assert told in format_slack_text(sent.body)
    assert "Ann" not in json.dumps(sent.body) + kept.alert.said
    assert sent.body["shown_by"] == f"ragauge monitor alerts {kept.alert.alert_id}"


def test_two_servers_do_a_run_once(tmp_path: Path) -> None:
    """Of servers that look at the same moment, each with its own connection, one does it."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with open_store(url) as first:
        Server(first).at(NOON)
    stores = [open_store(url) for _ in range(4)]
    servers = [Server(store) for store in stores]
    threads = [threading.Thread(target=server.at, args=(NOON + DAY,)) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(server.did) for server in servers) == 1
    for store in stores:
        store.close()


def test_a_killed_run_goes_on_elsewhere(store: Store) -> None:
    """What a killed server left is gone on with by another when its lease is over, and given up after three times."""
    killed, other = Server(store), Server(store)
    killed.at(NOON)
    killed.outcome = None
    now = NOON + DAY
    assert killed.at(now) == 1
    assert other.at(now + LEASE_S) == 0
    assert other.at(now + LEASE_S + 1) == 1
    assert [wanted.fresh for wanted in (*killed.did, *other.did)] == [True, False]
    other.outcome = None
    other.at(now + DAY)
    for time in range(1, 4):
        other.at(now + DAY + time * (LEASE_S + 1))
    newest = store.jobs.newest("nightly")
    assert newest is not None
    assert (newest.state, newest.said[:8]) == ("error", "gave up:")
    assert len(other.did) == 4


def test_a_server_that_ends_leaves_its_run_to_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server that ends had under way counts as stopped, and another takes it up at once; a killed one's later.

    A schedule's row says when it is due next, not when it became known.
    """
    ends, other, over = Server(store), Server(store), threading.Event()
    ends.at(NOON)
    ends.outcome = None
    ends.then = over.set
    now = NOON + DAY
    assert ends.at(now, over) == 1
    section = {"monitor": {"schedules": [NIGHTLY]}}
    monkeypatch.setattr("ragauge.monitoring.traffic.verb.time.time", lambda: now)
    monkeypatch.setattr("ragauge.monitoring.replay.verb.read_section", lambda _: read_config(section).checked().monitor)
    found = build_traffic_status(store=store.url).data
    assert [(job.state, job.due[:16]) for job in found.jobs] == [
        ("noted", "2026-01-07T02:00"),
        ("running", "2026-01-06T02:00"),
    ]
    (_, table) = build_status_sections(found)
    assert table.table is not None
    assert "stopped" in repr(table.table.rows[1])
    assert other.at(now) == 1


def test_a_changed_corpus_makes_one_run(store: Store, tmp_path: Path) -> None:
    """A run is made when a document changes, comes or goes, once over two servers; the same contents make none."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.md").write_text("old")
    asked: dict[str, Any] = {"cron": None, "on": ["corpus"], "corpus": str(folder)}
    one, two = Server(store, **asked), Server(store, **asked)
    assert (one.at(NOON), one.at(NOON + 5)) == (0, 0)
    (folder / "a.md").write_text("another")
    assert (one.at(NOON + 10), two.at(NOON + 11), one.at(NOON + 15)) == (1, 0, 0)
    (folder / "b.md").write_text("more")
    assert (two.at(NOON + 20), one.at(NOON + 21)) == (1, 0)
    os.utime(folder / "b.md", (1, 1))
    assert one.at(NOON + 25) == 0
    newest = store.jobs.newest("nightly")
    assert newest is not None
    assert newest.why == "corpus changed"
    assert "nightly: corpus" not in build_traffic_status(store=store.url).to_markdown()


@pytest.mark.parametrize(
    ("entry", "said"), [({"cron": None}, "neither cron nor on"), ({"on": ["corpus"]}, "Name it with corpus: PATH")]
)
def test_a_schedule_without_a_time_is_refused(entry: dict[str, object], said: str) -> None:
    """What would never run is said when the configuration is read."""
    problems = read_config({"monitor": {"schedules": [{**NIGHTLY, **entry}]}}).problems
    assert said in str(problems[0])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system that returns what its set asks for, and a gate."""
    passages = "[{'doc_id': 'd1', 'text': 't'}]"
    system = f"def answer(query):\n    return {{'answer': 'a', 'passages': {passages}}}\n"
    (tmp_path / "scheduled_app.py").write_text(system)
    rows = [f'{{"query_id": "q{n}", "query": "what {n}?", "relevant": {{"d1": 1}}}}' for n in range(12)]
    (tmp_path / "golden.jsonl").write_text("\n".join(rows))
    (tmp_path / "ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: recall@1, min: 0.5, decide: point}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def wanted(project: Path, **changed: str) -> ScheduledRun:
    entry = {**NIGHTLY, "run": "scheduled_app:answer", **changed}
    monitor = read_config({"monitor": {"schedules": [entry]}}).checked().monitor
    assert monitor is not None
    url = f"sqlite:///{project / 'store.db'}"
    return ScheduledRun(monitor.schedules[0], "nightly", "ragauge.yaml", "local", url)


@pytest.mark.slow
def test_a_run_has_a_process_of_its_own(project: Path) -> None:
    """A run is done in another process, and its outcome comes back."""
    found = run_in_process(wanted(project), lambda: True)
    assert found is not None
    assert found.state == "pass", found.message


def test_a_run_is_asked_judged_and_held_to_the_rules(project: Path) -> None:
    """The system is asked, its answers are scored by what the rules name, and the gate's verdict is the outcome."""
    found = wanted(project).outcome()
    assert found.state == "pass", found.message
    with open_store(f"sqlite:///{project / 'store.db'}") as store:
        assert store.runs.find(found.run_id).name == "nightly"


def test_what_cannot_be_run_is_an_outcome(project: Path) -> None:
    """A system that is not there, and one that breaks off, end as errors that say why, and status shows them."""
    found = wanted(project, run="nowhere:answer").outcome()
    assert found.state == "error"
    assert "nowhere" in found.message
    with open_store(f"sqlite:///{project / 'store.db'}") as store:
        job = store.jobs.take_job("nightly", NOON, "a", NOON)
        assert job is not None
        store.jobs.end(job, "a", NOON + 1, found.state, message=found.message)
    told = build_traffic_status(store=f"sqlite:///{project / 'store.db'}").to_markdown()
    assert "nightly" in told
    assert "2026-01-05 12:00" in told
    assert "nowhere" in told


def test_a_zone_that_is_none_is_refused() -> None:
    """A zone is asked for when the configuration is read, not at night."""
    problems = read_config({"monitor": {"schedules": [{**NIGHTLY, "zone": "Berlin"}]}}).problems
    assert "expected a time zone such as Europe/Berlin, got text 'Berlin'" in str(problems[0])
