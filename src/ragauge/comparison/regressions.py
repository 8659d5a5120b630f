"""Where a metric got worse: the examples that fell most, and the segment in which it fell more than elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragauge.diagnosis.findings.cause_texts import ALPHA, ANSWERABLE_COLUMN
from ragauge.scores.arrays import number_values
from ragauge.scores.estimation import ScoreSample, compute_difference_interval
from ragauge.scores.results.comparison import ExampleDelta, SegmentDrop, SegmentLoss
from ragauge.scores.results.scorecard import MIN_SEGMENT_EXAMPLES
from ragauge.scores.segments import NONE, OTHER

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    Codes = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float64]
    Values = Sequence[str | None]

MAX_MOVED = 20
MIN_LOSS_SHARE = 0.8  # of a loss, from which segments are said to carry it; of more than that of the examples none are
MAX_JOINT_VALUES = 3  # values of a segment that are said to carry a loss together


class Regressions:
    """Looks at one metric after another: the examples that moved for the worse, and in which segment.

    Args:
        query_ids: the examples of this run, by number.
        segments: a tidy segment frame; None = no segment is looked at.
    """

    def __init__(self, query_ids: Sequence[str], segments: pl.DataFrame | None = None) -> None:
        self._ids = query_ids
        coding = {} if segments is None else encode_segments(query_ids, segments)
        self._columns = {name: column for name, column in coding.items() if name != ANSWERABLE_COLUMN}

    def find_moved(self, query: Codes, base: Floats, new: Floats, direction: str) -> tuple[ExampleDelta, ...]:
        """The examples that got worse, the most first, up to twenty; of equal ones the first in the run.

        Args:
            query: shape (n,), number of each example.
            base: shape (n,), its score in the baseline.
            new: shape (n,), in this run.
            direction: higher or lower is better.
        """
        import numpy as np

        losses = base - new if direction == "higher" else new - base
        order = np.argsort(-losses, kind="stable")[:MAX_MOVED]
        return tuple(ExampleDelta(self._ids[query[n]], float(base[n]), float(new[n])) for n in order if losses[n] > 0)

    def where(
        self,
        query: Codes,
        differences: Floats,
        direction: str,
        width: float,
        weights: Floats | None = None,
        clusters: Codes | None = None,
    ) -> SegmentDrop | None:
        """The segment whose examples got worse more than the others; None where none clearly did.

        Each value of each column is compared with the rest; clear is an interval of the difference between them that
        lies wholly on the worse side of 0, at 95 % for all values together (Bonferroni).

        Args:
            query: shape (n,), number of each example.
            differences: shape (n,), this run's score - the baseline's.
            direction: higher or lower is better.
            width: greatest possible difference; infinite where the metric has no bounds.
            weights: shape (n,); None = all alike.
            clusters: shape (n,); None = all independent.
        """
        import numpy as np

        cells = [
            (name, str(value), inside)
            for name, (values, codes) in self._columns.items()
            for number, value in enumerate(values)
            if value not in (None, NONE, OTHER)
            and MIN_SEGMENT_EXAMPLES <= (inside := codes[query] == number).sum() <= query.size - MIN_SEGMENT_EXAMPLES
        ]
        best: tuple[float, SegmentDrop] | None = None
        for column, value, inside in cells:
            row_sets = [np.flatnonzero(mask) for mask in (inside, ~inside)]
            inside_sample, outside_sample = (
                ScoreSample(
                    differences[rows], "mean", (-width, width), _take_rows(weights, rows), _take_rows(clusters, rows)
                )
                for rows in row_sets
            )
            interval = compute_difference_interval(inside_sample, outside_sample, 1 - ALPHA / len(cells), paired=False)
            min_drop = 0.0 if interval is None else -interval.high if direction == "higher" else interval.low
            if min_drop > 0 and (best is None or min_drop > best[0]):
                inner, outer = (float(np.average(differences[p], weights=_take_rows(weights, p))) for p in row_sets)
                best = min_drop, SegmentDrop(f"{column}={value}", inner, outer, int(row_sets[0].size))
        if best is None:
            return None
        column = best[1].segment.partition("=")[0]
        column_cells = [(value, inside) for name, value, inside in cells if name == column]
        return replace(best[1], among=_find_joint_loss(column, column_cells, differences, weights))


def _find_joint_loss(
    column: str, cells: Sequence[tuple[str, npt.NDArray[np.bool_]]], differences: Floats, weights: Floats | None
) -> SegmentLoss | None:
    """The two or three values that carry most of a loss together, the largest first; None where one does, or none do.

    Args:
        column: of the segments.
        cells: its values, and which examples have each.
        differences: shape (n,), this run's score - the baseline's.
        weights: shape (n,); None = all alike.
    """
    import numpy as np

    weighted_losses = differences if weights is None else differences * weights
    total_loss = float(weighted_losses.sum())
    if not total_loss:
        return None
    order = sorted(cells, key=lambda cell: -float(weighted_losses[cell[1]].sum()) / total_loss)
    for count in range(1, min(MAX_JOINT_VALUES, len(order)) + 1):
        inside = np.any([rows for _, rows in order[:count]], axis=0)
        if weighted_losses[inside].sum() / total_loss < MIN_LOSS_SHARE:
            continue
        if count == 1 or not MIN_SEGMENT_EXAMPLES <= inside.sum() <= MIN_LOSS_SHARE * inside.size:
            return None
        inside_mean, outside_mean = (
            float(np.average(differences[mask], weights=_take_rows(weights, np.flatnonzero(mask))))
            for mask in (inside, ~inside)
        )
        value_names = " or ".join(value for value, _ in order[:count])
        return SegmentLoss(f"{column}={value_names}", inside_mean, outside_mean, int(inside.sum()))
    return None


def encode_segments(query_ids: Sequence[str], segments: pl.DataFrame) -> dict[str, tuple[Values, Codes]]:
    """Per column of a segment frame its values, and the number of each example's value."""
    import polars as pl

    queries = pl.DataFrame({"query_id": query_ids}, schema={"query_id": pl.String})
    joined = queries.join(segments, on="query_id", how="left", maintain_order="left")
    by_column: dict[str, tuple[Values, Codes]] = {}
    for name in joined.columns[1:]:
        values, codes = number_values(joined[name])
        by_column[name] = values, codes.to_numpy()
    return by_column


def _take_rows(values: Floats | Codes | None, rows: Codes) -> Floats | Codes | None:
    return None if values is None else values[rows]
