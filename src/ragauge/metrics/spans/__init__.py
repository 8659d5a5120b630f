"""Chunks against gold spans: asks nothing."""

from ragauge.metrics.base import Metric
from ragauge.metrics.spans.attainable_recall import AttainableRecall
from ragauge.metrics.spans.precision_omega import PrecisionOmega
from ragauge.metrics.spans.token_iou import TokenIou
from ragauge.metrics.spans.token_precision import TokenPrecision
from ragauge.metrics.spans.token_recall import TokenRecall

METRICS: tuple[type[Metric], ...] = (TokenRecall, TokenPrecision, TokenIou, PrecisionOmega, AttainableRecall)
