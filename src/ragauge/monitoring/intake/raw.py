"""A trace as it came in."""

from __future__ import annotations

from ragauge.monitoring.traffic.trace_assembly import gathered
from ragauge.readers.traces.spans import TraceSpan
from ragauge.store.store_access import open_store


def raw_spans(trace_id: str, store: str) -> tuple[TraceSpan, ...]:
    """The spans of a trace, as far as its raw batches are kept, by their start; none of one that came as a response.

    Args:
        trace_id: of the trace, as the store has it.
        store: its URL.
    """
    with open_store(store) as opened:
        known = opened.inbox.trace(trace_id)
        spans = [] if known is None else gathered(opened, [known])[trace_id].joined()
    return tuple(sorted(spans, key=lambda one: (one.start, one.span_id)))
