"""The spans of one trace as a tree of the steps that say something, and the requests that are in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ragauge.readers.traces.dialects import step_of
from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import Kind, Step

FINDING: frozenset[Kind] = frozenset({"retriever", "reranker"})
OURS = "ragauge"  # the service whose calls of judges are no traffic


@dataclass(slots=True)
class Node:
    """A span that says something, with those inside it, in the order in which they began."""

    span: TraceSpan
    step: Step
    inside: list[Node] = field(default_factory=list)

    def all(self) -> Iterator[Node]:
        """This and everything inside, depth first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.inside)


@dataclass(frozen=True, slots=True)
class Request:
    """One question and what was done about it.

    Attributes:
        root: the span that its time is taken from.
        said: what the root says, where it says anything.
        tops: the outermost steps of it.
        alone: whether it is the only one of its trace.
    """

    root: TraceSpan
    said: Step | None
    tops: Sequence[Node]
    alone: bool = True

    @property
    def query_id(self) -> str:
        """Of its response: the trace's id, with that of its root where the trace has several."""
        return self.root.trace_id if self.alone else f"{self.root.trace_id}:{self.root.span_id}"

    def nodes(self) -> Iterator[Node]:
        """Every step, depth first."""
        for top in self.tops:
            yield from top.all()

    def outermost(self, kinds: frozenset[Kind], *, found: bool = False) -> list[Node]:
        """The steps of some kinds that are inside no other of these, in the order in which they began.

        Args:
            kinds: of steps.
            found: only those that recorded documents.
        """
        out: list[Node] = []
        waiting = list(reversed(self.tops))
        while waiting:
            node = waiting.pop()
            if node.step.kind in kinds and (node.step.documents is not None or not found):
                out.append(node)
            else:
                waiting += reversed(node.inside)
        return sorted(out, key=lambda node: _order(node.span))


def _order(span: TraceSpan) -> tuple[int, str]:
    return span.start, span.span_id


def adopted(spans: Sequence[TraceSpan]) -> list[TraceSpan]:
    """The spans of one trace, those whose parent never came inside the only outermost one that was open as they began.

    Samplers and full queues drop spans; where several outermost ones were open, nobody knows whose they are.
    """
    ids, roots = {span.span_id for span in spans}, [span for span in spans if not span.parent_id]

    def parent_of(span: TraceSpan) -> str:
        if not span.parent_id or span.parent_id in ids:
            return span.parent_id
        around = [root for root in roots if root.start <= span.start <= (root.end or span.start)]
        return around[0].span_id if len(around) == 1 else span.parent_id

    parents = [parent_of(span) for span in spans]
    return [
        span if parent == span.parent_id else replace(span, parent_id=parent)
        for span, parent in zip(spans, parents, strict=True)
    ]


def requests(spans: Sequence[TraceSpan]) -> list[Request]:
    """The requests of one trace: those of its outermost steps that searched for something, else the trace as a whole.

    Spans are read as `adopted` gives them. Those that say nothing, such as a web server's, are left out,
    and their children stand in their place. So are judges beside what they judge, with all that is inside them.
    """
    by_id = {span.span_id: span for span in spans}
    nodes = {span.span_id: Node(span, step) for span in by_id.values() if (step := step_of(span)) is not None}
    tops, judges = list[Node](), list[Node]()
    for node in sorted(nodes.values(), key=lambda node: _order(node.span)):
        above = _above(node.span, by_id, nodes)
        same = judges if node.step.kind == "evaluator" else tops if above is None else above.inside
        same.append(node)
    tops = tops or judges
    if not tops:
        return []
    turns = [top for top in tops if top.step.kind in ("chain", "") and _searches(top)]
    if len(turns) > 1:
        return [Request(turn.span, turn.step, [turn], alone=False) for turn in turns]
    if turns:
        return [Request(turns[0].span, turns[0].step, tops)]
    whole = tops[0] if len(tops) == 1 else None
    return [Request(whole.span if whole else _root(by_id, tops), whole.step if whole else None, tops)]


def _above(span: TraceSpan, by_id: dict[str, TraceSpan], nodes: dict[str, Node]) -> Node | None:
    """The nearest step that the span is part of; spans that are part of each other in a circle are part of none."""
    seen = {span.span_id}
    parent = span.parent_id
    while parent in by_id and parent not in seen:
        if parent in nodes:
            return None if _circular(span.span_id, parent, by_id) else nodes[parent]
        seen.add(parent)
        parent = by_id[parent].parent_id
    return None


def _circular(span_id: str, parent: str, by_id: dict[str, TraceSpan]) -> bool:
    seen = set()
    while parent in by_id and parent not in seen:
        if parent == span_id:
            return True
        seen.add(parent)
        parent = by_id[parent].parent_id
    return False


def _root(by_id: dict[str, TraceSpan], tops: Sequence[Node]) -> TraceSpan:
    """The span that no other of the trace holds, around the first of the steps."""
    span, seen = tops[0].span, set()
    while span.parent_id in by_id and span.span_id not in seen:
        seen.add(span.span_id)
        span = by_id[span.parent_id]
    return span


def _searches(top: Node) -> bool:
    return any(node.step.kind in FINDING for node in top.all())
