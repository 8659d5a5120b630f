"""Metrics on one example: resolve their facts, compute, and say why where there is no value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ragauge.metrics.base import Failed, Measured, Metric, NotApplicable, NotRead
from ragauge.metrics.bounds import bounded, has_gap
from ragauge.metrics.facts import Facts, resolve, system_failed

State = Literal["whole", "open", "absent", "unread"]
Known = dict[str, tuple[Any, State]]


def measure(metric: Metric, facts: Facts) -> Measured:
    """The metric's value for one example, or why there is none.

    not_applicable comes before failed, since no retry would help; a missing verdict that cannot change the value
    leaves it scored, otherwise low and high bound it. What a failed call took may be recorded in part: a stage, or a
    kind of tokens, that is not there is not known, so that failed.
    """
    return _measure(metric, facts, {})


def measure_all(metrics: Sequence[Metric], facts: Facts) -> list[Measured]:
    """Every metric's value for one example, in order: as `measure`, each fact resolved once for all of them."""
    known: Known = {}
    return [_measure(metric, facts, known) for metric in metrics]


def _measure(metric: Metric, facts: Facts, known: Known) -> Measured:
    values, whole = {}, True
    for argument, fact in metric.needs.items():
        evidence = known.get(fact)
        if evidence is None:
            evidence = known[fact] = _look(fact, facts)
        values[argument], state = evidence
        if state == "absent":
            return Measured("not_applicable", reason=values[argument].reason)
        if state == "unread":
            return Measured("not_read", reason=values[argument].reason)
        if state == "open":
            whole = False
    if not whole:
        return bounded(metric, values, facts)
    result = Measured.of(metric.value(**values))
    if result.status == "not_applicable" and facts.response.error is not None:
        return Measured.failed(system_failed(facts).reason, metric.range)
    return result


def _look(fact: str, facts: Facts) -> tuple[Any, State]:
    value = resolve(fact, facts)
    if isinstance(value, NotApplicable):
        return value, "absent"
    if isinstance(value, NotRead):
        return value, "unread"
    return value, "open" if isinstance(value, Failed) or has_gap(fact, value) else "whole"
