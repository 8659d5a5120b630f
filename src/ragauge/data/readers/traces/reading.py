"""A file of traces as rows: batches of OTLP/JSON, one a line, as the collector's file exporter writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ragauge.data.readers.lines import Row, Rows
from ragauge.data.readers.traces.normalise import OFFERED, LeftOut, rows
from ragauge.data.readers.traces.spans import TraceSpan, spans_of
from ragauge.text.messages import plural

HINT = "Readable are spans of OpenInference, OpenLLMetry, OpenTelemetry GenAI, Langfuse, MLflow and Haystack."


def read(batches: Rows) -> Rows:
    """The requests that the batches tell of, a trace after the other, as they first appear.

    The spans of a trace may stand in several batches, in any order; one that was sent again replaces itself. All
    spans are in memory at once.

    Args:
        batches: objects with resourceSpans.
    """
    remarks: list[str] = []
    return Rows(batches.source, _rows(batches, remarks), unit="trace", offered=OFFERED, remarks=remarks)


def _rows(batches: Rows, remarks: list[str]) -> Iterator[tuple[int, Row]]:
    traces: dict[str, dict[str, TraceSpan]] = {}
    bad: Counter[str] = Counter()
    for _, batch in batches.rows:
        for span in spans_of(batch):
            if isinstance(span, str):
                bad[span] += 1
            else:
                traces.setdefault(span.trace_id, {})[span.span_id] = span
    if bad:
        remarks.append(f"{plural(bad.total(), 'span')} could not be read: {_listed(bad)}.")
    left: Counter[str] = Counter()
    read = 0
    for n, spans in enumerate(traces.values(), 1):
        for row in rows(list(spans.values())):
            if isinstance(row, LeftOut):
                left[row.reason] += 1
            else:
                read += 1
                yield n, row
    if left:
        remarks.append(f"{plural(left.total(), 'trace')} left out as no answers of a RAG: {_listed(left)}.")
    if not read:
        problem = f"no trace in it is an answer of a RAG, of {len(traces)}."
        raise batches.error(" ".join([problem, *remarks]), hint=HINT)


def _listed(reasons: Counter[str]) -> str:
    return "; ".join(f"{reason} ({n})" for reason, n in reasons.most_common(3))
