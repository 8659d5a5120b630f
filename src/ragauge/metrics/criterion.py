"""Criteria of a run as metrics: each is one by its name, wherever metrics are named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ragauge.core.facts import Criterion, CriterionVerdict
from ragauge.core.identity import hash_json, to_json_value
from ragauge.metrics.base import Measures, Metric, MetricResult
from ragauge.metrics.own_class import Declaration, OwnMetric, build_metric_class
from ragauge.metrics.own_version import BITS

# what has to be there for a criterion that sees it; a question is, and a conversation need not be
NEEDED_FACTS = {"answer": "response.answer", "passages": "response.texts", "reference": "set.references"}
KIND = "criterion"  # where a declaration keeps it


class CriterionMetric(OwnMetric):
    """Base of the classes that are made of criteria."""

    __slots__ = ()
    of_store: ClassVar[bool] = False  #: as a store keeps it; what is configured goes before it.

    def value(self, verdicts: Sequence[CriterionVerdict], **_: Any) -> MetricResult:
        """What the judge said of this one."""
        own_verdict = next((verdict for verdict in verdicts if verdict.name == str(self)), None)
        value = None if own_verdict is None else own_verdict.value
        if own_verdict is None or value is None:
            return MetricResult.failed((own_verdict.reason if own_verdict else "") or "no verdict", self.range)
        return MetricResult("scored", value, None, None, value, value, own_verdict.reason)


def list_criteria(metrics: Sequence[Metric]) -> tuple[Criterion, ...]:
    """The criteria among some metrics."""
    return tuple(read_criterion(metric.declared) for metric in metrics if isinstance(metric, CriterionMetric))


def build_criterion_class(declared: Declaration, *, of_store: bool = False) -> type[Metric]:
    """The class of a criterion, all of which its declaration says."""
    return build_metric_class(declared, CriterionMetric, of_store=of_store)


def read_criterion(declared: Declaration) -> Criterion:
    """The criterion that a declaration keeps."""
    saved = dict(declared.more[KIND])
    return Criterion(**saved | {name: tuple(saved[name]) for name in ("sees", "levels") if name in saved})


def declare_criterion(criterion: Criterion) -> Declaration:
    """What a criterion says of itself as a metric."""
    needs: dict[str, str] = {source: NEEDED_FACTS[source] for source in criterion.sees if source in NEEDED_FACTS}
    measures: Measures = "generation" if "answer" in needs else "retrieval" if "passages" in needs else "end_to_end"
    levels = "; ".join(f"{n} = {text}" for n, text in enumerate(criterion.levels, 1))
    return Declaration(
        criterion.name,
        int(hash_json(["criterion", to_json_value(criterion)])[: BITS // 4], 16) or 1,
        "end_to_end" if "reference" in needs else measures,
        "higher",
        "mean" if levels else "rate",
        (0.0, 1.0),
        {**needs, "verdicts": f"meet_criteria.{'required' if criterion.required else 'verdicts'}"},
        f"{criterion.text} ({levels})" if levels else criterion.text,
        more={KIND: to_json_value(criterion)},
    )
