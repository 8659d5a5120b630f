"""Criteria of a run as metrics: each is one by its name, wherever metrics are named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ragauge.core.criterion import Criterion, CriterionVerdict
from ragauge.core.identity import digest, plain
from ragauge.metrics.base import Measured, Measures, Metric
from ragauge.metrics.own_class import Declaration, OwnMetric, metric_class
from ragauge.metrics.own_version import BITS

# what has to be there for a criterion that sees it; a question is, and a conversation need not be
NEEDED = {"answer": "response.answer", "passages": "response.texts", "reference": "set.references"}
KIND = "criterion"  # where a declaration keeps it


class CriterionMetric(OwnMetric):
    """Base of the classes that are made of criteria.

    Attributes:
        of_store: as a store keeps it; what is configured goes before it.
    """

    __slots__ = ()
    of_store: ClassVar[bool] = False

    def value(self, verdicts: Sequence[CriterionVerdict], **_: Any) -> Measured:
        """What the judge said of this one."""
        found = next((verdict for verdict in verdicts if verdict.name == str(self)), None)
        value = None if found is None else found.value
        if found is None or value is None:
            return Measured.failed((found.reason if found else "") or "no verdict", self.range)
        return Measured("scored", value, None, None, value, value, found.reason)


def criteria_of(metrics: Sequence[Metric]) -> tuple[Criterion, ...]:
    """The criteria among some metrics."""
    return tuple(read(metric.declared) for metric in metrics if isinstance(metric, CriterionMetric))


def criterion_class(declared: Declaration, *, of_store: bool = False) -> type[Metric]:
    """The class of a criterion, all of which its declaration says."""
    return metric_class(declared, CriterionMetric, of_store=of_store)


def read(declared: Declaration) -> Criterion:
    """The criterion that a declaration keeps."""
    kept = dict(declared.more[KIND])
    return Criterion(**kept | {name: tuple(kept[name]) for name in ("sees", "levels") if name in kept})


def declare(criterion: Criterion) -> Declaration:
    """What a criterion says of itself as a metric."""
    needs: dict[str, str] = {part: NEEDED[part] for part in criterion.sees if part in NEEDED}
    measures: Measures = "generation" if "answer" in needs else "retrieval" if "passages" in needs else "end_to_end"
    levels = "; ".join(f"{n} = {text}" for n, text in enumerate(criterion.levels, 1))
    return Declaration(
        criterion.name,
        int(digest(["criterion", plain(criterion)])[: BITS // 4], 16) or 1,
        "end_to_end" if "reference" in needs else measures,
        "higher",
        "mean" if levels else "rate",
        (0.0, 1.0),
        {**needs, "verdicts": f"meet_criteria.{'required' if criterion.required else 'verdicts'}"},
        f"{criterion.text} ({levels})" if levels else criterion.text,
        more={KIND: plain(criterion)},
    )
