"""Writes tests/golden/tools/langsmith-VERSION: a data set's examples and an experiment's table, by LangSmith's client.

Run it in an environment of its own; nothing is sent anywhere:

    python -m venv /tmp/golden && /tmp/golden/bin/pip install langsmith pandas
    /tmp/golden/bin/python tools/golden/files_of_langsmith.py

The examples are written as the client's own schema writes itself, one a line.
"""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langsmith import Client, evaluate
from langsmith.schemas import Example

FOLDER = Path(__file__).resolve().parents[2] / "tests/golden/tools"


def main() -> None:
    """Writes every form."""
    content = json.loads((FOLDER / "content.json").read_text(encoding="utf-8"))
    out = FOLDER / f"langsmith-{version('langsmith')}"
    out.mkdir(exist_ok=True)
    by_question = {one["question"]: one for one in content}
    examples = [
        Example(
            id=uuid.uuid5(uuid.NAMESPACE_URL, one["id"]),
            dataset_id=uuid.uuid5(uuid.NAMESPACE_URL, "ferry"),
            inputs={"question": one["question"]},
            outputs={"answer": one["reference"]},
            metadata={"topic": one["topic"]},
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        for one in content
    ]
    (out / "examples.jsonl").write_text("".join(f"{one.model_dump_json()}\n" for one in examples), encoding="utf-8")

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        one = by_question[inputs["question"]]
        passages = [{"page_content": text, "metadata": {"source": f"{n}.md"}} for n, text in enumerate(one["passages"])]
        return {"answer": one["answer"], "documents": passages}

    def short(outputs: dict[str, Any]) -> bool:
        return len(outputs["answer"]) < 100

    nowhere = Client(api_key="none", api_url="http://127.0.0.1:1")
    table = evaluate(target, data=examples, evaluators=[short], upload_results=False, client=nowhere).to_pandas()
    table.to_csv(out / "experiment.csv", index=False)
    table.to_json(out / "experiment.jsonl", orient="records", lines=True, default_handler=str)


main()
