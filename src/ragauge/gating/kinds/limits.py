"""Rules on means: max_drop, min and max."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, ClassVar

from ragauge.core.errors import UsageError
from ragauge.core.messages import format_count
from ragauge.gating.compute.decision import CheckCell, find_min_drop, find_n_examples, find_n_for_quantile
from ragauge.gating.compute.label_correction import RectifiedDifference, RectifiedLevel
from ragauge.gating.compute.sample import MeanDifference, MetricLevel
from ragauge.gating.compute.unpaired_samples import AnySample
from ragauge.gating.kinds.mean_rule import MeanRule, Sampler, ScoreSource
from ragauge.gating.kinds.rule import RuleEntry, format_level, rule_kind
from ragauge.gating.result import Check
from ragauge.gating.tables.phrases import format_mean, format_with_unit
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import has_own_units

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]


@rule_kind
@dataclass(frozen=True, kw_only=True)
class MaxDrop(MeanRule):
    """How much worse than the baseline's a mean may be."""

    key: ClassVar[str] = "max_drop"
    is_difference: ClassVar[bool] = True
    settled_by: ClassVar[str] = (
        "More examples will not settle this. What helps is a larger change, another judge that you have "
        "checked on your own labels (ragauge judge check FILE), or a rule on labels."
    )

    @classmethod
    def read_limit(cls, entry: RuleEntry, metric: Metric) -> tuple[float, bool, str]:
        drop, (low, high) = entry.section.max_drop, metric.range
        assert drop is not None  # noqa: S101 - the entry has the key
        problem = ""
        if metric.direction == "neither":
            problem = f"neither direction of {metric} is better. Use min or max instead."
        elif not drop.relative and drop.amount and not (isfinite(high - low) or has_own_units(metric)):
            problem = f"points are hundredths of a score, but {metric} is an amount. Give a percentage: 10%."
        elif drop.relative and metric.direction == "higher" and low >= 0 and drop.amount >= 1:
            problem = f"a drop of {drop.text} is impossible: the rule can never fail."
        elif drop.relative and low < 0:
            problem = f"{metric} may be negative: a percentage is meaningless. Write 3 points."
        elif not drop.relative and drop.amount >= high - low:
            width = f"{100 * (high - low):g} points"
            problem = f"{drop.text} is the whole range of {metric} ({width}): the rule can never fail."
        if problem:
            entry.add_problem(cls.key, problem)
        return drop.amount * (100 if has_own_units(metric) and not drop.relative else 1), drop.relative, drop.text

    def describe_limit(self) -> str:
        way = "fall" if self.above else "rise"
        if self.amount == 0:
            return f"must not {way}"
        return f"may {way} by at most {self.text}{' of the baseline' if self.relative else ''}"

    def list_notes(self) -> Iterator[str]:
        if self.amount == 0 and self.decide == "interval":
            yield (
                f"rule {self.rule}: max_drop: 0 passes only if {self.metric} is shown to be better (or nothing "
                "changed at all); usually the verdict is not enough data. Allow a small drop, such as 2 points."
            )

    def list_doubts(self, n: int) -> Iterator[str]:
        if self.metric.range == (0, 1) and 0 < self.amount < find_min_drop(n):
            more = find_n_examples(self.amount)
            those = "more than 10,000" if more is None else f"about {more:,}"
            yield (
                f"rule {self.rule}: {format_count(n, 'example')} are often too few to decide a drop of {self.text}: "
                f"if one score in ten differs, as often better as worse, the verdict is not enough data. {n} examples "
                f"can decide {100 * find_min_drop(n):g} points; {self.text} need {those}. See ragauge docs gates."
            )

    def make_sampler(self, source: ScoreSource) -> Sampler | None:
        error = source.pair_errors.get(str(self.metric))
        if source.apart is not None and self.rectified:
            raise UsageError(
                f"rule {self.rule}: a label-corrected drop needs the same examples, labeled in both runs. "
                "Gate a run on the baseline's eval set, or give a rectified min or max."
            )
        if source.apart is not None:
            return source.apart.make_sampler(self.metric, error)
        pairs = source.pairs(self.metric)
        if pairs is None:
            return None

        def make_sample(mask: Mask) -> MeanDifference:
            """The difference in one scope."""
            selected_pairs = pairs.select_examples(mask)
            by_labels = self.is_decided_by_labels(selected_pairs.people, selected_pairs.weight)
            return RectifiedDifference(selected_pairs) if by_labels else MeanDifference(selected_pairs, error=error)

        return make_sample

    def build_cell(self, sample: AnySample, min_n: int, *, same: bool) -> CheckCell:
        """With the limits that failed scores of the baseline allow, where the limit is a share of its mean."""
        sign, point = -1.0 if self.above else 1.0, self.decide == "point"
        if not self.relative or isinstance(sample, MetricLevel):
            return CheckCell(sample, sign * self.amount, self.above, min_n, point, same=same)
        lowest, highest = self.metric.range
        lowest_base, highest_base = sample.compute_base_reach()
        mean = 0.0 if sample.means is None else sample.means[1]
        limit, strict, lax = (
            sign * self.amount * base if isfinite(base) else sign * base
            for base in (mean, max(lowest_base, lowest), min(highest_base, highest))
        )
        return CheckCell(sample, limit, self.above, min_n, point, strict, lax, same)

    @classmethod
    def name_estimate(cls, check: Check) -> str:
        return "unpaired difference" if check.unpaired else "difference"

    @classmethod
    def list_steps(cls, check: Check) -> Iterator[tuple[str, str]]:
        value, sign = format_with_unit(check.limit, check), "−" if check.higher else "+"
        estimate = format_with_unit(check.estimate, check)
        if check.rectified:
            yield f"label-corrected difference, {format_count(check.n, 'labeled pair')}", f"d = {estimate}"
            yield "limit", value
            return
        previous, current = format_mean(check.base, check), format_mean(check.new, check)
        n_base = format_count(check.n, "pair") if check.n_base is None else format_count(check.n_base, "example")
        n_other = "" if check.n_base is None else f", {format_count(check.n, 'other example')}"
        yield f"mean of the baseline, {n_base}", f"b = {previous}"
        yield f"mean of this run{n_other}", f"x = {current}"
        yield "difference", f"d = x − b = {current} − {previous} = {estimate}"
        share = f"{sign}{100 * check.amount:g} % of b = {sign}{check.amount:g} · {previous} = {value}"
        yield "limit", share if check.relative else value

    @classmethod
    def advise(cls, check: Check) -> str:
        if check.amount:
            return ""
        return (
            "max_drop: 0 passes only a proven improvement. Allow a small drop (max_drop: 2 points), or "
            "decide on the estimate alone (decide: point)."
        )


@dataclass(frozen=True, kw_only=True)
class LevelRule(MeanRule):
    """A level of the run's own mean or quantile."""

    settled_by: ClassVar[str] = (
        "More examples will not settle this. A max_drop rule needs far fewer, because the judge errs equally on "
        "both runs. Otherwise, add labels of your own, which narrow this interval (ragauge judge check FILE), use "
        "another judge or a rule on labels such as recall, or set decide: point, which takes the judge's mean as it is."
    )

    @classmethod
    def read_limit(cls, entry: RuleEntry, metric: Metric) -> tuple[float, bool, str]:
        amount = float(getattr(entry.section, cls.key))
        entry.check_level(cls.key, amount, point=entry.section.decide == "point")
        return amount, False, format_level(metric, amount)

    def describe_limit(self) -> str:
        return f"must be at {'least' if self.is_floor else 'most'} {self.text}"

    def make_sampler(self, source: ScoreSource) -> Sampler | None:
        columns = source.columns(self.metric)
        if columns is None:
            return None

        def make_sample(mask: Mask) -> MetricLevel:
            """The level in one scope."""
            selected = columns.take(mask[columns.query].nonzero()[0])
            if self.is_decided_by_labels(selected.people, selected.weight):
                return RectifiedLevel.from_labeled_columns(self.metric, selected)
            return MetricLevel.of(self.metric, selected, self.statistic, source.errors.get(str(self.metric)))

        return make_sample


@rule_kind
@dataclass(frozen=True, kw_only=True)
class Min(LevelRule):
    """The least mean, for metrics where higher is better."""

    key: ClassVar[str] = "min"
    is_floor: ClassVar[bool] = True


@rule_kind
@dataclass(frozen=True, kw_only=True)
class Max(LevelRule):
    """The greatest mean or quantile, for metrics where lower is better."""

    key: ClassVar[str] = "max"

    def list_doubts(self, n: int) -> Iterator[str]:
        if self.statistic != "mean" and n < (needed := find_n_for_quantile(self.statistic)):
            yield (
                f"rule {self.rule}: {format_count(n, 'example')} of the set cannot show that {self.statistic} of "
                f"{self.metric} meets a limit: that needs {needed:,}. No run on this set can meet it."
            )
