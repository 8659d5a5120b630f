"""Writes tests/golden/tools/deepeval-VERSION: goldens, test cases and a test run as deepeval itself writes them.

Run it in an environment of its own:

    python -m venv /tmp/golden && /tmp/golden/bin/pip install deepeval
    /tmp/golden/bin/python tools/golden/files_of_deepeval.py

The passages are joined by | in deepeval's CSV and JSON lines; the content beside holds none.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
FOLDER = Path(__file__).resolve().parents[2] / "tests/golden/tools"


def main() -> None:
    """Writes every form."""
    content = json.loads((FOLDER / "content.json").read_text(encoding="utf-8"))
    out = FOLDER / f"deepeval-{version('deepeval')}"
    out.mkdir(exist_ok=True)
    os.chdir(tempfile.mkdtemp())  # deepeval leaves files where it runs
    from deepeval import evaluate
    from deepeval.dataset import EvaluationDataset, Golden
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    class Length(BaseMetric):
        """Any metric will do that asks nobody."""

        threshold, async_mode, include_reason, evaluation_model, strict_mode = 0.5, False, False, None, False

        def measure(self, test_case: Any, *_: Any, **__: Any) -> float:
            self.score, self.success = float(len(test_case.actual_output) < 100), True
            return self.score

        async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float:
            return self.measure(test_case)

        def is_successful(self) -> bool:
            return self.success

        @property
        def __name__(self) -> str:
            return "Length"

    goldens = EvaluationDataset(
        goldens=[
            Golden(
                input=one["question"],
                expected_output=one["reference"],
                context=one["passages"] or None,
                additional_metadata={"topic": one["topic"]},
            )
            for one in content
        ]
    )
    cases = [
        LLMTestCase(
            input=one["question"],
            actual_output=one["answer"],
            expected_output=one["reference"],
            retrieval_context=one["passages"],
        )
        for one in content
    ]
    whole = EvaluationDataset(goldens=[])
    for case in cases:
        whole.add_test_case(case)
    for form in ("json", "csv", "jsonl"):
        goldens.save_as(file_type=form, directory=str(out), file_name="goldens")
        whole.save_as(file_type=form, directory=str(out), file_name="cases", include_test_cases=True)
    evaluate(test_cases=cases, metrics=[Length()])
    shutil.copy(".deepeval/.latest_test_run.json", out / "latest_test_run.json")


main()
