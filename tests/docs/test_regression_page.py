"""The tests that docs/regression-tests.md shows run under pytest, and fail as it shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import taken

MARKED, WHOLE = taken("docs/regression-tests.md", "python")
(FAILED,) = taken("docs/regression-tests.md", "text")
APP = """
import json
from pathlib import Path

LINES = Path(__file__).with_name("answers.jsonl").read_text(encoding="utf-8").splitlines()
ANSWERS = {row["query"]: row for row in map(json.loads, LINES)}


def answer(question):
    return {name: ANSWERS[question][name] for name in ("answer", "passages")}
"""
ROWS = [
    {
        "query_id": f"q{n}",
        "query": f"What is number {n}?",
        "answer": f"Number {n} is {n}00 metres tall.",
        "passages": [{"doc_id": f"d{n}", "text": f"Number {n} is {n}00 metres tall."}],
        "reference_answer": f"Number {n} is {n}00 metres tall.",
        "relevant": {f"d{n}": 1},
    }
    for n in range(1, 13)
    if n != 9
] + [
    {
        "query_id": "q9",
        "query": "Wie hoch ist der Turm?",
        "relevant": {"d9": 1},
        "answer": "Der Turm ist 1.000 Meter hoch. Er steht in Berlin.",
        "passages": [{"doc_id": "d9", "text": "Der Turm ist 330 Meter hoch und steht in Paris."}],
        "reference_answer": "Der Turm ist 330 Meter hoch.",
    }
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a system, its eval set and a gate."""
    told = {"answers": ROWS, "golden": [{k: row[k] for k in row.keys() - {"answer", "passages"}} for row in ROWS]}
    for name, rows in told.items():
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "my_app.py").write_text(APP)
    (tmp_path / "ragauge.yaml").write_text("gate:\n  rules:\n    - {metric: recall@5, min: 0.5}\n")
    return tmp_path


def said_by(folder: Path, code: str) -> str:
    """What pytest prints of a test file."""
    (folder / "test_rag.py").write_text(code)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("RAGAUGE", "PYTEST"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_rag.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_marked_test_fails_as_shown(folder: Path) -> None:
    """The first test passes for eleven examples and fails for q9 with the words of the page."""
    said = said_by(folder, MARKED.text)
    assert "1 failed, 11 passed" in said, said
    words = re.sub(r"explain [0-9a-f]{12}", "explain 8ab709580d07", said)
    assert FAILED.text.strip() in words, said


@pytest.mark.prove
def test_fixtures_of_the_page_work(folder: Path) -> None:
    """The second test evaluates the set and passes its gate, the baseline being an earlier run."""
    command = [sys.executable, "-m", "ragauge", "evaluate", "answers.jsonl", "--name", "main"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    said = said_by(folder, WHOLE.text)
    assert "1 passed" in said, said
