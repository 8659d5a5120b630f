"""What a gate found: plain values that every report renders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    base: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class FailureCounts:
    """Whose failures left examples without a score, each example counted once.

    Attributes:
        system: examples that the system gave no response to.
        judge: examples of which a judge call failed.
        baseline: examples that failed in the baseline alone.
        unjudged: examples that the judge never judged.
    """

    system: int = 0
    judge: int = 0
    baseline: int = 0
    unjudged: int = 0


@dataclass(frozen=True, slots=True)
class Check:
    """One rule on the whole run, or in one segment.

    Attributes:
        rule: place in the file, from 1; 0 = the gate's own max_failed.
        line: of the rule in the file.
        kind: max_drop, min, max, must_pass or max_failed.
        metric: printed name; "" where no metric decides.
        asks: what the rule asks for, in words.
        verdict: pass, fail or not_enough_data.
        because: what decided.
        on_fail: block or warn.
        stops: whether this check alone keeps the gate from passing.
        segment: (column, value); None = the whole run.
        tag: "" = all examples.
        decide: interval or point.
        higher: whether higher is better.
        scale: rate, mean or amount.
        statistic: mean, p50, p95 or p99.
        limit: what the estimate is held against, in its own unit; of a relative max_drop the share of the baseline's
            mean.
        amount: the limit as the rule gives it.
        relative: whether `amount` is a share of the baseline's mean.
        estimate: the difference, the mean, the quantile, or the share; None where nothing has a value.
        new: mean of this run.
        base: mean of the baseline over the same examples.
        interval: of the estimate at 90 %: it passes by this one.
        sampled: that by sampling alone, where `interval` holds the judge's error too; else None.
        fail_interval: of the estimate, at the level at which this check fails, with the correction.
        alpha: one-sided level at which this check fails.
        reach: least and greatest estimate that failed scores allow.
        n: scored examples, or pairs; of two samples those of this run.
        n_base: of two samples (an unpaired max_drop), the baseline's scored examples; else None.
        failed: examples whose score failed.
        lost: whose failures these were; None = nothing failed.
        applies: examples that the metric applies to; of two samples those of the smaller.
        inapplicable: where there are fewer than `min_n`, examples of the run that the metric does not apply to.
        why: why it does not apply to them.
        not_read: examples whose texts the judge cannot read, where these are more than the scored ones; `why` says why.
        min_n: fewest to decide on.
        examples: those that lost most, or that must pass and do not.
        unknown: examples that must pass and are unclear or not judged.
        rectified: whether the mean that people's labels rectify decides; n is then labelled examples.
    """

    rule: int
    line: int | None
    kind: str
    metric: str
    asks: str
    verdict: Verdict
    because: Because
    on_fail: Literal["block", "warn"]
    stops: bool = False
    segment: tuple[str, str] | None = None
    tag: str = ""
    decide: Literal["interval", "point"] = "interval"
    higher: bool = True
    scale: str = "mean"
    statistic: str = "mean"
    limit: float | None = None
    amount: float = 0.0
    relative: bool = False
    estimate: float | None = None
    new: float | None = None
    base: float | None = None
    interval: Interval | None = None
    sampled: Interval | None = None
    fail_interval: Interval | None = None
    alpha: float | None = None
    reach: tuple[float, float] | None = None
    n: int = 0
    n_base: int | None = None
    failed: int = 0
    lost: FailureCounts | None = None
    applies: int = 0
    inapplicable: int = 0
    why: str = ""
    not_read: int = 0
    min_n: int = 0
    examples: tuple[CheckExample, ...] = ()
    unknown: tuple[CheckExample, ...] = ()
    rectified: bool = False

    @property
    def unpaired(self) -> bool:
        """Whether it is a difference of two samples, not of pairs."""
        return self.n_base is not None


@dataclass(frozen=True, slots=True)
class Family:
    """Checks whose false alarms are bounded together.

    Attributes:
        on_fail: block or warn: each is a family.
        whole: checks on the whole run.
        segments: checks in segments.
        alpha: greatest chance that even one of them fails if nothing got worse.
    """

    on_fail: Literal["block", "warn"]
    whole: int
    segments: int
    alpha: float


@dataclass(frozen=True, slots=True)
class Gated:
    """What a gate found.

    Attributes:
        run: that was looked at.
        base: the baseline; None where no rule needs one.
        judge_id: who judged; "" = nobody.
        source: file of the rules.
        verdict: of the gate.
        checks: in the order of the rules, the whole run before its segments.
        families: how false alarms are bounded.
        matched: examples in both runs; None without a baseline.
        sizes: examples of this run and of the baseline, where max_drop holds them against each other as two samples;
            None where examples are paired.
        few: (column, value, examples) of segments too small for a check of their own: together they are "(other)".
        clusters: how many clusters the run's examples come in; None where none is declared.
        warnings: what the reader must know.
        broken: that every call of the run failed, with the error and where to look; "" where one was answered.
    """

    run: Run
    base: Run | None
    judge_id: str
    source: str
    verdict: Verdict
    checks: tuple[Check, ...]
    families: tuple[Family, ...] = ()
    matched: int | None = None
    sizes: tuple[int, int] | None = None
    few: tuple[tuple[str, str, int], ...] = ()
    clusters: int | None = None
    warnings: tuple[str, ...] = ()
    broken: str = ""

    @property
    def exit_code(self) -> int:
        """0 pass, 3 fail, 4 not enough data."""
        return EXIT_CODES[self.verdict]
