"""The spans of one trace as a tree with its requests, and how its answer was made."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ragauge.core.identity import normalize_text
from ragauge.core.response import REDACTED
from ragauge.readers.traces.dialects import read_step
from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import Kind, Step, decode_json, parse_word

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


ATTRIBUTES = tomllib.loads(Path(__file__).with_name("origin_attributes.toml").read_text(encoding="utf-8"))
MODEL, INDEX, K, VERSION = (tuple(ATTRIBUTES[fact].split()) for fact in ("model", "index", "k", "version"))
EMBEDDER = ("embedding.model_name", *MODEL)
LINKED_PROMPTS = "mlflow.linkedPrompts"
PROMPTS = [[names.get(part, "") for part in ("name", "version", "text")] for names in ATTRIBUTES["prompts"]]
RETRIEVAL_OPERATIONS = frozenset({"retrieval", "vector_db_retrieve"})
FACTS = frozenset(
    {
        *EMBEDDER,
        *INDEX,
        *K,
        *VERSION,
        *(name for names in PROMPTS for name in names if name),
        LINKED_PROMPTS,
        "gen_ai.operation.name",
        "gen_ai.request.top_k",
        "openinference.span.kind",
    }
)
MAX_VALUE_CHARS = 120  # characters of a value; a longer one is known by its hash


def collect_origin(spans: Sequence[TraceSpan], span_id: str = "") -> dict[str, str]:
    """What spans say of how an answer was made, and the id of the outermost span where it is given.

    >>> request = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.response.model": "m-2026"}
    >>> database = {"db.collection.name": "docs-v2", "db.system": "milvus"}
    >>> spans = [TraceSpan("5" * 32, f"{n}" * 16, attributes=one) for n, one in enumerate((request, database), 1)]
    >>> collect_origin(spans)
    {'model': 'm-2026', 'index': 'docs-v2'}
    """
    span_facts = [_select_facts(span.attributes) for span in sorted(spans, key=lambda span: (span.start, span.span_id))]
    ordered = [facts for facts in span_facts if facts]
    asking, embedding = (
        [facts for facts in ordered if not _is_embedding(facts)],
        [facts for facts in ordered if _is_embedding(facts)],
    )
    retrieving = [facts for facts in ordered if facts.get("gen_ai.operation.name") in RETRIEVAL_OPERATIONS]
    origin = {
        "model": _find_first_text(
            list(reversed(asking)), MODEL
        ),  # the last that wrote, not one that rewrote the question
        "prompt": next((text for facts in reversed(ordered) if (text := _describe_prompt(facts))), ""),
        "embedder": _find_first_text(embedding, EMBEDDER),
        "index": _find_first_text(ordered, INDEX),
        "k": _find_first_text(ordered, K) or _find_first_text(retrieving, ("gen_ai.request.top_k",)),
        "version": _find_first_text([*(span.resource for span in spans if span.resource), *ordered], VERSION),
        "span": span_id,
    }
    return {fact: _shorten_value(value) for fact, value in origin.items() if value}


def _select_facts(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a span's attributes that are looked at here: most spans have few of these and many others."""
    return {name: attributes[name] for name in FACTS.intersection(attributes)}


def _is_embedding(attributes: Mapping[str, Any]) -> bool:
    kind = str(attributes.get("openinference.span.kind", "")).upper()
    return (
        kind == "EMBEDDING"
        or attributes.get("gen_ai.operation.name") == "embeddings"
        or "embedding.model_name" in attributes
    )


def _find_first_text(each: Iterable[Mapping[str, Any]], names: Sequence[str]) -> str:
    """The first value under the first of the names that any of them has."""
    several = list(each)
    for name in names:
        for facts in several:
            text = parse_word(facts[name]) if name in facts else None
            if text and text != REDACTED:
                return text.strip()
    return ""


def _describe_prompt(facts: Mapping[str, Any]) -> str:
    """A prompt's name and version; without them, a digest of its template."""
    linked = decode_json(facts.get(LINKED_PROMPTS))
    if isinstance(linked, list) and linked and isinstance(linked[0], Mapping):
        facts = {**facts, "prompt.id": linked[0].get("name"), "llm.prompt_template.version": linked[0].get("version")}
    for name, version, text in PROMPTS:
        called, numbered, template = parse_word(facts.get(name)), parse_word(facts.get(version)), facts.get(text)
        if called or numbered:
            return " ".join(part for part in (called, numbered and f"v{numbered.removeprefix('v')}") if part)
        if template and template != REDACTED:
            return f"text:{_hash_text(template if isinstance(template, str) else json.dumps(template, sort_keys=True))}"
    return ""


def _shorten_value(value: str) -> str:
    return value if len(value) <= MAX_VALUE_CHARS else f"text:{_hash_text(value)}"


def _hash_text(text: str) -> str:
    return sha256(normalize_text(text).encode("utf-8", "surrogatepass")).hexdigest()[:12]
