"""Reads of a stored run what it tells of its set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragauge.comparison.score_pairs import Paired, PairedRuns
from ragauge.core.response import Run
from ragauge.core.variation import SEGMENT
from ragauge.scores.segments import Segments
from ragauge.scores.target_difference import WantedChange
from ragauge.testsets.stats.detectable_difference import SetReach
from ragauge.testsets.stats.robustness import variation_changes
from ragauge.testsets.stats.set_power import (
    DetectableChange,
    Sides,
    by_segment,
    detectable_change,
    of_one_run,
    of_pairs,
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


def set_reach(
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
    from ragauge.scores.arrays import by_example

    run, judge_id, base = measured
    wanted = WantedChange.read(detect) if detect else None
    asked = [metric for metric in metrics if metric.scale != "amount"]
    names = [str(metric) for metric in asked]
    index = store.runs.index(run.run_id, store.scores.evaluated(run.run_id, judge_id, names))
    columns = StoredColumns(store, run.run_id, judge_id, index, ahead=names, values_only=True)
    read = [(metric, by_example(one)) for metric in asked if (one := columns.column(str(metric))) is not None]
    frame = store.runs.segments(run.run_id)
    segments = Segments.of(frame).only(index.query_ids)
    kinds = _kinds(segments)
    kept = {one: kind for one, kind in kinds.items() if KINDS[kind].keeps_labels}
    others = Counter(kind for kind in kinds.values() if not KINDS[kind].keeps_labels)
    changes = (
        _of_run(read, index, segments, wanted)
        if base is None
        else _of_pairs(Paired(PairedRuns(store, run, base, judge_id), asked), wanted)
    )
    return SetReach(
        run.name,
        judge_id or "",
        base.name if base is not None else "",
        detect,
        changes,
        variation_changes(read, index.query_ids, kept),
        tuple(others.items()),
        run.set_version == set_version,
    )


def _kinds(segments: Segments) -> dict[str, str]:
    """query_id -> kind of variation, of the variants."""
    column = segments.columns.get(SEGMENT)
    if column is None:
        return {}
    values = [column.values[code] for code in column.codes]
    return {one: kind for one, kind in zip(segments.query_ids, values, strict=True) if kind in KINDS}


def _of_run(
    read: Sequence[tuple[Metric, Columns]], index: ResponseIndex, segments: Segments, wanted: WantedChange | None
) -> tuple[DetectableChange, ...]:
    parts = list(by_segment(segments.tidy().by_number(index.query_ids)))
    every = [(metric, of_one_run(metric, one), ("", "")) for metric, one in read]
    every += [
        (metric, of_one_run(metric, one, rows), (name, value)) for metric, one in read for name, value, rows in parts
    ]
    return _changes(every, wanted)


def _of_pairs(paired: Paired, wanted: WantedChange | None) -> tuple[DetectableChange, ...]:
    ids = paired.new.index.query_ids
    parts = list(by_segment(Segments.of(paired.segments).tidy().by_number(ids)))
    read = [(metric, pairs) for metric in paired.metrics if (pairs := paired.pairs(metric)) is not None]
    every = [(metric, of_pairs(pairs), ("", "")) for metric, pairs in read]
    every += [(metric, of_pairs(pairs, rows), (name, value)) for metric, pairs in read for name, value, rows in parts]
    return _changes(every, wanted)


def _changes(
    every: Sequence[tuple[Metric, Sides, tuple[str, str]]], wanted: WantedChange | None
) -> tuple[DetectableChange, ...]:
    found = (detectable_change(metric, sides, wanted, segment) for metric, sides, segment in every)
    return tuple(one for one in found if one is not None)
