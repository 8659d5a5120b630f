"""Where a metric got worse: which examples, and in which segment."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from ragauge.comparison.regressions import MAX_MOVED, Regressions
from ragauge.comparison.runs import BaselineReader
from ragauge.core.score import Score
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import ScoreArrays, merge_repeats
from ragauge.scores.results.comparison import ExampleDelta, MetricChange, SegmentDrop, SegmentLoss
from ragauge.scores.summarize import build_score_frame

IDS = [f"q{n}" for n in range(60)]
ALL = np.arange(60)


def frame(**columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame({"query_id": IDS, **columns})


def test_the_largest_falls_come_first() -> None:
    """Examples that got worse, the most first, the first of the run among equals; those that did not are left out."""
    base, new = np.array([1.0, 1.0, 0.5, 0.2, 1.0]), np.array([0.5, 0.0, 0.5, 0.9, 0.0])
    places = np.array([4, 3, 2, 1, 0])
    falls = (ExampleDelta("q3", 1.0, 0.0), ExampleDelta("q0", 1.0, 0.0), ExampleDelta("q4", 1.0, 0.5))
    assert Regressions(IDS).find_moved(places, base, new, "higher") == falls
    assert Regressions(IDS).find_moved(places, base, new, "lower") == (ExampleDelta("q1", 0.2, 0.9),)
    assert len(Regressions(IDS).find_moved(ALL, np.ones(60), np.zeros(60), "higher")) == MAX_MOVED


def test_segment_that_fell_most_is_named() -> None:
    """Where 20 of 60 fell by 0.8 and the others by 0.1, the segment of the 20 is named with both differences."""
    kind = ["a"] * 20 + ["b"] * 20 + ["c"] * 20
    differences = np.where(ALL < 20, -0.8, -0.1) + np.linspace(-0.05, 0.05, 60)
    movement = Regressions(IDS, frame(type=kind, tenant=["x", "y"] * 30))
    found = movement.where(ALL, differences, "higher", 1.0)
    inside, outside = differences[:20].mean(), differences[20:].mean()
    shuffled = np.array(random.Random(1).sample(range(60), 60))
    again = movement.where(ALL[shuffled], differences[shuffled], "higher", 1.0)
    turned = movement.where(ALL, -differences, "lower", 1.0)
    for one, sign in ((found, 1), (again, 1), (turned, -1)):
        assert one is not None
        assert (one.segment, one.n) == ("type=a", 20)
        assert [one.inside, one.outside] == pytest.approx([sign * inside, sign * outside])


def test_a_whole_segment_that_fell_alike_is_named() -> None:
    """Twenty examples that all fell from 1 to 0 have no spread, and are found all the same."""
    found = Regressions(IDS, frame(type=["a"] * 20 + ["b"] * 40)).where(
        ALL, np.where(ALL < 20, -1.0, 0.0), "higher", 1.0
    )
    assert found == SegmentDrop("type=a", -1.0, 0.0, 20)


def test_values_that_carry_a_loss_together_are_named() -> None:
    """Where 16 of one value and 8 of another fell and no other did, both are named, the larger loss first."""
    kind = ["who"] * 16 + ["when"] * 8 + ["what"] * 18 + ["how"] * 18
    found = Regressions(IDS, frame(type=kind)).where(ALL, np.where(ALL < 24, -1.0, 0.0), "higher", 1.0)
    assert found is not None
    assert found.segment == "type=who"
    assert found.among == SegmentLoss("type=who or when", -1.0, 0.0, 24)
    alone = Regressions(IDS, frame(type=kind)).where(ALL, np.where(ALL < 16, -1.0, 0.0), "higher", 1.0)
    assert alone == SegmentDrop("type=who", -1.0, 0.0, 16)


def test_no_segment_where_all_fell_alike() -> None:
    """An even fall, a segment of too few, one without a name, and labels of answerability name no segment."""
    even = np.tile([-0.2, -0.3], 30)
    assert Regressions(IDS, frame(type=["a", "a", "b", "b"] * 15)).where(ALL, even, "higher", 1.0) is None
    steep = np.where(ALL < 4, -1.0, -0.01)
    assert Regressions(IDS, frame(type=["a"] * 4 + ["b"] * 56)).where(ALL, steep, "higher", 1.0) is None
    steep = np.where(ALL < 20, -1.0, -0.01)
    assert Regressions(IDS, frame(answerable=["yes"] * 20 + ["no"] * 40)).where(ALL, steep, "higher", 1.0) is None
    found = Regressions(IDS, frame(type=["(none)"] * 20 + ["(other)"] * 40)).where(ALL, steep, "higher", 1.0)
    assert found is None
    assert Regressions(IDS).where(ALL, steep, "higher", 1.0) is None


def test_false_alarms_of_segments() -> None:
    """With falls at random over 12 segment values, at most 5 % of comparisons name a segment."""
    rng, alarms = np.random.default_rng(11), 0
    for _ in range(200):
        columns = {f"c{i}": rng.choice(list("abc"), 60).tolist() for i in range(4)}
        falls = rng.choice([-1.0, -0.5, 0.0, 0.5], 60)
        alarms += Regressions(IDS, frame(**columns)).where(ALL, falls, "higher", 1.0) is not None
    assert alarms / 200 <= 0.05


def arrays(values: Sequence[float]) -> ScoreArrays:
    return ScoreArrays.of(
        build_score_frame(
            Score("r", name, 0, "recall@5", 1, None, 0, "scored", value)
            for name, value in zip(IDS, values, strict=True)
        )
    )


def compared(new: Sequence[float], base: Sequence[float]) -> MetricChange:
    here, there = arrays(new), arrays(base)
    comparison = BaselineReader(here.index, there, [parse_metric("recall@5")])
    comparison.set_segments(frame(type=["a"] * 20 + ["b"] * 40))
    column = here.column("recall@5")
    assert column is not None
    comparison.read(parse_metric("recall@5"), column, merge_repeats(column))
    (change,) = comparison.changes
    return change


def test_only_what_got_worse_is_followed() -> None:
    """A change for the worse has its examples and its segment; one for the better has neither."""
    low, high = [0.0] * 20 + [1.0] * 40, [1.0] * 60
    worse, better = compared(low, high), compared(high, low)
    assert (worse.verdict, better.verdict) == ("worse", "better")
    assert [one.query_id for one in worse.moved] == IDS[:20]
    assert worse.where == SegmentDrop("type=a", -1.0, 0.0, 20)
    assert (better.moved, better.where) == ((), None)
