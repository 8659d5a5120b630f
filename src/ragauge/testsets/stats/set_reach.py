"""Reads of a stored run what it tells of its set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragauge.comparison.score_pairs import PairedRuns, PairedScores
from ragauge.core.response import Run
from ragauge.core.variation import SEGMENT
from ragauge.scores.segments import Segments
from ragauge.scores.target_difference import TargetDifference
from ragauge.testsets.stats.detectable_difference import SetReach
from ragauge.testsets.stats.robustness import compare_variations
from ragauge.testsets.stats.set_power import (
    DetectableChange,
    SamplePair,
    build_pair_samples,
    build_run_samples,
    compute_detectable_change,
    iterate_segments,
)
from ragauge.testsets.vary.kinds import KINDS
from ragauge.verbs.columns import StoredColumns

if TYPE_CHECKING:
    from ragauge.metrics.base import Metric
    from ragauge.scores.arrays import Columns, ResponseIndex
    from ragauge.store.store_access import Store


class MeasuredRun(NamedTuple):
    """A run, who judged it, and what it is paired with."""

    run: Run
    judge_id: str | None
    base: Run | None


def compute_set_reach(
    store: Store, measured: MeasuredRun, metrics: Sequence[Metric], detect: str, set_version: str
) -> SetReach:
    """What a run tells of its set.

    Args:
        store: where it is.
        measured: the run, its judge and the run that it is paired with.
        metrics: of interest; amounts, such as times, are left out.
        detect: the change that is to be seen, such as "3%"; "" = none.
        set_version: of the set that is described.
    """
    from ragauge.scores.arrays import merge_repeats

    run, judge_id, base = measured
    target = TargetDifference.from_text(detect) if detect else None
    requested = [metric for metric in metrics if metric.scale != "amount"]
    names = [str(metric) for metric in requested]
    index = store.runs.index(run.run_id, store.scores.evaluated(run.run_id, judge_id, names))
    columns = StoredColumns(store, run.run_id, judge_id, index, ahead=names, values_only=True)
    read = [(metric, merge_repeats(item)) for metric in requested if (item := columns.column(str(metric))) is not None]
    frame = store.runs.segments(run.run_id)
    segments = Segments.of(frame).select_examples(index.query_ids)
    kinds = _find_kinds(segments)
    kept_kinds = {item: kind for item, kind in kinds.items() if KINDS[kind].keeps_labels}
    others = Counter(kind for kind in kinds.values() if not KINDS[kind].keeps_labels)
    changes = (
        _build_run_changes(read, index, segments, target)
        if base is None
        else _build_paired_changes(PairedScores(PairedRuns(store, run, base, judge_id), requested), target)
    )
    return SetReach(
        run.name,
        judge_id or "",
        base.name if base is not None else "",
        detect,
        changes,
        compare_variations(read, index.query_ids, kept_kinds),
        tuple(others.items()),
        run.set_version == set_version,
    )


def _find_kinds(segments: Segments) -> dict[str, str]:
    """query_id -> kind of variation, of the variants."""
    column = segments.columns.get(SEGMENT)
    if column is None:
        return {}
    values = [column.values[code] for code in column.codes]
    return {query_id: kind for query_id, kind in zip(segments.query_ids, values, strict=True) if kind in KINDS}


def _build_run_changes(
    read: Sequence[tuple[Metric, Columns]], index: ResponseIndex, segments: Segments, target: TargetDifference | None
) -> tuple[DetectableChange, ...]:
    segment_rows = list(iterate_segments(segments.tidy_columns().align_columns(index.query_ids)))
    every = [(metric, build_run_samples(metric, metric_scores), ("", "")) for metric, metric_scores in read]
    every += [
        (metric, build_run_samples(metric, metric_scores, rows), (name, value))
        for metric, metric_scores in read
        for name, value, rows in segment_rows
    ]
    return _list_changes(every, target)


def _build_paired_changes(paired: PairedScores, target: TargetDifference | None) -> tuple[DetectableChange, ...]:
    ids = paired.new.index.query_ids
    segment_rows = list(iterate_segments(Segments.of(paired.segments).tidy_columns().align_columns(ids)))
    read = [(metric, pairs) for metric in paired.metrics if (pairs := paired.pairs(metric)) is not None]
    every = [(metric, build_pair_samples(pairs), ("", "")) for metric, pairs in read]
    every += [
        (metric, build_pair_samples(pairs, rows), (name, value))
        for metric, pairs in read
        for name, value, rows in segment_rows
    ]
    return _list_changes(every, target)


def _list_changes(
    every: Sequence[tuple[Metric, SamplePair, tuple[str, str]]], target: TargetDifference | None
) -> tuple[DetectableChange, ...]:
    changes = (compute_detectable_change(metric, sides, target, segment) for metric, sides, segment in every)
    return tuple(change for change in changes if change is not None)
