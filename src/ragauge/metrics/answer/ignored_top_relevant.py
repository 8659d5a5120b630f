"""A relevant passage ranked first went unused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric, NotApplicable, Undefined


@dataclass(frozen=True, slots=True)
class IgnoredTopRelevant(Metric):
    """1 if the passage ranked first is relevant to the question and the answer makes no use of it.

    ignored_top_relevant = 1 if 1 is not in U, else 0; only where q[1] = 1

    U     passages used: those that support a claim of the answer or are cited for one
    q[1]  the first passage is relevant to the question

    Undefined when nothing was retrieved or the answer makes no claims, as a refusal. Not applicable where the first
    passage is not relevant, or passages were not recorded.
    Source: misalignment of ranking and generator, arXiv:2601.21803.

    >>> IgnoredTopRelevant().value([False, True], claimed=True, relevant=[True, True])
    1.0
    >>> IgnoredTopRelevant().value([False, True], claimed=True, relevant=[False, True])
    NotApplicable(reason='the first passage is not relevant')
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {
        "used": "verify_answer.used",
        "claimed": "verify_answer.claimed",
        "relevant": "rate_passages.relevant",
    }
    direction: ClassVar = "lower"
    scale: ClassVar = "rate"
    separable: ClassVar = True

    def value(self, used: Sequence[bool], claimed: bool, relevant: Sequence[bool]) -> float | Undefined | NotApplicable:
        if not used:
            return Undefined("nothing was retrieved")
        if not relevant[0]:
            return NotApplicable("the first passage is not relevant")
        return float(not used[0]) if claimed else Undefined("the answer makes no claims")
