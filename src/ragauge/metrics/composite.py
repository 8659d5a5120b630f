"""One number from several metrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from ragauge.core.errors import UsageError
from ragauge.metrics import answer, context, retrieval, spans
from ragauge.metrics.base import Metric, MetricResult, Needs, Undefined, Value
from ragauge.metrics.metric_names import parse_name

CLASSES_BY_NAME = {cls.name(): cls for family in (retrieval, spans, context, answer) for cls in family.METRICS}


@dataclass(frozen=True, slots=True)
class Composite(Metric):
    """Weighted mean of several metrics on one example: what a sweep optimises, never a diagnosis.

    composite = Σ weights · of / Σ weights

    of       the example's scores of these metrics, their names joined by +; by default the RAG triad
    weights  what each counts, numbers joined by +; equal = all alike

    The metrics run from 0 to 1, more being better, and are named without parameters.
    Undefined where one of them is.
    Source: ours; the triad is that of TruLens, https://www.trulens.org.

    >>> Composite(of="exact_match+token_f1", weights="3+1")
    Composite(of='exact_match+token_f1', weights='3+1')
    """

    measures: ClassVar = "end_to_end"

    of: str = "context_precision+faithfulness+answer_relevance"
    weights: str = "equal"

    def __post_init__(self) -> None:
        names = self.of.split("+")
        if len(set(names)) != len(names) or len(names) < 2:
            raise UsageError(f"composite: of needs at least two different metrics, got {self.of!r}.")
        for metric in self._build_metrics():
            if metric.direction != "higher" or metric.range != (0.0, 1.0):
                raise UsageError(f"composite: {metric} must range from 0 to 1, with higher being better.")
        if len(list(self._parse_weights())) != len(names):
            raise UsageError(f"composite: {len(names)} metrics need the same number of weights, got {self.weights!r}.")

    @property
    def needs(self) -> Needs:
        """The facts of every part, under its name."""
        return {f"{metric}/{name}": fact for metric in self._build_metrics() for name, fact in metric.needs.items()}

    def value(self, **facts: Any) -> Value:
        """The weighted mean, from the facts of every part."""
        total = weight = 0.0
        for metric, share in zip(self._build_metrics(), self._parse_weights(), strict=True):
            part_value = MetricResult.of(metric.value(**{name: facts[f"{metric}/{name}"] for name in metric.needs}))
            if part_value.value is None:
                return Undefined(f"{metric}: {part_value.reason}")
            total, weight = total + share * part_value.value, weight + share
        return total / weight

    def _build_metrics(self) -> Iterator[Metric]:
        return (parse_name(name, CLASSES_BY_NAME, {}) for name in self.of.split("+"))

    def _parse_weights(self) -> Iterator[float]:
        if self.weights == "equal":
            yield from (1.0 for _ in self.of.split("+"))
            return
        for text in self.weights.split("+"):
            try:
                weight = float(text)
            except ValueError:
                weight = 0.0
            if not 0 < weight < 1e9:
                raise UsageError(f"composite: a weight must be a number above 0, got {text!r}.")
            yield weight


METRICS: tuple[type[Metric], ...] = (Composite,)
