"""The passages handed on."""

from ragauge.metrics.base import Metric
from ragauge.metrics.context.context_precision import ContextPrecision
from ragauge.metrics.context.context_recall import ContextRecall
from ragauge.metrics.context.context_tokens import ContextTokens
from ragauge.metrics.context.entity_recall import EntityRecall
from ragauge.metrics.context.stale_passage_rate import StalePassageRate

METRICS: tuple[type[Metric], ...] = (ContextPrecision, ContextRecall, EntityRecall, StalePassageRate, ContextTokens)
