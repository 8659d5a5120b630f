"""What a gate found: plain values that every report renders."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ragauge.core.json_keys import Versioned, json_keys, key
from ragauge.core.response import Run
from ragauge.stats.weighted import Interval

Verdict = Literal["pass", "fail", "not_enough_data"]
PASS: Verdict = "pass"  # noqa: S105 - a verdict
FAIL: Verdict = "fail"
UNKNOWN: Verdict = "not_enough_data"
OnFail = Literal["block", "warn"]
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 3, "not_enough_data": 4}
Because = Literal[
    "interval",  # the whole interval lies on one side of the limit, or it holds the limit
    "corrected",  # worse at 5 % alone, not with the correction for all checks
    "unsupported",  # the interval says worse, the test that assumes less does not
    "judge",  # the interval by sampling would decide, including judge error it does not
    "point",  # the estimate alone
    "few",  # fewer examples than min_n
    "failed",  # the verdict depends on scores that failed
    "unchanged",  # every example has the same score in both runs
    "itself",  # the baseline is the run itself: nothing is compared
    "unanswered",  # fewer than min_n of the calls that it looks at were answered
    "not_read",  # the judge cannot read most of the texts
    "nothing",  # no example has a value, or too few for an interval
    "examples",  # single examples
    "share",  # the share of examples with failed calls, of the system or of a judge
]


@dataclass(frozen=True, slots=True)
class CheckExample:
    """An example that a check points to: its score, and that of the baseline where there is one."""

    query_id: str
    new: float | None = None
    base: float | None = field(default=None, metadata=key("baseline"))
    why: str = ""


@dataclass(frozen=True, slots=True)
class FailureCounts:
    """Whose failures left examples without a score, each example counted once."""

    system: int = 0  #: examples that the system gave no response to.
    judge: int = 0  #: examples of which a judge call failed.
    baseline: int = 0  #: examples that failed in the baseline alone.
    unjudged: int = 0  #: examples that the judge never judged.


class SegmentName(NamedTuple):
    """One value of a segment column."""

    column: str
    value: str


@json_keys(
    "rule line kind metric asks segment tag verdict because reason on_fail stops decide statistic limit estimate new "
    "base interval sampled fail_interval alpha reach n n_base paired failed not_read min_n examples unknown rectified"
)
@dataclass(frozen=True, slots=True)
class Check:
    """One rule on the whole run, or in one segment."""

    rule: int  #: place in the file, from 1; 0 = the gate's own max_failed.
    line: int | None  #: of the rule in the file.
    kind: str  #: max_drop, min, max, must_pass or max_failed.
    metric: str  #: printed name; "" where no metric decides.
    asks: str  #: what the rule asks for, in words.
    verdict: Verdict  #: pass, fail or not_enough_data.
    because: Because  #: what decided.
    on_fail: Literal["block", "warn"]  #: block or warn.
    stops: bool = False  #: whether this check alone keeps the gate from passing.
    segment: SegmentName | None = None  #: where; null is the whole run.
    tag: str = ""  #: "" = all examples.
    decide: Literal["interval", "point"] = "interval"  #: interval or point.
    higher: bool = True  #: whether higher is better.
    scale: str = "mean"  #: rate, mean or amount.
    statistic: str = "mean"  #: mean, p50, p95 or p99.
    is_difference: bool = False  #: whether the estimate is this run's minus the baseline's, written with its sign.
    #: what the estimate is held against, in its own unit; of a relative max_drop the share of the baseline's mean.
    limit: float | None = None
    amount: float = 0.0  #: the limit as the rule gives it.
    relative: bool = False  #: whether `amount` is a share of the baseline's mean.
    #: the difference, the mean, the quantile, or the share; None where nothing has a value.
    estimate: float | None = None
    new: float | None = None  #: mean of this run.
    base: float | None = field(default=None, metadata=key("baseline"))  #: mean of the baseline over the same examples.
    #: of the estimate at 90 %: it passes by this one.
    interval: Interval | None = field(default=None, metadata=key(view="interval"))
    #: that by sampling alone, where `interval` holds the judge's error too; else None.
    sampled: Interval | None = field(default=None, metadata=key(view="interval"))
    #: of the estimate, at the level at which this check fails, with the correction.
    fail_interval: Interval | None = field(default=None, metadata=key(view="interval"))
    alpha: float | None = None  #: one-sided level at which this check fails.
    reach: tuple[float, float] | None = None  #: least and greatest estimate that failed scores allow.
    n: int = 0  #: scored examples, or pairs; of two samples those of this run.
    #: of two samples (an unpaired max_drop), the baseline's scored examples; else None.
    n_base: int | None = field(default=None, metadata=key("n_baseline"))
    failed: int = 0  #: examples whose score failed.
    lost: FailureCounts | None = None  #: whose failures these were; None = nothing failed.
    applies: int = 0  #: examples that the metric applies to; of two samples those of the smaller.
    inapplicable: int = 0  #: where there are fewer than `min_n`, examples of the run that the metric does not apply to.
    why: str = ""  #: why it does not apply to them.
    #: examples whose texts the judge cannot read, where these are more than the scored ones; `why` says why.
    not_read: int = 0
    min_n: int = 0  #: fewest to decide on.
    examples: tuple[CheckExample, ...] = ()  #: those that lost most, or that must pass and do not.
    #: examples that must pass and are unclear or not judged.
    unknown: tuple[CheckExample, ...] = field(default=(), metadata=key("unclear_or_not_judged"))
    rectified: bool = False  #: whether the mean that people's labels rectify decides; n is then labelled examples.

    @property
    def unpaired(self) -> bool:
        """Whether it is a difference of two samples, not of pairs."""
        return self.n_base is not None

    @property
    def paired(self) -> bool | None:
        """Whether max_drop compares example by example; null for other rules."""
        return None if not self.is_difference else not self.unpaired


@dataclass(frozen=True, slots=True)
class Family:
    """Checks whose false alarms are bounded together."""

    on_fail: Literal["block", "warn"]  #: block or warn: each is a family.
    whole: int  #: checks on the whole run.
    segments: int  #: checks in segments.
    alpha: float  #: greatest chance that even one of them fails if nothing got worse.


class SmallSegment(NamedTuple):
    """A segment that is too small for a check of its own.

    Together they are "(other)".
    """

    column: str
    value: str
    n: int


@json_keys(
    "schema_version verdict exit_code summary run base judge_id source matched unpaired few clusters checks "
    "families warnings"
)
@dataclass(frozen=True, slots=True)
class Gated(Versioned):
    """What a gate found."""

    run: Run = field(metadata=key(view="run_name"))  #: that was looked at.
    base: Run | None = field(metadata=key("baseline", view="run_name"))  #: the baseline; None where no rule needs one.
    judge_id: str = field(metadata=key("judge"))  #: who judged; "" = nobody.
    source: str = field(metadata=key("rules"))  #: file of the rules.
    verdict: Verdict  #: of the gate.
    checks: tuple[Check, ...]  #: in the order of the rules, the whole run before its segments.
    families: tuple[Family, ...] = ()  #: how false alarms are bounded.
    matched: int | None = None  #: examples in both runs; None without a baseline.
    #: examples of this run and of the baseline, where max_drop holds them against each other as two samples; None where
    #: examples are paired.
    sizes: tuple[int, int] | None = None
    #: the segments that are too small for a check of their own.
    few: tuple[SmallSegment, ...] = field(default=(), metadata=key("too_few"))
    clusters: int | None = None  #: how many clusters the run's examples come in; None where none is declared.
    warnings: tuple[str, ...] = ()  #: what the reader must know.
    broken: str = ""  #: that every call of the run failed, with the error and where to look; "" where one was answered.

    @property
    def exit_code(self) -> int:
        """0 pass, 3 fail, 4 not enough data."""
        return EXIT_CODES[self.verdict]
