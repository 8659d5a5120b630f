"""Which request of a trace, and which of its passages, a verdict is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ragauge.core.response import REDACTED
from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import Document, Kind
from ragauge.readers.traces.tree import SEARCH_KINDS, Request
from ragauge.readers.traces.verdicts import TraceVerdict

NO_REQUEST = ""  # where verdicts stand of which nobody can tell which request of a trace they mean


@dataclass(frozen=True, slots=True)
class PlacedVerdict:
    """A verdict, and what it is of.

    Attributes:
        verdict: what was said.
        on: the work of the span that it is of; "" = not known, or the request as a whole.
        passage: that it is of, as the span has it; None = of none, or not known.
        known: whether the span that it is of is there, or it is of no span.
    """

    verdict: TraceVerdict
    on: Kind = ""
    passage: Document | None = None
    known: bool = True

    @property
    def is_of_search(self) -> bool:
        """Whether it is of a search or of what that found: what users think of it is nothing of the answer."""
        return self.on in SEARCH_KINDS or self.on == "embedding" or self.passage is not None


def select_user_verdicts(verdicts: Iterable[PlacedVerdict]) -> Iterator[TraceVerdict]:
    """Those that tell what users thought of the answer."""
    users = (
        placed_verdict
        for placed_verdict in verdicts
        if placed_verdict.verdict.is_user_verdict and placed_verdict.verdict.scope != "session"
    )
    return (placed_verdict.verdict for placed_verdict in users if not placed_verdict.is_of_search)


def select_subtree(root: TraceSpan, spans: Sequence[TraceSpan]) -> list[TraceSpan]:
    """A span and what is inside it."""
    inside, grown = {root.span_id}, 0
    while len(inside) > grown:
        grown = len(inside)
        inside |= {span.span_id for span in spans if span.parent_id in inside}
    return [span for span in spans if span.span_id in inside]


def placed(
    trace_requests: Sequence[Request], spans: Sequence[TraceSpan], verdicts: Sequence[TraceVerdict]
) -> dict[str, list[PlacedVerdict]]:
    """Query id of a request -> what was said of it; under "" what is of none of several.

    Args:
        trace_requests: the requests of a trace.
        spans: of the trace.
        verdicts: of the trace, in any order; those of other traces are left out.
    """
    if not verdicts or not trace_requests:
        return {}
    trace_id = trace_requests[0].root.trace_id
    holders = (
        {}
        if len(trace_requests) == 1
        else {
            span.span_id: request.query_id for request in trace_requests for span in select_subtree(request.root, spans)
        }
    )
    span_ids = {span.span_id for span in spans}
    nodes = {node.span.span_id: node for request in trace_requests for node in request.iterate_nodes()}
    out: dict[str, list[PlacedVerdict]] = {}
    for verdict in verdicts:
        if verdict.trace_id != trace_id:
            continue
        where = trace_requests[0].query_id if len(trace_requests) == 1 else holders.get(verdict.span_id, NO_REQUEST)
        node = nodes.get(verdict.span_id) if verdict.scope == "span" else None
        node_documents = node.step.documents if node is not None and node.step.kind in SEARCH_KINDS else None
        documents: Sequence[Document] = () if node_documents is None or node_documents == REDACTED else node_documents
        index = verdict.position if verdict.position is not None or len(documents) != 1 else 0
        passage = documents[index] if index is not None and index < len(documents) else None
        is_known = verdict.scope != "span" or verdict.span_id in span_ids
        out.setdefault(where, []).append(
            PlacedVerdict(verdict, "" if node is None else node.step.kind, passage, is_known)
        )
    return out
