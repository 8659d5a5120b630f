"""A file of traces as rows: batches of OTLP/JSON, one a line, as the collector's file exporter writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from ragauge.core.messages import format_count
from ragauge.readers.lines import Row, Rows
from ragauge.readers.traces.normalize import ANSWERED_WITHOUT_RETRIEVAL, SEGMENT_COLUMNS, ExcludedTrace, build_rows
from ragauge.readers.traces.spans import LOGS, Event, TraceSpan, read_events, read_spans

WITHOUT_RETRIEVAL_HINT = (
    "--without-retrieval reads answers before which nothing was searched, such as calls of a model alone."
)
HINT = "Readable are spans of OpenInference, OpenLLMetry, OpenTelemetry GenAI, Langfuse, MLflow and Haystack."


def read(batches: Rows, *, without_retrieval: bool = False) -> Rows:
    """The requests that the batches tell of, a trace after the other, as they first appear.

    The spans of a trace may stand in several batches, in any order; one that was sent again replaces itself. Log
    records that are events of a span count as its own. All spans are in memory at once.

    Args:
        batches: objects with resourceSpans, or resourceLogs.
        without_retrieval: answers before which nothing was searched are read too.
    """
    remarks: list[str] = []
    trace_rows = _read_rows(batches, remarks, without_retrieval=without_retrieval)
    return Rows(batches.source, trace_rows, unit="trace", offered=SEGMENT_COLUMNS, remarks=remarks)


def _read_rows(batches: Rows, remarks: list[str], *, without_retrieval: bool) -> Iterator[tuple[int, Row]]:
    traces = _group_traces(batches, remarks)
    excluded: Counter[str] = Counter()
    n_read = 0
    for n, spans in enumerate(traces, 1):
        for row in build_rows(spans, without_retrieval=without_retrieval):
            if isinstance(row, ExcludedTrace):
                excluded[row.reason] += 1
            else:
                n_read += 1
                yield n, row
    if excluded:
        remarks.append(
            f"{format_count(excluded.total(), 'trace')} left out as no answers of a RAG: {_format_reasons(excluded)}."
        )
    if excluded[ANSWERED_WITHOUT_RETRIEVAL] and not without_retrieval:
        remarks.append(WITHOUT_RETRIEVAL_HINT)
    if not n_read:
        problem = f"no trace in it is an answer of a RAG, of {len(traces)}."
        raise batches.error(" ".join([problem, *remarks]), hint=HINT)


def _group_traces(batches: Rows, remarks: list[str]) -> list[list[TraceSpan]]:
    """The spans of each trace, with the events that came apart from them."""
    traces: dict[str, dict[str, TraceSpan]] = {}
    events: dict[tuple[str, str], list[Event]] = {}
    bad: Counter[str] = Counter()
    for _, batch in batches.rows:
        log_events = list(read_events(batch))
        for trace_id, span_id, event in log_events:
            events.setdefault((trace_id, span_id), []).append(event)
        if LOGS in batch and not log_events:
            bad["logs, not spans"] += 1
        for span in read_spans(batch):
            if isinstance(span, str):
                bad[span] += 1
            else:
                traces.setdefault(span.trace_id, {})[span.span_id] = span
    if bad:
        remarks.append(f"{format_count(bad.total(), 'span')} could not be read: {_format_reasons(bad)}.")
    for (trace_id, span_id), logged in events.items():
        if span_id in traces.get(trace_id, {}):
            span = traces[trace_id][span_id]
            traces[trace_id][span_id] = replace(span, events=(*span.events, *logged))
    return [list(spans.values()) for spans in traces.values()]


def _format_reasons(reasons: Counter[str]) -> str:
    return "; ".join(f"{reason} ({n})" for reason, n in reasons.most_common(3))
