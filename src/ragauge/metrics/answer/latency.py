"""Latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from ragauge.metrics.base import Metric, NotApplicable


@dataclass(frozen=True, slots=True)
class Latency(Metric):
    """Milliseconds of one response, in all or of one stage; summarised as quantiles.

    latency = milliseconds recorded for the stage

    stage  total, or a stage that the system reports, such as retrieval or generation. Where no total is recorded it
           is the sum of the stages.

    A failed call took its time and counts with what was recorded of it. Not applicable when it was not recorded; of a
    failed call it is not known then.
    Source: quantiles of latency: Dean and Barroso, The Tail at Scale, doi:10.1145/2408776.2408794.

    >>> Latency().value({"retrieval": 30.0, "generation": 800.0}), Latency("retrieval").value({"retrieval": 30.0})
    (830.0, 30.0)
    """

    measures: ClassVar = "end_to_end"
    needs: ClassVar = {"milliseconds": "response.latency_ms"}
    range: ClassVar = (0.0, inf)
    direction: ClassVar = "lower"
    scale: ClassVar = "amount"
    version: ClassVar = 2

    stage: str = "total"

    def value(self, milliseconds: Mapping[str, float]) -> float | NotApplicable:
        if self.stage in milliseconds:
            return float(milliseconds[self.stage])
        if self.stage == "total":
            return float(sum(milliseconds.values()))
        return NotApplicable(f"no latency of stage {self.stage} recorded")
