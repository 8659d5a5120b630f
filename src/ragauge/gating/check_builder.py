"""From rules and scores to checks: a cell for the whole run and for every segment, families, and the verdict.

Many checks at once: at most 5 % that even one of them fails when nothing got worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING

from ragauge.core.errors import UsageError
from ragauge.gating.decide import ALPHA, CheckCell
from ragauge.gating.examples import MissingScores
from ragauge.gating.failed_calls import FailedCalls
from ragauge.gating.label_correction import LabeledSample, RectifiedDifference, RectifiedLevel, count_labels
from ragauge.gating.result import FAIL, UNKNOWN, Check, CheckExample, FailureCounts, Family, OnFail, Verdict
from ragauge.gating.rules import Slices
from ragauge.gating.sample import MeanDifference, MetricLevel
from ragauge.gating.unpaired_samples import UnpairedDifference, UnpairedRuns
from ragauge.scores.estimation import MIN_LABELS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.comparison.pairs import Pairs
    from ragauge.gating.rules import Condition
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns
    from ragauge.stats.judge_error import JudgeMeanError

    Mask = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.float64]


def split_alpha(segment: Sequence[bool]) -> list[float]:
    """The share of the family's 5 % that each check gets: half for the whole run, half for the segments.

    So that looking into many segments costs the checks on the whole run only half of their level.

    Args:
        segment: whether each check is one in a segment.

    Returns:
        Shares that sum to 1.

    >>> split_alpha([False, True, True])
    [0.5, 0.25, 0.25]
    """
    segments = sum(segment)
    n_whole = len(segment) - segments
    halves = 0.5 if n_whole and segments else 1.0
    return [halves / (segments if in_segment else n_whole) for in_segment in segment]


def step_down(
    weights: Sequence[float], fails: Callable[[int, float], bool], alpha: float = ALPHA
) -> tuple[frozenset[int], list[float]]:
    """Holm's procedure with weights, by repeating Bonferroni over what has not failed.

    check i fails when it does at the level  alpha · wᵢ / Σ wⱼ over the checks j that have not failed yet

    With equal weights it is Holm's: the smallest p-value is held against alpha/m, the next against alpha/(m−1).

    Args:
        weights: of the checks, above 0.
        fails: (number of a check, one-sided level) -> whether it fails.
        alpha: greatest chance of even one false failure, however the checks depend on each other.

    Returns:
        The checks that fail, and the level at which each was looked at last.

    Source: Holm (1979), Scandinavian Journal of Statistics 6, 65.

    >>> p_values = [0.01, 0.04, 0.02]
    >>> step_down([1, 1, 1], lambda i, level: p_values[i] <= level)[0] == {0, 2, 1}
    True
    """
    levels = [0.0] * len(weights)
    failed: set[int] = set()
    while remaining := [i for i in range(len(weights)) if i not in failed]:
        total = sum(weights[i] for i in remaining)
        for i in remaining:
            levels[i] = alpha * weights[i] / total
        newly_failed = {i for i in remaining if fails(i, levels[i])}
        if not newly_failed:
            break
        failed |= newly_failed
    return frozenset(failed), levels


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

    condition: Condition
    segment: tuple[str, str] | None
    cell: CheckCell
    examples: tuple[CheckExample, ...]
    lost: FailureCounts | None
    inapplicable: tuple[int, str]
    not_read: tuple[int, str]
    unanswered: FailureCounts | None


def check_conditions(conditions: Sequence[Condition], source: ScoreSource) -> tuple[list[Check], list[Family]]:
    """Every condition on the whole run and in its segments, with the correction for all of them together."""
    placed = [cell for condition in conditions for cell in _build_cells(condition, source)]
    levels, could, families = [ALPHA] * len(placed), set[int](), []
    for on_fail in ("block", "warn"):
        members = [n for n, entry in enumerate(placed) if entry.condition.on_fail == on_fail]
        family = _correct_family(placed, [n for n in members if placed[n].cell.tested], levels, could)
        could |= {n for n in members if not placed[n].cell.tested and placed[n].cell.could_fail()}
        if family is not None:
            families.append(family)
    return [_build_check(entry, levels[n], n in could) for n, entry in enumerate(placed)], families


def decide_verdict(checks: Sequence[Check]) -> Verdict:
    """The verdict of a gate: fail when a check that blocks fails, else not enough data when one stops it."""
    stopping = {check.verdict for check in checks if check.stops}
    return FAIL if FAIL in stopping else UNKNOWN if UNKNOWN in stopping else "pass"


def _correct_family(
    placed: Sequence[PlacedCheck], members: Sequence[int], levels: list[float], could: set[int]
) -> Family | None:
    """Puts the level of each member in `levels`, and in `could` those that might have failed had nothing failed."""
    if not members:
        return None
    in_segment = [placed[n].segment is not None for n in members]
    weights = split_alpha(in_segment)
    _, reached = step_down(weights, lambda i, alpha: placed[members[i]].cell.fails(alpha))
    possible, _ = step_down(weights, lambda i, alpha: placed[members[i]].cell.could_fail(alpha))
    could |= {members[i] for i in possible}
    for n, level in zip(members, reached, strict=True):
        levels[n] = level
    on_fail: OnFail = placed[members[0]].condition.on_fail
    return Family(on_fail, len(members) - sum(in_segment), sum(in_segment), ALPHA)


def _build_cells(condition: Condition, source: ScoreSource) -> Iterator[PlacedCheck]:
    """The whole run first, then every value of every segment."""
    drop = condition.kind == "max_drop"
    two_samples = source.apart if drop else None
    slices = source.slices if not drop else source.paired_slices if two_samples is None else two_samples.slices
    make = _make_difference(condition, source) if drop else _make_level(condition, source)
    if slices is None or make is None:
        return
    own_slices = slices if two_samples is None else source.slices
    missing = MissingScores(lambda: source.columns(condition.metric), source.slices, own_slices)
    calls = FailedCalls(source.failed_calls.new) if not drop else source.failed_calls
    calls = calls if two_samples is None else calls.with_prefixes()

    def place_check(segment: tuple[str, str] | None, mask: Mask) -> PlacedCheck:
        """The check of one scope, with what is missing from its sample."""
        sample = make(mask)
        own_mask = mask if two_samples is None else mask[: two_samples.n]  # of the run's own examples
        cell = _build_cell(condition, sample, same=source.same)
        worst = (
            _list_worst_examples(sample, slices, higher=_is_higher_better(condition))
            if isinstance(sample, MeanDifference)
            else ()
        )
        few = sample.n_applicable < condition.min_n and not isinstance(sample, LabeledSample)
        absent = missing.count_inapplicable(own_mask) if few else (0, "")
        unread = missing.not_read(own_mask)
        unread = unread if unread[0] > sample.scored and not condition.rectified else (0, "")
        failed = calls.find_too_many(make, mask, slices.query_ids, cell.min_n)
        return PlacedCheck(condition, segment, cell, worst, missing.lost(sample, own_mask), absent, unread, failed)

    yield place_check(None, slices.whole(condition.tag))
    if condition.segments == ():
        return
    for column, value, mask in slices.parts(condition.segments, condition.tag):
        if mask.any():
            yield place_check((column, value), mask)


def _make_difference(
    condition: Condition, source: ScoreSource
) -> Callable[[Mask], MeanDifference | UnpairedDifference] | None:
    error = source.pair_errors.get(str(condition.metric))
    if source.apart is not None and condition.rectified:
        raise UsageError(
            f"rule {condition.rule}: a label-corrected drop needs the same examples, labeled in both runs. "
            "Gate a run on the baseline's eval set, or give a rectified min or max."
        )
    if source.apart is not None:
        return source.apart.make_sampler(condition.metric, error)
    pairs = source.pairs(condition.metric)
    if pairs is None:
        return None

    def make_sample(mask: Mask) -> MeanDifference:
        """The difference in one scope."""
        selected_pairs = pairs.select_examples(mask)
        by_labels = _is_decided_by_labels(condition, selected_pairs.people, selected_pairs.weight)
        return RectifiedDifference(selected_pairs) if by_labels else MeanDifference(selected_pairs, error)

    return make_sample


def _is_decided_by_labels(condition: Condition, people: Floats | None, weights: Floats | None) -> bool:
    """Whether the label-corrected mean decides: where the rule says so, or by default where there are labels enough."""
    if condition.rectified is not None:
        return condition.rectified
    metric = condition.metric
    corrects = condition.statistic == "mean" and metric.scale != "amount" and not condition.relative and weights is None
    return corrects and all(map(isfinite, metric.range)) and count_labels(people) >= MIN_LABELS


def _make_level(condition: Condition, source: ScoreSource) -> Callable[[Mask], MetricLevel] | None:
    columns = source.columns(condition.metric)
    if columns is None:
        return None

    def make_sample(mask: Mask) -> MetricLevel:
        """The level in one scope."""
        selected = columns.take(mask[columns.query].nonzero()[0])
        if _is_decided_by_labels(condition, selected.people, selected.weight):
            return RectifiedLevel.from_labeled_columns(condition.metric, selected)
        return MetricLevel.of(condition.metric, selected, condition.statistic, source.errors.get(str(condition.metric)))

    return make_sample


def _is_higher_better(condition: Condition) -> bool:
    return condition.metric.direction == "higher"


def _build_cell(
    condition: Condition, sample: MeanDifference | UnpairedDifference | MetricLevel, *, same: bool
) -> CheckCell:
    higher = _is_higher_better(condition)
    point = condition.decide == "point"
    fewest = MIN_LABELS if isinstance(sample, LabeledSample) and not condition.rectified else compute_min_n(condition)
    if isinstance(sample, MetricLevel):
        return CheckCell(sample, condition.amount, condition.kind == "min", fewest, point)
    sign = -1.0 if higher else 1.0
    if condition.relative:
        lowest, highest = condition.metric.range
        lowest_base, highest_base = sample.compute_base_reach()
        mean = 0.0 if sample.means is None else sample.means[1]
        limit, strict, lax = (
            sign * condition.amount * base if isfinite(base) else sign * base
            for base in (mean, max(lowest_base, lowest), min(highest_base, highest))
        )
        return CheckCell(sample, limit, higher, condition.min_n, point, strict, lax, same)
    return CheckCell(sample, sign * condition.amount, higher, fewest, point, same=same)


def _list_worst_examples(sample: MeanDifference, slices: Slices, *, higher: bool) -> tuple[CheckExample, ...]:
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


def _build_check(placed: PlacedCheck, alpha: float, could: bool) -> Check:
    condition, cell, sample = placed.condition, placed.cell, placed.cell.sample
    verdict, because = cell.verdict(alpha)
    if placed.not_read[0] and verdict != FAIL:  # the few that were read do not stand for the others
        verdict, because = UNKNOWN, "not_read"
    failed_calls = placed.unanswered
    if failed_calls is not None and (verdict != FAIL or failed_calls.baseline):  # slow failures of the run are slow
        verdict, because = UNKNOWN, "unanswered"
    held_up = placed.segment is None or condition.segments_need_data or could
    by_labels = isinstance(sample, LabeledSample)  # then the judge's means are no part of it
    means = sample.means if isinstance(sample, MeanDifference | UnpairedDifference) and not by_labels else None
    return Check(
        rule=condition.rule,
        line=condition.line,
        kind=condition.kind,
        metric=str(condition.metric),
        asks=describe_condition(condition),
        verdict=verdict,
        because=because,
        on_fail=condition.on_fail,
        stops=condition.on_fail == "block" and (verdict == FAIL or (verdict == UNKNOWN and held_up)),
        segment=placed.segment,
        tag=condition.tag,
        decide=condition.decide,
        higher=_is_higher_better(condition) or condition.kind == "min",
        scale=condition.metric.scale,
        statistic=condition.statistic,
        limit=cell.limit if isfinite(cell.limit) else None,
        amount=condition.amount,
        relative=condition.relative,
        estimate=sample.estimate,
        new=means[0] if means else sample.estimate if isinstance(sample, MetricLevel) else None,
        base=means[1] if means else None,
        interval=None if sample.estimate is None else sample.interval(1 - 2 * ALPHA),
        sampled=None if sample.estimate is None or sample.error is None else sample.sampled(1 - 2 * ALPHA),
        fail_interval=None if sample.estimate is None or cell.point else sample.interval(1 - 2 * alpha),
        alpha=None if cell.point else alpha,
        reach=sample.reach() if sample.failed else None,
        n=sample.scored,
        failed=sample.failed,
        lost=failed_calls if because == "unanswered" else placed.lost,
        applies=sample.n_applicable,
        min_n=cell.min_n,
        inapplicable=placed.inapplicable[0],
        why=placed.not_read[1] or placed.inapplicable[1],
        not_read=placed.not_read[0],
        examples=placed.examples if verdict == FAIL else (),
        n_base=sample.base.scored if isinstance(sample, UnpairedDifference) else None,
        rectified=by_labels,
    )


def compute_min_n(condition: Condition) -> int:
    """Examples below which a condition is not decided; of what is rectified, labelled ones."""
    return max(condition.min_n, MIN_LABELS) if condition.rectified else condition.min_n


def describe_condition(condition: Condition) -> str:
    """What a condition asks for, in words.

    recall@5 may fall by at most 3% of the baseline
    """
    name = str(condition.metric) if condition.statistic == "mean" else f"{condition.statistic} of {condition.metric}"
    name += ", corrected by human labels," if condition.rectified else ""
    on = f" on examples tagged {condition.tag}" if condition.tag else ""
    if condition.kind == "min":
        return f"{name} must be at least {condition.text}{on}"
    if condition.kind == "max":
        return f"{name} must be at most {condition.text}{on}"
    way = "fall" if condition.metric.direction == "higher" else "rise"
    if condition.amount == 0:
        return f"{name} must not {way}{on}"
    return f"{name} may {way} by at most {condition.text}{' of the baseline' if condition.relative else ''}{on}"


def list_unknown_segments(conditions: Sequence[Condition], declared: Sequence[str]) -> Mapping[int, list[str]]:
    """Rule -> columns that it names and no example has."""
    by_rule: dict[int, list[str]] = {}
    for condition in conditions:
        absent = [name for name in condition.segments or () if name not in declared]
        if absent and condition.rule not in by_rule:
            by_rule[condition.rule] = absent
    return by_rule


def describe_unchecked_columns(conditions: Sequence[Condition], source: ScoreSource) -> list[str]:
    """The segment columns with too few or too many values to be checked, as a warning; [] where there are none."""
    checked = () if source.apart is None else source.apart.slices.columns
    few, left_out = source.slices.few, source.slices.left_out
    names = [name for name in left_out if name not in checked and len(few.get(name, ())) < 2]
    if not names or all(condition.segments is not None for condition in conditions):
        return []
    listed = ", ".join(names)
    return [f"Not checked, because they have one value or more than 50: {listed}. To check one, name it in segments."]
