"""`ragauge evaluate --scores`: numeric columns of one's own become metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

import ragauge as rg
from ragauge.engine.pool import Worker
from ragauge.metrics.catalogue import parse_metric

Row = dict[str, Any]


def rows(n: Any = 24, **columns: Any) -> list[Row]:
    """Answers with a rating from 1 to 5, minutes, and a column in two values."""
    return [
        {
            "query_id": f"q{i}",
            "query": f"What is {i}?",
            "answer": f"It is {i}.",
            "lang": ("de", "en")[i % 2],
            "User Rating": 1 + i % 5,
            "minutes": i / 2,
            **{name: made(i) for name, made in columns.items()},
        }
        for i in range(n)
    ]


def saved(path: Path, found: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    return path


def measured(cli: Cli, *words: Any) -> dict[str, Any]:
    found: dict[str, Any] = cli("evaluate", *words, "--judge", "none", "-m", "tokens", "--json").json()
    return found


def test_columns_become_metrics(cli: Cli, tmp_path: Path) -> None:
    """A column has a mean, an interval and segments under its name in snake case; :lower says which is better."""
    path = saved(tmp_path / "a.jsonl", rows())
    found = measured(cli, path, "--scores", "User Rating,minutes:lower", "--segments", "lang")
    # 24 ratings: 1 2 3 4 5 four times, then 1 2 3 4; minutes 0, 0.5, ..., 11.5
    rating, minutes = found["metrics"]["user_rating"], found["metrics"]["minutes"]
    assert (rating["mean"], minutes["mean"]) == (pytest.approx(70 / 24), pytest.approx(5.75))
    assert 1 < rating["ci"][0] < 70 / 24 < rating["ci"][1] < 5
    assert found["segments"]["lang"]["de"]["minutes"]["mean"] == pytest.approx(5.5)
    assert (parse_metric("user_rating").direction, parse_metric("minutes").direction) == ("higher", "lower")


@pytest.mark.slow
def test_columns_are_compared_and_gated(cli: Cli, tmp_path: Path) -> None:
    """Two runs with a column are compared by it, worse being more of what is lower the better, and a gate reads it."""
    for name, more in (("a", 0), ("b", 4)):
        path = saved(tmp_path / f"{name}.jsonl", rows(minutes=lambda i, more=more: i % 3 + more))
        measured(cli, path, "--scores", "minutes:lower", "--segments", "lang,User Rating")
    compared = cli("compare", "a", "b", "--json").json()
    assert compared["comparisons"][0]["metrics"]["minutes"]["verdict"] == "worse"
    (tmp_path / "ragauge.yaml").write_text("gate: {rules: [{metric: minutes, max: 2}]}")
    assert [cli("gate", name).code for name in "ab"] == [0, 3]


def test_values_that_are_no_numbers(cli: Cli, tmp_path: Path) -> None:
    """An empty cell does not apply; true is 1; a text, a list or NaN fails that score and says what came."""
    kinds = ["4.5", "", None, "true", False, "good", [1], float("nan"), 10**400]
    path = saved(tmp_path / "a.jsonl", rows(len(kinds), mark=lambda i: kinds[i]))
    measured(cli, path, "--scores", "mark")
    found = [example.scores["mark"] for example in rg.open_run("latest").scorecard().examples()]
    assert [one.value for one in found] == [4.5, None, None, 1.0, 0.0, None, None, None, None]
    assert [one.status for one in found][1:3] == ["not_applicable"] * 2
    assert [one.status for one in found][5:] == ["failed"] * 4
    assert found[1].reason == "no value in the column mark"
    assert found[5].reason == "the text 'good' in the column mark; expected a number"
    assert "a list of 1" in found[6].reason
    assert "NaN" in found[7].reason


def test_name_of_a_built_in_metric(cli: Cli, tmp_path: Path) -> None:
    """A column called as a metric is refused with what to write, which then works."""
    path = saved(tmp_path / "a.jsonl", rows(faithfulness=lambda i: i % 2))
    said = cli("evaluate", path, "--scores", "faithfulness")
    remedy = "--map own_faithfulness=faithfulness --scores own_faithfulness"
    assert said.code == 2
    assert f"faithfulness is a built-in metric. Give yours another name: {remedy}." in said.err
    assert measured(cli, path, *remedy.split())["metrics"]["own_faithfulness"]["mean"] == 0.5


def test_column_that_cannot_name_a_metric(cli: Cli, tmp_path: Path) -> None:
    """A name without letters is refused; --map gives it one."""
    path = saved(tmp_path / "a.jsonl", rows(**{"4★": lambda i: 1}))
    said = cli("evaluate", path, "--scores", "4★")
    assert "the column '4★' is not a valid metric name" in said.err
    assert measured(cli, path, "--map", "stars=4★", "--scores", "stars")["metrics"]["stars"]["mean"] == 1


def test_column_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    """A name that no row has is refused with the nearest, of one file and of the responses to a set."""
    path = saved(tmp_path / "a.jsonl", rows())
    questions = saved(tmp_path / "set.jsonl", [{key: row[key] for key in ("query_id", "query")} for row in rows()])
    for sources in ((path,), (questions, path)):
        said = cli("evaluate", *sources, "--scores", "minute")
        assert said.code == 2
        assert "a.jsonl: no line has a column 'minute'" in said.err
        assert "nearest: minutes" in said.err
    assert measured(cli, questions, path, "--scores", "minutes")["metrics"]["minutes"]["mean"] == 5.75


def test_outcomes_of_a_stored_run(cli: Cli, tmp_path: Path) -> None:
    """What a stored run has as its outcomes is scored without its file; in an object, a dot reaches a column."""
    path = saved(
        tmp_path / "a.jsonl", rows(outcome=lambda i: {"solved": i % 4 > 0}, feedback=lambda i: {"stars": i % 3})
    )
    assert measured(cli, path, "--scores", "feedback.stars")["metrics"]["feedback_stars"]["mean"] == 1
    assert measured(cli, "a", "--scores", "solved")["metrics"]["solved"]["mean"] == 0.75


def test_tables_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python scores= takes the columns of a table, beside other metrics, and a name is parsed from then on."""
    monkeypatch.chdir(tmp_path)
    table = [{key: row[key] for key in ("query", "answer", "minutes")} for row in rows()]
    card = rg.evaluate(table, metrics="tokens", scores=["minutes:neither"], judge=None)
    assert card["minutes"].mean == 5.75
    assert rg.evaluate("latest", metrics=["minutes"], judge=None)["minutes"].mean == 5.75


def test_bad_direction_is_part_of_the_name(cli: Cli, tmp_path: Path) -> None:
    """Only higher, lower and neither stand behind a colon, any other text is the column's; the option repeats."""
    path = saved(tmp_path / "a.jsonl", rows(**{"time:total": lambda i: 2}))
    found = measured(cli, path, "--scores", "time:total", "--scores", "minutes")["metrics"]
    assert (found["time_total"]["mean"], found["minutes"]["mean"]) == (2, 5.75)


def test_columns_in_worker_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes read a column's metric from the store: they are started, and score what this process does."""
    monkeypatch.chdir(tmp_path)
    path = saved(tmp_path / "a.jsonl", rows())
    monkeypatch.setattr("ragauge.engine.execute.MIN_RESPONSES_COUNTING", 1)
    started: list[int] = []

    def starting() -> Worker:
        started.append(1)
        return Worker()

    monkeypatch.setattr("ragauge.engine.execute.Worker", starting)
    card = rg.evaluate(path, metrics="tokens", scores="minutes", judge=None, workers=2, segments="lang,User Rating")
    assert (len(started), card["minutes"].mean) == (2, 5.75)
