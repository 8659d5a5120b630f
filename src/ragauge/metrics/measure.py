"""One metric on one example: resolve its facts, compute, and bound what missing verdicts leave open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import isfinite, prod
from typing import Any

from ragauge.data.facts import Claim, Rating, ReferenceClaim
from ragauge.metrics.base import Failed, Measured, Metric, NotApplicable, Ratio, Undefined, Value
from ragauge.metrics.facts import Facts, resolve

MOST_COMPLETIONS = 2_000


def measure(metric: Metric, facts: Facts) -> Measured:
    """The metric's value for one example, or why there is none.

    not_applicable comes before failed, since no retry would help; a failed verdict that cannot change the value
    leaves it scored, otherwise low and high bound it.
    """
    values = {argument: resolve(fact, facts) for argument, fact in metric.needs.items()}
    for value in values.values():
        if isinstance(value, NotApplicable):
            return Measured("not_applicable", reason=value.reason)
    for value in values.values():
        if isinstance(value, Failed):
            return _failed(metric, value.reason)
    if any(_has_gap(value) for value in values.values()):
        return _bounded(metric, values, facts)
    return _read(metric.value(**values))


def _read(result: Value) -> Measured:
    if isinstance(result, Undefined):
        return Measured("undefined", reason=result.reason)
    if isinstance(result, NotApplicable):
        return Measured("not_applicable", reason=result.reason)
    if isinstance(result, Ratio):
        if result.denominator == 0:
            return Measured("undefined", reason="nothing to divide by", numerator=0.0, denominator=0.0)
        value = result.numerator / result.denominator
        return Measured("scored", value, float(result.numerator), float(result.denominator), value, value)
    return Measured("scored", float(result), low=float(result), high=float(result))


def _failed(metric: Metric, reason: str) -> Measured:
    low, high = metric.range
    return Measured("failed", low=low if isfinite(low) else None, high=high if isfinite(high) else None, reason=reason)


def _items(value: Any) -> Sequence[Any] | None:
    return value if isinstance(value, tuple) else None


def _is_gap(item: Any) -> bool:
    match item:
        case None:
            return True
        case Claim():
            return item.status == "failed"
        case Rating():
            return item.relevant is None
        case ReferenceClaim():
            return item.supporting is None
    return False


def _has_gap(value: Any) -> bool:
    items = _items(value)
    return items is not None and any(_is_gap(item) for item in items)


def _bounded(metric: Metric, values: Mapping[str, Any], facts: Facts) -> Measured:
    gaps = sum(_is_gap(item) for value in values.values() for item in _items(value) or ())
    reason = f"{gaps} verdict{'s' if gaps > 1 else ''} missing"
    n_passages = len(facts.response.passages or ())
    results = [_read(metric.value(**completed)) for completed in _completions(metric, values, n_passages)]
    scored = [result.value for result in results if result.value is not None]
    if not scored:
        if results and len({(result.status, result.reason) for result in results}) == 1:
            return results[0]
        return _failed(metric, reason)
    low, high = min(scored), max(scored)
    if low == high and len(scored) == len(results):
        return results[0]
    return Measured("failed", low=low, high=high, reason=reason)


def _completions(metric: Metric, values: Mapping[str, Any], n_passages: int) -> Iterator[dict[str, Any]]:
    """The facts with every gap filled, in all ways (or, if separable, all gaps alike); none when too many."""
    places = [
        (name, index, options)
        for name, value in values.items()
        for index, item in enumerate(_items(value) or ())
        if _is_gap(item)
        for options in [_options(metric.needs[name], item, n_passages)]
    ]
    if any(not options for _, _, options in places):
        return
    size = prod(len(options) for _, _, options in places)
    if size <= MOST_COMPLETIONS:
        choices: Iterator[tuple[Any, ...]] = product(*(options for _, _, options in places))
    elif metric.separable:
        widest = max(len(options) for _, _, options in places)
        choices = (tuple(options[i % len(options)] for _, _, options in places) for i in range(widest))
    else:
        return
    for choice in choices:
        filled = {name: list(value) if _items(value) is not None else value for name, value in values.items()}
        for (name, index, _), option in zip(places, choice, strict=True):
            filled[name][index] = option
        yield {name: tuple(value) if isinstance(value, list) else value for name, value in filled.items()}


def _options(fact: str, item: Any, n_passages: int) -> list[Any]:
    """What a missing verdict could have been; empty when even the number of items is unknown."""
    if isinstance(item, Claim):
        if item.text is None:
            return []
        ok = replace(item, status="ok")
        every = tuple(range(1, n_passages + 1))
        sets = [(n,) for n in every] + ([every] if n_passages > 1 else [])
        direct = [replace(ok, supporting=numbers, strength="direct") for numbers in sets]
        if not every:
            return [ok]
        return [
            replace(ok, supporting=(), contradicting=()),
            replace(ok, supporting=(), contradicting=(1,)),
            *direct,
            replace(ok, supporting=every, strength="implied"),
            replace(ok, supporting=every, contradicting=(1,), strength="direct"),
        ]
    if isinstance(item, Rating):
        return [replace(item, relevant=False), replace(item, relevant=True)]
    if isinstance(item, ReferenceClaim):
        every = tuple(range(1, n_passages + 1))
        return [replace(item, supporting=numbers) for numbers in [(), *[(n,) for n in every], every]]
    if fact == "agree.answer":
        return ["agrees", "contradicts", "absent"]
    if fact == "guess_questions.cosines":
        return []
    return [False, True]
