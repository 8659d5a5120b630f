"""Segments: which columns and values are shown, and that each cell is the summary of its examples."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import polars as pl
import pytest

from ragauge.core.example import Example
from ragauge.core.score import Score
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import ScoreArrays
from ragauge.scores.results.scorecard import Cause, Summary
from ragauge.scores.segments import (
    classify_query_length,
    compute_shortfall,
    derive_segments,
    summarize_segments,
    tidy_segments,
)
from ragauge.scores.summarize import build_cause_frame, build_score_frame, select_failures, summarize_scores
from ragauge.stats.weighted import Interval

METRICS = [parse_metric(name) for name in ("recall@5", "faithfulness", "unsupported")]


def segments(**columns: Sequence[str | None]) -> pl.DataFrame:
    n = len(next(iter(columns.values())))
    return pl.DataFrame({"query_id": [f"q{i}" for i in range(n)], **columns})


def test_declared_and_derived_columns() -> None:
    """Declared columns come first; language, length and answerable are derived; absent values are null."""
    found = derive_segments(
        [
            Example("a", "Where is the station?", segments={"type": "single"}, answerable=True),
            Example(
                "b",
                "Wie lange habe ich Zeit, um die Ware nach dem Kauf an Sie zurückzugeben, und was kostet das?",
                segments={"tenant": "acme"},
                answerable=False,
            ),
            Example("c", "42?"),
        ]
    ).to_frame()
    assert found.columns == ["query_id", "type", "tenant", "language", "query_length", "answerable"]
    assert found["type"].to_list() == ["single", None, None]
    assert found["tenant"].to_list() == [None, "acme", None]
    assert found["language"].to_list() == ["en", "de", None]
    assert found["query_length"].to_list() == ["short", "long", "short"]
    assert found["answerable"].to_list() == ["yes", "no", None]


def test_declared_column_wins() -> None:
    """A declared language is not guessed over."""
    found = derive_segments([Example("a", "Where is the station?", segments={"language": "English"})]).to_frame()
    assert found["language"].to_list() == ["English"]
    assert found.columns.count("language") == 1


def test_the_majority_decides_the_language_of_short_texts() -> None:
    """Texts that tell too little have the language that clearly dominates the others, and none where none does."""
    english = [Example(f"e{n}", f"Where is the station number {n} and who runs it?") for n in range(9)]
    german = [Example(f"d{n}", f"Wo ist der Bahnhof Nummer {n} und wer leitet ihn?") for n in range(9)]
    short = [Example("s", "Refund policy?"), Example("t", "Łukasz Żak?"), Example("u", "42")]

    def languages(examples: Sequence[Example]) -> list[str | None]:
        return derive_segments(examples).to_frame()["language"].to_list()

    assert languages([*english, *german[:2], *short]) == ["en"] * 9 + ["de"] * 2 + ["en"] * 3
    assert languages([*german, *short]) == ["de"] * 12
    assert languages([*english, *german[:4], *short])[-3:] == [None] * 3
    assert languages([*english[:4], *short])[-3:] == [None] * 3


@pytest.mark.parametrize(("n", "length"), [(1, "short"), (6, "short"), (7, "medium"), (15, "medium"), (16, "long")])
def test_query_length(n: int, length: str) -> None:
    """Up to 6 words are short, from 16 long."""
    assert classify_query_length(" ".join(["word"] * n) + "?") == length


def test_small_values_are_grouped() -> None:
    """Two values below five examples become (other); a single one keeps its name; no value is (none)."""
    many = segments(
        two=["a"] * 6 + ["b"] * 2 + ["c"] * 2,
        single=["a"] * 5 + ["b"] * 3 + [None] * 2,
        one_small=["a"] * 8 + ["b"] * 2,
    )
    found = tidy_segments(many)
    assert found["two"].to_list() == ["a"] * 6 + ["(other)"] * 4
    assert found["single"].to_list() == ["a"] * 5 + ["(other)"] * 5
    assert found["one_small"].to_list() == ["a"] * 8 + ["b"] * 2


def test_useless_columns_are_left_out() -> None:
    """Ids, constants, empty columns and derived columns without two real groups are left out."""
    n = 60
    found = tidy_segments(
        segments(
            kept=["x", "y"] * 30,
            ids=[f"id{i}" for i in range(n)],
            fifty=[f"v{i % 50}" for i in range(n)],
            same=["x"] * n,
            empty=[None] * n,
            language=["en"] * 48 + ["de"] * 4 + [None] * 6 + ["fr", "es"],
            query_length=["short"] * n,
            answerable=["yes"] * 55 + ["no"] * 5,
        )
    )
    assert found.columns == ["query_id", "kept", "answerable"]
    assert found.height == n


def scores(rng: Random, n: int, gap: float = 0.0) -> pl.DataFrame:
    """Scores of three metrics; examples with an odd number are worse by the gap."""
    rows = []
    for i in range(n):
        for metric in METRICS:
            drawn = rng.random()
            value = min(1.0, max(0.0, rng.gauss(0.7 - gap * (i % 2), 0.1)))
            if str(metric) == "unsupported":
                value = 1 - value
            made = (
                Score("r", f"q{i}", 0, str(metric), 1, None, 0, "failed", low=0.0, high=1.0, reason="time-out")
                if drawn < 0.1
                else Score("r", f"q{i}", 0, str(metric), 1, None, 0, "undefined", reason="no claims")
                if drawn < 0.2
                else Score("r", f"q{i}", 0, str(metric), 1, None, 0, "scored", value, value * 10, 10.0, value, value)
            )
            rows.append(made)
    return build_score_frame(rows)


def test_a_cell_is_the_summary_of_its_examples() -> None:
    """Every cell equals the summary of the scores of its examples alone, whatever the order of the segment frame."""
    rng = Random(5)
    frame = scores(rng, 40)
    labels = [rng.choice(["a", "b", "c"]) for _ in range(40)]
    shown = tidy_segments(segments(type=labels)).sample(fraction=1.0, shuffle=True, seed=1)
    arrays = ScoreArrays.of(frame)
    found = summarize_segments(arrays, METRICS, shown, summarize_scores(arrays, METRICS))["type"]
    assert set(found) == {"a", "b", "c"}
    for value, cell in found.items():
        ids = shown.filter(pl.col("type") == value)["query_id"].to_list()
        alone = summarize_scores(frame.filter(pl.col("query_id").is_in(ids)), METRICS)
        for mine, theirs in zip(cell, alone, strict=True):
            assert (mine.n, mine.scored, mine.failed, mine.reasons) == (
                theirs.n,
                theirs.scored,
                theirs.failed,
                theirs.reasons,
            )
            assert mine.mean == pytest.approx(theirs.mean)
            assert mine.low == pytest.approx(theirs.low)
            assert mine.micro == pytest.approx(theirs.micro)


def test_worst_value_first() -> None:
    """The value whose headline metric lies farthest below the whole comes first."""
    frame = scores(Random(1), 60, gap=0.3)
    labels = [["good", "bad"][i % 2] for i in range(60)]
    arrays = ScoreArrays.of(frame)
    found = summarize_segments(arrays, METRICS, tidy_segments(segments(kind=labels)), summarize_scores(arrays, METRICS))
    assert list(found["kind"]) == ["bad", "good"]


def test_segment_that_was_not_evaluated_is_left_out() -> None:
    """Examples without scores add no value, and a metric without scores is an empty summary."""
    frame = scores(Random(2), 10)
    labels = ["a"] * 5 + ["b"] * 5 + ["pending"] * 5
    arrays = ScoreArrays.of(frame)
    metrics = [*METRICS, parse_metric("mrr")]
    found = summarize_segments(
        arrays, metrics, tidy_segments(segments(kind=labels)), summarize_scores(arrays, metrics)
    )["kind"]
    assert set(found) == {"a", "b"}
    assert [summary.n for summary in found["a"]] == [5, 5, 5, 0]


def summary(mean: float | None, low: float, high: float, direction: str = "higher") -> Summary:
    interval = None if mean is None else Interval(low, high, "t")
    return Summary("m", "generation", direction, "mean", 9, 9, 0, 0, 0, mean, interval)


def test_shortfall_by_hand() -> None:
    """A segment 0.2 below the whole whose interval reaches 0.1 up lies two half-widths on the bad side."""
    assert compute_shortfall(summary(0.5, 0.3, 0.6), summary(0.7, 0.6, 0.8)) == pytest.approx(2.0)
    assert compute_shortfall(summary(0.9, 0.8, 1.0), summary(0.7, 0.6, 0.8)) == pytest.approx(-2.0)
    assert compute_shortfall(summary(0.5, 0.4, 0.7, "lower"), summary(0.3, 0.2, 0.4, "lower")) == pytest.approx(2.0)
    assert compute_shortfall(summary(None, 0, 0), summary(0.7, 0.6, 0.8)) is None
    assert compute_shortfall(summary(0.5, 0.4, 0.7, "neither"), summary(0.3, 0.2, 0.4, "neither")) is None


def test_failures_count_an_example_once() -> None:
    """Of an example's failed repeats the most frequent cause counts, the first repeat's among equals."""
    rows = [("a", 0, "noise"), ("a", 1, "ignored"), ("a", 2, "ignored"), ("b", 1, "noise"), ("b", 2, "ignored")]
    found = select_failures(build_cause_frame((query_id, repeat, Cause(name)) for query_id, repeat, name in rows))
    assert found.select("query_id", "cause").rows() == [("a", "ignored"), ("b", "noise")]
    assert select_failures(build_cause_frame([("a", 0, None)])).is_empty()
