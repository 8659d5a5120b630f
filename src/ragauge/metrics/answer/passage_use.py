"""Where in the context the passages stand that the answer uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragauge.metrics.base import Metric, Ratio, Undefined

THIRDS = ("start", "middle", "end")


@dataclass(frozen=True, slots=True)
class PassageUse(Metric):
    """Share of the passages in one third of the context that the answer uses.

    passage_use = #{i in P : i in U} / #P;  P = {i : floor(3 (i − 1/2) / n) = part, 0 start, 1 middle, 2 end}

    n  passages handed on, in their order, i from 1
    U  passages used: those that support a claim of the answer or are cited for one

    part says which third. Used alike at both ends and less in the middle, passages are lost by their place; used less
    from start to end, they are ranked well.
    Undefined when no passage stands in that third (of one passage: it is the middle), or the answer makes no claims, as
    a refusal. Not applicable when passages were not recorded.
    Source: Liu et al., Lost in the Middle, arXiv:2307.03172.

    >>> PassageUse(part="start").value([True, False, False, False, True, False], claimed=True)
    Ratio(numerator=1, denominator=2)
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {"used": "verify_answer.used", "claimed": "verify_answer.claimed"}
    direction: ClassVar = "neither"
    separable: ClassVar = True

    part: Literal["start", "middle", "end"] = "start"

    def value(self, used: Sequence[bool], claimed: bool) -> Ratio | Undefined:
        if not claimed:
            return Undefined("the answer makes no claims")
        in_part = [THIRDS[(6 * n + 3) // (2 * len(used))] == self.part for n in range(len(used))]
        return Ratio.count_items([is_used and here for is_used, here in zip(used, in_part, strict=True)], in_part)
