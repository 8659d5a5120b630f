"""Which responses are listed, and causes by segment."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.building import passed_but

from ragauge.core.score import Score
from ragauge.evaluation.overview.response_list import (
    ListedExtras,
    build_listed_responses,
    choose_responses,
    shorten_query,
)
from ragauge.evaluation.overview.run_counts import count_causes_by_segment
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import ResponseIndex, ScoreArrays
from ragauge.scores.failures import FailedResponses
from ragauge.scores.results.scorecard import Cause
from ragauge.scores.segments import Segments
from ragauge.scores.summarize import build_cause_frame, build_score_frame, select_failures
from ragauge.scores.values import MetricValues
from ragauge.scores.verdicts import ResponseVerdicts


def run_of(
    *rows: tuple[str, str | None, float | None], repeat: int = 0
) -> tuple[ResponseVerdicts, FailedResponses, Any]:
    """Responses (query_id, cause or None, quality or None): their verdicts, the failed ones, and the quality of all."""
    numbers = np.arange(len(rows))
    index = ResponseIndex(numbers, numbers, numbers * 0 + repeat, None, None, tuple(row[0] for row in rows))
    causes = ((place, Cause(cause)) for place, (_, cause, _) in enumerate(rows) if cause is not None)
    failed = FailedResponses.from_causes(
        index, causes, lambda places: {place: f"why {rows[place][0]}" for place in places}
    )
    return passed_but(failed), failed, np.array([np.nan if quality is None else quality for _, _, quality in rows])


def test_failed_first_then_the_worst() -> None:
    """Failed ones first; among each the lowest quality first; a failed one without scores first, another one last."""
    verdicts, failed, quality = run_of(
        ("good", None, 0.9),
        ("bare", None, None),
        ("bad", "noise", 0.4),
        ("worse", "off_topic", 0.1),
        ("silent", "", None),
        ("poor", None, 0.2),
    )
    chosen = choose_responses(verdicts, failed, quality)
    assert [one.query_id for one in chosen] == ["silent", "worse", "bad", "poor", "good", "bare"]
    assert [one.place for one in chosen] == [4, 3, 2, 5, 0, 1]
    assert [one.verdict for one in chosen] == ["failed"] * 3 + ["passed"] * 3
    assert [one.cause for one in chosen] == ["", "off_topic", "noise", "", "", ""]
    assert [one.decided_by for one in chosen] == ["why silent", "why worse", "why bad", "", "", ""]


def test_a_cut_list_keeps_every_cause() -> None:
    """Of 100 failed by noise and two by other causes, a list of four has the worst of each, and no good one."""
    rows: list[tuple[str, str | None, float | None]] = [(f"n{n:03}", "noise", n / 100) for n in range(100)]
    rows += [("m", "retrieval_miss", 0.95), ("s", "span_cut", 0.99), ("fine", None, 0.0)]
    chosen = choose_responses(*run_of(*rows), max_n=4)
    assert [one.query_id for one in chosen] == ["n000", "n001", "m", "s"]


def test_all_failed_ones_before_any_other() -> None:
    """Where there is room left, others fill it, the worst first."""
    rows: list[tuple[str, str | None, float | None]] = [(f"f{n}", "noise", 0.9) for n in range(5)]
    rows += [(f"g{n}", None, n / 10) for n in range(5)]
    chosen = choose_responses(*run_of(*rows), max_n=7)
    assert [one.query_id for one in chosen] == ["f0", "f1", "f2", "f3", "f4", "g0", "g1"]


def test_a_row_says_everything() -> None:
    """Values of scored metrics, segments that there are, the ranks used, and numbers that no metric measured."""
    scores = [
        Score("r", "q1", 0, "faithfulness", 1, None, 0, "scored", 0.5),
        Score("r", "q1", 0, "mrr", 1, None, 0, "undefined"),
        Score("r", "q1", 0, "latency", 1, None, 0, "scored", 9.0),
    ]
    arrays = ScoreArrays.of(build_score_frame(scores))
    values = MetricValues(arrays.index)
    for name in ("faithfulness", "mrr", "latency"):
        values.read(parse_metric(name), arrays.column(name))
    segments = Segments.of(pl.DataFrame({"query_id": ["q1"], "type": ["a"], "tenant": [None]}))
    chosen = choose_responses(*run_of(("q1", "noise", 0.5)))
    beside = ListedExtras(
        {0: (2, 3)},
        {0: (1, 3)},
        {0: 4},
        {0: {"handed on": 0.5}},
        {0: {"retrieval": 7.0}},
        {"context_tokens": {0: 120.0}, "latency": {0: 1.0}},
    )
    (row,) = build_listed_responses(chosen, values, segments, {0: "word " * 99}, beside)
    assert row.values == {"faithfulness": 0.5, "latency": 9.0, "context_tokens": 120.0}
    assert (row.segments, row.used, row.cause, row.quality) == ({"type": "a"}, (2, 3), "noise", 0.5)
    assert (row.relevant, row.handed, row.kept, row.timings) == ((1, 3), 4, {"handed on": 0.5}, {"retrieval": 7.0})
    assert row.query == shorten_query("word " * 99)
    assert len(row.query) < 210
    (bare,) = build_listed_responses(chosen, values, segments, {}, ListedExtras())
    assert (bare.query, bare.used, bare.relevant, bare.handed, bare.kept, bare.timings) == ("", None, None, 0, {}, {})


def test_order_does_not_matter() -> None:
    """The same responses in any order are listed in the same order."""
    draw = random.Random(4)
    rows = [
        (f"q{n}", draw.choice([None, "noise", "off_topic", ""]), draw.choice([None, 0.25, 0.5, 1.0])) for n in range(80)
    ]
    mine, other = (choose_responses(*run_of(*given), max_n=30) for given in (rows, draw.sample(rows, len(rows))))
    assert [one[1:] for one in mine] == [one[1:] for one in other]


def test_causes_by_segment_by_hand() -> None:
    """Each failed example once, under the value of its segment; the values in the scorecard's order, empty ones too."""
    causes = build_cause_frame(
        [
            ("q1", 0, Cause("noise")),
            ("q2", 0, Cause("noise")),
            ("q3", 0, Cause("")),
            ("q4", 0, Cause("off_topic")),
            ("q5", 0, None),
        ]
    )
    segments = pl.DataFrame(
        {"query_id": ["q1", "q2", "q3", "q4", "q5"], "type": ["b", "a", "a", "a", "c"], "hidden": ["x"] * 5}
    )
    found = count_causes_by_segment(
        FailedResponses.of(causes), Segments.of(segments), {"type": {"c": (), "a": (), "b": ()}}
    )
    assert found == {"type": {"c": {}, "a": {"": 1, "noise": 1, "off_topic": 1}, "b": {"noise": 1}}}
    assert list(found["type"]) == ["c", "a", "b"]


@pytest.mark.parametrize("seed", range(5))
def test_segments_sum_to_the_failed_examples(seed: int) -> None:
    """The counts of every column are those of the causes over the whole run, repeats counted once."""
    draw = random.Random(seed)
    causes = build_cause_frame(
        (f"q{n}", repeat, Cause(draw.choice(["noise", "off_topic", ""])))
        for n in range(50)
        for repeat in range(3)
        if draw.random() < 0.4
    )
    ids = [f"q{n}" for n in range(50)]
    frame = pl.DataFrame({"query_id": ids, "a": [draw.choice("xyz") for _ in ids], "b": ["u", "v"] * 25})
    shown: dict[str, dict[str, object]] = {"a": dict.fromkeys("xyz"), "b": dict.fromkeys("uv")}
    found = count_causes_by_segment(FailedResponses.of(causes), Segments.of(frame), shown)
    whole = Counter(select_failures(causes)["cause"].to_list())
    for cells in found.values():
        total: Counter[str] = Counter()
        for counts in cells.values():
            total.update(counts)
        assert total == whole
