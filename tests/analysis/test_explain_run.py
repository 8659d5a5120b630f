"""Explanations of a run: sums, intervals and bounds are those of the summaries, findings show what they rest on."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.analysis.test_compare import Value, score
from tests.analysis.test_diagnose import causes, found, summaries
from tests.analysis.test_pattern_table import against, change

from ragauge.core.response import Run
from ragauge.core.score import Score
from ragauge.diagnosis.explain.explanation import MeanExplainer, explain_run
from ragauge.diagnosis.explain.means import explain_mean
from ragauge.diagnosis.findings.diagnosis_builder import diagnose
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import ScoreArrays, merge_repeats
from ragauge.scores.results.explanation import MeanWorked
from ragauge.scores.results.scorecard import Finding, JudgeNote, ScorecardData
from ragauge.scores.summarize import build_score_frame


def explained(
    metric: str,
    values: dict[str, Value],
    weights: dict[str, float] | None = None,
    clusters: dict[str, str] | None = None,
    **bounds: float,
) -> MeanWorked:
    rows = [score(metric, q, v, 0, **(bounds if v == "failed" else {})) for q, v in values.items()]
    by_response = {(query_id, 0): weight for query_id, weight in (weights or {}).items()}
    column = ScoreArrays.of(build_score_frame(rows, by_response, clusters)).column(metric)
    return explain_mean(parse_metric(metric), None if column is None else merge_repeats(column))


def numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(r"-?[\d,]*\.?\d+(?:e-\d+)?", text)]


def draws(n: int = 40) -> dict[str, Value]:
    g = np.random.default_rng(3)
    return {f"q{i}": float(v) for i, v in enumerate(np.clip(g.normal(0.6, 0.2, n), 0, 1))}


def test_mean_is_sum_over_n() -> None:
    """The mean with its sum and number, and the four counts that sum to n."""
    worked = explained("faithfulness", {"a": 1.0, "b": 0.5, "c": "undefined", "d": "not_applicable"})
    assert worked.mean == "1.50 / 2 = 0.75  (sum of the values)"
    assert worked.counts == "2 scored + 1 undefined + 1 not applicable = 4 examples"
    assert worked.formula.startswith("faithfulness =")
    nothing = explained("faithfulness", {"a": "undefined"})
    assert (nothing.mean, nothing.interval, nothing.why_none) == ("", "", "no example was scored")
    alone = explained("faithfulness", {"a": 1.0})
    assert (alone.interval, alone.why_none[:36]) == ("", "fewer than two scored examples, so t")
    assert explain_mean(parse_metric("mrr"), None).counts == "0 scored = 0 examples"


@pytest.mark.parametrize("how", ["plain", "weights", "clusters"])
def test_interval_of_amounts(how: str) -> None:
    """Mean + standard error · both ends gives the printed ones; plain, weighted and clustered."""
    values, g = draws(), np.random.default_rng(4)
    weights = {q: float(g.choice([1.0, 4.0])) for q in values} if how == "weights" else None
    clusters = {q: f"c{int(q[1:]) // 4}" for q in values} if how == "clusters" else None
    worked = explained("latency", values, weights, clusters)
    mean, error, below, above, low, high = numbers(worked.interval)[:6]
    assert (low, high) == pytest.approx((mean + below * error, mean + above * error), abs=0.002)
    assert -2.2 < below < 0 < 1.4 < above
    assert "t corrected for a skewness of" in worked.interval
    assert "compared with its distribution under random signs of the values" in worked.interval
    interval = worked.summary.interval
    assert interval is not None
    assert (low, high) == pytest.approx((interval.low, interval.high), abs=0.001)
    assert {
        "plain": "sqrt(40)",
        "weights": "40 weighted examples, equivalent to 32.4 unweighted ones",
        "clusters": "10 clusters of 40 examples",
    }[how] in worked.interval
    if how == "plain":
        x = np.array(list(values.values()))
        assert f"standard error {x.std(ddof=1):.3g} / sqrt(40)" in worked.interval


def test_interval_by_students_distribution() -> None:
    """Where a hundred values carry the spread the quantile and its degrees of freedom are given."""
    g = np.random.default_rng(6)
    worked = explained("latency", {f"q{n}": float(g.normal(5, 1)) for n in range(500)})
    mean, error, below, above, low, high = numbers(worked.interval)[:6]
    assert (low, high) == pytest.approx((mean + below * error, mean + above * error), abs=0.002)
    assert (-below, above) == pytest.approx((1.965, 1.965), abs=0.05)
    assert "compared with Student's t, 1.965 of 499 degrees of freedom" in worked.interval


@pytest.mark.parametrize("how", ["plain", "clusters"])
def test_interval_of_bounded_scores(how: str) -> None:
    """Wilson's formula with the r and k that are printed gives the printed ends, plain and clustered."""
    values = draws()
    clusters = {q: f"c{int(q[1:]) // 4}" for q in values} if how == "clusters" else None
    worked = explained("faithfulness", values, None, clusters)
    (r,), (k,) = (re.findall(pattern, worked.interval) for pattern in (r" r = ([\d.]+)", r" = ([\d.]+) = \["))
    r, k = float(r), float(k)
    middle, root = r + k / 2, (k * r * (1 - r) + k * k / 4) ** 0.5
    interval = worked.summary.interval
    assert interval is not None
    ends = ((middle - root) / (1 + k), (middle + root) / (1 + k))
    assert ends == pytest.approx((interval.low, interval.high), abs=2e-3)
    assert {"plain": "39 degrees", "clusters": "10 clusters of 40 examples"}[how] in worked.interval


def test_other_intervals() -> None:
    """Rates by Wilson with p, n and z; constant values and ends that are cut to the range say so."""
    rate = explained("ignored_top_ranked", {f"q{i}": float(i < 8) for i in range(32)})
    p, n, z = (float(found) for found in re.findall(r"(?:p|n|z) = ([\d.]+)", rate.interval))
    middle, root = p + z * z / 2 / n, z * (p * (1 - p) / n + z * z / 4 / n / n) ** 0.5
    interval = rate.summary.interval
    assert interval is not None
    assert ((middle - root) / (1 + z * z / n), (middle + root) / (1 + z * z / n)) == pytest.approx(
        (interval.low, interval.high), abs=1e-4
    )
    constant = explained("faithfulness", {f"q{i}": 1.0 for i in range(9)})
    assert constant.interval.startswith("all 9 values are 1: ")
    pairs = {f"q{i}": f"c{i // 2}" for i in range(8)}
    alike = explained("faithfulness", {q: int(q[1:]) % 2 / 2 for q in pairs}, None, pairs)
    assert alike.interval.startswith("all 4 clusters have the mean 0.25: ")
    cut = explained("latency", {"a": 1.0, "b": 0.9, "c": 0.2})
    assert ", clipped to [0, " in cut.interval
    amounts = explained("latency", {f"q{i}": 5.0 for i in range(97)})
    assert amounts.interval.startswith("all 97 values are 5: at most 3.8% of others differ ")  # z² / (97 + z²)
    nothing = explained("latency", {"a": 0.0, "b": 0.0})
    assert nothing.why_none.startswith("all values are 0 and have no bounds")


def test_micro_and_bounds() -> None:
    """Micro is the sum of numerators over that of denominators; failed scores bound the mean."""
    rows = [
        Score("r", q, 0, "faithfulness", 1, None, 0, "scored", v, above, below, v, v)
        for q, v, above, below in (("a", 0.5, 1.0, 2.0), ("b", 1.0, 6.0, 6.0))
    ]
    column = ScoreArrays.of(build_score_frame(rows)).column("faithfulness")
    assert column is not None
    worked = explain_mean(parse_metric("faithfulness"), merge_repeats(column))
    assert worked.micro == "7 / 8 = 0.875  (sum of numerators / sum of denominators)"
    failed = explained("faithfulness", {"a": 1.0, "b": 0.5, "c": "failed"}, low=0.0, high=0.6)
    assert failed.bounds == "1 failed: with each at its minimum or maximum, the mean is in [0.5, 0.75]"
    assert failed.counts == "2 scored + 1 failed = 3 examples"


def card(findings: tuple[Finding, ...], counts: dict[str, int], **more: Any) -> ScorecardData:
    return ScorecardData(
        Run("r1", "changed"), JudgeNote("local:1"), 200, 0, (), {}, findings, counts, sum(counts.values()), (), **more
    )


def lines(made: ScorecardData) -> dict[str, list[str]]:
    return {worked.finding.cause: list(worked.lines) for worked in explain_run(made, ()).findings}


def test_findings_against_starting_points() -> None:
    """A finding shows its count, and each reading as interval and starting point with its source."""
    counts = {"retrieval_miss": 30, "noise": 10}
    shown = lines(card(found(counts, faithfulness=0.95, context_recall=0.50), counts))
    assert shown["retrieval_miss"] == [
        "count: 30 / 40 failures = 75%, 30 / 200 examples = 15%  (at least 3 or 10% of the failures)",
        "high: faithfulness 0.95 [0.92, 0.98] is entirely above 0.85, the default threshold "
        "(BEE-30050; t, 95%, n = 200)",
        "low: context_recall 0.5 [0.47, 0.53] is entirely below 0.8, the default threshold "
        "(BEE-30050; t, 95%, n = 200)",
    ]
    assert len(shown["noise"]) == 1


def test_findings_against_a_baseline() -> None:
    """Against a baseline a reading is a difference with its interval, and the count before is shown."""
    held = against([change("faithfulness", 0.0), change("context_recall", -0.2, base=0.9)])
    counts = {"retrieval_miss": 20}
    findings = diagnose(summaries(), causes(counts), 200, against=held)
    made = explain_run(card(findings, counts, baseline=held.baseline), ())
    assert made.against == "main"
    assert made.failures == "20 / 200 examples failed = 10%"
    assert list(made.findings[0].lines) == [
        "count: 20 / 20 failures = 100%, 20 / 200 examples = 10%  (at least 3 or 10% of the failures)",
        "before: 0 / 0 failures in main",
        "high: faithfulness 0.5 - 0.5 in main = 0, and [-0.03, 0.03] includes 0: no change detected  "
        "(paired t, 95%, n = 200)",
        "low: context_recall 0.7 - 0.9 in main = -0.2, and [-0.23, -0.17] is entirely below 0  "
        "(paired t, 95%, n = 200)",
    ]


def test_means_are_explained_while_they_are_read() -> None:
    """As a reader it explains every metric that passes, in order."""
    arrays = ScoreArrays.of(build_score_frame([score("mrr", "a", 1.0), score("mrr", "b", 0.5)]))
    reader = MeanExplainer()
    for name in ("mrr", "faithfulness"):
        column = arrays.column(name)
        reader.read(parse_metric(name), column, column)
    assert [worked.summary.metric for worked in reader.found] == ["mrr", "faithfulness"]
    assert reader.found[0].mean == "1.50 / 2 = 0.75  (sum of the values)"
