"""What the diagnosis says: findings and the readings of metrics that they rest on."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.stats.weighted import Interval


@dataclass(frozen=True, slots=True)
class Reading:
    """One metric as the diagnosis read it: low or high, and against what.

    Attributes:
        metric: printed name.
        level: low or high. Against a starting point: the whole interval lies on that side. Against another run: the
            metric got worse (a share that should be high fell, one that should be low rose), or it did not.
        mean: of this run, or with `of` oracle of the run on oracle passages; over the examples in both where two runs
            are compared.
        point: what it was held against: the starting point, or the other run's mean.
        interval: of the mean, or of the difference where two runs are compared.
        source: whose point that is: BEE-30050, ours, or the other run's name.
        against: "baseline", "oracle passages" or "starting points".
        difference: mean − point; None against a starting point.
        n: examples that it is over.
        of: own or oracle: whose mean it is.
    """

    metric: str
    level: str
    mean: float
    point: float
    interval: Interval
    source: str
    against: str
    difference: float | None = None
    n: int = 0
    of: str = "own"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the diagnosis.

    Attributes:
        cause: name of the pattern or cause, such as retrieval_miss.
        headline: one sentence a person understands, with numbers and intervals.
        evidence: the counts that it rests on and what the patterns in it mean, in words; their numbers are `readings`.
        fix: what to try first.
        leave: what not to touch yet.
        measure_again: what to look at after the fix.
        explains: failed examples that it accounts for.
        failures: failed examples in all.
        segment: "column=value" where it is concentrated; "" when everywhere.
        confidence: high, medium or low.
        against: "baseline", "oracle passages" or "starting points" where a pattern was read against them; "" for
            counts alone.
        readings: the metrics that the patterns in it rest on; `readings.words` says one in words.
    """

    cause: str
    headline: str
    evidence: str
    fix: str
    leave: str = ""
    measure_again: str = ""
    explains: int = 0
    failures: int = 0
    segment: str = ""
    confidence: str = "medium"
    against: str = ""
    readings: tuple[Reading, ...] = ()
