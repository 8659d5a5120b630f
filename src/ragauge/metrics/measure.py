"""Metrics on one example: resolve their facts, compute, and say why where there is no value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ragauge.metrics.base import Failed, Metric, MetricResult, NotApplicable, NotRead
from ragauge.metrics.bounds import compute_bounds, has_gap
from ragauge.metrics.facts import Facts, build_system_failure, resolve_fact

State = Literal["whole", "open", "absent", "unread"]
KnownFacts = dict[str, tuple[Any, State]]

# facts that functions of users get in plain types -> the fact that they are made of
PLAIN_FACTS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "response.plain_texts": ("response.texts", lambda passages: [passage.text or "" for passage in passages]),
    "set.reference": ("set.references", lambda texts: next(text for text in texts if text.strip())),
    "set.messages": ("set.history", lambda turns: [{"role": turn.role, "content": turn.text} for turn in turns]),
}


def measure_metric(metric: Metric, facts: Facts) -> MetricResult:
    """The metric's value for one example, or why there is none.

    not_applicable comes before failed, since no retry would help; a missing verdict that cannot change the value
    leaves it scored, otherwise low and high bound it. What a failed call took may be recorded in part: a stage, or a
    kind of tokens, that is not there is not known, so that failed.
    """
    return _measure_metric(metric, facts, {})


def measure_all(metrics: Sequence[Metric], facts: Facts) -> list[MetricResult]:
    """Every metric's value for one example, in order: as `measure_metric`, each fact resolved once for all of them."""
    facts_by_name: KnownFacts = {}
    return [_measure_metric(metric, facts, facts_by_name) for metric in metrics]


def _measure_metric(metric: Metric, facts: Facts, facts_by_name: KnownFacts) -> MetricResult:
    values, is_complete = find_values(metric, facts, facts_by_name)
    if isinstance(values, MetricResult):
        return values
    if not hasattr(metric, "value"):  # known by its scores
        return MetricResult.failed("the code that computes it is not loaded", metric.range)
    if not is_complete:
        return compute_bounds(metric, values, facts)
    result = MetricResult.of(metric.value(**values))
    if result.status == "not_applicable" and facts.response.error is not None:
        return MetricResult.failed(build_system_failure(facts).reason, metric.range)
    return result


def find_values(metric: Metric, facts: Facts, facts_by_name: KnownFacts) -> tuple[dict[str, Any] | MetricResult, bool]:
    """Argument -> its fact, and whether no verdict is missing among them; else why there is no value.

    Args:
        metric: to be computed.
        facts: about the example.
        facts_by_name: facts that are resolved already, by name; others are added.
    """
    values, is_complete = {}, True
    for argument, fact in metric.needs.items():
        evidence = facts_by_name.get(fact)
        if evidence is None:
            evidence = facts_by_name[fact] = _find_fact(fact, facts)
        values[argument], state = evidence
        if state == "absent" and argument in metric.optional:
            values[argument] = metric.optional[argument]
        elif state == "absent":
            return MetricResult("not_applicable", reason=values[argument].reason), True
        elif state == "unread":
            return MetricResult("not_read", reason=values[argument].reason), True
        elif state == "open":
            is_complete = False
    return values, is_complete


def _find_fact(fact: str, facts: Facts) -> tuple[Any, State]:
    source, read = PLAIN_FACTS.get(fact, (fact, None))
    value = resolve_fact(source, facts)
    if isinstance(value, NotApplicable):
        return value, "absent"
    if isinstance(value, NotRead):
        return value, "unread"
    if isinstance(value, Failed) or has_gap(fact, value):
        return value, "open"
    return value if read is None else read(value), "whole"
