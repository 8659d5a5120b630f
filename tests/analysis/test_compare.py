"""Two runs joined on their examples: differences, verdicts, and what is not compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from ragauge.comparison.changes import build_failures
from ragauge.comparison.comparability import MeasurementSpec, is_paired, list_comparable_metrics
from ragauge.comparison.pairs import Join
from ragauge.comparison.runs import BaselineReader
from ragauge.core.errors import UsageError
from ragauge.core.response import Run
from ragauge.core.score import Score
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import ScoreArrays, merge_repeats
from ragauge.scores.results.comparison import Failures, Matched, MetricChange
from ragauge.scores.results.scorecard import Cause
from ragauge.scores.summarize import build_cause_frame, build_score_frame
from ragauge.stats.mean_difference import agresti_min, paired_interval, unpaired_interval

Value = float | str  # a value, or a status without one


def score(metric: str, query_id: str, value: Value, repeat: int = 0, **more: float) -> Score:
    scored = isinstance(value, float)
    status = "scored" if scored else value
    bounds = {"low": value, "high": value} if scored else more
    return Score(
        "r",
        query_id,
        repeat,
        metric,
        1,
        None,
        0,
        status,  # type: ignore[arg-type]  # a text is a status
        value if scored else None,  # type: ignore[arg-type]  # else a number
        **bounds,
        reason="" if scored else "why",
    )


def arrays(
    metric: str,
    values: Mapping[str, Value],
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, str] | None = None,
) -> ScoreArrays:
    """Scores of one metric: query_id -> value or status."""
    by_response = {(query_id, 0): weight for query_id, weight in (weights or {}).items()}
    return ScoreArrays.of(build_score_frame([score(metric, q, v) for q, v in values.items()], by_response, clusters))


def compare(new: ScoreArrays, base: ScoreArrays, metric: str, *, paired: bool = True) -> tuple[MetricChange, ...]:
    beside = BaselineReader(new.index, base, [parse_metric(metric)], paired=paired)
    responses = new.column(metric)
    beside.read(parse_metric(metric), responses, None if responses is None else merge_repeats(responses))
    return beside.changes


def one(metric: str, new: ScoreArrays, base: ScoreArrays, *, paired: bool = True) -> MetricChange:
    (change,) = compare(new, base, metric, paired=paired)
    return change


def test_difference_is_over_the_examples_in_both() -> None:
    """Ten examples in one order, eight of them in the baseline in another: the eight pairs, by hand."""
    new = {f"q{i}": 0.5 + 0.05 * i for i in range(10)}
    base = {f"q{i}": 0.5 for i in reversed(range(2, 12))}
    found = one("faithfulness", arrays("faithfulness", new), arrays("faithfulness", base))
    # q2 .. q9: new 0.60 .. 0.95, mean 0.775; base 0.5
    assert (found.new, found.base) == pytest.approx((0.775, 0.5))
    assert found.difference.n == 8
    assert found.difference.mean == pytest.approx(0.275)
    pairs = [0.5 + 0.05 * i for i in range(2, 10)]
    assert found.difference.interval == paired_interval(pairs, [0.5] * 8, kind="mean", bounds=(0, 1))
    assert found.verdict == "better"


def test_only_what_both_scored_is_paired() -> None:
    """An example undefined or not applicable on either side counts on neither."""
    new: dict[str, Value] = {"a": 1.0, "b": 0.0, "c": 0.5, "d": "undefined", "e": 0.5}
    base: dict[str, Value] = {"a": 0.5, "b": 0.5, "c": "undefined", "d": 1.0, "e": "not_applicable"}
    found = one("faithfulness", arrays("faithfulness", new), arrays("faithfulness", base))
    assert (found.difference.n, found.new, found.base, found.difference.mean) == (2, 0.5, 0.5, 0.0)
    alone = one("faithfulness", arrays("faithfulness", {"a": 1.0}), arrays("faithfulness", {"a": 0.5}))
    assert (alone.difference.n, alone.difference.interval, alone.verdict) == (1, None, "not enough data")
    here, there = arrays("faithfulness", {"a": 1.0}), arrays("faithfulness", {"b": 1.0})
    assert compare(here, there, "faithfulness") == ()
    assert compare(here, arrays("mrr", {"a": 1.0}), "mrr") == ()


def test_repeats_are_averaged_before_pairing() -> None:
    """Three answers to one question are one pair, at their mean."""
    rows = [score("faithfulness", "a", value, repeat) for repeat, value in enumerate((1.0, 0.5, 0.0))]
    rows += [score("faithfulness", "b", 1.0, repeat) for repeat in range(3)]
    new = ScoreArrays.of(build_score_frame(rows))
    found = one("faithfulness", new, arrays("faithfulness", {"a": 0.25, "b": 1.0}))
    assert (found.difference.n, found.new, found.base) == (2, 0.75, 0.625)


def test_weights_and_clusters_are_used() -> None:
    """Pairs count by their weight, and pairs of one cluster are not independent."""
    g = np.random.default_rng(1)
    ids = [f"q{i}" for i in range(40)]
    x, y = g.random(40), g.random(40)
    weights, clusters = g.choice([1.0, 5.0], 40), [f"c{i // 4}" for i in range(40)]
    new = dict(zip(ids, map(float, x), strict=True))
    base = dict(zip(ids, map(float, y), strict=True))
    by_id = dict(zip(ids, map(float, weights), strict=True)), dict(zip(ids, clusters, strict=True))
    found = one("faithfulness", arrays("faithfulness", new, *by_id), arrays("faithfulness", base))
    assert found.difference.mean == pytest.approx(np.average(x - y, weights=weights))
    expected = paired_interval(x, y, kind="mean", weights=weights, clusters=clusters, bounds=(0, 1))
    assert expected is not None
    assert found.difference.interval is not None
    assert found.difference.interval.low == pytest.approx(expected.low)
    assert found.difference.interval.method == "paired skew-corrected clustered t by sign flips"


@pytest.mark.parametrize(
    ("metric", "rise", "verdict"),
    [
        ("faithfulness", 0.2, "better"),
        ("faithfulness", -0.2, "worse"),
        ("faithfulness", 0.0, "no change seen"),
        ("contradicted", 0.2, "worse"),
        ("contradicted", -0.2, "better"),
        ("self_knowledge", 0.2, "changed"),
        ("self_knowledge", 0.0, "no change seen"),
    ],
)
def test_verdict_follows_the_direction(metric: str, rise: float, verdict: str) -> None:
    """The whole interval on one side of 0 is better or worse by the metric's direction; changed where it has none."""
    noise = [0.01 if i % 2 else -0.01 for i in range(20)]
    new = {f"q{i}": 0.5 + rise + noise[i] for i in range(20)}
    base = {f"q{i}": 0.5 for i in range(20)}
    assert one(metric, arrays(metric, new), arrays(metric, base)).verdict == verdict


def test_same_run_twice() -> None:
    """A run against itself differs by 0 everywhere, with an interval around it: no change seen."""
    values = {f"q{i}": float(i % 2) for i in range(30)}
    for metric in ("recall@5", "ignored_top_ranked"):
        found = one(metric, arrays(metric, values), arrays(metric, values))
        assert (found.difference.mean, found.verdict) == (0.0, "no change seen")
        assert found.difference.interval is not None
        assert found.difference.interval.low < 0 < found.difference.interval.high


@pytest.mark.parametrize(("n", "verdict"), [(2, "not enough data"), (9, "not enough data"), (10, "no change seen")])
def test_few_examples_show_no_absence_of_change(n: int, verdict: str) -> None:
    """Of fewer than ten examples "no change seen" would be said of a fall by half: it is not enough data."""
    values = {f"q{i}": float(i % 2) for i in range(n)}
    fell = values | {"q1": 0.0}
    for new in (values, fell):
        assert one("recall@5", arrays("recall@5", new), arrays("recall@5", values)).verdict == verdict


def test_rates_take_their_own_method() -> None:
    """Pairs of 0 and 1 take Agresti and Min's interval."""
    new = {f"q{i}": float(i >= 12) for i in range(40)}
    base = {f"q{i}": float(i >= 4) for i in range(40)}
    found = one("ignored_top_ranked", arrays("ignored_top_ranked", new), arrays("ignored_top_ranked", base))
    assert found.difference.interval == agresti_min(0, 8, 40)


def test_failed_scores_can_take_a_verdict_back() -> None:
    """20 examples fell by 0.2; 5 that failed might each have risen by 1: then nothing is certain."""
    fall = {f"q{i}": 0.3 + 0.01 * (i % 2) for i in range(20)}
    base = {f"q{i}": 0.5 for i in range(25)}
    few: dict[str, Value] = {**fall, "q20": "failed"}
    many: dict[str, Value] = {**fall, **{f"q{i}": "failed" for i in range(20, 25)}}
    many_base = {**base, **{f"q{i}": 0.0 for i in range(20, 25)}}
    assert one("faithfulness", arrays("faithfulness", fall), arrays("faithfulness", base)).verdict == "worse"
    assert one("faithfulness", arrays("faithfulness", few), arrays("faithfulness", base)).verdict == "worse"
    found = one("faithfulness", arrays("faithfulness", many), arrays("faithfulness", many_base))
    assert found.verdict == "not enough data"
    assert found.difference.n == 20
    # the failures' own bounds tell that they lie at most 0.1 above: sum 20 * -0.195 + 5 * 0.1 stays below 0
    bounded = [score("faithfulness", q, v) for q, v in fall.items()]
    bounded += [score("faithfulness", f"q{i}", "failed", low=0.0, high=0.1) for i in range(20, 25)]
    sure = one("faithfulness", ScoreArrays.of(build_score_frame(bounded)), arrays("faithfulness", many_base))
    assert sure.verdict == "worse"
    slow = {f"q{i}": 900.0 + i for i in range(20)}
    failed: dict[str, Value] = {**{q: 2 * v for q, v in slow.items()}, "q20": "failed"}
    assert one("latency", arrays("latency", failed), arrays("latency", {**slow, "q20": 1.0})).verdict == "worse"


def test_traffic_is_compared_as_two_samples() -> None:
    """Two stretches of traffic share no request: the difference of two independent means."""
    g = np.random.default_rng(2)
    new = {f"n{i}": float(v) for i, v in enumerate(g.random(60))}
    base = {f"b{i}": float(v) for i, v in enumerate(g.random(80))}
    found = one("faithfulness", arrays("faithfulness", new), arrays("faithfulness", base), paired=False)
    expected = unpaired_interval(list(new.values()), list(base.values()), kind="mean", bounds=(0, 1))
    assert found.difference.interval == expected
    assert found.difference.mean == pytest.approx(np.mean(list(new.values())) - np.mean(list(base.values())))


def test_when_runs_are_paired() -> None:
    """Sets always are; traffic is where half of it or more was answered by both."""
    traffic = Run("t", "t", kind="traffic")
    a_set = Run("s", "s")
    none, half = Join(["a", "b"], ["c"]), Join(["a", "b"], ["b", "c"])
    assert is_paired(a_set, a_set, none)
    assert not is_paired(traffic, traffic, none)
    assert not is_paired(traffic, traffic, Join([], []))
    assert is_paired(traffic, traffic, half)
    assert not is_paired(traffic, a_set, Join(["a", "b", "c"], ["a"]))


def test_failures_are_counted_once_an_example() -> None:
    """Failed examples by cause before and now, an example of several repeats once; of two samples all examples."""
    frame = build_cause_frame([("b", 0, Cause("noise")), ("b", 1, Cause("noise")), ("c", 0, Cause("")), ("x", 0, None)])
    assert build_failures(frame.head(1), frame) == Failures({"noise": 1, "": 1}, {"noise": 1}, 2, 1)
    assert build_failures(frame, frame, {"c"}) == Failures({"": 1}, {"": 1}, 1, 1)
    paired, samples = (Matched(2, 2, 1, paired=one) for one in (True, False))
    assert (paired.pairs, paired.here, paired.there) == (2, 2, 1)
    assert (samples.pairs, samples.here, samples.there) == (0, 4, 3)


ALIKE = MeasurementSpec(
    "new",
    "local:1",
    {"faithfulness": 1, "recall@5": 1, "context_recall": 1},
    {"verify_answer": (1,), "verify_reference": (2,)},
)
ASKED = [parse_metric(name) for name in ("recall@5", "faithfulness", "context_recall")]


def refused(base: MeasurementSpec, metrics: Sequence[str] = ("recall@5", "faithfulness", "context_recall")) -> str:
    with pytest.raises(UsageError) as raised:
        list_comparable_metrics(ALIKE, base, [parse_metric(name) for name in metrics])
    return str(raised.value)


def test_runs_measured_alike_are_compared() -> None:
    """The metrics that both have are compared; those of one alone are left out."""
    base = replace(ALIKE, name="base", metrics={"faithfulness": 1, "recall@5": 1, "mrr": 1})
    assert [str(metric) for metric in list_comparable_metrics(ALIKE, base, ASKED)] == ["recall@5", "faithfulness"]


def test_other_judges_are_refused() -> None:
    """Runs of different judges are refused with the command that judges again; metrics from labels never are."""
    base = replace(ALIKE, name="base", judge_id="openai:x")
    text = refused(base)
    assert "new was judged by local:1, base by openai:x" in text
    names = "-m faithfulness,context_recall"
    assert text.endswith(f"ragauge evaluate base {names} and then ragauge evaluate new {names}")
    assert refused(replace(base, judge_id=None)).endswith(f"ragauge evaluate base {names}")
    assert list_comparable_metrics(ALIKE, base, [parse_metric("recall@5")]) == [parse_metric("recall@5")]


def test_other_versions_are_refused() -> None:
    """Another version of a metric, or of a question that it needs, is another measurement."""
    base = replace(ALIKE, name="base", metrics={**ALIKE.metrics, "recall@5": 2})
    assert "recall@5 is version 1 in new and version 2 in base" in refused(base)
    assert refused(base).endswith("ragauge evaluate new -m recall@5")  # the older one; to judge base again is no use
    older = replace(ALIKE, name="base", metrics={**ALIKE.metrics, "recall@5": 0})
    assert refused(older).endswith("ragauge evaluate base -m recall@5")
    asked = replace(ALIKE, name="base", questions={"verify_answer": (1,), "verify_reference": (1, 2)})
    text = refused(asked)
    assert text.startswith("context_recall uses the judge question verify_reference, which was version 2 in new")
    assert "new and version 1 and 2 in base" in text
    assert list_comparable_metrics(ALIKE, asked, [parse_metric("faithfulness")]) == [parse_metric("faithfulness")]


def test_every_other_version_is_named() -> None:
    """Up to three metrics by name and the others by their number; the commands name each run once, and all metrics."""
    names = ["recall@5", "mrr", "precision@5", "hit@5", "map"]
    both = replace(ALIKE, metrics=dict.fromkeys(names, 2))

    def text(versions: Mapping[str, int]) -> str:
        with pytest.raises(UsageError) as raised:
            list_comparable_metrics(
                both, replace(both, name="base", metrics={**both.metrics, **versions}), list(map(parse_metric, names))
            )
        return str(raised.value)

    two = text({"mrr": 1, "hit@5": 3})
    assert "mrr is version 2 in new and version 1 in base; hit@5 is version 2 in new and version 3 in base: " in two
    assert two.endswith(
        "their meanings changed. Judge the stored responses the same way: ragauge evaluate base -m mrr,hit@5 and then "
        "ragauge evaluate new -m mrr,hit@5"
    )
    every = text(dict.fromkeys(names, 1))
    assert every.count("version 1 in base") == 3
    assert "precision@5 is version 2 in new and version 1 in base and 2 more: their meanings changed" in every
    assert every.endswith("ragauge evaluate base -m recall@5,mrr,precision@5,hit@5,map")


def test_every_metric_of_another_question_is_named() -> None:
    """Two questions that changed are both named, each with the metrics that rest on it."""
    names = ["faithfulness", "not_in_context", "context_recall"]
    new = replace(ALIKE, metrics=dict.fromkeys(names, 1))
    base = replace(new, name="base", questions={"verify_answer": (2,), "verify_reference": (1,)})
    with pytest.raises(UsageError) as raised:
        list_comparable_metrics(new, base, list(map(parse_metric, names)))
    assert str(raised.value).startswith(
        "faithfulness, not_in_context use the judge question verify_answer, which was version 1 in new and "
        "version 2 in base; "
        "context_recall uses the judge question verify_reference, which was version 2 in new and version 1 in base. "
    )


def test_what_one_side_was_never_asked_is_no_other_version() -> None:
    """A question about references that no example of the baseline has leaves its metric without a score, no more."""
    unasked = replace(ALIKE, name="base", questions={"verify_answer": (1,)})
    for new, base in ((ALIKE, unasked), (unasked, ALIKE)):
        assert list_comparable_metrics(new, base, ASKED) == ASKED


def test_nothing_in_common_is_refused() -> None:
    """Runs without a common metric are not compared in silence."""
    assert "have no metric in common" in refused(replace(ALIKE, name="base", metrics={"mrr": 1}), ["recall@5"])
