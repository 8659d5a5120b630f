"""Writes a store of schema version 1 as SQL text, with and without rows: what later versions must be able to open.

Made once, with ragauge 0.1.0; never run it again for a later schema.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
import tempfile
from pathlib import Path

import ragauge as rg
from ragauge.store.store_access import open_store

OUT = Path(__file__).resolve().parents[2] / "tests/store/golden"
METRICS = ["recall@5", "faithfulness", "contradicted", "answer_tokens"]
ROWS = [
    {
        "query_id": "a",
        "query": "How long is the trial?",
        "answer": "The trial lasts 90 days.",
        "relevant": ["d"],
        "passages": [{"doc_id": "d", "text": "The trial lasts 30 days."}],
        "segments": {"type": "fact"},
    },
    {
        "query_id": "b",
        "query": "Who made it?",
        "answer": "Ada made the lid of steel.",
        "relevant": ["x"],
        "passages": [{"doc_id": "e", "text": "Ada made the lid of steel in 1990."}],
        "segments": {"type": "name"},
    },
    {"query_id": "c", "query": "Where?", "answer": "The documents do not say.", "passages": [], "answerable": False},
]


def dump(path: Path, name: str) -> None:
    """The database as packed SQL text."""
    with sqlite3.connect(path) as connection:
        text = "\n".join(connection.iterdump())
    (OUT / f"{name}.sql.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    """Writes both dumps and the scores that the filled one holds."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        empty, filled = Path(folder) / "empty.db", Path(folder) / "filled.db"
        open_store(f"sqlite:///{empty}").close()
        card = rg.evaluate(ROWS, metrics=METRICS, store=f"sqlite:///{filled}", name="old")
        scores = card.to_polars().select("query_id", "metric", "status", "value", "numerator", "denominator")
        (OUT / "store-v1.scores.json").write_text(json.dumps(scores.to_dicts(), indent=1) + "\n")
        dump(empty, "store-v1-empty")
        dump(filled, "store-v1")


if __name__ == "__main__":
    main()
