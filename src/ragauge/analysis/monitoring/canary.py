"""Whether a judge is still who it was: the same responses judged anew, beside how it judged them in its first days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Verdicts = Mapping[tuple[str, str], float]     # query_id and metric -> value
FIRST_DAYS = 7
SAME = 1e-9     # values that lie no further apart are the same


@dataclass(frozen=True, slots=True)
class CanaryDay:
    """What a day's judgements say beside the first days'.

    Attributes:
        changed: whether the judge did; None = not enough data.
        flipped: responses of which a metric has another value than on the first day.
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
    if not n or not n_before:
        return CanaryDay(None, flipped, n, None, None, "not enough data: no response was judged on both days")
    table = np.array([[flipped, n - flipped], [flipped_before, n_before - flipped_before]])
    p = float(fisher_exact(table, alternative="greater").pvalue)
    share = flipped_before / n_before
    reason = f"{flipped} of {n} responses are judged otherwise, {share:.0%} in the first days: p = {p:.2g}"
    return CanaryDay(p <= level, flipped, n, share, p, reason)


def _flips(reference: Verdicts, other: Verdicts) -> tuple[int, int]:
    """How many responses have another value of a metric, and how many were judged both times."""
    both = reference.keys() & other.keys()
    moved = {query_id for query_id, metric in both
             if abs(reference[query_id, metric] - other[query_id, metric]) > SAME}     # fmt: skip
    return len(moved), len({query_id for query_id, _ in both})
