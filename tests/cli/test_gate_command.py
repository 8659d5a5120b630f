"""`ragauge gate` and `ragauge doctor FILE` as people type them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli, write
from tests.engine.tiny_judge import SPEC

RULES = """gate:
  rules:
    - {metric: recall@5, max_drop: 5 points}
    - {tag: regression, must_pass: true, metric: recall@5, min: 1}
"""


def rows(missed: int) -> list[dict[str, Any]]:
    """40 questions with markup in their segment; the first `missed` got another document."""
    return [
        {
            "query_id": f"q{n}",
            "query": f"what is {n}",
            "answer": f"it is {n}.",
            "relevant": {f"d{n}": 1},
            "passages": [{"doc_id": "x" if n < missed else f"d{n}", "text": f"it is {n}"}],
            "segments": {"type": "<b>a|b</b>" if n % 2 else "plain"},
            "tags": ["regression"] if n == 39 else [],
        }
        for n in range(40)
    ]


@pytest.fixture
def gated(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A store with main and a run that lost half of its documents, and a file of rules."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "ragauge.yaml").write_text(RULES)
    for name, missed in (("main", 0), ("again", 0), ("hurt", 20)):
        path = write(tmp_path / f"{name}.jsonl", rows(missed))
        assert cli("evaluate", path, "-m", "recall@5,faithfulness", "--judge", SPEC, "--workers", "1", "-q").code == 0
    return cli


def test_exit_codes(gated: Cli, tmp_path: Path) -> None:
    """0 pass, 3 fail, 4 not enough data, 2 for what makes no sense: in each case the last line says what to do."""
    passed = gated("gate", "again", "--baseline", "main")
    assert (passed.code, passed.err) == (0, "")
    assert passed.out.startswith("Gate passed: again against main")
    itself = gated("gate", "main", "--baseline", "main")
    assert itself.code == 4
    assert "The baseline main is this run itself: nothing is compared" in itself.out
    assert "A run cannot be its own baseline: change something, run and evaluate again" in " ".join(itself.out.split())
    failed = gated("gate", "hurt", "--baseline", "main")
    assert failed.code == 3
    assert "1.000 → 0.500" in failed.out
    assert "worst: q0 (1.000 → 0.000)" in failed.out
    (tmp_path / "strict.yaml").write_text("gate:\n  rules:\n    - {metric: recall@5, min: 0.9, min_n: 60}\n")
    unknown = gated("gate", "hurt", "--config", "strict.yaml")
    assert unknown.code == 4
    assert "40 examples are fewer than min_n (60)" in unknown.out
    zero = "gate:\n  rules:\n    - {metric: recal@5, min: 0}\n    - {metric: mrr, min: 0}\n"
    (tmp_path / "zero.yaml").write_text(zero)
    wrong = gated("gate", "hurt", "--config", "zero.yaml")
    assert (wrong.code, wrong.out) == (2, "")
    assert "zero.yaml line 3: gate.rules[1].metric: no metric 'recal@5'; nearest: recall@5" in wrong.err
    assert "zero.yaml line 4: gate.rules[2].min: mrr is never below 0" in wrong.err
    assert gated("gate", "hurt").code == 2  # max_drop needs a baseline
    assert gated("gate", "hurt", "--config", "absent.yaml").code == 2
    assert gated("gate", "nobody", "--baseline", "main").code == 2


def test_outputs(gated: Cli, tmp_path: Path) -> None:
    """Reports are written by their endings, --json prints valid JSON, --explain the arithmetic; others are refused."""
    done = gated("gate", "hurt", "--baseline", "main", "--json", "-o", "out/j.xml", "-o", "s.md", "-o", "g.json")
    assert done.code == 3
    assert done.json()["verdict"] == "fail"
    assert done.json() == json.loads((tmp_path / "g.json").read_text())
    assert (tmp_path / "out/j.xml").read_text().startswith("<?xml")
    assert "&lt;b&gt;a\\|b&lt;/b&gt;" in (tmp_path / "s.md").read_text()
    told = gated("gate", "hurt", "--baseline", "main", "--explain")
    assert told.code == 3
    assert "d = x − b = 0.500 − 1.000 = −0.500" in told.out
    refused = gated("gate", "hurt", "--baseline", "main", "-o", "gate.html")
    assert refused.code == 2
    assert "expected .xml, .md, .json, got .html" in refused.err


def test_github(gated: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In GitHub Actions, or asked for, annotations are printed, escaped, and the step's summary is added to."""
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    assert "::" not in gated("gate", "hurt", "--baseline", "main").out
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    lines = [line for line in gated("gate", "hurt", "--baseline", "main").out.splitlines() if line.startswith("::")]
    assert lines[0].startswith("::error file=ragauge.yaml,line=3,title=recall@5%3A whole run::recall@5 may fall")
    assert "the whole 95 %25 interval" in lines[0]
    assert any("title=recall@5%3A type=<b>a|b</b>::" in line for line in lines)
    assert lines[-1].startswith("::notice title=Gate failed::")
    text = summary.read_text()
    assert text.startswith("before\n## ❌ Gate failed")
    beside = gated("gate", "hurt", "--baseline", "main", "--json")
    assert beside.json()["exit_code"] == 3  # annotations do not spoil the JSON
    assert "::error" in beside.err


def test_validate(gated: Cli, tmp_path: Path) -> None:
    """A right file is said in words; against an eval set, tags and segments that no example has are mistakes."""
    told = gated("doctor", "ragauge.yaml")
    assert told.code == 0
    assert "- recall@5 may fall by at most 5 points: the whole run and every declared segment" in told.out
    assert "- recall@5 of every example tagged regression must be at least 1" in told.out
    assert gated("doctor", "ragauge.yaml", "--json").json()["valid"] is True
    assert gated("doctor", "ragauge.yaml", "--set", "main.jsonl").code == 0
    (tmp_path / "other.yaml").write_text(
        RULES.replace("tag: regression", "tag: regresion").replace("5 points", "0, segments: [kind]")
    )
    assert "note: rule 1: max_drop: 0 passes only if" in gated("doctor", "other.yaml").out
    wrong = gated("doctor", "other.yaml", "--set", "main.jsonl")
    assert wrong.code == 2
    assert "line 3: gate.rules[1].segments: no segment column 'kind'" in wrong.err
    assert "line 4: gate.rules[2].tag: no example has it: no tag 'regresion'; nearest: regression" in wrong.err
    assert gated("doctor", "absent.yaml").code == 2
    both = gated("doctor", "ragauge.yaml", "--config", "other.yaml")
    assert both.code == 2
    assert "remove them or the file" in both.err
