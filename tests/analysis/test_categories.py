"""Columns of few different values: what comes out is what went in, in a byte or two an entry."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest

from ragauge.core.example import Example
from ragauge.core.score import Score
from ragauge.scores import arrays
from ragauge.scores.arrays import ScoreArrays, merge_repeats
from ragauge.scores.categories import CategoryCollector, CategoryColumn
from ragauge.scores.failures import FailedResponses
from ragauge.scores.quality import select_worst
from ragauge.scores.results.scorecard import Cause
from ragauge.scores.segments import MAX_SEGMENT_VALUES, Segments, derive_segments
from ragauge.scores.summarize import build_cause_frame, build_score_frame, select_failures


@pytest.mark.parametrize(("different", "size"), [(1, 1), (256, 1), (257, 2), (70_000, 4)])
def test_a_column_takes_as_few_bytes_as_its_values_need(different: int, size: int) -> None:
    """Values come back in order, numbered in the least bytes that hold so many different ones."""
    entries = [f"v{n}" for n in range(different)] * 2
    coding = CategoryCollector[str]()
    for one in entries:
        coding.add(one)
    found = coding.build_column()
    assert list(found) == entries
    assert found.codes.dtype.itemsize == size
    assert CategoryColumn.of(pl.Series("x", entries)).codes.dtype.itemsize == size


def test_values_that_get_one_name_become_one() -> None:
    """Renamed values are counted together, and a value of no entry goes."""
    found = CategoryColumn(("a", "b", "c", None), np.array([0, 1, 1, 3], dtype=np.uint8)).rename_values(
        ["x", "y", "z", "x"]
    )
    assert found.values == ("x", "y")
    assert list(found) == ["x", "y", "y", "x"]
    assert found.counts() == [2, 2]


def test_segments_survive_a_frame() -> None:
    """Segments are the same after a frame and back, with and without values."""
    frame = pl.DataFrame({"query_id": ["a", "b", "c"], "kind": ["x", None, "y"], "none": [None] * 3})
    frame = frame.with_columns(pl.col("none").cast(pl.String))
    assert Segments.of(frame).to_frame().equals(frame)


def test_segments_of_other_examples() -> None:
    """By the numbers of other examples, one that is not known has no value; marks are of those known here."""
    segments = Segments.of(pl.DataFrame({"query_id": ["a", "b", "c"], "kind": ["x", "y", "x"]}))
    assert list(segments.align_columns(("c", "new", "b"))["kind"]) == ["x", None, "y"]
    assert segments.mark_examples(("c", "new", "b"), np.array([0, 1])).tolist() == [False, False, True]
    assert segments.select_examples(("c", "a")).query_ids == ("a", "c")


def test_a_column_of_identifiers_is_not_kept() -> None:
    """A declared column with a value for every example is left out while it is read; one of fifty values is kept."""
    most = MAX_SEGMENT_VALUES
    examples = (
        Example(f"q{n}", "Where?", segments={"id": f"i{n}", "part": f"p{n % most}"} if n else {}) for n in range(500)
    )
    found = derive_segments(examples).columns
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
        for n in draw.sample(range(200), 60)
        for repeat in range(5)
        if draw.random() < 0.6
    ]
    frame = build_cause_frame(rows)
    assert select_failures(frame).select("query_id", "repeat", "cause").rows() == by_polars(frame)
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
    index = FailedResponses.of(build_cause_frame(rows)).index
    quality = np.array([draw.choice([0.0, 0.5, 1.0]) for _ in rows])
    places = np.array(draw.sample(range(120), 70))
    every = sorted(places.tolist(), key=lambda at: (quality[at], rows[at][0], rows[at][1]))
    for most in (0, 1, 20, 70, 99):
        assert select_worst(index, places, quality, most) == every[:most]


@pytest.mark.parametrize("seed", range(5))
def test_repeats_are_merged_alike_in_parts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples merged a few at a time are those merged all at once, in the same order, bit by bit."""
    draw = random.Random(seed)
    made = [
        Score(
            "r",
            f"q{n}",
            repeat,
            "faithfulness",
            1,
            None,
            0,
            draw.choice(["scored", "failed", "undefined"]),
            draw.random(),
            1.0,
            3.0,
            draw.random(),
            1.0,
            draw.choice(["", "time-out"]),
        )
        for repeat in range(4)
        for n in draw.sample(range(50), 40)
    ]
    every = ScoreArrays.of(build_score_frame(made, {(one.query_id, one.repeat): draw.random() for one in made}))
    columns = every.column("faithfulness")
    assert columns is not None
    whole = merge_repeats(columns)
    monkeypatch.setattr(arrays, "MERGE_BATCH_EXAMPLES", 7)
    parts = merge_repeats(columns)
    assert whole.query.size == len(every.query_ids)
    for name in ("place", "query", "status", "reason", "weight", *arrays.NUMBER_COLUMNS):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
