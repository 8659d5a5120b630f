"""Where the judged documents of every query stand, found once for all retrieval metrics.

Only the rows that hold a judged document survive, so what is left is as small as the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragauge.core import ranking
from ragauge.core.ranking import Ranking

if TYPE_CHECKING:
    import polars as pl

    from ragauge.core.example import Example, Relevant
    from ragauge.core.response import Response


@dataclass(frozen=True, slots=True, eq=False)
class Rankings(Mapping[str, Ranking]):
    """Query id -> Ranking for every judged query, in the order of the labels; each is made when it is asked for."""

    query_ids: tuple[str, ...]  #: the judged queries.
    n_returned: tuple[int, ...]  #: per query, the length of its list, duplicates included; 0 = not among the results.
    unknown: tuple[str, ...]  #: queries of the results that have no labels, in the order of the results.
    #: numbers of the rows of the results where a query begins; None where its rows do not stand together.
    pieces: Any = field(repr=False)
    _grades: list[float] = field(repr=False)  # all items of query 0, then of query 1 ...
    _ranks: list[int | None] = field(repr=False)  # in the same order; None = not returned
    _items_from: list[int] = field(repr=False)  # (queries + 1,) where each query's items start
    _judged: list[int] = field(repr=False)  # ranks of returned judged documents, ascending within a query
    _judged_from: list[int] = field(repr=False)  # (queries + 1,)
    _index: dict[str, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.query_ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.query_ids)

    def __getitem__(self, query_id: str) -> Ranking:
        i = self._index[query_id]
        items = slice(self._items_from[i], self._items_from[i + 1])
        judged_slice = slice(self._judged_from[i], self._judged_from[i + 1])
        graded = zip(self._grades[items], self._ranks[items], strict=True)
        return Ranking(self.n_returned[i], tuple(graded), tuple(self._judged[judged_slice]))

    @property
    def n_judged_returned(self) -> int:
        """Judged documents among the results of their query, over all queries."""
        return len(self._judged)


def compute_rankings(qrels: pl.DataFrame, results: pl.DataFrame) -> Rankings:
    """The ranks of the judged documents of every query, in one pass over the results.

    A document's rank is that of its first copy; an item's (a document, or a group of which any one will do) is its
    best member's. A document in several items counts for the one with the highest grade, the first of equals, so
    that no rank earns twice; an item left without documents is dropped.

    Args:
        qrels: columns query_id, item (a number that the members of one group share), doc_id and grade.
        results: columns query_id, doc_id and rank (from 1 in final order, duplicates kept), rows in any order.
    """
    import numpy as np
    import polars as pl

    pair = ["query_id", "doc_id"]
    qrels, block_ids, starts = _normalize_labels(qrels)
    lengths, pieces = _count_rows(results)
    first = (
        results.lazy()
        .filter(pl.col("doc_id").is_in(qrels["doc_id"].implode()))  # cheap, and leaves few to join
        .join(qrels.lazy(), on=pair, how="semi")
        .group_by(pair)
        .agg(pl.col("rank").min().cast(pl.Int64))
    )
    ranked = qrels.lazy().join(first, on=pair, how="left", maintain_order="left").select("rank").collect().to_series()
    ids = block_ids.to_list()
    index = {query_id: i for i, query_id in enumerate(ids)}
    label_query = np.repeat(np.arange(len(ids)), np.diff(starts, append=qrels.height))
    label_rank = ranked.fill_null(0).to_numpy()
    grades, ranks, item_query = _group_items(qrels, label_query, label_rank)
    is_returned = label_rank > 0
    n_ranks = int(label_rank.max(initial=0)) + 1  # a rank holds one document, so equal pairs are one document
    keys = label_query[is_returned] * n_ranks + label_rank[is_returned]
    judged_query, judged_rank = np.divmod(np.unique(keys), n_ranks)

    def build_offsets(query: Any) -> list[int]:
        return [0, *np.cumsum(np.bincount(query, minlength=len(ids))).tolist()]

    return Rankings(
        query_ids=tuple(ids),
        n_returned=tuple(lengths.get(query_id, 0) for query_id in ids),
        unknown=tuple(query_id for query_id in lengths if query_id not in index),
        pieces=pieces,
        _grades=grades.tolist(),
        _ranks=[rank or None for rank in ranks.tolist()],
        _items_from=build_offsets(item_query),
        _judged=judged_rank.tolist(),
        _judged_from=build_offsets(judged_query),
        _index=index,
    )


def _normalize_labels(qrels: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series, Any]:
    """The labels with those of a query together and each document in one item; and where each query begins."""
    import polars as pl

    block_ids, starts = _find_blocks(qrels)
    if block_ids.n_unique() < len(block_ids):
        qrels = qrels.with_row_index("row").sort(pl.col("row").min().over("query_id"), maintain_order=True)
        block_ids, starts = _find_blocks(qrels)
    pair = ["query_id", "doc_id"]
    if qrels.select(pair).is_duplicated().any():
        best = qrels.sort("grade", "item", descending=[True, False]).unique(pair, keep="first", maintain_order=True)
        qrels = qrels.join(best, on=[*pair, "item"], how="semi", maintain_order="left")
        block_ids, starts = _find_blocks(qrels)
    return qrels, block_ids, starts


def _group_items(qrels: pl.DataFrame, query: Any, rank: Any) -> tuple[Any, Any, Any]:
    """Grade, best rank (0 = not returned) and query number of every item, from those of every label."""
    import numpy as np

    grade = qrels["grade"].cast(float).to_numpy()
    item = qrels["item"].to_numpy()
    order = np.lexsort((item, query))
    query, item, rank, grade = query[order], item[order], rank[order], grade[order]
    starts = np.flatnonzero((np.diff(query, prepend=-1) != 0) | (np.diff(item, prepend=item[:1]) != 0))
    if len(starts) == 0:
        return grade, rank, query
    max_rank = np.iinfo(np.int64).max
    best = np.minimum.reduceat(np.where(rank > 0, rank, max_rank), starts)
    return grade[starts], np.where(best == max_rank, 0, best), query[starts]


def _find_blocks(frame: pl.DataFrame) -> tuple[pl.Series, Any]:
    """The query ids where a block of rows of one query begins, and the numbers of those rows."""
    starts = ranking.find_query_starts(frame["query_id"])
    return frame["query_id"].gather(starts), starts


def _count_rows(results: pl.DataFrame) -> tuple[dict[str, int], Any]:
    """Query id -> number of its rows; and where each query begins, if its rows stand together: then none is hashed."""
    import numpy as np
    import polars as pl

    block_ids, starts = _find_blocks(results)
    if len(starts) == (results["rank"] == 1).sum():  # as many blocks as queries, since each has one first rank
        n = np.diff(starts, append=results.height)
        return dict(zip(block_ids.to_list(), n.tolist(), strict=True)), starts
    counted = results.group_by("query_id", maintain_order=True).agg(pl.len())
    return dict(counted.iter_rows()), None


def rank_responses(pairs: Sequence[tuple[Example, Response]]) -> list[Ranking | None]:
    """One Ranking a response, in order; None where there are no labels or the passages were not recorded.

    Where a set labels chunks and no documents, the ranking is that of its chunks.
    """
    import polars as pl

    labels: dict[str, list[Any]] = {"query_id": [], "item": [], "doc_id": [], "grade": []}
    passages: dict[str, list[Any]] = {"query_id": [], "doc_id": [], "rank": []}
    for n, (example, response) in enumerate(pairs):
        judged_items, ids = list_labels(example, response)
        if not judged_items or response.passages is None:
            continue
        key = str(n)  # not the query_id: a batch may hold several responses to one question
        for item, label in enumerate(judged_items):
            members = label.doc_ids
            labels["query_id"] += [key] * len(members)
            labels["item"] += [item] * len(members)
            labels["doc_id"] += members
            labels["grade"] += [float(label.grade)] * len(members)
        passages["query_id"] += [key] * len(response.passages)
        passages["doc_id"] += ids
        passages["rank"] += range(1, len(response.passages) + 1)
    types = {"query_id": pl.String, "item": pl.Int64, "doc_id": pl.String, "grade": pl.Float64, "rank": pl.Int64}
    ranked = compute_rankings(
        *(pl.DataFrame(columns, {name: types[name] for name in columns}) for columns in (labels, passages))
    )
    return [_add_chunks(ranked.get(str(n)), *pair) for n, pair in enumerate(pairs)]


def list_labels(example: Example, response: Response) -> tuple[tuple[Relevant, ...], list[str]]:
    """The labels that rankings are measured by, and what they call each passage: its document, else its chunk."""
    handed = response.passages or ()
    if example.relevant or not example.relevant_chunks:
        return example.relevant or (), [passage.doc_id for passage in handed]
    return example.relevant_chunks, [passage.passage_id for passage in handed]


def _add_chunks(ranking: Ranking | None, example: Example, response: Response) -> Ranking | None:
    """The ranking with the further chunks of its documents; a passage that stands twice is one chunk."""
    passages = response.passages or ()
    if ranking is None or not example.relevant or len({passage.doc_id for passage in passages}) == len(passages):
        return ranking
    grades = {passages[rank - 1].doc_id: grade for grade, rank in ranking.items if rank is not None}
    first = {rank for _, rank in ranking.items}
    chunk_ids = {passages[rank - 1].passage_id for rank in first if rank is not None}
    again = []
    for rank, passage in enumerate(passages, 1):
        if passage.doc_id in grades and passage.passage_id not in chunk_ids:
            chunk_ids.add(passage.passage_id)
            again.append((grades[passage.doc_id], rank))
    return replace(ranking, again=tuple(again)) if again else ranking


def rank_chunks(example: Example, response: Response) -> Ranking:
    """The ranks of the judged chunks of one response, by passage_id."""
    ids = [passage.passage_id for passage in response.passages or ()]
    ranks: dict[str, int] = {}
    for rank, doc_id in enumerate(ids, 1):
        ranks.setdefault(doc_id, rank)
    items = tuple(
        (float(label.grade), min((ranks[chunk] for chunk in label.doc_ids if chunk in ranks), default=None))
        for label in example.relevant_chunks or ()
    )
    judged_chunks = {chunk for label in example.relevant_chunks or () for chunk in label.doc_ids}
    return Ranking(len(ids), items, tuple(sorted(ranks[chunk] for chunk in judged_chunks & ranks.keys())))
