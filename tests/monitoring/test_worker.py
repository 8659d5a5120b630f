"""The loop of the server: turns, errors, lanes, steps of the clock, and the lease of a job."""

from __future__ import annotations

import threading

import pytest
from tests.monitoring.serving import waits

from ragauge.core.errors import StoreError
from ragauge.monitoring import worker as worker_module
from ragauge.monitoring.worker import CLOCK_STEP_S, Lease, LoopStage, StageLoop, StageTurn, SteadyClock
from ragauge.store.jobs import LEASE_S
from ragauge.store.store_access import Store


def test_what_is_due_is_done_at_once(store: Store) -> None:
    """A stage with work has turns one after another, between those of its lane; then it waits for its interval."""
    left, turns = [3], list[str]()

    def work(_: StageTurn) -> int:
        turns.append("work")
        left[0] -= 1
        return max(0, left[0])

    def rest(_: StageTurn) -> int:
        turns.append("rest")
        return 0

    server = StageLoop(store, [LoopStage("a", work, 3600.0), LoopStage("a", rest, 3600.0)], print)
    server.start()
    waits(lambda: left[0] == 0)
    server.close()
    assert turns == ["work", "rest", "work", "work"]


def test_an_error_is_reported_once_and_tried_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage that fails has another turn; the same error is reported once, and the other stages of its lane go on."""
    monkeypatch.setattr(worker_module, "RETRY_S", 0.01)
    errors, warnings, n_other = ["a", "a", "b", "a"], list[str](), [0]

    def fail(_: StageTurn) -> int:
        if errors:
            raise StoreError(errors.pop(0))
        return 0

    def succeed(_: StageTurn) -> int:
        n_other[0] += 1
        return 0

    server = StageLoop(store, [LoopStage("a", fail, 3600.0), LoopStage("a", succeed, 0.01)], warnings.append)
    server.start()
    waits(lambda: not errors and n_other[0] > 3)
    server.close()
    assert warnings == [f"traces are waiting: {error}" for error in ("a", "b", "a")]


def test_a_lane_that_waits_holds_up_no_other(store: Store) -> None:
    """A stage that waits for others, such as a judge, leaves the other lanes their turns; both see the end."""
    n_done, over = [0], list[bool]()

    def wait(turn: StageTurn) -> int:
        over.append(turn.over.wait(200.0))
        return 0

    def count(_: StageTurn) -> int:
        n_done[0] += 1
        return 0

    server = StageLoop(store, [LoopStage("judge", wait, 0.0), LoopStage("read", count, 0.01)], print)
    server.start()
    waits(lambda: n_done[0] > 3)
    server.close()
    assert over == [True]


def test_a_step_of_the_clock_is_another_beginning() -> None:
    """While clock and time agree the beginning stays; a step by more than a minute, either way, is a new one."""
    elapsed = [0.0]
    steady_clock = SteadyClock(lambda: elapsed[0])
    assert [steady_clock.find_start(now) for now in (100.0, 100.0 + CLOCK_STEP_S)] == [100.0, 100.0]
    elapsed[0] = 1000.0
    forward = 1161.0 + CLOCK_STEP_S
    assert [steady_clock.find_start(now) for now in (1160.0, forward, forward)] == [100.0, forward, forward]
    assert steady_clock.find_start(100.0) == 100.0


def test_a_lease_is_one_servers(store: Store) -> None:
    """One server has a job until it ends, gives it back, or sends no heartbeat; the loser's outcome is not kept."""
    now = [1000.0]
    turn = StageTurn(store, lambda: now[0])
    lease = Lease.take(turn, "nightly", 1000.0)
    assert lease is not None
    assert (lease.renew(), Lease.take(turn, "nightly", 1000.0)) == (True, None)
    now[0] += LEASE_S + 1
    other = Lease.take(turn, "nightly", 1000.0)
    assert other is not None
    assert (lease.renew(), lease.end("pass"), other.job.attempts) == (False, False, 2)
    other.release()
    third = Lease.take(StageTurn(store, lambda: now[0], threading.Event()), "nightly", 1000.0)
    assert third is not None
    third.turn.over.set()
    assert not third.renew()
    assert third.end("pass", run_id="r1", message="fine")
    assert Lease.take(turn, "nightly", 1000.0) is None
