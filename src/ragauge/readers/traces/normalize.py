"""One trace to rows of a recorded file: the question, what was found, what was answered, how long it took.

What is no answer of a RAG, such as the indexing of a corpus, is left out with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragauge.core.response import REDACTED
from ragauge.readers.lines import Row
from ragauge.readers.traces.origin import origin_of
from ragauge.readers.traces.spans import TraceSpan
from ragauge.readers.traces.step import Documents, Step
from ragauge.readers.traces.tree import FINDING, OURS, Node, Request, adopted, requests
from ragauge.readers.traces.verdict_targets import placed, thought, within
from ragauge.readers.traces.verdicts import TraceVerdict, outcome_of, verdicts_of

UNION, LAST, SPAN = "union", "last", "span:"  # whose documents are the passages
NO_SEARCH = "no retrieval in it"
UNSEARCHED = "answered without retrieval"  # what `without_retrieval` reads
HEAVIEST = 1e6  # requests that a sampled one can stand for; who keeps one of more than a million has none to score
SAMPLED = re.compile(r"(?:^|;)th:([0-9a-f]{1,14})(?:;|$)")
# columns to report by, where the user asks
OFFERED = frozenset({"model", "service", "metadata", "trace_id"})


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A trace that is no answer of a RAG, and why."""

    trace_id: str
    reason: str


def rows(
    spans: Sequence[TraceSpan],
    passages: str = UNION,
    verdicts: Sequence[TraceVerdict] | None = None,
    *,
    without_retrieval: bool = False,
) -> Iterator[Row | LeftOut]:
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
    >>> [one.reason for one in rows([alone])]
    ['no retrieval in it']
    """
    trace_id = spans[0].trace_id
    if any(span.resource.get("service.name") == OURS for span in spans):
        yield LeftOut(trace_id, "ragauge's own")
        return
    spans = adopted(spans)
    found = requests(spans)
    if not found:
        yield LeftOut(trace_id, "no step that any known instrumentation describes")
    if verdicts is None:
        verdicts = [one for span in spans for one in verdicts_of(span)]
    said = placed(found, spans, verdicts)
    for request in found:
        reason = _unread(request, without_retrieval=without_retrieval)
        if reason:
            yield LeftOut(trace_id, reason)
        else:
            outcome = outcome_of(thought(said.get(request.query_id, ())))
            yield {**_row(request, spans, passages), "outcome": outcome or None}


def _unread(request: Request, *, without_retrieval: bool) -> str:
    """Why a request is no answer of a RAG; "" where it is one."""
    if request.said is not None and request.said.kind == "evaluator":
        return "an evaluation"
    indexing = request.said is not None and request.said.kind in ("embedding", "prompt", "tool")
    if not _searched(request):
        if indexing or not (request.root.error or _is_written(request)):
            return NO_SEARCH
        if not (request.root.error or without_retrieval):
            return UNSEARCHED
    query = _query(request)
    if query is None:
        return "no question recorded"
    return "the question is redacted" if query == REDACTED else ""


def _searched(request: Request) -> bool:
    return any(node.step.kind in FINDING for node in request.nodes())


def _is_written(request: Request) -> bool:
    """Whether a model wrote something for it, or it says itself what it answered."""
    return any(node.step.kind == "llm" for node in request.nodes()) or _answer(request) is not None


def _query(request: Request) -> str | None:
    """The root's question, else what was searched for first, else what a model was asked."""
    said = [request.said] if request.said is not None else []
    finders = [node.step for node in request.outermost(FINDING)]
    models = [node.step for node in request.outermost(frozenset({"llm"}))]
    asked = [step.query for step in (*said, *finders, *models) if step.query is not None]
    return next((query for query in asked if query != REDACTED), asked[0] if asked else None)


def _row(request: Request, spans: Sequence[TraceSpan], which: str) -> Row:
    span, missing = request.root, dict[str, str]()
    models = request.outermost(frozenset({"llm"}))
    passages, candidates = _found(request, which, missing)
    answer = _answer(request)
    if answer is None:
        missing["answer"] = "no step of the trace records one"
    steps = [node.step for node in request.nodes()]
    return {
        "query_id": request.query_id,
        "query": _query(request),
        "passages": passages,
        "candidates": candidates,
        "answer": answer,
        "latency_ms": _latency(request, models),
        "tokens": _tokens([node.step for node in models]),
        "cost": _sum([node.step.cost for node in models]),
        "weight": _weight(span.state, missing),
        "error": span.error or None,
        "missing": missing,
        "cluster": next((step.session for step in steps if step.session), None),
        "model": next((node.step.model for node in reversed(models) if node.step.model), None),
        "service": span.resource.get("service.name"),
        "metadata": {name: value for step in reversed(steps) for name, value in step.metadata.items()} or None,
        "trace_id": span.trace_id,
        "origin": origin_of(spans if request.alone else within(span, spans), span.span_id),
    }


def _answer(request: Request) -> str | None:
    """The root's output, else that of the last model that wrote text."""
    own = request.said.answer if request.said is not None and request.said.kind not in FINDING else None
    texts = [node.step.answer for node in request.nodes() if node.step.kind == "llm" and node.step.answer]
    if own and own != REDACTED:
        return own
    return next((text for text in reversed(texts) if text != REDACTED), own or (texts[-1] if texts else None))


def _found(request: Request, which: str, missing: dict[str, str]) -> tuple[Any, Any]:
    """Passages and candidates: a reranker's output and input, else what the outermost retrievers found."""
    if which.startswith(SPAN):
        return _named(request, which.removeprefix(SPAN), missing), None
    rerankers = [node for node in request.outermost(frozenset({"reranker"})) if node.step.documents is not None]
    finders = request.outermost(frozenset({"retriever"}), found=True)
    if any(node.span.dropped for node in (*rerankers, *finders)):
        missing["passages"] = "truncated"
        return None, None
    if rerankers:
        first = rerankers[0]
        before = first.step.before
        if before is None:
            earlier = [node for node in finders if node.span.start <= first.span.start]
            before = _union([node.step.documents for node in earlier]) if earlier else None
        return _hops([rerankers[-1].step.documents]), _hops([before])
    if not _searched(request):  # what tools returned is what the answer rests on, as in chats
        finders = request.outermost(frozenset({"tool"}), found=True)
    if not finders:
        missing["passages"] = "the retriever's documents are not recorded" if _searched(request) else NO_SEARCH
        return None, None
    counted = finders[-1:] if which == LAST else finders
    return _hops([node.step.documents for node in counted]), None


def _named(request: Request, name: str, missing: dict[str, str]) -> Any:
    """The documents of the spans of one name, in order of time."""
    found = [node for node in request.nodes() if node.span.name == name and node.step.documents is not None]
    if not found or any(node.span.dropped for node in found):
        missing["passages"] = "truncated" if found else f"no span {name!r} records documents"
        return None
    return _hops([node.step.documents for node in sorted(found, key=lambda node: node.span.start)])


def _union(lists: Sequence[Documents | None]) -> Documents | None:
    if any(one == REDACTED for one in lists):
        return REDACTED
    return tuple(document for one in lists if one is not None for document in one)


def _hops(lists: Sequence[Documents | None]) -> Any:
    """The documents of retrievals one after the other, the first copy kept, each with the number of its retrieval."""
    if any(one == REDACTED for one in lists):
        return REDACTED
    if all(one is None for one in lists):
        return None
    out: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    for hop, one in enumerate(lists):
        for document in one or ():
            named = {"text": document} if isinstance(document, str) else document
            same = repr(sorted((key, str(value)) for key, value in named.items() if key != "score"))
            if same not in seen:
                seen.add(same)
                out.append({**named, "hop": hop} if hop else named)
    return out


def _latency(request: Request, models: Sequence[Node]) -> dict[str, float] | None:
    spent = {"total": request.root.milliseconds}
    for stage, nodes in (("retrieval", request.outermost(FINDING)), ("generation", models)):
        times = [node.span.milliseconds for node in nodes]
        if times and not any(time is None for time in times):
            spent[stage] = sum(time for time in times if time is not None)
    return {stage: time for stage, time in spent.items() if time is not None} or None


def _tokens(steps: Sequence[Step]) -> dict[str, int] | None:
    """Sums over the outermost calls of models, since a wrapper repeats what is inside it."""
    total: dict[str, int] = {}
    for step in steps:
        for kind, count in step.tokens.items():
            total[kind] = total.get(kind, 0) + count
    return total or None


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _weight(state: str, missing: dict[str, str]) -> float:
    """How many requests a sampled one stands for, by the threshold in OpenTelemetry's own entry of the tracestate.

    A chance below one in a million is taken as not told: one such request would be the whole mean.
    """
    own = next((entry[3:] for entry in state.replace(" ", "").split(",") if entry.startswith("ot=")), "")
    found = SAMPLED.search(own)
    if found is None:
        return 1.0
    kept = 16**14 - int(found[1].ljust(14, "0"), 16)  # of 2^56 random numbers
    if kept * HEAVIEST < 16**14:
        missing["weight"] = f"th:{found[1]} keeps fewer than one request in {HEAVIEST:,.0f}; it counts as one"
        return 1.0
    return 16**14 / kept
