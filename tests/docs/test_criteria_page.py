"""The page on criteria: its files work as they stand there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.api.test_run_criteria import ROWS, Scripted
from tests.docs.pages import ROOT, taken

import ragauge as rg
from ragauge.core.config.config_loader import read_config

SHORT, LONG = (block.text for block in taken("docs/criteria.md", "yaml"))


def test_two_lines_are_a_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first file of the page, of two lines, gives a mean by a model."""
    monkeypatch.chdir(tmp_path)
    Path("ragauge.yaml").write_text(SHORT)
    assert len(SHORT.splitlines()) == 2
    how: dict[str, Any] = {"judge": Scripted(), "judge_name": "m", "store": "sqlite:///s.db", "segments": "kind"}
    card = rg.evaluate(ROWS, metrics="polite", **how)
    assert card["polite"].mean == 0.5


def test_every_key_is_read(tmp_path: Path) -> None:
    """The second file has every key, and no mistake."""
    path = tmp_path / "ragauge.yaml"
    path.write_text(LONG)
    polite, tone, sourced = (section.to_criterion() for section in read_config(path).checked().criteria)
    assert (polite.required, tone.pass_from, len(tone.levels), sourced.sees) == (True, 2, 3, ("passages", "answer"))
    page = (ROOT / "docs/criteria.md").read_text(encoding="utf-8")
    assert all(f"`{key}` |" in page for key in type(read_config(path).config.criteria[0]).model_fields)
