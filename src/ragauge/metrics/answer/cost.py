"""Cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from ragauge.metrics.base import Metric


@dataclass(frozen=True, slots=True)
class Cost(Metric):
    """What one response cost, as the system reported it; summarised as quantiles.

    cost = c

    c  what the system recorded for the response, in its currency (US dollars by default)

    A failed call costs what was recorded of it. Not applicable when it was not recorded: an unknown cost is never 0; of
    a failed call it is not known then.
    Source: cost, latency and quality of RAG held against each other, arXiv:2511.09545.

    >>> Cost().value(0.002)
    0.002
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"cost": "response.cost"}
    range: ClassVar = (0.0, inf)
    direction: ClassVar = "lower"
    scale: ClassVar = "amount"
    version: ClassVar = 2

    def value(self, cost: float) -> float:
        return float(cost)
