"""The clock is put back an hour: no trace waits for it, no lease stays with the dead, no run is made twice."""

from __future__ import annotations

import json

import pytest
from tests.monitoring.test_scheduling import Server
from tests.monitoring.test_settling import LATER

from ragauge.monitoring import lines
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.scoring import TrafficScorer
from ragauge.monitoring.settling import settle
from ragauge.store.inbox import Batch
from ragauge.store.jobs import LEASE, Jobs
from ragauge.store.open import Store

HOUR = 3600.0
NOON = LATER // 86_400 * 86_400 + 12 * HOUR
FREE = Policy(judge="none", metrics=("empty_result_rate",))


def came(store: Store, at: float, *names: str) -> None:
    """Requests that came at a moment of the server's clock."""
    row = {"query": "How long?", "answer": "14 days.", "passages": []}
    found = lines.parse("\n".join(json.dumps({"query_id": name, **row}) for name in names).encode())
    store.inbox.add([Batch(at, "responses", found.body, found.parts)])


def outcomes(store: Store, *names: str) -> list[str]:
    return [one.outcome for one in store.ledger.lines(names).values()]


def test_traces_are_read(store: Store) -> None:
    """What came seconds before the clock was put back is read at once, what comes after it in its time, each once."""
    came(store, NOON, "a", "b")
    now = NOON - HOUR
    came(store, now, "c")
    assert settle(store, FREE, now) == 2
    assert settle(store, FREE, now + 5.1) == 1
    assert settle(store, FREE, NOON + HOUR) == 0
    TrafficScorer(store, FREE, print).score()
    assert outcomes(store, "a", "b", "c") == ["scored"] * 3
    assert [run.done for run in store.runs.list()] == [3]


@pytest.mark.parametrize("alive", [False, True])
def test_leases_of_the_dead(store: Store, alive: bool) -> None:
    """A job whose server died before the clock was put back is taken two minutes later; a living one keeps it."""
    elapsed = 0.0
    other = Jobs(store.jobs._database, lambda: elapsed)
    job = store.jobs.take("nightly", NOON, "a", NOON)
    assert job is not None
    taken = []
    for elapsed in range(0, int(LEASE) + 20, 10):
        now = NOON - HOUR + elapsed
        if alive:
            assert store.jobs.beat(job, "a", now)
        taken.append(other.take("nightly", NOON, "b", now))
    assert [one is not None for one in taken] == [False] * 13 + [not alive]


def test_no_schedule_runs_twice(store: Store) -> None:
    """A run of noon that was made is not made again when noon comes a second time; the next day's is made."""
    server = Server(store, cron="0 12 * * *")
    moments = (NOON - 60, NOON + 1, NOON - HOUR, NOON - 1, NOON + 1, NOON + HOUR)
    assert [server.at(now) for now in moments] == [0, 1, 0, 0, 0, 0]
    assert server.at(NOON + 25 * HOUR) == 1
