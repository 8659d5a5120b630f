"""Gaps between own retrieval, labelled passages and no passages."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest

from ragauge.comparison.gaps.oracle_gaps import (
    can_have_gaps,
    compute_metric_gaps,
    compute_segment_gaps,
    find_best_value,
)
from ragauge.comparison.pairs import FailedPairs, Pairs
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse_metric

RIGHT, INVENTED = parse_metric("exact_match"), parse_metric("hallucination")


def pairs(own: list[float], other: list[float], metric: Metric = RIGHT) -> Pairs:
    none = np.array([], dtype=np.int64)
    ends = (np.array([]), np.array([]))
    return Pairs(
        metric,
        np.arange(len(own)),
        np.array(own, float),
        np.array(other, float),
        None,
        None,
        FailedPairs(none, None, ends, ends),
        none,
    )


def test_parts_add_up_to_the_best_value() -> None:
    """By hand: 2 of 4 right on own retrieval, 3 of 4 on labelled passages, 1 of 4 without."""
    own = [1.0, 1.0, 0.0, 0.0]
    found = compute_metric_gaps(RIGHT, pairs(own, [1.0, 1.0, 1.0, 0.0]), pairs(own, [1.0, 0.0, 0.0, 0.0]))
    assert found.oracle is not None
    assert found.closed_book is not None
    assert (found.oracle.own, found.oracle.oracle, found.closed_book.own) == (0.5, 0.75, 0.5)
    assert (found.oracle.gap.mean, found.oracle.rest.mean) == (0.25, 0.25)
    assert (found.closed_book.alone.mean, found.closed_book.gap.mean) == (0.25, 0.25)
    for one in (found.oracle.gap, found.oracle.rest, found.closed_book.gap, found.closed_book.alone):
        assert one.interval is not None
        assert one.mean is not None
        assert one.interval.low <= one.mean <= one.interval.high
        assert one.n == 4


def test_where_lower_is_better_the_best_value_is_the_low_end() -> None:
    """By hand: hallucination 0.5 on own retrieval and 0.2 on labelled passages: a gap of −0.3, and −0.2 left."""
    found = compute_metric_gaps(INVENTED, pairs([0.6, 0.4, 0.5], [0.2, 0.1, 0.3], INVENTED), None)
    assert found.oracle is not None
    assert found.oracle.gap.mean == pytest.approx(-0.3)
    assert found.oracle.rest.mean == pytest.approx(-0.2)
    assert find_best_value(INVENTED) == 0
    assert found.closed_book is None


@pytest.mark.parametrize(
    ("name", "means"), [("faithfulness", True), ("recall@5", False), ("latency", False), ("answer_correctness", True)]
)
def test_only_what_speaks_of_the_answer_has_gaps(name: str, means: bool) -> None:
    """Retrieval metrics and amounts have none."""
    assert can_have_gaps(parse_metric(name)) is means


def test_planted_losses_lie_within_their_intervals() -> None:
    """400 seeded draws of 150 examples with planted losses: each 95 % interval holds the truth in 92 % to 99.5 %.

    Retrieval fails for 30 %, the generator spoils 20 % of what it could answer, the model knows 25 % by itself. So own
    = 0.7 · 0.8 + 0.3 · 0.25 · 0.8 = 0.62, oracle = 0.8, closed book = 0.25 · 0.8 = 0.2.
    """
    truth = {"oracle": 0.8 - 0.62, "rest": 1 - 0.8, "closed book": 0.62 - 0.2, "alone": 0.2}
    draw, held = random.Random(20), dict.fromkeys(truth, 0)
    for _ in range(400):
        rows = []
        for _ in range(150):
            found, able, knows = draw.random() < 0.7, draw.random() < 0.8, draw.random() < 0.25
            rows.append((able and (found or knows), able, able and knows))
        own, oracle, alone = (list(map(float, column)) for column in zip(*rows, strict=True))
        one = compute_metric_gaps(RIGHT, pairs(own, oracle), pairs(own, alone))
        assert one.oracle is not None
        assert one.closed_book is not None
        told = {
            "oracle": one.oracle.gap,
            "rest": one.oracle.rest,
            "closed book": one.closed_book.gap,
            "alone": one.closed_book.alone,
        }
        for name, estimate in told.items():
            assert estimate.interval is not None
            held[name] += estimate.interval.low <= truth[name] <= estimate.interval.high
    assert {name: 0.92 <= count / 400 <= 0.995 for name, count in held.items()} == dict.fromkeys(truth, True), held


def test_planted_losses_lie_within_their_intervals_by_segment() -> None:
    """The same in two segments of 60, where retrieval fails for 50 % and for 10 %: each interval holds its own truth.

    hard: own = 0.5 · 0.8 + 0.5 · 0.25 · 0.8 = 0.5; easy: own = 0.9 · 0.8 + 0.1 · 0.25 · 0.8 = 0.74.
    """
    truth = {"hard": (0.3, 0.2, 0.3, 0.2), "easy": (0.06, 0.2, 0.54, 0.2)}
    frame = pl.DataFrame({"query_id": [f"q{i}" for i in range(120)], "kind": ["hard", "easy"] * 60})
    draw, held, of = random.Random(21), dict.fromkeys([(kind, n) for kind in truth for n in range(4)], 0), 200
    for _ in range(of):
        rows = []
        for i in range(120):
            found = draw.random() < (0.9 if i % 2 else 0.5)
            able, knows = draw.random() < 0.8, draw.random() < 0.25
            rows.append((able and (found or knows), able, able and knows))
        own, oracle, alone = (list(map(float, column)) for column in zip(*rows, strict=True))
        cells = compute_segment_gaps([(RIGHT, (pairs(own, oracle), pairs(own, alone)))], (frame, frame))["kind"]
        for kind, wanted in truth.items():
            (one,) = cells[kind]
            assert one.oracle is not None
            assert one.closed_book is not None
            told = (one.oracle.gap, one.oracle.rest, one.closed_book.gap, one.closed_book.alone)
            for n, (estimate, value) in enumerate(zip(told, wanted, strict=True)):
                assert estimate.interval is not None
                held[kind, n] += estimate.interval.low <= value <= estimate.interval.high
    assert all(0.90 <= count / of <= 1 for count in held.values()), held


def test_segments_have_gaps_of_their_own() -> None:
    """Where all is lost to retrieval in one segment and nothing in the other, each says so; few pairs say nothing."""
    own, oracle = [1.0] * 6 + [0.0] * 6 + [1.0] * 3, [1.0] * 15
    frame = pl.DataFrame({"query_id": [f"q{i}" for i in range(15)], "type": ["a"] * 6 + ["b"] * 6 + ["c"] * 3})
    found = compute_segment_gaps([(RIGHT, (pairs(own, oracle), None))], (frame, None))
    gaps = {value: one[0].oracle.gap.mean for value, one in found["type"].items() if one[0].oracle is not None}
    assert gaps == {"a": 0.0, "b": 1.0}
