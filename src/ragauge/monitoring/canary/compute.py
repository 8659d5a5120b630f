"""Whether a judge is still who it was: the same responses judged anew, beside how it judged them in its first days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from ragauge.core.identity import digest
from ragauge.monitoring.series.monitor_tracker import JUDGE_CHANGED

if TYPE_CHECKING:
    from ragauge.monitoring.series.monitor_tracker import Alert

Verdicts = Mapping[tuple[str, str], float | None]  # query_id and metric -> value; None = it has none, or failed
CANARY_LOOK = "judge canary (daily)"
CANARY = "judge canary"  # name of the run that holds the frozen responses
FRESH = 1  # number of the first asking: 0 would take replies that are stored of the traffic
FIRST_DAYS = 7
SAME = 1e-9  # values that lie no further apart are the same


@dataclass(frozen=True, slots=True)
class CanaryDay:
    """What a day's judgements say beside the first days'.

    Attributes:
        changed: whether the judge did; None = not enough data.
        flipped: responses of which a metric has another value than on the first day, or a value on one of both alone.
        n: responses that were judged on both.
        share_before: of responses that flipped in the other first days; None where there are none yet.
        p: of Fisher's exact test that more flip than in the first days, in (0, 1]; None likewise.
        reason: in words.
    """

    changed: bool | None
    flipped: int
    n: int
    share_before: float | None
    p: float | None
    reason: str


def canary_day(first: Sequence[Verdicts], today: Verdicts, level: float) -> CanaryDay:
    """Whether more responses flipped today than in the first days; a judge that is never sure flips some every day.

    Args:
        first: what was found in the first seven days, in order.
        today: what was found today.
        level: the p at which the judge counts as changed, in (0, 1).

    >>> one = {(f"q{n}", "faithfulness"): 1.0 for n in range(50)}
    >>> canary_day([one] * 7, one, 0.001).changed, canary_day([one] * 7, dict.fromkeys(one, 0.5), 0.001).changed
    (False, True)
    """
    import numpy as np
    from scipy.stats import fisher_exact

    if len(first) < FIRST_DAYS:
        reason = f"not enough data: day {len(first) + 1} of the first {FIRST_DAYS}"
        return CanaryDay(None, 0, 0, None, None, reason)
    flipped, n = _flips(first[0], today)
    before = [_flips(first[0], one) for one in first[1:]]
    flipped_before, n_before = sum(one for one, _ in before), sum(many for _, many in before)
    if not n or not n_before or all(value is None for value in today.values()):
        return CanaryDay(None, flipped, n, None, None, "not enough data: no response was judged on both days")
    table = np.array([[flipped, n - flipped], [flipped_before, n_before - flipped_before]])
    p = float(fisher_exact(table, alternative="greater").pvalue)
    share = flipped_before / n_before
    reason = f"{flipped} of {n} responses are judged otherwise, {share:.0%} in the first days: p = {p:.2g}"
    return CanaryDay(p <= level, flipped, n, share, p, reason)


def evenly(there: Sequence[int], wanted: int) -> list[int]:
    """How many to take of each, so that all have equal parts, as far as each has so many.

    Args:
        there: how many each has.
        wanted: of all together; all there are, where there are fewer.

    >>> evenly([1000, 1000, 4], 50), evenly([3, 100], 10), evenly([1, 1], 5), evenly([9, 9, 9], 5)
    ([23, 23, 4], [3, 7], [1, 1], [1, 2, 2])
    """
    taken, left = [0] * len(there), wanted
    for done, place in enumerate(sorted(range(len(there)), key=lambda one: there[one])):  # who has few takes first
        taken[place] = min(there[place], left // (len(there) - done))
        left -= taken[place]
    return taken


def changed_id(judge_id: str | None, day: date) -> str:
    """The id of the alert that a judge changed, as seen on a day."""
    return digest([CANARY_LOOK, judge_id, day.isoformat()])[:10]


def first_look(known: Iterable[Alert], judge_id: str | None) -> int:
    """The look with which a judge's first days begin: that which saw the last change that people took as it is.

    Args:
        known: alerts.
        judge_id: of the judge; the looks of another are counted by themselves.
    """
    return max(
        [
            FRESH,
            *(
                one.number
                for one in known
                if one.monitor == JUDGE_CHANGED
                and one.ended_at is not None
                and one.alert_id == changed_id(judge_id, one.fired_at.date())
            ),
        ]
    )


def _flips(reference: Verdicts, other: Verdicts) -> tuple[int, int]:
    """How many responses have another value of a metric, and how many have one at either time."""
    judged, moved = set[str](), set[str]()
    for key in reference.keys() & other.keys():
        old, new = reference[key], other[key]
        if old is not None or new is not None:
            judged.add(key[0])
        if (old is None) != (new is None) or (old is not None and new is not None and abs(old - new) > SAME):
            moved.add(key[0])
    return len(moved), len(judged)
