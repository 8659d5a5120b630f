"""A run's lists as passages, read only where a metric looks into them."""

from __future__ import annotations

import polars as pl

from ragauge.core.response import Passage
from ragauge.evaluation.retrieval.compute import ResultLists


def test_length_is_known_without_reading() -> None:
    """How many results a query has is told from a run that could not even be sorted: it lacks every column."""
    unread = ResultLists(pl.DataFrame())
    assert len(unread.of("q", 3)) == 3
    assert unread.of("q", 3)
    assert not unread.of("q", 0)


def test_lists_stand_in_final_order() -> None:
    """Passages come by rank with their scores, wherever the rows stand; a query without rows has none."""
    run = pl.DataFrame(
        {"query_id": ["q2", "q1", "q2"], "doc_id": ["b", "a", "c"], "score": [0.1, 0.5, 0.9], "rank": [2, 1, 1]}
    )
    found = ResultLists(run)
    c, b = Passage("c", "c", score=0.9), Passage("b", "b", score=0.1)
    assert list(found.of("q2", 2)) == [c, b]
    assert found.of("q2", 2)[1] == b
    assert found.of("q2", 2)[:1] == (c,)
    assert list(found.of("q9", 0)) == []
    assert [one.score for one in ResultLists(run.drop("score")).of("q2", 2)] == [None, None]
