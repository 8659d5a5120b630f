"""The pool that asks models: what it does when runs are stopped, broken, done twice, or have nothing to do."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.engine.model_rows import METRICS, rows
from tests.loopback.server import FaultyServer

import ragauge as rg
from ragauge.core.ask import Ask, ModelName, Reply
from ragauge.core.errors import JudgeError, StoreError
from ragauge.engine.budget import Budget
from ragauge.engine.caller import RetryPolicy
from ragauge.engine.execute import EvaluationOutcome, execute_plan
from ragauge.engine.judges import build_judge
from ragauge.engine.models import CallOptions
from ragauge.engine.plan import build_plan
from ragauge.metrics.catalogue import select_metrics
from ragauge.models.build import build_model
from ragauge.models.model import CallError
from ragauge.store.store_access import Store, open_store

pytestmark = pytest.mark.server
NAMES = METRICS.split(",")


def imported(store: Store, n: int = 8) -> str:
    """A run of n rows; nothing of it is judged."""
    rg.evaluate(rows(n), judge=None, metrics="token_f1", store=store.url, name="r")
    return store.runs.find("r").run_id


def calling(concurrency: int = 4, most: float | None = None, build: Any = build_model, **patience: Any) -> CallOptions:
    """How models are called in a test: once, and no more at once than it says."""
    budget = Budget(most, lambda _name, usage: float(usage.input_tokens + usage.output_tokens))
    patient = RetryPolicy(**{"call": 60.0, "total": 60.0, "attempts": 1} | patience)
    return CallOptions(build, budget, concurrency, patient, most=concurrency)


async def judged(store: Store, run_id: str, spec: str, how: CallOptions) -> EvaluationOutcome:
    """Carries out what is left of a run."""
    found = build_plan(store, run_id, select_metrics(NAMES), build_judge(spec))
    return await execute_plan(found, store, calling=how)


class Closed:
    """A model that fails on purpose, and tells whether it was closed and asked afterwards."""

    def __init__(self, name: ModelName, outcome: Exception, seconds: float) -> None:
        self.name, self.outcome, self.seconds = name, outcome, seconds
        self.calls = self.late = 0
        self.closed = False

    async def reply(self, ask: Ask, timeout: float) -> Reply:
        self.calls += 1
        self.late += self.closed
        await asyncio.sleep(self.seconds * (self.calls > 1))
        raise self.outcome

    async def close(self) -> None:
        self.closed = True


def test_one_fatal_call_ends_all_others_at_once(store: Store) -> None:
    """No such model: the run ends at the first answer, gives up what is under way, and nobody asks afterwards."""
    made: list[Closed] = []

    def build(name: ModelName) -> Closed:
        made.append(Closed(name, CallError("unknown_model", "no such model", status=404), 60.0))
        return made[-1]

    async def main() -> None:
        with pytest.raises(JudgeError, match="no such model"):
            await judged(store, imported_run, "openai-chat:any@http://127.0.0.1:1/v1", calling(build=build))
        until = time.monotonic() + 60
        while len(asyncio.all_tasks()) > 1 and time.monotonic() < until:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.2)  # whoever asks now is late
        assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []

    imported_run = imported(store)
    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 20
    (model,) = made
    assert model.closed
    assert model.late == 0
    assert model.calls <= 5  # the first one gave its slot to a fifth


def test_an_unforeseen_exception_fails_its_asks_alone(store: Store) -> None:
    """A model object that raises what nobody expects: every example is accounted for, with the exception's words."""
    how = calling(build=lambda name: Closed(name, ZeroDivisionError("sum of nothing"), 0.0))
    run_id = imported(store)
    outcome = asyncio.run(judged(store, run_id, "openai-chat:any@http://127.0.0.1:1/v1", how))
    assert (outcome.done, outcome.pending) == (8, 0)
    judge_id = build_judge("openai-chat:any@http://127.0.0.1:1/v1").judge_id
    frame = store.scores.load_frame(run_id, judge_id).filter(metric="faithfulness")
    assert set(frame["status"]) == {"failed"}
    assert all("ZeroDivisionError: sum of nothing" in reason for reason in frame["reason"])


def test_nothing_to_do_asks_nothing_and_builds_nothing(store: Store) -> None:
    """A plan that is done already starts no model and no thread."""
    run_id = imported(store)
    with FaultyServer() as server:
        spec = f"openai-chat:any@{server.url}"
        assert asyncio.run(judged(store, run_id, spec, calling())).done == 8
        asked, threads = len(server.requests), threading.active_count()

        def build(name: ModelName) -> Any:
            raise AssertionError(name)

        outcome = asyncio.run(judged(store, run_id, spec, calling(build=build)))
        assert len(server.requests) == asked == 24
    assert (outcome.done, outcome.pending, outcome.n_asked) == (0, 0, 0)
    assert outcome.calling is not None
    assert outcome.calling.calls == 0
    assert threading.active_count() <= threads


def test_a_cancelled_run_keeps_its_replies_and_ends_quickly(store: Store) -> None:
    """Cancelled in the middle: nothing goes on, what was answered is not asked again."""
    run_id = imported(store)

    async def main(spec: str) -> None:
        task = asyncio.create_task(judged(store, run_id, spec, calling(concurrency=2)))
        while len(server.requests) < 9 and not task.done():
            await asyncio.sleep(0.01)
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 30
        assert [one for one in asyncio.all_tasks() if one is not asyncio.current_task()] == []

    with FaultyServer(latency=0.1) as server:
        spec = f"openai-chat:any@{server.url}"
        asyncio.run(main(spec))
        before, stored = len(server.requests), len(list(store.replies.iter_lines()))
        assert before - 2 <= stored <= before  # two were under way
        outcome = asyncio.run(judged(store, run_id, spec, calling()))
        assert (outcome.pending, len(server.requests) - before) == (0, 24 - stored)


@pytest.mark.filterwarnings("ignore:.*by another process or thread")  # as it is here: told of one run twice
@pytest.mark.filterwarnings("ignore:.*is now another name for that run")  # and of its two names
def test_two_runs_at_once_in_two_threads(tmp_path: Path) -> None:
    """Two threads evaluate with the same model object's kind, in one store and in two: scores are the same."""
    cards: dict[str, Any] = {}

    def work(name: str, store: str) -> None:
        cards[name] = rg.evaluate(
            rows(10), judge=f"openai-chat:any@{server.url}", metrics=METRICS, store=store, name=name, concurrency=8
        )

    with FaultyServer(latency=0.01) as server:
        one, two = (f"sqlite:///{tmp_path / name}.db" for name in ("one", "two"))
        rg.evaluate(rows(1), metrics="token_f1", judge=None, store=one)  # both threads find the tables
        threads = [threading.Thread(target=work, args=pair) for pair in (("a", one), ("b", one), ("c", two))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 60 <= len(server.requests) <= 90  # a and b share replies where one was first
    assert set(cards) == {"a", "b", "c"}
    for name in NAMES:
        assert cards["a"][name].mean == cards["b"][name].mean == cards["c"][name].mean
        assert cards["a"][name].scored == 10


def test_a_store_that_breaks_in_the_middle_is_told(store: Store) -> None:
    """Replies that cannot be written end the run with the store's own words: nothing is bought to be lost."""
    run_id = imported(store, 40)

    async def main() -> None:
        task = asyncio.create_task(judged(store, run_id, f"openai-chat:any@{server.url}", calling(concurrency=2)))
        while len(server.requests) < 5 and not task.done():
            await asyncio.sleep(0.01)
        with store._database.write() as connection:
            connection.exec_driver_sql("ALTER TABLE replies RENAME TO away")
        with pytest.raises(StoreError, match="replies"):
            await task

    with FaultyServer(latency=0.05) as server:
        asyncio.run(main())
        assert len(server.requests) < 20


def test_a_slow_drip_holds_nobody_up(store: Store) -> None:
    """Calls that drip for ever end at their time-out while others go on; the run ends."""
    run_id = imported(store, 4)
    began = time.monotonic()
    with FaultyServer({"drip": 0.3}, seed=3) as server:
        outcome = asyncio.run(judged(store, run_id, f"openai-chat:any@{server.url}", calling(call=4.0, total=4.0)))
        assert server.met["drip"] > 0
    assert outcome.pending == 0
    assert outcome.calling is not None
    assert outcome.calling.errors["timeout"] == server.met["drip"]
    assert outcome.calling.in_flight == 0
    assert time.monotonic() - began < 60


def test_money_that_runs_out_keeps_what_was_paid(store: Store) -> None:
    """At the bound nothing new begins, what was under way is stored, and the next run pays only for the rest."""
    run_id = imported(store)
    with FaultyServer(latency=0.05) as server:
        spec = f"openai-chat:any@{server.url}"
        outcome = asyncio.run(judged(store, run_id, spec, calling(most=7_000.0)))
        first = len(server.requests)
        assert outcome.stopped.startswith("Stopped before --max-cost")
        assert outcome.pending > 0
        assert outcome.calling is not None
        assert 0 < outcome.calling.cost <= 7_000
        assert len(list(store.replies.iter_lines())) == first
        asyncio.run(judged(store, run_id, spec, calling()))
        assert len(server.requests) == 24


def test_calls_are_recorded_for_their_response(store: Store) -> None:
    """Every attempt, answered or not, stands in the record of its run; sums agree with what the run counted."""
    run_id = imported(store)
    with FaultyServer({"server": 0.3}, once=True) as server:
        how = calling(attempts=3, total=20.0)
        outcome = asyncio.run(judged(store, run_id, f"openai-chat:any@{server.url}", how))
        requests = len(server.requests)
    spent = store.calls.spent(run_id)
    assert outcome.calling is not None
    assert sum(one.paid.calls for one in spent) == outcome.calling.calls == requests
    assert sum(one.paid.failed for one in spent) == outcome.calling.errors["server"] > 0
    assert sum(one.paid.cost or 0.0 for one in spent) == pytest.approx(outcome.calling.cost)


def test_what_is_held_in_memory_does_not_grow(store: Store) -> None:
    """After a run neither caller nor ledger hold a reply."""
    from ragauge.engine import models

    pools: list[Any] = []
    keep = models.ModelPool.__init__

    def watched(self: Any, *words: Any) -> None:
        keep(self, *words)
        pools.append(self)

    run_id = imported(store)
    with FaultyServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(models.ModelPool, "__init__", watched)
        asyncio.run(judged(store, run_id, f"openai-chat:any@{server.url}", calling()))
    (pool,) = pools
    assert (pool.caller.n_waiting, pool.caller.n_in_flight) == (0, 0)
    assert not pool._ledger._writer._next
    assert sys.getrefcount(pool) < 10


def test_opening_the_store_again_finds_the_same(store: Store) -> None:
    """A store closed after a run with a model has the same scores when it is opened anew."""
    run_id = imported(store)
    with FaultyServer() as server:
        spec = f"openai-chat:any@{server.url}"
        asyncio.run(judged(store, run_id, spec, calling()))
    judge_id = build_judge(spec).judge_id
    with open_store(store.url) as again:
        assert again.scores.load_frame(run_id, judge_id).equals(store.scores.load_frame(run_id, judge_id))
