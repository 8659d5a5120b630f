"""Scores the responses of traffic as any run's are: the same plan, judge and engine; what is stored is not asked.

Metrics that need no judge are computed for every response as it comes in. The judge is asked about those that were
drawn for it, meanwhile and apart: it may take its time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ragauge.core.errors import UnknownName
from ragauge.engine.plan import Plan, Selection, plan
from ragauge.evaluation.evaluate.verb import NO_JUDGE, Planned, carried_out, planner
from ragauge.evaluation.scorecard.cards import CardScope, card_of
from ragauge.metrics.catalogue import questions, select
from ragauge.monitoring.policy import Policy
from ragauge.monitoring.traffic.sampling import spent_on
from ragauge.monitoring.traffic_store import score_free
from ragauge.store.ledger import OPEN, Outcome
from ragauge.store.run_collection import Chance
from ragauge.store.store_access import Store
from ragauge.verbs.evaluate_options import EvaluateOptions

CARD_EVERY, CARD_SHARE = 60.0, 20  # seconds between two scorecards of a run; how much longer than making one took
FREE_AT_A_TIME, JUDGED_AT_A_TIME = 500, 500  # traces that are looked at before others have their turn
SPENT = "max_cost of the day is spent; it is judged when there is money again"
FAILED = "a metric of its response failed; its page says which, and why"
GONE = "its response was deleted before it was scored"


@dataclass(frozen=True, slots=True)
class WaitingTrace:
    """A trace that is to be scored.

    Attributes:
        at: when the ledger said so: a later moment means that more of the trace came.
        responses: number and chance of each.
    """

    at: float
    responses: Sequence[tuple[int, Chance]]

    @property
    def numbers(self) -> list[int]:
        """Of its responses."""
        return [number for number, _ in self.responses]

    @property
    def drawn(self) -> bool:
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
        between: told, between two parts of what needs no judge, how many seconds the last one took.

    Raises:
        UsageError: there is no such judge or metric.
    """

    def __init__(
        self,
        store: Store,
        policy: Policy,
        warn: Callable[[str], None],
        clock: Callable[[], float] = time.time,
        between: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._store, self._clock, self._max_cost, self._between = store, clock, policy.max_cost, between
        self._wanted = EvaluateOptions(
            "",
            metrics=policy.metrics,
            judge=policy.judge,
            store=store.url,
            workers=1,
            warn=warn,
            controls="none",  # shipped ones: pairs of traffic would be others with every trace
        )
        self._plans = planner(self._wanted)
        metrics = select(policy.metrics)
        self._free = [metric for metric in metrics if not questions([metric])]
        self._asks = len(self._free) < len(metrics) and policy.judge not in NO_JUDGE
        self._penniless = ""  # the UTC date on which the money ended
        self._shown: dict[str, tuple[float, float]] = {}  # run -> when its scorecard was made, how long that took
        self._stale: dict[str, bool] = {}  # run with scores that its card has not -> whether more are on their way

    def score(self) -> int:
        """Scores everything that waits now, with and without a judge; returns how many traces have their last word."""
        done = self.score_free() + self.judge()
        self.show()
        return done

    def score_free(self) -> int:
        """Computes what needs no judge; returns how many traces have their last word by that."""
        return sum(self._each(run_id, ("to score",), self._score_free) for run_id in self._store.ledger.unscored())

    def judge(self) -> int:
        """Asks the judge about what was drawn for it; returns how many traces were decided on."""
        if not self._asks:
            return 0
        outcomes: tuple[Outcome, ...] = ("to score",) if self._broke() else OPEN
        return sum(self._each(run_id, outcomes, self._judge) for run_id in self._store.ledger.unscored())

    def show(self) -> int:
        """Makes the scorecards that lists and pages show; while much comes in, now and then."""
        due = [run_id for run_id, more in list(self._stale.items()) if self._due(run_id, more=more)]
        for run_id in due:
            began = time.monotonic()
            self._stale.pop(run_id)
            self._card(run_id)
            self._shown[run_id] = (time.monotonic(), time.monotonic() - began)
        return len(due)

    def renew(self, run_id: str) -> None:
        """Has the scorecard of a run of traffic made again."""
        if self._store.runs.find(run_id).kind == "traffic":
            self._stale.setdefault(run_id, False)

    def _each(self, run_id: str, outcomes: Sequence[Outcome], work: Callable[[str, Responses], int]) -> int:
        """Does some work on the responses of a run's traces that wait."""
        waiting = self._store.ledger.waiting(run_id, outcomes)
        try:
            found = self._store.collecting.of_traces(run_id, list(waiting)) if waiting else {}
        except UnknownName:  # the run is gone
            found = {}
        lost = {trace_id: at for trace_id, at in waiting.items() if trace_id not in found}
        if lost:
            self._store.ledger.decide(lost, "failed", GONE, at=self._clock())
        there = {trace_id: WaitingTrace(waiting[trace_id], several) for trace_id, several in found.items()}
        return len(lost) + (work(run_id, there) if there else 0)

    def _score_free(self, run_id: str, found: Responses) -> int:
        with self._store.held(f"{run_id} free") as alone:
            if not alone:  # another server is at it
                return 0
            done = 0
            traces = list(found)
            for start in range(0, len(traces), FREE_AT_A_TIME):
                began = time.monotonic()
                part = {trace_id: found[trace_id] for trace_id in traces[start : start + FREE_AT_A_TIME]}
                numbers = [number for one in part.values() for number in one.numbers]
                failed = score_free(self._store, run_id, self._free, numbers) if self._free else set()
                left_out = [trace_id for trace_id, one in part.items() if not one.drawn]
                done += self._decide(left_out, part, failed, "sampled out", None)
                if not self._asks:
                    drawn = [trace_id for trace_id, one in part.items() if one.drawn]
                    done += self._decide(drawn, part, failed, "scored", "")
                self._between(time.monotonic() - began)
            if done:
                self._stale[run_id] = False
            return done

    def _decide(
        self, traces: Sequence[str], found: Responses, failed: Collection[int], outcome: Outcome, reason: str | None
    ) -> int:
        """Gives traces their last word; those with a failed metric another."""
        bad = {one: found[one].at for one in traces if any(number in failed for number in found[one].numbers)}
        good = {one: found[one].at for one in traces if one not in bad}
        self._store.ledger.decide(good, outcome, reason, at=self._clock())
        self._store.ledger.decide(bad, "failed", FAILED, at=self._clock())
        return len(traces)

    def _judge(self, run_id: str, found: Responses) -> int:
        drawn = [trace_id for trace_id, one in found.items() if one.drawn]
        if drawn and self._broke():
            return self._postpone(run_id, drawn, found)
        done = 0
        for start in range(0, len(drawn), JUDGED_AT_A_TIME):
            done += self._judge_some(run_id, {one: found[one] for one in drawn[start : start + JUDGED_AT_A_TIME]})
            if self._broke():
                break  # the next look says so of the others
        return done

    def _judge_some(self, run_id: str, found: Responses) -> int:
        """Asks the judge about some traces, as far as the money of the day goes."""
        store, numbers = self._store, {number for one in found.values() for number in one.numbers}
        with store.held(run_id) as alone:
            if not alone:  # another server is at it
                return 0
            wanted = replace(self._wanted, max_cost=self._left())
            plans = self._plans(store, run_id, numbers)
            todo = Planned(plans, store.runs.find(run_id), False, None, wanted.of(plans[0].judge))
            took = asyncio.run(carried_out(todo, wanted, store))
        pending, failed = (set(one.numbers) for one in self._again(plans[0], numbers))
        left = [trace_id for trace_id, one in found.items() if any(number in pending for number in one.numbers)]
        done = self._decide([one for one in found if one not in set(left)], found, failed, "scored", "")
        self._stale[run_id] = bool(left)
        if took.get("stopped"):
            self._penniless = self._today()
            done += self._postpone(run_id, left, found)
        return done

    def _postpone(self, run_id: str, traces: Sequence[str], found: Responses) -> int:
        """Leaves traces to be judged on another day; what needs no judge does not wait for that."""
        if self._free:
            score_free(self._store, run_id, self._free, [number for one in traces for number in found[one].numbers])
        self._store.ledger.decide({one: found[one].at for one in traces}, "over budget", SPENT, at=self._clock())
        return len(traces)

    def _today(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).date().isoformat()

    def _left(self) -> float | None:
        """US dollars that may still be spent today."""
        return None if self._max_cost is None else max(0.0, self._max_cost - spent_on(self._store, self._today())[0])

    def _broke(self) -> bool:
        """Whether the money of today has ended."""
        return self._penniless == self._today() or self._left() == 0

    def _again(self, done: Plan, numbers: Collection[int]) -> tuple[Plan, Plan]:
        """What is left of a plan, and what is left where failures count as not done."""
        more = (Selection(only=numbers), Selection(only=numbers, retry_failed=True))
        first, second = (plan(self._store, done.run_id, done.metrics, done.judge, one) for one in more)
        return first, second

    def _due(self, run_id: str, *, more: bool) -> bool:
        """Whether a scorecard is made now: seldom where it takes long, as that of a large run does."""
        made, took = self._shown.get(run_id, (-CARD_EVERY, 0.0))
        return time.monotonic() - made >= max(CARD_EVERY if more else 0.0, CARD_SHARE * took)

    def _card(self, run_id: str) -> None:
        """Keeps the scorecard of all that a run's responses were scored by."""
        store = self._store
        try:
            run = store.runs.find(run_id)
        except UnknownName:  # it was deleted meanwhile
            return
        first = self._plans(store, run_id, ())[0]
        judge_id = first.judge_id if first.judge_id in store.scores.judges(run_id) else None
        known = set(store.scores.metrics(run_id, judge_id))
        metrics = [metric for metric in first.metrics if str(metric) in known]
        if metrics:
            card_of(store, run, metrics, judge_id, CardScope())
