"""One metric in two runs: what every comparison says of a metric.

`compare`, a scorecard's baseline and the diagnosis read the same values, so that they cannot say different things.

What a difference between two runs is called, and when it may be.
"""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.scores.results.overview import MeanEstimate
from ragauge.stats.ppi_mean import LabelCorrectedMean
from ragauge.stats.weighted import Interval

BETTER, WORSE, CHANGED = "better", "worse", "changed"
SAME, UNKNOWN = "no change seen", "not enough data"
MIN_SEEN = 10  # examples, or clusters, without which "no change seen" would claim more than anybody can see


def decide_verdict(direction: str, difference: MeanEstimate, sums: tuple[float, float], units: int) -> str:
    """What the interval of a difference says, before anything is corrected for multiple comparisons.

    Better or worse where the whole interval, including judge error where that is known, lies on that side of 0, and no
    failed score, wherever it might lie, could turn the sign.

    Args:
        direction: of the metric: higher, lower or neither.
        difference: new − base, over how many examples; without an interval nothing is known.
        sums: the least and greatest sum of differences that failed scores allow.
        units: what is independent: examples, or their clusters.
    """
    interval = difference.widest_interval
    if interval is None:
        return UNKNOWN
    if interval.low <= 0 <= interval.high:
        return SAME if units >= MIN_SEEN else UNKNOWN
    is_rise = interval.low > 0
    if not (sums[0] > 0 if is_rise else sums[1] < 0):
        return UNKNOWN
    is_good = {"higher": is_rise, "lower": not is_rise}.get(direction)
    return CHANGED if is_good is None else BETTER if is_good else WORSE


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    """How large a difference is, apart from its unit."""

    name: str  #: of the measure: Hedges' g of the differences, or Cohen's h of two rates.
    value: float  #: in units of its own; 0.2 is small, 0.5 medium, 0.8 large.
    interval: Interval | None = None  #: of the value; None where there is none.


@dataclass(frozen=True, slots=True)
class ExampleDelta:
    """One example under a change: its score in the baseline and in this run."""

    query_id: str
    base: float
    new: float


@dataclass(frozen=True, slots=True)
class SegmentLoss:
    """What a metric lost in some examples, and in all others."""

    segment: str  #: "column=value", or "column=value or value".
    inside: float  #: difference over its examples.
    outside: float  #: difference over the others.
    n: int  #: examples in it, scored in both runs.


@dataclass(frozen=True, slots=True)
class SegmentDrop(SegmentLoss):
    """Where a metric got worse most: one value of a segment column against all other examples."""

    #: two or three values of the column that carry most of the loss together; None where this one does alone, or three
    #: do not.
    among: SegmentLoss | None = None


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One metric in two runs, over the examples that both scored, or over those of one segment."""

    metric: str  #: printed name.
    measures: str  #: retrieval, generation or end_to_end.
    direction: str  #: higher, lower or neither is better.
    kind: str  #: rate, mean or amount.
    base: float | None  #: mean of the baseline, label-corrected where there is `rectified`; None without examples.
    new: float | None  #: mean of the new run, over the same examples, likewise.
    difference: MeanEstimate  #: new − base with its interval; n counts the pairs.
    p_value: float | None  #: of no difference, for this metric alone; None where nothing can be tested.
    test: str  #: name of the test.
    effect: ChangeEffect | None  #: its size; None where it has none, and of segments.
    wins: int  #: examples that got better; of a metric without direction, that rose.
    ties: int  #: examples that stayed the same.
    losses: int  #: examples that got worse, or fell.
    failed: int  #: examples left out because a score failed in one run or both.
    #: better, worse, changed (neither way is better), no change seen, or not enough data; by `rectified` where there is
    #: one, as p_value is, else by `difference`.
    verdict: str
    alone: str  #: the verdict that the interval gives by itself, before the correction for multiple comparisons.
    corrected: float | None = None  #: over the family, by the correction chosen; what a verdict takes.
    holm: float | None = None  #: by Holm, over the family.
    discovery: float | None = None  #: by Benjamini and Hochberg, over the same family.
    #: the examples that got worse, the most first, up to a limit; () where the runs are not paired.
    moved: tuple[ExampleDelta, ...] = ()
    #: how many independent differences are not 0: of examples, with clusters of their sums; None where nothing is
    #: paired, or people's labels decide.
    differing: int | None = None
    #: the segment in which it got worse most; None where it did not, was not looked for, or nowhere clearly more than
    #: elsewhere.
    where: SegmentDrop | None = None
    #: the least true difference that such pairs show in 80 of 100 comparisons, before any correction; None where
    #: nothing tells, of two samples, and of segments.
    detectable: float | None = None
    #: the difference that people would see; None below 50 examples that are labelled in both runs.
    rectified: LabelCorrectedMean | None = None
    judge_base: float | None = None  #: the judge's own mean of the baseline, beside a label-corrected one.
    judge_new: float | None = None  #: the judge's own mean of the new run, likewise.
    labeled: tuple[int, int] = (0, 0)  #: examples that people scored, of the baseline and of the new run.

    @property
    def decisive_estimate(self) -> MeanEstimate:
        """The difference that the verdict rests on: the rectified one where there is one, else that of the scores."""
        if self.rectified is None:
            return self.difference
        return MeanEstimate(self.rectified.mean, self.rectified.interval, self.difference.n)

    @property
    def is_possible(self) -> bool:
        """Whether its interval shows a change that does not outlast the correction for multiple comparisons."""
        return self.alone in (BETTER, WORSE, CHANGED) and self.verdict != self.alone
