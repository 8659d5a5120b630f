"""A run's lists as passages, for the few metrics that look at more than the ranks of judged documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, overload

from ragauge.data import ranking
from ragauge.data.response import Passage

if TYPE_CHECKING:
    import polars as pl


class ResultLists:
    """Every query's results; the run is put in order when the first list is looked into."""

    def __init__(self, run: pl.DataFrame) -> None:
        self._run = run

    def of(self, query_id: str, n: int) -> Sequence[Passage]:
        """The n results of a query, best first."""
        return _List(self, query_id, n)

    def passages(self, query_id: str) -> tuple[Passage, ...]:
        """A query's results without text, best first."""
        rows = self._table[self._places[query_id]].iter_rows() if query_id in self._places else ()
        return tuple(Passage(doc_id, doc_id, score=score) for _, doc_id, score in rows)

    @cached_property
    def _table(self) -> pl.DataFrame:
        import polars as pl

        score = pl.col("score") if "score" in self._run.columns else pl.lit(None, pl.Float64).alias("score")
        return self._run.sort("query_id", "rank").select("query_id", "doc_id", score)

    @cached_property
    def _places(self) -> dict[str, slice]:
        starts = ranking.starts(self._table["query_id"])
        names = self._table["query_id"].gather(starts).to_list()
        ends = pairwise([*starts.tolist(), self._table.height])
        return {name: slice(*place) for name, place in zip(names, ends, strict=True)}


class _List(Sequence[Passage]):
    """One query's results: how many is known, what they are is read when it is asked for."""

    def __init__(self, lists: ResultLists, query_id: str, n: int) -> None:
        self._lists, self._query_id, self._n = lists, query_id, n

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._passages)

    @overload
    def __getitem__(self, place: int) -> Passage: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Passage]: ...
    def __getitem__(self, place: int | slice) -> Passage | Sequence[Passage]:
        return self._passages[place]

    @cached_property
    def _passages(self) -> tuple[Passage, ...]:
        return self._lists.passages(self._query_id)
