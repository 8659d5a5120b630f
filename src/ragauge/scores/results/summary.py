"""One metric's result over many examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ragauge.core.json_keys import Key, json_keys, key
from ragauge.metrics.reasons import SYSTEM_FAILED
from ragauge.stats.ppi_mean import LabelCorrectedMean
from ragauge.stats.weighted import Interval


@json_keys(
    "mean interval scored undefined not_applicable failed not_read ci_method judged rectified judge_mean "
    "judge_interval micro bounds quantiles reasons",
    optional="ci_method judged rectified judge_mean judge_interval micro bounds quantiles reasons",
    ci_method=Key("interval", at="method"),
)
@json_keys("mean interval scored undefined not_applicable failed not_read", view="log")
@dataclass(frozen=True, slots=True)
class Summary:
    """One metric over a run or a segment of it. scored + undefined + not_applicable + failed + not_read = n."""

    metric: str  #: printed name.
    measures: str  #: retrieval, generation or end_to_end.
    direction: str  #: higher, lower or neither.
    kind: str  #: rate, mean or amount.
    n: int  #: examples.
    scored: int  #: with a value.
    undefined: int  #: 0/0 through what the system did.
    not_applicable: int  #: an input is lacking.
    failed: int  #: a fact could not be had.
    #: macro, over the scored examples, weighted; None when none is scored. With enough human labels it is the
    #: label-corrected mean.
    mean: float | None
    interval: Interval | None = field(metadata=key("ci"))  #: of the mean; None for fewer than two scored examples.
    micro: float | None = None  #: sum of numerators over sum of denominators; None where it does not apply.
    #: least mean that the failed scores allow: each at its low (no bound: the metric's range), or left out where that
    #: is lower still; None when there are no values.
    low: float | None = None
    high: float | None = None  #: greatest such mean.
    quantiles: Mapping[float, float] = field(default_factory=dict)  #: 0.5, 0.95, 0.99 -> value, for amounts.
    #: why examples have no value -> how many, most frequent first.
    reasons: Mapping[str, int] = field(default_factory=dict)
    #: the interval including judge error; None where nobody judged, or how far the judge errs is not known.
    judged: Interval | None = field(default=None, metadata=key("judged_ci"))
    #: the label-corrected mean, how it was made; None below 50 labelled examples.
    rectified: LabelCorrectedMean | None = None
    judge_mean: float | None = None  #: the judge's own mean where labels correct it; else None.
    #: the sampling interval of the judge's own mean; else None.
    judge_interval: Interval | None = field(default=None, metadata=key("judge_ci"))
    failure: str = ""  #: the most frequent reason why scores failed; "" where none did.
    not_read: int = 0  #: the judge cannot read texts of their language and layout.

    def correct_with(self, labels: LabelCorrectedMean | None) -> Summary:
        """The summary whose mean and interval are the label-corrected ones, with the judge's own beside them.

        What failed scores could change moves with the mean. The micro average and the interval with judge error are
        the judge's alone, and go.
        """
        if labels is None or self.mean is None:
            return self
        low, high = (None if end is None else labels.mean + end - self.mean for end in (self.low, self.high))
        return replace(
            self,
            mean=labels.mean,
            interval=labels.interval,
            micro=None,
            low=low,
            high=high,
            judged=None,
            rectified=labels,
            judge_mean=self.mean,
            judge_interval=self.interval,
        )

    @property
    def bounds(self) -> tuple[float | None, float | None] | None:
        """Where the mean may lie, were the failed scores known."""
        return (self.low, self.high) if self.failed else None

    @property
    def judge_summary(self) -> Summary:
        """The judge's own summary, before labels corrected it."""
        if self.judge_mean is None or self.mean is None:
            return self
        shift = self.judge_mean - self.mean
        low, high = (None if end is None else end + shift for end in (self.low, self.high))
        return replace(self, mean=self.judge_mean, interval=self.judge_interval, low=low, high=high)

    @property
    def is_inapplicable(self) -> bool:
        """Whether it applies to no example: all lack an input, but for those whose call failed, which tell nothing."""
        n_failed_calls = sum(count for reason, count in self.reasons.items() if SYSTEM_FAILED.parse_reason(reason))
        return (
            self.not_applicable > 0
            and not self.scored + self.undefined
            and self.failed == min(n_failed_calls, self.failed)
        )

    @property
    def missing_reason(self) -> str:
        """The most frequent reason why it does not apply; "" where none is known."""
        return next((reason for reason in self.reasons if not SYSTEM_FAILED.parse_reason(reason)), "")

    @property
    def widest_interval(self) -> Interval | None:
        """The interval with all that is known of its errors: with the judge's where there is one."""
        return self.judged or self.interval
