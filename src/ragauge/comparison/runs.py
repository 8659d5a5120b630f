"""What changed between a baseline and other runs, and which examples flipped."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from ragauge.comparison.changes import ChangeReader, compute_amount_change, compute_change
from ragauge.comparison.comparability import FAILED_CALLS_NAME, describe_more_passages
from ragauge.comparison.correction import Correction, correct_family
from ragauge.comparison.pairs import Join, Pairs
from ragauge.comparison.regressions import encode_segments
from ragauge.diagnosis.findings.diagnosis_builder import SegmentView, diagnose
from ragauge.diagnosis.findings.pattern_matches import WORKING_PATTERN
from ragauge.metrics.base import Metric
from ragauge.scores.arrays import Columns, ResponseIndex, ScoreColumns, merge_repeats
from ragauge.scores.indicators import BASELINE, Against
from ragauge.scores.results.comparison import WORSE, AmountChange, Flipped, MetricChange, RunComparison, SegmentChange
from ragauge.scores.results.findings import Finding
from ragauge.scores.results.summary import Summary
from ragauge.scores.segments import Segments, tidy_segments
from ragauge.scores.summarize import NO_ERRORS, select_failures, summarize_metric
from ragauge.stats.families import holm
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.stats.textbook_tests import mcnemar_test

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Floats = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int64]


MAX_FLIPS = 60  # examples shown, half of them those that lost most


class ChosenFlip(NamedTuple):
    """An example to show: its number in the new run, the change of its quality, and what flipped."""

    query: int
    change: float
    scores: tuple[Flipped, ...]


@dataclass(frozen=True, slots=True)
class FlippedExamples:
    """The examples that flipped: how many, and which to show, those that lost most first."""

    lost: int
    gained: int
    newly_failed: int
    mended: int
    chosen: tuple[ChosenFlip, ...]


class FlipGatherer:
    """Takes in one metric's pairs after another.

    Args:
        query_ids: the examples of the new run, by number.
    """

    def __init__(self, query_ids: Sequence[str]) -> None:
        import numpy as np

        self._ids = query_ids
        self._sum, self._count = np.zeros(len(query_ids)), np.zeros(len(query_ids), dtype=np.int64)
        self._turned: dict[str, tuple[Codes, Floats, Floats]] = {}

    def read(self, pairs: Pairs) -> None:
        """Takes in a metric; one without bounds or direction says nothing about which side is better."""
        import numpy as np

        low, high = pairs.metric.range
        if pairs.metric.direction == "neither" or not (isfinite(low) and isfinite(high)) or not len(pairs):
            return
        sign = 1.0 if pairs.metric.direction == "higher" else -1.0
        self._sum[pairs.query] += sign * (pairs.new - pairs.base) / (high - low)
        self._count[pairs.query] += 1
        if all(bool(((scores == 0) | (scores == 1)).all()) for scores in (pairs.new, pairs.base)):
            rows = np.flatnonzero(pairs.new != pairs.base)
            self._turned[str(pairs.metric)] = pairs.query[rows], pairs.base[rows], pairs.new[rows]

    def find_flips(
        self, failed_new: Collection[str], failed_base: Collection[str], matched: Collection[str]
    ) -> FlippedExamples:
        """The examples that flipped.

        Args:
            failed_new: ids of the examples that failed in the new run.
            failed_base: of those that failed in the baseline.
            matched: of those in both.
        """
        import numpy as np

        among = set(matched)
        newly_failed, mended = (
            {query_id for query_id in failures if query_id not in other and query_id in among}
            for failures, other in ((failed_new, failed_base), (failed_base, failed_new))
        )
        flipped_ids = newly_failed | mended
        numbers = {query_id: number for number, query_id in enumerate(self._ids) if query_id in flipped_ids}
        numbers_seen = {number for queries, _, _ in self._turned.values() for number in queries.tolist()}
        flipped_numbers = np.array(sorted(numbers_seen | set(numbers.values())), dtype=np.int64)
        change = self._sum[flipped_numbers] / np.maximum(self._count[flipped_numbers], 1)
        fell = np.array([self._ids[number] in newly_failed for number in flipped_numbers], dtype=bool)
        got_worse = (change < 0) | ((change == 0) & fell)
        # of equal ones those that newly failed first, then in the order of the run
        order = np.lexsort((flipped_numbers, ~fell, change, ~got_worse))
        shown_rows = _select_ends(order, int(got_worse.sum()))
        scores = self._select_scores({int(flipped_numbers[row]) for row in shown_rows})
        selected = tuple(
            ChosenFlip(int(flipped_numbers[row]), float(change[row]), scores.get(int(flipped_numbers[row]), ()))
            for row in shown_rows
        )
        return FlippedExamples(int(got_worse.sum()), int((~got_worse).sum()), len(newly_failed), len(mended), selected)

    def _select_scores(self, numbers: Collection[int]) -> Mapping[int, tuple[Flipped, ...]]:
        """Number of an example -> its scores that flipped, of those wanted."""
        import numpy as np

        by_query: dict[int, tuple[Flipped, ...]] = {}
        sorted_numbers = np.array(sorted(numbers), dtype=np.int64)
        for metric, (queries, base, new) in self._turned.items():
            for row in np.flatnonzero(np.isin(queries, sorted_numbers)):
                flipped = Flipped(metric, float(base[row]), float(new[row]))
                by_query[int(queries[row])] = (*by_query.get(int(queries[row]), ()), flipped)
        return by_query


def _select_ends(order: Codes, n_lost: int) -> list[int]:
    """The first ones and the last ones of an order, half of each where there are enough of both."""
    n_gained = order.size - n_lost
    n_front = min(n_lost, max(MAX_FLIPS // 2, MAX_FLIPS - n_gained))
    n_back = min(n_gained, MAX_FLIPS - n_front)
    return [*order[:n_front].tolist(), *order[order.size - n_back :].tolist()] if n_back else order[:n_front].tolist()


class BaselineReader:
    """Holds a run against another one while a scorecard reads its scores; what `compare` would say of the metrics.

    Args:
        index: the responses of this run.
        base: scores of the other one.
        metrics: what to compare; others are passed by.
        paired: whether the runs answered the same examples.
        level: of the intervals.
        errors: printed name -> how far the judge errs, where known.

    Attributes:
        base: scores of the other one.
        paired: whether the runs answered the same examples.
        join: which examples are in both.
        there: the other run's summaries, of the same metrics, over the examples in both (of samples: all).
    """

    def __init__(
        self,
        index: ResponseIndex,
        base: ScoreColumns,
        metrics: Sequence[Metric],
        *,
        paired: bool = True,
        level: float = 0.95,
        errors: Mapping[str, JudgeMeanError] = NO_ERRORS,
    ) -> None:
        self.join = Join(index.query_ids, base.index.query_ids)
        self.there: tuple[Summary, ...] = ()
        self.base, self.paired = base, paired
        self._index, self._metrics, self._level = index, frozenset(metrics), level
        self._changes = ChangeReader(index, self.join, level=level, paired=paired, errors=errors)

    def set_segments(self, segments: pl.DataFrame) -> None:
        """Looks for the segment, of a tidy segment frame, in which a metric got worse most; before anything is read."""
        unanswered, errors = self._changes.unanswered, self._changes.errors
        self._changes = ChangeReader(
            self._index, self.join, segments, level=self._level, paired=self.paired, errors=errors
        )
        self._changes.unanswered = unanswered

    def read(self, metric: Metric, _: Columns | None, examples: Columns | None) -> None:
        """Takes in a metric's scores of this run, and reads the other's."""
        responses = self.base.column(str(metric)) if metric in self._metrics else None
        if examples is None or responses is None:
            return
        base = merge_repeats(responses)
        self._changes.read(metric, examples, base)
        if self.paired:
            base = base.take(self.join.rows(examples, base)[1])
        self.there = (*self.there, summarize_metric(metric, base, self._level, self._changes.errors.get(str(metric))))

    def set_failed_calls(self, new: Columns, base: Columns) -> None:
        """Learns which calls failed, before any metric is read."""
        self._changes.set_failed_calls(new, base)

    def read_failed_calls(self) -> None:
        """Compares which calls failed."""
        self._changes.read_failed_calls()

    @property
    def changes(self) -> tuple[MetricChange, ...]:
        """One a metric that has scores in both runs, in the order read; p-values corrected as one family."""
        return self._changes.select_shown(self._corrected_family)

    @property
    def calls(self) -> MetricChange | None:
        """Whether more calls failed, of the same family; None where none did."""
        return next((change for change in self._corrected_family if change.metric == FAILED_CALLS_NAME), None)

    @property
    def _corrected_family(self) -> Sequence[MetricChange]:
        return correct_family(self._changes.found, self._level)[0]


class RunComparer:
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
        self.segments = None if segments is None or not paired else tidy_segments(segments, among=index.query_ids)
        self.whole = ChangeReader(index, join, self.segments, level=level, paired=paired, sized=True, errors=errors)
        self._level = level
        self._columns = {} if self.segments is None else encode_segments(index.query_ids, self.segments)

    def read(self, metric: Metric, new: Columns | None, base: Columns | None) -> None:
        """Takes in a metric's scores in both runs, one entry an example."""
        self.summaries.append(summarize_metric(metric, new, self._level, self.whole.errors.get(str(metric))))
        pairs = None if new is None or base is None else self.whole.read(metric, new, base)
        if pairs is None:
            return
        self.flips.read(pairs)
        if metric.scale == "amount" and len(pairs):
            self.amounts.append(compute_amount_change(pairs, self._level))
        self._read_segments(pairs)

    def set_failed_calls(self, new: Columns, base: Columns) -> None:
        """Learns which calls failed in both runs (see `unanswered`), before any metric is read."""
        self.whole.set_failed_calls(new, base)

    def read_failed_calls(self) -> None:
        """Compares which calls failed; where none did there is nothing to say."""
        pairs = self.whole.read_failed_calls()
        if pairs is not None:
            self._read_segments(pairs)

    def _read_segments(self, pairs: Pairs) -> None:
        overall = self.whole.found[-1]
        for column, (values, codes) in self._columns.items():
            for number, value in enumerate(values):
                segment_pairs = pairs.select_examples(codes == number)
                if not len(segment_pairs):
                    continue
                change = compute_change(segment_pairs, self._level, error=self.whole.errors.get(str(pairs.metric)))
                if change.alone == WORSE:
                    change = replace(change, moved=self.whole.find_moved(segment_pairs))
                self.parts.append(SegmentChange(column, str(value), change, overall.difference.mean))


@dataclass(frozen=True, slots=True)
class CorrectedChanges:
    """One run's changes after the correction."""

    metrics: tuple[MetricChange, ...]
    segments: tuple[SegmentChange, ...]


def correct_changes(
    comparers: Sequence[RunComparer], level: float = 0.95, correction: Correction = "holm"
) -> tuple[list[CorrectedChanges], int, int]:
    """All changes with their p-values corrected, the metrics of all runs as one family and all segments as another.

    How is said in `comparison.correction`. Segments stand in the order: worse (the most first), possibly worse,
    better, the others.

    Returns:
        One a comparer, and how many tests each of the two families has.
    """
    metrics = [change for comparer in comparers for change in comparer.whole.found]
    segment_changes = [segment_change for comparer in comparers for segment_change in comparer.parts]
    overall, tests = correct_family(metrics, level, correction)
    cells, segment_tests = correct_family(
        [segment_change.change for segment_change in segment_changes], level, correction
    )
    verdicts: list[CorrectedChanges] = []
    next_overall, next_segment = iter(overall), iter(cells)
    for comparer in comparers:
        run_changes = tuple(next(next_overall) for _ in comparer.whole.found)
        segments = [replace(segment_change, change=next(next_segment)) for segment_change in comparer.parts]
        verdicts.append(CorrectedChanges(run_changes, tuple(sorted(segments, key=_build_urgency_key))))
    return verdicts, tests, segment_tests


def _build_urgency_key(segment_change: SegmentChange) -> tuple[int, bool, float, str, str]:
    """Worse first, then possibly worse, better, the rest; within each quality before amounts, and the most first."""
    change = segment_change.change
    is_possible = change.is_possible and change.alone == WORSE
    rank = {"worse": 0, "better": 2, "changed": 3}.get(change.verdict, 1 if is_possible else 4)
    scale = abs(change.base or 0.0) or 1.0
    size = abs(change.difference.mean or 0.0) / (scale if change.kind == "amount" else 1.0)
    return rank, change.kind == "amount", -size, f"{segment_change.column}={segment_change.value}", change.metric


def find_grown_causes(new: pl.DataFrame, base: pl.DataFrame, n: int, level: float) -> frozenset[str]:
    """The causes that clearly more examples fail by than in the baseline: McNemar's test of each, corrected by Holm.

    Args:
        new: cause frame of the new run, of the examples in both.
        base: of the baseline.
        n: examples in both.
        level: 1 − level is what a corrected p is held against.
    """
    new_causes, base_causes = (
        dict(select_failures(frame).select("query_id", "cause").iter_rows()) for frame in (new, base)
    )
    names = sorted({*new_causes.values(), *base_causes.values()} - {""})
    p_values = []
    for name in names:
        n_gained = sum(cause == name != base_causes.get(query_id) for query_id, cause in new_causes.items())
        n_lost = sum(cause == name != new_causes.get(query_id) for query_id, cause in base_causes.items())
        test = mcnemar_test(n_gained, n_lost, n, "greater")
        p_values.append(1.0 if test is None else test.p_value)
    return frozenset(name for name, p in zip(names, holm(p_values), strict=True) if p <= (1 - level) / 2)


def build_findings(
    comparer: RunComparer,
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
    run, more = comparison.run, describe_more_passages(comparison.run.config, comparison.base.config)
    shown_comparison, matched = (
        replace(comparison, metrics=comparer.whole.select_shown(comparison.metrics)),
        comparison.matched,
    )
    segments = None if comparer.segments is None else Segments.of(comparer.segments)
    findings = diagnose(
        comparer.summaries,
        causes,
        max(1, matched.pairs or matched.here),
        within=SegmentView(segments),
        judge_id=judge_id,
        against=Against(shown_comparison, None, run.kind == "traffic", more),
    )
    relabeled = [
        replace(finding, against=BASELINE) if finding.cause in more_often and not finding.against else finding
        for finding in findings
    ]
    return tuple(
        finding
        for finding in relabeled
        if finding.against == BASELINE and not (quiet and finding.cause == WORKING_PATTERN)
    )
