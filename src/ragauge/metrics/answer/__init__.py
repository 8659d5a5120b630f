"""The answer against passages, question and reference."""

from ragauge.metrics.answer.faithfulness import Faithfulness

METRICS = (Faithfulness,)

__all__ = ["METRICS", "Faithfulness"]
