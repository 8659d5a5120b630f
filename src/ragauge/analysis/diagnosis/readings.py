"""One metric as low or high: against a starting point, or against another run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ragauge.analysis.diagnosis.starting_points import STARTING, level_of, measured, point_of, speaks_for
from ragauge.analysis.results.change import MetricChange
from ragauge.analysis.results.comparison import RunComparison
from ragauge.analysis.results.scorecard import Reading, Summary
from ragauge.analysis.results.verdicts import BETTER, CHANGED, SAME, WORSE
from ragauge.metrics.catalogue import parse
from ragauge.stats.instrument import WITH_ERROR
from ragauge.text.messages import number, signed, valued

BASELINE, ORACLE, POINTS = "baseline", "oracle passages", "starting points"

SIZABLE = 0.15     # a fall that a run must be shown not to have had, for "did not fall" to be said of it

Wanted = Literal["low", "high"]


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


def against_point(name: str, wanted: Wanted, summaries: Sequence[Summary], of: str = "own") -> Reading | None:
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
    name: str, wanted: Wanted, changes: Sequence[MetricChange], source: str, against: str = BASELINE
) -> Reading | None:
    """The metric, if it changed against another run as wanted: the bad side is a change for the worse, the other none.

    So low = fell and high = did not fall for what should be high; high = rose and low = did not rise for what should
    be low. The first change that is clear decides: the metric's own, then its stand-in's. That a metric did not change
    is clear where its interval leaves out a change for the worse of `SIZABLE`.
    """
    for change in speaks_for(name, changes):
        if change.verdict != WORSE and not (change.verdict in (BETTER, SAME) and not change.possible and _held(change)):
            continue
        bad: Wanted = "low" if change.direction == "higher" else "high"
        level: Wanted = bad if change.verdict == WORSE else "high" if bad == "low" else "low"
        return _reading(change, level, source, against) if level == wanted else None
    return None


def _held(change: MetricChange) -> bool:
    """Whether the interval of a change leaves out that the metric got worse by much."""
    found = change.difference.widest
    if found is None:
        return False
    return found.low > -SIZABLE if change.direction == "higher" else found.high < SIZABLE


def rose(names: Sequence[str], changes: Sequence[MetricChange], source: str) -> Reading | None:
    """The first of these metrics that is greater than in the baseline, its whole interval above 0."""
    for name in names:
        for change in speaks_for(name, changes):
            interval = change.difference.widest
            if change.verdict in (BETTER, WORSE, CHANGED) and interval is not None and interval.low > 0:
                return _reading(change, "high", source, BASELINE)
    return None


def changed(change: MetricChange, source: str) -> Reading | None:
    """A change against the baseline as a reading; None without an interval."""
    rises = change.difference.mean is not None and change.difference.mean > 0
    return _reading(change, "high" if rises else "low", source, BASELINE)


def _reading(change: MetricChange, level: str, source: str, against: str) -> Reading | None:
    found = change.difference
    if found.widest is None or change.new is None or change.base is None:
        return None
    return Reading(change.metric, level, change.new, change.base, found.widest, source, against, found.mean, found.n)


def words(reading: Reading) -> str:
    """A reading in words: faithfulness 0.60 [0.57, 0.63] is below 0.85, the starting point (BEE-30050)."""
    kind = parse(reading.metric).scale
    low, high = reading.interval.low, reading.interval.high
    mean, point = (valued(value, reading.metric, kind) for value in (reading.mean, reading.point))
    if reading.difference is None:
        side = "above" if reading.level == "high" else "below"
        where = " on oracle passages" if reading.of == "oracle" else ""
        error = ", with the judge's error" if reading.interval.method.endswith(WITH_ERROR) else ""
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
