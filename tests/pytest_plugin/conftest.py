"""Projects that use the plugin, made by each test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.engine.tiny_judge import SPEC

import ragauge as rg
from ragauge.gating.verb import gate

APP = """
import json
from pathlib import Path

HERE = Path(__file__).parent
LINES = (HERE / "answers.jsonl").read_text(encoding="utf-8").splitlines()
ANSWERS = {row["query"]: row for row in map(json.loads, LINES)}


def answer(question):
    with (HERE / "asked.txt").open("a") as file:
        print(question, file=file)
    row = ANSWERS[question]
    return {"answer": row["answer"], "passages": row["passages"]}
"""


def rows() -> list[dict[str, Any]]:
    """Six questions; q3's passages are of another document, and its answer says what they do not."""
    found = []
    for i in range(1, 7):
        wrong = i == 3
        found.append(
            {
                "query_id": f"q{i}",
                "query": f"What is number {i}?",
                "relevant": {f"d{i}": 1},
                "answer": "The tower is made of cheese." if wrong else f"Number {i} is {i}00 metres tall.",
                "passages": [{"doc_id": "other" if wrong else f"d{i}", "text": f"Number {i} is {i}00 metres tall"}],
                "reference_answer": f"Number {i} is {i}00 metres tall",
                "segments": {"part": "odd" if i % 2 else "even"},
            }
        )
    return found


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every library that an evaluation loads: pytester would unload it again, which compiled ones do not survive."""
    store = f"sqlite:///{tmp_path_factory.mktemp('loaded') / 'loaded.db'}"
    card = rg.evaluate(rows(), judge=SPEC, workers=1, store=store)
    gate(card, rules={"gate": {"rules": [{"metric": "recall@5", "min": 0.5}]}}, store=store)
    rg.run(lambda question: question, rows()[:1], store=store)


@pytest.fixture
def project(loaded: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with answers.jsonl, golden.jsonl (without answers) and my_app.py, which notes every question."""
    monkeypatch.delenv("RAGAUGE_STORE", raising=False)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider -p no:asyncio -p no:hypothesispytest")
    write(pytester.path / "answers.jsonl", rows())
    write(pytester.path / "golden.jsonl", [without_answer(row) for row in rows()])
    pytester.makepyfile(my_app=APP)
    pytester.syspathinsert()
    return pytester


def without_answer(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("answer", "passages")}


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
