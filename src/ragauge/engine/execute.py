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
from ragauge.engine.judge_batch import JudgedResponse, Work, drive_jobs, find_overtaken
from ragauge.engine.judges import find_spec
from ragauge.engine.label_facts import read_label_facts
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.engine.models import CallOptions, ModelPool, build_call_options
from ragauge.engine.plan import Plan, list_own_declarations, renew_plan, save_own_declarations
from ragauge.engine.pool import MAX_BATCH_RESPONSES, InProcessPool, Pool, ProcessPool, TimedResult, Worker
from ragauge.engine.worker import Task
from ragauge.judges.judge import can_ask_models
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.results.scorecard import Cause
from ragauge.store.store_access import Store

BATCHES_AHEAD = 2  # batches in hand beyond those being judged: one waits for a worker, one is being stored
REPORT_INTERVAL_S = 1.0  # seconds between two reports while models are asked
HEARTBEAT_REPORTS = 5  # reports between two signs of life in the store
MIN_RESPONSES_ASKING, MIN_RESPONSES_COUNTING = (
    64,
    4_000,
)  # pending responses that pay for starting processes (about 1.5 s each)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an evaluation is."""

    done: int  #: responses evaluated, earlier ones of the plan included.
    total: int  #: responses of the plan.
    rate: float  #: responses a second since the start, what is done of batches under way included.
    seconds_left: float | None  #: at this rate; None before anything is done.
    asked: int  #: questions asked so far.
    reused: int  #: questions answered by what was stored.
    calling: CallCounts | None = None  #: calls to models, where there are any.
    seconds: float = 0.0  #: since the start.
    note: str = ""  #: what else there is to say.


@dataclass(frozen=True, slots=True)
class EvaluationOutcome:
    """What an evaluation did."""

    done: int  #: responses evaluated now.
    pending: int  #: responses of the plan that are left.
    n_asked: int  #: questions asked.
    reused: int  #: questions answered by what was stored, or asked once for several responses.
    failed: int  #: questions that failed.
    seconds: float  #: how long it took.
    workers: int  #: processes that worked; 1 = this one.
    notes: tuple[str, ...] = ()  #: what went wrong and was mended, such as a worker that died.
    calling: CallCounts | None = None  #: calls to models, where there were any.
    stopped: str = ""  #: why it ended early; "" when it did not.


async def execute_plan(
    plan: Plan,
    store: Store,
    *,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    limit: int | None = None,
    calling: CallOptions | None = None,
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
    if plan.judge is not None and (spec := find_spec(plan.judge)) is not None:
        store.judges.save_spec(plan.judge.judge_id, spec)
    save_own_declarations(plan.metrics, store)
    models, max_responses = _build_models(plan, store, calling), sys.maxsize if limit is None else max(0, limit)
    # they import what they need while control pairs are judged here
    started = [] if models else _start_workers(plan, workers, min(plan.pending, max_responses))
    try:
        plan = await _prepare_controls(plan, store, models)
    except BaseException as error:
        for worker in started:
            worker.kill()
        counts = await _stop_models(models)
        if not isinstance(error, BudgetReached):
            raise
        return EvaluationOutcome(0, plan.pending, 0, 0, 0, 0.0, 1, calling=counts, stopped=str(error))
    todo = min(plan.pending, max_responses)
    pool = models or _build_pool(plan, store, started or _start_workers(plan, workers, todo))
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
    n_asked: int = 0
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
        ticking = asyncio.create_task(self.report_progress()) if self.pool.slow else None
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
                while (
                    len(flying) < self.pool.workers + BATCHES_AHEAD and (batch := self._take_next_batch()) is not None
                ):
                    flying.add(asyncio.create_task(self._run_batch(*batch)))
                if not flying:
                    return
                finished, pending = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    task.result()  # where several failed, the first is told; the others are taken in below
                flying = pending
        finally:
            for task in flying:
                task.cancel()
            await asyncio.gather(*flying, return_exceptions=True)

    async def report_progress(self) -> None:
        """Tells every second how far it is, and the store every few that it lives: a slow model takes minutes."""
        loop = asyncio.get_running_loop()
        for second in count(1):
            await asyncio.sleep(REPORT_INTERVAL_S)
            if self.progress is not None:
                self.progress(self._build_progress())
            if second % HEARTBEAT_REPORTS == 0:
                await loop.run_in_executor(self.writer, self.store.evaluations.record_progress, self.plan.run_id)

    def close(self) -> None:
        """Ends the workers, then finishes the writes that were handed over."""
        self.pool.stop()
        self.writer.shutdown(wait=True)

    def outcome(self) -> EvaluationOutcome:
        """What was done."""
        return EvaluationOutcome(
            done=self.done,
            pending=self.plan.pending - self.done,
            n_asked=self.n_asked,
            reused=self.reused,
            failed=self.failed,
            seconds=time.perf_counter() - self.started,
            workers=self.pool.workers,
            notes=tuple(self.pool.notes),
            calling=self.pool.count_calls(),
            stopped=self.stopped,
        )

    def _take_next_batch(self) -> tuple[Sequence[int], bool] | None:
        """Numbers of the next batch, and whether it is done again; sizes follow the speed."""
        if self.again:
            batch, self.again = self.again[:MAX_BATCH_RESPONSES], self.again[MAX_BATCH_RESPONSES:]
            return batch, True
        numbers, keys, start = self.plan.numbers, self.plan.keys, self.place
        if start >= self.todo:
            return None
        end = min(start + self.pool.size, self.todo)
        # responses to one question are judged together, so that equal inputs are asked once
        while end < self.todo and keys[end] == keys[end - 1] and end - start < MAX_BATCH_RESPONSES:
            end += 1
        self.place = end
        return numbers[start:end], False

    async def _run_batch(self, numbers: Sequence[int], again: bool) -> None:
        timed = await asyncio.wrap_future(self.pool.judge(numbers))
        writing = asyncio.get_running_loop().run_in_executor(self.writer, self._store_batch, timed, again)
        writing.add_done_callback(_consume_error)
        lost_numbers = await asyncio.shield(writing)  # a cancelled evaluation still keeps what was judged
        self.again += lost_numbers
        self._count_batch(timed, len(numbers) - len(lost_numbers))

    def _store_batch(self, timed: TimedResult, again: bool) -> list[int]:
        """Stores a batch; returns responses to do again: another process stored other evidence first, or a response."""
        with self.store.transaction():
            overtaken_numbers = find_overtaken(self.store, timed.result.judged)
            responses = [response for response in timed.result.judged if response.response_no not in overtaken_numbers]
            lost_keys = self.store.evidence.add(
                [(response.response_no, evidence) for response in responses for evidence in response.evidence]
            )
            lost_responses = (
                []
                if again
                else [
                    response
                    for response in responses
                    if any(evidence.key in lost_keys for evidence in response.evidence)
                ]
            )
            redo_numbers = {response.response_no for response in lost_responses}
            saved = [response for response in responses if response.response_no not in redo_numbers]
            redo_numbers |= overtaken_numbers if not again else set()
            self._write_scores(saved)
            self.store.evaluations.record_progress(self.plan.run_id, len(saved))
        return sorted(redo_numbers)

    def _write_scores(self, responses: Sequence[JudgedResponse]) -> None:
        plan = self.plan
        rows = ((response.response_no, response.measured) for response in responses)
        self.store.scores.write(plan.run_id, plan.columns, rows)
        verdicts = {response.response_no: response.verdict for response in responses}
        self._write_verdicts(plan.judge_id, {response.response_no: response.cause for response in responses}, verdicts)
        if plan.judge_id is not None:  # what one who asks nobody sees, whoever evaluated first
            unjudged = {response.response_no: response.unjudged_verdict for response in responses}
            self._write_verdicts(None, {response.response_no: response.unjudged for response in responses}, unjudged)

    def _write_verdicts(
        self, judge_id: str | None, causes: Mapping[int, Cause | None], verdicts: Mapping[int, ExampleVerdict]
    ) -> None:
        plan = self.plan
        repeat, controls = (0, "") if judge_id is None else (plan.judge_repeat, plan.fingerprint)
        self.store.causes.write(plan.run_id, judge_id, causes, repeat)
        self.store.verdicts.write(plan.run_id, judge_id, verdicts, repeat, controls=controls)

    def _count_batch(self, timed: TimedResult, n_done: int) -> None:
        self.done += n_done
        self.n_asked += timed.result.n_asked
        self.reused += timed.result.reused
        self.failed += timed.result.failed
        self.pool.took(timed)
        if self.progress is not None:
            self.progress(self._build_progress())

    def _build_progress(self) -> Progress:
        seconds = time.perf_counter() - self.started
        worked = self.done + self.pool.under_way
        rate = worked / max(seconds, 1e-9)
        seconds_left = max(0.0, self.todo - worked) / rate if rate > 0 else None
        n_done, total = self.plan.done + self.done, self.plan.total
        return Progress(n_done, total, rate, seconds_left, self.n_asked, self.reused, self.pool.count_calls(), seconds)


def _consume_error(writing: asyncio.Future[list[int]]) -> None:
    """Takes in the error of a write: whoever waited for it may be gone."""
    if not writing.cancelled():
        writing.exception()


async def _prepare_controls(plan: Plan, store: Store, models: ModelPool | None) -> Plan:
    """The plan after the judge was asked about its control pairs, where it is: what rested on others is done again."""
    if not needs_controls(plan):
        return plan
    work = replace(_build_work(plan, store), judge_repeat=0)  # asked once, however often responses are judged
    steps = ask_controls(plan, store, work, ControlCounts())
    if models is not None:
        controls = await models.drive_steps(steps)
    else:
        controls = await asyncio.get_running_loop().run_in_executor(None, drive_jobs, steps, work)
    if controls != plan.controls and plan.judge_id is not None:
        store.controls.write(plan.run_id, plan.judge_id, controls, plan.judge_repeat)
        plan = renew_plan(plan, store)
    if models is not None:
        models.use(controls)
    return plan


def _build_work(plan: Plan, store: Store) -> Work:
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


async def _stop_models(models: ModelPool | None) -> CallCounts | None:
    """Ends all calls to models; the calls so far, None where none can be made."""
    if models is None:
        return None
    models.stop()
    await models.close()
    return models.count_calls()


def _build_models(plan: Plan, store: Store, calling: CallOptions | None) -> ModelPool | None:
    """The pool for a judge that asks models; None for any other."""
    calling = calling or build_call_options(plan.judge)
    if calling is None or plan.judge is None or not can_ask_models(plan.judge):
        return None
    return ModelPool(_build_work(plan, store), plan.judge, calling, store, plan.run_id)


def _start_workers(plan: Plan, workers: int | None, todo: int) -> list[Worker]:
    """Processes where the work pays for them and where they can build the same judge and metrics; else none."""
    is_rebuildable = (plan.judge is None or find_spec(plan.judge) is not None) and _is_rebuildable(plan)
    n, min_todo = workers or count_cores(), MIN_RESPONSES_ASKING if plan.questions else MIN_RESPONSES_COUNTING
    return [Worker() for _ in range(n)] if n > 1 and todo >= min_todo and is_rebuildable else []


def _build_pool(plan: Plan, store: Store, started: Sequence[Worker]) -> Pool:
    """The processes that were started, or this one."""
    if started:
        spec = find_spec(plan.judge) if plan.judge is not None else None
        names = tuple(str(metric) for metric in plan.metrics)
        own_metrics = tuple(
            (declaration.load, declaration.name, declaration.version)
            for declaration in list_own_declarations(plan.metrics)
            if declaration.load
        )
        origin = plan.judge_id, plan.judge_repeat, plan.run_id
        task = Task(store.url, names, plan.questions, spec, *origin, own_metrics, plan.criteria)
        return ProcessPool(task, plan.metrics, started)
    return InProcessPool(_build_work(plan, store), store)


def _is_rebuildable(plan: Plan) -> bool:
    """Whether every metric is rebuilt from its printed name."""
    try:
        all_parsed = all(parse_metric(str(metric)) == metric for metric in plan.metrics)
        return all_parsed and all(
            declaration.load or declaration.more for declaration in list_own_declarations(plan.metrics)
        )
    except UsageError:
        return False


def count_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
