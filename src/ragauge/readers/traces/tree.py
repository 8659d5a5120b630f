"""The spans of one trace as a tree of the steps that say something, and the requests that are in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ragauge.readers.traces.dialects import read_step
from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import Kind, Step

SEARCH_KINDS: frozenset[Kind] = frozenset({"retriever", "reranker"})
OWN_SERVICE = "ragauge"  # the service whose calls of judges are no traffic


@dataclass(slots=True)
class Node:
    """A span that says something, with those inside it, in the order in which they began."""

    span: TraceSpan
    step: Step
    inside: list[Node] = field(default_factory=list)

    def iterate_nodes(self) -> Iterator[Node]:
        """This and everything inside, depth first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.inside)


@dataclass(frozen=True, slots=True)
class Request:
    """One question and what was done about it."""

    root: TraceSpan  #: the span that its time is taken from.
    root_step: Step | None  #: what the root says, where it says anything.
    tops: Sequence[Node]  #: the outermost steps of it.
    alone: bool = True  #: whether it is the only one of its trace.

    @property
    def query_id(self) -> str:
        """Of its response: the trace's id, with that of its root where the trace has several."""
        return self.root.trace_id if self.alone else f"{self.root.trace_id}:{self.root.span_id}"

    def iterate_nodes(self) -> Iterator[Node]:
        """Every step, depth first."""
        for top in self.tops:
            yield from top.iterate_nodes()

    def find_outermost(self, kinds: frozenset[Kind], *, with_documents: bool = False) -> list[Node]:
        """The steps of some kinds that are inside no other of these, in the order in which they began.

        Args:
            kinds: of steps.
            with_documents: only those that recorded documents.
        """
        out: list[Node] = []
        waiting = list(reversed(self.tops))
        while waiting:
            node = waiting.pop()
            if node.step.kind in kinds and (node.step.documents is not None or not with_documents):
                out.append(node)
            else:
                waiting += reversed(node.inside)
        return sorted(out, key=lambda node: _get_sort_key(node.span))


def _get_sort_key(span: TraceSpan) -> tuple[int, str]:
    return span.start, span.span_id


def adopt_orphans(spans: Sequence[TraceSpan]) -> list[TraceSpan]:
    """The spans of one trace, those whose parent never came inside the only outermost one that was open as they began.

    Samplers and full queues drop spans; where several outermost ones were open, nobody knows whose they are.
    """
    ids, roots = {span.span_id for span in spans}, [span for span in spans if not span.parent_id]

    def find_parent_id(span: TraceSpan) -> str:
        if not span.parent_id or span.parent_id in ids:
            return span.parent_id
        around = [root for root in roots if root.start <= span.start <= (root.end or span.start)]
        return around[0].span_id if len(around) == 1 else span.parent_id

    parents = [find_parent_id(span) for span in spans]
    return [
        span if parent == span.parent_id else replace(span, parent_id=parent)
        for span, parent in zip(spans, parents, strict=True)
    ]


def find_requests(spans: Sequence[TraceSpan]) -> list[Request]:
    """The requests of one trace: those of its outermost steps that searched for something, else the trace as a whole.

    Spans are read as `adopt_orphans` gives them. Those that say nothing, such as a web server's, are left out,
    and their children stand in their place. So are judges beside what they judge, with all that is inside them.
    """
    by_id = {span.span_id: span for span in spans}
    nodes = {span.span_id: Node(span, step) for span in by_id.values() if (step := read_step(span)) is not None}
    tops, judges = list[Node](), list[Node]()
    for node in sorted(nodes.values(), key=lambda node: _get_sort_key(node.span)):
        above = _find_parent_node(node.span, by_id, nodes)
        same = judges if node.step.kind == "evaluator" else tops if above is None else above.inside
        same.append(node)
    tops = tops or judges
    if not tops:
        return []
    turns = [top for top in tops if top.step.kind in ("chain", "") and _has_search(top)]
    if len(turns) > 1:
        return [Request(turn.span, turn.step, [turn], alone=False) for turn in turns]
    if turns:
        return [Request(turns[0].span, turns[0].step, tops)]
    only_top = tops[0] if len(tops) == 1 else None
    return [
        Request(only_top.span if only_top else _find_root_span(by_id, tops), only_top.step if only_top else None, tops)
    ]


def _find_parent_node(span: TraceSpan, by_id: dict[str, TraceSpan], nodes: dict[str, Node]) -> Node | None:
    """The nearest step that the span is part of; spans that are part of each other in a circle are part of none."""
    visited = {span.span_id}
    parent = span.parent_id
    while parent in by_id and parent not in visited:
        if parent in nodes:
            return None if _is_circular(span.span_id, parent, by_id) else nodes[parent]
        visited.add(parent)
        parent = by_id[parent].parent_id
    return None


def _is_circular(span_id: str, parent: str, by_id: dict[str, TraceSpan]) -> bool:
    visited = set()
    while parent in by_id and parent not in visited:
        if parent == span_id:
            return True
        visited.add(parent)
        parent = by_id[parent].parent_id
    return False


def _find_root_span(by_id: dict[str, TraceSpan], tops: Sequence[Node]) -> TraceSpan:
    """The span that no other of the trace holds, around the first of the steps."""
    span, visited = tops[0].span, set()
    while span.parent_id in by_id and span.span_id not in visited:
        visited.add(span.span_id)
        span = by_id[span.parent_id]
    return span


def _has_search(top: Node) -> bool:
    return any(node.step.kind in SEARCH_KINDS for node in top.iterate_nodes())
