"""Where each query's rows begin in a long table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def starts(query: pl.Series) -> Any:
    """Numbers of the rows whose query differs from the row before, the first row among them.

    Neighbours are compared in place, chunk by chunk: shifting the whole column would copy it.

    >>> import polars as pl
    >>> starts(pl.Series(["q1", "q1", "q2", "q1"])).tolist()
    [0, 2, 3]
    """
    import numpy as np

    found, row, last = [np.empty(0, np.int64)], 0, None
    for chunk in query.get_chunks():
        n = len(chunk)
        if not n:
            continue
        if row == 0 or chunk[0] != last:
            found.append(np.array([row]))
        found.append((chunk.slice(1) != chunk.slice(0, n - 1)).arg_true().to_numpy() + row + 1)
        row, last = row + n, chunk[n - 1]
    return np.concatenate(found)
