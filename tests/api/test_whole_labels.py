"""Labels of whole answers: address, refuse and scores, in everything that labels of support are in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragauge as rg
from ragauge.stats.ppi_mean import LabelSample, rectified_mean
from ragauge.store.store_access import open_store

Row = dict[str, Any]
METRICS = ("answer_relevance", "refusal_correctness", "answer_contains")
ASKED = {"address": "answer_relevance", "refuse": "refusal_correctness", "score:answer_contains": "answer_contains"}


def answer(i: int, wrong: int) -> str:
    """Right in words or in digits, another height, or a refusal."""
    if i % 5 == 0:
        return "I do not know."
    tall = 700 + i if i < wrong else 300 + i
    return f"Tower {i} is three hundred and {i} metres tall." if i % 7 == 0 and i >= wrong else f"It is {tall} m tall."


def towers(n: int, wrong: int) -> list[Row]:
    """Questions with a reference and without passages: every tenth cannot be answered."""
    return [
        {
            "query_id": f"q{i}",
            "query": f"How tall is tower {i}?",
            "answer": answer(i, wrong),
            "reference_answer": f"{300 + i} m",
            "answerable": i % 10 > 0,
        }
        for i in range(n)
    ]


def say(question: str, i: int, wrong: int) -> str | int:
    """What a person who knows says."""
    declines = i % 5 == 0
    if question == "address":
        return "no" if declines else "fully"
    return ("yes" if declines else "no") if question == "refuse" else int(not declines and i >= wrong)


def label(run: str, store: str, folder: Path, question: str, n: int, wrong: int, **options: Any) -> list[int]:
    """Draws, labels and imports; the numbers of the answers drawn."""
    tasks = folder / "tasks.jsonl"
    rg.label_draw(run, output=tasks, n=n, question=question, store=store, **options)
    rows, drawn = [], []
    for task in map(json.loads, tasks.read_text().splitlines()):
        drawn.append(int(task["query"].split()[-1][:-1]))
        assert task["passages"] == []
        assert task["parts"] == [None]
        rows.append(
            {name: task[name] for name in ("key", "question", "guideline")}
            | {"part": None, "value": say(question, drawn[-1], wrong), "annotator": "ann"}
        )
    rg.label_import(rows, store=store)
    return drawn


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store of its own."""
    return f"sqlite:///{tmp_path / 'store.db'}"


def summary(run: str, store: str, metric: str, judge: str = "local") -> Any:
    """The summary of a metric."""
    card = rg.evaluate(run, metrics=METRICS if judge == "local" else metric, judge=judge, store=store).card
    return next(one for one in card.summaries if one.metric == metric)


@pytest.mark.parametrize("question", ASKED)
def test_labels_of_whole_answers_rectify(question: str, store: str, tmp_path: Path) -> None:
    """The rectified mean is that of the labels and of the judge's scores by hand, and people are a judge by them."""
    metric = ASKED[question]
    rg.evaluate(towers(240, 60), metrics=METRICS, name="run", store=store)
    assert summary("run", store, metric).rectified is None
    drawn = label("run", store, tmp_path, question, 100, 60)
    found = summary("run", store, metric)
    by_people = summary("run", store, metric, "people")
    with open_store(store) as opened:
        run = opened.runs.find("run").run_id
        judge, people = (
            next(one for one in opened.scores.judges(run) if one.startswith(name)) for name in ("local", "people")
        )
        scores = {
            name: {
                int(row["query_id"][1:]): row
                for row in opened.scores.load_frame(run, name).to_dicts()
                if row["metric"] == metric
            }
            for name in (judge, people)
        }
    mine = {i: row["value"] for i, row in scores[people].items() if row["status"] == "scored"}
    theirs = {i: row["value"] for i, row in scores[judge].items() if row["status"] == "scored"}
    assert set(mine) <= set(drawn)
    assert by_people.scored == len(mine) > 80
    assert by_people.mean == pytest.approx(np.mean(list(mine.values())))
    both, rest = sorted(set(mine) & set(theirs)), sorted(set(theirs) - set(drawn))
    expected = rectified_mean(
        LabelSample([mine[i] for i in both], [theirs[i] for i in both], [theirs[i] for i in rest]), bounds=(0.0, 1.0)
    )
    assert found.rectified is not None
    assert expected is not None
    assert (found.rectified.n, found.rectified.mean) == (len(both), pytest.approx(expected.mean))
    unasked = {row["reason"] for i, row in scores[people].items() if i not in drawn}
    assert all(reason.startswith("no labels ") for reason in unasked)
    assert (by_people.not_applicable == 140) == (question == "score:answer_contains")


def test_scores_rectify_differences_and_gates(store: str, tmp_path: Path) -> None:
    """People's scores of a metric that asks no judge rectify comparison, gate and plan of runs that nobody judged."""
    for name, wrong in (("base", 120), ("new", 30)):
        rg.evaluate(towers(240, wrong), metrics="answer_contains", name=name, store=store)
        label(name, store, tmp_path, "score:answer_contains", 120, wrong)
    found = rg.compare("base", "new", store=store)
    (change,) = (one for one in found.compared.runs[0].metrics if one.metric == "answer_contains")
    assert change.rectified is not None
    truth = sum(int(say("score:", i, 30)) - int(say("score:", i, 120)) for i in range(240)) / 240
    assert change.rectified.n == 120
    assert change.rectified.interval.low < truth < change.rectified.interval.high
    rule = {"metric": "answer_contains", "min": 0.5, "rectified": True, "segments": "none"}
    (check,) = (
        one for one in rg.gate("new", rules={"gate": {"rules": [rule]}}, store=store).gated.checks if one.kind == "min"
    )
    assert (check.verdict, check.n) == ("pass", 120)
    rg.evaluate("new", metrics="answer_contains", judge="people", store=store)  # people are not held against people
    plan = rg.label_plan("new", metric="answer_contains", width=0.05, store=store)
    assert (plan.there, plan.responses) == (120, 240)
    assert plan.correlation is not None
    assert plan.correlation > 0.5


@pytest.mark.parametrize("question", ASKED)
def test_schemes_go_by_the_judges_scores(question: str, store: str, tmp_path: Path) -> None:
    """Half of a draw by verdict is from what the metric of the question scores below a half, chances counted in."""
    rg.evaluate(towers(240, 60), metrics=METRICS, name="run", store=store)
    drawn = label("run", store, tmp_path, question, 80, 60, scheme="verdict")
    with open_store(store) as opened:
        (draw,) = opened.draws.list_for_run(opened.runs.find("run").run_id, question)
    assert (len(drawn), draw.by) == (80, "answer")
    assert len(set(draw.inclusion.values())) == 2
    found = summary("run", store, ASKED[question]).rectified
    if question == "score:answer_contains":
        assert found is not None
        assert found.interval.low < sum(int(say(question, i, 60)) for i in range(240)) / 240 < found.interval.high


def test_scores_outside_the_range_are_refused(store: str) -> None:
    """A score beyond the metric's range, or of a metric that there is not, ends an import with what was expected."""
    row = {"query": "Who?", "answer": "Ada.", "reference_answer": "Ada", "label": 2}
    with pytest.raises(rg.DataError, match="1 or 0, yes or no"):
        rg.label_import([row], question="score:answer_contains", store=store)
    with pytest.raises(rg.UnknownName, match="faithfulness"):
        rg.label_import([row], question="score:faithfullness", store=store)
    found = rg.label_import([row | {"label": True}], question="score:answer_contains", store=store)
    assert (found.read, found.new) == (1, 1)
