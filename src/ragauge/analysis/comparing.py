"""From the scores of a baseline and of other runs to what changed: read metric by metric, corrected as one family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragauge.analysis.arrays import Columns, ResponseIndex, numbered
from ragauge.analysis.compare import UNKNOWN, WORSE
from ragauge.analysis.comparison import AmountChange, Failures, MetricChange, SegmentChange
from ragauge.analysis.correction import Correction, corrected_family
from ragauge.analysis.diagnose import diagnose
from ragauge.analysis.flips import FlipGatherer
from ragauge.analysis.frames import failures
from ragauge.analysis.join import Join
from ragauge.analysis.moved import Movement
from ragauge.analysis.overview import Baseline, Change, Fall
from ragauge.analysis.paired_change import amount_of, change_of, unpaired_change
from ragauge.analysis.pairs import Pairs, pair
from ragauge.analysis.patterns import WORKING
from ragauge.analysis.readings import BASELINE, Against
from ragauge.analysis.scorecard import Finding
from ragauge.analysis.segments import tidy
from ragauge.analysis.summarize import summary
from ragauge.analysis.summary import Summary
from ragauge.metrics.base import Metric

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Codes = npt.NDArray[np.int64]


class Comparer:
    """Holds one run against a baseline, one metric after another; a metric's scores are dropped when they are read.

    Args:
        index: the responses of the new run.
        join: of its examples with the baseline's.
        segments: a segment frame of the new run; None = no segment is looked at.
        level: of the intervals.
        paired: whether the runs are compared example by example; else as two samples, without segments and flips.

    Attributes:
        metrics: one change a metric, in the order read, not yet corrected.
        parts: one a metric and segment value, not yet corrected.
        amounts: quantiles of latency, tokens and cost.
        flips: gathers the examples that change sides.
        summaries: of the new run, over all its examples.
        segments: the segments looked at, small values grouped; None for none.
    """

    def __init__(
        self, index: ResponseIndex, join: Join, segments: pl.DataFrame | None = None, *, level: float = 0.95,
        paired: bool = True,
    ) -> None:     # fmt: skip
        self.metrics: list[MetricChange] = []
        self.parts: list[SegmentChange] = []
        self.amounts: list[AmountChange] = []
        self.flips = FlipGatherer(index.query_ids)
        self.summaries: list[Summary] = []
        self.segments = None if segments is None or not paired else tidy(segments, among=index.query_ids)
        self._join, self._level, self._paired = join, level, paired
        self._movement = Movement(index.query_ids, self.segments)
        self._wheres: dict[str, Fall | None] = {}
        self._columns = {} if self.segments is None else _coded(index.query_ids, self.segments)

    def read(self, metric: Metric, new: Columns | None, base: Columns | None) -> None:
        """Takes in a metric's scores in both runs, one entry an example."""
        self.summaries.append(summary(metric, new, self._level))
        if new is None or base is None:
            return
        if not self._paired:
            self.metrics.append(unpaired_change(metric, new, base, self._level))
            return
        pairs = pair(metric, new, base, self._join)
        moved = self._movement.moved(pairs.query, pairs.base, pairs.new, metric.direction)
        moved = moved if metric.direction != "neither" else ()
        self.metrics.append(change_of(pairs, self._level, moved, sized=True))
        self.flips.read(pairs)
        if metric.scale == "amount" and len(pairs):
            self.amounts.append(amount_of(pairs, self._level))
        self._read_segments(pairs)

    def _read_segments(self, pairs: Pairs) -> None:
        whole = self.metrics[-1]
        for column, (values, codes) in self._columns.items():
            for number, value in enumerate(values):
                mine = pairs.within(codes == number)
                if not len(mine):
                    continue
                change = change_of(mine, self._level)
                if change.alone == WORSE:
                    moved = self._movement.moved(mine.query, mine.base, mine.new, whole.direction)
                    change = replace(change, moved=moved)
                self.parts.append(SegmentChange(column, str(value), change, whole.difference.mean))
        if whole.alone == WORSE and self._columns:
            width = pairs.metric.range[1] - pairs.metric.range[0]
            self._wheres[whole.metric] = self._movement.where(
                pairs.query, pairs.new - pairs.base, whole.direction, width, pairs.weight, pairs.cluster
            )

    def where(self, metric: str) -> Fall | None:
        """The segment in which a metric fell more than elsewhere; None where it did not, or nowhere clearly."""
        return self._wheres.get(metric)


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
    metrics = [change for one in comparers for change in one.metrics]
    parts = [part for one in comparers for part in one.parts]
    whole, tests = corrected_family(metrics, level, correction)
    cells, segment_tests = corrected_family([part.change for part in parts], level, correction)
    found: list[Corrected] = []
    left, right = iter(whole), iter(cells)
    for one in comparers:
        mine = tuple(next(left) for _ in one.metrics)
        segments = [replace(part, change=next(right)) for part in one.parts]
        found.append(Corrected(mine, tuple(sorted(segments, key=_urgency))))
    return found, tests, segment_tests


def _urgency(part: SegmentChange) -> tuple[int, float, str, str]:
    """Worse first, then possibly worse, better, the rest; within each by how far the interval lies from 0."""
    change = part.change
    perhaps = change.possible and change.alone == WORSE
    rank = {"worse": 0, "better": 2, "changed": 3}.get(change.verdict, 1 if perhaps else 4)
    of = abs(change.base or 0.0) or 1.0
    size = abs(change.difference.mean or 0.0) / (of if change.kind == "amount" else 1.0)
    return rank, -size, f"{part.column}={part.value}", change.metric


def failures_of(new: pl.DataFrame, base: pl.DataFrame, among: Collection[str] | None) -> Failures:
    """Failed examples by cause in two runs.

    Args:
        new: cause frame of the new run.
        base: of the baseline.
        among: ids of the examples compared; None = all.
    """
    here, there = (_counted(frame, among) for frame in (new, base))
    return Failures(there, here, sum(there.values()), sum(here.values()))


def _counted(causes: pl.DataFrame, among: Collection[str] | None) -> Mapping[str, int]:
    import polars as pl

    found = failures(causes)
    if among is not None:
        found = found.filter(pl.col("query_id").is_in(list(among)))
    return dict(Counter(found["cause"].to_list()).most_common())


def findings_of(
    comparer: Comparer, changes: Sequence[MetricChange], baseline: Baseline, causes: pl.DataFrame, judge_id: str,
    *, traffic: bool, more: str, quiet: bool,
) -> tuple[Finding, ...]:     # fmt: skip
    """What the diagnosis reads from the change; findings that rest on one run alone are left out.

    Args:
        comparer: after it has read every metric.
        changes: corrected.
        baseline: without changes; they are put in here.
        causes: cause frame of the new run, of the examples compared.
        judge_id: who judged; "" = nobody.
        traffic: the new run is production traffic.
        more: how more passages are handed on than before, in words.
        quiet: leave out that nothing got worse, because a segment did, or scores failed.
    """
    held = replace(baseline, changes=tuple(_as_change(change, comparer) for change in changes if change.difference.n))
    found = diagnose(
        comparer.summaries, {}, causes, max(1, baseline.matched or baseline.only_here), segments=comparer.segments,
        judge_id=judge_id, against=Against(held, None, traffic, more),
    )     # fmt: skip
    return tuple(one for one in found if one.against == BASELINE and not (quiet and one.cause == WORKING))


def _as_change(change: MetricChange, comparer: Comparer) -> Change:
    """As the diagnosis takes it; what did not outlast the correction is not clear either way."""
    verdict = UNKNOWN if change.possible else change.verdict
    return Change(
        change.metric, change.base or 0.0, change.new or 0.0, change.difference, change.direction, verdict,
        change.moved if verdict == WORSE else (), comparer.where(change.metric),
    )     # fmt: skip


def _coded(query_ids: Sequence[str], segments: pl.DataFrame) -> dict[str, tuple[tuple[str | None, ...], Codes]]:
    """Per column its values, and the number of each example's value."""
    import polars as pl

    queries = pl.DataFrame({"query_id": query_ids}, schema={"query_id": pl.String})
    mine = queries.join(segments, on="query_id", how="left", maintain_order="left")
    found = {}
    for name in mine.columns[1:]:
        values, codes = numbered(mine[name])
        found[name] = values, codes.to_numpy()
    return found
