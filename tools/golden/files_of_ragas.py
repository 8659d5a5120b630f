"""Writes tests/golden/tools/ragas-VERSION: samples, a result, a test set and conversations as ragas itself writes them.

Run it in an environment of its own; ragas 0.4 needs langchain below 1:

    python -m venv /tmp/golden
    /tmp/golden/bin/pip install ragas "langchain<1" "langchain-core<1" "langchain-community<0.4" "langchain-openai<1"
    /tmp/golden/bin/python tools/golden/files_of_ragas.py
"""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path

os.environ["RAGAS_DO_NOT_TRACK"] = "true"
FOLDER = Path(__file__).resolve().parents[2] / "tests/golden/tools"


def main() -> None:
    """Writes every form."""
    from ragas import EvaluationDataset, SingleTurnSample, evaluate
    from ragas.dataset_schema import MultiTurnSample
    from ragas.messages import AIMessage, HumanMessage
    from ragas.metrics import ExactMatch
    from ragas.testset.synthesizers.testset_schema import Testset, TestsetSample

    content = json.loads((FOLDER / "content.json").read_text(encoding="utf-8"))
    out = FOLDER / f"ragas-{version('ragas')}"
    out.mkdir(exist_ok=True)
    samples = EvaluationDataset(
        samples=[
            SingleTurnSample(
                user_input=one["question"],
                retrieved_contexts=one["passages"],
                response=one["answer"],
                reference=one["reference"],
            )
            for one in content
        ]
    )
    samples.to_csv(out / "samples.csv")
    samples.to_jsonl(out / "samples.jsonl")
    result = evaluate(samples, metrics=[ExactMatch()], show_progress=False).to_pandas()
    result.to_csv(out / "result.csv", index=False)
    result.to_json(out / "result.jsonl", orient="records", lines=True)
    result.to_json(out / "result.json")
    testset = Testset(
        samples=[
            TestsetSample(
                eval_sample=SingleTurnSample(
                    user_input=one["question"], reference=one["reference"], reference_contexts=one["passages"]
                ),
                synthesizer_name="single_hop_specific_query_synthesizer",
            )
            for one in content
        ]
    )
    testset.to_csv(out / "testset.csv")
    testset.to_jsonl(out / "testset.jsonl")
    chats = EvaluationDataset(
        samples=[
            MultiTurnSample(
                user_input=[
                    HumanMessage(content="Hello."),
                    AIMessage(content="Good morning."),
                    HumanMessage(content=one["question"]),
                    AIMessage(content=one["answer"]),
                ],
                reference=one["reference"],
            )
            for one in content
        ]
    )
    chats.to_csv(out / "chats.csv")
    chats.to_jsonl(out / "chats.jsonl")


main()
