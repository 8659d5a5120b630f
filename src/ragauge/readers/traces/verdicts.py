"""What people and judges said of a request, in the forms that spans carry it.

OpenInference's annotations and evaluations, on the span that they are of or on an EVALUATOR span that links to it, and
the GenAI conventions' event `gen_ai.evaluation.result`, of a span or sent as a log record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragauge.core.response import BAD, GOOD, REDACTED, outcome_word
from ragauge.readers.traces.spans import Event, Link, TraceSpan
from ragauge.readers.traces.step import decoded, first, indexed, number, speaks, word

RESULT_EVENT = "gen_ai.evaluation.result"
Scope = Literal["span", "trace", "session"]
# how the attributes of results begin, how the fields of one do, and what they are of
HEADS: tuple[tuple[str, str, Scope], ...] = (
    ("annotations.", "annotation.", "span"),
    ("evaluations.", "evaluation.", "span"),
    ("trace.annotations.", "annotation.", "trace"),
    ("trace.evaluations.", "evaluation.", "trace"),
    ("session.annotations.", "annotation.", "session"),
    ("session.evaluations.", "evaluation.", "session"),
)
BEGIN = tuple(head for head, _, _ in HEADS)
EVENT = "gen_ai.evaluation."
# an event's attributes, which the conventions leave open: as proposed for them, and OpenInference's names kept
EVENT_KIND = (
    f"{EVENT}evaluator.type",
    f"{EVENT}annotator_kind",
    "annotator_kind",
    "evaluation.annotator_kind",
    "annotation.annotator_kind",
)
EVENT_WHO = (
    f"{EVENT}evaluator.id",
    f"{EVENT}identifier",
    "identifier",
    "evaluation.identifier",
    "annotation.identifier",
)
EVENT_NOTES = (f"{EVENT}metadata", "evaluation.metadata", "annotation.metadata", "metadata")
# who an annotator is, and which passage is meant, among the metadata of a result
WHO = ("annotator", "annotator_id", "annotator_name", "reviewer", "user_id", "user", "user_email", "email")
POSITION, DOC_ID = ("document_position",), ("document_id", "doc_id", "document.id")
HUMAN = "HUMAN"
LONGEST_WHO = 200  # characters
# names of what users say; of an answer's correctness models speak too
OF_USERS = re.compile(r"(user|end_user|human|customer)?[_-]?(feedback|thumbs?)([_-](feedback|rating|up_down))?")
OF_ANYBODY = re.compile(r"((user|human|answer|response)[_-])?correct(ness)?")


@dataclass(frozen=True, slots=True)
class TraceVerdict:
    """One result of a person or a judge, as a trace carries it.

    Attributes:
        trace_id: of the request that it is of.
        span_id: of the span that it is of; "" = the request as a whole.
        name: of what is judged: a metric, a question, feedback.
        label: in words; None = none, or it is redacted.
        score: as a number or truth value; None = none.
        kind: who judged, in capitals: HUMAN, LLM, CODE or another word; "" = not said.
        who: the annotator; "" = not said.
        at: when, nanoseconds since 1970; 0 = not said.
        source: the trace whose span says it.
        scope: what it is of.
        position: place, from 0, of the passage that it is of among the documents of the span; None = of no passage.
        doc_id: of that passage; "" = not said.
        guideline: hash of the annotator's instructions; "" = not said.
    """

    trace_id: str
    span_id: str
    name: str
    label: str | None = None
    score: float | bool | None = None
    kind: str = ""
    who: str = ""
    at: int = 0
    source: str = ""
    scope: Scope = "span"
    position: int | None = None
    doc_id: str = ""
    guideline: str = ""

    @property
    def of_user(self) -> bool:
        """Whether it is what a user thought of the answer; such is the outcome of the request."""
        named = outcome_word(self.name)
        by_anybody = OF_ANYBODY.fullmatch(named) is not None and self.kind == HUMAN
        return by_anybody or (self.kind in ("", HUMAN) and OF_USERS.fullmatch(named) is not None)

    @property
    def of_people(self) -> bool:
        """Whether a person said it."""
        return self.kind == HUMAN or self.of_user

    @property
    def value(self) -> float | bool | str | None:
        """Its label where that says good or bad, else its score, else the label whatever it says."""
        if self.label is not None and outcome_word(self.label) in GOOD | BAD:
            return self.label
        return self.label if self.score is None else self.score


def outcome_of(
    verdicts: Iterable[TraceVerdict], before: Mapping[str, float | bool | str] | None = None
) -> dict[str, float | bool | str]:
    """What users said of a request, by name; of several under one name a bad one counts.

    Args:
        verdicts: of the request.
        before: what they had said so far.

    >>> said = [TraceVerdict("", "", "user_feedback", one, kind="HUMAN") for one in ("thumbs-down", "thumbs-up")]
    >>> outcome_of([*said, TraceVerdict("", "", "hallucination", "factual", kind="LLM")])
    {'user_feedback': 'thumbs-down'}
    """
    found = dict(before or {})
    for one in verdicts:
        if (
            one.of_user
            and one.value is not None
            and (one.name not in found or outcome_word(one.value) in (*BAD, "0.0", "-1.0"))
        ):
            found[one.name] = one.value
    return found


def judged_by(span: TraceSpan) -> Link | None:
    """The span that a judge's own span is about: the one that it links to; None of any other span."""
    kind = str(span.attributes.get("openinference.span.kind", "")).upper()
    return span.links[0] if kind == "EVALUATOR" and len(span.links) == 1 else None


def verdicts_of(span: TraceSpan) -> Iterator[TraceVerdict]:
    """What a span says of itself, or of the one that it links to as a judge."""
    said = span.attributes
    results = [event for event in span.events if event.name == RESULT_EVENT]
    if not results and not speaks(said, *BEGIN):
        return
    link = judged_by(span)
    trace_id, span_id = (span.trace_id, span.span_id) if link is None else (link.trace_id, link.span_id)
    for head, field, scope in HEADS:
        for one in indexed(said, head):
            own = {key.removeprefix(field): value for key, value in one.items() if key.startswith(field)}
            name = _label(own.get("name"))
            if name is None:
                continue
            yield TraceVerdict(
                trace_id,
                span_id,
                name,
                _label(own.get("label")),
                _score(own.get("score")),
                _kind(own),
                at=span.end or span.start,
                source=span.trace_id,
                scope=scope,
                **_noted(own.get("metadata"), own.get("identifier")),
            )
    for event in results:
        yield from verdicts_of_event(Link(trace_id, span_id), event, span.trace_id, span.end or span.start)


def verdicts_of_event(of: Link, event: Event, source: str, at: int = 0) -> Iterator[TraceVerdict]:
    """What an event says of a span; nothing where it is of another kind.

    Args:
        of: the span.
        event: of the GenAI conventions.
        source: the trace that it came with.
        at: when, where the event does not say; nanoseconds since 1970.
    """
    said = event.attributes
    name = _label(said.get(f"{EVENT}name"))
    if event.name != RESULT_EVENT or name is None:
        return
    yield TraceVerdict(
        of.trace_id,
        of.span_id,
        name,
        _label(said.get(f"{EVENT}score.label")),
        _score(said.get(f"{EVENT}score.value")),
        str(first(said, *EVENT_KIND) or "").upper(),
        at=event.at or at,
        source=source,
        **_noted(first(said, *EVENT_NOTES), first(said, *EVENT_WHO)),
    )


def _kind(own: Mapping[str, Any]) -> str:
    return str(own.get("annotator_kind") or "").upper()


def _label(value: Any) -> str | None:
    found = word(value)
    return None if found == REDACTED else found


def _score(value: Any) -> float | bool | None:
    return value if isinstance(value, bool) else number(value)


def _noted(metadata: Any, identifier: Any) -> dict[str, Any]:
    """Who said it, of which passage and by which instructions; who goes by the metadata before the identifier."""
    given = decoded(metadata)
    notes = given if isinstance(given, Mapping) else {}
    who = word(first(notes, *WHO)) or word(identifier)
    position = number(first(notes, *POSITION))
    return {
        "who": "" if who is None or who == REDACTED else who[:LONGEST_WHO],
        "position": int(position) if position is not None and position >= 0 and position.is_integer() else None,
        "doc_id": word(first(notes, *DOC_ID)) or "",
        "guideline": word(notes.get("guideline")) or "",
    }
