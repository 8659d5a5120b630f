"""Where the judged documents of one query stand in what was returned.

Where each query's rows begin in a long table.

Gold spans, and the chunks that are held against them.

Whether pieces of a document cover a span of it.

The nearest vectors of a query, and those that an index found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.core.example import Span

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class FoundNeighbors:
    """What an index found for one query beside what is nearest, both with exact distances."""

    ids: tuple[int, ...]  #: found, in the order of the index; one may come twice.
    distances: tuple[float, ...]  #: of each id found, exact; NaN for an id that must not be found.
    nearest: tuple[float, ...]  #: exact distances of the true neighbours, ascending; none where no vector may be found.
    why: str = ""  #: why there are no true neighbours, such as a query of zeros.


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranks of judged items for one query: all that a retrieval metric needs."""

    n_returned: int  #: length of the returned list, duplicates included.
    #: (grade, rank) of every judged item, ranks from 1, None = not returned. A document's rank is that of its first
    #: copy; a group's that of its best member.
    items: tuple[tuple[float, int | None], ...]
    #: ranks, ascending, at which a judged document (any grade) stands for the first time.
    judged_ranks: tuple[int, ...]
    #: (grade, rank) of further chunks of a document that an item was found by: its other passages.
    again: tuple[tuple[float, int], ...] = ()


def find_query_starts(query: pl.Series) -> Any:
    """Numbers of the rows whose query differs from the row before, the first row among them.

    Neighbours are compared in place, chunk by chunk: shifting the whole column would copy it.

    >>> import polars as pl
    >>> find_query_starts(pl.Series(["q1", "q1", "q2", "q1"])).tolist()
    [0, 2, 3]
    """
    import numpy as np

    start_arrays, row, last = [np.empty(0, np.int64)], 0, None
    for chunk in query.get_chunks():
        n = len(chunk)
        if not n:
            continue
        if row == 0 or chunk[0] != last:
            start_arrays.append(np.array([row]))
        start_arrays.append((chunk.slice(1) != chunk.slice(0, n - 1)).arg_true().to_numpy() + row + 1)
        row, last = row + n, chunk[n - 1]
    return np.concatenate(start_arrays)


@dataclass(frozen=True, slots=True)
class GoldOverlap:
    """Spans of one example, all counted in the same unit: tokens of the whole documents, or characters."""

    gold: tuple[Span, ...]  #: where the evidence stands, merged: in order, none touching another.
    retrieved: tuple[Span, ...]  #: the chunks returned, in the order of their ranks.
    #: every chunk of the index that shares a unit with a gold span; None = the index is not known.
    touching: tuple[Span, ...] | None = None


MIN_GAP_CHARS = 3  # characters of a gold span: chunkers drop the white space between two chunks


def has_uncovered_gap(span: Span, pieces: Iterable[tuple[int, int]]) -> bool:
    """Whether a stretch of the span of some length lies in none of the pieces, which are sorted."""
    reached = span.start
    for start, end in pieces:
        if min(start, span.end) - reached >= MIN_GAP_CHARS:
            return True
        reached = max(reached, end)
    return span.end - reached >= MIN_GAP_CHARS
