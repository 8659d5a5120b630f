"""In which segment a cause is concentrated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragauge.scores.segments import NONE, OTHER, Segments
from ragauge.stats.families import holm
from ragauge.stats.textbook_tests import fisher_greater

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]

ALPHA = 0.05
MIN_HITS = 3  # examples with the cause in a segment before it is worth naming
# the column that labels decide as they decide causes, so that a cause always seems concentrated in it
ANSWERABLE_COLUMN = "answerable"
# causes that only questions labelled unanswerable can have; the others are compared among the rest
UNANSWERABLE_CAUSES = ("missed_refusal",)


class Concentration(NamedTuple):
    """Where a cause is more frequent than elsewhere."""

    column: str  #: of the segment.
    value: str  #: of the segment.
    hits: int  #: examples with the cause in it.
    n: int  #: examples in it.
    other_hits: int  #: examples with the cause elsewhere.
    other_n: int  #: examples elsewhere.
    p: float  #: Fisher's exact test, one-sided, corrected for all segments looked at (Holm).


def find_concentrations(cause: str, hits: Mask, segments: Segments) -> list[Concentration]:
    """The segment whose share of examples with a cause lies most clearly above the rest; [] where none does.

    After it come the other values of its column that lie above the rest and of which cannot be told that they have less
    of the cause: where there are any, no one segment has it, and to name one would send the reader past the others.

    Args:
        cause: its name.
        hits: shape (examples,), which examples of `segments` have the cause.
        segments: tidy, of all examples; with the column answerable, only examples that can have the cause are compared.
    """
    import numpy as np

    compared_mask = np.ones(hits.size, dtype=bool)
    if ANSWERABLE_COLUMN in segments.columns:
        labels = segments.columns[ANSWERABLE_COLUMN]
        unanswerable = np.array([value == "no" for value in labels.values], dtype=bool)[labels.codes]
        compared_mask = unanswerable if cause in UNANSWERABLE_CAUSES else ~unanswerable
    n, n_hits = int(compared_mask.sum()), int((hits & compared_mask).sum())
    compared = []
    for column, values in segments.columns.items():
        if column == ANSWERABLE_COLUMN:
            continue
        sizes, hits_inside = (values.take(rows).counts() for rows in (compared_mask, hits & compared_mask))
        cells = zip(values.values, sizes, hits_inside, strict=True)
        for value, size, n_inside in sorted(cells, key=lambda cell: str(cell[0])):
            if value in (NONE, OTHER, None) or not size:
                continue  # nothing that a person could act on
            is_higher = n_inside >= MIN_HITS and n_inside * (n - size) > (n_hits - n_inside) * size
            p = fisher_greater(n_inside, size, n_hits - n_inside, n - size) if is_higher else 1.0
            compared.append(Concentration(column, str(value), n_inside, size, n_hits - n_inside, n - size, p))
    adjusted = holm([cell.p for cell in compared])
    significant = [cell._replace(p=p) for cell, p in zip(compared, adjusted, strict=True) if p < ALPHA]
    first = min(significant, key=lambda cell: (cell.p, -cell.hits / cell.n), default=None)
    return [] if first is None else [first, *_list_similar(first, compared)]


def _list_similar(first: Concentration, concentrations: Sequence[Concentration]) -> list[Concentration]:
    """The other values of its column that lie above the rest, and not clearly below it."""
    rivals = (
        concentration
        for concentration in concentrations
        if concentration.column == first.column and concentration.value != first.value and concentration.p < ALPHA
    )
    return [rival for rival in rivals if fisher_greater(first.hits, first.n, rival.hits, rival.n) >= ALPHA]
