"""One trace to rows of a recorded file: the question, what was found, what was answered, how long it took.

What is no answer of a RAG, such as the indexing of a corpus, is left out with the reason. A file of traces has batches
of OTLP/JSON, one a line, as the collector's file exporter writes them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragauge.core.messages import format_count
from ragauge.core.response import REDACTED
from ragauge.readers.lines import Row, Rows
from ragauge.readers.traces.spans import LOGS, Event, TraceSpan, read_events, read_spans
from ragauge.readers.traces.step import Documents, Step
from ragauge.readers.traces.tree import (
    OWN_SERVICE,
    SEARCH_KINDS,
    Node,
    Request,
    adopt_orphans,
    collect_origin,
    find_requests,
)
from ragauge.readers.traces.verdicts import (
    TraceVerdict,
    collect_outcomes,
    placed,
    read_verdicts,
    select_subtree,
    select_user_verdicts,
)

UNION, LAST, SPAN = "union", "last", "span:"  # whose documents are the passages
NO_SEARCH = "no retrieval in the trace"
ANSWERED_WITHOUT_RETRIEVAL = "answered without retrieval"  # what `without_retrieval` reads
MAX_WEIGHT = 1e6  # requests that a sampled one can stand for; who keeps one of more than a million has none to score
SAMPLING_THRESHOLD = re.compile(r"(?:^|;)th:([0-9a-f]{1,14})(?:;|$)")
# columns to report by, where the user asks
SEGMENT_COLUMNS = frozenset({"model", "service", "metadata", "trace_id"})


@dataclass(frozen=True, slots=True)
class ExcludedTrace:
    """A trace that is no answer of a RAG, and why."""

    trace_id: str
    reason: str


def build_rows(
    spans: Sequence[TraceSpan],
    passages: str = UNION,
    verdicts: Sequence[TraceVerdict] | None = None,
    *,
    without_retrieval: bool = False,
) -> Iterator[Row | ExcludedTrace]:
    """The requests of one trace as rows; the spans in any order, all of the same trace.

    Args:
        spans: of the trace.
        passages: which steps found the passages, where several searched: `union`, those of all searches, each with
            its number, or of the last reranker; `last`, of the last search or reranker; `span:NAME`, of the spans of
            this name, whatever searched beside them.
        verdicts: what was said of the trace, in its spans and elsewhere; None = what its spans say.
        without_retrieval: answers before which nothing was searched are read too; their passages are what tools
            returned, else not known.

    >>> alone = TraceSpan("5" * 32, "6" * 16, attributes={"openinference.span.kind": "EMBEDDING"})
    >>> [one.reason for one in build_rows([alone])]
    ['no retrieval in the trace']
    """
    trace_id = spans[0].trace_id
    if any(span.resource.get("service.name") == OWN_SERVICE for span in spans):
        yield ExcludedTrace(trace_id, "ragauge's own")
        return
    spans = adopt_orphans(spans)
    trace_requests = find_requests(spans)
    if not trace_requests:
        yield ExcludedTrace(trace_id, "no step from a known instrumentation")
    if verdicts is None:
        verdicts = [verdict for span in spans for verdict in read_verdicts(span)]
    verdicts_by_request = placed(trace_requests, spans, verdicts)
    for request in trace_requests:
        reason = _find_exclusion_reason(request, without_retrieval=without_retrieval)
        if reason:
            yield ExcludedTrace(trace_id, reason)
        else:
            outcome = collect_outcomes(select_user_verdicts(verdicts_by_request.get(request.query_id, ())))
            yield {**_build_row(request, spans, passages), "outcome": outcome or None}


def _find_exclusion_reason(request: Request, *, without_retrieval: bool) -> str:
    """Why a request is no answer of a RAG; "" where it is one."""
    if request.root_step is not None and request.root_step.kind == "evaluator":
        return "an evaluation"
    indexing = request.root_step is not None and request.root_step.kind in ("embedding", "prompt", "tool")
    if not _has_search(request):
        if indexing or not (request.root.error or _has_answer_text(request)):
            return NO_SEARCH
        if not (request.root.error or without_retrieval):
            return ANSWERED_WITHOUT_RETRIEVAL
    query = _find_query(request)
    if query is None:
        return "no question recorded"
    return "the question is redacted" if query == REDACTED else ""


def _has_search(request: Request) -> bool:
    return any(node.step.kind in SEARCH_KINDS for node in request.iterate_nodes())


def _has_answer_text(request: Request) -> bool:
    """Whether a model wrote something for it, or it says itself what it answered."""
    return any(node.step.kind == "llm" for node in request.iterate_nodes()) or _find_answer(request) is not None


def _find_query(request: Request) -> str | None:
    """The root's question, else what was searched for first, else what a model was asked."""
    root_steps = [request.root_step] if request.root_step is not None else []
    finders = [node.step for node in request.find_outermost(SEARCH_KINDS)]
    models = [node.step for node in request.find_outermost(frozenset({"llm"}))]
    queries = [step.query for step in (*root_steps, *finders, *models) if step.query is not None]
    return next((query for query in queries if query != REDACTED), queries[0] if queries else None)


def _build_row(request: Request, spans: Sequence[TraceSpan], which: str) -> Row:
    span, missing = request.root, dict[str, str]()
    models = request.find_outermost(frozenset({"llm"}))
    passages, candidates = _find_passages(request, which, missing)
    answer = _find_answer(request)
    if answer is None:
        missing["answer"] = "no step of the trace recorded it"
    steps = [node.step for node in request.iterate_nodes()]
    return {
        "query_id": request.query_id,
        "query": _find_query(request),
        "passages": passages,
        "candidates": candidates,
        "answer": answer,
        "latency_ms": _compute_latency(request, models),
        "tokens": _sum_tokens([node.step for node in models]),
        "cost": _sum_complete([node.step.cost for node in models]),
        "weight": _compute_weight(span.state, missing),
        "error": span.error or None,
        "missing": missing,
        "cluster": next((step.session for step in steps if step.session), None),
        "model": next((node.step.model for node in reversed(models) if node.step.model), None),
        "service": span.resource.get("service.name"),
        "metadata": {name: value for step in reversed(steps) for name, value in step.metadata.items()} or None,
        "trace_id": span.trace_id,
        "origin": collect_origin(spans if request.alone else select_subtree(span, spans), span.span_id),
    }


def _find_answer(request: Request) -> str | None:
    """The root's output, else that of the last model that wrote text."""
    root_answer = (
        request.root_step.answer
        if request.root_step is not None and request.root_step.kind not in SEARCH_KINDS
        else None
    )
    texts = [node.step.answer for node in request.iterate_nodes() if node.step.kind == "llm" and node.step.answer]
    if root_answer and root_answer != REDACTED:
        return root_answer
    return next((text for text in reversed(texts) if text != REDACTED), root_answer or (texts[-1] if texts else None))


def _find_passages(request: Request, which: str, missing: dict[str, str]) -> tuple[Any, Any]:
    """Passages and candidates: a reranker's output and input, else what the outermost retrievers found."""
    if which.startswith(SPAN):
        return _find_named_documents(request, which.removeprefix(SPAN), missing), None
    rerankers = [node for node in request.find_outermost(frozenset({"reranker"})) if node.step.documents is not None]
    finders = request.find_outermost(frozenset({"retriever"}), with_documents=True)
    if any(node.span.dropped for node in (*rerankers, *finders)):
        missing["passages"] = "truncated"
        return None, None
    if rerankers:
        first = rerankers[0]
        reranker_input = first.step.before
        if reranker_input is None:
            earlier = [node for node in finders if node.span.start <= first.span.start]
            reranker_input = _merge_lists([node.step.documents for node in earlier]) if earlier else None
        return _number_hops([rerankers[-1].step.documents]), _number_hops([reranker_input])
    if not _has_search(request):  # what tools returned is what the answer rests on, as in chats
        finders = request.find_outermost(frozenset({"tool"}), with_documents=True)
    if not finders:
        missing["passages"] = "the retriever's documents are not recorded" if _has_search(request) else NO_SEARCH
        return None, None
    counted = finders[-1:] if which == LAST else finders
    return _number_hops([node.step.documents for node in counted]), None


def _find_named_documents(request: Request, name: str, missing: dict[str, str]) -> Any:
    """The documents of the spans of one name, in order of time."""
    nodes = [node for node in request.iterate_nodes() if node.span.name == name and node.step.documents is not None]
    if not nodes or any(node.span.dropped for node in nodes):
        missing["passages"] = "truncated" if nodes else f"no span {name!r} records documents"
        return None
    return _number_hops([node.step.documents for node in sorted(nodes, key=lambda node: node.span.start)])


def _merge_lists(lists: Sequence[Documents | None]) -> Documents | None:
    if any(documents == REDACTED for documents in lists):
        return REDACTED
    return tuple(document for documents in lists if documents is not None for document in documents)


def _number_hops(lists: Sequence[Documents | None]) -> Any:
    """The documents of retrievals one after the other, the first copy kept, each with the number of its retrieval."""
    if any(documents == REDACTED for documents in lists):
        return REDACTED
    if all(documents is None for documents in lists):
        return None
    out: list[Mapping[str, Any]] = []
    seen_keys: set[str] = set()
    for hop, documents in enumerate(lists):
        for document in documents or ():
            fields = {"text": document} if isinstance(document, str) else document
            same = repr(sorted((key, str(value)) for key, value in fields.items() if key != "score"))
            if same not in seen_keys:
                seen_keys.add(same)
                out.append({**fields, "hop": hop} if hop else fields)
    return out


def _compute_latency(request: Request, models: Sequence[Node]) -> dict[str, float] | None:
    spent = {"total": request.root.duration_ms}
    for stage, nodes in (("retrieval", request.find_outermost(SEARCH_KINDS)), ("generation", models)):
        times = [node.span.duration_ms for node in nodes]
        if times and not any(time is None for time in times):
            spent[stage] = sum(time for time in times if time is not None)
    return {stage: time for stage, time in spent.items() if time is not None} or None


def _sum_tokens(steps: Sequence[Step]) -> dict[str, int] | None:
    """Sums over the outermost calls of models, since a wrapper repeats what is inside it."""
    total: dict[str, int] = {}
    for step in steps:
        for kind, count in step.tokens.items():
            total[kind] = total.get(kind, 0) + count
    return total or None


def _sum_complete(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return sum(present) if present and len(present) == len(values) else None


def _compute_weight(state: str, missing: dict[str, str]) -> float:
    """How many requests a sampled one stands for, by the threshold in OpenTelemetry's own entry of the tracestate.

    A chance below one in a million is taken as not told: one such request would be the whole mean.
    """
    sampling_entry = next((entry[3:] for entry in state.replace(" ", "").split(",") if entry.startswith("ot=")), "")
    match = SAMPLING_THRESHOLD.search(sampling_entry)
    if match is None:
        return 1.0
    n_sampled = 16**14 - int(match[1].ljust(14, "0"), 16)  # of 2^56 random numbers
    if n_sampled * MAX_WEIGHT < 16**14:
        missing["weight"] = f"th:{match[1]} samples fewer than one request in {MAX_WEIGHT:,.0f}; it counts as one"
        return 1.0
    return 16**14 / n_sampled


WITHOUT_RETRIEVAL_HINT = "--without-retrieval also reads answers without a search, such as plain model calls."
READABLE_HINT = "Supported spans: OpenInference, OpenLLMetry, OpenTelemetry GenAI, Langfuse, MLflow and Haystack."


def read_traces(batches: Rows, *, without_retrieval: bool = False) -> Rows:
    """The requests that the batches tell of, a trace after the other, as they first appear.

    The spans of a trace may stand in several batches, in any order; one that was sent again replaces itself. Log
    records that are events of a span count as its own. All spans are in memory at once.

    Args:
        batches: objects with resourceSpans, or resourceLogs.
        without_retrieval: answers before which nothing was searched are read too.
    """
    remarks: list[str] = []
    trace_rows = _read_trace_rows(batches, remarks, without_retrieval=without_retrieval)
    return Rows(batches.source, trace_rows, unit="trace", offered=SEGMENT_COLUMNS, remarks=remarks)


def _read_trace_rows(batches: Rows, remarks: list[str], *, without_retrieval: bool) -> Iterator[tuple[int, Row]]:
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
            f"{format_count(excluded.total(), 'trace')} skipped (no answer of a RAG system): "
            f"{_format_reasons(excluded)}."
        )
    if excluded[ANSWERED_WITHOUT_RETRIEVAL] and not without_retrieval:
        remarks.append(WITHOUT_RETRIEVAL_HINT)
    if not n_read:
        problem = f"no answer of a RAG system among {format_count(len(traces), 'trace')}."
        raise batches.error(" ".join([problem, *remarks]), hint=READABLE_HINT)


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
