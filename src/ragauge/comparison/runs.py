"""From the scores of a baseline and of other runs to what changed: read metric by metric, corrected as one family."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragauge.comparison.changes import Changes, amount_of, change_of
from ragauge.comparison.comparability import handed_on_more
from ragauge.comparison.correction import Correction, corrected_family
from ragauge.comparison.flips import FlipGatherer
from ragauge.comparison.pairs import Join, Pairs
from ragauge.comparison.regressions import coded
from ragauge.diagnosis.findings.diagnosis_builder import SegmentView, diagnose
from ragauge.diagnosis.findings.patterns import WORKING
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import Columns, ResponseIndex
from ragauge.scores.frames import failures
from ragauge.scores.indicators import BASELINE, Against
from ragauge.scores.results.change import WORSE, MetricChange
from ragauge.scores.results.comparison import AmountChange, RunComparison, SegmentChange
from ragauge.scores.results.findings import Finding
from ragauge.scores.results.summary import Summary
from ragauge.scores.segments import Segments, tidy
from ragauge.scores.summarize import NO_ERRORS, summary
from ragauge.stats.families import holm
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.textbook_tests import mcnemar

if TYPE_CHECKING:
    import polars as pl


class Comparer:
    """Holds one run against a baseline, one metric after another; a metric's scores are dropped when they are read.

    Args:
        index: the responses of the new run.
        join: of its examples with the baseline's.
        segments: a segment frame of the new run; None = no segment is looked at.
        level: of the intervals.
        paired: whether the runs are compared example by example; else as two samples, without segments and flips.
        errors: printed name -> how far the judge errs, where known.

    Attributes:
        whole: the changes over all examples.
        parts: one a metric and segment value, not yet corrected.
        amounts: quantiles of latency, tokens and cost.
        flips: gathers the examples that change sides.
        summaries: of the new run, over all its examples.
        segments: the segments looked at, small values grouped; None for none.
    """

    def __init__(
        self,
        index: ResponseIndex,
        join: Join,
        segments: pl.DataFrame | None = None,
        *,
        level: float = 0.95,
        paired: bool = True,
        errors: Mapping[str, JudgeMeanError] = NO_ERRORS,
    ) -> None:
        self.parts: list[SegmentChange] = []
        self.amounts: list[AmountChange] = []
        self.flips = FlipGatherer(index.query_ids)
        self.summaries: list[Summary] = []
        self.segments = None if segments is None or not paired else tidy(segments, among=index.query_ids)
        self.whole = Changes(index, join, self.segments, level=level, paired=paired, sized=True, errors=errors)
        self._level = level
        self._columns = {} if self.segments is None else coded(index.query_ids, self.segments)

    def read(self, metric: Metric, new: Columns | None, base: Columns | None) -> None:
        """Takes in a metric's scores in both runs, one entry an example."""
        self.summaries.append(summary(metric, new, self._level, self.whole.errors.get(str(metric))))
        pairs = None if new is None or base is None else self.whole.read(metric, new, base)
        if pairs is None:
            return
        self.flips.read(pairs)
        if metric.scale == "amount" and len(pairs):
            self.amounts.append(amount_of(pairs, self._level))
        self._read_segments(pairs)

    def know_unanswered(self, new: Columns, base: Columns) -> None:
        """Learns which calls failed in both runs (see `unanswered`), before any metric is read."""
        self.whole.know_unanswered(new, base)

    def read_unanswered(self) -> None:
        """Compares which calls failed; where none did there is nothing to say."""
        pairs = self.whole.read_unanswered()
        if pairs is not None:
            self._read_segments(pairs)

    def _read_segments(self, pairs: Pairs) -> None:
        whole = self.whole.found[-1]
        for column, (values, codes) in self._columns.items():
            for number, value in enumerate(values):
                mine = pairs.within(codes == number)
                if not len(mine):
                    continue
                change = change_of(mine, self._level, error=self.whole.errors.get(str(pairs.metric)))
                if change.alone == WORSE:
                    change = replace(change, moved=self.whole.moved(mine))
                self.parts.append(SegmentChange(column, str(value), change, whole.difference.mean))


@dataclass(frozen=True, slots=True)
class Corrected:
    """One run's changes after the correction."""

    metrics: tuple[MetricChange, ...]
    segments: tuple[SegmentChange, ...]


def corrected(
    comparers: Sequence[Comparer], level: float = 0.95, correction: Correction = "holm"
) -> tuple[list[Corrected], int, int]:
    """All changes with their p-values corrected, the metrics of all runs as one family and all segments as another.

    How is said in `correction.corrected_family`. Segments stand in the order: worse (the most first), possibly worse,
    better, the others.

    Returns:
        One a comparer, and how many tests each of the two families has.
    """
    metrics = [change for comparer in comparers for change in comparer.whole.found]
    parts = [part for comparer in comparers for part in comparer.parts]
    whole, tests = corrected_family(metrics, level, correction)
    cells, segment_tests = corrected_family([part.change for part in parts], level, correction)
    verdicts: list[Corrected] = []
    left, right = iter(whole), iter(cells)
    for comparer in comparers:
        mine = tuple(next(left) for _ in comparer.whole.found)
        segments = [replace(part, change=next(right)) for part in comparer.parts]
        verdicts.append(Corrected(mine, tuple(sorted(segments, key=_urgency))))
    return verdicts, tests, segment_tests


def _urgency(part: SegmentChange) -> tuple[int, bool, float, str, str]:
    """Worse first, then possibly worse, better, the rest; within each quality before amounts, and the most first."""
    change = part.change
    perhaps = change.possible and change.alone == WORSE
    rank = {"worse": 0, "better": 2, "changed": 3}.get(change.verdict, 1 if perhaps else 4)
    of = abs(change.base or 0.0) or 1.0
    size = abs(change.difference.mean or 0.0) / (of if change.kind == "amount" else 1.0)
    return rank, change.kind == "amount", -size, f"{part.column}={part.value}", change.metric


def grown(new: pl.DataFrame, base: pl.DataFrame, n: int, level: float) -> frozenset[str]:
    """The causes that clearly more examples fail by than in the baseline: McNemar's test of each, corrected by Holm.

    Args:
        new: cause frame of the new run, of the examples in both.
        base: of the baseline.
        n: examples in both.
        level: 1 − level is what a corrected p is held against.
    """
    here, there = (dict(failures(frame).select("query_id", "cause").iter_rows()) for frame in (new, base))
    names = sorted({*here.values(), *there.values()} - {""})
    p_values = []
    for name in names:
        gained = sum(cause == name != there.get(query_id) for query_id, cause in here.items())
        lost = sum(cause == name != here.get(query_id) for query_id, cause in there.items())
        test = mcnemar(gained, lost, n, "greater")
        p_values.append(1.0 if test is None else test.p_value)
    return frozenset(name for name, p in zip(names, holm(p_values), strict=True) if p <= (1 - level) / 2)


def findings_of(
    comparer: Comparer,
    comparison: RunComparison,
    causes: pl.DataFrame,
    judge_id: str,
    *,
    more_often: Collection[str] = (),
    quiet: bool,
) -> tuple[Finding, ...]:
    """What the diagnosis reads from the change; findings that rest on one run alone are left out.

    Args:
        comparer: after it has read every metric.
        comparison: with its changes, corrected.
        causes: cause frame of the new run, of the examples compared.
        judge_id: who judged; "" = nobody.
        more_often: causes that clearly more examples fail by than in the baseline.
        quiet: leave out that nothing got worse, because a segment did, or scores failed.
    """
    run, more = comparison.run, handed_on_more(comparison.run.config, comparison.base.config)
    held, matched = replace(comparison, metrics=comparer.whole.as_read(comparison.metrics)), comparison.matched
    segments = None if comparer.segments is None else Segments.of(comparer.segments)
    findings = diagnose(
        comparer.summaries,
        causes,
        max(1, matched.pairs or matched.here),
        within=SegmentView(segments),
        judge_id=judge_id,
        against=Against(held, None, run.kind == "traffic", more),
    )
    read = [
        replace(finding, against=BASELINE) if finding.cause in more_often and not finding.against else finding
        for finding in findings
    ]
    return tuple(
        finding for finding in read if finding.against == BASELINE and not (quiet and finding.cause == WORKING)
    )
