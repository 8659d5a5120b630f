"""What the metrics of the first chunks returned share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragauge.metrics.base import Metric, Needs
from ragauge.metrics.spans.span_coverage import Fill, Unit, check_parameters


@dataclass(frozen=True, slots=True)
class SpanMetric(Metric):
    """Base of the metrics of the first chunks returned: a cutoff, or a budget of tokens."""

    measures: ClassVar = "retrieval"

    unit: Unit = "token"
    budget: int | None = None
    fill: Fill = "cut"
    k: int | None = None

    def __post_init__(self) -> None:
        check_parameters(self.name(), self.unit, self.k, self.budget, self.fill)

    @property
    def needs(self) -> Needs:
        """The spans, in tokens or characters."""
        return {"overlap": f"labels.{self.unit}_spans"}
