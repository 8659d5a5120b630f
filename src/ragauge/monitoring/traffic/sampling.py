"""How likely the judge is asked about a trace. It is where its own draw lies below that, and stands for 1 / as many.

The chance rests on what came before the trace and on what it says of itself, never on its draw: so weighted means
describe all traffic, whatever raised or lowered the chance.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import date, timedelta

from ragauge.core.outcomes import is_complaint
from ragauge.core.response import Response
from ragauge.monitoring.policy import Policy
from ragauge.store.inbox import DAY_S
from ragauge.store.run_collection import ExampleResponse
from ragauge.store.store_access import Store

EXPECTED_FACTOR = 1.5  # times as many as asked for are expected, so that fewer than asked for are rare
RATE_TTL_S = 5.0  # seconds that the lowered rate holds
MIN_RATE = 1e-4  # rate below which max_cost does not lower it: what is over is said in the ledger


class Sampler:
    """Chances of traces, by what came before them.

    Args:
        store: with the runs of today and yesterday.
        policy: what is asked for.
    """

    def __init__(self, store: Store, policy: Policy) -> None:
        self._store, self._policy = store, policy
        self._seen: dict[tuple[str, str], dict[str, int]] = {}  # (run, segment) -> value -> drawn
        self._before: dict[tuple[str, str], dict[str, int]] = {}  # the same -> how many there were
        self._rate, self._until = policy.rate, 0.0

    def base(self, day: str, now: float) -> float:
        """The rate, lowered where max_cost of the day would not last for it."""
        if self._policy.max_cost is not None and time.monotonic() >= self._until:
            self._rate, self._until = self._lower_rate(day, now), time.monotonic() + RATE_TTL_S
        return self._rate

    def compute_chance(self, records: Sequence[ExampleResponse], run_id: str, before_id: str, base: float) -> float:
        """How likely the judge is asked about a trace, by the requests in it.

        Args:
            records: example and response of each.
            run_id: of the run that they would stand in.
            before_id: of the same project's run of the day before.
            base: the rate.
        """
        if any(self._is_always_judged(response) for _, response in records):
            return 1.0
        chance = base
        for name, min_n in self._policy.at_least.items():
            for value in {example.segments[name] for example, _ in records if name in example.segments}:
                chance = max(chance, self._compute_segment_chance(run_id, before_id, name, value, min_n))
        return min(1.0, chance)

    def count_drawn(self, records: Sequence[ExampleResponse], run_id: str) -> None:
        """Counts a trace that was drawn."""
        for name in self._policy.at_least:
            counts = self._get_counts(run_id, name)
            for value in {example.segments[name] for example, _ in records if name in example.segments}:
                counts[value] = counts.get(value, 0) + 1

    def _is_always_judged(self, response: Response) -> bool:
        always = self._policy.always
        empty = response.passages == ()
        return bool(
            ("error" in always and response.error is not None)
            or ("empty_retrieval" in always and empty)
            or ("thumbs_down" in always and is_complaint(response.outcome))
        )

    def _compute_segment_chance(self, run_id: str, before_id: str, name: str, value: str, min_n: int) -> float:
        """By yesterday's traffic of this value; where there was none, every one until there are enough."""
        key = (before_id, name)
        if key not in self._before:
            self._before[key] = self._store.collecting.count_by_value(before_id, name)
        expected = self._before[key].get(value, 0)
        if expected:
            return min(1.0, EXPECTED_FACTOR * min_n / expected)
        return 1.0 if self._get_counts(run_id, name).get(value, 0) < min_n else 0.0

    def _get_counts(self, run_id: str, name: str) -> dict[str, int]:
        key = (run_id, name)
        if key not in self._seen:
            self._seen[key] = self._store.collecting.count_by_value(run_id, name, only_sampled=True)
        return self._seen[key]

    def _lower_rate(self, day: str, now: float) -> float:
        """The rate at which what is left of the day's money pays for what has yet to come, by what it cost so far."""
        max_cost, rate = self._policy.max_cost or 0.0, self._policy.rate
        spent, n_judged = get_spending(self._store, day)
        cost, n = (spent, n_judged) if n_judged else get_spending(self._store, get_previous_day(day))
        arrived, elapsed = sum(count.n for count in self._store.ledger.counts(day)), now % DAY_S
        if not n or not cost or not arrived or elapsed <= 0:
            return rate
        expected = arrived * (DAY_S - elapsed) / elapsed
        # what was drawn and waits is paid first
        affordable = max(0.0, (max_cost - spent) / (cost / n) - self._store.ledger.count_waiting_for_judge())
        return max(MIN_RATE, min(rate, affordable / expected)) if expected > 0 else rate


def get_spending(store: Store, day: str) -> tuple[float, int]:
    """US dollars that judging traffic cost on a day (UTC), and how many responses that was for."""
    return store.calls.sum_traffic_spending(day)


def get_previous_day(day: str) -> str:
    """The date of the day before."""
    return (date.fromisoformat(day) - timedelta(days=1)).isoformat()
