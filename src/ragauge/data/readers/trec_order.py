"""The order of a run: trec_eval's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ragauge.data import blocks

if TYPE_CHECKING:
    import polars as pl

ScoreBits = Literal[64, 32]


def ranks(query: pl.Series, doc: pl.Series, score: pl.Series, score_bits: ScoreBits = 64) -> pl.Series:
    """Each row's rank within its query: score descending, then document id descending in byte order.

    A file that already stands in this order, each query in one piece, is not sorted again.

    Args:
        query: (n,) query ids.
        doc: (n,) document ids.
        score: (n,) finite numbers.
        score_bits: precision that scores are compared in; trec_eval 10 uses 64, trec_eval 9 and pytrec_eval 32.

    Returns:
        (n,) ranks from 1, in the rows' own order.
    """
    import numpy as np
    import polars as pl

    n = len(query)
    values = score.cast(pl.Float32 if score_bits == 32 else pl.Float64).to_numpy()
    starts = blocks.starts(query)
    begins = np.zeros(n, bool)                                        # a query's first row
    begins[starts] = True
    heads = query.gather(starts) if len(starts) < n else query
    names = heads.unique()
    order: Any = None                                                 # None: the rows stand in order already
    if len(names) < len(heads) or not (begins[1:] | (values[1:] <= values[:-1])).all():
        group = _groups(heads, names)[np.cumsum(begins) - 1]
        order = np.argsort(-values)
        order = order[np.argsort(group[order], kind="stable")]
        group, values = group[order], values[order]
        begins = np.diff(group, prepend=group[:1] + 1) != 0
        starts = np.flatnonzero(begins)
    placed = np.arange(1, n + 1, dtype=np.uint32)
    placed -= np.repeat(starts.astype(np.uint32), np.diff(starts, append=n))
    found = placed
    if order is not None:
        found = np.empty(n, np.uint32)
        found[order] = placed
    tied = np.append(~begins[1:] & (values[1:] == values[:-1]), False)     # a row equals the one that follows
    if tied.any():
        tied_before = np.append(False, tied[:-1])
        positions = np.flatnonzero(tied | tied_before)
        rows = positions if order is None else order[positions]
        places = placed[positions]
        found[_untied(rows, np.cumsum(~tied_before[positions]), doc)] = places
    return pl.Series("rank", found)


def _groups(heads: pl.Series, names: pl.Series) -> Any:
    """Each query id's place among the names; few enough take 16 bits, which sort by radix."""
    import numpy as np
    import polars as pl

    number = heads.replace_strict(names, np.arange(len(names)), return_dtype=pl.Int32).to_numpy()
    return number.astype(np.uint16) if len(names) <= 2**16 else number


def _untied(rows: Any, stretch: Any, doc: pl.Series) -> Any:
    """The rows with each stretch of equal scores put in descending order of document id."""
    import polars as pl

    table = pl.DataFrame({"stretch": stretch, "doc": doc.gather(rows), "row": rows})
    return table.sort("stretch", "doc", descending=[False, True], maintain_order=True)["row"].to_numpy()
