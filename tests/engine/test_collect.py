"""Asking a system: failures one an example, patience, rate control, what survives."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.loopback.service import FlakyService

from ragauge.core.errors import SystemFailed
from ragauge.core.example import EvalSet, Example
from ragauge.core.response import Passage, Response, Run
from ragauge.engine.caller import RetryPolicy
from ragauge.engine.collect import CollectionResult, Pace, RunToFill, collect_responses, order_queries
from ragauge.engine.execute import Progress
from ragauge.engine.system_caller import DEFAULT_RETRY_POLICY, SystemRequest
from ragauge.store.store_access import Store
from ragauge.systems.base import Question, System, SystemTrouble
from ragauge.systems.system_lookup import find_system

SURE = replace(DEFAULT_RETRY_POLICY, call=30)  # a machine that is busy is no reason for a time-out
HANGS = 100.0  # seconds of a call that does not return


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between attempts of milliseconds."""
    monkeypatch.setattr("ragauge.engine.caller.RETRY_WAITS_S", (0.01, 0.02))
    monkeypatch.setattr("ragauge.engine.system_caller.LEAVE_TIMEOUT_S", 0.05)


def questions(n: int) -> EvalSet:
    return EvalSet("golden", tuple(Example(f"q{i}", f"question {i}") for i in range(n)))


def collected(
    store: Store,
    system: Any,
    n: int = 8,
    *,
    patience: RetryPolicy = SURE,
    settings: Mapping[str, Any] | None = None,
    concurrency: int = 4,
    total: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[CollectionResult, dict[str, Response]]:
    """Asks n questions once; what was done, and the responses by query_id."""
    golden, built = questions(n), find_system(system, settings)
    run = store.collecting.begin_run(Run("", "r", system=built.name), golden)

    async def asked() -> CollectionResult:
        try:
            filled, pace = RunToFill(store, run.run_id, total), Pace(concurrency, patience)
            return await collect_responses(
                built, [SystemRequest(one) for one in golden.examples], filled, pace, progress=progress
            )
        finally:
            await built.close()

    done = asyncio.run(asked())
    return done, {response.query_id: response for _, response in store.runs.pairs(run.run_id)}


def test_every_failure_is_a_record_of_its_example(store: Store) -> None:
    """Exceptions, time-outs, sys.exit and what cannot be read stand at their examples; the others are answered."""
    block = threading.Event()

    def answer(query: str) -> Any:
        match query[-1]:
            case "1":
                raise ValueError("no index for this")
            case "2":
                block.wait(HANGS)
            case "3":
                raise SystemExit(3)
            case "4":
                return 42
            case "5":
                return {"answer": "x", "passages": [{"score": 1}]}
        return query

    raised = answer.__code__.co_firstlineno + 3
    done, found = collected(store, answer, patience=replace(SURE, call=3.0), concurrency=8)
    block.set()
    assert (done.n_asked, done.failed) == (8, 5)
    assert {name: one.error for name, one in found.items()} == {
        "q0": None,
        "q6": None,
        "q7": None,
        "q1": f"exception: ValueError: no index for this (test_collect.py line {raised}, in answer)",
        "q2": "timeout: no response within 3 s",
        "q3": "exception: RuntimeError: SystemExit: 3",
        "q4": "unreadable: it returned number 42. Return a text, (answer, passages), a list of passages, a dictionary "
        "with answer and passages, or a ragauge Response (ragauge docs systems).",
        "q5": "unreadable: passages[0] must be an object with doc_id or text, got an object with score.",
    }
    assert found["q0"].latency_ms["total"] > 0
    assert found["q1"].latency_ms["total"] > 0


def test_hanging_calls_hold_up_nobody(store: Store) -> None:
    """Blocking calls that never return cost their time-out each, and neither the others' places nor the end."""
    started = time.perf_counter()
    block = threading.Event()

    def answer(query: str) -> str:
        if query.endswith(("1", "3", "5")):
            block.wait(HANGS)
        return query

    done, found = collected(store, answer, n=12, patience=replace(SURE, call=1.5), concurrency=2)
    block.set()
    assert sorted(name for name, one in found.items() if one.error) == ["q1", "q11", "q3", "q5"]
    assert done.n_asked == 12
    assert time.perf_counter() - started < HANGS


def test_call_that_swallows_its_cancellation_is_left_behind(store: Store) -> None:
    """A coroutine that goes on after it was cancelled is a time-out all the same, and nobody waits for its end."""
    going, over = set[str](), threading.Event()

    async def answer(query: str) -> str:
        going.add(query)
        for _ in range(1_000):
            if over.is_set():
                break
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue
        return query

    def told(progress: Progress) -> None:
        if progress.done == 2:  # both are records by now, and go on all the same
            over.set()

    _, found = collected(store, answer, n=2, patience=replace(SURE, call=0.2), progress=told)
    assert len(going) == 2
    assert over.is_set()
    assert {one.error for one in found.values()} == {"timeout: no response within 0.2 s"}


def test_slow_drip_does_not_outlive_its_time(store: Store) -> None:
    """A reply that comes a byte at a time for ever is a time-out."""
    started = time.perf_counter()
    with FlakyService(faults={"drip": 1.0}) as service:
        _, found = collected(store, service.url, n=3, patience=replace(SURE, call=0.4))
    assert {one.error for one in found.values()} == {"timeout: no response within 0.4 s"}
    assert time.perf_counter() - started < HANGS  # it drips for ever


def test_passing_troubles_are_tried_again(store: Store) -> None:
    """5xx and broken connections are tried again and counted; the responses are those of the attempts that worked."""
    faults = {"server": 0.3, "broken_connection": 0.2, "overloaded": 0.1}
    with FlakyService(faults=faults, seed=3, once=True) as service:
        done, found = collected(store, service.url, n=40, concurrency=8)
        met = service.met
    assert done.failed == 0
    assert {one.answer for one in found.values()} == {f"You asked: question {i}" for i in range(40)}
    assert done.again == {"server": met["server"] + met["overloaded"], "connection": met["broken_connection"]}
    assert min(done.again.values()) > 0


def test_lasting_failure_is_recorded_with_its_status(store: Store) -> None:
    """A 5xx at every attempt is a failure after as many as patience has, with status and message."""
    with FlakyService(status=503, respond=lambda _: {"detail": "the index is loading"}) as service:
        _, found = collected(store, service.url, n=2)
        assert len(service.requests) == 2 * SURE.attempts
    assert {one.error for one in found.values()} == {'server: HTTP 503: {"detail": "the index is loading"}'}


def test_too_many_requests_slow_down_and_are_no_failures(store: Store) -> None:
    """A service that takes two at a time is asked with eight, answers 429 with Retry-After, and loses nothing."""
    with FlakyService(limit=2, latency=0.02) as service:
        done, found = collected(store, service.url, n=30, concurrency=8)
        refused = service.met["rate_limited"]
    assert done.failed == 0
    assert len(found) == 30
    assert done.again["rate_limited"] == refused > 0
    assert refused < 60


def test_exceptions_that_mean_too_many_are_waited_for(store: Store) -> None:
    """A client's RateLimitError with its retry_after is borne as a 429 is."""

    class RateLimitError(Exception):
        retry_after = 0.01

    seen: set[str] = set()

    def answer(query: str) -> str:
        if query not in seen:
            seen.add(query)
            raise RateLimitError("slow down")
        return query

    done, _ = collected(store, answer, n=4, concurrency=1)
    assert done.failed == 0
    assert done.again == {"rate_limited": 4}


def test_patience_with_refusals_ends(store: Store) -> None:
    """A system that refuses every time is a failure of kind rate_limited once patience ends."""

    async def answer(query: str) -> str:
        raise SystemTrouble("rate_limited", "never", retry_after=0.0)

    _, found = collected(store, answer, n=1, patience=replace(SURE, refusals=3))
    assert found["q0"].error == "rate_limited: never"


def test_come_back_tomorrow_ends_the_run(store: Store) -> None:
    """A Retry-After beyond patience ends the run with the reason instead of failing every question."""

    async def answer(query: str) -> str:
        raise SystemTrouble("rate_limited", "quota", retry_after=86_400)

    with pytest.raises(SystemFailed, match="asks to come back in 86,400 s: quota"):
        collected(store, answer)


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "auth: HTTP 401"), (404, "not_found: HTTP 404"), (200, "unreadable: it returned neither an answer nor")],
)
def test_wrong_service_ends_the_run_at_once(store: Store, status: int, said: str) -> None:
    """A service that does not let us in, is not there, or returns something else is one error, not a failure each."""
    with FlakyService(status=status, respond=lambda _: {"foo": "bar"}) as service:
        with pytest.raises(SystemFailed, match=said):
            collected(store, service.url, n=50)
        assert len(service.requests) <= 3 + 4
    (run,) = store.runs.list()
    assert store.collecting.list_response_keys(run.run_id) == set()


@pytest.mark.parametrize("later", range(6))
def test_run_that_ends_prints_no_trace(store: Store, later: int, caplog: pytest.LogCaptureFixture) -> None:
    """Where a run ends at once, a question that fails in the same moment is not printed as a task's lost exception."""

    class Wrong(System):
        async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
            for _ in range(later if question.query_id == "q3" else 0):
                await asyncio.sleep(0)
            raise SystemTrouble("unreadable", "it returned null")

    with pytest.raises(SystemFailed, match="cannot be called"):
        collected(store, Wrong("wrong"), n=4)
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_nobody_listens(store: Store) -> None:
    """A refused connection ends the run and says so."""
    with FlakyService() as service:
        url = service.url
    with pytest.raises(SystemFailed, match="cannot be called: connection: ConnectError"):
        collected(store, url, n=20)


def test_few_hopeless_failures_are_records(store: Store) -> None:
    """What would end a run when it came three times is a record where it came once."""

    def answer(query: str) -> Any:
        return None if query.endswith("0") else query

    done, found = collected(store, answer, n=3, concurrency=1)
    assert (done.n_asked, done.failed) == (3, 1)
    assert found["q0"].error is not None


def test_secrets_are_not_stored(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """No header's value and no key of the environment stands in a stored error, even where the service says it."""
    monkeypatch.setenv("MY_LOGIN", "swordfish-swordfish")
    monkeypatch.setenv("SOME_API_KEY", "abcdefghijkl")
    settings = {"headers": {"X-Login": "Bearer ${MY_LOGIN}"}}
    said = {"detail": "you sent swordfish-swordfish, and the server knows abcdefghijkl"}
    with FlakyService(status=422, respond=lambda _: said) as service:
        _, found = collected(store, service.url, n=1, settings=settings)
        assert service.requests[0].headers["x-login"] == "Bearer swordfish-swordfish"
    assert found["q0"].error == ('refused: HTTP 422: {"detail": "you sent [hidden], and the server knows [key]"}')


def test_number_that_no_store_keeps_is_a_record(store: Store) -> None:
    """A response with NaN is unreadable and named; the others of its transaction are kept."""

    def answer(query: str) -> Response:
        return Response("", answer=query, cost=float("nan") if query.endswith("2") else 0.5)

    done, found = collected(store, answer, n=5, concurrency=5)
    assert [name for name, one in found.items() if one.error] == ["q2"]
    assert "unreadable: query 'q2'" in str(found["q2"].error)
    assert done.n_asked == 5


def test_cancelled_run_keeps_what_arrived(store: Store) -> None:
    """Cancelled in the middle, every response that had arrived is in the store."""
    golden = questions(50)
    run = store.collecting.begin_run(Run("", "r"), golden)
    answered: list[str] = []

    async def answer(query: str) -> str:
        await asyncio.sleep(0.01)
        answered.append(query)
        return query

    async def stopped() -> None:
        task = asyncio.create_task(
            collect_responses(
                find_system(answer), [SystemRequest(one) for one in golden.examples], RunToFill(store, run.run_id)
            )
        )
        while len(answered) < 20:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())
    assert 20 - 4 <= len(store.collecting.list_response_keys(run.run_id)) <= len(answered)
    assert len(answered) < 50


def test_progress_ends_at_the_total(store: Store) -> None:
    """Progress counts what was there before, ends at the total, and says what failed."""
    told: list[Progress] = []

    def answer(query: str) -> str:
        if query.endswith("1"):
            raise ValueError
        return query

    collected(store, answer, n=4, concurrency=1, total=10, progress=told.append)
    assert [one.done for one in told] == [7, 8, 9, 10]
    assert {one.total for one in told} == {10}
    assert "1 failed" in told[-1].note


def test_order_is_drawn_and_the_same_for_every_system() -> None:
    """The order depends on the set alone, is not that of the file, and every half of it is a fair sample."""
    ids = [f"q{i}" for i in range(1_000)]
    order = order_queries(ids, "v1")
    assert order == order_queries(ids[::-1], "v1") != ids
    assert sorted(order) == sorted(ids)
    assert order != order_queries(ids, "v2")
    places = [int(one[1:]) for one in order[:500]]
    assert abs(sum(places) / 500 - 499.5) < 3 * 288.7 / 500**0.5  # three standard errors of a uniform draw


class Handed(System):
    """Notes what it is handed."""

    def __init__(self) -> None:
        super().__init__("handed", variants={"replayed"})
        self.seen: list[tuple[str, tuple[Passage, ...] | None, int]] = []

    async def respond(self, question: Question, passages: Sequence[Passage] | None = None) -> Response:
        self.seen.append((question.query_id, None if passages is None else tuple(passages), question.repeat))
        return Response(question.query_id, question.repeat, answer="x", latency_ms={"total": 5.0})


def test_system_sees_question_passages_and_repeat(store: Store) -> None:
    """A system is handed the passages and repeat of its asking, and a total that it reports itself stays."""
    golden, system = questions(1), Handed()
    passage = (Passage("p", "d", "text"),)
    run = store.collecting.begin_run(Run("", "r"), golden)
    askings = [SystemRequest(golden.examples[0], repeat, passage if repeat else None) for repeat in range(2)]
    asyncio.run(collect_responses(system, askings, RunToFill(store, run.run_id), Pace(concurrency=1)))
    assert system.seen == [("q0", None, 0), ("q0", passage, 1)]
    assert [one.latency_ms for _, one in store.runs.pairs(run.run_id)] == [{"total": 5.0}] * 2
