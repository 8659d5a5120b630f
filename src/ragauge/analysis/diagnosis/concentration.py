"""In which segment a cause is concentrated."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from ragauge.analysis.scores.segments import NONE, OTHER
from ragauge.stats.families import holm
from ragauge.stats.proportions import fisher_greater

if TYPE_CHECKING:
    import polars as pl

ALPHA = 0.05
FEWEST = 3     # examples with the cause in a segment before it is worth naming
# the column that labels decide as they decide causes, so that a cause always seems concentrated in it
ANSWERABLE = "answerable"
# causes that only questions labelled unanswerable can have; the others are compared among the rest
OF_UNANSWERABLE = ("missed_refusal",)


class Concentration(NamedTuple):
    """Where a cause is more frequent than elsewhere.

    Attributes:
        column: of the segment.
        value: of the segment.
        hits: examples with the cause in it.
        n: examples in it.
        other_hits: examples with the cause elsewhere.
        other_n: examples elsewhere.
        p: Fisher's exact test, one-sided, corrected for all segments looked at (Holm).
    """

    column: str
    value: str
    hits: int
    n: int
    other_hits: int
    other_n: int
    p: float


def concentrated(cause: str, ids: Collection[str], segments: pl.DataFrame) -> Concentration | None:
    """The segment whose share of examples with a cause lies most clearly above the rest; None where none does.

    Args:
        cause: its name.
        ids: examples with the cause.
        segments: a tidy segment frame of all examples; with the column answerable, only examples that can have the
            cause are compared.
    """
    import polars as pl

    marked = segments.with_columns(pl.col("query_id").is_in(list(ids)).alias("\0hit"))
    if ANSWERABLE in segments.columns:
        unanswerable = pl.col(ANSWERABLE).eq_missing("no")
        marked = marked.filter(unanswerable if cause in OF_UNANSWERABLE else ~unanswerable)
    n, hits = marked.height, int(marked["\0hit"].sum())
    found = []
    for column in segments.columns:
        if column in ("query_id", ANSWERABLE):
            continue
        counted = marked.group_by(column).agg(pl.len().alias("n"), pl.col("\0hit").sum().alias("hits")).sort(column)
        for value, size, inside in counted.iter_rows():
            if value in (NONE, OTHER):
                continue     # nothing that a person could act on
            more = inside >= FEWEST and inside * (n - size) > (hits - inside) * size
            p = fisher_greater(inside, size, hits - inside, n - size) if more else 1.0
            found.append(Concentration(column, value, inside, size, hits - inside, n - size, p))
    adjusted = holm([cell.p for cell in found])
    clear = [cell._replace(p=p) for cell, p in zip(found, adjusted, strict=True) if p < ALPHA]
    return min(clear, key=lambda cell: (cell.p, -cell.hits / cell.n), default=None)
