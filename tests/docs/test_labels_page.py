"""docs/labels.md: its files are read and its commands run as they stand."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from tests.docs.pages import taken

import ragauge as rg
from ragauge.cli.main import main

(LINES,) = taken("docs/labels.md", "json")
(RULES,) = taken("docs/labels.md", "yaml")
COMMANDS = taken("docs/labels.md", "console")


def test_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command of the page ends well on the page's own file, and Python brings the same labels in, once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGAUGE_STORE", raising=False)
    Path("labels.jsonl").write_text(LINES.text)
    rows = [
        {"query": f"{n}?", "answer": "It is 3 m tall.", "passages": [f"{n} is 3 m tall."], "reference": "3 m"}
        for n in range(3)
    ]
    rg.evaluate(rows, metrics="faithfulness")
    for command in (one for block in COMMANDS for one in block.commands):
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code, command
    assert "2 labels read, 2 new" in capsys.readouterr().out
    found = rg.label_import("labels.jsonl")
    assert (found.read, found.new, found.guidelines) == (2, 0, {"4be01c92a7d3": 2})


def test_rules_of_the_page_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's gate knows nothing of a run that nobody labelled: not enough data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGAUGE_STORE", raising=False)
    Path("ragauge.yaml").write_text(RULES.text)
    rows = [{"query": f"{n}?", "answer": "It is 3 m tall.", "passages": [f"{n} is 3 m tall."]} for n in range(60)]
    rg.evaluate(rows, metrics="faithfulness", name="new")
    assert rg.gate("new").verdict == "not_enough_data"
