"""What the diagnosis says: findings and the readings of metrics that they rest on."""

from __future__ import annotations

from dataclasses import dataclass

from ragauge.core.json_keys import Key, json_keys
from ragauge.stats.weighted import Interval


@json_keys(
    "metric level mean point interval source against difference n of method", method=Key("interval", at="method")
)
@dataclass(frozen=True, slots=True)
class Reading:
    """One metric as the diagnosis read it: low or high, and against what."""

    metric: str  #: printed name.
    #: low or high. Against a starting point: the whole interval lies on that side. Against another run: the metric got
    #: worse (a share that should be high fell, one that should be low rose), or it did not.
    level: str
    #: of this run, or with `of` oracle of the run on oracle passages; over the examples in both where two runs are
    #: compared.
    mean: float
    point: float  #: what it was held against: the starting point, or the other run's mean.
    interval: Interval  #: of the mean, or of the difference where two runs are compared.
    source: str  #: whose point that is: BEE-30050, ours, or the other run's name.
    against: str  #: "baseline", "oracle passages" or "starting points".
    difference: float | None = None  #: mean − point; None against a starting point.
    n: int = 0  #: examples that it is over.
    of: str = "own"  #: own or oracle: whose mean it is.


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the diagnosis."""

    cause: str  #: name of the pattern or cause, such as retrieval_miss.
    headline: str  #: one sentence a person understands, with numbers and intervals.
    #: the counts that it rests on and what the patterns in it mean, in words; their numbers are `readings`.
    evidence: str
    fix: str  #: what to try first.
    leave: str = ""  #: what not to touch yet.
    measure_again: str = ""  #: what to look at after the fix.
    explains: int = 0  #: failed examples that it accounts for.
    failures: int = 0  #: failed examples in all.
    segment: str = ""  #: "column=value" where it is concentrated; "" when everywhere.
    confidence: str = "medium"  #: high, medium or low.
    #: "baseline", "oracle passages" or "starting points" where a pattern was read against them; "" for counts alone.
    against: str = ""
    #: the metrics that the patterns in it rest on; `readings.words` says one in words.
    readings: tuple[Reading, ...] = ()
