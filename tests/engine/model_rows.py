"""Examples for model judges, and an evaluation of them in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
METRICS = "faithfulness,answer_relevance,context_precision,context_recall"

EVALUATE = """
import sys
import ragauge as rg
from tests.engine.model_rows import METRICS, rows
rg.evaluate(rows(int(sys.argv[1])), judge=sys.argv[2], metrics=METRICS, store=sys.argv[3], name="m", concurrency=16,
            max_concurrency=16)
"""


def rows(n: int) -> list[dict[str, Any]]:
    """Questions with answers of which a part is supported, each with five passages of its own."""
    return [
        {
            "query_id": f"q{i}",
            "query": f"How long and of what colour is thing {i}?",
            "answer": f"Thing {i} is blue and {i} metres long."
            + (f" Its owner {i} lives in Porto with seven cats." if i % 3 else ""),
            "passages": [
                {"doc_id": f"d{i}-{j}", "text": f"Thing {i} has part {j}. Thing {i} is blue and {i + j} metres long."}
                for j in range(5)
            ],
            "reference_answer": f"Thing {i} is blue. It weighs {i} tons in winter.",
        }
        for i in range(n)
    ]


def started(n: int, judge: str, store: str) -> subprocess.Popen[bytes]:
    """An evaluation of n rows in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    return subprocess.Popen(
        [sys.executable, "-c", EVALUATE, str(n), judge, store], env=environment, stderr=subprocess.PIPE
    )
