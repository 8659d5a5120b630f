"""The scores of one response; one metric that raises fails alone, in the exception's own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite

from ragauge.data.facts import Evidence
from ragauge.engine.label_questions import said
from ragauge.judging.judge import Judge
from ragauge.metrics.base import Measured, Metric
from ragauge.metrics.catalogue import questions
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure, measure_all
from ragauge.store.responses import Loaded


def measure_facts(metrics: Sequence[Metric], facts: Facts, judge: Judge | None, item: Loaded) -> list[Measured]:
    """One result a metric; the judge's own where it gives scores itself."""
    return [
        said(judge, metric, item) or _explained(metric, result, facts.evidence)
        for metric, result in zip(metrics, _measured(metrics, facts), strict=True)
    ]


def told(error: Exception) -> str:
    """An exception in its own words."""
    return f"{type(error).__name__}: {error}"


def _measured(metrics: Sequence[Metric], facts: Facts) -> list[Measured]:
    try:
        results = measure_all(metrics, facts)
    except Exception:
        results = [_alone(metric, facts) for metric in metrics]
    return [_finite(metric, result) for metric, result in zip(metrics, results, strict=True)]


def _alone(metric: Metric, facts: Facts) -> Measured:
    try:
        return measure(metric, facts)
    except Exception as error:
        return Measured.failed(told(error), metric.range)


def _explained(metric: Metric, result: Measured, evidence: Mapping[str, Evidence]) -> Measured:
    """A failure with what the call said that brought nothing: "2 verdicts missing (too_long: …)"."""
    if result.status != "failed":
        return result
    why = next((evidence[one].reason for one in questions([metric]) if one in evidence and evidence[one].reason), "")
    return result if not why or why in result.reason else replace(result, reason=f"{result.reason} ({why})")


def _finite(metric: Metric, result: Measured) -> Measured:
    """A value that is not a number is a failure: a database would keep it as no value with status scored."""
    if result.value is None or isfinite(result.value):
        return result
    return Measured.failed(f"{metric} gave {result.value}", metric.range)
