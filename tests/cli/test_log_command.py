"""`ragauge runs log` as people type it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tests.cli.conftest import Cli


@pytest.fixture
def two(cli: Cli, small: Path) -> Cli:
    """Two runs over one set, of different files of answers."""
    answers = small.read_text(encoding="utf-8")
    for name in ("before", "after"):
        path = small.with_name(f"{name}.jsonl")
        path.write_text(answers.replace("330 metres tall and", f"{name} and"), encoding="utf-8")
        asked = ("-m", "recall@5,mrr,faithfulness", "--name", name, "-q")
        assert cli("evaluate", small, path, *asked).code == 0
    return cli


def test_table_note_and_files(two: Cli, tmp_path: Path) -> None:
    """The log is printed, noted in, and written as CSV and Markdown, and --json is the same rows."""
    assert "note on after (" in two("runs", "note", "latest", "reranker | on").out
    shown = two("runs", "log").out
    assert "“reranker | on”" in shown
    assert shown.index("after") < shown.index("before")
    rows = two("runs", "log", "--set", "ten", "--json").json()["rows"]
    assert [(row["name"], row["note"]) for row in rows] == [("after", "reranker | on"), ("before", "")]
    done = two("runs", "log", "-o", tmp_path / "log.csv", "-o", tmp_path / "log.md", "-m", "token_f1", "--limit", "1")
    assert done.code == 0
    assert done.out == ""
    with (tmp_path / "log.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert float(row["recall@5"]) == rows[0]["metrics"]["recall@5"]["mean"]
    text = (tmp_path / "log.md").read_text(encoding="utf-8")
    assert "reranker \\| on" in text
    assert len({line.count("|") - line.count("\\|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_empty(cli: Cli) -> None:
    """Without a run the log says how to start; an unknown set or ending is a usage error."""
    assert "Start with: ragauge evaluate FILE" in " ".join(cli("runs", "log").out.split())
    assert cli("runs", "log", "--set", "golden").code == 2
    assert cli("runs", "log", "-o", "log.txt").code == 2
