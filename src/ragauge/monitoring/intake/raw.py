"""A trace as it came in."""

from __future__ import annotations

from ragauge.monitoring.traffic.trace_assembly import collect_contents
from ragauge.readers.traces.spans import TraceSpan
from ragauge.store.store_access import open_store


def load_raw_spans(trace_id: str, store: str) -> tuple[TraceSpan, ...]:
    """The spans of a trace, as far as its raw batches are kept, by their start; none of one that came as a response.

    Args:
        trace_id: of the trace, as the store has it.
        store: its URL.
    """
    with open_store(store) as opened_store:
        due_trace = opened_store.inbox.find_trace(trace_id)
        spans = [] if due_trace is None else collect_contents(opened_store, [due_trace])[trace_id].list_spans()
    return tuple(sorted(spans, key=lambda span: (span.start, span.span_id)))
