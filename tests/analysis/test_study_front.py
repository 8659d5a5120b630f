"""Fronts, knees and recommendations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.study import Measurement, Study, Trial
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import ScoreArrays
from ragauge.stats.families import find_possible_best
from ragauge.studies.figures import StudyKind, StudySummary, StudyTable
from ragauge.studies.front import find_knee, find_knee_point, find_pareto_front
from ragauge.studies.means import compute_trial_means
from ragauge.studies.recommendation import StudyTarget
from ragauge.studies.tables import build_study_sections
from ragauge.studies.trial_summary import read_trials
from ragauge.studies.verb import find_study_kind

RECALL = parse_metric("recall@5")


def scored(values: Sequence[float | None]) -> ScoreArrays:
    """Scores of one metric, an example each; None = undefined."""
    n = len(values)
    numbers = dict.fromkeys(("numerator", "denominator", "value", "low", "high"), pl.Float64)
    return ScoreArrays.of(
        pl.DataFrame(
            {
                "query_id": [f"q{i}" for i in range(n)],
                "repeat": [0] * n,
                "metric": ["recall@5"] * n,
                "status": ["undefined" if one is None else "scored" for one in values],
                "value": values,
                "numerator": [None] * n,
                "denominator": [None] * n,
                "low": values,
                "high": values,
                "reason": ["the vector is zero" if one is None else "" for one in values],
            },
            schema_overrides=numbers,
        )
    )


def test_front_holds_what_nothing_beats() -> None:
    """A point stays on the front unless another is no dearer and no worse, and better in one of both."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        quality, cost = rng.integers(0, 6, 8).tolist(), rng.integers(0, 6, 8).tolist()
        beaten = {
            i
            for i in range(8)
            for j in range(8)
            if quality[j] >= quality[i] and cost[j] <= cost[i] and (quality[j] > quality[i] or cost[j] < cost[i])
        }
        front = find_pareto_front(quality, cost)
        assert {(quality[n], cost[n]) for n in front} == {(quality[n], cost[n]) for n in range(8) if n not in beaten}
        assert [cost[n] for n in front] == sorted(cost[n] for n in front)


def test_knee_is_told_only_where_it_is_clear() -> None:
    """A bend that resamples agree on is the knee; a straight front and two points have none, with the reason."""
    rng = np.random.default_rng(3)
    noise = rng.normal(scale=0.02, size=(100, 4))
    clear = find_knee(np.array([0.2, 0.8, 0.9, 1.0]) + noise, [1, 2, 5, 9])
    assert (clear.trial, clear.reason) == (1, "")
    assert clear.agreement > 0.9
    straight = find_knee(np.array([0.1, 0.4, 0.7, 1.0]) + noise * 0.01, [1, 4, 7, 10])
    assert straight.trial is None
    assert "below 0.05" in straight.reason
    assert "fewer than three" in find_knee(np.array([[0.1, 0.2], [0.2, 0.4]]), [1, 2]).reason
    assert find_knee_point([0.0, 0.5, 1.0], [1, 10, 100], logarithmic=True) != find_knee_point(
        [0.0, 0.5, 1.0], [1, 10, 100]
    )


def test_cheapest_of_the_best_is_taken() -> None:
    """Of what may be best the cheapest is taken; a clear loser is not in the set, cheap as it is."""
    rng = np.random.default_rng(5)
    base = rng.uniform(0.3, 0.7, 80)
    scores = {
        "poor": scored((base - 0.2).tolist()),
        "good": scored((base + rng.normal(0, 0.02, 80)).tolist()),
        "dear": scored((base + rng.normal(0, 0.02, 80)).tolist()),
    }
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


def test_a_trial_without_scores_is_never_taken_and_takes_nothing_from_the_others() -> None:
    """A trial with no score stands in no set, front or target, leaves knees alone, and is named with the reason."""
    rng = np.random.default_rng(9)
    base = rng.uniform(0.3, 0.5, 80)
    more = {"a": -0.2, "b": 0.3, "c": 0.35, "d": 0.4}
    scores = {name: scored((base + one + rng.normal(0, 0.01, 80)).tolist()) for name, one in more.items()}
    prices = {"zero": 0.1, "a": 1.0, "b": 2.0, "c": 5.0, "d": 9.0}
    empty = {"zero": scored([None] * 80)}
    alone = read_trials(scores, RECALL, "index_tokens", prices)
    assert alone.knee.trial is not None
    assert read_trials(empty | scores, RECALL, "index_tokens", prices) == alone
    sure = read_trials(empty | scores, RECALL, "index_tokens", prices, target=StudyTarget("recall@5", 0.5))
    assert sure.recommendation.trial == "b"
    trials = tuple(Trial(name, {}, "complete", "", "", (Measurement("index_tokens", prices[name]),)) for name in prices)
    kind = StudyKind("kind", ("recall@5",), ("index_tokens",))
    found = StudySummary(Study("s", "kind", trials=trials), kind, empty | scores, ("recall@5",))
    assert found.cautions == ("zero has no recall@5 score and is not compared: the vector is zero.",)
    none = StudySummary(Study("s", "kind", trials=trials[:1]), kind, empty, ("recall@5",))
    told = " ".join(map(str, next(iter(build_study_sections(none))).lead))
    assert told.startswith("No recommendation: not enough data: no trial has a score of recall@5.")
    assert "May be best" not in told
    assert "Best for their" not in told


def test_examples_without_a_score_improve_no_trial() -> None:
    """What is undefined on its hard questions is compared on those that both have; where many are, it is not taken."""
    rng = np.random.default_rng(10)
    base = np.sort(rng.uniform(0.1, 0.9, 200))
    full = (base + rng.normal(0.02, 0.01, 200)).tolist()
    few = [None if n < 147 else one for n, one in enumerate(base.tolist())]
    found = read_trials({"full": scored(full), "part": scored(few)}, RECALL, "cost", {"full": 2.0, "part": 1.0})
    assert (found.front, found.recommendation.trial) == (("full",), "full")
    same = read_trials({"full": scored(base.tolist()), "part": scored(few)}, RECALL, "cost", {"full": 2.0, "part": 1.0})
    assert same.recommendation.trial == "full"
    assert same.recommendation.reason.endswith("on 200 examples; excluded because many examples have no score: part")
    some = [None if n < 15 else one for n, one in enumerate(base.tolist())]
    near = read_trials({"full": scored(full), "some": scored(some)}, RECALL, "", {})
    assert (near.front, near.recommendation.trial) == (("full",), "full")
    trials = tuple(Trial(name, {}, "complete") for name in ("full", "part"))
    figures = StudySummary(
        Study("s", "kind", trials=trials),
        StudyKind("kind", ("recall@5",), ()),
        {"full": scored(full), "part": scored(few)},
        ("recall@5",),
    )
    told = "part has scores for 53 of 200 examples, so its mean covers different examples than the other trials' means."
    assert figures.cautions == (told,)


def index_trial(name: str, exact: float, rate: float = 100.0) -> Trial:
    """A trial of an index under a filter, 1 ms a query."""
    measured = {"latency_p50_ms": 1.0, "exact_p50_ms": exact, "passing": 10.0, "queries_per_second": rate}
    told = tuple(Measurement(which, value, "", n=100) for which, value in measured.items())
    given = {"labels": "random", "selectivity": 0.1, "filter_by": "inside"}
    return Trial(name, given, "complete", "", "", told)


@pytest.mark.parametrize(
    ("recall", "exact", "taken"), [(0.5, 9.0, "exact search"), (0.95, 1.4, "exact search"), (0.95, 9.0, "hnsw inside")]
)
def test_under_a_filter_an_index_is_taken_for_speed_and_recall(recall: float, exact: float, taken: str) -> None:
    """Exact search wins where no index reaches 0.9 or it needs up to 1.5 times as long; the null index is no rival."""
    noise = np.random.default_rng(12).uniform(-0.01, 0.01, 80)
    scores = {"hnsw": scored((recall + noise).tolist()), "null": scored((0.99 + noise / 10).tolist())}
    study = Study("s", "ann", trials=(index_trial("hnsw", exact), index_trial("null", exact)))
    kind = replace(find_study_kind("ann"), decides=("recall@5",))
    found = StudySummary(study, kind, scores, ("recall@5",))
    assert (found.reading.trials, found.reading.best_set, found.reading.front) == (("hnsw",),) * 3
    told = [one for one in found.contents if isinstance(one, str)]
    assert [one.startswith(f"For random 10 %, use {taken}") for one in told] == [True]
    assert ("no index reaches a recall of 0.9" in told[0]) == (recall < 0.9)
    wins = next(one for one in found.contents if isinstance(one, StudyTable) and one.heading == "Exact search wins")
    expected = (
        "at every measured share: the index's recall is below 0.9"
        if recall < 0.9
        else "at no measured share, from 10 % up"
    )
    assert [row[3] for row in wins.rows] == [expected]
    with pytest.raises(UsageError, match="higher queries_per_second is better") as error:
        StudySummary(study, kind, scores, ("recall@5",)).set_options(cost="queries_per_second")
    assert "Use one of: latency_p50_ms, exact_p50_ms, passing." in str(error.value)


def test_of_trials_that_cost_about_the_same_the_best_by_its_mean_is_taken() -> None:
    """Where the taken trial is not the very cheapest, the sentence does not call it the cheapest."""
    rng = np.random.default_rng(11)
    base = rng.uniform(0.3, 0.7, 80)
    noise = rng.normal(0, 0.02, 80)
    noise -= noise.mean()
    scores = {
        "least": scored(base.tolist()),
        "next": scored((base + noise + 0.001).tolist()),
        "dear": scored((base + noise[::-1]).tolist()),
    }
    taken = read_trials(scores, RECALL, "cost", {"least": 100.0, "next": 101.0, "dear": 200.0}).recommendation
    assert taken.trial == "next"
    assert taken.reason.startswith(
        "the best mean of 2 trials that cost about the same (within 2 % of the lowest cost), out of the 3 that "
        "may be best, on 80"
    )


@pytest.mark.parametrize("cost", ["", "cost"])
def test_trials_of_the_same_mean_are_tied(cost: str) -> None:
    """Of trials whose best means are equal none is called the best mean: the sentence names the others."""
    base = np.random.default_rng(11).uniform(0.3, 0.7, 80)
    other = (base[::-1] + 0.0).tolist()
    scores = {"one": scored(base.tolist()), "two": scored(other), "less": scored((base - 0.001).tolist())}
    taken = read_trials(scores, RECALL, cost, dict.fromkeys(scores, 1.0) if cost else {}).recommendation
    names = {"one", "two"} - {taken.trial}
    assert len(names) == 1
    assert f"tied with {names.pop()} for the best mean" in taken.reason
    assert not taken.reason.startswith("the best mean")


def test_differences_are_one_family() -> None:
    """Differences to the base are paired, by segment too, and Holm's p over all of them is no less than each alone."""
    rng = np.random.default_rng(6)
    base = rng.uniform(0, 0.5, 60)
    scores = {"base": scored(base.tolist()), "more": scored((base + rng.uniform(0.0, 0.2, 60)).tolist())}
    alone = compute_trial_means(scores, RECALL, base="base")
    both = compute_trial_means(scores, RECALL, base="base", segments={"half=first": np.arange(60) < 30})
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
    found = StudySummary(study, kind, {}, ())
    assert (found.metric, found.scored, found.cost) == ("ann_recall", False, "p50")
    assert (found.reading.best_set, found.reading.front) == (("b", "c"), ("a", "b", "c"))
    assert found.reading.recommendation.trial == "b"
    assert "no examples to resample" in found.reading.knee.reason
    sure = StudySummary(study, kind, {}, ()).set_options(target="ann_recall=0.94").reading.recommendation
    assert sure.trial == "c"
    with pytest.raises(UsageError, match=r"expected METRIC=x, such as recall@5=0.8, got 'ann_recall=much'"):
        StudySummary(study, kind, {}, ()).set_options(target="ann_recall=much")
    with pytest.raises(UnknownName, match="no kind of study 'indexes'"):
        find_study_kind("indexes")


def kept(studies: int, ties: int, n: int, trials: int, clusters: int = 0) -> tuple[float, float]:
    """Of simulated studies, in which share every true best stays in the set, and of the others, which share stays.

    The others are 0.02 to 0.1 worse.
    """
    lost = others = 0
    for seed in range(studies):
        rng = np.random.default_rng([seed, ties, n])
        behind = np.where(np.arange(trials) < ties, 0.0, rng.uniform(0.02, 0.1, trials))
        shared = rng.uniform(0.2, 0.9, (n, 1))  # questions are easy or hard for all trials alike
        groups = rng.integers(0, clusters, n) if clusters else None
        noise = rng.normal(0, 0.1, (n, trials))
        if groups is not None:
            noise += rng.normal(0, 0.15, (clusters, trials))[groups]
        values = np.clip(shared - behind + noise, 0, 1)
        marks = find_possible_best(values, groups, draws=500, seed=seed)
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
    assert share >= 0.95 - 1.645 * (0.05 * 0.95 / 1_000) ** 0.5  # a one-sided test at 5 %


def segmented(trials: int = 4, n: int = 240) -> StudySummary:
    """Trials of which the last is worse by 0.04, and by 0.15 in segment 0 of 24; segment 23 has 5 examples."""
    rng = np.random.default_rng(11)
    ease = rng.uniform(0.2, 0.6, n)
    segment = np.arange(n) // 10
    segment[235:] = 22
    scores = {}
    for trial in range(trials):
        shift = np.where(segment == 0, 0.15, 0.04) * (trial == trials - 1)
        scores[f"t{trial}"] = scored((ease - shift + rng.normal(0, 0.05, n)).tolist())
    masks = {f"part={one}": segment == one for one in range(24)}
    study = Study("s", "ann", trials=tuple(Trial(name, {}, "complete", run_id=name) for name in scores))
    return StudySummary(study, StudyKind("ann", ("recall@5",), ()), scores, ["recall@5"], masks)


def test_segments_cost_the_main_difference_nothing() -> None:
    """Overall p is Holm's over the trials however many segments there are; segments are SciPy's Benjamini-Hochberg."""
    from scipy.stats import false_discovery_control

    found = segmented()
    apart = [one.p_value for one in compute_trial_means(found.scores, RECALL, base="t0")]
    both = compute_trial_means(found.scores, RECALL, base="t0", segments=found.masks)
    assert [one.p_value for one in both if one.segment == ""] == apart
    raw = [
        one.p_value
        for name, mask in found.masks.items()
        for trial in ("t1", "t2", "t3")
        for pair in [{key: found.scores[key] for key in ("t0", trial)}]
        for one in compute_trial_means(pair, RECALL, base="t0", segments={name: mask})
        if one.segment and one.p_value is not None
    ]
    corrected = [one.p_value for one in both if one.segment and one.p_value is not None]
    assert corrected == pytest.approx(false_discovery_control(raw))


def test_many_segments_are_shown_by_what_they_say() -> None:
    """A terminal shows differences that are no chance, or the best of each segment; the page shows every row."""
    from ragauge.rendering.sections import TableCell, to_plain_text
    from ragauge.studies.tables import build_study_sections

    def rows(base: str, *, whole: bool) -> tuple[list[tuple[TableCell, ...]], str]:
        (one,) = (
            one
            for one in build_study_sections(segmented().set_options(base=base), is_whole=whole)
            if one.heading == "Segments"
        )
        assert one.table is not None
        return list(one.table.rows), " ".join(map(str, one.notes))

    matter, told = rows("t0", whole=False)
    assert ("part=0", "t3") in [tuple(map(to_plain_text, row[:2])) for row in matter]
    assert len(matter) <= 12
    assert "1 segment with fewer than 10 examples" in told
    best, told = rows("", whole=False)
    assert len({row[0] for row in best}) == len(best) == 12
    assert "12 of 23" in told
    assert len(rows("t0", whole=True)[0]) == 24 * 4


def test_labels_and_series_are_told_apart() -> None:
    """Labels of a chart stand a line apart where they would cover each other; no two of 18 series look alike."""
    from ragauge.scores.results.chart import ChartPoint, ReportChart
    from ragauge.studies import charts

    points = tuple(
        ChartPoint(float(x), 0.5 + n / 1_000, "beaten", 0.4, 0.6, f"chunker:size={n}")
        for n, x in enumerate((100, 101, 100, 101, 200))
    )
    rows = [charts._build_row(ReportChart("c", "points", "cost", "recall", points), one) for one in points]
    placed = charts._place_labels(rows, log=False)
    assert len(placed) == 5
    heights = sorted(row["label_y"] for row in placed if row["x"] < 200)
    line = 0.2 / (charts.HEIGHT - 16) * charts.LABEL_SIZE_PX[1]
    assert min(np.diff(heights)) >= line - 1e-9
    series = [f"trial {n}" for n in range(18)]
    scales = charts._encode_colors([{"series": one} for one in series], series)
    looks = list(zip(*(scales[name].to_dict()["scale"]["range"] for name in ("color", "shape")), strict=True))
    assert len(set(looks)) == 18
