"""Which request of a trace, and which of its passages, a verdict is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ragauge.core.response import REDACTED
from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import Document, Kind
from ragauge.readers.traces.tree import FINDING, Request
from ragauge.readers.traces.verdicts import TraceVerdict

NOWHERE = ""  # where verdicts stand of which nobody can tell which request of a trace they mean


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
    def of_search(self) -> bool:
        """Whether it is of a search or of what that found: what users think of it is nothing of the answer."""
        return self.on in FINDING or self.on == "embedding" or self.passage is not None


def thought(verdicts: Iterable[PlacedVerdict]) -> Iterator[TraceVerdict]:
    """Those that tell what users thought of the answer."""
    users = (one for one in verdicts if one.verdict.of_user and one.verdict.scope != "session")
    return (one.verdict for one in users if not one.of_search)


def within(root: TraceSpan, spans: Sequence[TraceSpan]) -> list[TraceSpan]:
    """A span and what is inside it."""
    inside, grown = {root.span_id}, 0
    while len(inside) > grown:
        grown = len(inside)
        inside |= {span.span_id for span in spans if span.parent_id in inside}
    return [span for span in spans if span.span_id in inside]


def placed(
    found: Sequence[Request], spans: Sequence[TraceSpan], verdicts: Sequence[TraceVerdict]
) -> dict[str, list[PlacedVerdict]]:
    """Query id of a request -> what was said of it; under "" what is of none of several.

    Args:
        found: the requests of a trace.
        spans: of the trace.
        verdicts: of the trace, in any order; those of other traces are left out.
    """
    if not verdicts or not found:
        return {}
    trace_id = found[0].root.trace_id
    holders = (
        {}
        if len(found) == 1
        else {span.span_id: request.query_id for request in found for span in within(request.root, spans)}
    )
    there_are = {span.span_id for span in spans}
    nodes = {node.span.span_id: node for request in found for node in request.nodes()}
    out: dict[str, list[PlacedVerdict]] = {}
    for one in verdicts:
        if one.trace_id != trace_id:
            continue
        where = found[0].query_id if len(found) == 1 else holders.get(one.span_id, NOWHERE)
        node = nodes.get(one.span_id) if one.scope == "span" else None
        listed = node.step.documents if node is not None and node.step.kind in FINDING else None
        there: Sequence[Document] = () if listed is None or listed == REDACTED else listed
        place = one.position if one.position is not None or len(there) != 1 else 0
        passage = there[place] if place is not None and place < len(there) else None
        known = one.scope != "span" or one.span_id in there_are
        out.setdefault(where, []).append(PlacedVerdict(one, "" if node is None else node.step.kind, passage, known))
    return out
