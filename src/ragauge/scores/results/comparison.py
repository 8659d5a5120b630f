"""What changed between runs, per metric and as a whole, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ragauge.core.json_keys import Key, Versioned, json_keys, key
from ragauge.core.response import Run
from ragauge.scores.results.findings import Finding
from ragauge.scores.results.overview import MeanEstimate
from ragauge.stats.ppi_mean import LabelCorrectedMean
from ragauge.stats.weighted import Interval

BETTER, WORSE, CHANGED = "better", "worse", "changed"
SAME, UNKNOWN = "no change seen", "not enough data"


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    """How large a difference is, apart from its unit."""

    name: str  #: of the measure: Hedges' g of the differences, or Cohen's h of two rates.
    value: float  #: in units of its own; 0.2 is small, 0.5 medium, 0.8 large.
    interval: Interval | None = field(default=None, metadata=key("ci"))  #: of the value; None where there is none.


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


@json_keys(
    "base new difference p_value holm discovery test effect wins ties losses failed verdict alone detectable rectified "
    "judge_base judge_new",
    optional="detectable rectified judge_base judge_new",
)
@json_keys("base new difference verdict", view="baseline_change")
@json_keys("metric difference", view="segment", difference=Key(at="mean"))
@dataclass(frozen=True, slots=True)
class MetricChange:
    """One metric in two runs, over the examples that both scored, or over those of one segment."""

    metric: str  #: printed name.
    measures: str  #: retrieval, generation or end_to_end.
    direction: str  #: higher, lower or neither is better.
    kind: str  #: rate, mean or amount.
    base: float | None  #: mean of the baseline, label-corrected where there is `rectified`; None without examples.
    new: float | None  #: mean of the new run, over the same examples, likewise.
    #: new − base with its interval; n counts the pairs.
    difference: MeanEstimate = field(metadata=key(view="difference", spread=True))
    #: of no difference, for this metric alone; None where nothing can be tested.
    p_value: float | None = field(metadata=key("p"))
    test: str = field(metadata=key(null=True))  #: name of the test.
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
    holm: float | None = field(default=None, metadata=key("p_holm"))  #: by Holm, over the family.
    #: by Benjamini and Hochberg, over the same family.
    discovery: float | None = field(default=None, metadata=key("p_bh"))
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


@json_keys(
    "paired n clusters only_new only_base",
    only_new=Key("self", view="only_new"),
    only_base=Key("self", view="only_base"),
)
@json_keys("n ids_new", view="only_new", n="only_new")
@json_keys("n ids_base", view="only_base", n="only_base")
@json_keys("matched only_here only_there", view="sizes", matched="pairs", only_here="here", only_there="there")
@dataclass(frozen=True, slots=True)
class Matched:
    """Which examples two runs have in common, by query_id."""

    #: examples in both; of two samples of traffic, those that both happen to have.
    n: int = field(metadata=key("matched"))
    only_new: int  #: how many are only in the new run.
    only_base: int | None  #: how many are only in the baseline; None where a filter left open which of them count.
    ids_new: tuple[str, ...] = field(default=(), metadata=key("query_ids"))  #: the first of those only in the new run.
    #: the first of those only in the baseline.
    ids_base: tuple[str, ...] = field(default=(), metadata=key("query_ids"))
    paired: bool = True  #: whether the runs are compared example by example; else as two samples.
    clusters: int | None = None  #: how many clusters the examples come in; None where none is declared.

    @property
    def here(self) -> int:
        """Examples of the new run that no pair holds: of two samples all."""
        return self.only_new if self.paired else self.only_new + self.n

    @property
    def there(self) -> int:
        """Those of the baseline."""
        return (self.only_base or 0) + (0 if self.paired else self.n)

    @property
    def pairs(self) -> int:
        """Examples compared one by one; 0 of two samples."""
        return self.n if self.paired else 0


@json_keys("column value change whole")
@dataclass(frozen=True, slots=True)
class SegmentChange:
    """One metric in one segment."""

    column: str  #: segment column.
    value: str  #: its value.
    change: MetricChange = field(metadata=key(view="segment", spread=True))  #: over the examples with it.
    whole: float | None = field(metadata=key("overall"))  #: the difference over all examples; None without any.

    @property
    def is_hidden(self) -> bool:
        """Whether the segment got worse while the metric as a whole did not fall."""
        if self.whole is None or self.change.difference.mean is None:
            return False
        return self.change.difference.mean * self.whole <= 0


@json_keys("n base new")
@dataclass(frozen=True, slots=True)
class AmountChange:
    """Latency, tokens or cost: quantiles of each run over the examples that both recorded."""

    metric: str  #: printed name.
    #: 0.5 and 0.95 -> quantile of the baseline with its interval.
    base: Mapping[float, MeanEstimate] = field(metadata=key(view="quantile"))
    new: Mapping[float, MeanEstimate] = field(metadata=key(view="quantile"))  #: likewise of the new run.
    n: int  #: examples.


@json_keys("base new", as_list=True)
@dataclass(frozen=True, slots=True)
class Flipped:
    """A score that flipped, from 1 to 0 or back, of a metric that knows no other values here."""

    metric: str
    base: float
    new: float


@dataclass(frozen=True, slots=True)
class Side:
    """What one run did with an example."""

    failed: bool  #: whether it failed.
    cause: str = ""  #: why; "" when it did not fail, or nothing decided.
    decided_by: str = ""  #: the facts that decided, in words.
    answer: str | None = None  #: None where none was recorded.


@dataclass(frozen=True, slots=True)
class Flip:
    """An example that flipped."""

    query_id: str  #: of the example.
    query: str  #: its question.
    change: float  #: of its quality, the mean over all metrics of new − base on their ranges, 1 = from worst to best.
    scores: tuple[Flipped, ...] = field(metadata=key(by="metric"))  #: those that flipped.
    base: Side  #: the baseline's side.
    new: Side  #: the new run's.

    @property
    def lost(self) -> bool:
        """Whether it got worse."""
        return self.change < 0 or (self.change == 0 and self.new.failed and not self.base.failed)


@dataclass(frozen=True, slots=True)
class Flips:
    """The examples that flipped."""

    lost: int = 0  #: how many got worse.
    gained: int = 0  #: how many did not.
    newly_failed: int = 0  #: examples that failed now and did not before.
    mended: int = 0  #: examples that failed before and do not now.
    shown: tuple[Flip, ...] = ()  #: those that lost most first, those that gained most last, up to a limit.


@json_keys("base new", as_list=True)
@json_keys("new", view="new_value", as_list=True)
@json_keys("base", view="base_value", as_list=True)
@dataclass(frozen=True, slots=True)
class Setting:
    """A setting by its path, such as retriever.k, with its value in each run."""

    path: str
    base: Any = None
    new: Any = None


@dataclass(frozen=True, slots=True)
class ConfigDiff:
    """What differs between the settings of two runs."""

    added: tuple[Setting, ...] = field(default=(), metadata=key(by="path", view="new_value"))
    removed: tuple[Setting, ...] = field(default=(), metadata=key(by="path", view="base_value"))
    changed: tuple[Setting, ...] = field(default=(), metadata=key(by="path"))

    def __len__(self) -> int:
        return len(self.added) + len(self.removed) + len(self.changed)


@dataclass(frozen=True, slots=True)
class Failures:
    """Failed examples by cause before and now, among the examples compared; none where two rules decided them."""

    #: cause ("" = none named) -> failed examples of the baseline, most frequent first.
    base: Mapping[str, int] = field(default_factory=dict)
    new: Mapping[str, int] = field(default_factory=dict)  #: of the new run.
    failed_base: int = 0  #: how many failed in the baseline.
    failed_new: int = 0  #: how many fail now.
    #: whether one version of the rule decided in both runs what failed; otherwise nothing is counted.
    same_rule: bool = True


@json_keys(
    "run verdict summary matched metrics worse_segments segments amounts flips failures settings findings warnings",
    segments="changes_by_segment",
)
@json_keys(
    "base matched changes failures failed_examples",
    view="baseline",
    matched=Key(view="sizes", spread=True),
    changes=Key("metrics", by="metric", view="baseline_change"),
    failures=Key(at="base"),
    failed_examples=Key("failures", at="failed_base"),
)
@dataclass(frozen=True, slots=True)
class RunComparison:
    """One run against a baseline: what `compare` finds, and what a scorecard with a baseline carries.

    A scorecard's has no segments, amounts, flips, settings, findings or warnings: the card has what it shows of them.
    """

    base: Run = field(metadata=key(at="run_id name"))  #: the baseline.
    run: Run  #: the new run.
    matched: Matched = field(metadata=key("examples"))  #: which examples they have in common.
    #: one a metric that both have, in the order asked.
    metrics: tuple[MetricChange, ...] = field(metadata=key(by="metric"))
    segments: tuple[SegmentChange, ...] = ()  #: one a metric and segment value, those that got worse first.
    #: latency, tokens and cost beside quality.
    amounts: tuple[AmountChange, ...] = field(default=(), metadata=key(by="metric"))
    flips: Flips = field(default_factory=Flips)  #: examples that flipped.
    settings: ConfigDiff = field(default_factory=ConfigDiff)  #: what differs between the configurations.
    failures: Failures = field(default_factory=Failures)  #: by cause, before and now.
    #: what the metrics say together about the change.
    findings: tuple[Finding, ...] = field(default=(), metadata=key("diagnosis"))
    warnings: tuple[str, ...] = ()  #: what the reader must know before believing a number.
    newly_unanswered: int = 0  #: calls of the system that failed and did not in the baseline, of the examples in both.
    #: whether more calls failed, where `metrics` does not say so, as those of a scorecard; None else.
    calls: MetricChange | None = None

    @property
    def changes_by_segment(self) -> dict[str, dict[str, dict[str, MetricChange]]]:
        """Column, value, metric."""
        segments: dict[str, dict[str, dict[str, MetricChange]]] = {}
        for segment in self.segments:
            by_metric = segments.setdefault(segment.column, {}).setdefault(segment.value, {})
            by_metric[segment.change.metric] = segment.change
        return segments

    @property
    def changes(self) -> tuple[MetricChange, ...]:
        """What decides: the metrics, and whether more calls failed."""
        return self.metrics if self.calls is None else (*self.metrics, self.calls)

    @property
    def verdict(self) -> str:
        """worse, better, mixed, changed, no change seen or not enough data, over metrics and segments.

        Quality decides: where any was measured and none moved, other latency, tokens or cost are a change, and make the
        run neither better nor worse. Where there is nothing else they decide. A run that lost every answer is worse.
        """
        if self.newly_unanswered and self.newly_unanswered == self.matched.n:
            return WORSE
        quality, amounts = self._collect_verdicts(amounts=False), self._collect_verdicts(amounts=True)
        if self.quality_measured and not {WORSE, BETTER} & quality and {WORSE, BETTER, CHANGED} & amounts:
            return CHANGED
        verdicts = quality if self.quality_measured else quality | amounts
        if {WORSE, BETTER} <= verdicts:
            return "mixed"
        overall_verdicts = {
            metric.verdict for metric in self.changes if metric.kind != "amount" or not self.quality_measured
        }
        order = (WORSE, BETTER, CHANGED, *((SAME,) if SAME in overall_verdicts else ()))
        return next((verdict for verdict in order if verdict in verdicts), "not enough data")

    @property
    def quality_measured(self) -> bool:
        """Whether any metric but latency, tokens and cost was scored on examples of both runs."""
        return any(change.kind != "amount" and change.difference.n for change in self.changes)

    def counts_for_verdict(self, change: MetricChange) -> bool:
        """Whether a metric counts for the verdict: latency, tokens and cost where no quality was measured."""
        return change.kind != "amount" or not self.quality_measured

    def _collect_verdicts(self, *, amounts: bool) -> set[str]:
        all_changes = [*self.changes, *(segment_change.change for segment_change in self.segments)]
        return {change.verdict for change in all_changes if (change.kind == "amount") == amounts}

    @property
    def worse(self) -> tuple[MetricChange, ...]:
        """The metrics that got worse, in the order asked, failed calls last."""
        return tuple(change for change in self.changes if change.verdict == WORSE)

    @property
    def worse_segments(self) -> tuple[SegmentChange, ...]:
        """The segments that got worse, the most first."""
        return tuple(segment_change for segment_change in self.segments if segment_change.change.verdict == WORSE)

    @property
    def possible_segments(self) -> tuple[SegmentChange, ...]:
        """Segments whose own interval lies on the worse side, which may be chance among so many comparisons.

        Those of metrics that got worse as a whole are left out: they say nothing new.
        """
        worse_metrics = {change.metric for change in self.metrics if change.verdict == WORSE}
        return tuple(
            segment_change
            for segment_change in self.segments
            if segment_change.change.is_possible
            and segment_change.change.alone == WORSE
            and segment_change.change.metric not in worse_metrics
        )


@json_keys("schema_version base judge_id level correction tests runs", tests=Key("self", view="tests"))
@json_keys("metrics segments", view="tests", metrics="tests", segments="segment_tests")
@dataclass(frozen=True, slots=True)
class BaselineComparison(Versioned):
    """One baseline and the runs held against it, corrected as one family of tests."""

    base: Run  #: the baseline.
    judge_id: str = field(metadata=key("judge"))  #: whose verdicts; "" = nobody was asked.
    runs: tuple[RunComparison, ...] = field(metadata=key("comparisons"))  #: one comparison a run, in the order given.
    level: float = 0.95  #: of the intervals; 1 − level is what a corrected p-value is held against.
    tests: int = 0  #: how many tests the metrics' family has, over all runs.
    segment_tests: int = 0  #: how many that of metrics × segments has.
    correction: str = "holm"  #: of the p-values for multiple comparisons: holm, bh or none.
