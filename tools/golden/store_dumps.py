"""Writes a store as SQL text, and its scores: what `tools/carry_store.py` must carry over. VERSION names the files.

Run it with the package and the tests of the commit that wrote such stores, here the one of version 0025:

    git worktree add /tmp/old 62527f44
    cd /tmp/old && PYTHONPATH=src:. python /path/to/tools/golden/store_dumps.py 0025

The judge is one of the tests, whose answers are the same at every commit. Version 0001 was written in 2026 by the local
judge of its day, without a reference answer, and has an empty store beside it.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
import sys
import tempfile
from pathlib import Path

import ragauge as rg

OUT = Path(__file__).resolve().parents[2] / "tests/store/golden"
JUDGE = "tests.engine.tiny_judge:TinyJudge"
METRICS = ["recall@5", "faithfulness", "contradicted", "answer_correctness", "answer_tokens"]
ROWS = [
    {
        "query_id": "a",
        "query": "How long is the trial?",
        "answer": "The trial lasts 90 days.",
        "relevant": ["d"],
        "passages": [{"doc_id": "d", "text": "The trial lasts 30 days."}],
        "reference_answer": "The trial lasts 30 days.",
        "segments": {"type": "fact"},
        "tags": ["golden"],
    },
    {
        "query_id": "b",
        "query": "Who made it?",
        "answer": "Ada made the lid of steel.",
        "relevant": ["x"],
        "passages": [{"doc_id": "e", "text": "Ada made the lid of steel in 1990."}],
        "reference_answer": "Ada made it.",
        "segments": {"type": "name"},
    },
    {"query_id": "c", "query": "Where?", "answer": "The documents do not say.", "passages": [], "answerable": False},
]


def main(version: str) -> None:
    """Writes the dump and the scores that it holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        card = rg.evaluate(ROWS, metrics=METRICS, judge=JUDGE, store=f"sqlite:///{path}", name="old", workers=1)
        scores = card.to_polars().select("query_id", "metric", "status", "value", "numerator", "denominator")
        (OUT / f"store-{version}.scores.json").write_text(json.dumps(scores.to_dicts(), indent=1) + "\n")
        with sqlite3.connect(path) as connection:
            text = "\n".join(connection.iterdump())
        (OUT / f"store-{version}.sql.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])
