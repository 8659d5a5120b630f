"""One run held against a baseline, metric by metric, over all examples that both have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.analysis.comparison.change import change_of, unpaired_change
from ragauge.analysis.comparison.correction import corrected_family
from ragauge.analysis.comparison.join import Join
from ragauge.analysis.comparison.pairs import Pairs, pair
from ragauge.analysis.comparison.regressions import Regressions
from ragauge.analysis.comparison.unanswered import NAME, SystemFailed
from ragauge.analysis.results.change import ExampleDelta, MetricChange
from ragauge.analysis.results.comparison import Failures
from ragauge.analysis.results.summary import Summary
from ragauge.analysis.results.verdicts import WORSE
from ragauge.analysis.scores.arrays import Columns, ResponseIndex, ScoreColumns, by_example
from ragauge.analysis.scores.frames import failures
from ragauge.analysis.scores.summarize import NO_ERRORS, summary
from ragauge.metrics.base import Metric
from ragauge.stats.instrument import JudgeMeanError

if TYPE_CHECKING:
    import polars as pl


class Changes:
    """Takes in one metric after another, and says what changed.

    Args:
        index: the responses of the new run.
        join: of its examples with the baseline's.
        segments: a tidy segment frame, for the segment in which a metric got worse most; None = none is looked at.
        level: of the intervals.
        paired: whether the runs are compared example by example; else as two samples.
        sized: whether the size of each effect, and of what could have been seen, is wanted too.
        errors: printed name -> how far the judge errs, where known.

    Attributes:
        errors: printed name -> how far the judge errs, where known.
        found: one change a metric, in the order read, not yet corrected.
    """

    def __init__(
        self, index: ResponseIndex, join: Join, segments: pl.DataFrame | None = None, *, level: float = 0.95,
        paired: bool = True, sized: bool = False, errors: Mapping[str, JudgeMeanError] = NO_ERRORS,
    ) -> None:     # fmt: skip
        self.errors = errors
        self.found: list[MetricChange] = []
        self._join, self._level, self._paired, self._sized = join, level, paired, sized
        self._movement = Regressions(index.query_ids, segments)

    def read(self, metric: Metric, new: Columns, base: Columns) -> Pairs | None:
        """Takes in a metric's scores in both runs, one entry an example; its pairs, None of two samples."""
        error = self.errors.get(str(metric))
        if not self._paired:
            self.found.append(unpaired_change(metric, new, base, self._level, error))
            return None
        pairs = pair(metric, new, base, self._join)
        change = change_of(pairs, self._level, self.moved(pairs), sized=self._sized, error=error)
        if change.alone == WORSE:
            width = metric.range[1] - metric.range[0]
            where = self._movement.where(
                pairs.query, pairs.new - pairs.base, metric.direction, width, pairs.weight, pairs.cluster
            )
            change = replace(change, where=where)
        self.found.append(change)
        return pairs

    def read_unanswered(self, new: Columns, base: Columns) -> Pairs | None:
        """Takes in which calls failed in both runs (see `unanswered`); where none did there is nothing to say."""
        return self.read(SystemFailed(), new, base) if new.value.any() or base.value.any() else None

    def moved(self, pairs: Pairs) -> tuple[ExampleDelta, ...]:
        """The examples of these pairs that got worse; none of a metric without direction."""
        direction = pairs.metric.direction
        return () if direction == "neither" else self._movement.moved(pairs.query, pairs.base, pairs.new, direction)

    @staticmethod
    def as_read(changes: Sequence[MetricChange]) -> tuple[MetricChange, ...]:
        """As a scorecard shows them and the diagnosis takes them, once they are corrected.

        Left out are metrics without an example to compare, failed calls, and what moved unless it clearly got worse.
        """
        shown = (change for change in changes if change.difference.n and change.metric != NAME)
        return tuple(change if change.verdict == WORSE else replace(change, moved=(), where=None) for change in shown)


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
        self, index: ResponseIndex, base: ScoreColumns, metrics: Sequence[Metric], *, paired: bool = True,
        level: float = 0.95, errors: Mapping[str, JudgeMeanError] = NO_ERRORS,
    ) -> None:     # fmt: skip
        self.join = Join(index.query_ids, base.index.query_ids)
        self.there: tuple[Summary, ...] = ()
        self.base, self.paired = base, paired
        self._index, self._metrics, self._level = index, frozenset(metrics), level
        self._changes = Changes(index, self.join, level=level, paired=paired, errors=errors)

    def within(self, segments: pl.DataFrame) -> None:
        """Looks for the segment in which a metric got worse most; before anything is read.

        Args:
            segments: a tidy segment frame of this run.
        """
        self._changes = Changes(
            self._index, self.join, segments, level=self._level, paired=self.paired, errors=self._changes.errors
        )

    def read(self, metric: Metric, _: Columns | None, examples: Columns | None) -> None:
        """Takes in a metric's scores of this run, and reads the other's."""
        responses = self.base.column(str(metric)) if metric in self._metrics else None
        if examples is None or responses is None:
            return
        base = by_example(responses)
        self._changes.read(metric, examples, base)
        if self.paired:
            base = base.take(self.join.rows(examples, base)[1])
        self.there = (*self.there, summary(metric, base, self._level, self._changes.errors.get(str(metric))))

    def read_unanswered(self, new: Columns, base: Columns) -> None:
        """Takes in which calls failed: a scorecard shows no such change, but it is one look more, as in `compare`."""
        self._changes.read_unanswered(new, base)

    @property
    def changes(self) -> tuple[MetricChange, ...]:
        """One a metric that has scores in both runs, in the order read; p-values corrected as one family."""
        return self._changes.as_read(corrected_family(self._changes.found, self._level)[0])


def failures_of(new: pl.DataFrame, base: pl.DataFrame, among: Collection[str] | None = None) -> Failures:
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

    counts = failures(causes)
    if among is not None:
        counts = counts.filter(pl.col("query_id").is_in(list(among)))
    return dict(Counter(counts["cause"].to_list()).most_common())
