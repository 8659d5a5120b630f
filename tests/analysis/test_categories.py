"""Columns of few different values: what comes out is what went in."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest

from ragauge.analysis.results.scorecard import Cause
from ragauge.analysis.scores.arrays import CategoryColumn
from ragauge.analysis.scores.failed import FailedResponses
from ragauge.analysis.scores.frames import cause_frame, failures
from ragauge.analysis.scores.quality import worst_first
from ragauge.analysis.scores.segments import MOST_VALUES, Segments, segments_of
from ragauge.data.example import Example


def test_values_are_numbered_as_they_appear() -> None:
    """Values come back in order, numbered from 0 as they appear, those of a frame too, where null is None."""
    found = CategoryColumn.of(pl.Series("x", ["b", None, "a", "b"]))
    assert found.values == ("b", None, "a")
    assert found.codes.tolist() == [0, 1, 2, 0]
    assert list(found) == ["b", None, "a", "b"]


def test_values_that_get_one_name_become_one() -> None:
    """Renamed values are counted together, and a value of no entry goes."""
    found = CategoryColumn(("a", "b", "c", None), np.array([0, 1, 1, 3], dtype=np.int64)).renamed(["x", "y", "z", "x"])
    assert found.values == ("x", "y")
    assert list(found) == ["x", "y", "y", "x"]
    assert found.counts() == [2, 2]


def test_segments_survive_a_frame() -> None:
    """Segments are the same after a frame and back, with and without values."""
    frame = pl.DataFrame({"query_id": ["a", "b", "c"], "kind": ["x", None, "y"], "none": [None] * 3})
    frame = frame.with_columns(pl.col("none").cast(pl.String))
    assert Segments.of(frame).frame().equals(frame)


def test_segments_of_other_examples() -> None:
    """By the numbers of other examples, one that is not known has no value; marks are of those known here."""
    segments = Segments.of(pl.DataFrame({"query_id": ["a", "b", "c"], "kind": ["x", "y", "x"]}))
    assert list(segments.by_number(("c", "new", "b"))["kind"]) == ["x", None, "y"]
    assert segments.marked(("c", "new", "b"), np.array([0, 1])).tolist() == [False, False, True]
    assert segments.only(("c", "a")).query_ids == ("a", "c")


def test_a_column_of_identifiers_is_not_kept() -> None:
    """A declared column with a value for every example is left out; one of fifty values is kept."""
    most = MOST_VALUES
    examples = (
        Example(f"q{n}", "Where?", segments={"id": f"i{n}", "part": f"p{n % most}"} if n else {}) for n in range(500)
    )
    found = segments_of(examples).columns
    assert "id" not in found
    assert [found["part"][n] for n in (0, 1, 51)] == [None, "p1", "p1"]


def by_polars(causes: pl.DataFrame) -> list[tuple[str, int, str]]:
    """The most frequent cause among an example's failed repeats, the first repeat's among equals, as a query."""
    often = pl.len().over("query_id", "cause").alias("often")
    first = pl.col("repeat").min().over("query_id", "cause").alias("first")
    order = ["query_id", "often", "first", "repeat"]
    sorted_ = causes.with_columns(often, first).sort(order, descending=[False, True, False, False])
    return sorted_.unique("query_id", keep="first", maintain_order=True).select("query_id", "repeat", "cause").rows()


@pytest.mark.parametrize("seed", range(20))
def test_one_failure_an_example(seed: int) -> None:
    """Of the failed repeats of an example the same one is chosen as by a query over the frame."""
    draw = random.Random(seed)
    rows = [
        (f"q{n}", repeat, Cause(draw.choice("abc"), lacking=tuple(draw.sample("xyz", draw.randrange(3)))))
        for n in draw.sample(range(200), 60) for repeat in range(5) if draw.random() < 0.6
    ]     # fmt: skip
    frame = cause_frame(rows)
    assert failures(frame).select("query_id", "repeat", "cause").rows() == by_polars(frame)
    failed = FailedResponses.of(frame).by_example()
    ids, repeats = failed.index.query_ids, failed.index.repeat[failed.place]
    shown = [(ids[q], int(r), cause) for q, r, cause in zip(failed.query, repeats, failed.cause, strict=True)]
    assert shown == by_polars(frame)
    given = {(query_id, repeat): cause.lacking for query_id, repeat, cause in rows}
    assert list(failed.lacking) == [given[query_id, repeat] for query_id, repeat, _ in shown]


@pytest.mark.parametrize("seed", range(10))
def test_the_worst_first(seed: int) -> None:
    """The lowest qualities in order, equal ones by query id and repeat, as a sort of all would put them."""
    draw = random.Random(seed)
    rows = [(f"q{n}", repeat, Cause("a")) for n in draw.sample(range(99), 40) for repeat in range(3)]
    index = FailedResponses.of(cause_frame(rows)).index
    quality = np.array([draw.choice([0.0, 0.5, 1.0]) for _ in rows])
    places = np.array(draw.sample(range(120), 70))
    every = sorted(places.tolist(), key=lambda at: (quality[at], rows[at][0], rows[at][1]))
    for most in (0, 1, 20, 70, 99):
        assert worst_first(index, places, quality, most) == every[:most]
