"""The passages handed on."""

from ragauge.metrics.base import Metric

METRICS: tuple[type[Metric], ...] = ()

__all__ = ["METRICS"]
