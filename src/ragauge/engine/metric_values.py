"""The scores and the verdict of one response; what raises fails alone, in the exception's own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite

from ragauge.core.document import IndexListing
from ragauge.core.facts import Evidence
from ragauge.core.verdict import ExampleVerdict
from ragauge.diagnosis.causes.attribution import judge_example
from ragauge.engine.label_questions import measure_from_labels
from ragauge.judges.judge import Judge
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.catalogue import list_questions
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_all, measure_metric
from ragauge.metrics.reasons import add_call_reason
from ragauge.models.model import MAX_MESSAGE_CHARS
from ragauge.scores.results.scorecard import Cause
from ragauge.store.responses import StoredResponse

MAX_VALUE = 1e100  # of a value or its parts: intervals take squares and fourth powers of sums


def measure_facts(
    metrics: Sequence[Metric],
    facts: Facts,
    judge: Judge | None,
    item: StoredResponse,
    own_results: Mapping[str, MetricResult],
) -> list[MetricResult]:
    """One result a metric; the judge's own where it gives scores itself, and what metrics of the user's own gave."""
    others = [metric for metric in metrics if str(metric) not in own_results]
    results = {
        **own_results,
        **{str(metric): measured for metric, measured in zip(others, _measure_safely(others, facts), strict=True)},
    }
    return [
        measure_from_labels(judge, metric, item)
        or _add_failure_reason(metric, _check_finite(metric, results[str(metric)]), facts.evidence)
        for metric in metrics
    ]


def format_error(error: BaseException) -> str:
    """An exception in its own words, as many as are kept."""
    return f"{type(error).__name__}: {error}"[:MAX_MESSAGE_CHARS]


def _measure_safely(metrics: Sequence[Metric], facts: Facts) -> list[MetricResult]:
    try:
        return measure_all(metrics, facts)
    except Exception:
        return [_measure_alone(metric, facts) for metric in metrics]


def _measure_alone(metric: Metric, facts: Facts) -> MetricResult:
    try:
        return measure_metric(metric, facts)
    except Exception as error:
        return MetricResult.failed(format_error(error), metric.range)


def _add_failure_reason(metric: Metric, result: MetricResult, evidence: Mapping[str, Evidence]) -> MetricResult:
    """A failure with what the call said that brought nothing: "2 verdicts missing (too_long: …)"."""
    if result.status != "failed":
        return result
    reason = next(
        (
            evidence[question].reason
            for question in list_questions([metric])
            if question in evidence and evidence[question].reason
        ),
        "",
    )
    return replace(result, reason=add_call_reason(result.reason, reason))


def _check_finite(metric: Metric, result: MetricResult) -> MetricResult:
    """What is no number is a failure, since a database would keep it as no value, and what overflows when squared."""
    if result.value is None:
        return result
    numbers = [abs(value) for value in (result.value, result.numerator, result.denominator) if value is not None]
    if all(number <= MAX_VALUE for number in numbers):
        return result
    too_large = ", which is too large for a mean" if isfinite(result.value) else ""
    return MetricResult.failed(f"{metric} gave {result.value:g}{too_large}", metric.range)


def decide_response(
    facts: Facts, results: Mapping[str, MetricResult], listing: IndexListing | None
) -> tuple[ExampleVerdict, Cause | None]:
    """The verdict on a response and the cause of its failure; where the rule raises, a failure in its own words."""
    try:
        verdict, cause = judge_example(facts, results, indexed=listing)
    except Exception as error:
        reason = f"the cause could not be determined: {format_error(error)}"
        return ExampleVerdict("failed", reason=reason), Cause("", reason)
    if cause is not None and listing is not None:
        cause = replace(cause, listing=listing.fingerprint)
    return verdict, cause
