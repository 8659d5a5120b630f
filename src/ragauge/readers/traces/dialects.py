"""Every dialect of spans that is read; where a span speaks several, the first to say something counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragauge.readers.traces import genai, haystack, langfuse, mlflow, openinference, openllmetry
from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import Step, merge_steps

DIALECTS: Mapping[str, Callable[[TraceSpan], Step | None]] = {
    "OpenInference": openinference.read,
    "OpenTelemetry GenAI": genai.read,
    "OpenLLMetry": openllmetry.read,
    "Langfuse": langfuse.read,
    "MLflow": mlflow.read,
    "Haystack": haystack.read,
}


def read_step(span: TraceSpan) -> Step | None:
    """What a span says in all the dialects that it speaks; None where it speaks none."""
    steps = [step for read in DIALECTS.values() if (step := read(span)) is not None]
    return merge_steps(steps) if len(steps) > 1 else next(iter(steps), None)
