"""The verdict on a change, and p-values of many metrics and segments corrected as one family.

Tests that could tell nothing cost the others nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from ragauge.scores.results.comparison import BETTER, CHANGED, SAME, UNKNOWN, WORSE, MetricChange
from ragauge.scores.results.overview import MeanEstimate
from ragauge.stats.families import benjamini_hochberg
from ragauge.stats.sign_flips import MIN_FLIPPED

Correction = Literal["holm", "bh", "none"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
MAX_DIFFERING = 1_000  # pairs that differ; more make no difference
MIN_SEEN = 10  # examples, or clusters, without which "no change seen" would claim more than anybody can see


def decide_verdict(direction: str, difference: MeanEstimate, sums: tuple[float, float], units: int) -> str:
    """What the interval of a difference says, before anything is corrected for multiple comparisons.

    Better or worse where the whole interval, including judge error where that is known, lies on that side of 0, and no
    failed score, wherever it might lie, could turn the sign.

    Args:
        direction: of the metric: higher, lower or neither.
        difference: new − base, over how many examples; without an interval nothing is known.
        sums: the least and greatest sum of differences that failed scores allow.
        units: what is independent: examples, or their clusters.
    """
    interval = difference.widest_interval
    if interval is None:
        return UNKNOWN
    if interval.low <= 0 <= interval.high:
        return SAME if units >= MIN_SEEN else UNKNOWN
    is_rise = interval.low > 0
    if not (sums[0] > 0 if is_rise else sums[1] < 0):
        return UNKNOWN
    is_good = {"higher": is_rise, "lower": not is_rise}.get(direction)
    return CHANGED if is_good is None else BETTER if is_good else WORSE


def correct_family(
    changes: Sequence[MetricChange], level: float = 0.95, correction: Correction = "holm"
) -> tuple[list[MetricChange], int]:
    """The changes with both corrected p-values, their verdicts held to the one chosen; and how many tests could tell.

    A change stays better, worse or changed where its corrected p-value is at most 1 − level too. Else no change was
    seen; where so few examples differ that no outcome would have been enough, it is not enough data.

    Args:
        changes: one family.
        level: of the intervals.
        correction: "holm" bounds the chance of even one false alarm in the family, "bh" (Benjamini and Hochberg) the
            share of false alarms among the alarms, "none" nothing.
    """
    alpha, indices = 1 - level, [index for index, change in enumerate(changes) if change.p_value is not None]
    p_values = [changes[index].p_value or 0.0 for index in indices]
    min_p_values = [_find_min_p(changes[index]) for index in indices]
    by_holm, tests = tarone_holm(p_values, min_p_values, alpha)
    testable = [index for index, p in enumerate(min_p_values) if p <= alpha]
    by_discovery = dict(zip(testable, benjamini_hochberg([p_values[index] for index in testable]), strict=True))
    selected: list[float | None] = by_holm
    if correction != "holm":
        p_by_position = by_discovery if correction == "bh" else {index: p_values[index] for index in testable}
        selected, tests = [p_by_position.get(position) for position in range(len(indices))], len(testable)
    changed = list(changes)
    for position, index in enumerate(indices):
        change, p = changes[index], selected[position]
        verdict = change.verdict
        if p is not None and p > alpha and verdict not in (SAME, UNKNOWN):
            verdict = SAME
        elif p is None and verdict != SAME:
            verdict = UNKNOWN
        holm = by_holm[position]
        changed[index] = replace(
            change,
            corrected=1.0 if p is None else p,
            holm=1.0 if holm is None else holm,
            discovery=by_discovery.get(position, 1.0),
            verdict=verdict,
        )
    return changed, tests


def tarone_holm(
    p_values: Sequence[float], min_p_values: Sequence[float], alpha: float = 0.05
) -> tuple[list[float | None], int]:
    """Holm's procedure over those tests alone that could reach the bound, step by step.

    At each step K is the smallest number for which at most K of the tests left have a least possible p-value of at
    most alpha / K. These are tested: the one with the smallest p is a finding where K·p <= alpha, and is then left out
    of the next step. With continuous tests, whose least p is 0, K counts the tests left, which is Holm's procedure.

    Args:
        p_values: of one family; they may depend on each other.
        min_p_values: the least p-value that each test can have, whatever the signs of what it looks at; it must not say
            anything about the p-value itself under the null hypothesis.
        alpha: the chance of even one false alarm among all.

    Returns:
        The adjusted ones in the order given, None for those that could not tell; and K of the first step.

    Source: Tarone (1990), Biometrics 46, 515; step by step: Hommel and Krummenauer (1998), Biometrics 54, 673.

    >>> tarone_holm([0.01, 0.04, 0.03], [0.0, 0.0, 0.0])
    ([0.03, 0.06, 0.06], 3)
    >>> tarone_holm([0.03, 1.0, 0.5], [0.001, 1.0, 0.25])
    ([0.03, None, None], 1)
    """
    remaining = sorted(range(len(p_values)), key=p_values.__getitem__)
    ordered = sorted(min_p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    first = k = _count_testable(ordered, alpha, len(ordered))
    highest = 0.0
    while remaining and k:
        index = next((position for position in remaining if min_p_values[position] <= alpha / k), None)
        if index is None:
            break
        highest = max(highest, min(1.0, k * p_values[index]))
        adjusted[index] = highest
        if highest > alpha:  # nothing more is found: the others that could tell follow as in Holm's
            for step, position in enumerate(position for position in remaining if min_p_values[position] <= alpha / k):
                highest = max(highest, min(1.0, max(1, k - step) * p_values[position]))
                adjusted[position] = highest
            break
        remaining.remove(index)
        ordered.remove(min_p_values[index])
        k = _count_testable(ordered, alpha, k)
    return adjusted, first


def _count_testable(ordered: Sequence[float], alpha: float, max_k: int) -> int:
    """The smallest K for which at most K of these least p-values are at most alpha / K; 0 for none at all."""
    smallest = next((k for k in range(1, max_k + 1) if bisect_right(ordered, alpha / k) <= k), max_k)
    return smallest if bisect_right(ordered, alpha / max(1, smallest)) else 0


def _find_min_p(change: MetricChange) -> float:
    """The least p-value that the test of a change can have: 2^(1 − k) where k examples differ, of mid-p half that.

    Of clusters k is how many of their sums differ. How many differ says nothing about which way. Of two samples, which
    hold no pairs, the least p is 0, and so it is of a t that stands alone or speaks where signs cannot, but where k is
    less than 6: so few are not taken to tell, whatever t says.
    """
    if change.differing is None:
        return 0.0
    is_counted = (
        "McNemar" in change.test or change.test.endswith("and sign flips") or change.test.startswith("sign flips")
    )
    if change.differing >= MIN_FLIPPED and not is_counted:
        return 0.0
    return 2.0 ** (("mid-p" not in change.test) - min(change.differing, MAX_DIFFERING))
