"""What people and judges said of a request, read from spans alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragauge.core.response import REDACTED
from ragauge.readers.traces.normalize import build_rows
from ragauge.readers.traces.spans import Event, Link, TraceSpan
from ragauge.readers.traces.tree import find_requests
from ragauge.readers.traces.verdicts import TraceVerdict, find_judged_span, placed, read_verdicts

TRACE, OTHER = "ab" * 16, "12" * 16
KIND = "openinference.span.kind"


def span(span_id: str, parent: str = "", trace_id: str = TRACE, **more: Any) -> TraceSpan:
    return TraceSpan(trace_id, span_id * 8, parent * 8 if parent else "", start=1, end=3, **more)


def said(head: str, **fields: Any) -> dict[str, Any]:
    return {f"{head}{name}": value for name, value in fields.items()}


WHOLE = {
    "name": "groundedness",
    "label": "grounded",
    "score": 1,
    "explanation": "It says so.",
    "annotator_kind": "Human",
    "identifier": "ann",
    "metadata": '{"rubric": 2, "guideline": "4be01c92a7d3"}',
}


@pytest.mark.parametrize(
    ("head", "scope"),
    [
        ("annotations.0.annotation.", "span"),
        ("evaluations.7.evaluation.", "span"),
        ("trace.annotations.0.annotation.", "trace"),
        ("trace.evaluations.0.evaluation.", "trace"),
        ("session.annotations.0.annotation.", "session"),
        ("session.evaluations.0.evaluation.", "session"),
    ],
)
def test_attributes(head: str, scope: Any) -> None:
    """Each form of OpenInference's results has name, label, score, kind, annotator and guideline, and its scope."""
    (found,) = read_verdicts(span("cd", attributes=said(head, **WHOLE)))
    expected = TraceVerdict(
        TRACE, "cd" * 8, "groundedness", "grounded", 1.0, "HUMAN", "ann", 3, TRACE, scope, guideline="4be01c92a7d3"
    )
    assert found == expected


@pytest.mark.parametrize(
    "named",
    [
        {"gen_ai.evaluation.evaluator.type": "human", "gen_ai.evaluation.evaluator.id": "ann"},
        {"gen_ai.evaluation.annotator_kind": "HUMAN", "gen_ai.evaluation.identifier": "ann"},
        {"annotator_kind": "HUMAN", "identifier": "ann"},
        {"evaluation.annotator_kind": "HUMAN", "evaluation.identifier": "ann"},
        {"annotation.annotator_kind": "HUMAN", "annotation.metadata": '{"annotator": "ann"}'},
    ],
)
def test_events(named: dict[str, Any]) -> None:
    """The conventions' event has what they name, and who judged under the names that are proposed or kept for that."""
    head = "gen_ai.evaluation."
    told = {f"{head}name": "groundedness", f"{head}score.label": "grounded", f"{head}score.value": 1, **named}
    (found,) = read_verdicts(span("cd", events=(Event(f"{head}result", told, 2), Event("other", told, 2))))
    assert found == TraceVerdict(TRACE, "cd" * 8, "groundedness", "grounded", 1.0, "HUMAN", "ann", 2, TRACE)
    (undated,) = read_verdicts(span("cd", events=(Event(f"{head}result", told),)))
    assert undated.at == 3


def test_links() -> None:
    """A judge's span with one link speaks of what that leads to; without, with two, or of another kind, of itself."""
    one, two = Link(OTHER, "99" * 8), Link(OTHER, "88" * 8)
    result = said("evaluations.0.evaluation.", **WHOLE)
    judge = {KIND: "EVALUATOR", **result}
    for links, attributes, of in (
        ((one,), judge, one),
        ((), judge, None),
        ((one, two), judge, None),
        ((one,), {KIND: "CHAIN", **result}, None),
    ):
        spoken = span("cd", attributes=attributes, links=links)
        assert find_judged_span(spoken) == of
        (found,) = read_verdicts(spoken)
        about = of or Link(TRACE, "cd" * 8)
        assert (found.trace_id, found.span_id, found.source) == (about.trace_id, about.span_id, TRACE)


@pytest.mark.parametrize(
    ("fields", "who", "position", "doc_id"),
    [
        ({"identifier": "r1", "metadata": json.dumps({"annotator": "ann"})}, "ann", None, ""),
        ({"identifier": "r1", "metadata": json.dumps({"email": "a@b.c", "document_position": 2})}, "a@b.c", 2, ""),
        ({"identifier": "r1", "metadata": "no object"}, "r1", None, ""),
        ({"metadata": json.dumps({"document_id": "a.md", "document_position": -1})}, "", None, "a.md"),
        ({"metadata": {"annotator": "ann", "document_position": 1.5}}, "ann", None, ""),
        ({"identifier": REDACTED, "label": REDACTED}, "", None, ""),
        ({"metadata": "[" * 100_000}, "", None, ""),
        ({"identifier": "x" * 1_000}, "x" * 200, None, ""),
    ],
)
def test_metadata(fields: dict[str, Any], who: str, position: int | None, doc_id: str) -> None:
    """The annotator stands in the metadata before the identifier, the passage there alone; what is redacted is not."""
    named = {"name": "relevance", "score": True, **fields}
    (found,) = read_verdicts(span("cd", attributes=said("annotations.0.annotation.", **named)))
    assert (found.who, found.position, found.doc_id) == (who, position, doc_id)
    assert (found.label, found.score) == (None, True)


def test_what_says_nothing() -> None:
    """Results without a name or with a redacted one, or whose place in the list is no number, are none."""
    head = "annotations.0.annotation."
    hidden, bare = said(head, **{**WHOLE, "name": REDACTED}), said(head, label="x")
    for attributes in (bare, said("annotations.x.annotation.", **WHOLE), hidden):
        assert list(read_verdicts(span("cd", attributes=attributes))) == []


def test_of_which_request_and_passage() -> None:
    """A verdict belongs to the request around its span, relevance to the document at its place, or the only one."""
    documents = said("retrieval.documents.", **{"0.document.content": "one", "1.document.content": "two"})
    asked, only = {KIND: "CHAIN", "input.value": "Who?"}, said("retrieval.documents.0.", **{"document.content": "x"})
    spans = [
        span("1a", attributes=asked),
        span("1b", "1a", attributes={KIND: "RETRIEVER", **documents}),
        span("2a", attributes=asked),
        span("2b", "2a", attributes={KIND: "RETRIEVER", **only}),
    ]
    verdicts = [
        TraceVerdict(TRACE, "1b" * 8, "relevance", position=1),
        TraceVerdict(TRACE, "1b" * 8, "relevance"),
        TraceVerdict(TRACE, "2b" * 8, "relevance"),
        TraceVerdict(TRACE, "99" * 8, "relevance"),
        TraceVerdict(OTHER, "1b" * 8, "relevance"),
    ]
    found = placed(find_requests(spans), spans, verdicts)
    passages = {where: [one.passage for one in several] for where, several in found.items()}
    assert passages == {
        f"{TRACE}:{'1a' * 8}": [{"content": "two"}, None],
        f"{TRACE}:{'2a' * 8}": [{"content": "x"}],
        "": [None],
    }


def test_outcome_of_inner_spans_and_events() -> None:
    """Feedback on any step but a search is the outcome of its request, in a file too; a bad one counts."""
    up, down = ({"name": "user_feedback", "label": f"thumbs-{way}"} for way in ("up", "down"))
    head = "gen_ai.evaluation."
    event = Event(f"{head}result", {f"{head}name": "thumbs", f"{head}score.value": 0})
    spans = [
        span("1a", attributes={KIND: "CHAIN", "input.value": "Who?", **said("annotations.0.annotation.", **up)}),
        span("1b", "1a", attributes={KIND: "RETRIEVER", **said("annotations.0.annotation.", name="feedback", score=0)}),
        span("1c", "1a", attributes={KIND: "LLM", **said("evaluations.0.evaluation.", **down)}, events=(event,)),
    ]
    (row,) = build_rows(spans)
    assert isinstance(row, dict)
    assert row["outcome"] == {"user_feedback": "thumbs-down", "thumbs": 0.0}
