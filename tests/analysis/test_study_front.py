"""Fronts, knees and recommendations."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from ragauge.analysis.scores.arrays import ScoreArrays
from ragauge.analysis.studies.figures import StudyFigures, StudyKind
from ragauge.analysis.studies.front import knee, knee_of, pareto_front
from ragauge.analysis.studies.kinds import kind_of
from ragauge.analysis.studies.reading import StudyTarget, read_trials, trial_means
from ragauge.data.study import Measurement, Study, Trial
from ragauge.errors import UnknownName, UsageError
from ragauge.metrics.catalogue import parse
from ragauge.stats.max_t import may_be_best

RECALL = parse("recall@5")


def scored(values: list[float]) -> ScoreArrays:
    """Scores of one metric, an example each."""
    n = len(values)
    return ScoreArrays.of(pl.DataFrame({
        "query_id": [f"q{i}" for i in range(n)], "repeat": [0] * n, "metric": ["recall@5"] * n,
        "status": ["scored"] * n,
        "value": values, "numerator": [None] * n, "denominator": [None] * n, "low": values, "high": values,
        "reason": [""] * n,
    }, schema_overrides={"numerator": pl.Float64, "denominator": pl.Float64}))     # fmt: skip


def test_front_holds_what_nothing_beats() -> None:
    """A point stays on the front unless another is no dearer and no worse, and better in one of both."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        quality, cost = rng.integers(0, 6, 8).tolist(), rng.integers(0, 6, 8).tolist()
        beaten = {
            i for i in range(8) for j in range(8)
            if quality[j] >= quality[i] and cost[j] <= cost[i] and (quality[j] > quality[i] or cost[j] < cost[i])
        }     # fmt: skip
        front = pareto_front(quality, cost)
        assert {(quality[n], cost[n]) for n in front} == {(quality[n], cost[n]) for n in range(8) if n not in beaten}
        assert [cost[n] for n in front] == sorted(cost[n] for n in front)


def test_knee_is_told_only_where_it_is_clear() -> None:
    """A bend that resamples agree on is the knee; a straight front and two points have none, with the reason."""
    rng = np.random.default_rng(3)
    noise = rng.normal(scale=0.02, size=(100, 4))
    clear = knee(np.array([0.2, 0.8, 0.9, 1.0]) + noise, [1, 2, 5, 9])
    assert (clear.trial, clear.reason) == (1, "")
    assert clear.agreement > 0.9
    straight = knee(np.array([0.1, 0.4, 0.7, 1.0]) + noise * 0.01, [1, 4, 7, 10])
    assert straight.trial is None
    assert "below 0.05" in straight.reason
    assert "fewer than three" in knee(np.array([[0.1, 0.2], [0.2, 0.4]]), [1, 2]).reason
    assert knee_of([0.0, 0.5, 1.0], [1, 10, 100], logarithmic=True) != knee_of([0.0, 0.5, 1.0], [1, 10, 100])


def test_cheapest_of_the_best_is_taken() -> None:
    """Of what may be best the cheapest is taken; a clear loser is not in the set, cheap as it is."""
    rng = np.random.default_rng(5)
    base = rng.uniform(0.3, 0.7, 80)
    scores = {
        "poor": scored((base - 0.2).tolist()), "good": scored((base + rng.normal(0, 0.02, 80)).tolist()),
        "dear": scored((base + rng.normal(0, 0.02, 80)).tolist()),
    }     # fmt: skip
    prices = {"poor": 1.0, "good": 2.0, "dear": 3.0}
    found = read_trials(scores, RECALL, "index_tokens", prices)
    assert found.best_set == ("good", "dear")
    assert found.recommendation.trial == "good"
    sure = read_trials(scores, RECALL, "index_tokens", prices, target=StudyTarget("recall@5", 0.2))
    assert sure.recommendation.trial == "poor"
    near = float(base.mean()) - 0.001
    unsure = read_trials(scores, RECALL, "index_tokens", prices, target=StudyTarget("recall@5", near))
    assert unsure.recommendation.trial is None
    assert (unsure.recommendation.examples or 0) > 80
    never = read_trials(scores, RECALL, "index_tokens", prices, target=StudyTarget("recall@5", 0.99))
    assert never.recommendation == type(never.recommendation)(None, "no trial's mean meets recall@5 ≥ 0.99")


def test_differences_are_one_family() -> None:
    """Differences to the base are paired, by segment too, and Holm's p over all of them is no less than each alone."""
    rng = np.random.default_rng(6)
    base = rng.uniform(0, 0.5, 60)
    scores = {"base": scored(base.tolist()), "more": scored((base + rng.uniform(0.0, 0.2, 60)).tolist())}
    alone = trial_means(scores, RECALL, base="base")
    both = trial_means(scores, RECALL, base="base", segments={"half=first": np.arange(60) < 30})
    assert [one.segment for one in both] == ["", "", "half=first", "half=first"]
    assert both[0].p_value is None
    assert 0.05 < (both[1].difference or 0) < 0.15
    assert (both[1].p_value or 0) >= (alone[1].p_value or 0)
    assert both[3].counts["scored"] == 30


def test_a_cost_that_is_missing_is_not_nothing() -> None:
    """A trial whose cost is not known stands on no front and is not recommended: it does not cost 0."""
    rng = np.random.default_rng(7)
    base = rng.uniform(0.3, 0.7, 80)
    scores = {name: scored((base + rng.normal(0, 0.02, 80)).tolist()) for name in ("unknown", "known", "dear")}
    found = read_trials(scores, RECALL, "index_tokens", {"known": 2.0, "dear": 3.0})
    assert "unknown" in found.best_set
    assert "unknown" not in found.front
    assert found.recommendation.trial == "known"
    alone = read_trials({"unknown": scores["unknown"]}, RECALL, "index_tokens", {})
    assert alone.recommendation.trial is None


def test_measurements_decide_where_there_are_no_scores() -> None:
    """Trials without scores are held to a measurement: by its intervals, with a front and a target, without a knee."""
    def trial(name: str, value: float, cost: float) -> Trial:
        told = Measurement("ann_recall", value, "", value - 0.02, value + 0.02, 100)
        return Trial(name, {"ef": name}, "complete", "", "", (told, Measurement("p50", cost, "ms")))

    kind = StudyKind("indexes", ("ann_recall*",), ("p50",))
    study = Study("s", "indexes", trials=(trial("a", 0.80, 1.0), trial("b", 0.95, 2.0), trial("c", 0.96, 5.0)))
    found = StudyFigures(study, kind, {}, ())
    assert (found.metric, found.scored, found.cost) == ("ann_recall", False, "p50")
    assert (found.reading.best_set, found.reading.front) == (("b", "c"), ("a", "b", "c"))
    assert found.reading.recommendation.trial == "b"
    assert "no examples to draw again" in found.reading.knee.reason
    sure = StudyFigures(study, kind, {}, ()).ask(target="ann_recall=0.94").reading.recommendation
    assert sure.trial == "c"
    with pytest.raises(UsageError, match=r"expected METRIC=x, such as recall@5=0.8, got 'ann_recall=much'"):
        StudyFigures(study, kind, {}, ()).ask(target="ann_recall=much")
    with pytest.raises(UnknownName, match="no kind of study 'indexes'"):
        kind_of("indexes")


def kept(studies: int, ties: int, n: int, trials: int, clusters: int = 0) -> tuple[float, float]:
    """Of simulated studies, in which share every true best stays in the set, and of the others, which share stays.

    The others are 0.02 to 0.1 worse.
    """
    lost = others = 0
    for seed in range(studies):
        rng = np.random.default_rng([seed, ties, n])
        behind = np.where(np.arange(trials) < ties, 0.0, rng.uniform(0.02, 0.1, trials))
        shared = rng.uniform(0.2, 0.9, (n, 1))     # questions are easy or hard for all trials alike
        groups = rng.integers(0, clusters, n) if clusters else None
        noise = rng.normal(0, 0.1, (n, trials))
        if groups is not None:
            noise += rng.normal(0, 0.15, (clusters, trials))[groups]
        values = np.clip(shared - behind + noise, 0, 1)
        marks = may_be_best(values, groups, draws=500, seed=seed)
        lost += not all(marks[:ties])
        others += sum(marks[ties:])
    return 1 - lost / studies, others / studies / (trials - ties)


@pytest.mark.parametrize("clusters", [0, 40])
def test_best_stays_in_the_set(clusters: int) -> None:
    """Of 150 simulated studies the true best stays in at least 95 % less three standard errors; most losers go."""
    share, others = kept(150, 1, 200, 5, clusters)
    assert share >= 0.95 - 3 * (0.05 * 0.95 / 150) ** 0.5
    assert others < (0.8 if clusters else 0.25)


@pytest.mark.prove
@pytest.mark.parametrize(("ties", "n", "trials", "clusters"), [(1, 200, 6, 0), (2, 100, 6, 0), (1, 300, 8, 40)])
def test_best_stays_in_the_set_of_a_thousand_studies(ties: int, n: int, trials: int, clusters: int) -> None:
    """Of 1,000 simulated studies every true best stays in at least 95 %, and most losers go."""
    share, others = kept(1_000, ties, n, trials, clusters)
    assert others < (0.8 if clusters else 0.25)
    assert share >= 0.95 - 1.645 * (0.05 * 0.95 / 1_000) ** 0.5     # a one-sided test at 5 %
