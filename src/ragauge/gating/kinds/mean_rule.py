"""Rules on a mean or a quantile: decided by its interval on the whole run, and in every value of every segment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from ragauge.core.messages import format_count
from ragauge.gating.compute.decision import ALPHA, CheckCell
from ragauge.gating.compute.label_correction import LabeledSample, count_labels
from ragauge.gating.compute.missing_scores import FailedCalls, MissingScores
from ragauge.gating.compute.sample import MeanDifference
from ragauge.gating.compute.slices import Slices
from ragauge.gating.compute.unpaired_samples import AnySample, UnpairedDifference, UnpairedRuns
from ragauge.gating.kinds.rule import Rule, RuleEntry
from ragauge.gating.result import FAIL, UNKNOWN, Check, CheckExample, FailureCounts, SegmentName
from ragauge.gating.tables import phrases
from ragauge.gating.tables.phrases import format_interval, format_level, format_with_unit
from ragauge.metrics.base import Metric
from ragauge.scores.estimation import MIN_LABELS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.pairs import Pairs
    from ragauge.scores.arrays import Columns
    from ragauge.stats.judge_error import JudgeMeanError

    Mask = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]

Statistic = Literal["mean", "p50", "p95", "p99"]
Sampler = Callable[["Mask"], AnySample]  # examples, as a mask -> what the check decides on
MAX_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class ScoreSource:
    """Where the scores of a metric come from."""

    columns: Callable[[Metric], Columns | None]  #: scores of the run, one entry an example; None where it has none.
    pairs: Callable[[Metric], Pairs | None]  #: scores of both runs; None without a baseline.
    slices: Slices  #: of the run, in the numbering of `columns`.
    paired_slices: Slices | None = None  #: of the run, in the numbering of `pairs`.
    #: the run and its baseline as two samples, where they are on different examples: pairs are not asked for.
    apart: UnpairedRuns | None = None
    same: bool = False  #: the baseline is the run itself: no drop can be decided.
    #: printed name of a metric -> how far the judge errs on the run, where known.
    errors: Mapping[str, JudgeMeanError] = field(default_factory=dict)
    #: the same on the run and its baseline, for differences.
    pair_errors: Mapping[str, JudgeMeanError] = field(default_factory=dict)
    #: examples whose call failed, which took time and money all the same.
    failed_calls: FailedCalls = field(default_factory=FailedCalls)


@dataclass(frozen=True, slots=True)
class PlacedCheck:
    """A cell, whose it is, where it stands, and what it lacks (see `Check`)."""

    rule: MeanRule
    segment: SegmentName | None
    cell: CheckCell
    examples: tuple[CheckExample, ...]
    lost: FailureCounts | None
    inapplicable: tuple[int, str]
    not_read: tuple[int, str]
    unanswered: FailureCounts | None

    def build_check(self, alpha: float, *, could: bool) -> Check:
        """The check at the level that its family leaves it; `could`: it might have failed had nothing failed."""
        rule, cell, sample = self.rule, self.cell, self.cell.sample
        verdict, because = cell.verdict(alpha)
        if self.not_read[0] and verdict != FAIL:  # the few that were read do not stand for the others
            verdict, because = UNKNOWN, "not_read"
        failed_calls = self.unanswered
        if failed_calls is not None and (verdict != FAIL or failed_calls.baseline):  # slow failures of the run are slow
            verdict, because = UNKNOWN, "unanswered"
        held_up = self.segment is None or rule.segments_need_data or could
        by_labels = isinstance(sample, LabeledSample)  # then the judge's means are no part of it
        means = sample.means if isinstance(sample, MeanDifference | UnpairedDifference) and not by_labels else None
        estimate = sample.estimate
        return rule.build_check(
            verdict,
            because,
            stops=rule.on_fail == "block" and (verdict == FAIL or (verdict == UNKNOWN and held_up)),
            segment=self.segment,
            decide=rule.decide,
            higher=cell.above,
            scale=rule.metric.scale,
            statistic=rule.statistic,
            is_difference=rule.is_difference,
            limit=cell.limit if isfinite(cell.limit) else None,
            amount=rule.amount,
            relative=rule.relative,
            estimate=estimate,
            new=means[0] if means else None if rule.is_difference else estimate,
            base=means[1] if means else None,
            interval=None if estimate is None else sample.interval(1 - 2 * ALPHA),
            sampled=None if estimate is None or sample.error is None else sample.sampled(1 - 2 * ALPHA),
            fail_interval=None if estimate is None or cell.point else sample.interval(1 - 2 * alpha),
            alpha=None if cell.point else alpha,
            reach=sample.reach() if sample.failed else None,
            n=sample.scored,
            failed=sample.failed,
            lost=failed_calls if because == "unanswered" else self.lost,
            applies=sample.n_applicable,
            min_n=cell.min_n,
            inapplicable=self.inapplicable[0],
            why=self.not_read[1] or self.inapplicable[1],
            not_read=self.not_read[0],
            examples=self.examples if verdict == FAIL else (),
            n_base=sample.base.scored if isinstance(sample, UnpairedDifference) else None,
            rectified=by_labels,
        )


@dataclass(frozen=True, kw_only=True)
class MeanRule(Rule):
    """A limit that a mean, a quantile or a difference has to meet; a kind says how it is read and the sample made.

    A kind on something else that has an estimate and an interval gives another `make_sampler`.
    """

    in_segments: ClassVar[bool] = True
    is_difference: ClassVar[bool] = False  #: whether the estimate is this run's minus the baseline's.
    is_floor: ClassVar[bool] = False  #: whether the limit is a least value, whichever direction is better.
    settled_by: ClassVar[str]  #: what settles a check that the judge's error leaves open: more examples do not.

    metric: Metric  #: whose mean.
    amount: float  #: the limit; where `relative` a share of the baseline's mean, else in the metric's unit.
    relative: bool = False  #: see `amount`.
    text: str  #: the limit in words: a drop as written, a level with its unit.
    statistic: Statistic = "mean"  #: of what the limit is: mean, or a quantile.
    decide: Literal["interval", "point"] = "interval"  #: by the whole interval or by the estimate alone.
    segments: tuple[str, ...] | None = None  #: columns to look into; None = all that are declared.
    segments_need_data: bool = False  #: whether a segment without enough data holds the gate up.
    min_n: int  #: fewest examples to decide on.
    rectified: bool | None = None  #: whether the label-corrected mean decides; None = where there are labels enough.

    @property
    def above(self) -> bool:
        """Whether the estimate must not lie below the limit; otherwise it must not lie above."""
        return self.is_floor or self.metric.direction == "higher"

    @classmethod
    def read_limit(cls, entry: RuleEntry, metric: Metric) -> tuple[float, bool, str]:
        """`amount`, `relative` and `text` of an entry; adds to its problems what makes no sense."""
        raise NotImplementedError

    @classmethod
    def choose_statistic(cls, entry: RuleEntry, metric: Metric) -> Statistic:
        """The statistic that the entry names, or the usual one."""
        requested = entry.section.statistic
        if metric.scale == "amount" and not cls.is_difference:
            return requested or ("p95" if metric.name() == "latency" else "mean")
        if requested not in (None, "mean"):
            reason = f"{cls.key} compares means" if cls.is_difference else f"{metric} is summarized by its mean"
            entry.add_problem("statistic", f"{requested} is not available: {reason}.")
        return "mean"

    @classmethod
    def read(cls, entry: RuleEntry) -> Self | None:
        section, gate, metric = entry.section, entry.gate, entry.metric
        if metric is None:
            return None
        statistic = cls.choose_statistic(entry, metric)
        amount, relative, limit_text = cls.read_limit(entry, metric)
        if section.rectified and (metric.scale == "amount" or not all(map(isfinite, metric.range))):
            text = f"human labels cannot correct {metric}, which has no minimum and maximum value."
            entry.add_problem("rectified", text)
        if section.rectified and relative:
            text = "cannot be used with a drop relative to the baseline. Give the drop in points: 3 points."
            entry.add_problem("rectified", text)
        need = gate.segments_need_data if section.segments_need_data is None else section.segments_need_data
        return cls(
            rule=section.place,
            line=section.line(),
            tag=section.tag or "",
            on_fail=section.on_fail,
            metric=metric,
            amount=amount,
            relative=relative,
            text=limit_text,
            statistic=statistic,
            decide=section.decide,
            segments=section.segments,
            segments_need_data=need,
            min_n=gate.min_n if section.min_n is None else section.min_n,
            rectified=section.rectified,
        )

    @property
    def needed_n(self) -> int:
        """Examples below which it is not decided; of what is rectified, labelled ones."""
        return max(self.min_n, MIN_LABELS) if self.rectified else self.min_n

    def describe_limit(self) -> str:
        """The limit as a predicate: must be at least 0.85."""
        raise NotImplementedError

    def describe(self) -> str:
        name = str(self.metric) if self.statistic == "mean" else f"{self.statistic} of {self.metric}"
        name += ", corrected by human labels," if self.rectified else ""
        return f"{name} {self.describe_limit()}" + (f" on examples tagged {self.tag}" if self.tag else "")

    def describe_fully(self) -> str:
        segments = "every declared segment" if self.segments is None else f"every value of {', '.join(self.segments)}"
        where = "the whole run" if self.segments == () else f"the whole run and {segments}"
        how = "by the estimate alone" if self.decide == "point" else "by its interval"
        warns = "; warns only" if self.on_fail == "warn" else ""
        minimum_text = f"{self.needed_n} {'labeled ' if self.rectified else ''}examples"
        return f"{self.describe()}: {where}, {how}, with at least {minimum_text}{warns}"

    def list_doubts(self, n: int) -> Iterator[str]:
        """That `n` examples, at least `min_n`, seldom decide it by an interval."""
        yield from ()

    def make_sampler(self, source: ScoreSource) -> Sampler | None:
        """Examples, as a mask -> the sample that decides; None where there are no scores."""
        raise NotImplementedError

    def build_cell(self, sample: AnySample, min_n: int, *, same: bool) -> CheckCell:
        """What one check decides."""
        return CheckCell(sample, self.amount, self.above, min_n, self.decide == "point")

    def is_decided_by_labels(self, people: Floats | None, weights: Floats | None) -> bool:
        """Whether the label-corrected mean decides: where the rule says so; by default with labels enough."""
        if self.rectified is not None:
            return self.rectified
        corrects = self.statistic == "mean" and self.metric.scale != "amount" and not self.relative and weights is None
        return corrects and all(map(isfinite, self.metric.range)) and count_labels(people) >= MIN_LABELS

    def place_checks(self, source: ScoreSource) -> Iterator[PlacedCheck]:
        """The whole run first, then every value of every segment."""
        two_samples = source.apart if self.is_difference else None
        slices = source.slices
        if self.is_difference:
            compared = source.paired_slices if two_samples is None else two_samples.slices
            if compared is None:
                return
            slices = compared
        make = self.make_sampler(source)
        if make is None:
            return
        own_slices = slices if two_samples is None else source.slices
        missing = MissingScores(lambda: source.columns(self.metric), source.slices, own_slices)
        calls = source.failed_calls if self.is_difference else FailedCalls(source.failed_calls.new)
        calls = calls if two_samples is None else calls.with_prefixes()

        def place_check(segment: SegmentName | None, mask: Mask) -> PlacedCheck:
            """The check of one scope, with what is missing from its sample."""
            sample = make(mask)
            own_mask = mask if two_samples is None else mask[: two_samples.n]  # of the run's own examples
            by_labels = isinstance(sample, LabeledSample)
            min_n = MIN_LABELS if by_labels and not self.rectified else self.needed_n
            cell = self.build_cell(sample, min_n, same=source.same)
            worst = _list_worst_examples(sample, slices, self.above) if isinstance(sample, MeanDifference) else ()
            few = sample.n_applicable < self.min_n and not by_labels
            absent = missing.count_inapplicable(own_mask) if few else (0, "")
            unread = missing.not_read(own_mask)
            unread = unread if unread[0] > sample.scored and not self.rectified else (0, "")
            failed = calls.find_too_many(make, mask, slices.query_ids, min_n)
            return PlacedCheck(self, segment, cell, worst, missing.lost(sample, own_mask), absent, unread, failed)

        yield place_check(None, slices.whole(self.tag))
        if self.segments == ():
            return
        for column, value, mask in slices.parts(self.segments, self.tag):
            if mask.any():
                yield place_check(SegmentName(column, value), mask)

    @classmethod
    def name_estimate(cls, check: Check) -> str:
        """What the estimate is: mean, p95, difference."""
        return check.statistic

    @classmethod
    def format_limit(cls, check: Check) -> str:
        return f"at {'least' if check.higher else 'most'} {format_with_unit(check.limit, check)}"

    @classmethod
    def format_estimate(cls, check: Check) -> str:
        """The estimate with its 90 % interval; where no score changed, that, since no interval decided."""
        text = format_with_unit(check.estimate, check)
        if check.because == "itself":
            return "nothing compared"
        if check.because == "unchanged":
            return f"{text}, no score changed"
        return f"{text} {format_interval(check.interval, check)}" if check.interval is not None else text

    @classmethod
    def list_steps(cls, check: Check) -> Iterator[tuple[str, str]]:
        yield (
            f"{check.statistic} of {format_count(check.n, 'example')}",
            f"x = {format_with_unit(check.estimate, check)}",
        )
        yield "limit", format_with_unit(check.limit, check)

    @classmethod
    def explain(cls, check: Check) -> str:
        what, limit_text = cls.name_estimate(check), f"the limit ({cls.format_limit(check)})"
        match check.because:
            case "not_read":
                return phrases.describe_unreadable(check)
            case "unanswered":
                return phrases.describe_unanswered(check)
            case "few":
                return phrases.describe_too_few(check)
            case "nothing":
                return _explain_no_interval(check, what)
            case "failed":
                return f"{phrases.describe_failed_scores(check)}, and their values would decide the verdict."
            case "itself":
                return "the baseline is this run itself, so there is nothing to compare."
            case "unchanged":
                return f"all {check.n} examples have the same score in both runs."
            case "corrected":
                both = (format_interval(interval, check) for interval in (check.interval, check.fail_interval))
                by = ", but not by ".join(both)
                return f"worse by the 90 % interval {by}, the interval corrected for the number of checks."
            case "unsupported":
                few = "too few examples or clusters differ"
                return f"the interval says worse, but {few} for a test with fewer assumptions to confirm it."
            case "judge":
                return (
                    f"sampling error alone, {format_interval(check.sampled, check)}, would decide this, but "
                    f"including judge error the interval of the {what} is {format_interval(check.interval, check)} "
                    f"and includes {limit_text}: this judge cannot tell. {cls.settled_by}"
                )
            case "point":
                point_relation = "meets" if check.verdict == "pass" else "is beyond"
                return f"the {what} {format_with_unit(check.estimate, check)} {point_relation} {limit_text}."
        found_at = check.fail_interval if check.verdict == "fail" else check.interval
        relation = {"pass": "meets", "fail": "lies beyond", "not_enough_data": "includes"}[check.verdict]
        article = "the whole " if check.verdict != "not_enough_data" else "the "
        level_text = "" if found_at is None else f"{format_level(found_at)} "
        interval = format_interval(found_at, check)
        return f"{article}{level_text}interval of the {what}, {interval}, {relation} {limit_text}."


def _list_worst_examples(sample: MeanDifference, slices: Slices, higher: bool) -> tuple[CheckExample, ...]:
    """The examples whose score became worse most."""
    import numpy as np

    pairs = sample.pairs
    worse = (pairs.base - pairs.new) * (1.0 if higher else -1.0)
    order = np.argsort(-worse, kind="stable")[:MAX_EXAMPLES]
    return tuple(
        CheckExample(slices.query_ids[pairs.query[index]], float(pairs.new[index]), float(pairs.base[index]))
        for index in order
        if worse[index] > 0
    )


def _explain_no_interval(check: Check, what: str) -> str:
    if check.n > 1 and check.statistic == "mean":
        if check.scale == "amount" and not check.estimate:
            return f"all {check.n} values are 0: the spread of others is unknown. decide: point needs no interval."
        return f"{check.n} examples of one cluster count as one observation, so this {what} has no interval."
    if check.n:
        return f"{format_count(check.n, 'example is', 'examples are')} too few for an interval of this {what}."
    return "no example has a value."
