"""Examples for model judges, and an evaluation of them in a process of its own."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
METRICS = "faithfulness,answer_relevance,context_precision,context_recall"

EVALUATE = """
import json, os, sys
import alembic.command, openai, polars, pydantic_ai.models.openai, ragauge.engine.execute, ragauge.models.chat
import ragauge as rg
from tests.engine.model_rows import METRICS, rows

for line in sys.stdin.buffer:
    n, judge, store = json.loads(line)
    process = os.fork()
    if process == 0:
        os.dup2(2, 1)
        rg.evaluate(rows(n), judge=judge, metrics=METRICS, store=store, name="m", concurrency=16, max_concurrency=16)
        os._exit(0)
    print(process, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
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


class Starter:
    """Starts evaluations, each in a process of its own, which it forks from one that has imported what they need."""

    def __init__(self) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
        self._parent = subprocess.Popen(
            [sys.executable, "-c", EVALUATE], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._parent.communicate()

    def start(self, n: int, judge: str, store: str) -> int:
        """The process that evaluates n rows."""
        assert self._parent.stdin is not None
        self._parent.stdin.write(json.dumps([n, judge, store]).encode() + b"\n")
        return self._said()

    def running(self) -> bool:
        """Whether the last one runs."""
        assert self._parent.stdout is not None
        return not select.select([self._parent.stdout], [], [], 0)[0]

    def ended(self) -> int:
        """Waits for the last one to end; its exit code, which is negative where it was killed."""
        return self._said()

    def _said(self) -> int:
        assert self._parent.stdout is not None
        return int(self._parent.stdout.readline())
