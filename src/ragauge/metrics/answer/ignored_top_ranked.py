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
    Undefined when nothing was retrieved or the answer makes no claims, as a refusal. Not applicable when passages
    were not recorded.
    Source: misalignment of ranking and generator, arXiv:2601.21803.

    >>> IgnoredTopRanked().value([False, True, True], claimed=True), IgnoredTopRanked().value([True], claimed=True)
    (1.0, 0.0)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"used": "verify_answer.used", "claimed": "verify_answer.claimed"}
    direction: ClassVar = "lower"
    scale: ClassVar = "rate"
    separable: ClassVar = True

    def value(self, used: Sequence[bool], claimed: bool) -> float | Undefined:
        if not used:
            return Undefined("nothing was retrieved")
        if not claimed:
            return Undefined("the answer makes no claims")
        return float(not used[0])
