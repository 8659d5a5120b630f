"""What a sweep says beside its table: contexts, segments, knees, maps; each from planted scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from ragauge.core.search_space import format_parameters
from ragauge.core.study import Measurement, Study, Trial, TrialState
from ragauge.scores.arrays import ScoreArrays
from ragauge.scores.results.chart import ChartPoint, ReportChart
from ragauge.stats.judge_error import JudgeMeanError
from ragauge.studies.charts import draw_study_chart
from ragauge.studies.context import describe_context
from ragauge.studies.figures import StudySummary, StudyTable
from ragauge.studies.front import find_knee, find_paired_knee
from ragauge.studies.sweep.charts import build_heat_map, build_precision_recall
from ragauge.studies.verb import find_study_kind

N = 200
Planted = Callable[[Mapping[str, Any], np.random.Generator], np.ndarray[Any, Any]]


def scores(columns: Mapping[str, np.ndarray[Any, Any]], ids: Sequence[int]) -> ScoreArrays:
    """Scores of several metrics, of these examples; NaN is undefined."""
    frames = []
    for metric, values in columns.items():
        held = [None if np.isnan(one) else float(one) for one in values]
        frames.append(
            pl.DataFrame(
                {
                    "query_id": [f"q{i:03}" for i in ids],
                    "repeat": [0] * len(ids),
                    "metric": [metric] * len(ids),
                    "status": ["undefined" if one is None else "scored" for one in held],
                    "value": held,
                    "numerator": [None] * len(ids),
                    "denominator": [None] * len(ids),
                    "low": held,
                    "high": held,
                    "reason": [""] * len(ids),
                },
                schema_overrides=dict.fromkeys(("value", "numerator", "denominator", "low", "high"), pl.Float64),
            )
        )
    return ScoreArrays.of(pl.concat(frames).sort("query_id", maintain_order=True))


def swept(
    space: Mapping[str, Sequence[Any]],
    planted: Mapping[str, Planted],
    *,
    objective: str = "",
    fixed: Any = None,
    fell: Mapping[str, int] | None = None,
    masks: Mapping[str, Any] | None = None,
) -> StudySummary:
    """A finished sweep over a grid: metric -> its scores from the parameters; trial that fell -> questions asked."""
    held: dict[str, ScoreArrays] = {}
    fallen: dict[str, ScoreArrays] = {}
    trials: list[Trial] = []
    for row in product(*space.values()):
        parameters = dict(zip(space, row, strict=True))
        name, rng = format_parameters(parameters), np.random.default_rng(len(trials))
        n = (fell or {}).get(name, N)
        state: TrialState = "complete" if n == N else "pruned"
        values = {metric: plant(parameters, rng)[:n] for metric, plant in planted.items()}
        (held if n == N else fallen)[name] = scores(values, range(n))
        told = (Measurement("questions", float(n)),)
        trials.append(Trial(name, parameters, state, "" if n == N else "it lost", f"run {name}", told))
    objective = objective or next(iter(planted))
    study = Study("s", "sweep", fixed={"objective": objective, **(fixed or {})}, trials=tuple(trials))
    found = StudySummary(study, find_study_kind("sweep"), held, list(planted), masks or {})
    found.fallen = fallen
    return found.set_options(metric=objective)


def around(mean: float, spread: float = 0.1) -> Planted:
    """Scores around one mean, whatever the parameters."""
    return lambda _, rng: np.clip(rng.normal(mean, spread, N), 0, 1)


def lengths(tokens: Callable[[Mapping[str, Any]], float]) -> Planted:
    """Context tokens as the parameters have them."""
    return lambda parameters, rng: tokens(parameters) + rng.normal(0, 2, N)


def said(found: StudySummary) -> str:
    """The sentences about contexts."""
    return " ".join(one for one in describe_context(found) if isinstance(one, str))


SIZES = {"chunk_tokens": [256, 512], "k": [2, 4, 8]}


def test_fixed_k_names_whom_it_favours() -> None:
    """Chunks of twice the tokens at one k are said to be favoured; contexts of one length, or a budget, are not."""
    twice = swept(SIZES, {"recall": around(0.6), "context_tokens": lengths(lambda p: p["k"] * p["chunk_tokens"])})
    assert "passes 2.0 times as many tokens to the generator as chunk_tokens=256,k=" in said(twice)
    (table,) = (one for one in describe_context(twice) if isinstance(one, StudyTable))
    assert [row[:2] + row[3:4] for row in table.rows] == [
        (f"k={k}", f"chunk_tokens={size},k={k}", share)
        for k in (2, 4, 8)
        for size, share in ((256, "1.00"), (512, "2.00"))
    ]
    assert [row[5] for row in table.rows] == ["", "favored by length"] * 3
    same = swept(SIZES, {"recall": around(0.6), "context_tokens": lengths(lambda p: 300 * p["k"])})
    assert "favours" not in said(same)
    budget = {"chunk_tokens": [256, 512], "budget": [1000]}
    whole = swept(budget, {"recall": around(0.6), "context_tokens": lengths(lambda p: 3 * p["chunk_tokens"])})
    assert "favours" not in said(whole)


def falling(metric: str, drop: float) -> StudySummary:
    """A metric that is lower by `drop` at k=8 than at k=2 and 4."""

    def planted(parameters: Mapping[str, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
        return np.clip(rng.normal(0.7 - drop * (parameters["k"] == 8), 0.15, N), 0, 1)

    return swept({"k": [2, 4, 8]}, {metric: planted, "context_tokens": lengths(lambda p: 100 * p["k"])})


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("faithfulness", "faithfulness falls as k rises"),
        ("answer_relevance", "Answers get worse beyond 400 context tokens: answer_relevance is"),
        ("context_recall", "Either retrieval ranks worse, or the judge reads long passages less well"),
    ],
)
def test_what_longer_contexts_cost_is_said(metric: str, told: str) -> None:
    """A planted fall of 10 points at the greatest k is said with its interval, in the words of its metric."""
    found = said(falling(metric, 0.1))
    assert told.replace("400", "") in found.replace("400", "").replace("200", "")
    assert "points [+" in found


def test_no_fall_is_invented() -> None:
    """Where nothing falls, at most one of 15 sweeps say that something does; a metric of retrieval is never read so."""

    def sweep(draws: np.random.Generator) -> StudySummary:
        planted: dict[str, Planted] = {"faithfulness": lambda *_: np.clip(draws.normal(0.7, 0.15, N), 0, 1)}
        return swept({"k": [2, 4, 8]}, {**planted, "context_tokens": lengths(lambda p: 100 * p["k"])})

    assert sum("falls" in said(sweep(np.random.default_rng([seed, 7]))) for seed in range(15)) <= 1
    assert "Beyond" not in said(falling("recall", 0.2))


def test_use_by_place_is_over_the_same_examples() -> None:
    """Start, middle and end are means over the examples that have all three, which a table counts."""

    def third(mean: float) -> Planted:
        return lambda _, rng: np.where(np.arange(N) < 50, np.nan, mean) if mean != 0.5 else np.full(N, mean)

    thirds = {"passage_use": third(0.8), "passage_use:part=middle": third(0.5), "passage_use:part=end": third(0.2)}
    found = swept({"k": [3, 6]}, {"recall": around(0.6), **thirds})
    assert (
        "80% of the passages at the start of the context, 50% of those in the middle and 20% of those at the end"
        in said(found)
    )
    (table,) = (one for one in describe_context(found) if isinstance(one, StudyTable))
    assert {row[1:] for row in table.rows} == {("80%", "50%", "20%", "150")}


def test_judges_error_stands_beside_what_it_decides() -> None:
    """The mean of what is recommended has a second, wider interval where the judge's error is known, and says whose."""
    error = JudgeMeanError((0.5,), (-0.05, 0.02), (0.05, 0.04), 0.02, 0.1, 9, "9 public sets of labels")
    found = swept({"k": [2, 4]}, {"faithfulness": around(0.7)}, fixed={"judge": "local"})
    assert "people" not in said(found)
    found.errors = {"faithfulness": error}
    assert "; human labels would put it in [" in said(found)
    assert "(from 9 public sets of labels)" in said(found)


def test_segment_where_a_dropped_trial_wins_is_named() -> None:
    """A trial that fell in the race but wins in one segment is named there; other segments are not."""
    legal = np.arange(N) % 4 == 0

    def planted(parameters: Mapping[str, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
        mean = np.where(legal, 0.3, 0.8) if parameters["size"] == "small" else np.where(legal, 0.9, 0.3)
        return np.clip(mean + rng.normal(0, 0.1, N), 0, 1)

    masks = {"type=legal": legal, "type=other": ~legal}
    found = swept({"size": ["small", "large"]}, {"recall": planted}, fell={"size=large": 68}, masks=masks)
    told = " ".join(one for one in found.contents if isinstance(one, str))
    assert "In type=legal, size=small is not the best: size=large, which the race dropped because of other" in told
    assert "In type=other" not in told


def test_tables_have_the_best_first_and_what_fell_apart() -> None:
    """Complete trials stand best first, many that may all be best are only counted, and what fell is apart."""
    from ragauge.rendering.sections import to_plain_text
    from ragauge.studies.tables import build_study_sections

    found = swept({"k": [*range(1, 10)]}, {"recall": lambda p, rng: rng.uniform(0, 1, N)}, fell={"k=3": 45, "k=5": 30})
    for trial in found.study.trials:
        if trial.state == "pruned":
            object.__setattr__(trial, "reason", "look 2, 45 questions: k=7 is better by 0.123")
    first, *rest = build_study_sections(found)
    assert first.table is not None
    means = [found.mean(to_plain_text(row[0])) for row in first.table.rows]
    values = [one.mean for one in means if one is not None and one.mean is not None]
    assert len(values) == 7
    assert values == sorted(values, reverse=True)
    assert "May be best by recall (95 % confidence): all 7 complete trials." in map(str, first.lead)
    (fell,) = (one.table for one in rest if one.heading == "Trials dropped early")
    assert fell is not None
    assert list(fell.rows) == [("k=3", "45", "k=7", "0.123"), ("k=5", "30", "k=7", "0.123")]


def test_paired_knee_is_the_knee_of_one_less_precision() -> None:
    """With costs alike in all examples it is the plain knee; a straight front has none."""
    rng = np.random.default_rng(3)
    values = np.array([0.2, 0.8, 0.9, 1.0]) + rng.normal(0, 0.02, (100, 4))
    costs = np.tile([0.1, 0.2, 0.5, 0.9], (100, 1))
    one, other = find_paired_knee(values, costs), find_knee(values, [0.1, 0.2, 0.5, 0.9])
    assert (one.trial, one.distance, one.agreement) == pytest.approx((other.trial, other.distance, other.agreement))
    assert (
        find_paired_knee(np.array([0.1, 0.4, 0.7, 1.0]) + 0 * values, np.tile([1.0, 4, 7, 10], (100, 1))).trial is None
    )


def test_knee_of_recall_against_precision_is_drawn() -> None:
    """The bend of recall against 1 − precision is named in words and on the chart."""
    recall, precision = dict(zip((1, 3, 5, 10), (0.2, 0.8, 0.85, 0.9), strict=True)), {1: 0.9, 3: 0.8, 5: 0.5, 10: 0.2}
    found = swept(
        {"k": [1, 3, 5, 10]},
        {
            "context_recall": lambda p, rng: np.clip(rng.normal(recall[p["k"]], 0.05, N), 0, 1),
            "context_precision": lambda p, rng: np.clip(rng.normal(precision[p["k"]], 0.05, N), 0, 1),
        },
    )
    words, chart = build_precision_recall(found)
    assert isinstance(words, str)
    assert isinstance(chart, ReportChart)
    assert words.startswith("Knee of context_recall vs 1 − context_precision: k=3, at 0.80 and 0.20")
    assert "k=3 (knee)" in draw_study_chart(chart)


def test_map_shows_two_parameters_with_the_others_held() -> None:
    """The map has a cell a pair of values, in the order of numbers, at the third parameter of what is recommended."""
    space: dict[str, list[Any]] = {"k": [10, 1, 5], "size": [256, 512], "model": ["a", "b"]}
    found = swept(space, {"recall": lambda p, rng: rng.uniform(0, 0.4 + 0.04 * p["k"] * (p["model"] == "b"), N)})
    (chart,) = build_heat_map(found)
    assert chart.title == "recall by k and size, at model=b"
    assert [one.x for one in chart.points] == ["1", "1", "5", "5", "10", "10"]
    for one in chart.points:
        mean = found.mean(format_parameters({"k": int(str(one.x)), "size": int(one.series), "model": "b"}))
        assert mean is not None
        assert one.y == mean.mean
    svg = draw_study_chart(chart)
    assert all(f">{one.label}<" in svg for one in chart.points)
    holes = swept(space, {"recall": around(0.5)}, fell={"k=1,model=a,size=256": 30, "k=1,model=b,size=256": 30})
    (chart,) = build_heat_map(holes)
    assert "blank: not all questions asked" in chart.title


def test_forest_draws_intervals_around_no_change() -> None:
    """Every effect has a mark in the colour of its verdict, told by the legend, and the line of no change is drawn."""
    points = (ChartPoint("k=5", 6.0, "matters", 4.0, 8.0), ChartPoint("k=10", 0.5, "inside the noise", -1.0, 2.0))
    svg = draw_study_chart(ReportChart("Effects", "forest", "", "points compared with the base value", points))
    assert svg.count('fill="var(--accent)"') == 2  # the mark of k=5, and that of the legend
    assert svg.count('fill="var(--soft)"') == 2
    assert "stroke-dasharray" in svg
    assert ">inside the noise<" in svg


def test_a_base_that_surely_loses_is_named() -> None:
    """The base is left where another trial is better by more than chance or the race dropped it, else not spoken of."""
    planted: dict[str, Planted] = {"recall": lambda p, rng: np.clip(rng.normal(0.2 * p["k"], 0.1, N), 0, 1)}
    worse = {"base": {"k": 1}}
    whole = swept({"k": [1, 2, 4]}, planted, fixed=worse).contents
    assert "Don't keep the base, k=1: another trial is better by more than chance." in " ".join(map(str, whole))
    raced = swept({"k": [1, 2, 4]}, planted, fixed=worse, fell={"k=1": 45}).contents
    assert "Don't keep the base, k=1: it loses to" in " ".join(map(str, raced))
    assert "Don't keep the base" not in " ".join(
        map(str, swept({"k": [1, 2, 4]}, planted, fixed={"base": {"k": 4}}).contents)
    )


def test_labels_that_meet_nothing_are_spoken_of() -> None:
    """Where every score of every trial is 0 the sweep asks whether labels name documents as the system does."""
    zero = swept({"k": [1, 2]}, {"recall": lambda _, rng: np.zeros(N)})
    assert "recall is 0 for every example of every trial. The labels" in " ".join(map(str, zero.contents))
    assert "is 0 for every example" not in " ".join(map(str, swept({"k": [1, 2]}, {"recall": around(0.1)}).contents))


@pytest.mark.parametrize("apart", [2.0, 500.0])
def test_milliseconds_that_nobody_notices_decide_nothing(apart: float) -> None:
    """Of trials that may be best the cheaper is taken, but latencies under 50 ms apart leave it to the mean."""

    def planted(parameters: Mapping[str, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
        return np.clip(rng.normal(0.5 if parameters["k"] > 0 else 0.1, 0.2, N), 0, 1)

    found = swept({"k": [1, 2, -1, -2, -3]}, {"recall": planted})
    means = {name: one.mean or 0.0 for name in ("k=1", "k=2") if (one := found.mean(name)) is not None}
    best, other = sorted(means, key=lambda name: -means[name])
    for trial in found.study.trials:
        latency = Measurement("latency", 3.0 + (0.0 if trial.name == other else apart), "ms")
        object.__setattr__(trial, "measurements", (*trial.measurements, latency))
    held = dict(found.scores)
    again = StudySummary(found.study, find_study_kind("sweep"), held, ["recall"], {}).set_options(
        metric="recall", cost="latency"
    )
    taken = again.reading.recommendation
    assert set(again.reading.best_set) == {"k=1", "k=2"}
    assert taken.trial == (best if apart < 50 else other)
    assert ("latency is about the same" in taken.reason) is (apart < 50)


@pytest.mark.parametrize("loser", [4.0, 79.0, 900.0])
def test_what_losers_cost_changes_nothing(loser: float) -> None:
    """Whatever latency a trial has that loses: context tokens decide between those that may be best."""

    def planted(parameters: Mapping[str, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
        return np.clip(rng.normal(0.5 if parameters["k"] > 0 else 0.1, 0.2, N), 0, 1)

    found = swept({"k": [1, 2, -1, -2, -3]}, {"recall": planted})
    means = {name: one.mean or 0.0 for name in ("k=1", "k=2") if (one := found.mean(name)) is not None}
    other = min(means, key=lambda name: means[name])
    costs = {name: (7.0, 500.0) if name == other else (19.0, 1000.0) for name in means}
    for trial in found.study.trials:
        latency, tokens = costs.get(trial.name, (loser, 10.0))
        more = Measurement("latency", latency, "ms"), Measurement("context_tokens", tokens)
        object.__setattr__(trial, "measurements", (*trial.measurements, *more))
    again = StudySummary(found.study, find_study_kind("sweep"), dict(found.scores), ["recall"], {}).set_options(
        metric="recall"
    )
    assert (again.cost, again.reading.recommendation.trial) == ("context_tokens", other)


def test_another_base_is_the_base_everywhere() -> None:
    """What is held against a base that was named later is held against it: in the words and in the effects."""
    planted: dict[str, Planted] = {"recall": lambda p, rng: np.clip(rng.normal(0.2 * p["k"], 0.1, N), 0, 1)}
    found = swept({"k": [1, 2, 4]}, planted, fixed={"base": {"k": 1}, "base_trial": "k=1"})
    told = " ".join(map(str, found.set_options(metric="recall", base="k=2").contents))
    assert "Don't keep the base, k=2: another trial is better by more than chance." in told
    assert {row[2] for row in effect_rows(found).values()} == {"2"}
    found = swept({"k": [1, 2, 4]}, planted, fixed={"base": {"k": 1}, "base_trial": "k=1"})
    assert "Don't keep the base" not in " ".join(map(str, found.set_options(metric="recall", base="k=4").contents))


def with_base(found: StudySummary, base: Mapping[str, Any], *, raced: bool = False, **asked: Any) -> StudySummary:
    """The same sweep, read with a base."""
    fixed = {**found.study.fixed, "base": dict(base), "base_trial": format_parameters(base), "raced": raced}
    study = Study("s", "sweep", fixed=fixed, trials=found.study.trials)
    again = StudySummary(study, find_study_kind("sweep"), found.scores, list(found.names), {})
    again.fallen = found.fallen
    return again.set_options(metric=found.metric, base=format_parameters(base), **asked)


def effect_rows(found: StudySummary) -> dict[tuple[str, str], tuple[str, ...]]:
    """Rows of the table of effects, by parameter and value."""
    (table,) = (
        one for one in found.contents if isinstance(one, StudyTable) and one.heading == "Effect of each parameter value"
    )
    return {(row[0], row[1]): row for row in table.rows}


@pytest.mark.parametrize(("asked", "size"), [(30, 0.6), (45, 0.4), (101, 0.2)])
def test_effect_of_what_was_dropped_is_shown(asked: int, size: float) -> None:
    """A value whose trials all fell has its effect on the questions that both trials of a pair were asked."""

    def planted(parameters: Mapping[str, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
        return np.clip(rng.normal(0.8 - size * (parameters["retriever"] == "dense"), 0.1, N), 0, 1)

    fell = {f"k={k},retriever=dense": asked for k in (1, 2)}
    found = swept({"retriever": ["hybrid", "dense"], "k": [1, 2]}, {"recall": planted}, fell=fell)
    row = effect_rows(with_base(found, {"retriever": "hybrid", "k": 1}))["retriever", "dense"]
    assert row[3] == "2 (2 dropped)"
    assert float(row[4]) == pytest.approx(-100 * size, abs=6)
    assert row[-1] == "matters"


def test_ties_fall_to_the_base_whatever_the_clock_says() -> None:
    """Of trials with equal scores the base is taken, though others took fewer milliseconds, which make no front."""
    equal: Planted = lambda p, rng: np.resize([1.0, 0.0, 1.0], N) if p["k"] < 9 else np.zeros(N)  # noqa: E731 - its type is said
    found = swept({"k": [1, 2, 3, 9, 10, 11]}, {"recall": equal})
    for trial, ms in zip(found.study.trials, (40.0, 3.0, 9.0, 8.0, 1.0, 2.0), strict=True):
        object.__setattr__(trial, "measurements", (*trial.measurements, Measurement("latency", ms, "ms")))
    for base in (1, 2, 3):
        again = with_base(found, {"k": base})
        assert again.reading.recommendation.trial == f"k={base}"
        assert "it is the base" in again.reading.recommendation.reason
    from ragauge.studies.tables import build_study_sections

    lead = " ".join(map(str, next(iter(build_study_sections(again))).lead))
    assert "All trials have about the same latency." in lead
    assert "Best for their latency" not in lead


@pytest.mark.parametrize("seed", range(12))
def test_p_value_and_decision_agree(seed: int) -> None:
    """P lies below .05 only where the worse of the trial and the base is out of the set that may be best."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.5, 0.62, 6)
    found = swept({"k": [0, 1, 2, 3, 4, 5]}, {"recall": lambda p, r: np.clip(r.normal(means[p["k"]], 0.2, N), 0, 1)})
    again = with_base(found, {"k": 0}, raced=False)
    best, base = again.reading.best_set, again.mean("k=0")
    assert base is not None
    for one in again.means:
        if one.p_value is not None and one.p_value < 0.05 and one.difference is not None:
            assert ("k=0" if one.difference > 0 else one.trial) not in best
    said = " ".join(one for one in again.contents if isinstance(one, str))
    sure = any(m.p_value is not None and m.p_value < 0.05 and (m.difference or 0) > 0 for m in again.means)
    assert ("Don't keep the base" in said) >= sure
    assert again.reading.recommendation.trial != "k=0" or "Don't keep the base" not in said


def test_what_all_pairs_refute_is_not_recommended() -> None:
    """The cheaper value that loses over all pairs together is not taken, though one pair alone does not show it."""

    def planted(parameters: Mapping[str, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
        return np.clip(rng.normal({5: 0.64, 1: 0.6, 0: 0.2}[parameters["k"]], 0.2, N), 0, 1)

    found = swept({"k": [5, 1, 0], "shape": ["a", "b", "c", "d"]}, {"recall": planted})
    for trial in found.study.trials:
        price = Measurement("context_tokens", 100.0 * trial.parameters["k"], "tokens")
        object.__setattr__(trial, "measurements", (*trial.measurements, price))
    again = with_base(found, {"k": 5, "shape": "a"})
    assert effect_rows(again)["k", "1"][-1] == "matters"
    assert any(name.startswith("k=1") for name in again.reading.best_set)
    taken = again.reading.recommendation
    assert taken.trial == "k=5,shape=a"
    assert "is excluded: k=5 is better than 1 by" in taken.reason
    assert f" left of the {len(again.reading.best_set)} that may be best" in taken.reason


def test_what_held_back_questions_refute_is_not_recommended() -> None:
    """A trial that is surely worse than the base on questions held back is not what to take."""
    better: Planted = lambda p, rng: np.clip(rng.normal(0.2 + 0.3 * (p["k"] == 2), 0.1, N), 0, 1)  # noqa: E731 - its type is said
    found = with_base(swept({"k": [1, 2]}, {"recall": better}), {"k": 1})
    assert found.reading.recommendation.trial == "k=2"
    held_back = Measurement("confirmed_difference", -0.2, "", -0.3, -0.1, 50)
    trial = found.study.trials[1]
    object.__setattr__(trial, "measurements", (*trial.measurements, held_back))
    refuted = with_base(found, {"k": 1})
    assert refuted.reading.recommendation.trial is None
    assert "but the held-back questions refute it: keep the base" in refuted.reading.recommendation.reason
