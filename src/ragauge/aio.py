"""The verbs as coroutines, for code that already runs in a loop.

    card = await ragauge.aio.evaluate("answers.jsonl")

The plain verbs work in a running loop too, by waiting; these do not block it.
"""

from __future__ import annotations

from ragauge.comparison.verb import compare_async as compare
from ragauge.diagnosis.confirm.verb import confirm_async as confirm
from ragauge.evaluation.run.verb import run_async as run
from ragauge.evaluation.verbs import evaluate_async as evaluate
from ragauge.gating.verb import gate_async as gate
from ragauge.studies.ann.verb import ann_async as ann
from ragauge.studies.ann.verb import ann_check_async as ann_check
from ragauge.studies.chunking.verb import chunking_async as chunking
from ragauge.studies.embeddings.verb import embeddings_async as embeddings
from ragauge.studies.sweep.verb import sweep_async as sweep

__all__ = ["ann", "ann_check", "chunking", "compare", "confirm", "embeddings", "evaluate", "gate", "run", "sweep"]
