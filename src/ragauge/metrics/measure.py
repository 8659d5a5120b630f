"""Metrics on one example: resolve their facts, compute, and say why where there is no value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ragauge.metrics.base import Failed, Measured, Metric, NotApplicable, NotRead
from ragauge.metrics.bounds import bounded, has_gap
from ragauge.metrics.facts import Facts, resolve, system_failed

State = Literal["whole", "open", "absent", "unread"]
Known = dict[str, tuple[Any, State]]

# facts that functions of users get in plain types -> the fact that they are made of
PLAIN: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "response.plain_texts": ("response.texts", lambda passages: [passage.text or "" for passage in passages]),
    "set.reference": ("set.references", lambda texts: next(text for text in texts if text.strip())),
    "set.messages": ("set.history", lambda turns: [{"role": turn.role, "content": turn.text} for turn in turns]),
}


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
    values, whole = find_values(metric, facts, known)
    if isinstance(values, Measured):
        return values
    if not hasattr(metric, "value"):  # known by its scores
        return Measured.failed("the code that computes it is not loaded", metric.range)
    if not whole:
        return bounded(metric, values, facts)
    result = Measured.of(metric.value(**values))
    if result.status == "not_applicable" and facts.response.error is not None:
        return Measured.failed(system_failed(facts).reason, metric.range)
    return result


def find_values(metric: Metric, facts: Facts, known: Known) -> tuple[dict[str, Any] | Measured, bool]:
    """Argument -> its fact, and whether no verdict is missing among them; else why there is no value.

    Args:
        metric: to be computed.
        facts: about the example.
        known: facts that are resolved already, by name; others are added.
    """
    values, whole = {}, True
    for argument, fact in metric.needs.items():
        evidence = known.get(fact)
        if evidence is None:
            evidence = known[fact] = _look(fact, facts)
        values[argument], state = evidence
        if state == "absent" and argument in metric.optional:
            values[argument] = metric.optional[argument]
        elif state == "absent":
            return Measured("not_applicable", reason=values[argument].reason), True
        elif state == "unread":
            return Measured("not_read", reason=values[argument].reason), True
        elif state == "open":
            whole = False
    return values, whole


def _look(fact: str, facts: Facts) -> tuple[Any, State]:
    source, read = PLAIN.get(fact, (fact, None))
    value = resolve(source, facts)
    if isinstance(value, NotApplicable):
        return value, "absent"
    if isinstance(value, NotRead):
        return value, "unread"
    if isinstance(value, Failed) or has_gap(fact, value):
        return value, "open"
    return value if read is None else read(value), "whole"
