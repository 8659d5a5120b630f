"""Tags of runs, rows of runs, and one question in all runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.api.test_baseline import METRICS, evaluated, rows
from tests.engine.tiny_judge import SPEC

import ragauge as rg
from ragauge.store.question_runs import QuestionInRun
from ragauge.store.store_access import open_store


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs over one set, and one whose questions have the same ids and other words."""
    path = tmp_path_factory.mktemp("pages") / "pages.db"
    url = f"sqlite:///{path}"
    evaluated(url, "main", n=10)
    evaluated(url, "missed", n=10, missed=4)
    evaluated(url, "invented", n=10, invented=10)
    other = [row | {"query": f"another {row['query']}"} for row in rows(10)]
    rg.evaluate(other, metrics=METRICS, judge=SPEC, store=url, name="other", workers=1)
    return path


@pytest.fixture
def store(file: Path, tmp_path: Path) -> str:
    """A copy of it."""
    return f"sqlite:///{shutil.copy(file, tmp_path)}"


def test_a_question_in_all_runs(store: str) -> None:
    """The same question is found in each run that asked it, with its scores there; an equal id alone is no match."""
    run = rg.open_run("main", store=store)
    found = run.question_in_runs("q0")
    assert [(one.name, one.values["recall@5"], one.failed) for one in found] == [
        ("invented", 1.0, True),
        ("missed", 0.0, True),
        ("main", 1.0, False),
    ]
    for one in found:
        view = rg.open_run(one.run_id, store=store).example("q0")
        assert one.values == {name: score.value for name, score in view.scores.items()}
        assert one.cause == (view.cause.name if view.cause else "")
        assert one.judge == rg.open_run(one.run_id, store=store).judges()[0]
    assert [one.name for one in rg.open_run("other", store=store).question_in_runs("q0")] == ["other"]


def test_a_question_in_pages_and_few_metrics(store: str) -> None:
    """Pages join to the whole list, and metrics are those asked for, in their order."""
    run = rg.open_run("main", store=store)
    whole = run.question_in_runs("q1", limit=None)
    paged: list[QuestionInRun] = []
    while page := run.question_in_runs("q1", limit=1, after=paged[-1].run_id if paged else ""):
        paged += page
    assert paged == whole
    assert list(run.question_in_runs("q1", "faithfulness,recall@5", limit=1)[0].values) == ["faithfulness", "recall@5"]


def test_answers_of_one_run_stay_together(tmp_path: Path) -> None:
    """A page holds all answers of its last run, so that none is passed over."""
    url = f"sqlite:///{tmp_path}/pages.db"
    again = [row | {"repeat": repeat} for row in rows(4) for repeat in (0, 1, 2)]
    rg.evaluate(again, metrics="recall@5", judge=None, store=url, name="thrice", workers=1)
    found = rg.open_run("thrice", store=url).question_in_runs("q2", limit=1)
    assert [(one.repeat, one.values) for one in found] == [(n, {"recall@5": 1.0}) for n in range(3)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"query_id": "q77"}, "query_id 'q77'"),
        ({"query_id": "q0", "metrics": "recal@5"}, "recall"),
        ({"query_id": "q0", "after": "none"}, "run 'none'"),
        ({"query_id": "q0", "limit": 0}, "limit must be at least 1"),
    ],
)
def test_a_question_that_is_not_there(store: str, words: dict[str, Any], said: str) -> None:
    """An unknown question, metric or run, and a limit of 0, are refused with what is there."""
    with pytest.raises(rg.UsageError, match=said):
        rg.open_run("main", store=store).question_in_runs(**words)


def test_tags(store: str) -> None:
    """Tags are added and taken away one by one; lists are filtered by them, in Python and on the command line."""
    assert rg.tag_run("main", "golden", "release", store=store)["tags"] == ["golden", "release"]
    assert rg.tag_run(rg.open_run("missed", store=store), "golden", store=store)["tags"] == ["golden"]
    assert [run.name for run in rg.runs(filter={"tag": "golden"}, store=store)] == ["missed", "main"]
    assert rg.untag_run("main", "golden", store=store)["tags"] == ["release"]
    assert {run.name: run.tags for run in rg.runs(store=store)}["main"] == ("release",)
    with pytest.raises(rg.UnknownName, match="nearest: release"):
        rg.untag_run("main", "relase", store=store)
    with pytest.raises(rg.UsageError, match="which tag"):
        rg.tag_run("main", store=store)
    with pytest.raises(rg.UsageError, match="without a comma"):
        rg.tag_run("main", "a,b", store=store)


def test_rows_say_what_is_known_of_a_run(store: str) -> None:
    """A row has the means of the run's scorecard with their intervals, and what stands for each layer."""
    row = rg.runs(limit=1, sort="faithfulness", filter={"set": "table"}, store=store)[0]
    card = rg.open_run(row.run_id, store=store).scorecard()
    assert row.name == "invented"
    assert row.means == {name: one.mean for name, one in card.summaries.items()}
    for value in row.headline.values():
        mine = card[value.metric]
        assert (value.mean, value.n, value.scored) == (mine.mean, mine.n, mine.scored)
        assert mine.widest_interval is not None
        assert (value.low, value.high) == (mine.widest_interval.low, mine.widest_interval.high)
    assert {layer: one.metric for layer, one in row.headline.items()} == {
        "retrieval": "context_recall",
        "generation": "faithfulness",
        "end_to_end": "answer_correctness",
    }
    assert (row.state, row.responses, row.planned, row.cost) == ("finished", 10, 10, 0.0)
    with open_store(store) as opened:
        assert row.responses == opened.runs.count_responses(row.run_id)


def test_a_run_in_flight_and_a_killed_one(store: str) -> None:
    """A run that was written to just now is in flight, and the list says how far it is."""
    with open_store(store) as opened:
        opened.collecting.mark_state(opened.runs.find("main").run_id, "running", planned=40)
    assert {run.name: run.state for run in rg.runs(store=store)}["main"] == "in flight"
