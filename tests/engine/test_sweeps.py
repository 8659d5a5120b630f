"""A sweep over a real store: what is asked, what is dropped, what goes on after a kill, what is refused."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ragauge as rg
from ragauge.core.errors import UsageError
from ragauge.studies.options import SweepOptions
from ragauge.studies.sweep.verb import preview_sweep

N = 120
MEANS = {"weak": 0.35, "good": 0.8, "same": 0.8}
ASKED: Counter[tuple[str, str]] = Counter()
INDEXED: list[int] = []


def questions(n: int = N) -> rg.EvalSet:
    """A set whose answers stand in the questions."""
    return rg.EvalSet("toy", tuple(rg.Example(f"q{i}", f"question {i}", references=(f"answer {i}",)) for i in range(n)))


def build(model: str, k: int = 1, shown: int = 0) -> Any:
    """A system that is right as often as its model is good, and reads neither k nor shown but for its passages."""

    def answer(question: str) -> dict[str, Any]:
        ASKED[f"{model} {k} {shown}", question] += 1
        draw = 0.5 * random.Random(f"{question} {model}").random() + 0.5 * random.Random(question).random()
        right = question.replace("question", "answer")
        text = right if draw < MEANS[model] else "no idea"
        return {"answer": text, "passages": [{"doc_id": f"d{n}", "text": f"text {n}"} for n in range(k)]}

    return answer


def index(size: int) -> int:
    """An index that is its size."""
    INDEXED.append(size)
    return size


def build_on(held: int, model: str) -> Any:
    """A system on an index."""
    return build(model, k=held)


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 's.db'}"


def states(result: Any) -> dict[str, str]:
    return {trial.name: trial.state for trial in result.study.trials}


SPACE: dict[str, Any] = {"parameters": {"model": ["good", "weak", "same"], "k": [1, 2]}, "objective": "exact_match"}


def test_loser_is_dropped_and_ties_stay(tmp_path: Path) -> None:
    """What surely loses is not asked everything and says to whom; what is alike stays; the idle parameter is named."""
    ASKED.clear()
    space: dict[str, list[Any]] = {"model": ["good", "weak", "same"], "shown": [1, 2]}
    result = rg.sweep(build, questions(), parameters=space, objective="exact_match", store=url(tmp_path))
    assert {name for name, state in states(result).items() if state == "pruned"} == {
        "model=weak,shown=1",
        "model=weak,shown=2",
    }
    fallen = next(trial for trial in result.study.trials if trial.state == "pruned")
    assert "is better by" in fallen.reason
    assert len(result.best_set) == 4
    assert result.recommendation.trial is None  # four of six trials may be the best
    assert sum(ASKED.values()) == result.log.made == result.log.held < result.log.planned == 6 * N
    assert "ignores shown" in result.log.notes[0]
    assert "shown changes no score" in " ".join(text for text in result.figures.contents if isinstance(text, str))
    assert max(ASKED.values()) == 1


def test_same_call_asks_nothing_and_wider_parameters_join(tmp_path: Path) -> None:
    """A finished sweep asks nothing again; a new value is asked alone, and complete trials are not."""
    first = rg.sweep(build, questions(), **SPACE, store=url(tmp_path))
    ASKED.clear()
    again = rg.sweep(build, questions(), **SPACE, store=url(tmp_path))
    assert not ASKED
    assert states(again) == states(first)
    wider = {**SPACE, "parameters": {"model": ["good", "weak", "same"], "k": [1, 2, 3]}}
    found = rg.sweep(build, questions(), **wider, store=url(tmp_path))
    assert {system for system, _ in ASKED} <= {f"{model} 3 0" for model in MEANS}
    assert len(found.study.trials) == 9
    with pytest.raises(UsageError, match="objective was exact_match, now token_f1"):
        rg.sweep(build, questions(), **{**SPACE, "objective": "token_f1"}, store=url(tmp_path))


def test_trials_are_runs(tmp_path: Path) -> None:
    """A complete trial is compared and reported as any run; the recommended one is confirmed on what was held back."""
    space = {"model": ["good", "weak"]}
    result = rg.sweep(
        build,
        questions(200),
        parameters=space,
        base={"model": "weak"},
        objective="exact_match",
        confirm="40%",
        race=False,
        store=url(tmp_path),
    )
    runs = {trial.name: trial.run_id for trial in result.study.trials}
    assert rg.compare(runs["model=weak"], runs["model=good"], store=url(tmp_path)).to_dict()
    assert result.recommendation.trial == "model=good"
    assert result.confirmed is not None
    assert result.to_dict()["confirmed"] == result.confirmed.to_dict()
    told = result.save(tmp_path / "s.html").read_text()
    assert "Effect of each parameter value" in told
    assert "matters" in told
    change = result.confirmed.metrics["exact_match"].difference
    assert f"On {change.n} held-back questions, model=good differs by" in told
    assert "from the base: confirmed." in told
    kept = rg.open_study(result.study.name, store=url(tmp_path))
    assert "held-back questions, model=good differs by" in kept.to_markdown()


def test_nothing_is_confirmed_where_the_base_is_taken(tmp_path: Path) -> None:
    """Where the base is recommended, it is not compared with itself: a note says so."""
    result = rg.sweep(
        build,
        questions(200),
        parameters={"model": ["good", "weak"]},
        objective="exact_match",
        confirm="25%",
        store=url(tmp_path),
    )
    assert result.recommendation.trial == "model=good"
    assert result.confirmed is None
    assert "nothing was confirmed on toy-held-back: the base is recommended" in result.log.notes
    assert "(1 dropped)" in result.to_markdown()  # what the dropped value changes is shown all the same


def test_index_is_made_once_a_setting(tmp_path: Path) -> None:
    """Index is called once for each distinct setting and handed on; build gets the other parameters."""
    INDEXED.clear()
    result = rg.sweep(
        {"index": index, "build": build_on},
        questions(40),
        parameters={"size": [1, 2, 3], "model": ["good", "weak"]},
        index=["size"],
        objective="exact_match",
        store=url(tmp_path),
    )
    assert sorted(INDEXED) == [1, 2, 3]
    assert result.log.index_calls == 3


def test_designs_and_failures(tmp_path: Path) -> None:
    """An ablation is not raced; a staged sweep moves where it is decided; one that always raises ends."""
    ablation = rg.sweep(build, questions(), **SPACE, design="one_factor", name="a", store=url(tmp_path))
    assert set(states(ablation).values()) == {"complete"}
    assert len(ablation.study.trials) == 4
    staged = rg.sweep(
        build,
        questions(),
        parameters={"model": ["weak", "good"], "k": [1, 2]},
        objective="exact_match",
        design="staged",
        name="s",
        store=url(tmp_path),
    )
    assert set(states(staged)) == {"k=1,model=weak", "k=1,model=good", "k=2,model=good"}
    odd = rg.sweep(
        build,
        questions(),
        parameters={"model": ["good", "weak", "absent"]},
        objective="exact_match",
        name="f",
        store=url(tmp_path),
    )
    assert states(odd)["model=good"] == "complete"
    assert states(odd)["model=absent"] == "failed"  # not the factory raises: the system does, at every question
    with pytest.raises(UsageError, match="no trial could answer"):
        rg.sweep(
            lambda model: 1 / 0,
            questions(),
            parameters={"model": [1, 2]},
            name="z",
            objective="exact_match",
            store=url(tmp_path),
        )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"parameters": {"model": ["good"]}}, "only one configuration"),
        ({"parameters": {"modle": ["good", "weak"]}}, r"build does not take modle \(it takes: k, model, shown\)"),
        ({"parameters": {"k": [1, 2]}}, "build needs model"),
        ({"objective": "tokens_f1"}, "token_f1"),
        ({"objective": {"composite": {"exact_match": -1, "token_f1": 1}}}, "above 0"),
        ({"objective": "answer_tokens"}, "direction"),
        ({"budget": 100}, "budget replaces k"),
        ({"index": ["k"]}, "system has no index"),
        ({"confirm": 2}, "between 0 and 1"),
        ({"design": "gird"}, "grid"),
        ({"base": {"model": "poor"}}, r"base has model: 'poor', not among its values \['good', 'weak', 'same'\]"),
        ({"base": {"temperature": 1}}, "no parameter of base 'temperature'"),
        ({"parameters": {"model": ["good", "weak", "good"]}}, "has 'good' twice, so two"),
        ({"parameters": {"model": ["good", build]}}, "a value that JSON cannot hold"),
        ({"parameters": {"model": "good"}}, "model needs a list of values"),
        ({"parameters": None}, "no parameter to vary"),
        ({"objective": None}, "expected a metric"),
        ({"leave_out": [{"model": "good"}]}, "except excludes the base"),
        ({"preset": "top_p"}, "top_k"),
        ({"judge": "none", "objective": "faithfulness"}, "needs a judge"),
        ({"system": None}, "system is missing. Set it in the sweep section"),
        ({"margin": -1}, "margin must be at least 0, got -1"),
    ],
)
def test_refused_before_the_first_question(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    """What cannot be right is said before anything is asked."""
    ASKED.clear()
    with pytest.raises(rg.RagaugeError, match=told):
        rg.sweep(**{"system": build, "set": questions(), **SPACE, **given}, store=url(tmp_path))
    assert not ASKED


def test_factory_that_raises_fails_its_trial_alone(tmp_path: Path) -> None:
    """A factory that raises for one value costs that trial, which says why; the same call asks for it again."""
    broken = [True]

    def some(model: str) -> Any:
        if model == "same" and broken:
            raise RuntimeError("no key for same")
        return build(model)

    space: dict[str, Any] = {"parameters": {"model": ["good", "weak", "same"]}, "objective": "exact_match"}
    first = rg.sweep(some, questions(40), **space, store=url(tmp_path))
    assert states(first) == {"model=good": "complete", "model=weak": "pruned", "model=same": "failed"}
    assert "model=same: failed: RuntimeError: no key for same" in first.to_markdown()
    broken.clear()
    again = rg.sweep(some, questions(40), **space, store=url(tmp_path))
    assert states(again)["model=same"] == "complete"
    assert again.log.made == 40


def test_small_set_is_not_raced(tmp_path: Path) -> None:
    """A set below 30 examples is asked whole, and the note says so."""
    result = rg.sweep(build, questions(20), **SPACE, store=url(tmp_path))
    assert set(states(result).values()) == {"complete"}
    assert "no race: the set has 20 examples" in result.log.notes[0]


def test_objective_that_applies_to_nothing_says_why(tmp_path: Path) -> None:
    """An objective without labels ends the sweep at the first look with the reason; a set asked whole says it then."""
    ASKED.clear()
    space = {**SPACE, "objective": "recall@5"}
    with pytest.raises(UsageError, match=r"recall@5 applies to none of the first 30 questions: no relevance labels"):
        rg.sweep(build, questions(), **space, store=url(tmp_path))
    assert sum(ASKED.values()) == 6 * 30
    small = rg.sweep(build, questions(20), **space, name="small", store=url(tmp_path))
    assert small.recommendation.trial is None
    (told,) = (one for one in small.notes if "none has a recall@5 score" in one)
    assert "no relevance labels (120)" in told
    assert small.to_json()
    assert small.save(tmp_path / "s.html").exists()


def test_dry_run_asks_nothing(tmp_path: Path) -> None:
    """The plan says how many trials and questions there are, and asks none."""
    ASKED.clear()
    found = preview_sweep(SweepOptions(build, questions(), **SPACE, store=url(tmp_path)))
    assert found["trials"] == 6
    assert found["questions_at_most"] == 6 * N
    assert found["looks"] == [30, 45, 68, 101, 120]
    assert not ASKED


def test_progress_counts_what_is_left(tmp_path: Path) -> None:
    """What is done only grows, the total falls as trials are dropped, both end alike; what is stored counts as done."""
    seen: list[tuple[int, int]] = []

    def moved(now: Any) -> None:
        seen.append((now.done, now.total))

    result = rg.sweep(build, questions(), **SPACE, store=url(tmp_path), progress=moved)
    done, totals = zip(*seen, strict=True)
    assert list(done) == sorted(done)
    assert (totals[0], totals[-1]) == (6 * N, result.log.held)
    assert list(totals) == sorted(totals, reverse=True)
    assert seen[-1] == (result.log.made, result.log.made)
    seen.clear()
    wider = {**SPACE, "parameters": {"model": ["good", "weak", "same"], "k": [1, 2, 3]}}
    rg.sweep(build, questions(), **wider, store=url(tmp_path), progress=moved)
    assert seen[0][0] > 30


def test_share_to_confirm_on_is_exact_and_keeps_clusters(tmp_path: Path) -> None:
    """A share held back is that share to one example; of clusters, to half a cluster, none of them cut."""
    from ragauge.store.store_access import open_store
    from ragauge.studies.sweep.verb import _split_set

    def halves(eval_set: rg.EvalSet, share: str) -> tuple[rg.EvalSet, rg.EvalSet]:
        with open_store(url(tmp_path)) as store:
            rest, back = _split_set(SweepOptions(build, eval_set, confirm=share), eval_set, store)
        assert back is not None
        return rest, back

    rest, back = halves(questions(200), "40%")
    assert (len(rest), len(back)) == (120, 80)
    grouped = rg.EvalSet("g", tuple(rg.Example(f"q{n}", f"question {n}", cluster=f"c{n // 7}") for n in range(200)))
    rest, back = halves(grouped, "0.25")
    assert abs(len(back) - 50) <= 4
    assert not {one.cluster for one in rest} & {one.cluster for one in back}


@pytest.mark.parametrize(("good_after", "state"), [(999, "failed"), (25, "failed"), (15, "complete")])
def test_a_trial_whose_first_calls_all_fail_is_stopped(tmp_path: Path, good_after: int, state: str) -> None:
    """After 20 calls that all failed a trial is asked nothing more, also by the same command again; others go on."""
    calls: Counter[str] = Counter()

    def failing(model: str) -> Any:
        def answer(question: str) -> dict[str, Any]:
            calls[model] += 1
            if model == "weak" and calls[model] <= good_after:
                raise RuntimeError("no such model")
            return {"answer": question.replace("question", "answer")}

        return answer

    space: dict[str, Any] = {"parameters": {"model": ["good", "weak"]}, "objective": "exact_match", "race": False}
    for _ in range(2):
        result = rg.sweep(failing, questions(60), **space, concurrency=1, store=url(tmp_path))
        assert states(result) == {"model=good": "complete", "model=weak": state}
    assert calls == {"good": 60, "weak": 20 if state == "failed" else 60}
    if state == "failed":
        reason = next(one.reason for one in result.study.trials if one.state == "failed")
        assert "all of its first 20 calls failed" in reason
        assert "no such model" in reason


def test_index_parameters_reach_a_build_that_takes_them(tmp_path: Path) -> None:
    """What the index is made of is given to build too where it takes that by name, or takes any keyword."""
    seen: list[tuple[int, int | None]] = []

    def named(held: int, model: str, size: int) -> Any:
        seen.append((held, size))
        return build(model)

    def any_keyword(held: int, **rest: Any) -> Any:
        seen.append((held, rest.get("size")))
        return build(rest["model"])

    def without(held: int, model: str) -> Any:
        seen.append((held, None))
        return build(model)

    for n, (function, given) in enumerate(((named, True), (any_keyword, True), (without, False))):
        seen.clear()
        rg.sweep(
            {"index": index, "build": function},
            questions(5),
            parameters={"size": [1, 2], "model": ["good", "weak"]},
            index=["size"],
            objective="exact_match",
            store=url(tmp_path),
            name=f"s{n}",
        )
        assert set(seen) == ({(1, 1), (2, 2)} if given else {(1, None), (2, None)})
