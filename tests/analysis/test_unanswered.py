"""Calls that the system failed, and causes that grew, between two runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest
from tests.analysis.test_compare import arrays
from tests.analysis.test_comparing import examples

from ragauge.comparison.comparability import FAILED_CALLS_NAME, score_failed_calls
from ragauge.comparison.pairs import Join
from ragauge.comparison.runs import RunComparer, correct_changes, find_grown_causes
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import ResponseIndex
from ragauge.scores.results.scorecard import Cause
from ragauge.scores.summarize import build_cause_frame


def causes(of: Mapping[str, str]) -> pl.DataFrame:
    """query_id -> cause."""
    return build_cause_frame((query_id, 0, Cause(name)) for query_id, name in of.items())


def index(n: int, repeats: int = 1) -> ResponseIndex:
    query, repeat = np.repeat(np.arange(n), repeats), np.tile(np.arange(repeats), n)
    return ResponseIndex(np.arange(n * repeats), query, repeat, None, None, tuple(f"q{i}" for i in range(n)))


def held(new: Mapping[str, str], base: Mapping[str, str], n: int = 200) -> list[tuple[str, str]]:
    """The rows of a comparison of n examples, of which some failed: (metric, verdict)."""
    of = index(n)
    kind = pl.DataFrame({"query_id": of.query_ids, "type": ["rare" if i < 20 else "usual" for i in range(n)]})
    comparer = RunComparer(of, Join(of.query_ids, of.query_ids), kind)
    comparer.set_failed_calls(score_failed_calls(of, causes(new)), score_failed_calls(of, causes(base)))
    comparer.read_failed_calls()
    (changes,), *_ = correct_changes([comparer])
    assert not comparer.whole.select_shown(changes.metrics)  # no metric, so the diagnosis is not asked to read it
    rows = [(one.metric, one.verdict) for one in changes.metrics]
    return rows + [(f"{part.column}={part.value}", part.change.verdict) for part in changes.segments]


def test_calls_that_newly_fail_are_worse() -> None:
    """Seventeen of 200 calls that fail now and did not are a change for the worse, named by segment; mended, better."""
    failing = {f"q{i}": FAILED_CALLS_NAME for i in range(17)}
    assert held(failing, {})[:2] == [(FAILED_CALLS_NAME, "worse"), ("type=rare", "worse")]
    assert held({}, failing)[0] == (FAILED_CALLS_NAME, "better")


def test_no_row_where_no_call_failed() -> None:
    """Without an error in either run there is no such row, and no test that others are corrected for."""
    assert held({"q1": "ignored"}, {"q2": "noise"}) == []


def test_an_answer_that_failed_once_of_three_counts_a_third() -> None:
    """An example that was asked three times, and failed once, has failed by a third."""
    of = index(4, repeats=3)
    frame = build_cause_frame([("q2", 1, Cause(FAILED_CALLS_NAME))])
    assert score_failed_calls(of, frame).value == pytest.approx([0, 0, 1 / 3, 0])


def test_causes_that_grew() -> None:
    """A cause of clearly more examples than before has grown; one that moved about, or lost some, has not."""
    before = {f"q{i}": "retrieval_miss" for i in range(18)} | {f"q{i}": "noise" for i in range(50, 60)}
    now = {f"q{i}": "retrieval_miss" for i in range(87)} | {f"q{i}": "ignored" for i in range(100, 104)}
    assert find_grown_causes(causes(now), causes(before), 200, 0.95) == {"retrieval_miss"}
    moved = {f"q{i}": "retrieval_miss" for i in range(9, 30)}
    assert find_grown_causes(causes(moved), causes(before), 200, 0.95) == set()


def test_causes_of_the_same_system_seldom_grow() -> None:
    """Three causes that come and go by chance: at most 2.5 % of comparisons say that any of them grew."""
    generator, found = np.random.default_rng(4), 0
    names = ["", "", "", "retrieval_miss", "noise", "ignored"]
    for _ in range(300):
        sides = generator.integers(0, len(names), (2, 120))
        frames = [causes({f"q{i}": names[k] for i, k in enumerate(side) if names[k]}) for side in sides]
        found += bool(find_grown_causes(frames[0], frames[1], 120, 0.95))
    assert 0.003 <= found / 300 <= 0.045


def test_the_row_is_one_of_the_family() -> None:
    """The row stands with the metrics and is corrected with them: of 2 tests the smaller p counts twice."""
    generator = np.random.default_rng(1)
    sides = [arrays("mrr", {f"q{i}": float(x) for i, x in enumerate(generator.random(200))}) for _ in range(2)]
    comparer = RunComparer(sides[0].index, Join(sides[0].index.query_ids, sides[1].index.query_ids))
    of = sides[0].index
    comparer.set_failed_calls(
        score_failed_calls(of, causes({f"q{i}": FAILED_CALLS_NAME for i in range(8)})),
        score_failed_calls(of, causes({})),
    )
    comparer.read(parse_metric("mrr"), examples(sides[0], "mrr"), examples(sides[1], "mrr"))
    comparer.read_failed_calls()
    (changes,), tests, _ = correct_changes([comparer])
    failed = next(one for one in changes.metrics if one.metric == FAILED_CALLS_NAME)
    assert tests == 2
    assert failed.p_value is not None
    assert failed.holm == pytest.approx(2 * failed.p_value)


def latency_of(new: Mapping[str, float], base: Mapping[str, float], failed: str = "", *, paired: bool = True) -> str:
    """The verdict on latency of two runs over the same 40 examples; in one of them every second call failed."""
    sides = [arrays("latency", dict(side)) for side in (new, base)]
    of = sides[0].index
    every_second = causes({f"q{i}": FAILED_CALLS_NAME for i in range(0, 40, 2)})
    comparer = RunComparer(of, Join(of.query_ids, sides[1].index.query_ids), paired=paired)
    calls = (score_failed_calls(of, every_second if failed == side else causes({})) for side in ("new", "base"))
    comparer.set_failed_calls(*calls)
    comparer.read(parse_metric("latency"), examples(sides[0], "latency"), examples(sides[1], "latency"))
    return comparer.whole.found[0].verdict


def test_a_quick_failure_is_no_quick_answer() -> None:
    """Failed calls never make their own run quicker; late ones, such as time-outs, still make it slower."""
    generator = np.random.default_rng(8)
    usual = {f"q{i}": 500.0 + float(x) for i, x in enumerate(generator.normal(0, 5, 40))}
    quick, late = ({name: t if int(name[1:]) % 2 else ms for name, t in usual.items()} for ms in (2.0, 60_000.0))
    for paired in (True, False):
        assert latency_of(quick, usual, paired=paired) == "better"  # where nothing failed
        assert latency_of(quick, usual, "new", paired=paired) in ("no change seen", "not enough data")
        assert latency_of(usual, quick, "base", paired=paired) in ("no change seen", "not enough data")
    assert latency_of(late, usual, "new") == "worse"
    assert latency_of(usual, late, "base") == "better"
