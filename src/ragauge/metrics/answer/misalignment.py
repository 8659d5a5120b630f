"""The answer rests on other passages than the one ranked first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric, Undefined


@dataclass(frozen=True, slots=True)
class Misalignment(Metric):
    """1 if the answer uses passages, but not the one ranked first.

    misalignment = 1 if U is not empty and 1 is not in U, else 0

    U  passages used: those that support a claim of the answer or are cited for one

    Text that stands in two passages marks both as used, so the mean is a lower bound. An answer that uses no passage
    is 0 here and 1 in ignored_top_ranked.
    Undefined when the answer makes no claims, as a refusal. Not applicable when passages were not recorded.
    Source: arXiv:2601.21803.

    >>> [Misalignment().value(used, claimed=True) for used in ([False, True], [True, True], [False, False])]
    [1.0, 0.0, 0.0]
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"used": "verify_answer.used", "claimed": "verify_answer.claimed"}
    direction: ClassVar = "lower"
    scale: ClassVar = "rate"
    separable: ClassVar = True

    def value(self, used: Sequence[bool], claimed: bool) -> float | Undefined:
        if not claimed:
            return Undefined("the answer makes no claims")
        return float(any(used) and not used[0])
