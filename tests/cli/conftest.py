"""The command line as people type it, without a process for each command."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragauge.cli.main import main

Row = dict[str, Any]


def ten() -> list[Row]:
    """Ten examples: one empty retrieval, one without passages, a refusal, no reference, markup, Chinese and German."""
    return [
        {
            "query_id": "q1",
            "query": "How tall is the tower?",
            "answer": "The tower is 330 metres tall.",
            "passages": [
                {"doc_id": "d1", "text": "The tower is 330 metres tall and stands in Paris.", "score": 0.9},
                {"doc_id": "d2", "text": "Bridges are long."},
            ],
            "reference_answer": "It is 330 metres tall.",
            "relevant": {"d1": 1},
            "segments": {"type": "number"},
            "tags": ["golden"],
        },
        {
            "query_id": "q2",
            "query": "Who built it?",
            "answer": "The company of Gustave Eiffel built it in 1889.",
            "passages": [{"doc_id": "d3", "text": "The company of Gustave Eiffel built it from 1887 to 1889."}],
            "reference_answer": "The company of Gustave Eiffel.",
            "relevant": {"d3": 2},
            "segments": {"type": "who"},
            "tags": ["golden"],
        },
        {
            "query_id": "q3",
            "query": "What colour is it?",
            "answer": "It is brown.",
            "passages": [],
            "reference_answer": "Brown.",
            "relevant": {"d4": 1},
            "segments": {"type": "who"},
        },
        {
            "query_id": "q4",
            "query": "When was it opened?",
            "answer": "It was opened on 31 March 1889.",
            "reference_answer": "31 March 1889",
            "relevant": {"d5": 1},
            "segments": {"type": "number"},
        },
        {
            "query_id": "q5",
            "query": "Where is the second one?",
            "answer": "I do not know; the documents do not say.",
            "passages": [{"doc_id": "d1", "text": "The tower stands in Paris."}],
            "answerable": False,
            "segments": {"type": "who"},
        },
        {
            "query_id": "q6",
            "query": "How many steps has it?",
            "answer": "It has 1,665 steps.",
            "passages": [{"doc_id": "d6", "text": "Its stairs have 1,665 steps to the top."}],
            "relevant": {"d6": 1},
            "segments": {"type": "number"},
        },
        {
            "query_id": "q7",
            "query": "<b>Is</b> it <script>alert(1)</script>?",
            "answer": "<script>alert('x')</script> [red]yes[/red] *bold* | pipe \x1b[31m",
            "passages": [{"doc_id": "d<7>", "text": "<img src=x onerror=alert(1)> It is a tower."}],
            "reference_answer": "Yes <b>it</b> is.",
            "relevant": {"d<7>": 1},
            "segments": {"type": "<i>markup</i>"},
        },
        {
            "query_id": "q8",
            "query": "塔有多高？",
            "answer": "铁塔高330米。它位于巴黎。",
            "passages": [{"doc_id": "d8", "text": "埃菲尔铁塔高330米，位于巴黎。"}],
            "reference_answer": "铁塔高330米。",
            "relevant": {"d8": 1},
            "segments": {"type": "foreign"},
        },
        {
            "query_id": "q9",
            "query": "Wie hoch ist der Turm?",
            "answer": "Der Turm ist 1.000 Meter hoch. Er steht in Berlin.",
            "passages": [{"doc_id": "d9", "text": "Der Turm ist 330 Meter hoch und steht in Paris."}],
            "reference_answer": "Der Turm ist 330 Meter hoch.",
            "relevant": {"d9": 1},
            "segments": {"type": "foreign"},
        },
        {
            "query_id": "q10",
            "query": "What does it weigh?",
            "answer": "It weighs 10,100 tonnes.",
            "passages": [
                {"doc_id": "d1", "text": "The tower stands in Paris."},
                {"doc_id": "d10", "text": "It weighs 10,100 tonnes."},
            ],
            "reference_answer": "10,100 tonnes",
            "relevant": {"d10": 1},
            "segments": {"type": "number"},
            "tags": ["golden", "regression"],
        },
    ]


def write(path: Path, rows: list[Row]) -> Path:
    """The rows as JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as JSON; NaN and infinity are errors."""
        return json.loads(self.out, parse_constant=_refused)


def _refused(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


Cli = Callable[..., Done]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Cli:
    """Runs the real entry point in this process, in an empty folder with a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGAUGE_STORE", raising=False)

    def run(*words: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["ragauge", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        capsys.readouterr()
        try:
            main()
            code: Any = 0
        except SystemExit as end:
            code = end.code or 0
        found = capsys.readouterr()
        return Done(int(code), found.out, found.err)

    return run


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The ten examples as a file."""
    return write(tmp_path / "ten.jsonl", ten())
