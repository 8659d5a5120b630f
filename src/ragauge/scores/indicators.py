"""One metric as low or high: against a starting point, or against another run.

Where a run without a baseline is called low or high. Starting points, not targets: set your own from a baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from ragauge.core.messages import format_metric_value, format_signed, format_value
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.results.comparison import BETTER, CHANGED, SAME, WORSE, MetricChange, RunComparison
from ragauge.scores.results.scorecard import Reading, Summary
from ragauge.stats.judge_error import WITH_ERROR

Level = Literal["low", "high", "unclear"]

STARTING_LABEL = "default threshold"  # what they are called, everywhere that one is shown


class StartingPoint(NamedTuple):
    """A value to begin with."""

    value: float  #: low is wholly below it, high wholly above.
    source: Literal["BEE-30050", "ours"]  #: BEE-30050, or ours where the literature gives none.


STARTING_POINTS: Mapping[str, StartingPoint] = {
    "faithfulness": StartingPoint(0.85, "BEE-30050"),
    "answer_relevance": StartingPoint(0.75, "BEE-30050"),
    "context_recall": StartingPoint(0.80, "BEE-30050"),
    # the article counts sentences; of five passages one may be all that there is to find, and all that is needed
    "context_precision:unit=sentence": StartingPoint(0.70, "BEE-30050"),
    "context_precision": StartingPoint(0.20, "ours"),
    "ignored_top_ranked": StartingPoint(0.30, "BEE-30050"),
    "completeness": StartingPoint(0.75, "ours"),
    "answer_correctness": StartingPoint(0.75, "ours"),
    "citation_precision": StartingPoint(0.70, "ours"),
    "invented_citations": StartingPoint(0.05, "ours"),
    "source_conflict": StartingPoint(0.10, "ours"),
    "noise_sensitivity:source=irrelevant": StartingPoint(0.10, "ours"),
    "empty_result_rate": StartingPoint(0.05, "ours"),
}
# where a metric was not measured or is unclear, this one is read, against its own point where it has one: label recall
# is context recall without a judge, precision by sentence asks of less text what precision by passage asks
STAND_INS: Mapping[str, str] = {"context_recall": "recall", "context_precision": "context_precision:unit=sentence"}
LABEL_STAND_INS = ("recall",)  # stand-ins that no judge is asked for
# metrics that are read whatever their parameters are
ANY_PARAMETER_METRICS = ("no_retrieval_rate",)

SummaryOrChange = TypeVar("SummaryOrChange", Summary, MetricChange)


def find_level(summary: Summary, point: StartingPoint) -> Level:
    """Low or high where the whole interval, failed scores at either extreme included, lies on that side.

    The interval is the one including judge error, where that is known. Anything else is unclear: not enough data.
    """
    interval = summary.widest_interval
    if interval is None or summary.mean is None or summary.low is None or summary.high is None:
        return "unclear"
    if max(interval.high, summary.high) < point.value:
        return "low"
    return "high" if min(interval.low, summary.low) > point.value else "unclear"


def list_measured(name: str, summaries: Sequence[Summary]) -> list[Summary]:
    """The summaries with a mean that speak for a metric, the best first."""
    return [summary for summary in list_speaking(name, summaries) if summary.mean is not None]


def list_speaking(name: str, entries: Sequence[SummaryOrChange]) -> list[SummaryOrChange]:
    """Summaries or changes that speak for a metric, the best first: its own, at any cutoff, then its stand-in's.

    Labels come before a judge who is known to err: one whose means have an interval including judge error.
    """
    stand_in = STAND_INS.get(name)
    judge_errs = any(
        isinstance(entry, Summary) and entry.judged is not None
        for entry in entries
        if _strip_parameters(entry.metric) == name
    )
    metric_order = (stand_in, name) if judge_errs and stand_in in LABEL_STAND_INS else (name, stand_in)
    return [entry for target in metric_order for entry in entries if _strip_parameters(entry.metric) == target]


def is_perfect(summary: Summary) -> bool:
    """Whether a metric could not be better: its mean, or its whole interval, is the best value as it is printed."""
    if summary.direction == "neither" or summary.mean is None:
        return False
    lower_is_better, interval = summary.direction == "lower", summary.widest_interval
    worst_bound = summary.mean if interval is None else interval.high if lower_is_better else interval.low
    return any(
        round(value, 2) <= 0 if lower_is_better else round(value, 2) >= 1 for value in (summary.mean, worst_bound)
    )


def has_little_relevant(summaries: Sequence[Summary]) -> bool:
    """Whether hardly anything relevant was handed on: precision and recall, where measured, are below 0.20."""
    means = [mean.mean for name in ("context_precision", "context_recall") for mean in list_measured(name, summaries)]
    limit = STARTING_POINTS["context_precision"].value
    return bool(means) and all(mean is not None and mean < limit for mean in means)


def find_starting_point(metric: str, stands_for: str = "") -> StartingPoint | None:
    """The starting point of a metric by its printed name, else of the one that it stands for; None = there is none.

    >>> find_starting_point("context_precision:unit=sentence"), find_starting_point("recall@5", "context_recall")
    (StartingPoint(value=0.7, source='BEE-30050'), StartingPoint(value=0.8, source='BEE-30050'))
    """
    return STARTING_POINTS.get(_strip_parameters(metric)) or STARTING_POINTS.get(stands_for)


def _strip_parameters(metric: str) -> str:
    """A printed name without its cutoff, and without a parameter that it always has and that changes no meaning."""
    without_cutoff = metric.partition("@")[0]
    head = without_cutoff.partition(":")[0]
    return head if head in ANY_PARAMETER_METRICS else without_cutoff


def format_estimate(summary: Summary) -> str:
    """A metric with its mean and interval: recall@5 0.41 [0.33, 0.49]; including judge error where that is known."""
    if summary.mean is None:
        return summary.metric
    interval = summary.widest_interval
    error_note = " including judge error" if summary.judged is not None else ""
    interval_text = "" if interval is None else f"{error_note} [{interval.low:.2f}, {interval.high:.2f}]"
    return f"{summary.metric} {summary.mean:.2f}{',' if error_note else ''}{interval_text}"


BASELINE, ORACLE, POINTS = "baseline", "oracle passages", "starting points"

SIZABLE_FALL = 0.15  # a fall that a run must be shown not to have had, for "did not fall" to be said of it

TargetLevel = Literal["low", "high"]


class OracleRun(NamedTuple):
    """A run of the same system on the labelled passages instead of its own retrieval."""

    name: str  #: of the run.
    summaries: tuple[Summary, ...]  #: over the examples that both runs answered.
    #: this run held against it, one a metric: what perfect retrieval would buy, with its sign turned.
    gaps: tuple[MetricChange, ...]
    given: bool = False  #: it was given as the baseline, so that no other change can be read against that.


@dataclass(frozen=True, slots=True)
class Against:
    """What a run is held against. Without anything, starting points serve."""

    baseline: RunComparison | None = None  #: the earlier run.
    oracle: OracleRun | None = None  #: a run on labelled passages.
    traffic: bool = False  #: this run is a stretch of production traffic.
    #: how more passages are handed on than in the baseline, in words: "k went from 5 to 10"; "" when not, or not known.
    more: str = ""
    #: passages handed on a question in the baseline and in this run, where evidence was lost since and they are clearly
    #: fewer; else None.
    fewer: tuple[float, float] | None = None

    @property
    def changed(self) -> RunComparison | None:
        """The baseline, where it is one that change is read against: the same system with its own retrieval."""
        return None if self.oracle is not None and self.oracle.given else self.baseline


def read_against_point(
    name: str, target_level: TargetLevel, summaries: Sequence[Summary], source_run: str = "own"
) -> Reading | None:
    """The metric, if it lies as wanted against its starting point.

    The first clear one of the summaries that speak for it decides: its own, then its stand-in's. Precision by passage
    and by sentence lie on different scales, so each is held against a point of its own.
    """
    for summary in list_measured(name, summaries):
        point = find_starting_point(summary.metric, name)
        if point is None:
            continue
        level = find_level(summary, point)
        if level != "unclear" and summary.mean is not None and summary.widest_interval is not None:
            if level != target_level:
                return None
            interval, n = summary.widest_interval, summary.scored
            return Reading(
                summary.metric, level, summary.mean, point.value, interval, point.source, POINTS, n=n, of=source_run
            )
    return None


def read_against_run(
    name: str, target_level: TargetLevel, changes: Sequence[MetricChange], source: str, against: str = BASELINE
) -> Reading | None:
    """The metric, if it changed against another run as wanted: the bad side is a change for the worse, the other none.

    So low = fell and high = did not fall for what should be high; high = rose and low = did not rise for what should
    be low. The first change that is clear decides: the metric's own, then its stand-in's. That a metric did not change
    is clear where its interval leaves out a change for the worse of `SIZABLE_FALL`.
    """
    for change in list_speaking(name, changes):
        if change.verdict != WORSE and not (
            change.verdict in (BETTER, SAME) and not change.is_possible and _rules_out_fall(change)
        ):
            continue
        bad_level: TargetLevel = "low" if change.direction == "higher" else "high"
        level: TargetLevel = bad_level if change.verdict == WORSE else "high" if bad_level == "low" else "low"
        return _build_reading(change, level, source, against) if level == target_level else None
    return None


def _rules_out_fall(change: MetricChange) -> bool:
    """Whether the interval of a change leaves out that the metric got worse by much."""
    interval = change.decisive_estimate.widest_interval
    if interval is None:
        return False
    return interval.low > -SIZABLE_FALL if change.direction == "higher" else interval.high < SIZABLE_FALL


def find_rise(names: Sequence[str], changes: Sequence[MetricChange], source: str) -> Reading | None:
    """The first of these metrics that is greater than in the baseline, its whole interval above 0."""
    for name in names:
        for change in list_speaking(name, changes):
            interval = change.decisive_estimate.widest_interval
            if change.verdict in (BETTER, WORSE, CHANGED) and interval is not None and interval.low > 0:
                return _build_reading(change, "high", source, BASELINE)
    return None


def read_change(change: MetricChange, source: str) -> Reading | None:
    """A change against the baseline as a reading; None without an interval."""
    rises = change.decisive_estimate.mean is not None and change.decisive_estimate.mean > 0
    return _build_reading(change, "high" if rises else "low", source, BASELINE)


def _build_reading(change: MetricChange, level: str, source: str, against: str) -> Reading | None:
    difference = change.decisive_estimate
    if difference.widest_interval is None or change.new is None or change.base is None:
        return None
    return Reading(
        change.metric,
        level,
        change.new,
        change.base,
        difference.widest_interval,
        source,
        against,
        difference.mean,
        difference.n,
    )


def describe_reading(reading: Reading) -> str:
    """A reading in words: faithfulness 0.60 [0.57, 0.63] is below 0.85, the starting point (BEE-30050)."""
    kind = parse_metric(reading.metric).scale
    low, high = reading.interval.low, reading.interval.high
    mean, point = (format_metric_value(value, reading.metric, kind) for value in (reading.mean, reading.point))
    if reading.difference is None:
        direction = "above" if reading.level == "high" else "below"
        oracle_note = " on oracle passages" if reading.of == "oracle" else ""
        error_note = ", including judge error" if reading.interval.method.endswith(WITH_ERROR) else ""
        head_text = (
            f"{reading.metric}{oracle_note} {mean}{error_note} [{format_value(low, kind)}, {format_value(high, kind)}]"
        )
        return f"{head_text} is {direction} {point}, the {STARTING_LABEL} ({reading.source})"
    difference = f"{format_signed(reading.difference, kind)} [{format_signed(low, kind)}, {format_signed(high, kind)}]"
    if reading.against == ORACLE:
        return f"{reading.metric} {mean} on own retrieval, {point} on oracle passages, {difference}"
    return f"{reading.metric} {_describe_movement(reading)}, {point} → {mean}, {difference}"


def _describe_movement(reading: Reading) -> str:
    """fell, rose, did not fall, did not rise."""
    if reading.interval.high < 0:
        return "fell"
    if reading.interval.low > 0:
        return "rose"
    return "did not fall" if reading.level == "high" else "did not rise"
