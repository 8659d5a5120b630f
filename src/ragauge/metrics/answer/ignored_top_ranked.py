"""The passage ranked first went unused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric, Undefined


@dataclass(frozen=True, slots=True)
class IgnoredTopRanked(Metric):
    """1 if the answer makes no use of the passage ranked first.

    ignored_top_ranked = 1 if 1 is not in U, else 0

    U  passages used: those that support a claim of the answer or are cited for one

    Text that stands in two passages marks both as used, so the mean is a lower bound.
    Undefined when fewer than two passages were passed to the generator, since nothing was ranked then; when the answer
    declines or makes no claims; and when the question is labelled unanswerable. Not applicable when
    passages were not recorded.
    Source: misalignment of ranking and generator, arXiv:2601.21803.

    >>> IgnoredTopRanked().value([False, True], claimed=True, refuse=False, expected=True)
    1.0
    >>> IgnoredTopRanked().value([False], claimed=True, refuse=False, expected=True)
    Undefined(reason='fewer than two passages were passed to the generator')
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {
        "used": "verify_answer.used",
        "claimed": "verify_answer.claimed",
        "refuse": "verify_answer.refuse",
        "expected": "set.expected",
    }
    direction: ClassVar = "lower"
    scale: ClassVar = "rate"
    separable: ClassVar = True

    def value(self, used: Sequence[bool], claimed: bool, refuse: bool, expected: bool) -> float | Undefined:
        if len(used) < 2:
            return Undefined(
                "fewer than two passages were passed to the generator" if used else "nothing was retrieved"
            )
        if refuse or not expected:
            return Undefined("the answer declines" if refuse else "the question has no answer")
        return float(not used[0]) if claimed else Undefined("the answer makes no claims")
