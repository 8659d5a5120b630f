"""Carries out a plan: batches to the pool, what comes back into the store, one transaction a batch."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count

from ragauge.core.errors import UsageError
from ragauge.core.verdict import ExampleVerdict
from ragauge.engine.budget import BudgetReached
from ragauge.engine.caller import CallCounts
from ragauge.engine.controls import ControlCounts, ask_controls, needs_controls
from ragauge.engine.judge_batch import JudgedResponse, Work, drive_jobs, overtaken
from ragauge.engine.judges import spec_of
from ragauge.engine.label_facts import read_label_facts
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.engine.models import Calling, Models, calling_of
from ragauge.engine.plan import Plan, declare_own, own_declarations, renew
from ragauge.engine.pool import MOST, InProcess, Pool, Processes, Timed, Worker
from ragauge.engine.worker import Task
from ragauge.judges.judge import asks_models
from ragauge.metrics.catalogue import parse
from ragauge.scores.results.scorecard import Cause
from ragauge.store.store_access import Store

AHEAD = 2  # batches in hand beyond those being judged: one waits for a worker, one is being stored
TICK = 1.0  # seconds between two reports while models are asked
BEAT = 5  # reports between two signs of life in the store
WORTH_ASKING, WORTH_COUNTING = 64, 4_000  # pending responses that pay for starting processes (about 1.5 s each)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an evaluation is.

    Attributes:
        done: responses evaluated, earlier ones of the plan included.
        total: responses of the plan.
        rate: responses a second since the start, what is done of batches under way included.
        seconds_left: at this rate; None before anything is done.
        asked: questions asked so far.
        reused: questions answered by what was stored.
        calling: calls to models, where there are any.
        seconds: since the start.
        note: what else there is to say.
    """

    done: int
    total: int
    rate: float
    seconds_left: float | None
    asked: int
    reused: int
    calling: CallCounts | None = None
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationOutcome:
    """What an evaluation did.

    Attributes:
        done: responses evaluated now.
        pending: responses of the plan that are left.
        asked: questions asked.
        reused: questions answered by what was stored, or asked once for several responses.
        failed: questions that failed.
        seconds: how long it took.
        workers: processes that worked; 1 = this one.
        notes: what went wrong and was mended, such as a worker that died.
        calling: calls to models, where there were any.
        stopped: why it ended early; "" when it did not.
    """

    done: int
    pending: int
    asked: int
    reused: int
    failed: int
    seconds: float
    workers: int
    notes: tuple[str, ...] = ()
    calling: CallCounts | None = None
    stopped: str = ""


async def execute(
    plan: Plan,
    store: Store,
    *,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    limit: int | None = None,
    calling: Calling | None = None,
) -> EvaluationOutcome:
    """Evaluates what the plan has left, in its order. What is finished is durable, whatever ends it.

    Args:
        plan: what is to be done.
        store: where the run is and where results go.
        workers: processes; None = one per core. Little work, or a judge that no other process can build, is done
            in this process.
        progress: called after every batch, and every second while models are asked.
        limit: stop after so many responses; the next call goes on from there.
        calling: how models are called, where the judge is one; what may be spent is in it.
    """
    if workers is not None and workers < 1:
        raise UsageError(f"workers must be at least 1, got {workers}.")
    if plan.listing is not None and plan.listing != store.listings.read(plan.run_id):
        store.listings.write(plan.run_id, plan.listing)  # before workers read it
    if plan.judge is not None and (spec := spec_of(plan.judge)) is not None:
        store.judges.keep(plan.judge.judge_id, spec)
    declare_own(plan.metrics, store)
    models, most = _models(plan, store, calling), sys.maxsize if limit is None else max(0, limit)
    # they import what they need while control pairs are judged here
    started = [] if models else _start_workers(plan, workers, min(plan.pending, most))
    try:
        plan = await _with_controls(plan, store, models)
    except BaseException as error:
        for worker in started:
            worker.kill()
        counts = await _stop_models(models)
        if not isinstance(error, BudgetReached):
            raise
        return EvaluationOutcome(0, plan.pending, 0, 0, 0, 0.0, 1, calling=counts, stopped=str(error))
    todo = min(plan.pending, most)
    pool = models or _pool(plan, store, started or _start_workers(plan, workers, todo))
    execution = _Execution(plan, store, pool, todo, progress)
    await execution.run_to_end()
    return execution.outcome()


@dataclass
class _Execution:
    plan: Plan
    store: Store
    pool: Pool
    todo: int
    progress: Callable[[Progress], None] | None
    started: float = field(default_factory=time.perf_counter)
    done: int = 0
    asked: int = 0
    reused: int = 0
    failed: int = 0
    place: int = 0
    again: list[int] = field(default_factory=list)
    stopped: str = ""
    # writes wait for the disk: in a thread of their own, so that the event loop and the workers do not
    writer: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="ragauge-store")
    )

    async def run_to_end(self) -> None:
        """Judges what is left or what the budget allows, then ends the workers and finishes the writes."""
        ticking = asyncio.create_task(self.tick()) if self.pool.slow else None
        try:
            await self.run()
        except BudgetReached as end:
            self.stopped = str(end)
        finally:
            if ticking is not None:
                ticking.cancel()
                await asyncio.gather(ticking, return_exceptions=True)
            try:
                await self.pool.close()
            finally:
                self.close()

    async def run(self) -> None:
        """Keeps every worker busy, and a few batches more than that in hand."""
        flying: set[asyncio.Task[None]] = set()
        try:
            while True:
                while len(flying) < self.pool.workers + AHEAD and (batch := self._next()) is not None:
                    flying.add(asyncio.create_task(self._one(*batch)))
                if not flying:
                    return
                finished, left = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    task.result()  # where several failed, the first is told; the others are taken in below
                flying = left
        finally:
            for task in flying:
                task.cancel()
            await asyncio.gather(*flying, return_exceptions=True)

    async def tick(self) -> None:
        """Tells every second how far it is, and the store every few that it lives: a slow model takes minutes."""
        loop = asyncio.get_running_loop()
        for second in count(1):
            await asyncio.sleep(TICK)
            if self.progress is not None:
                self.progress(self._progress())
            if second % BEAT == 0:
                await loop.run_in_executor(self.writer, self.store.evaluations.move, self.plan.run_id)

    def close(self) -> None:
        """Ends the workers, then finishes the writes that were handed over."""
        self.pool.stop()
        self.writer.shutdown(wait=True)

    def outcome(self) -> EvaluationOutcome:
        """What was done."""
        return EvaluationOutcome(
            done=self.done,
            pending=self.plan.pending - self.done,
            asked=self.asked,
            reused=self.reused,
            failed=self.failed,
            seconds=time.perf_counter() - self.started,
            workers=self.pool.workers,
            notes=tuple(self.pool.notes),
            calling=self.pool.calling(),
            stopped=self.stopped,
        )

    def _next(self) -> tuple[Sequence[int], bool] | None:
        """Numbers of the next batch, and whether it is done again; sizes follow the speed."""
        if self.again:
            batch, self.again = self.again[:MOST], self.again[MOST:]
            return batch, True
        numbers, keys, start = self.plan.numbers, self.plan.keys, self.place
        if start >= self.todo:
            return None
        end = min(start + self.pool.size, self.todo)
        # responses to one question are judged together, so that equal inputs are asked once
        while end < self.todo and keys[end] == keys[end - 1] and end - start < MOST:
            end += 1
        self.place = end
        return numbers[start:end], False

    async def _one(self, numbers: Sequence[int], again: bool) -> None:
        timed = await asyncio.wrap_future(self.pool.judge(numbers))
        writing = asyncio.get_running_loop().run_in_executor(self.writer, self._write, timed, again)
        writing.add_done_callback(_seen)
        lost = await asyncio.shield(writing)  # a cancelled evaluation still keeps what was judged
        self.again += lost
        self._count(timed, len(numbers) - len(lost))

    def _write(self, timed: Timed, again: bool) -> list[int]:
        """Stores a batch; returns responses to do again: another process stored other evidence first, or a response."""
        with self.store.transaction():
            other = overtaken(self.store, timed.result.judged)
            judged = [one for one in timed.result.judged if one.response_no not in other]
            lost_keys = self.store.evidence.add([(one.response_no, e) for one in judged for e in one.evidence])
            lost = [] if again else [one for one in judged if any(e.key in lost_keys for e in one.evidence)]
            gone = {one.response_no for one in lost}
            kept = [one for one in judged if one.response_no not in gone]
            gone |= other if not again else set()
            self._write_scores(kept)
            self.store.evaluations.move(self.plan.run_id, len(kept))
        return sorted(gone)

    def _write_scores(self, judged: Sequence[JudgedResponse]) -> None:
        plan = self.plan
        rows = ((one.response_no, one.measured) for one in judged)
        self.store.scores.write(plan.run_id, plan.columns, rows)
        verdicts = {one.response_no: one.verdict for one in judged}
        self._write_decided(plan.judge_id, {one.response_no: one.cause for one in judged}, verdicts)
        if plan.judge_id is not None:  # what one who asks nobody sees, whoever evaluated first
            unjudged = {one.response_no: one.unjudged_verdict for one in judged}
            self._write_decided(None, {one.response_no: one.unjudged for one in judged}, unjudged)

    def _write_decided(
        self, judge_id: str | None, causes: Mapping[int, Cause | None], verdicts: Mapping[int, ExampleVerdict]
    ) -> None:
        plan = self.plan
        repeat, controls = (0, "") if judge_id is None else (plan.judge_repeat, plan.fingerprint)
        self.store.causes.write(plan.run_id, judge_id, causes, repeat)
        self.store.verdicts.write(plan.run_id, judge_id, verdicts, repeat, controls=controls)

    def _count(self, timed: Timed, done: int) -> None:
        self.done += done
        self.asked += timed.result.asked
        self.reused += timed.result.reused
        self.failed += timed.result.failed
        self.pool.took(timed)
        if self.progress is not None:
            self.progress(self._progress())

    def _progress(self) -> Progress:
        seconds = time.perf_counter() - self.started
        worked = self.done + self.pool.under_way
        rate = worked / max(seconds, 1e-9)
        left = max(0.0, self.todo - worked) / rate if rate > 0 else None
        done, total = self.plan.done + self.done, self.plan.total
        return Progress(done, total, rate, left, self.asked, self.reused, self.pool.calling(), seconds)


def _seen(writing: asyncio.Future[list[int]]) -> None:
    """Takes in the error of a write: whoever waited for it may be gone."""
    if not writing.cancelled():
        writing.exception()


async def _with_controls(plan: Plan, store: Store, models: Models | None) -> Plan:
    """The plan after the judge was asked about its control pairs, where it is: what rested on others is done again."""
    if not needs_controls(plan):
        return plan
    work = replace(_work(plan, store), judge_repeat=0)  # asked once, however often responses are judged
    steps = ask_controls(plan, store, work, ControlCounts())
    if models is not None:
        controls = await models.drive(steps)
    else:
        controls = await asyncio.get_running_loop().run_in_executor(None, drive_jobs, steps, work)
    if controls != plan.controls and plan.judge_id is not None:
        store.controls.write(plan.run_id, plan.judge_id, controls, plan.judge_repeat)
        plan = renew(plan, store)
    if models is not None:
        models.use(controls)
    return plan


def _work(plan: Plan, store: Store) -> Work:
    return Work(
        plan.metrics,
        plan.questions,
        plan.judge,
        EmbedAnswers(),
        plan.judge_repeat,
        plan.listing,
        plan.controls,
        partial(read_label_facts, store),
        criteria=plan.criteria,
    )


async def _stop_models(models: Models | None) -> CallCounts | None:
    """Ends all calls to models; the calls so far, None where none can be made."""
    if models is None:
        return None
    models.stop()
    await models.close()
    return models.calling()


def _models(plan: Plan, store: Store, calling: Calling | None) -> Models | None:
    """The pool for a judge that asks models; None for any other."""
    calling = calling or calling_of(plan.judge)
    if calling is None or plan.judge is None or not asks_models(plan.judge):
        return None
    return Models(_work(plan, store), plan.judge, calling, store, plan.run_id)


def _start_workers(plan: Plan, workers: int | None, todo: int) -> list[Worker]:
    """Processes where the work pays for them and where they can build the same judge and metrics; else none."""
    able = (plan.judge is None or spec_of(plan.judge) is not None) and _named(plan)
    n, worth = workers or cores(), WORTH_ASKING if plan.questions else WORTH_COUNTING
    return [Worker() for _ in range(n)] if n > 1 and todo >= worth and able else []


def _pool(plan: Plan, store: Store, started: Sequence[Worker]) -> Pool:
    """The processes that were started, or this one."""
    if started:
        spec = spec_of(plan.judge) if plan.judge is not None else None
        names = tuple(str(metric) for metric in plan.metrics)
        own = tuple((one.load, one.name, one.version) for one in own_declarations(plan.metrics) if one.load)
        of = plan.judge_id, plan.judge_repeat, plan.run_id
        task = Task(store.url, names, plan.questions, spec, *of, own, plan.criteria)
        return Processes(task, plan.metrics, started)
    return InProcess(_work(plan, store), store)


def _named(plan: Plan) -> bool:
    """Whether every metric is rebuilt from its printed name."""
    try:
        named = all(parse(str(metric)) == metric for metric in plan.metrics)
        return named and all(one.load or one.more for one in own_declarations(plan.metrics))
    except UsageError:
        return False


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
