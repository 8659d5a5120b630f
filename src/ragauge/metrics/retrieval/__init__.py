"""Retrieval from labels: asks nothing."""

from ragauge.metrics.retrieval.recall import Recall

METRICS = (Recall,)

__all__ = ["METRICS", "Recall"]
