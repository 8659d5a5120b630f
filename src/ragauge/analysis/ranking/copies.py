"""Results that repeat a document of their query."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

SLICE = 2**15      # rows looked through at a time: their keys stay in the processor's cache
ODD = 0x9E3779B1   # spreads the numbers of queries over 32 bits


def copies(run: pl.DataFrame, pieces: Any = None) -> pl.DataFrame:
    """The rows that hold a document again, by query and rank; the first copy is none of them.

    Hashes tell that there are no copies, so that only rows with equal ones are compared.

    Args:
        run: columns query_id, doc_id and rank.
        pieces: numbers of the rows where a query begins, if the rows of each query stand together.
    """
    import polars as pl

    suspects = list(_anywhere(run) if pieces is None else _in_pieces(run["doc_id"], pieces))
    found: pl.DataFrame = pl.concat([run[rows] for rows in suspects] or [run.clear()]).sort("query_id", "rank")
    return found.filter(~pl.struct("query_id", "doc_id").is_first_distinct())


def _in_pieces(doc: pl.Series, pieces: Any) -> Iterator[Any]:
    """Numbers of the rows whose keys are equal, whole queries at a time."""
    import numpy as np

    number = np.arange(len(pieces), dtype=np.uint32) * np.uint32(ODD)
    lengths = np.diff(pieces, append=len(doc))
    first = np.unique(np.searchsorted(pieces, np.arange(0, len(doc), SLICE)))      # query that a slice begins with
    for head, end in pairwise([*first[first < len(pieces)].tolist(), len(pieces)]):
        start, n = int(pieces[head]), int(lengths[head:end].sum())
        hashes = doc.slice(start, n).hash().to_numpy().astype(np.uint32)
        rows = _equal(hashes ^ np.repeat(number[head:end], lengths[head:end]))
        if rows is not None:
            yield rows + start


def _anywhere(run: pl.DataFrame) -> Iterator[Any]:
    """Numbers of the rows whose keys are equal, over the whole run."""
    rows = _equal((run["query_id"].hash(1) ^ run["doc_id"].hash(2)).to_numpy())
    if rows is not None:
        yield rows


def _equal(keys: Any) -> Any:
    """Places of the keys that come more than once; None where all differ."""
    import numpy as np

    ordered = np.sort(keys)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.flatnonzero(np.isin(keys, twice)) if len(twice) else None
