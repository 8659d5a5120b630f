"""An index against exact search: asks nothing."""

from ragauge.metrics.ann.ann_recall import AnnRecall
from ragauge.metrics.ann.filled import Filled
from ragauge.metrics.base import Metric

METRICS: tuple[type[Metric], ...] = (AnnRecall, Filled)
