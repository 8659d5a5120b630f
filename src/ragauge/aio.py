"""The verbs as coroutines, for code that already runs in a loop.

    card = await ragauge.aio.evaluate("answers.jsonl")

The plain verbs work in a running loop too, by waiting; these do not block it. A verb that waits for models or systems
waits in the caller's loop; one that only reads runs in a thread beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # typed; the coroutines of further verbs are found by name
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


def __getattr__(name: str) -> Any:
    from importlib import import_module

    from ragauge.verbs.coroutines import make_async
    from ragauge.verbs.registry import list_public_verbs

    if name == "__all__":
        return sorted(list_public_verbs())
    verb = list_public_verbs().get(name)
    if verb is None:
        raise AttributeError(f"module 'ragauge.aio' has no attribute {name!r}")
    module = import_module(verb.function.partition(":")[0])
    value = getattr(module, f"{name}_async", None) or make_async(getattr(module, name))
    globals()[name] = value
    return value
