"""`ragauge judge check --grades`: numbers on a scale, of people and of judges beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

import ragauge as rg

META = Path(__file__).resolve().parents[3] / "shared/data/ragchecker_meta/human_labeled_data.json"
# four people, twelve items, six gaps
UNITS = [
    [1, 1, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [5, 5, 5],
    [1, 1],
    [3],
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_alphas_are_printed(cli: Cli, tmp_path: Path) -> None:
    """Alpha on three scales is that of krippendorff 0.9.0 on the same grades, in JSON and in the terminal."""
    path = write(tmp_path / "g.jsonl", [{"grades": unit} for unit in UNITS])
    found = cli("judge", "check", path, "--grades", "--json").json()
    assert {scale: one["value"] for scale, one in found["alphas"].items()} == pytest.approx(
        {"nominal": 0.743421052631579, "ordinal": 0.8153875037548814, "interval": 0.849107142857}
    )
    assert (found["items"], found["several"]) == (12, 11)
    shown = cli("judge", "check", path, "--grades").out
    for words in (
        "nominal",
        "ordinal",
        "interval",
        "0.74 [",
        "0.82 [",
        "0.85 [",
        "annotators, each against the others",
    ):
        assert words in shown


def test_a_judge_by_hand(cli: Cli, tmp_path: Path) -> None:
    """A judge's weighted kappa and equal grades over pairs with each annotator, by hand; segments and weights count."""
    rows: list[dict[str, Any]] = [
        {"label": [1, 1], "judge": 1, "kind": "a"},
        {"label": [2, 3], "judge": 3, "kind": "a"},
        {"label": [3, 3], "judge": 2, "kind": "b"},
        {"label": [1, 2], "judge": None, "kind": "b"},
        {"label": [3, 3], "judge": 3, "kind": "b"},
    ]
    path = write(tmp_path / "g.jsonl", rows)
    words = ["--grades", "--verdict", "judge", "--segments", "kind", "--json"]
    (judge,) = cli("judge", "check", path, *words).json()["judges"]
    over = judge["agreement"]
    # pairs 1-1 ×2, 2-3, 3-3 ×3, 3-2 ×2: 5 of 8 equal
    assert (over["pairs"], over["items"], over["same"]["value"], judge["no_verdict"]) == (8, 4, 5 / 8, 1)
    # with linear weights po = (5 + 3 · 1/2) / 8 = .8125; people 2 1 5, judge 2 2 4 of 8:
    # pe = 1 - Σ r c |j - k| / 2 = 1 - (2·2/2 + 2·4 + 1·2/2 + 1·4/2 + 5·2 + 5·2/2) / 64 = 1 - 28/64
    pe = 1 - 28 / 64
    assert over["weighted_kappa"]["value"] == pytest.approx((0.8125 - pe) / (1 - pe))
    assert {value: one["pairs"] for value, one in judge["segments"]["kind"].items()} == {"a": 4, "b": 4}
    heavy = write(tmp_path / "w.jsonl", [{**row, "weight": 3 if row["kind"] == "b" else 1} for row in rows])
    found = rg.check_grades(heavy, "judge").check
    # 2 + 1 of 4 pairs alike at weight 1, 2 of 4 at weight 3
    assert found.judges[0].agreement.same.value == pytest.approx((3 + 2 * 3) / (4 + 4 * 3))
    assert found.weighted


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--verdict", "juge"], "no field 'juge' (found: label, judge). Use --verdict judge."),
        (["--map", "label=judge"], "judge must be a finite number, got text 'good'"),
        (["--map", "lable=judge"], "nearest: label"),
    ],
)
def test_wrong_grades_are_one_line(cli: Cli, tmp_path: Path, words: list[str], told: str) -> None:
    """A column that is lacking, or holds no number, is one line with exit code 2."""
    path = write(tmp_path / "g.jsonl", [{"label": 1, "judge": "good"}])
    done = cli("judge", "check", path, "--grades", *words)
    assert done.code == 2
    assert told in done.err
    assert done.err.count("\n") == 1


def test_one_annotator_alone(cli: Cli, tmp_path: Path) -> None:
    """With one grade an item nobody is compared with people; a judge as one more has an alpha."""
    path = write(tmp_path / "g.jsonl", [{"score": n % 3, "judge": n % 3} for n in range(9)])
    found = cli("judge", "check", path, "--grades", "--verdict", "judge", "--json").json()
    assert (found["alphas"], found["ceiling"]) == ({}, None)
    assert found["judges"][0]["alphas"]["ordinal"]["value"] == 1.0


@pytest.mark.realdata
@pytest.mark.skipif(not META.is_file(), reason="reads public data, kept beside the repository")
@pytest.mark.parametrize(("label", "wanted"), [("correctness", 0.5865), ("completeness", 0.6828), ("overall", 0.6836)])
def test_annotators_of_ragchecker(cli: Cli, tmp_path: Path, label: str, wanted: float) -> None:
    """Two people on 280 pairs of answers, on a scale of five: ordinal alpha to four decimals, through the command."""
    rows = json.loads(META.read_text(encoding="utf-8"))
    path = write(
        tmp_path / "people.jsonl",
        [{"preference": [rows[n][f"{label}_label"], rows[n + 1][f"{label}_label"]]} for n in range(0, len(rows), 2)],
    )
    found = cli("judge", "check", path, "--grades", "--map", "label=preference", "--json").json()
    assert round(found["alphas"]["ordinal"]["value"], 4) == wanted
