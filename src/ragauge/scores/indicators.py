"""One metric as low or high: against a starting point, or against another run.

Where a run without a baseline is called low or high. Starting points, not targets: set your own from a baseline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from ragauge.core.messages import number, signed, valued
from ragauge.metrics.catalogue import parse
from ragauge.scores.results.change import BETTER, CHANGED, SAME, WORSE, MetricChange
from ragauge.scores.results.comparison import RunComparison
from ragauge.scores.results.scorecard import Reading, Summary
from ragauge.stats.judge_error import WITH_ERROR

Level = Literal["low", "high", "unclear"]

STARTING = "starting point"  # what they are called, everywhere that one is shown


class StartingPoint(NamedTuple):
    """A value to begin with.

    Attributes:
        value: low is wholly below it, high wholly above.
        source: BEE-30050, or ours where the literature gives none.
    """

    value: float
    source: Literal["BEE-30050", "ours"]


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
OF_LABELS = ("recall",)  # stand-ins that no judge is asked for
# metrics that are read whatever their parameters are
ANY_PARAMETER = ("no_retrieval_rate",)

Named = TypeVar("Named", Summary, MetricChange)


def level_of(summary: Summary, point: StartingPoint) -> Level:
    """Low or high where the whole interval, failed scores at either extreme included, lies on that side.

    The interval is the one including judge error, where that is known. Anything else is unclear: not enough data.
    """
    interval = summary.widest
    if interval is None or summary.mean is None or summary.low is None or summary.high is None:
        return "unclear"
    if max(interval.high, summary.high) < point.value:
        return "low"
    return "high" if min(interval.low, summary.low) > point.value else "unclear"


def measured(name: str, summaries: Sequence[Summary]) -> list[Summary]:
    """The summaries with a mean that speak for a metric, the best first."""
    return [summary for summary in speaks_for(name, summaries) if summary.mean is not None]


def speaks_for(name: str, named: Sequence[Named]) -> list[Named]:
    """Summaries or changes that speak for a metric, the best first: its own, at any cutoff, then its stand-in's.

    Labels come before a judge who is known to err: one whose means have an interval including judge error.
    """
    stand_in = STAND_INS.get(name)
    errs = any(isinstance(one, Summary) and one.judged is not None for one in named if _plain(one.metric) == name)
    order = (stand_in, name) if errs and stand_in in OF_LABELS else (name, stand_in)
    return [one for wanted in order for one in named if _plain(one.metric) == wanted]


def is_perfect(summary: Summary) -> bool:
    """Whether a metric could not be better: its mean, or its whole interval, is the best value as it is printed."""
    if summary.direction == "neither" or summary.mean is None:
        return False
    lower, interval = summary.direction == "lower", summary.widest
    worst = summary.mean if interval is None else interval.high if lower else interval.low
    return any(round(value, 2) <= 0 if lower else round(value, 2) >= 1 for value in (summary.mean, worst))


def barren(summaries: Sequence[Summary]) -> bool:
    """Whether hardly anything relevant was handed on: precision and recall, where measured, are below 0.20."""
    known = [mean.mean for name in ("context_precision", "context_recall") for mean in measured(name, summaries)]
    point = STARTING_POINTS["context_precision"].value
    return bool(known) and all(mean is not None and mean < point for mean in known)


def point_of(metric: str, stands_for: str = "") -> StartingPoint | None:
    """The starting point of a metric by its printed name, else of the one that it stands for; None = there is none.

    >>> point_of("context_precision:unit=sentence"), point_of("recall@5", "context_recall")
    (StartingPoint(value=0.7, source='BEE-30050'), StartingPoint(value=0.8, source='BEE-30050'))
    """
    return STARTING_POINTS.get(_plain(metric)) or STARTING_POINTS.get(stands_for)


def _plain(metric: str) -> str:
    """A printed name without its cutoff, and without a parameter that it always has and that changes no meaning."""
    plain = metric.partition("@")[0]
    head = plain.partition(":")[0]
    return head if head in ANY_PARAMETER else plain


def estimate(summary: Summary) -> str:
    """A metric with its mean and interval: recall@5 0.41 [0.33, 0.49]; including judge error where that is known."""
    if summary.mean is None:
        return summary.metric
    interval = summary.widest
    remark = " including judge error" if summary.judged is not None else ""
    ends = "" if interval is None else f"{remark} [{interval.low:.2f}, {interval.high:.2f}]"
    return f"{summary.metric} {summary.mean:.2f}{',' if remark else ''}{ends}"


BASELINE, ORACLE, POINTS = "baseline", "oracle passages", "starting points"

SIZABLE = 0.15  # a fall that a run must be shown not to have had, for "did not fall" to be said of it

WantedLevel = Literal["low", "high"]


class OracleRun(NamedTuple):
    """A run of the same system on the labelled passages instead of its own retrieval.

    Attributes:
        name: of the run.
        summaries: over the examples that both runs answered.
        gaps: this run held against it, one a metric: what perfect retrieval would buy, with its sign turned.
        given: it was given as the baseline, so that no other change can be read against that.
    """

    name: str
    summaries: tuple[Summary, ...]
    gaps: tuple[MetricChange, ...]
    given: bool = False


@dataclass(frozen=True, slots=True)
class Against:
    """What a run is held against. Without anything, starting points serve.

    Attributes:
        baseline: the earlier run.
        oracle: a run on labelled passages.
        traffic: this run is a stretch of production traffic.
        more: how more passages are handed on than in the baseline, in words: "k went from 5 to 10"; "" when not, or
            not known.
        fewer: passages handed on a question in the baseline and in this run, where evidence was lost since and they
            are clearly fewer; else None.
    """

    baseline: RunComparison | None = None
    oracle: OracleRun | None = None
    traffic: bool = False
    more: str = ""
    fewer: tuple[float, float] | None = None

    @property
    def changed(self) -> RunComparison | None:
        """The baseline, where it is one that change is read against: the same system with its own retrieval."""
        return None if self.oracle is not None and self.oracle.given else self.baseline


def against_point(name: str, wanted: WantedLevel, summaries: Sequence[Summary], of: str = "own") -> Reading | None:
    """The metric, if it lies as wanted against its starting point.

    The first clear one of the summaries that speak for it decides: its own, then its stand-in's. Precision by passage
    and by sentence lie on different scales, so each is held against a point of its own.
    """
    for summary in measured(name, summaries):
        point = point_of(summary.metric, name)
        if point is None:
            continue
        level = level_of(summary, point)
        if level != "unclear" and summary.mean is not None and summary.widest is not None:
            if level != wanted:
                return None
            ends, n = summary.widest, summary.scored
            return Reading(summary.metric, level, summary.mean, point.value, ends, point.source, POINTS, n=n, of=of)
    return None


def against_run(
    name: str, wanted: WantedLevel, changes: Sequence[MetricChange], source: str, against: str = BASELINE
) -> Reading | None:
    """The metric, if it changed against another run as wanted: the bad side is a change for the worse, the other none.

    So low = fell and high = did not fall for what should be high; high = rose and low = did not rise for what should
    be low. The first change that is clear decides: the metric's own, then its stand-in's. That a metric did not change
    is clear where its interval leaves out a change for the worse of `SIZABLE`.
    """
    for change in speaks_for(name, changes):
        if change.verdict != WORSE and not (change.verdict in (BETTER, SAME) and not change.possible and _held(change)):
            continue
        bad: WantedLevel = "low" if change.direction == "higher" else "high"
        level: WantedLevel = bad if change.verdict == WORSE else "high" if bad == "low" else "low"
        return _reading(change, level, source, against) if level == wanted else None
    return None


def _held(change: MetricChange) -> bool:
    """Whether the interval of a change leaves out that the metric got worse by much."""
    interval = change.decides.widest
    if interval is None:
        return False
    return interval.low > -SIZABLE if change.direction == "higher" else interval.high < SIZABLE


def rose(names: Sequence[str], changes: Sequence[MetricChange], source: str) -> Reading | None:
    """The first of these metrics that is greater than in the baseline, its whole interval above 0."""
    for name in names:
        for change in speaks_for(name, changes):
            interval = change.decides.widest
            if change.verdict in (BETTER, WORSE, CHANGED) and interval is not None and interval.low > 0:
                return _reading(change, "high", source, BASELINE)
    return None


def changed(change: MetricChange, source: str) -> Reading | None:
    """A change against the baseline as a reading; None without an interval."""
    rises = change.decides.mean is not None and change.decides.mean > 0
    return _reading(change, "high" if rises else "low", source, BASELINE)


def _reading(change: MetricChange, level: str, source: str, against: str) -> Reading | None:
    difference = change.decides
    if difference.widest is None or change.new is None or change.base is None:
        return None
    return Reading(
        change.metric, level, change.new, change.base, difference.widest, source, against, difference.mean, difference.n
    )


def words(reading: Reading) -> str:
    """A reading in words: faithfulness 0.60 [0.57, 0.63] is below 0.85, the starting point (BEE-30050)."""
    kind = parse(reading.metric).scale
    low, high = reading.interval.low, reading.interval.high
    mean, point = (valued(value, reading.metric, kind) for value in (reading.mean, reading.point))
    if reading.difference is None:
        side = "above" if reading.level == "high" else "below"
        where = " on oracle passages" if reading.of == "oracle" else ""
        error = ", including judge error" if reading.interval.method.endswith(WITH_ERROR) else ""
        head = f"{reading.metric}{where} {mean}{error} [{number(low, kind)}, {number(high, kind)}]"
        return f"{head} is {side} {point}, the {STARTING} ({reading.source})"
    difference = f"{signed(reading.difference, kind)} [{signed(low, kind)}, {signed(high, kind)}]"
    if reading.against == ORACLE:
        return f"{reading.metric} {mean} on own retrieval, {point} on oracle passages, {difference}"
    return f"{reading.metric} {_moved(reading)}, {point} → {mean}, {difference}"


def _moved(reading: Reading) -> str:
    """fell, rose, did not fall, did not rise."""
    if reading.interval.high < 0:
        return "fell"
    if reading.interval.low > 0:
        return "rose"
    return "did not fall" if reading.level == "high" else "did not rise"
