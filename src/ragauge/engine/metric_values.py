"""The scores and the verdict of one response; what raises fails alone, in the exception's own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite

from ragauge.core.document import IndexListing
from ragauge.core.facts import Evidence
from ragauge.core.verdict import ExampleVerdict
from ragauge.diagnosis.causes.attribution import judge_example
from ragauge.engine.label_questions import said
from ragauge.judges.judge import Judge
from ragauge.metrics.base import Measured, Metric
from ragauge.metrics.catalogue import questions
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure, measure_all
from ragauge.models.errors import LONGEST
from ragauge.scores.results.scorecard import Cause
from ragauge.store.responses import Loaded

LARGEST = 1e100  # of a value or its parts: intervals take squares and fourth powers of sums


def measure_facts(
    metrics: Sequence[Metric], facts: Facts, judge: Judge | None, item: Loaded, own: Mapping[str, Measured]
) -> list[Measured]:
    """One result a metric; the judge's own where it gives scores itself, and what metrics of the user's own gave."""
    others = [metric for metric in metrics if str(metric) not in own]
    results = {**own, **{str(metric): one for metric, one in zip(others, _measured(others, facts), strict=True)}}
    return [
        said(judge, metric, item) or _explained(metric, _finite(metric, results[str(metric)]), facts.evidence)
        for metric in metrics
    ]


def told(error: BaseException) -> str:
    """An exception in its own words, as many as are kept."""
    return f"{type(error).__name__}: {error}"[:LONGEST]


def _measured(metrics: Sequence[Metric], facts: Facts) -> list[Measured]:
    try:
        return measure_all(metrics, facts)
    except Exception:
        return [_alone(metric, facts) for metric in metrics]


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
    """What is no number is a failure, since a database would keep it as no value, and what overflows when squared."""
    if result.value is None:
        return result
    numbers = [abs(one) for one in (result.value, result.numerator, result.denominator) if one is not None]
    if all(number <= LARGEST for number in numbers):
        return result
    too_large = ", which is too large for a mean" if isfinite(result.value) else ""
    return Measured.failed(f"{metric} gave {result.value:g}{too_large}", metric.range)


def decide_response(
    facts: Facts, results: Mapping[str, Measured], listing: IndexListing | None
) -> tuple[ExampleVerdict, Cause | None]:
    """The verdict on a response and the cause of its failure; where the rule raises, a failure in its own words."""
    try:
        verdict, cause = judge_example(facts, results, indexed=listing)
    except Exception as error:
        reason = f"no cause could be found: {told(error)}"
        return ExampleVerdict("failed", reason=reason), Cause("", reason)
    if cause is not None and listing is not None:
        cause = replace(cause, listing=listing.fingerprint)
    return verdict, cause
