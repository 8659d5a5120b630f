"""Summaries against hand arithmetic, and what failures may do to them."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from random import Random
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.building import (
    agreement_facts,
    answer_facts,
    claim,
    evidence,
    example,
    reference_facts,
    relevance_facts,
    response,
)
from tests.conftest import OwnTime

from ragauge.core.errors import DataError
from ragauge.core.facts import AnswerFacts, Evidence, ReferenceFacts
from ragauge.core.identity import to_json_value
from ragauge.core.score import Score
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.catalogue_entries import list_samples
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.scores.arrays import ScoreArrays
from ragauge.scores.results.scorecard import Summary
from ragauge.scores.segments import summarize_segments, tidy_segments
from ragauge.scores.summarize import MAX_REASONS, build_score_frame, summarize_scores
from ragauge.stats.intervals import scaled_wilson, wilson_interval

NO_MATTER = MetricResult("not_applicable", reason="no reference answer")


def scored(numerator: float, denominator: float = 1.0) -> MetricResult:
    value = numerator / denominator
    return MetricResult("scored", value, numerator, denominator, value, value)


def failed(low: float | None = None, high: float | None = None, reason: str = "time-out") -> MetricResult:
    return MetricResult("failed", low=low, high=high, reason=reason)


def undefined(reason: str = "the answer makes no claims") -> MetricResult:
    return MetricResult("undefined", reason=reason)


def score(query_id: str, metric: str, result: MetricResult, repeat: int = 0) -> Score:
    return Score("r", query_id, repeat, metric, 1, None, 0, **dataclasses.asdict(result))


def frame(metric: str, *results: MetricResult, **options: Any) -> pl.DataFrame:
    """Scores of q0, q1, q2 ..."""
    return build_score_frame([score(f"q{i}", metric, result) for i, result in enumerate(results)], **options)


@dataclass(frozen=True, slots=True)
class Milliseconds(Metric):
    """An amount without an upper bound."""

    measures: ClassVar = "end_to_end"
    range: ClassVar = (0.0, inf)
    direction: ClassVar = "lower"
    scale: ClassVar = "amount"


def one(name: str, *results: MetricResult, **options: Any) -> Summary:
    metric = Milliseconds() if name == "milliseconds" else parse_metric(name)
    (summary,) = summarize_scores(frame(name, *results, **options), [metric])
    return summary


def test_summary_by_hand() -> None:
    """Macro mean, micro, counts, bounds and reasons of six examples are those of the arithmetic."""
    found = one("faithfulness", scored(2, 3), undefined(), scored(1, 2), NO_MATTER, scored(1, 1), failed(0.7, 0.8))
    assert (found.metric, found.measures, found.direction, found.kind) == (
        "faithfulness",
        "generation",
        "higher",
        "mean",
    )
    assert (found.n, found.scored, found.undefined, found.not_applicable, found.failed) == (6, 3, 1, 1, 1)
    total = 2 / 3 + 1 / 2 + 1
    assert found.mean == pytest.approx(total / 3)
    assert found.micro == pytest.approx(4 / 6)
    assert found.low == pytest.approx((total + 0.7) / 4)
    assert found.high == pytest.approx((total + 0.8) / 4)
    assert found.reasons == {"no reference answer": 1, "the answer makes no claims": 1, "time-out": 1}
    assert found.quantiles == {}
    assert found.interval == scaled_wilson([2 / 3, 1 / 2, 1])


def test_level_reaches_the_interval() -> None:
    """A lower level gives a narrower interval that says so."""
    results = [scored(n, 10) for n in (2, 5, 6, 7, 9)]
    wide, narrow = (
        summarize_scores(frame("faithfulness", *results), [parse_metric("faithfulness")], level=level)[0].interval
        for level in (0.95, 0.8)
    )
    assert wide is not None
    assert narrow is not None
    assert (wide.level, narrow.level) == (0.95, 0.8)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_weights() -> None:
    """Sampled traffic counts by weight in the mean, in micro and in the bounds."""
    weights = {("q0", 0): 10.0, ("q1", 0): 30.0, ("q2", 0): 60.0}
    found = one("faithfulness", scored(1, 2), scored(3, 3), failed(0.0, 1.0), weights=weights)
    assert found.mean == pytest.approx((10 * 0.5 + 30 * 1) / 40)
    assert found.micro == pytest.approx((10 * 1 + 30 * 3) / (10 * 2 + 30 * 3))
    assert found.low == pytest.approx(0.35)
    assert found.high == pytest.approx(0.95)
    assert found.interval == scaled_wilson([0.5, 1], weights=[10, 30])


def test_rates_take_wilson() -> None:
    """A 0/1 metric has Wilson's interval and no micro average."""
    found = one("hit@5", *[scored(1)] * 7, *[scored(0)] * 3)
    assert found.kind == "rate"
    assert found.interval == wilson_interval(7, 10)
    assert found.micro is None


def test_micro_is_for_claims_and_citations() -> None:
    """Ratios of generation and end_to_end have a micro average; label metrics and plain numbers have none."""
    assert one("recall@5", scored(1, 2), scored(1, 1)).micro is None
    assert one("context_recall", scored(1, 2), scored(1, 1)).micro is None
    assert one("citation_precision", scored(1, 2), scored(1, 1)).micro == pytest.approx(2 / 3)
    assert one("answer_precision", scored(1, 2), scored(1, 1)).micro == pytest.approx(2 / 3)
    assert one("answer_correctness", MetricResult("scored", 0.4), MetricResult("scored", 0.6)).micro is None


def test_one_and_no_value() -> None:
    """One value has a mean and no interval; none has neither: never 0.0 (cases 72 and 43)."""
    single = one("faithfulness", scored(1, 2))
    assert (single.mean, single.interval) == (0.5, None)
    empty = one("faithfulness", undefined(), NO_MATTER)
    assert (empty.mean, empty.interval, empty.micro, empty.low, empty.high) == (None,) * 5
    absent = summarize_scores(frame("recall"), [parse_metric("faithfulness")])[0]
    assert (absent.n, absent.mean, absent.interval) == (0, None, None)


def test_all_failed_has_no_mean() -> None:
    """When every score failed there is no mean, the bounds are the range, and JSON stays valid (case 43)."""
    found = one("faithfulness", failed(), failed(0.0, 1.0), failed(None, None))
    assert (found.mean, found.interval, found.micro) == (None, None, None)
    assert (found.low, found.high) == (0.0, 1.0)
    json.dumps(to_json_value(found), allow_nan=False)


def test_judge_dies_on_the_worst() -> None:
    """Ten examples, the five worst failed: the mean stands beside 5 failed and bounds that hold the truth (case 41)."""
    truth = [0.0, 0.1, 0.2, 0.3, 0.4, 0.8, 0.9, 1.0, 1.0, 1.0]
    found = one("faithfulness", *[failed(0.0, 1.0)] * 5, *[scored(10 * v, 10) for v in truth[5:]])
    assert found.mean == pytest.approx(0.94)
    assert (found.scored, found.failed) == (5, 5)
    assert found.low == pytest.approx(0.47)
    assert found.high == pytest.approx(0.97)
    assert 0.47 <= sum(truth) / 10 <= 0.97


def test_amounts_have_quantiles() -> None:
    """An amount has p50, p95, p99 (interpolated), a mean with its interval, and no lower bound below 0."""
    values = [float(v) for v in range(1, 101)]
    found = one("milliseconds", *[MetricResult("scored", v) for v in values])
    assert found.quantiles == pytest.approx({0.5: 50.5, 0.95: 95.05, 0.99: 99.01})
    assert found.mean == 50.5
    assert found.micro is None
    lost = one("milliseconds", MetricResult("scored", 5.0), MetricResult("scored", 500.0), failed(0.0, None))
    assert lost.low == pytest.approx(505 / 3)
    assert lost.high is None
    assert lost.interval is not None
    assert lost.interval.low == 0.0


def test_weighted_quantiles() -> None:
    """With weights a quantile is the least value that the share of requests does not exceed."""
    weights = {("q0", 0): 1.0, ("q1", 0): 97.0, ("q2", 0): 2.0}
    found = one("milliseconds", *[MetricResult("scored", v) for v in (1.0, 2.0, 9.0)], weights=weights)
    assert found.quantiles == {0.5: 2.0, 0.95: 2.0, 0.99: 9.0}


def test_repeats_count_once() -> None:
    """An example that was answered three times counts once, with its mean over the scored repeats."""
    scores = [score("q0", "faithfulness", scored(n, 4), repeat) for repeat, n in enumerate((1, 2, 3))]
    scores += [score("q1", "faithfulness", scored(4, 4), 0), score("q1", "faithfulness", undefined(), 1)]
    scores += [score("q2", "faithfulness", undefined(), 0), score("q2", "faithfulness", NO_MATTER, 1)]
    (found,) = summarize_scores(build_score_frame(scores), [parse_metric("faithfulness")])
    assert (found.n, found.scored, found.undefined, found.not_applicable, found.failed) == (3, 2, 1, 0, 0)
    assert found.mean == pytest.approx((0.5 + 1) / 2)
    assert found.micro == pytest.approx((2 + 4) / (4 + 4))
    assert found.reasons == {"the answer makes no claims": 1}
    assert found.interval == scaled_wilson([0.5, 1.0])


def test_a_failed_repeat_bounds_its_example() -> None:
    """If one of three repeats failed, the example failed, bounded by the means over its repeats."""
    scores = [score("q0", "faithfulness", scored(1, 2), 0), score("q0", "faithfulness", scored(1, 1), 1)]
    scores += [score("q0", "faithfulness", failed(0.2, 0.4, "2 verdicts missing"), 2)]
    scores += [score("q1", "faithfulness", scored(1, 1), repeat) for repeat in range(3)]
    (found,) = summarize_scores(build_score_frame(scores), [parse_metric("faithfulness")])
    assert (found.scored, found.failed, found.mean) == (1, 1, 1.0)
    assert found.low == pytest.approx(((0.5 + 1 + 0.2) / 3 + 1) / 2)
    assert found.high == 1.0
    high = build_score_frame([s for s in scores if s.query_id == "q0"])
    assert summarize_scores(high, [parse_metric("faithfulness")])[0].high == pytest.approx((0.5 + 1 + 0.4) / 3)
    assert found.reasons == {"2 verdicts missing": 1}


def test_clusters() -> None:
    """Examples of one document are clustered; one without a cluster stands alone."""
    results = [scored(v, 10) for v in (1, 2, 8, 9, 5)]
    clusters = {"q0": "a", "q1": "a", "q2": "b", "q3": "b"}
    found = one("faithfulness", *results, clusters=clusters)
    assert found.interval == scaled_wilson([0.1, 0.2, 0.8, 0.9, 0.5], clusters=["a", "a", "b", "b", "c"])
    assert one("hit@5", scored(1), scored(0), clusters={"q0": "a", "q1": "b"}).interval == wilson_interval(1, 2)


def test_many_reasons_are_cut() -> None:
    """The most frequent reasons are kept, the rest is counted together."""
    found = one("faithfulness", *[failed(reason=f"error {i}") for i in range(30)], *[undefined("no claims")] * 2)
    assert len(found.reasons) == MAX_REASONS + 1
    assert next(iter(found.reasons.items())) == ("no claims", 2)
    assert found.reasons["other reasons"] == 31 - MAX_REASONS
    assert sum(found.reasons.values()) == 32


def test_frame_is_checked() -> None:
    """A column that is absent or an unknown status is a DataError; a value that is no number is a failed score."""
    whole = frame("faithfulness", scored(1, 2))
    with pytest.raises(DataError, match="no column 'low'"):
        summarize_scores(whole.drop("low"), [])
    with pytest.raises(DataError, match="got 'done'"):
        summarize_scores(whole.with_columns(pl.lit("done").alias("status")), [])
    found = summarize_scores(whole.with_columns(pl.lit(float("nan")).alias("value")), [parse_metric("faithfulness")])[0]
    assert (found.failed, found.mean, found.low, found.high) == (1, None, 0.0, 1.0)
    assert summarize_scores(whole.drop("weight", "cluster"), [parse_metric("faithfulness")])[0].mean == 0.5


METRICS = ("faithfulness", "unsupported", "hit@5", "milliseconds")
value = st.integers(0, 4).map(lambda n: scored(n, 4))
bounds = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(lambda ends: failed(min(ends), max(ends)))
anything = st.one_of(value, bounds, st.sampled_from([undefined(), NO_MATTER, failed(0.0, 1.0), failed()]))


@settings(deadline=None)
@given(st.lists(anything, max_size=8), st.sampled_from(METRICS), st.booleans())
def test_summary_is_whole(results: list[MetricResult], metric: str, in_pairs: bool) -> None:
    """The four counts sum to n, the mean lies in its interval and its bounds, and nothing is NaN."""
    clusters = {f"q{i}": f"c{i // 2}" for i in range(len(results))} if in_pairs else None
    found = one(metric, *results, clusters=clusters)
    assert found.scored + found.undefined + found.not_applicable + found.failed == found.n == len(results)
    assert sum(found.reasons.values()) == found.n - found.scored
    json.dumps(to_json_value(found), allow_nan=False)
    assert (found.mean is None) == (found.scored == 0)
    if found.interval is not None and found.mean is not None:
        assert found.interval.low <= found.mean + 1e-9
        assert found.mean <= found.interval.high + 1e-9
    if found.low is not None and found.high is not None:
        assert found.low <= found.high + 1e-9
        if found.mean is not None:
            assert found.low - 1e-9 <= found.mean <= found.high + 1e-9


@settings(deadline=None)
@given(st.lists(value, min_size=1, max_size=8), st.data())
def test_a_failure_never_helps(results: list[MetricResult], data: st.DataObject) -> None:
    """Turning any score into a failure with bounds around it never raises the low mean nor lowers the high one (42)."""
    before = one("faithfulness", *results)
    place = data.draw(st.integers(0, len(results) - 1))
    at = results[place].value or 0.0
    ends = failed(data.draw(st.floats(0, at)), data.draw(st.floats(at, 1)))
    after = one("faithfulness", *results[:place], data.draw(st.sampled_from([ends, failed()])), *results[place + 1 :])
    assert after.low is not None
    assert before.low is not None
    assert after.high is not None
    assert before.high is not None
    assert after.low <= before.low + 1e-9
    assert after.high >= before.high - 1e-9


def drawn(rng: Random) -> Facts:
    """One answer with all of its evidence."""
    n, c, m = rng.randint(0, 3), rng.randint(0, 3), rng.randint(1, 3)

    def some() -> list[int]:
        return [i for i in range(1, n + 1) if rng.random() < 0.4]

    found = evidence(
        answer_facts(
            *(claim(*some(), contradicting=some()) for _ in range(c)),
            address=rng.choice(["fully", "partly", "no"]),
            refuse=rng.random() < 0.2,
        ),
        reference_facts(*(some() for _ in range(m))),
        relevance_facts(*(rng.random() < 0.5 for _ in range(n))),
        agreement_facts(
            [rng.choice(["agrees", "contradicts", "absent"]) for _ in range(c)], [rng.random() < 0.5 for _ in range(m)]
        ),
    )
    asked = example(*(f"Fact {h}." for h in range(m)), answerable=rng.choice([True, False, None]))
    return Facts(asked, response(n, citations=[(0, 9, "d1"), (10, 19, "d9")]), found)


def broken(facts: Facts, rng: Random) -> Facts:
    """The same with one verdict, or one question's verdicts, lost."""
    question = rng.choice(list(facts.evidence))
    kept = facts.evidence[question]
    found: Any = kept.facts
    lost: Evidence = replace(kept, status="failed", facts=None, reason="time-out")
    if rng.random() < 0.7:
        if isinstance(found, AnswerFacts) and found.claims:
            at = rng.randrange(len(found.claims))
            gone = replace(found.claims[at], status="failed", supporting=(), contradicting=(), strength=None)
            lost = replace(kept, facts=replace(found, claims=(*found.claims[:at], gone, *found.claims[at + 1 :])))
        elif isinstance(found, ReferenceFacts):
            at = rng.randrange(len(found.claims))
            gone_too = replace(found.claims[at], supporting=None)
            lost = replace(kept, facts=replace(found, claims=(*found.claims[:at], gone_too, *found.claims[at + 1 :])))
    return replace(facts, evidence={**facts.evidence, question: lost})


JUDGED = [metric for metric in list_samples() if metric.scale != "amount" and not str(metric).startswith("semantic")]


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 30), marks=pytest.mark.prove)], ids=["few", "many"])
def test_a_lost_verdict_never_helps(seeds: range) -> None:
    """Losing verdicts of a judge never improves the conservative mean of any metric over a run (case 42)."""
    changed = 0
    for seed in seeds:
        rng = Random(seed)
        every = [drawn(rng) for _ in range(4)]
        after = [broken(every[0], rng), *every[1:]]
        found = [
            summarize_scores(
                pl.concat([frame(str(m), *(measure_metric(m, facts) for facts in run)) for m in JUDGED]), JUDGED
            )
            for run in (every, after)
        ]
        for metric, whole, less in zip(JUDGED, *found, strict=True):
            assert str(metric) == whole.metric == less.metric
            changed += less.failed > whole.failed
            if whole.low is not None and whole.high is not None:
                assert less.low is not None
                assert less.high is not None
                assert less.low <= whole.low + 1e-9, str(metric)
                assert less.high >= whole.high - 1e-9, str(metric)
    assert changed > len(seeds)


def test_a_failed_score_may_have_been_undefined() -> None:
    """A failed score bounded above the mean does not raise the conservative mean, nor lower the high one."""
    found = one("faithfulness", scored(1, 4), failed(0.5, 1.0))
    assert (found.mean, found.low, found.high) == (0.25, 0.25, 0.625)
    found = one("faithfulness", scored(3, 4), failed(0.0, 0.5), failed(0.0, 0.25))
    assert (found.mean, found.low, found.high) == (0.75, 0.25, 0.75)


def big(n: int, names: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(0)
    ids = [f"query-{i}" for i in range(n)]
    parts = []
    for name in names:
        status = rng.choice(["scored", "undefined", "not_applicable", "failed"], n, p=[0.9, 0.04, 0.04, 0.02])
        below = rng.integers(1, 8, n).astype(float)
        above = rng.binomial(below.astype(int), 0.8).astype(float)
        got = pl.Series(np.where(status == "scored", above / below, np.nan)).fill_nan(None)
        reason = np.where(status == "scored", "", "some reason")
        columns: dict[str, Any] = {
            "query_id": ids,
            "repeat": [0] * n,
            "metric": [name] * n,
            "status": status,
            "value": got,
            "numerator": above,
            "denominator": below,
            "low": got,
            "high": got,
            "reason": reason,
            "weight": [1.0] * n,
        }
        parts.append(pl.DataFrame(columns))
    values = {f"column{i}": rng.choice(list("abcde"), n) for i in range(6)}
    return pl.concat(parts), pl.DataFrame({"query_id": ids, **values})


@pytest.mark.prove
def test_report_of_50_000_examples_is_quick(own_time: OwnTime) -> None:
    """25 metrics over 50,000 examples and 30 segment values take less than 3 s of the processor."""
    metrics = [metric for metric in list_samples() if metric.scale != "amount"][:25]
    scores, segments = big(50_000, [str(metric) for metric in metrics])
    sizes: list[int] = []

    def report() -> None:
        arrays = ScoreArrays.of(scores)
        cells = summarize_segments(arrays, metrics, tidy_segments(segments), summarize_scores(arrays, metrics))
        sizes.append(sum(len(values) for values in cells.values()))

    own_time.within(3, report, times=1)
    assert sizes == [30]


def test_arrays_keep_the_order_of_examples() -> None:
    """Examples are numbered in order of appearance, for every metric alike."""
    scores = build_score_frame([score(q, m, scored(1)) for q in ("b", "a", "c") for m in ("recall", "hit@5")])
    arrays = ScoreArrays.of(scores)
    assert arrays.query_ids == ("b", "a", "c")
    assert all(later - earlier == 1 for c in arrays.columns.values() for earlier, later in pairwise(c.query))
