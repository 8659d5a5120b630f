"""`ragauge judge check --verdict`: judges that were asked elsewhere, and labels with weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

# people and a judge of words: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no
CELLS = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Labels without texts, beside a judge's words and another's probabilities."""
    rows = [
        {"label": human, "words": ("absent", "supported")[judge], "sure": (0.2, 0.9)[human], "weight": 1 + judge}
        for human, judge in CELLS
    ]
    path = tmp_path / "recorded.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def check(cli: Cli, *words: Any) -> Any:
    return cli("judge", "check", *words, "-q", "--json").json()


def test_recorded_verdicts_are_checked_without_a_judge(cli: Cli, file: Path) -> None:
    """Nobody is asked, the local judge neither: figures are those of the columns, by hand."""
    found = check(cli, file, "--verdict", "words,sure", "--map", "weight=none")
    one, sure = found["judges"]
    assert (one["judge"], one["judge_id"], found["rows"]) == ("words", "recorded:words", 50)
    assert one["confusion"] == [[20, 5], [10, 15]]
    # po = 35/50, rows 25 25, columns 30 20: pe = .5; kappa = (.7 - .5) / .5
    assert one["kappa"]["value"] == pytest.approx(0.4)
    assert one["probabilities"] is None
    assert (sure["accuracy"]["value"], sure["probabilities"]["auroc"]["value"]) == (1.0, 1.0)
    # (25 · .1² + 25 · .2²) / 50
    assert sure["probabilities"]["brier"]["value"] == pytest.approx(0.025)
    assert found["pairs"][0]["accuracy_gain"]["value"] == pytest.approx(0.3)
    assert one["error"] == {}


def test_weights_of_the_file_count(cli: Cli, file: Path) -> None:
    """What the judge calls supported counts twice: accuracy (2·20 + 15) / 80; counts stay counts."""
    found = check(cli, file, "--verdict", "words")
    assert found["weighted"] is True
    assert found["judges"][0]["accuracy"]["value"] == pytest.approx(55 / 80)
    assert found["judges"][0]["confusion"] == [[20, 5], [10, 15]]
    # TP of not supported 15, precision over weights 20: 15/20; base rate (2·10 + 15) / 80
    assert found["judges"][0]["detection"]["precision"]["value"] == pytest.approx(15 / 20)
    assert found["judges"][0]["detection"]["base_rate"]["value"] == pytest.approx(35 / 80)
    assert "row weights count" in cli("judge", "check", file, "--verdict", "words", "-q").out


def test_recorded_beside_asked(cli: Cli, tmp_path: Path) -> None:
    """With --judge, judges are asked as ever and stand beside the column; claims hold their verdicts."""
    path = tmp_path / "claims.jsonl"
    row = {
        "query": "What?",
        "passages": ["The hub weighs nine grams."],
        "claims": [
            {"claim": "The hub weighs nine grams.", "label": "supported", "other": "supported"},
            {"claim": "The hub is green.", "label": "not_in_context", "other": None},
        ],
    }
    path.write_text(json.dumps(row) + "\n")
    found = check(cli, path, "--verdict", "other", "--judge", "local")
    assert [one["judge"] for one in found["judges"]] == ["local", "other"]
    assert found["judges"][1]["no_verdict_reasons"] == {"the file has no verdict": 1}
    lacking = cli("judge", "check", path, "--verdict", "others", "-q")
    assert lacking.code == 2
    assert "an object with others" in lacking.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--verdict", "word"], "no field 'word' (found: label, words, sure, weight; nearest: words). Use --verdict"),
        (["--verdict", "words", "--judge", "local"], "no field 'passages'"),
        (["--verdict", "weight"], "true or false, 1 or 0, got number 2"),
    ],
)
def test_wrong_columns_are_one_line(cli: Cli, file: Path, words: list[str], told: str) -> None:
    """A column that is not there, or holds no verdict, is one line; a judge that is asked needs texts."""
    done = cli("judge", "check", file, *words, "-q")
    assert done.code == 2
    assert told in done.err
