"""What people and judges said of a request, in the forms that spans carry it, and which request and passage it is of.

OpenInference's annotations and evaluations, on the span that they are of or on an EVALUATOR span that links to it, and
the GenAI conventions' event `gen_ai.evaluation.result`, of a span or sent as a log record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragauge.core.response import BAD_OUTCOMES, GOOD_OUTCOMES, REDACTED, normalize_outcome
from ragauge.readers.traces.spans import Event, Link, TraceSpan
from ragauge.readers.traces.step import (
    Document,
    Kind,
    decode_json,
    find_first_value,
    has_attribute_prefix,
    parse_number,
    parse_word,
    read_indexed_objects,
)
from ragauge.readers.traces.tree import SEARCH_KINDS, Request

RESULT_EVENT = "gen_ai.evaluation.result"
Scope = Literal["span", "trace", "session"]
SCOPE_PREFIXES: Mapping[str, Scope] = {"": "span", "trace.": "trace", "session.": "session"}
# how the attributes of results begin, how the fields of one do, and what they are of
RESULT_FORMS: tuple[tuple[str, str, Scope], ...] = tuple(
    (f"{prefix}{kind}s.", f"{kind}.", scope)
    for prefix, scope in SCOPE_PREFIXES.items()
    for kind in ("annotation", "evaluation")
)
RESULT_PREFIXES = tuple(head for head, _, _ in RESULT_FORMS)
EVENT = "gen_ai.evaluation."
# an event's attributes, which the conventions leave open: as proposed for them, and OpenInference's names kept
OWN_PREFIXES = ("", "evaluation.", "annotation.")
EVENT_KIND = (f"{EVENT}evaluator.type", f"{EVENT}annotator_kind", *(f"{own}annotator_kind" for own in OWN_PREFIXES))
EVENT_ANNOTATOR_KEYS = (f"{EVENT}evaluator.id", f"{EVENT}identifier", *(f"{own}identifier" for own in OWN_PREFIXES))
EVENT_NOTES = (f"{EVENT}metadata", "evaluation.metadata", "annotation.metadata", "metadata")
# who an annotator is, and which passage is meant, among the metadata of a result
ANNOTATOR_KEYS = ("annotator", "annotator_id", "annotator_name", "reviewer", "user_id", "user", "user_email", "email")
POSITION_KEYS, DOC_ID_KEYS = ("document_position",), ("document_id", "doc_id", "document.id")
HUMAN = "HUMAN"
MAX_ANNOTATOR_CHARS = 200  # characters
# names of what users say; of an answer's correctness models speak too
USER_VERDICT_NAME = re.compile(
    r"(user|end_user|human|customer)?[_-]?(feedback|thumbs?)([_-](feedback|rating|up_down))?"
)
ANYBODY_VERDICT_NAME = re.compile(r"((user|human|answer|response)[_-])?correct(ness)?")


@dataclass(frozen=True, slots=True)
class TraceVerdict:
    """One result of a person or a judge, as a trace carries it."""

    trace_id: str  #: of the request that it is of.
    span_id: str  #: of the span that it is of; "" = the request as a whole.
    name: str  #: of what is judged: a metric, a question, feedback.
    label: str | None = None  #: in words; None = none, or it is redacted.
    score: float | bool | None = None  #: as a number or truth value; None = none.
    kind: str = ""  #: who judged, in capitals: HUMAN, LLM, CODE or another word; "" = not said.
    who: str = ""  #: the annotator; "" = not said.
    at: int = 0  #: when, nanoseconds since 1970; 0 = not said.
    source: str = ""  #: the trace whose span says it.
    scope: Scope = "span"  #: what it is of.
    #: place, from 0, of the passage that it is of among the documents of the span; None = of no passage.
    position: int | None = None
    doc_id: str = ""  #: of that passage; "" = not said.
    guideline: str = ""  #: hash of the annotator's instructions; "" = not said.

    @property
    def is_user_verdict(self) -> bool:
        """Whether it is what a user thought of the answer; such is the outcome of the request."""
        normalized_name = normalize_outcome(self.name)
        by_anybody = ANYBODY_VERDICT_NAME.fullmatch(normalized_name) is not None and self.kind == HUMAN
        return by_anybody or (self.kind in ("", HUMAN) and USER_VERDICT_NAME.fullmatch(normalized_name) is not None)

    @property
    def is_human(self) -> bool:
        """Whether a person said it."""
        return self.kind == HUMAN or self.is_user_verdict

    @property
    def value(self) -> float | bool | str | None:
        """Its label where that says good or bad, else its score, else the label whatever it says."""
        if self.label is not None and normalize_outcome(self.label) in GOOD_OUTCOMES | BAD_OUTCOMES:
            return self.label
        return self.label if self.score is None else self.score


def collect_outcomes(
    verdicts: Iterable[TraceVerdict], previous: Mapping[str, float | bool | str] | None = None
) -> dict[str, float | bool | str]:
    """What users said of a request, by name; of several under one name a bad one counts.

    Args:
        verdicts: of the request.
        previous: what they had said so far.

    >>> text = [TraceVerdict("", "", "user_feedback", one, kind="HUMAN") for one in ("thumbs-down", "thumbs-up")]
    >>> collect_outcomes([*text, TraceVerdict("", "", "hallucination", "factual", kind="LLM")])
    {'user_feedback': 'thumbs-down'}
    """
    outcomes = dict(previous or {})
    for verdict in verdicts:
        if (
            verdict.is_user_verdict
            and verdict.value is not None
            and (verdict.name not in outcomes or normalize_outcome(verdict.value) in (*BAD_OUTCOMES, "0.0", "-1.0"))
        ):
            outcomes[verdict.name] = verdict.value
    return outcomes


def find_judged_span(span: TraceSpan) -> Link | None:
    """The span that a judge's own span is about: the one that it links to; None of any other span."""
    kind = str(span.attributes.get("openinference.span.kind", "")).upper()
    return span.links[0] if kind == "EVALUATOR" and len(span.links) == 1 else None


def read_verdicts(span: TraceSpan) -> Iterator[TraceVerdict]:
    """What a span says of itself, or of the one that it links to as a judge."""
    attributes = span.attributes
    results = [event for event in span.events if event.name == RESULT_EVENT]
    if not results and not has_attribute_prefix(attributes, *RESULT_PREFIXES):
        return
    link = find_judged_span(span)
    trace_id, span_id = (span.trace_id, span.span_id) if link is None else (link.trace_id, link.span_id)
    for head, field, scope in RESULT_FORMS:
        for entry in read_indexed_objects(attributes, head):
            result = {key.removeprefix(field): value for key, value in entry.items() if key.startswith(field)}
            name = _parse_label(result.get("name"))
            if name is None:
                continue
            yield TraceVerdict(
                trace_id,
                span_id,
                name,
                _parse_label(result.get("label")),
                _parse_score(result.get("score")),
                _get_kind(result),
                at=span.end or span.start,
                source=span.trace_id,
                scope=scope,
                **_read_annotator_fields(result.get("metadata"), result.get("identifier")),
            )
    for event in results:
        yield from read_event_verdicts(Link(trace_id, span_id), event, span.trace_id, span.end or span.start)


def read_event_verdicts(target: Link, event: Event, source: str, timestamp: int = 0) -> Iterator[TraceVerdict]:
    """What an event says of a span; nothing where it is of another kind.

    Args:
        target: the span.
        event: of the GenAI conventions.
        source: the trace that it came with.
        timestamp: when, where the event does not say; nanoseconds since 1970.
    """
    attributes = event.attributes
    name = _parse_label(attributes.get(f"{EVENT}name"))
    if event.name != RESULT_EVENT or name is None:
        return
    yield TraceVerdict(
        target.trace_id,
        target.span_id,
        name,
        _parse_label(attributes.get(f"{EVENT}score.label")),
        _parse_score(attributes.get(f"{EVENT}score.value")),
        str(find_first_value(attributes, *EVENT_KIND) or "").upper(),
        at=event.at or timestamp,
        source=source,
        **_read_annotator_fields(
            find_first_value(attributes, *EVENT_NOTES), find_first_value(attributes, *EVENT_ANNOTATOR_KEYS)
        ),
    )


def _get_kind(result: Mapping[str, Any]) -> str:
    return str(result.get("annotator_kind") or "").upper()


def _parse_label(value: Any) -> str | None:
    text = parse_word(value)
    return None if text == REDACTED else text


def _parse_score(value: Any) -> float | bool | None:
    return value if isinstance(value, bool) else parse_number(value)


def _read_annotator_fields(metadata: Any, identifier: Any) -> dict[str, Any]:
    """Who said it, of which passage and by which instructions; who goes by the metadata before the identifier."""
    decoded_metadata = decode_json(metadata)
    notes = decoded_metadata if isinstance(decoded_metadata, Mapping) else {}
    who = parse_word(find_first_value(notes, *ANNOTATOR_KEYS)) or parse_word(identifier)
    position = parse_number(find_first_value(notes, *POSITION_KEYS))
    return {
        "who": "" if who is None or who == REDACTED else who[:MAX_ANNOTATOR_CHARS],
        "position": int(position) if position is not None and position >= 0 and position.is_integer() else None,
        "doc_id": parse_word(find_first_value(notes, *DOC_ID_KEYS)) or "",
        "guideline": parse_word(notes.get("guideline")) or "",
    }


NO_REQUEST = ""  # where verdicts stand of which nobody can tell which request of a trace they mean


@dataclass(frozen=True, slots=True)
class PlacedVerdict:
    """A verdict, and what it is of."""

    verdict: TraceVerdict  #: what was said.
    on: Kind = ""  #: the work of the span that it is of; "" = not known, or the request as a whole.
    passage: Document | None = None  #: that it is of, as the span has it; None = of none, or not known.
    known: bool = True  #: whether the span that it is of is there, or it is of no span.

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
