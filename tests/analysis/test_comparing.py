"""What changed between runs: every verdict, segments, the correction, and the examples that flipped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.analysis.test_compare import Value, arrays

from ragauge.comparison.comparability import diff_configs
from ragauge.comparison.correction import Correction, tarone_holm
from ragauge.comparison.pairs import Join
from ragauge.comparison.runs import CorrectedChanges, RunComparer, correct_changes
from ragauge.core.response import Run
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import Columns, ScoreArrays, merge_repeats
from ragauge.scores.indicators import read_against_run
from ragauge.scores.results.comparison import MetricChange, RunComparison
from ragauge.scores.results.overview import MeanEstimate
from ragauge.stats.families import holm
from ragauge.stats.weighted import Interval

Sides = tuple[Mapping[str, Value], Mapping[str, Value]]  # baseline, new run


def compared(
    metrics: Mapping[str, Sides],
    segments: Mapping[str, Mapping[str, str]] | None = None,
    level: float = 0.95,
    clusters: Mapping[str, str] | None = None,
) -> tuple[RunComparer, CorrectedChanges]:
    """Metric -> scores in the baseline and now; segment column -> query_id -> value; query_id -> cluster."""
    sides = {name: tuple(arrays(name, side, None, clusters) for side in both) for name, both in metrics.items()}
    first_base, first_new = next(iter(sides.values()))
    frame = None
    if segments is not None:
        ids = list(first_new.index.query_ids)
        frame = pl.DataFrame({"query_id": ids, **{c: [v.get(q) for q in ids] for c, v in segments.items()}})
    join = Join(first_new.index.query_ids, first_base.index.query_ids)
    comparer = RunComparer(first_new.index, join, frame, level=level)
    for name, (base, new) in sides.items():
        comparer.read(parse_metric(name), examples(new, name), examples(base, name))
    return comparer, correct_changes([comparer], level)[0][0]


def examples(side: ScoreArrays, name: str) -> Columns:
    found = side.column(name)
    assert found is not None
    return merge_repeats(found)


def one(
    metric: str, base: Mapping[str, Value], new: Mapping[str, Value], clusters: Mapping[str, str] | None = None
) -> MetricChange:
    (change,) = compared({metric: (base, new)}, clusters=clusters)[1].metrics
    return change


def of(values: Iterable[float]) -> dict[str, Value]:
    return {f"q{i}": float(value) for i, value in enumerate(values)}


# ---- verdicts ----


@pytest.mark.parametrize(
    ("metric", "shift", "verdict"),
    [
        ("faithfulness", 0.2, "better"),
        ("faithfulness", -0.2, "worse"),
        ("contradicted", 0.2, "worse"),
        ("contradicted", -0.2, "better"),
        ("self_knowledge", 0.2, "changed"),
        ("faithfulness", 0.0, "no change seen"),
    ],
)
def test_each_verdict(metric: str, shift: float, verdict: str) -> None:
    """A clear shift is better or worse by the metric's direction, changed where it has none; noise is no change."""
    g = np.random.default_rng(3)
    base = np.clip(g.normal(0.5, 0.1, 60), 0, 1)
    noise = g.normal(0, 0.05, 60)
    new = np.clip(base + shift + noise - noise.mean(), 0, 1)
    found = one(metric, of(base), of(new))
    assert (found.verdict, found.alone) == (verdict, verdict)
    assert found.difference.n == 60
    assert found.wins + found.ties + found.losses == 60
    assert found.difference.mean == pytest.approx(float((new - base).mean()))
    if verdict in ("better", "worse"):
        assert (found.wins > found.losses) == (verdict == "better")


def test_none_or_one_example_is_not_enough() -> None:
    """No pair has no mean, one has no interval and no p-value: never a difference of 0, never a width of 0."""
    none = one("faithfulness", {"a": 1.0, "b": "undefined"}, {"a": "undefined", "b": 1.0})
    assert (none.base, none.new, none.difference.mean, none.difference.interval) == (None, None, None, None)
    assert (none.p_value, none.corrected, none.verdict, none.difference.n) == (None, None, "not enough data", 0)
    single = one("faithfulness", {"a": 1.0}, {"a": 0.5})
    assert (single.difference.mean, single.difference.interval, single.p_value) == (-0.5, None, None)
    assert (single.verdict, single.losses) == ("not enough data", 1)


def test_a_run_against_itself() -> None:
    """Case 75: the difference is 0 on every kind of metric, with an interval around it, and no change is seen."""
    g = np.random.default_rng(5)
    rates, shares = of(g.integers(0, 2, 40)), of(g.random(40))
    _, found = compared(
        {"ignored_top_ranked": (rates, rates), "faithfulness": (shares, shares), "latency": (shares, shares)},
        {"type": {f"q{i}": "ab"[i % 2] for i in range(40)}},
    )
    for change in (*found.metrics, *(part.change for part in found.segments)):
        assert (change.difference.mean, change.wins, change.losses) == (0.0, 0, 0)
        if change.metric != "latency":  # without bounds nothing tells how far another pair may lie
            assert change.verdict == "no change seen"
            assert change.difference.interval is not None
            assert change.difference.interval.low < 0 < change.difference.interval.high


def test_what_could_have_been_seen_by_hand() -> None:
    """The least change found in 80 of 100 comparisons is about (1.96 + 0.84) standard errors; of equal runs unknown."""
    d = np.random.default_rng(4).normal(0, 0.1, 400)
    base = of(np.full(400, 0.5))
    assert one("faithfulness", base, of(0.5 + d)).detectable == pytest.approx(2.8016 * d.std(ddof=1) / 20, rel=0.005)
    assert one("faithfulness", base, base).detectable is None


def test_few_that_differ_cannot_tell() -> None:
    """Four of four examples that differ got worse: two-sided p is 1/8 at best, so no outcome would have been enough."""
    base = of([1.0] * 12)
    new = of([0.5] * 4 + [1.0] * 8)
    found = one("faithfulness", base, new)
    assert found.p_value == pytest.approx(1 / 8)
    assert (found.alone, found.verdict, found.corrected) == ("worse", "not enough data", 1.0)
    assert found.is_possible


@pytest.mark.parametrize(("clusters", "verdict"), [(4, "not enough data"), (5, "not enough data"), (6, "worse")])
def test_few_clusters_cannot_tell(clusters: int, verdict: str) -> None:
    """Forty examples that all got worse tell nothing in five clusters: 1 in 16 by chance; in six 1 in 32."""
    base, new = np.full(40, 0.8), 0.5 + 0.005 * np.arange(40)
    found = one("faithfulness", of(base), of(new), {f"q{i}": f"c{i % clusters}" for i in range(40)})
    assert (found.alone, found.verdict, found.losses, found.differing) == ("worse", verdict, 40, clusters)


@pytest.mark.parametrize(("clusters", "verdict"), [(9, "not enough data"), (10, "no change seen")])
def test_few_clusters_show_no_absence_of_change(clusters: int, verdict: str) -> None:
    """Sixty examples in nine clusters are nine observations: too few to say that no change was seen."""
    g = np.random.default_rng(7)
    base, noise = g.uniform(0.3, 0.7, 60), g.normal(0, 0.1, 60)
    labels = {f"q{i}": f"c{i % clusters}" for i in range(60)}
    assert one("faithfulness", of(base), of(base + noise - noise.mean()), labels).verdict == verdict


# ---- segments ----


def planted() -> tuple[Sides, dict[str, dict[str, str]]]:
    """400 examples: 60 of one tenant lose 0.15, the others gain 0.05: the mean rises by 0.02."""
    g = np.random.default_rng(11)
    base = np.clip(g.normal(0.6, 0.15, 400), 0.2, 0.9)
    shift = np.where(np.arange(400) % 20 < 3, -0.15, 0.05)
    new = np.clip(base + shift + g.normal(0, 0.03, 400), 0, 1)
    tenants = {f"q{i}": "acme" if i % 20 < 3 else f"other {i % 3}" for i in range(400)}
    return (of(base), of(new)), {"tenant": tenants}


def test_segment_that_got_worse_under_a_better_mean() -> None:
    """Case 78: the mean rises by 0.02, one segment falls by 0.15: it is worse, stands first, and is called hidden."""
    both, segments = planted()
    _, found = compared({"faithfulness": both}, segments)
    (whole,) = found.metrics
    assert whole.difference.mean == pytest.approx(0.02, abs=0.005)
    assert whole.verdict == "better"
    first, *rest = found.segments
    assert (first.column, first.value, first.change.verdict) == ("tenant", "acme", "worse")
    assert first.change.difference.n == 60
    assert first.change.difference.mean == pytest.approx(-0.15, abs=0.01)
    assert first.is_hidden
    assert {part.change.verdict for part in rest} == {"better"}
    assert len(first.change.moved) == 20
    falls = [one.base - one.new for one in first.change.moved]
    assert falls == sorted(falls, reverse=True)
    comparison = RunComparison(Run("b", "b"), Run("n", "n"), None, found.metrics, found.segments)  # type: ignore[arg-type]     # only its metrics are read
    assert comparison.verdict == "mixed"
    assert comparison.worse_segments == (first,)


def test_quality_stands_before_amounts_among_segments_that_got_worse() -> None:
    """Latency that trebled everywhere does not push a segment's fall out of the first lines."""
    kinds = {"type": {f"q{i}": "rare" if i % 4 == 0 else "usual" for i in range(80)}}
    generator = np.random.default_rng(3)
    before, slow = generator.random(80), generator.normal(200, 20, 80)
    now = before - np.where(np.arange(80) % 4 == 0, 0.5 + generator.normal(0, 0.05, 80), 0.0)
    found = compared({"latency": (of(slow), of(3 * slow)), "mrr": (of(before), of(np.clip(now, 0, 1)))}, kinds)[1]
    worse = [(part.value, part.change.metric) for part in found.segments if part.change.verdict == "worse"]
    assert worse[0] == ("rare", "mrr")
    assert {metric for _, metric in worse[1:]} == {"latency"}


def test_what_may_be_chance_reads_alike_in_reports_and_comparisons() -> None:
    """A change that the correction takes back is no change seen in a report too, and no pattern is read from it."""
    comparer, found = compared({"faithfulness": (of([0.5, 0.6] * 20), of([0.5, 0.6] * 20))})
    (same,) = found.metrics
    fell = MeanEstimate(-0.05, Interval(-0.09, -0.01, "t", 0.95), 40)
    for alone, clear in (("no change seen", True), ("worse", False)):
        (read,) = comparer.whole.select_shown([replace(same, alone=alone, difference=fell)])
        assert (read.verdict, read.is_possible) == ("no change seen", not clear)
        assert (read_against_run("faithfulness", "high", [read], "base") is not None) is clear


def test_segments_of_noise_are_not_worse() -> None:
    """20 comparisons of noise over ten segments and two metrics: a false alarm in at most a handful of them."""
    alarms = 0
    for seed in range(20):
        g = np.random.default_rng(seed)
        metrics = {name: (of(g.random(200)), of(g.random(200))) for name in ("faithfulness", "context_recall")}
        segments = {"type": {f"q{i}": f"t{i % 10}" for i in range(200)}}
        _, found = compared(metrics, segments)
        alarms += any(part.change.verdict in ("better", "worse") for part in found.segments)
    # at 5 % one is expected; 5 or more of 20 has a chance of 0.3 %
    assert alarms < 5


def test_possible_segments_say_something_new() -> None:
    """What only the interval alone shows is perhaps worse; where the metric fell as a whole it is not repeated."""
    g = np.random.default_rng(2)
    values = np.clip(g.normal(0.6, 0.1, 100), 0, 1)
    fallen = np.where(np.arange(100) < 8, values - 0.2 * g.random(100), values + 0.01 * g.normal(size=100))
    segments = {"type": {f"q{i}": "rare" if i < 8 else f"t{i % 40}" for i in range(100)}}
    _, found = compared({"faithfulness": (of(values), of(np.clip(fallen, 0, 1)))}, segments)
    rare = next(part for part in found.segments if part.value == "rare")
    assert rare.change.alone == "worse"
    comparison = RunComparison(Run("b", "b"), Run("n", "n"), None, found.metrics, found.segments)  # type: ignore[arg-type]     # only its metrics are read
    if rare.change.verdict != "worse":
        assert rare in comparison.possible_segments
    _, whole = compared({"faithfulness": (of(values), of(np.clip(values - 0.3, 0, 1)))}, segments)
    comparison = RunComparison(Run("b", "b"), Run("n", "n"), None, whole.metrics, whole.segments)  # type: ignore[arg-type]     # only its metrics are read
    assert not comparison.possible_segments


# ---- the correction ----


def test_correction_is_holm_for_continuous_tests() -> None:
    """Tests that can have any p-value are corrected as `stats.families.holm` does, whatever their order."""
    g = np.random.default_rng(1)
    for scale in (1.0, 0.01):
        p_values = [float(p) for p in scale * g.random(25)]
        adjusted, tests = tarone_holm(p_values, [0.0] * 25)
        assert tests == 25
        for mine, theirs in zip(adjusted, holm(p_values), strict=True):
            assert mine == pytest.approx(theirs)


def test_tests_that_cannot_tell_take_no_power() -> None:
    """A p of 0.01 among 99 tests of no pair that differs stands; Holm over all hundred would have lost it."""
    p_values, least = [0.01, *[1.0] * 99], [0.001, *[1.0] * 99]
    assert tarone_holm(p_values, least) == ([0.01, *[None] * 99], 1)
    assert holm(p_values)[0] == 1.0


def test_family_wise_error_of_discrete_tests_is_held() -> None:
    """2,000 families of 30 sign tests without effect, of 0 to 12 pairs each: a false alarm in at most 5.9 % of them."""
    g = np.random.default_rng(4)
    alarms = 0
    for _ in range(2_000):
        sizes = g.integers(0, 13, 30)
        p_values, least = [], []
        for n in sizes.tolist():
            up = int(g.binomial(n, 0.5))
            p_values.append(sign_test(up, n))
            least.append(min(1.0, 2.0 ** (1 - n)))
        adjusted, _ = tarone_holm(p_values, least)
        alarms += any(p is not None and p <= 0.05 for p in adjusted)
    # a true rate of 5 % exceeds 118 of 2,000 with a chance of 3 %
    assert alarms <= 118


def sign_test(up: int, n: int) -> float:
    from math import comb

    tail = sum(comb(n, k) for k in range(max(up, n - up), n + 1))
    return min(1.0, tail / float(2 ** (n - 1)) if n else 1.0)


# ---- examples that flipped ----


def scores(names: str, *values: float) -> dict[str, Value]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def test_flips_are_ordered_by_what_they_lost() -> None:
    """Examples that flipped on a 0/1 metric, or failed, stand by the change of their quality, the worst first."""
    metrics: dict[str, Sides] = {
        # a loses on both, b on one; c wins one; d stays; e changes nothing but newly fails
        "recall@5": (scores("abcde", 1, 1, 0, 1, 1), scores("abcde", 0, 0, 1, 1, 1)),
        "contradicted": (scores("abcde", 0, 0, 0, 0.5, 0), scores("abcde", 1, 0, 0, 0, 0)),
    }
    comparer, _ = compared(metrics)
    found = comparer.flips.find_flips({"a", "e", "x"}, {"b", "d"}, {"a", "b", "c", "d", "e"})
    names = ["abcde"[one.query] for one in found.chosen]
    assert names == ["a", "b", "e", "d", "c"]
    # a: recall −1, contradicted −1 (lower is better): mean −1; b: −1/2; e: 0, d: +1/4, c: +1/2
    assert [one.change for one in found.chosen] == pytest.approx([-1.0, -0.5, 0.0, 0.25, 0.5])
    assert (found.lost, found.gained, found.newly_failed, found.mended) == (3, 2, 2, 2)
    first = found.chosen[0]
    # contradicted has a score of 0.5, so it is no 0/1 metric here
    assert [(one.metric, one.base, one.new) for one in first.scores] == [("recall@5", 1.0, 0.0)]


def test_flips_shown_are_those_at_both_ends() -> None:
    """Of 200 that flipped 60 are shown: half of them those that lost most, half those that gained most."""
    base = of([i % 2 for i in range(200)])
    new = of([1 - i % 2 for i in range(200)])
    comparer, _ = compared({"recall@5": (base, new)})
    found = comparer.flips.find_flips(set(), set(), set(base))
    assert (found.lost, found.gained, len(found.chosen)) == (100, 100, 60)
    assert sum(one.change < 0 for one in found.chosen) == 30
    few = of([0.0] * 200)
    comparer, _ = compared({"recall@5": (few, of([1.0] * 3 + [0.0] * 197))})
    assert len(comparer.flips.find_flips(set(), set(), set(few)).chosen) == 3


# ---- settings ----


def test_settings_by_path() -> None:
    """Nested settings are compared by path; a list is one value; true is not 1, and a group that went is removed."""
    base = {"retriever": {"k": 5, "stages": ["bm25"], "rerank": 1}, "prompt": {"name": "a"}, "seed": 1, "empty": {}}
    new = {"retriever": {"k": 8, "stages": ["bm25", "dense"], "rerank": True}, "seed": 1, "model": "m", "empty": {}}
    found = diff_configs(base, new)
    assert {one.path: (one.base, one.new) for one in found.changed} == {
        "retriever.k": (5, 8),
        "retriever.stages": (["bm25"], ["bm25", "dense"]),
        "retriever.rerank": (1, True),
    }
    assert [(one.path, one.new) for one in found.added] == [("model", "m")]
    assert [(one.path, one.base) for one in found.removed] == [("prompt.name", "a")]
    assert len(found) == 5
    assert len(diff_configs(base, base)) == 0


def test_correction_is_the_one_chosen() -> None:
    """Holm, Benjamini-Hochberg and none give the p that a verdict takes, each milder than the one before."""
    g = np.random.default_rng(12)
    metrics: dict[str, Sides] = {}
    for name, shift in (("faithfulness", 0.09), ("hit", 0.0), ("ndcg", 0.08), ("recall", 0.07), ("precision", 0.0)):
        base = g.random(60) * 0.8
        metrics[f"{name}@5" if name != "faithfulness" else name] = (
            of(base),
            of(np.clip(base + shift + g.normal(0, 0.2, 60), 0, 1)),
        )
    comparer, _ = compared(metrics)
    choices: tuple[Correction, ...] = ("holm", "bh", "none")
    by_holm, by_discovery, plain = (correct_changes([comparer], 0.95, one)[0][0].metrics for one in choices)
    for strict, mild, raw in zip(by_holm, by_discovery, plain, strict=True):
        assert strict.corrected == strict.holm == mild.holm == raw.holm
        assert mild.corrected == strict.discovery == mild.discovery
        assert raw.corrected == raw.p_value
        assert (raw.corrected or 0) <= (mild.corrected or 0) <= (strict.corrected or 0)
        for one in (strict, mild, raw):
            assert (one.verdict in ("better", "worse")) == ((one.corrected or 0) <= 0.05)
    assert any(one.verdict != other.verdict for one, other in zip(by_holm, plain, strict=True))


def test_far_values_are_counted_in_the_family() -> None:
    """A t held against random signs stays in a family of which signs alone are too few."""
    g, n = np.random.default_rng(13), 8
    gains = np.array([1, 1.1, 1.2, 0.9, 1.3, 1.05, 0.95, 60])
    metrics: dict[str, Sides] = {"latency": (of([5.0] * n), of(5 + gains))}
    metrics |= {f"ndcg@{k}": (of(g.random(n)), of(g.random(n))) for k in range(1, 9)}
    latency = compared(metrics)[1].metrics[0]
    assert (latency.metric, latency.test) == ("latency", "paired skew-corrected t by sign flips")
    assert latency.holm is not None
