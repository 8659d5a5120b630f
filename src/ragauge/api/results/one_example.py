"""One example of a scorecard as a dictionary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragauge.analysis.results.scorecard import ExampleView
from ragauge.data.facts import AnswerFacts, Claim
from ragauge.errors import UnknownName, UsageError


def chosen(views: Iterable[ExampleView], query_id: str | None, repeat: int) -> ExampleView:
    """The example of an id; the only one where none is named."""
    seen: list[str] = []
    only: ExampleView | None = None
    for view in views:
        if view.example.query_id == query_id and view.response.repeat == repeat:
            return view
        seen.append(view.example.query_id)
        only = view if len(seen) == 1 else None
    if query_id is not None:
        raise UnknownName("example of this scorecard", query_id, seen)
    if only is None:
        raise UsageError(f"the scorecard is of {len(seen)} answers. Name one by its query_id: {', '.join(seen[:5])}.")
    return only


def plain_example(view: ExampleView) -> dict[str, Any]:
    """A view as plain values; see `Scorecard.example`."""
    evidence = view.evidence.get("verify_answer")
    facts = evidence.facts if evidence is not None else None
    return {
        "query_id": view.example.query_id,
        "repeat": view.response.repeat,
        "query": view.example.query,
        "answer": view.response.answer,
        "scores": {name: score.value for name, score in view.scores.items()},
        "reasons": {name: score.reason for name, score in view.scores.items() if score.value is None},
        "claims": [_claim(claim) for claim in facts.claims] if isinstance(facts, AnswerFacts) else None,
        "verdict": view.verdict,
        "cause": view.cause.name if view.cause is not None else None,
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text, "label": claim.label, "strength": claim.strength, "passages": list(claim.supporting),
        "contradicted_by": list(claim.contradicting), "p": claim.p,
    }  # fmt: skip
