"""Tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from ragauge.metrics.base import Metric, NotApplicable


@dataclass(frozen=True, slots=True)
class Tokens(Metric):
    """Tokens that one response took, as the system counted them; summarised as quantiles.

    tokens = sum of the counts recorded

    of  all of them, or one kind that the system reports, such as input or output

    Not applicable when they were not recorded.
    Source: A2.

    >>> Tokens().value({"input": 900, "output": 60}), Tokens("output").value({"input": 900, "output": 60})
    (960.0, 60.0)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"counts": "response.tokens"}
    range: ClassVar = (0.0, inf)
    direction: ClassVar = "lower"
    scale: ClassVar = "amount"

    of: str = "all"

    def value(self, counts: Mapping[str, int]) -> float | NotApplicable:
        if self.of == "all":
            return float(counts["total"] if "total" in counts else sum(counts.values()))
        if self.of in counts:
            return float(counts[self.of])
        return NotApplicable(f"no {self.of} tokens recorded")
