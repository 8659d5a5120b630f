"""The criteria of ragauge.yaml, or of Python code, made findable as metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.core.errors import DataError, UsageError
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import list_classes, register_metric
from ragauge.metrics.criterion import build_criterion_class, declare_criterion

if TYPE_CHECKING:
    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.core.facts import Criterion


def register_criteria(file: ConfigFile) -> tuple[tuple[Metric, ...], tuple[DataError, ...]]:
    """The metrics of a file's criteria, found by their names from now on, and mistakes that the file does not tell."""
    problems: list[DataError] = []
    metrics: dict[str, Metric] = {}
    for n, section in enumerate(file.config.criteria, 1):
        try:
            metrics[section.name] = _register_criterion(section.to_criterion())
        except UsageError as error:
            key = f"criteria[{section.place or n}].name"
            problems.append(file.build_problem(key, str(error), section.line("name")))
    return tuple(metrics.values()), tuple(problems)


def _register_criterion(criterion: Criterion) -> Metric:
    declared, current = declare_criterion(criterion), list_classes(("own",)).get(criterion.name)
    if current is None or getattr(current, "of_store", True) or getattr(current, "declared", None) != declared:
        current = build_criterion_class(declared)
        try:
            register_metric(current)
        except UsageError as error:
            problem, _, _ = str(error).partition(". ")
            raise UsageError(f"{problem}. Give the criterion another name, such as own_{criterion.name}.") from None
    return current()
