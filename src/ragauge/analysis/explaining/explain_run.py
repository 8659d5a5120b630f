"""A run explained: every mean with its sum and interval, every finding with the arithmetic that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragauge.analysis.diagnosis.diagnose import LEAST_COUNT, LEAST_SHARE
from ragauge.analysis.diagnosis.readings import BASELINE, POINTS
from ragauge.analysis.explaining.case import number
from ragauge.analysis.explaining.means import explain_mean
from ragauge.analysis.results.explanation import FindingWorked, MeanWorked, RunExplained
from ragauge.analysis.results.scorecard import Finding, Reading, ScorecardData
from ragauge.analysis.scores.arrays import Columns
from ragauge.analysis.scores.summarize import NO_ERRORS
from ragauge.metrics.base import Metric
from ragauge.stats.instrument import JudgeMeanError


class MeansExplained:
    """Explains the means of a run while its scores are read.

    Args:
        level: of the intervals.
        errors: printed name -> how far the judge errs, where known.

    Attributes:
        found: one a metric, in the order read.
    """

    def __init__(self, level: float = 0.95, errors: Mapping[str, JudgeMeanError] = NO_ERRORS) -> None:
        self.found: list[MeanWorked] = []
        self._level, self._errors = level, errors

    def read(self, metric: Metric, _: Columns | None, examples: Columns | None) -> None:
        """Takes in a metric's scores."""
        self.found.append(explain_mean(metric, examples, self._level, self._errors.get(str(metric))))


def explain_run(card: ScorecardData, means: Sequence[MeanWorked]) -> RunExplained:
    """The run's numbers and findings with their arithmetic.

    Args:
        card: of the whole run: findings rest on all of its metrics.
        means: of the metrics asked for.
    """
    share = f" = {card.failed_examples / card.n:.0%}" if card.n else ""
    return RunExplained(
        run_id=card.run.run_id,
        name=card.run.name,
        judge_id=card.judge.judge_id,
        n=card.n,
        level=card.level,
        metrics=tuple(means),
        findings=tuple(FindingWorked(finding, tuple(_lines(finding, card))) for finding in card.findings),
        failures=f"{card.failed_examples} / {card.n} examples failed{share}",
        causes=card.causes,
        against=card.baseline.base.name if card.baseline is not None else "",
    )


def _lines(finding: Finding, card: ScorecardData) -> Iterator[str]:
    """One line a number that the finding rests on."""
    count = card.causes.get(finding.cause, 0)
    if count:
        share = f"{count} / {finding.failures} failures = {count / finding.failures:.0%}"
        why = f"at least {LEAST_COUNT} or {LEAST_SHARE:.0%} of the failures" if finding.cause else "no row applied"
        yield f"count: {share}, {count} / {card.n} examples = {count / card.n:.0%}  ({why})"
        if card.baseline is not None and finding.cause:
            before, failed = card.baseline.failures.base.get(finding.cause, 0), card.baseline.failures.failed_base
            yield f"before: {before} / {failed} failures in {card.baseline.base.name}"
    for reading in finding.readings:
        yield f"{reading.level}: {_reading(reading, card.level)}"
    if finding.segment:
        column, _, value = finding.segment.partition("=")
        n = next((part.n for part in card.segments.get(column, {}).get(value, ())), 0)
        yield f"segment: {finding.segment}, {n} of {card.n} examples, by Fisher's exact test corrected for all segments"
    if finding.explains != count:
        yield f"explains: {finding.explains} / {finding.failures} failures, all causes that the pattern goes with"


def _reading(reading: Reading, level: float) -> str:
    low, high = (number(end) for end in (reading.interval.low, reading.interval.high))
    mean, point = number(reading.mean), number(reading.point)
    how = f"{reading.interval.method}, {level:.0%}, n = {reading.n}"
    if reading.difference is None:
        side = "above" if reading.level == "high" else "below"
        whose = " on oracle passages" if reading.of == "oracle" else ""
        return (
            f"{reading.metric}{whose} {mean} [{low}, {high}] lies wholly {side} {point}, the starting point "
            f"({reading.source}; {how})"
        )
    holds = reading.interval.low <= 0 <= reading.interval.high
    side = "holds 0: no change seen" if holds else f"lies wholly {'above' if reading.interval.low > 0 else 'below'} 0"
    against = "" if reading.against in (BASELINE, POINTS) else f" ({reading.against})"
    return (
        f"{reading.metric} {mean} - {point} in {reading.source}{against} = {number(reading.difference)}, and "
        f"[{low}, {high}] {side}  ({how})"
    )
