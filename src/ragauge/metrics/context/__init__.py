"""The passages handed on."""

from ragauge.metrics.base import Metric
from ragauge.metrics.context.context_precision import ContextPrecision
from ragauge.metrics.context.context_recall import ContextRecall

METRICS: tuple[type[Metric], ...] = (
    ContextPrecision,
    ContextRecall,
)

__all__ = [
    "METRICS",
    "ContextPrecision",
    "ContextRecall",
]
