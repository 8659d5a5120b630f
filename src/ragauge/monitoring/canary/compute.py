"""Whether a judge is still who it was: the same responses judged anew, beside how it judged them in its first days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from ragauge.core.identity import hash_json
from ragauge.monitoring.series.monitor_tracker import JUDGE_CHANGED

if TYPE_CHECKING:
    from ragauge.monitoring.series.monitor_tracker import Alert

Verdicts = Mapping[tuple[str, str], float | None]  # query_id and metric -> value; None = it has none, or failed
CANARY_LOOK = "judge canary (daily)"
CANARY = "judge canary"  # name of the run that holds the frozen responses
FIRST_ASKING = 1  # number of the first asking: 0 would take replies that are stored of the traffic
N_FIRST_DAYS = 7
SAME_VALUE_TOLERANCE = 1e-9  # values that lie no further apart are the same


@dataclass(frozen=True, slots=True)
class CanaryDay:
    """What a day's judgements say beside the first days'."""

    changed: bool | None  #: whether the judge did; None = not enough data.
    #: responses of which a metric has another value than on the first day, or a value on one of both alone.
    flipped: int
    n: int  #: responses that were judged on both.
    share_before: float | None  #: of responses that flipped in the other first days; None where there are none yet.
    p: float | None  #: of Fisher's exact test that more flip than in the first days, in (0, 1]; None likewise.
    reason: str  #: in words.


def compare_canary_day(first: Sequence[Verdicts], today: Verdicts, level: float) -> CanaryDay:
    """Whether more responses flipped today than in the first days; a judge that is never sure flips some every day.

    Args:
        first: what was found in the first seven days, in order.
        today: what was found today.
        level: the p at which the judge counts as changed, in (0, 1).

    >>> sample = {(f"q{n}", "faithfulness"): 1.0 for n in range(50)}
    >>> (compare_canary_day([sample] * 7, sample, 0.001).changed,
    ...     compare_canary_day([sample] * 7, dict.fromkeys(sample, 0.5), 0.001).changed)
    (False, True)
    """
    import numpy as np
    from scipy.stats import fisher_exact

    if len(first) < N_FIRST_DAYS:
        reason = f"not enough data: this is day {len(first) + 1} of the first {N_FIRST_DAYS} days"
        return CanaryDay(None, 0, 0, None, None, reason)
    flipped, n = _count_flips(first[0], today)
    flip_counts = [_count_flips(first[0], item) for item in first[1:]]
    flipped_before, n_before = sum(item for item, _ in flip_counts), sum(many for _, many in flip_counts)
    if not n or not n_before or all(value is None for value in today.values()):
        return CanaryDay(None, flipped, n, None, None, "not enough data: no response was judged on both days")
    table = np.array([[flipped, n - flipped], [flipped_before, n_before - flipped_before]])
    p = float(fisher_exact(table, alternative="greater").pvalue)
    share = flipped_before / n_before
    reason = f"{flipped} of {n} responses got a different verdict, {share:.0%} in the first days: p = {p:.2g}"
    return CanaryDay(p <= level, flipped, n, share, p, reason)


def divide_evenly(available: Sequence[int], total: int) -> list[int]:
    """How many to take of each, so that all have equal parts, as far as each has so many.

    Args:
        available: how many each has.
        total: of all together; all there are, where there are fewer.

    >>> (divide_evenly([1000, 1000, 4], 50), divide_evenly([3, 100], 10), divide_evenly([1, 1], 5),
    ...     divide_evenly([9, 9, 9], 5))
    ([23, 23, 4], [3, 7], [1, 1], [1, 2, 2])
    """
    taken, remaining = [0] * len(available), total
    for n_done, index in enumerate(
        sorted(range(len(available)), key=lambda position: available[position])
    ):  # who has few takes first
        taken[index] = min(available[index], remaining // (len(available) - n_done))
        remaining -= taken[index]
    return taken


def build_change_id(judge_id: str | None, day: date) -> str:
    """The id of the alert that a judge changed, as seen on a day."""
    return hash_json([CANARY_LOOK, judge_id, day.isoformat()])[:10]


def find_first_look(alerts: Iterable[Alert], judge_id: str | None) -> int:
    """The look with which a judge's first days begin: that which saw the last change that people took as it is.

    Args:
        alerts: alerts.
        judge_id: of the judge; the looks of another are counted by themselves.
    """
    return max(
        [
            FIRST_ASKING,
            *(
                alert.number
                for alert in alerts
                if alert.monitor == JUDGE_CHANGED
                and alert.ended_at is not None
                and alert.alert_id == build_change_id(judge_id, alert.fired_at.date())
            ),
        ]
    )


def _count_flips(reference: Verdicts, other: Verdicts) -> tuple[int, int]:
    """How many responses have another value of a metric, and how many have one at either time."""
    judged_ids, moved = set[str](), set[str]()
    for key in reference.keys() & other.keys():
        old, new = reference[key], other[key]
        if old is not None or new is not None:
            judged_ids.add(key[0])
        if (old is None) != (new is None) or (
            old is not None and new is not None and abs(old - new) > SAME_VALUE_TOLERANCE
        ):
            moved.add(key[0])
    return len(moved), len(judged_ids)
