"""The same evaluation by deepeval 4, in its own environment: FILE URL CONCURRENCY; prints what it took.

Reasons are left out, which saves it four calls an example.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "OPENAI_API_KEY": "none",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
}
warnings.simplefilter("ignore")

from deepeval import evaluate  # noqa: E402 - its settings are read at import
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig  # noqa: E402
from deepeval.metrics import (  # noqa: E402
    AnswerRelevancyMetric,
    ContextualPrecisionMetric,
    ContextualRecallMetric,
    FaithfulnessMetric,
)
from deepeval.models import GPTModel  # noqa: E402
from deepeval.test_case import LLMTestCase  # noqa: E402

KINDS = (FaithfulnessMetric, AnswerRelevancyMetric, ContextualPrecisionMetric, ContextualRecallMetric)


def main() -> None:
    """Evaluates as its documentation shows, and prints seconds and the scored of each metric."""
    file, url, concurrency = sys.argv[1:]
    with Path(file).open() as lines:
        rows = [json.loads(line) for line in lines]
    cases = [
        LLMTestCase(
            input=row["query"],
            actual_output=row["answer"],
            expected_output=row["references"][0],
            retrieval_context=[passage["text"] for passage in row["passages"]],
        )
        for row in rows
    ]
    model = GPTModel(model="gpt-4o-mini", base_url=url)
    metrics = [kind(model=model, include_reason=False) for kind in KINDS]
    began = time.perf_counter()
    found = evaluate(
        cases,
        metrics,
        async_config=AsyncConfig(max_concurrent=int(concurrency)),
        display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
        cache_config=CacheConfig(write_cache=False),
    )
    took = time.perf_counter() - began
    scored: dict[str, int] = {}
    for result in found.test_results:
        for data in result.metrics_data:
            scored[data.name] = scored.get(data.name, 0) + (data.score is not None and data.error is None)
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {"seconds": took, "n": len(found.test_results), "scored": scored, "cpu": used.ru_utime + used.ru_stime}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
