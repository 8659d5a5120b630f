"""One metric's result over many examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragauge.metrics.facts import SYSTEM_FAILED
from ragauge.stats.rectified import Rectified
from ragauge.stats.weighted import Interval


@dataclass(frozen=True, slots=True)
class Summary:
    """One metric over a run or a segment of it. scored + undefined + not_applicable + failed + not_read = n.

    Attributes:
        metric: printed name.
        measures: retrieval, generation or end_to_end.
        direction: higher, lower or neither.
        kind: rate, mean or amount.
        n: examples.
        scored: with a value.
        undefined: 0/0 through what the system did.
        not_applicable: an input is lacking.
        failed: a fact could not be had.
        mean: macro, over the scored examples, weighted; None when none is scored.
        interval: of the mean; None for fewer than two scored examples.
        micro: sum of numerators over sum of denominators; None where it does not apply.
        low: least mean that the failed scores allow: each at its low (no bound: the metric's range), or left out where
            that is lower still; None when there are no values.
        high: greatest such mean.
        quantiles: 0.5, 0.95, 0.99 -> value, for amounts.
        reasons: why examples have no value -> how many, most frequent first.
        judged: the interval with the judge's error; None where nobody judged, or how far the judge errs is not known.
        rectified: the mean that people would give, by labels drawn from the run; None below 50 labelled examples.
        not_read: the judge cannot read texts of their language and layout.
    """

    metric: str
    measures: str
    direction: str
    kind: str
    n: int
    scored: int
    undefined: int
    not_applicable: int
    failed: int
    mean: float | None
    interval: Interval | None
    micro: float | None = None
    low: float | None = None
    high: float | None = None
    quantiles: Mapping[float, float] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    judged: Interval | None = None
    rectified: Rectified | None = None
    not_read: int = 0

    @property
    def inapplicable(self) -> bool:
        """Whether it applies to no example: all lack an input, but for those whose call failed, which tell nothing."""
        lost = sum(count for why, count in self.reasons.items() if why.startswith(SYSTEM_FAILED))
        return self.not_applicable > 0 and not self.scored + self.undefined and self.failed == min(lost, self.failed)

    @property
    def lacks(self) -> str:
        """The most frequent reason why it does not apply; "" where none is known."""
        return next((why for why in self.reasons if not why.startswith(SYSTEM_FAILED)), "")

    @property
    def widest(self) -> Interval | None:
        """The interval with all that is known of its errors: with the judge's where there is one."""
        return self.judged or self.interval
