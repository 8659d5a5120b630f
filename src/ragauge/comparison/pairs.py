"""One metric's scores in two runs, example by example: what differences, tests and gates are computed from.

Which examples of two runs are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragauge.metrics.base import Metric
from ragauge.scores.arrays import FAILED, NOT_APPLICABLE, SCORED, Columns

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Codes = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]
    SideLabels = tuple[Floats | None, Floats | None]


class Join:
    """Which examples of two runs are the same, by query_id.

    Args:
        new: ids of the examples of this run, in the order of their numbers.
        base: of the baseline.

    Attributes:
        matched: examples in both.
        only_here: examples only in this run.
        only_there: examples only in the baseline.
    """

    def __init__(self, new: Sequence[str], base: Sequence[str]) -> None:
        import numpy as np

        numbers = {query_id: number for number, query_id in enumerate(base)}
        self._there = np.fromiter((numbers.get(query_id, -1) for query_id in new), dtype=np.int64, count=len(new))
        self._size = len(base)
        self.matched = int((self._there >= 0).sum())
        self.only_here, self.only_there = len(new) - self.matched, len(base) - self.matched

    def rows(self, new: Columns, base: Columns) -> tuple[Codes, Codes]:
        """Rows of both, shape (pairs,), such that the same example stands at the same place."""
        import numpy as np

        row_by_number = np.full(self._size + 1, -1, dtype=np.int64)
        row_by_number[base.query] = np.arange(base.query.size)
        matched = row_by_number[self._there[new.query]]  # the last entry, which -1 reads, is that of no example
        matched_rows = np.flatnonzero(matched >= 0)
        return matched_rows, matched[matched_rows]


@dataclass(frozen=True, slots=True, eq=False)
class FailedPairs:
    """Examples in both runs whose score failed in one or both, the other side scored or failed. Shape (failed,)."""

    query: Codes  #: number of the example in the new run.
    weight: Floats | None  #: None where all are alike.
    new: tuple[Floats, Floats]  #: (least, greatest) value of the new score; equal where it is scored.
    base: tuple[Floats, Floats]  #: likewise of the baseline's.
    cluster: Codes | None = None  #: number of what each depends on; None where every example stands alone.

    @property
    def least(self) -> Floats:
        """The least difference new − base that each could have had."""
        return self.new[0] - self.base[1]

    @property
    def most(self) -> Floats:
        """The greatest difference that each could have had."""
        return self.new[1] - self.base[0]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """One metric's scores over the examples scored in both runs, an example of several repeats at their mean.

    Every array has shape (pairs,), in example order of the new run.
    """

    metric: Metric  #: whose scores.
    query: Codes  #: number of the example in the new run.
    new: Floats  #: its score there.
    base: Floats  #: its score in the baseline.
    weight: Floats | None  #: how many real requests it stands for; None where all are alike.
    cluster: Codes | None  #: number of what it depends on; None where every example stands alone.
    failed: FailedPairs  #: examples that would be pairs had nothing failed.
    undefined: Codes  #: numbers of examples that are no pairs since a score is undefined, and none failed.
    #: new − base by people's labels, as of `Columns`; NaN unless both were labelled. None = no labels.
    people: Floats | None = None
    inclusion: Floats | None = None  #: the chance that both were drawn for them, where it differs.
    #: of the new run and of the baseline, people's scores and the chance of being drawn, as of `Columns`.
    labels: tuple[SideLabels, SideLabels] = ((None, None), (None, None))

    def __len__(self) -> int:
        return int(self.query.size)

    def means(self) -> tuple[float, float]:
        """The (weighted) means of the new run and of the baseline; there must be a pair."""
        import numpy as np

        return float(np.average(self.new, weights=self.weight)), float(np.average(self.base, weights=self.weight))

    def compute_sum_bounds(self) -> tuple[float, float]:
        """The least and greatest (weighted) sum of new − base that the failed scores allow.

        A failed score may also have been undefined, so it adds at least nothing. Without finite bounds it is left out.
        """
        import numpy as np

        d = self.new - self.base
        total = float((d if self.weight is None else self.weight * d).sum())
        if not self.failed.query.size or not np.isfinite(self.metric.range).all():
            return total, total
        w = 1.0 if self.failed.weight is None else self.failed.weight
        low, high = np.minimum(self.failed.least, 0), np.maximum(self.failed.most, 0)
        return total + float((w * low).sum()), total + float((w * high).sum())

    def select_examples(self, examples: Mask) -> Pairs:
        """Only some examples.

        Args:
            examples: shape (examples of the new run,), True for those to keep.
        """
        pair_rows, failed_rows = examples[self.query], examples[self.failed.query]
        failed = FailedPairs(
            self.failed.query[failed_rows],
            _take_rows(self.failed.weight, failed_rows),
            _take_both(self.failed.new, failed_rows),
            _take_both(self.failed.base, failed_rows),
            None if self.failed.cluster is None else self.failed.cluster[failed_rows],
        )
        return Pairs(
            self.metric,
            self.query[pair_rows],
            self.new[pair_rows],
            self.base[pair_rows],
            _take_rows(self.weight, pair_rows),
            None if self.cluster is None else self.cluster[pair_rows],
            failed,
            self.undefined[examples[self.undefined]],
            _take_rows(self.people, pair_rows),
            _take_rows(self.inclusion, pair_rows),
            (_take_label_rows(self.labels[0], pair_rows), _take_label_rows(self.labels[1], pair_rows)),
        )


def pair_scores(metric: Metric, new: Columns, base: Columns, join: Join) -> Pairs:
    """The scores of two runs, matched.

    Args:
        metric: whose scores.
        new: of the new run, one entry an example (see `arrays.by_example`); weights are taken from it.
        base: of the baseline, likewise. Clusters are the new run's, else those that the baseline declares.
        join: of the new run's examples with the baseline's.
    """
    import numpy as np

    new_rows, base_rows = join.rows(new, base)
    new, base = new.take(new_rows), base.take(base_rows)
    cluster = base.cluster if new.cluster is None else new.cluster
    both_scored = (new.status == SCORED) & (base.status == SCORED)
    failed_rows = np.isin(new.status, (SCORED, FAILED)) & np.isin(base.status, (SCORED, FAILED)) & ~both_scored
    applies = (new.status != NOT_APPLICABLE) & (base.status != NOT_APPLICABLE)
    failed = FailedPairs(
        new.query[failed_rows],
        _take_rows(new.weight, failed_rows),
        _find_bounds(metric, new, failed_rows),
        _find_bounds(metric, base, failed_rows),
        None if cluster is None else cluster[failed_rows],
    )
    return Pairs(
        metric,
        new.query[both_scored],
        new.value[both_scored],
        base.value[both_scored],
        _take_rows(new.weight, both_scored),
        None if cluster is None else cluster[both_scored],
        failed,
        new.query[applies & ~both_scored & ~failed_rows],
        *_combine_labels(new, base, both_scored),
        (
            _take_label_rows((new.people, new.inclusion), both_scored),
            _take_label_rows((base.people, base.inclusion), both_scored),
        ),
    )


def drop_failed_calls(
    metric: Metric, scores: tuple[Columns, Columns], unanswered: tuple[Columns, Columns], join: Join | None
) -> tuple[Columns, Columns]:
    """Scores of latency, tokens or cost in which no failed call speaks for its own run.

    A call that fails at once is quicker and cheaper than an answer, and no better for it; one that fails late, such as
    by a time-out, counts as it is. Of two samples, which have no pairs, every failed call is left out.

    Args:
        metric: whose scores.
        scores: of the new run and of the baseline.
        unanswered: which calls failed in both (see `alike.unanswered`).
        join: of the examples; None = the runs are two samples.
    """
    import numpy as np

    new, base = scores
    failed = [
        np.isin(columns.query, calls.query[calls.value > 0]) for columns, calls in zip(scores, unanswered, strict=True)
    ]
    if join is None:
        return _mark_failed(new, failed[0]), _mark_failed(base, failed[1])
    new_rows, base_rows = join.rows(new, base)
    rise = new.value[new_rows] - base.value[base_rows]
    gain = -rise if metric.direction == "lower" else rise
    failed_rows = np.zeros(new.query.size, dtype=bool)
    failed_rows[new_rows] = (failed[0][new_rows] & (gain > 0)) | (failed[1][base_rows] & (gain < 0))
    return _mark_failed(new, failed_rows), base


def _mark_failed(columns: Columns, rows: Mask) -> Columns:
    """Scores of which those at some rows count as failed, with unknown values."""
    import numpy as np

    return replace(columns, status=np.where(rows, FAILED, columns.status))


def _combine_labels(new: Columns, base: Columns, rows: Mask) -> tuple[Floats | None, Floats | None]:
    """People's differences and the chances of both labels; an example that labels give no score in a run has none."""
    import numpy as np

    if new.people is None or base.people is None:
        return None, None
    new_labels, base_labels = new.people[rows], base.people[rows]
    without_score = np.isinf(new_labels) | np.isinf(base_labels)
    people = np.where(
        without_score, np.inf, np.where(without_score, 0.0, new_labels) - np.where(without_score, 0.0, base_labels)
    )
    chances = [inclusion[rows] for inclusion in (new.inclusion, base.inclusion) if inclusion is not None]
    return people, np.prod(chances, axis=0) if chances else None


def _find_bounds(metric: Metric, columns: Columns, rows: Mask) -> tuple[Floats, Floats]:
    import numpy as np

    is_scored = columns.status[rows] == SCORED
    low, high = (np.where(is_scored, columns.value[rows], end[rows]) for end in (columns.low, columns.high))
    return np.nan_to_num(low, nan=metric.range[0]), np.nan_to_num(high, nan=metric.range[1])


def _take_rows(values: Floats | None, rows: Mask) -> Floats | None:
    return None if values is None else values[rows]


def _take_both(bounds: tuple[Floats, Floats], rows: Mask) -> tuple[Floats, Floats]:
    return bounds[0][rows], bounds[1][rows]


def _take_label_rows(labels: SideLabels, rows: Mask) -> SideLabels:
    return _take_rows(labels[0], rows), _take_rows(labels[1], rows)
