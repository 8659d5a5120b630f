"""Scores the responses of traffic like any run's, with the labels that came with traces."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from ragauge.core.errors import UnknownName
from ragauge.engine.judge_batch import Work, find_overtaken, judge_batch
from ragauge.engine.label_facts import decide_again, find_equal_texts, read_label_facts
from ragauge.engine.plan import Plan, Selection, build_plan, list_columns, save_own_declarations
from ragauge.evaluation.evaluate.verb import NO_JUDGE_SPECS, EvaluationPlan, build_planner, execute_plans
from ragauge.evaluation.scorecard.cards import build_card
from ragauge.evaluation.scorecard.completeness import CardScope
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import list_questions, require_code, select_metrics
from ragauge.monitoring.policy import Policy, get_spending
from ragauge.store.database import split_batches
from ragauge.store.ledger import OPEN_OUTCOMES, Outcome
from ragauge.store.run_collection import SamplingChance
from ragauge.store.store_access import Store
from ragauge.verbs.evaluate_options import EvaluateOptions

BATCH_SIZE_RESPONSES = 500  # responses in memory, and in one transaction


def score_without_judge(store: Store, run_id: str, metrics: Sequence[Metric], numbers: Sequence[int]) -> set[int]:
    """Computes metrics that need no judge for some responses of a run, those alone that do not have them.

    Args:
        store: with the run.
        run_id: of the run.
        metrics: that ask nobody.
        numbers: of the responses.

    Returns:
        Numbers of the responses of which a metric failed.
    """
    require_code(metrics)
    save_own_declarations(metrics, store)
    columns = list_columns(metrics, None)
    scored = store.scores.find_complete(run_id, columns, only=numbers)
    succeeded = store.scores.find_complete(run_id, columns, failed_too=False, only=scored) if scored else set()
    failed = scored - succeeded
    work = Work(tuple(metrics), listing=store.listings.read(run_id), labels=partial(read_label_facts, store))
    for batch in split_batches((number for number in numbers if number not in scored), BATCH_SIZE_RESPONSES):
        responses = judge_batch(store.runs.load(batch), work, store.evidence).judged
        with store.transaction():
            overtaken_numbers = find_overtaken(store, responses)  # scored when it is looked at again
            responses = tuple(response for response in responses if response.response_no not in overtaken_numbers)
            store.scores.write(run_id, columns, ((response.response_no, response.measured) for response in responses))
            store.causes.write(run_id, None, {response.response_no: response.cause for response in responses})
            store.verdicts.write(run_id, None, {response.response_no: response.verdict for response in responses})
        failed |= {
            response.response_no
            for response in responses
            if any(score.status == "failed" for score in response.measured)
        }
    work.own_calls.stop()
    return failed


CARD_INTERVAL_S, CARD_SHARE = 60.0, 20  # seconds between two scorecards of a run; how much longer than making one took
FREE_BATCH_TRACES, JUDGED_BATCH_TRACES = 500, 500  # traces that are looked at before others have their turn
OVER_BUDGET_REASON = "the daily max_cost is spent; it will be judged when there is budget again"
FAILED_REASON = "a metric of its response failed; see its page for details"
DELETED_REASON = "its response was deleted before it was scored"


@dataclass(frozen=True, slots=True)
class WaitingTrace:
    """A trace that is to be scored."""

    at: float  #: when the ledger said so: a later moment means that more of the trace came.
    responses: Sequence[tuple[int, SamplingChance]]  #: number and chance of each.

    @property
    def numbers(self) -> list[int]:
        """Of its responses."""
        return [number for number, _ in self.responses]

    @property
    def is_drawn(self) -> bool:
        """Whether any of its responses was drawn for the judge."""
        return any(chance is not None for _, chance in self.responses)


Responses = Mapping[str, WaitingTrace]  # by id


class TrafficScorer:
    """Scores what is to be scored.

    Args:
        store: with the runs.
        policy: who judges, and by which metrics.
        warn: told what the user should know.
        clock: seconds since 1970.

    Raises:
        UsageError: there is no such judge or metric.
    """

    def __init__(
        self, store: Store, policy: Policy, warn: Callable[[str], None], clock: Callable[[], float] = time.time
    ) -> None:
        self._store, self._clock, self._max_cost = store, clock, policy.max_cost
        self._wanted = EvaluateOptions(
            "",
            metrics=policy.metrics,
            judge=policy.judge,
            store=store.url,
            workers=1,
            warn=warn,
            controls="none",  # shipped ones: pairs of traffic would be others with every trace
        )
        self._plans = build_planner(self._wanted)
        metrics = select_metrics(policy.metrics)
        self._free = [metric for metric in metrics if not list_questions([metric])]
        self._asks = len(self._free) < len(metrics) and policy.judge not in NO_JUDGE_SPECS
        self._penniless = ""  # the UTC date on which the money ended
        self._shown: dict[str, tuple[float, float]] = {}  # run -> when its scorecard was made, how long that took
        self._stale: dict[str, bool] = {}  # run with scores that its card has not -> whether more are on their way

    def score(self) -> int:
        """Scores everything that waits now, with and without a judge; returns how many traces have their last word."""
        n_done = self.score_free() + self.judge()
        self.refresh_cards()
        return n_done

    def score_free(self) -> int:
        """Computes what needs no judge; returns how many traces have their last word by that."""
        return sum(
            self._process_waiting(run_id, ("to score",), self._score_free) for run_id in self._store.ledger.unscored()
        )

    def judge(self) -> int:
        """Asks the judge about what was drawn for it; returns how many traces were decided on."""
        if not self._asks:
            return 0
        outcomes: tuple[Outcome, ...] = ("to score",) if self._is_out_of_budget() else OPEN_OUTCOMES
        return sum(self._process_waiting(run_id, outcomes, self._judge_run) for run_id in self._store.ledger.unscored())

    def refresh_cards(self) -> int:
        """Makes the scorecards that lists and pages show; while much comes in, now and then."""
        due = [run_id for run_id, more in list(self._stale.items()) if self._is_card_due(run_id, more=more)]
        for run_id in due:
            began = time.monotonic()
            self._stale.pop(run_id)
            self._save_card(run_id)
            self._shown[run_id] = (time.monotonic(), time.monotonic() - began)
        return len(due)

    def mark_stale(self, run_id: str) -> None:
        """Has the scorecard of a run of traffic made again."""
        if self._store.runs.find(run_id).kind == "traffic":
            self._stale.setdefault(run_id, False)

    def _process_waiting(self, run_id: str, outcomes: Sequence[Outcome], work: Callable[[str, Responses], int]) -> int:
        """Does some work on the responses of a run's traces that wait."""
        waiting = self._store.ledger.list_waiting(run_id, outcomes)
        try:
            responses = self._store.collecting.find_by_trace(run_id, list(waiting)) if waiting else {}
        except UnknownName:  # the run is gone
            responses = {}
        missing = {trace_id: timestamp for trace_id, timestamp in waiting.items() if trace_id not in responses}
        if missing:
            self._store.ledger.decide(missing, "failed", DELETED_REASON, timestamp=self._clock())
        waiting_traces = {trace_id: WaitingTrace(waiting[trace_id], several) for trace_id, several in responses.items()}
        return len(missing) + (work(run_id, waiting_traces) if waiting_traces else 0)

    def _score_free(self, run_id: str, traces_by_id: Responses) -> int:
        with self._store.lock_run(f"{run_id} free") as alone:
            if not alone:  # another server is at it
                return 0
            n_done = 0
            traces = list(traces_by_id)
            for start in range(0, len(traces), FREE_BATCH_TRACES):
                batch = {trace_id: traces_by_id[trace_id] for trace_id in traces[start : start + FREE_BATCH_TRACES]}
                numbers = [number for trace in batch.values() for number in trace.numbers]
                failed = score_without_judge(self._store, run_id, self._free, numbers) if self._free else set()
                left_out = [trace_id for trace_id, trace in batch.items() if not trace.is_drawn]
                n_done += self._record_outcome(left_out, batch, failed, "sampled out", None)
                if not self._asks:
                    drawn_ids = [trace_id for trace_id, trace in batch.items() if trace.is_drawn]
                    n_done += self._record_outcome(drawn_ids, batch, failed, "scored", "")
            if n_done:
                self._stale[run_id] = False
            return n_done

    def _record_outcome(
        self,
        traces: Sequence[str],
        traces_by_id: Responses,
        failed: Collection[int],
        outcome: Outcome,
        reason: str | None,
    ) -> int:
        """Gives traces their last word; those with a failed metric another."""
        bad = {
            trace_id: traces_by_id[trace_id].at
            for trace_id in traces
            if any(number in failed for number in traces_by_id[trace_id].numbers)
        }
        good = {trace_id: traces_by_id[trace_id].at for trace_id in traces if trace_id not in bad}
        self._store.ledger.decide(good, outcome, reason, timestamp=self._clock())
        self._store.ledger.decide(bad, "failed", FAILED_REASON, timestamp=self._clock())
        return len(traces)

    def _judge_run(self, run_id: str, traces_by_id: Responses) -> int:
        drawn_ids = [trace_id for trace_id, item in traces_by_id.items() if item.is_drawn]
        if drawn_ids and self._is_out_of_budget():
            return self._postpone(run_id, drawn_ids, traces_by_id)
        n_done = 0
        for start in range(0, len(drawn_ids), JUDGED_BATCH_TRACES):
            n_done += self._judge_batch(
                run_id, {item: traces_by_id[item] for item in drawn_ids[start : start + JUDGED_BATCH_TRACES]}
            )
            if self._is_out_of_budget():
                break  # the next look says so of the others
        return n_done

    def _judge_batch(self, run_id: str, traces_by_id: Responses) -> int:
        """Asks the judge about some traces, as far as the money of the day goes."""
        store, numbers = self._store, {number for item in traces_by_id.values() for number in item.numbers}
        with store.lock_run(run_id) as alone:
            if not alone:  # another server is at it
                return 0
            options = replace(self._wanted, max_cost=self._get_budget_left())
            plans = self._plans(store, run_id, numbers)
            todo = EvaluationPlan(plans, store.runs.find(run_id), False, None, options.of(plans[0].judge))
            took = asyncio.run(execute_plans(todo, options, store))
        pending, failed = (set(item.numbers) for item in self._plan_again(plans[0], numbers))
        remaining = [
            trace_id for trace_id, item in traces_by_id.items() if any(number in pending for number in item.numbers)
        ]
        n_done = self._record_outcome(
            [item for item in traces_by_id if item not in set(remaining)], traces_by_id, failed, "scored", ""
        )
        self._stale[run_id] = bool(remaining)
        if took.get("stopped"):
            self._penniless = self._get_today()
            n_done += self._postpone(run_id, remaining, traces_by_id)
        return n_done

    def _postpone(self, run_id: str, traces: Sequence[str], traces_by_id: Responses) -> int:
        """Leaves traces to be judged on another day; what needs no judge does not wait for that."""
        if self._free:
            score_without_judge(
                self._store,
                run_id,
                self._free,
                [number for trace_id in traces for number in traces_by_id[trace_id].numbers],
            )
        self._store.ledger.decide(
            {trace_id: traces_by_id[trace_id].at for trace_id in traces},
            "over budget",
            OVER_BUDGET_REASON,
            timestamp=self._clock(),
        )
        return len(traces)

    def _get_today(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).date().isoformat()

    def _get_budget_left(self) -> float | None:
        """US dollars that may still be spent today."""
        return (
            None
            if self._max_cost is None
            else max(0.0, self._max_cost - get_spending(self._store, self._get_today())[0])
        )

    def _is_out_of_budget(self) -> bool:
        """Whether the money of today has ended."""
        return self._penniless == self._get_today() or self._get_budget_left() == 0

    def _plan_again(self, finished_plan: Plan, numbers: Collection[int]) -> tuple[Plan, Plan]:
        """What is left of a plan, and what is left where failures count as not done."""
        more = (Selection(only=numbers), Selection(only=numbers, retry_failed=True))
        first, second = (
            build_plan(self._store, finished_plan.run_id, finished_plan.metrics, finished_plan.judge, selection)
            for selection in more
        )
        return first, second

    def _is_card_due(self, run_id: str, *, more: bool) -> bool:
        """Whether a scorecard is made now: seldom where it takes long, as that of a large run does."""
        made, took = self._shown.get(run_id, (-CARD_INTERVAL_S, 0.0))
        return time.monotonic() - made >= max(CARD_INTERVAL_S if more else 0.0, CARD_SHARE * took)

    def _save_card(self, run_id: str) -> None:
        """Keeps the scorecard of all that a run's responses were scored by."""
        store = self._store
        try:
            run = store.runs.find(run_id)
        except UnknownName:  # it was deleted meanwhile
            return
        first = self._plans(store, run_id, ())[0]
        judge_id = first.judge_id if first.judge_id in store.scores.judges(run_id) else None
        scored_names = set(store.scores.metrics(run_id, judge_id))
        metrics = [metric for metric in first.metrics if str(metric) in scored_names]
        if metrics:
            build_card(store, run, metrics, judge_id, CardScope())


LABEL_DECISIONS_BATCH_SIZE_RESPONSES = 100  # labeled responses that are decided before they are taken off the list


class LabelDecisions:
    """Decides again the responses that labels came for, as an import of these labels does.

    A response stays on the list until it was decided while nobody evaluated its run: an evaluation that began before
    its label came may end after it, with a verdict that does not know the label.

    Args:
        store: with the runs.
        changed: called with the id of each run whose verdicts may have changed.
    """

    def __init__(self, store: Store, changed: Callable[[str], None] = lambda _: None) -> None:
        self._store, self._changed = store, changed
        self._decided: set[int] = set()  # that stay on the list

    def run_once(self) -> int:
        """Decides what is on the list; returns how many labeled responses that were."""
        n_done = 0
        for run_id, numbers in self._store.labels.load_queued_decisions().items():
            for batch in split_batches(numbers, LABEL_DECISIONS_BATCH_SIZE_RESPONSES):
                n_done += self._decide_batch(run_id, batch)
        return n_done

    def _decide_batch(self, run_id: str, numbers: Sequence[int]) -> int:
        with self._store.lock_run(run_id) as no_judge, self._store.lock_run(f"{run_id} free") as no_scorer:
            is_idle = no_judge and no_scorer
            todo = [number for number in numbers if is_idle or number not in self._decided]
            for changed, equal in find_equal_texts(self._store, todo).items():
                decide_again(self._store, changed, equal)
                self._changed(changed)
            if is_idle:
                self._store.labels.end_decisions(numbers)
                self._decided.difference_update(numbers)
            else:
                self._decided.update(numbers)
        return len(todo)
