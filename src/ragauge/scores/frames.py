"""The tables that analysis reads, and how to make them from objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ragauge.core.score import Score, build_score_table
from ragauge.scores.arrays import number_values
from ragauge.scores.results.scorecard import Cause

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from ragauge.scores.arrays import Codes

    Integers = npt.NDArray[np.integer]

BATCH_SIZE_CAUSES = 500  # causes held as Python objects


def build_score_frame(
    scores: Iterable[Score],
    weights: Mapping[tuple[str, int], float] | None = None,
    clusters: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Scores as a table, one row a response and metric, as `summarize` reads them.

    Columns: those of `data.score_table`, and weight and cluster.

    Args:
        scores: of one run, one judge and one asking of it.
        weights: (query_id, repeat) -> how many real requests a response stands for; absent = 1.
        clusters: query_id -> what its example depends on; absent = nothing.
    """
    import polars as pl

    rows, weights, clusters = list(scores), weights or {}, clusters or {}
    weight = [weights.get((score.query_id, score.repeat), 1.0) for score in rows]
    cluster = [clusters.get(score.query_id) for score in rows]
    return build_score_table(rows).with_columns(
        pl.Series("weight", weight, dtype=pl.Float64), pl.Series("cluster", cluster, dtype=pl.String)
    )


def build_cause_frame(causes: Iterable[tuple[str, int, Cause | None]]) -> pl.DataFrame:
    """Causes as a table, one row a failed response; what did not fail (None) is left out.

    Columns: query_id, repeat, cause, component, second, decided_by, lacking (a list), basis, p, shown_by.
    """
    import polars as pl

    text = pl.String
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "query_id": text,
        "repeat": pl.Int64,
        "cause": text,
        "component": text,
        "second": text,
        "decided_by": text,
        "lacking": pl.List(text),
        "basis": text,
        "p": pl.Float64,
        "shown_by": text,
    }
    rows = (
        (query_id, repeat, c.name, c.component, c.second, c.decided_by, list(c.lacking), c.basis, c.p, c.shown_by)
        for query_id, repeat, c in causes
        if c is not None
    )
    frames = [pl.DataFrame([], schema=schema)]
    while batch := list(islice(rows, BATCH_SIZE_CAUSES)):  # as objects the rows take ten times the room
        frames.append(pl.DataFrame(batch, schema=schema, orient="row"))
    return pl.concat(frames)


def select_failures(causes: pl.DataFrame) -> pl.DataFrame:
    """One row a failed example: the most frequent cause among its failed repeats, the first repeat's among equals."""
    ids, query = number_values(causes["query_id"])
    rows = find_first_failures(
        ids, query.to_numpy(), causes["repeat"].to_numpy(), number_values(causes["cause"])[1].to_numpy()
    )
    return causes if rows is None else causes[rows]


def find_first_failures(ids: Sequence[str], query: Integers, repeat: Integers, cause: Integers) -> Codes | None:
    """The failed response that stands for each failed example, as `select_failures` says; None = every one of them.

    Args:
        ids: of the examples, by number.
        query: shape (n,), number of the example.
        repeat: shape (n,).
        cause: shape (n,), number of the cause.
    """
    import numpy as np

    if not repeat.any():
        return None
    _, pair, times = np.unique(
        query.astype(np.int64) * (int(cause.max()) + 1) + cause, return_inverse=True, return_counts=True
    )
    first = np.full(times.size, repeat.max())
    np.minimum.at(first, pair, repeat)
    failed_queries = np.unique(query).tolist()
    rank = np.zeros(len(ids), dtype=np.int64)
    rank[sorted(failed_queries, key=ids.__getitem__)] = np.arange(len(failed_queries))
    order = np.lexsort((repeat, first[pair], -times[pair], rank[query]))
    sorted_queries = query[order]
    selected: Codes = order[np.append(True, sorted_queries[1:] != sorted_queries[:-1])]
    return selected
