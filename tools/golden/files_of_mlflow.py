"""Writes tests/golden/tools/mlflow-VERSION: a data set, an evaluation's table and traces as MLflow itself makes them.

Run it in an environment of its own:

    python -m venv /tmp/golden && /tmp/golden/bin/pip install mlflow
    /tmp/golden/bin/python tools/golden/files_of_mlflow.py

MLflow gives pandas tables; they are written with pandas' to_csv, to_json and to_parquet. The traces come from a
retriever and a generator that look their texts up.
"""

from __future__ import annotations

import json
import os
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "tests/golden/tools"
LEFT_OUT = ["trace_metadata", "trace"]  # what is in the other columns too, and where this machine keeps its files


def write(table: Any, out: Path, name: str) -> None:
    """One table in three forms."""
    table = table.drop(columns=[one for one in LEFT_OUT if one in table.columns])
    if "tags" in table.columns:
        table["tags"] = [{} for _ in range(len(table))]  # paths of this machine
    table.to_csv(out / f"{name}.csv", index=False)
    table.to_json(out / f"{name}.jsonl", orient="records", lines=True, default_handler=str)


def main() -> None:
    """Writes every form."""
    content = json.loads((FOLDER / "content.json").read_text(encoding="utf-8"))
    out = FOLDER / f"mlflow-{version('mlflow')}"
    out.mkdir(exist_ok=True)
    os.chdir(tempfile.mkdtemp())  # MLflow leaves files where it runs
    import mlflow
    from mlflow.entities import Document
    from mlflow.genai.datasets import create_dataset
    from mlflow.genai.scorers import scorer

    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    by_question = {one["question"]: one for one in content}

    @mlflow.trace(span_type="RETRIEVER")
    def retrieve(question: str) -> list[Document]:
        texts = by_question[question]["passages"]
        return [Document(page_content=text, metadata={"doc_uri": f"{n}.md"}) for n, text in enumerate(texts)]

    @mlflow.trace
    def predict(question: str) -> dict[str, str]:
        retrieve(question)
        return {"response": by_question[question]["answer"]}

    @scorer
    def short(outputs: Any) -> bool:
        return len(str(outputs)) < 100

    data = [
        {
            "inputs": {"question": one["question"]},
            "expectations": {"expected_response": one["reference"], "expected_facts": [one["reference"]]},
        }
        for one in content
    ]
    golden = create_dataset(name="ferry")
    golden.merge_records(data)
    write(golden.to_df().drop(columns=["source"]), out, "dataset")
    result = mlflow.genai.evaluate(data=data, scorers=[short], predict_fn=predict)
    write(result.tables["eval_results"], out, "eval_results")
    for question in by_question:
        predict(question)
    write(mlflow.search_traces(max_results=len(content)), out, "traces")


main()
