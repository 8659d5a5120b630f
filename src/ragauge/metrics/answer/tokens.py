"""Tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from ragauge.metrics.base import Metric, NotApplicable

MAIN_KINDS = ("input", "output")


@dataclass(frozen=True, slots=True)
class Tokens(Metric):
    """Tokens that one response took, as the system counted them; summarised as quantiles.

    tokens = #t

    t   tokens recorded: the total; without one input and output together; without these the sum of all kinds
    of  all, or one kind that the system reports, such as input or output

    Kinds that are part of input or output, such as cached or reasoning, are not counted twice. A failed call counts
    with what was recorded of it. Not applicable when they were not recorded; of a failed call they are not known then.
    Source: cost, latency and quality of RAG held against each other, arXiv:2511.09545.

    >>> counts = {"input": 900, "output": 60, "cached": 500}
    >>> Tokens().value(counts), Tokens("output").value(counts)
    (960.0, 60.0)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"counts": "response.tokens"}
    range: ClassVar = (0.0, inf)
    direction: ClassVar = "lower"
    scale: ClassVar = "amount"
    version: ClassVar = 2

    of: str = "all"

    def value(self, counts: Mapping[str, int]) -> float | NotApplicable:
        if self.of == "all":
            totals = [counts["total"]] if "total" in counts else [counts[way] for way in MAIN_KINDS if way in counts]
            return float(sum(totals or counts.values()))
        if self.of in counts:
            return float(counts[self.of])
        return NotApplicable(f"no {self.of} tokens recorded")
