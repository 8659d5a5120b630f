"""The scorecard as JSON: the stable, machine-readable form."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ragauge.analysis.results.change import MetricChange
from ragauge.analysis.results.comparison import RunComparison
from ragauge.analysis.results.scorecard import Finding, Reading, ScorecardData, Summary
from ragauge.reporting.confirmed import tallies_json
from ragauge.reporting.gaps import gaps_json
from ragauge.reporting.judge_check import error_json
from ragauge.reporting.judged import judging_json
from ragauge.reporting.overview_json import overview_json
from ragauge.reporting.segment_sizes import sizes_json


def summary_json(summary: Summary) -> dict[str, Any]:
    """One metric: mean, ci, the four counts, and what there is beside them."""
    found = summary.interval
    out: dict[str, Any] = {
        "mean": summary.mean,
        "ci": None if found is None else [found.low, found.high],
        "scored": summary.scored,
        "undefined": summary.undefined,
        "not_applicable": summary.not_applicable,
        "failed": summary.failed,
    }
    if found is not None:
        out["ci_method"] = found.method
    if summary.judged is not None:
        out["judged_ci"] = [summary.judged.low, summary.judged.high]
    if summary.micro is not None:
        out["micro"] = summary.micro
    if summary.failed:
        out["bounds"] = [summary.low, summary.high]
    if summary.quantiles:
        out["quantiles"] = {f"p{round(100 * level)}": value for level, value in summary.quantiles.items()}
    if summary.reasons:
        out["reasons"] = dict(summary.reasons)
    return out


def finding_json(finding: Finding) -> dict[str, Any]:
    """One line of the diagnosis."""
    found: dict[str, Any] = {field.name: getattr(finding, field.name) for field in fields(finding)}
    return found | {"readings": [reading_json(reading) for reading in finding.readings]}


def reading_json(reading: Reading) -> dict[str, Any]:
    """One metric as the diagnosis read it."""
    found: dict[str, Any] = {field.name: getattr(reading, field.name) for field in fields(reading)}
    return found | {"interval": [reading.interval.low, reading.interval.high], "method": reading.interval.method}


def change_json(change: MetricChange) -> dict[str, Any]:
    """One metric against the baseline."""
    found, wide = change.difference.interval, change.difference.judged
    return {
        "base": change.base,
        "new": change.new,
        "difference": change.difference.mean,
        "ci": None if found is None else [found.low, found.high],
        "ci_method": None if found is None else found.method,
        "judged_ci": None if wide is None else [wide.low, wide.high],
        "n": change.difference.n,
        "verdict": change.verdict,
    }


def baseline_json(baseline: RunComparison) -> dict[str, Any]:
    """The run that this one is held against."""
    return {
        "run_id": baseline.base.run_id,
        "name": baseline.base.name,
        "matched": baseline.matched.pairs,
        "only_here": baseline.matched.here,
        "only_there": baseline.matched.there,
        "changes": {change.metric: change_json(change) for change in baseline.metrics},
        "failures": dict(baseline.failures.base),
        "failed_examples": baseline.failures.failed_base,
    }


def as_json(card: ScorecardData) -> dict[str, Any]:
    """The whole scorecard; the schema is `data/schema/scorecard.schema.json`."""
    return {
        "run_id": card.run.run_id,
        "name": card.run.name,
        "judge": card.judge.judge_id,
        "n": card.n,
        "pending": card.pending,
        "level": card.level,
        "metrics": {summary.metric: summary_json(summary) for summary in card.summaries},
        "segments": {
            column: {value: {s.metric: summary_json(s) for s in summaries} for value, summaries in values.items()}
            for column, values in card.segments.items()
        },
        "segment_sizes": sizes_json(card),
        "diagnosis": [finding_json(finding) for finding in card.findings],
        "failures": dict(card.causes),
        "failed_examples": card.failed_examples,
        "failed_by": dict(card.failed_by),
        "passed_examples": card.passed_examples,
        "unknown_examples": card.unknown_examples,
        "unknown": dict(card.unknown),
        "uncertain_claims": card.judge.uncertain,
        "judge_error": {
            one.metric: error_json(card.judge.errors[one.metric])
            for one in card.summaries if one.metric in card.judge.errors
        },
        "warnings": list(card.warnings),
        "calls": card.use.paid.calls if card.use is not None else 0,
        "cost": card.use.paid.known_cost if card.use is not None else 0.0,
        "judging": judging_json(card.use),
        "took": dict(card.took),
        "baseline": None if card.baseline is None else baseline_json(card.baseline),
        "gaps": None if card.gaps is None else gaps_json(card.gaps),
        "confirmed": tallies_json(card.confirmed),
        **overview_json(card.overview),
    }
