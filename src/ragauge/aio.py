"""The verbs as coroutines, for code that already runs in a loop.

    card = await ragauge.aio.evaluate("answers.jsonl")

The plain verbs work in a running loop too, by waiting; these do not block it.
"""

from __future__ import annotations

from ragauge.api.ann import ann_async as ann
from ragauge.api.ann import ann_check_async as ann_check
from ragauge.api.chunking import chunking_async as chunking
from ragauge.api.compare import compare_async as compare
from ragauge.api.confirm import confirm_async as confirm
from ragauge.api.embeddings import embeddings_async as embeddings
from ragauge.api.gate import gate_async as gate
from ragauge.api.run import run_async as run
from ragauge.api.sweep import sweep_async as sweep
from ragauge.api.verbs import evaluate_async as evaluate

__all__ = ["ann", "ann_check", "chunking", "compare", "confirm", "embeddings", "evaluate", "gate", "run", "sweep"]
