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

        at = np.full(self._size + 1, -1, dtype=np.int64)
        at[base.query] = np.arange(base.query.size)
        matched = at[self._there[new.query]]  # the last entry, which -1 reads, is that of no example
        kept = np.flatnonzero(matched >= 0)
        return kept, matched[kept]


@dataclass(frozen=True, slots=True, eq=False)
class FailedPairs:
    """Examples in both runs whose score failed in one or both, the other side scored or failed. Shape (failed,).

    Attributes:
        query: number of the example in the new run.
        weight: None where all are alike.
        new: (least, greatest) value of the new score; equal where it is scored.
        base: likewise of the baseline's.
        cluster: number of what each depends on; None where every example stands alone.
    """

    query: Codes
    weight: Floats | None
    new: tuple[Floats, Floats]
    base: tuple[Floats, Floats]
    cluster: Codes | None = None

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

    Attributes:
        metric: whose scores.
        query: number of the example in the new run.
        new: its score there.
        base: its score in the baseline.
        weight: how many real requests it stands for; None where all are alike.
        cluster: number of what it depends on; None where every example stands alone.
        failed: examples that would be pairs had nothing failed.
        undefined: numbers of examples that are no pairs since a score is undefined, and none failed.
        people: new − base by people's labels, as of `Columns`; NaN unless both were labelled. None = no labels.
        inclusion: the chance that both were drawn for them, where it differs.
        labels: of the new run and of the baseline, people's scores and the chance of being drawn, as of `Columns`.
    """

    metric: Metric
    query: Codes
    new: Floats
    base: Floats
    weight: Floats | None
    cluster: Codes | None
    failed: FailedPairs
    undefined: Codes
    people: Floats | None = None
    inclusion: Floats | None = None
    labels: tuple[SideLabels, SideLabels] = ((None, None), (None, None))

    def __len__(self) -> int:
        return int(self.query.size)

    def means(self) -> tuple[float, float]:
        """The (weighted) means of the new run and of the baseline; there must be a pair."""
        import numpy as np

        return float(np.average(self.new, weights=self.weight)), float(np.average(self.base, weights=self.weight))

    def sums(self) -> tuple[float, float]:
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

    def within(self, examples: Mask) -> Pairs:
        """Only some examples.

        Args:
            examples: shape (examples of the new run,), True for those to keep.
        """
        here, lost = examples[self.query], examples[self.failed.query]
        failed = FailedPairs(
            self.failed.query[lost],
            _taken(self.failed.weight, lost),
            _both(self.failed.new, lost),
            _both(self.failed.base, lost),
            None if self.failed.cluster is None else self.failed.cluster[lost],
        )
        return Pairs(
            self.metric,
            self.query[here],
            self.new[here],
            self.base[here],
            _taken(self.weight, here),
            None if self.cluster is None else self.cluster[here],
            failed,
            self.undefined[examples[self.undefined]],
            _taken(self.people, here),
            _taken(self.inclusion, here),
            (_both_taken(self.labels[0], here), _both_taken(self.labels[1], here)),
        )


def pair(metric: Metric, new: Columns, base: Columns, join: Join) -> Pairs:
    """The scores of two runs, matched.

    Args:
        metric: whose scores.
        new: of the new run, one entry an example (see `arrays.by_example`); weights are taken from it.
        base: of the baseline, likewise. Clusters are the new run's, else those that the baseline declares.
        join: of the new run's examples with the baseline's.
    """
    import numpy as np

    here, there = join.rows(new, base)
    new, base = new.take(here), base.take(there)
    cluster = base.cluster if new.cluster is None else new.cluster
    both = (new.status == SCORED) & (base.status == SCORED)
    lost = np.isin(new.status, (SCORED, FAILED)) & np.isin(base.status, (SCORED, FAILED)) & ~both
    applies = (new.status != NOT_APPLICABLE) & (base.status != NOT_APPLICABLE)
    failed = FailedPairs(
        new.query[lost],
        _taken(new.weight, lost),
        _bounds(metric, new, lost),
        _bounds(metric, base, lost),
        None if cluster is None else cluster[lost],
    )
    return Pairs(
        metric,
        new.query[both],
        new.value[both],
        base.value[both],
        _taken(new.weight, both),
        None if cluster is None else cluster[both],
        failed,
        new.query[applies & ~both & ~lost],
        *_labelled(new, base, both),
        (_both_taken((new.people, new.inclusion), both), _both_taken((base.people, base.inclusion), both)),
    )


def without_failed_calls(
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
    failed = [np.isin(side.query, calls.query[calls.value > 0]) for side, calls in zip(scores, unanswered, strict=True)]
    if join is None:
        return _failed_at(new, failed[0]), _failed_at(base, failed[1])
    here, there = join.rows(new, base)
    rise = new.value[here] - base.value[there]
    gain = -rise if metric.direction == "lower" else rise
    lost = np.zeros(new.query.size, dtype=bool)
    lost[here] = (failed[0][here] & (gain > 0)) | (failed[1][there] & (gain < 0))
    return _failed_at(new, lost), base


def _failed_at(side: Columns, rows: Mask) -> Columns:
    """Scores of which those at some rows count as failed, with unknown values."""
    import numpy as np

    return replace(side, status=np.where(rows, FAILED, side.status))


def _labelled(new: Columns, base: Columns, rows: Mask) -> tuple[Floats | None, Floats | None]:
    """People's differences and the chances of both labels; an example that labels give no score in a run has none."""
    import numpy as np

    if new.people is None or base.people is None:
        return None, None
    after, before = new.people[rows], base.people[rows]
    without = np.isinf(after) | np.isinf(before)
    people = np.where(without, np.inf, np.where(without, 0.0, after) - np.where(without, 0.0, before))
    chances = [one[rows] for one in (new.inclusion, base.inclusion) if one is not None]
    return people, np.prod(chances, axis=0) if chances else None


def _bounds(metric: Metric, side: Columns, rows: Mask) -> tuple[Floats, Floats]:
    import numpy as np

    known = side.status[rows] == SCORED
    low, high = (np.where(known, side.value[rows], end[rows]) for end in (side.low, side.high))
    return np.nan_to_num(low, nan=metric.range[0]), np.nan_to_num(high, nan=metric.range[1])


def _taken(of: Floats | None, rows: Mask) -> Floats | None:
    return None if of is None else of[rows]


def _both(ends: tuple[Floats, Floats], rows: Mask) -> tuple[Floats, Floats]:
    return ends[0][rows], ends[1][rows]


def _both_taken(labels: SideLabels, rows: Mask) -> SideLabels:
    return _taken(labels[0], rows), _taken(labels[1], rows)
