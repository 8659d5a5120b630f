"""An index against exact search: asks nothing."""

from ragauge.metrics.ann.ann_recall import AnnRecall
from ragauge.metrics.base import Metric

METRICS: tuple[type[Metric], ...] = (AnnRecall,)

__all__ = ["METRICS", "AnnRecall"]
