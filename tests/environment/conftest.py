"""A small file to evaluate wherever ragauge is used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Three answers, one of them wrong."""
    text = "The tower is 330 metres tall and stands in Paris."
    rows = [
        {
            "query_id": f"q{n}",
            "query": f"How tall is tower {n}?",
            "answer": f"The tower is {height} metres tall.",
            "passages": [{"doc_id": f"d{n}", "text": text}],
            "reference_answer": "330 metres",
            "relevant": {f"d{n}": 1},
        }
        for n, height in enumerate((330, 330, 985))
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
