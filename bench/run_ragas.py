"""The same evaluation by ragas 0.4, in its own environment: FILE URL CONCURRENCY; prints what it took."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

os.environ |= {"RAGAS_DO_NOT_TRACK": "true", "OPENAI_API_KEY": "none", "LANGCHAIN_TRACING_V2": "false"}
warnings.simplefilter("ignore")

from langchain_openai import ChatOpenAI, OpenAIEmbeddings  # noqa: E402 - its settings are read at import
from ragas import EvaluationDataset, evaluate  # noqa: E402
from ragas.embeddings import LangchainEmbeddingsWrapper  # noqa: E402
from ragas.llms import LangchainLLMWrapper  # noqa: E402
from ragas.metrics import Faithfulness, LLMContextPrecisionWithReference, LLMContextRecall, ResponseRelevancy  # noqa: E402
from ragas.run_config import RunConfig  # noqa: E402


def main() -> None:
    """Evaluates as its documentation shows, and prints seconds and the scored of each metric."""
    file, url, concurrency = sys.argv[1:]
    with Path(file).open() as lines:
        rows = [json.loads(line) for line in lines]
    samples = [
        {
            "user_input": row["query"],
            "response": row["answer"],
            "reference": row["references"][0],
            "retrieved_contexts": [passage["text"] for passage in row["passages"]],
        }
        for row in rows
    ]
    llm = LangchainLLMWrapper(ChatOpenAI(model="gpt-4o-mini", base_url=url, max_retries=0))
    vectors = LangchainEmbeddingsWrapper(OpenAIEmbeddings(base_url=url, check_embedding_ctx_length=False))
    began = time.perf_counter()
    found = evaluate(
        EvaluationDataset.from_list(samples),
        metrics=[Faithfulness(), ResponseRelevancy(), LLMContextPrecisionWithReference(), LLMContextRecall()],
        llm=llm,
        embeddings=vectors,
        run_config=RunConfig(max_workers=int(concurrency)),
        show_progress=False,
    )
    took = time.perf_counter() - began
    frame = found.to_pandas()
    scored = {name: int(frame[name].notna().sum()) for name in frame.columns if frame[name].dtype.kind == "f"}
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"seconds": took, "n": len(frame), "scored": scored, "cpu": used.ru_utime + used.ru_stime}))


if __name__ == "__main__":
    main()
