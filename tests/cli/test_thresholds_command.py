"""`ragauge report --thresholds` as people type it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli, write

import ragauge as rg


def traffic(n: int, *, outcome: bool = True) -> list[dict[str, Any]]:
    """Answers with 0 to 4 of 4 words right; they are solved nine times in ten from 3 on, else three in ten."""
    generator = random.Random(5)
    words = ["red", "green", "blue", "black"]
    rows: list[dict[str, Any]] = []
    for i in range(n):
        right = i % 5
        solved = generator.random() < (0.95 if right >= 3 else 0.3)
        said = [*words[:right], *["wrong"] * (4 - right)]
        row = {"query_id": f"q{i}", "query": f"{i}?", "answer": " ".join(said), "reference_answer": " ".join(words)}
        rows.append(row | ({"outcome": {"solved": solved, "stars": 5 if solved else 2}} if outcome else {}))
    return rows


@pytest.fixture
def evaluated(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """500 answers with outcomes, 8 of them, and 500 without, evaluated without a judge."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name, rows in (("without", traffic(500, outcome=False)), ("few", traffic(8)), ("solved", traffic(500))):
        path = write(tmp_path / f"{name}.jsonl", rows)
        done = cli("evaluate", path, "-m", "token_f1", "--judge", "none", "-q")
        assert done.code == 0, done.err
    return cli


def test_the_level_that_serves(evaluated: Cli) -> None:
    """The planted level, 3 of 4 words, is found, drawn and said with its share; --json holds the same."""
    found = evaluated("report", "solved", "--thresholds", "token_f1", "--json").json()
    assert (found["outcome"], found["n"], found["other_outcomes"]) == ("solved", 500, ["stars"])
    assert (found["by_outcome"]["verdict"], found["by_outcome"]["level"]) == ("serves", 0.75)
    assert [level["serves"] for level in found["by_outcome"]["levels"]] == [False, False, False, True, True]
    shown = evaluated("report", "--thresholds", "token_f1").out
    assert "Use token_f1 of at least 0.75: " in shown
    assert shown.count("◀") == shown.count("✓") == 1
    assert "goes with more good outcomes: rank correlation" in shown
    stars = evaluated(
        "report", "solved", "--thresholds", "token_f1", "--outcome", "stars", "--good", ">=4", "--json"
    ).json()
    assert stars["by_outcome"]["levels"] == found["by_outcome"]["levels"]


def test_eight_examples(evaluated: Cli) -> None:
    """Eight examples are not enough data, and that is an answer: exit 0."""
    done = evaluated("report", "few", "--thresholds", "token_f1")
    assert done.code == 0
    assert "Not enough data to tell which threshold reaches 80%: 8 responses with an outcome." in done.out


def test_none_does(evaluated: Cli) -> None:
    """A target that no level reaches is said to be out of reach."""
    assert (
        "No threshold works: even at the best one"
        in evaluated("report", "solved", "--thresholds", "token_f1", "--target", "0.999").out
    )


def test_without_outcomes(evaluated: Cli) -> None:
    """Without outcomes the baseline's own distribution is shown, as a description and no target."""
    assert evaluated("baseline", "set", "without", "--name", "main").code == 0
    assert "it is not a target" in evaluated("report", "main", "--thresholds", "token_f1").out
    assert rg.thresholds("token_f1").to_dict()["name"] == "without"
    found = evaluated("report", "without", "--thresholds", "token_f1", "--json").json()
    assert (found["name"], found["by_outcome"], found["outcome"]) == ("without", None, "")
    assert {one["share"]: one["value"] for one in found["reached"]} == {0.5: 0.5, 0.75: 0.25, 0.9: 0.0, 0.95: 0.0}


def test_refused(evaluated: Cli) -> None:
    """What was not evaluated, is not recorded, or needs to be told is a usage error that says what to do."""
    for words, said in (
        (("faithfulness", "solved"), "ragauge evaluate solved -m faithfulness"),
        (("token_f1", "solved", "--outcome", "solvd"), "nearest: solved"),
        (("token_f1", "without", "--outcome", "solved"), "No response has an outcome."),
        (("token_f1", "solved", "--outcome", "stars"), "Say which are good, as in --good '>=4'"),
        (("token_f1", "solved", "--target", "80"), "target must lie between 0 and 1"),
    ):
        metric, run, *more = words
        done = evaluated("report", run, "--thresholds", metric, *more)
        assert done.code == 2
        assert said in done.err


def marked(cli: Cli, path: Path, outcomes: list[Any]) -> None:
    """A run of these outcomes; every second answer is right."""
    rows = [
        {
            "query_id": f"q{i}",
            "query": f"{i}?",
            "answer": "red" if i % 2 else "blue",
            "reference_answer": "red",
            "outcome": {"mood": outcome},
        }
        for i, outcome in enumerate(outcomes)
    ]
    assert cli("evaluate", write(path, rows), "-m", "token_f1", "--judge", "none", "-q", "--name", "r").code == 0


def test_words_that_are_misspelt(cli: Cli, tmp_path: Path) -> None:
    """A good word that no response carries is refused where it is likely misspelt, not taken for all bad."""
    marked(cli, tmp_path / "a.jsonl", ["love", "meh"] * 20)
    refused = cli("report", "r", "--thresholds", "token_f1", "--good", "lov")
    assert refused.code == 2
    assert "no value of the outcome mood 'lov'; nearest: love. Known: love, meh." in refused.err
    assert cli("report", "r", "--thresholds", "token_f1", "--good", "great").code == 2
    assert cli("report", "r", "--thresholds", "token_f1", "--good", "mehh,love").code == 2
    assert "(good: love,great)" in cli("report", "r", "--thresholds", "token_f1", "--good", "love,great").out


def test_outcomes_that_are_all_alike(cli: Cli, tmp_path: Path) -> None:
    """Where every response turned out well, or none, it is said that there is no trend; what is good is named."""
    marked(cli, tmp_path / "a.jsonl", ["up"] * 40)
    good = cli("report", "r", "--thresholds", "token_f1").out
    assert "Outcome mood (good: up): 40 responses." in good
    assert "No response had a bad outcome: there is no trend to test." in good
    marked(cli, tmp_path / "b.jsonl", ["down"] * 40)
    bad = cli("report", "r", "--thresholds", "token_f1").out
    assert "Outcome mood (good: never recorded): 40 responses." in bad
    assert "No response had a good outcome: there is no trend to test." in bad


def test_trend_of_six(cli: Cli, tmp_path: Path) -> None:
    """Six responses in perfect order give no interval, and no p-value that says otherwise."""
    marked(cli, tmp_path / "a.jsonl", ["down", "up"] * 3)
    shown = " ".join(cli("report", "r", "--thresholds", "token_f1").out.split())
    assert "No trend between token_f1 and the outcome: rank correlation 1.00, too few for an interval." in shown
