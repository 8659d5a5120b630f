"""One example laid out for reading: which words of the answer rest on what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragauge.analysis.scorecard import ExampleView
from ragauge.data.facts import AnswerFacts, Claim, ReferenceFacts, RelevanceFacts

LABELS = {
    "supported": "supported by the passages",
    "contradicted": "contradicted by the passages",
    "not_in_context": "not in the passages",
}
MOST_TEXT = 1_200


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the answer with the label of the claim that it makes; "" between claims."""

    text: str
    label: str = ""
    title: str = ""
    n: int = 0


@dataclass(frozen=True, slots=True)
class Shelf:
    """One passage as handed to the generator.

    Attributes:
        rank: from 1.
        passage_id: its id.
        text: its text, cut when very long.
        gold: its document is labelled relevant.
        used: it supports or is cited for a claim.
        relevant: the judge's rating; None when not rated.
        score: the retriever's.
        mark: the part of the text that decided a claim, as (before, marked, after) or None.
        stale: a newer version of its document exists.
    """

    rank: int
    passage_id: str
    text: str
    gold: bool
    used: bool
    relevant: bool | None
    score: float | None
    stale: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """One reference claim and the passages that support it; covered is None where it was not judged."""

    text: str
    covered: bool | None
    passages: tuple[int, ...]


def answer_facts(view: ExampleView) -> AnswerFacts | None:
    """What the judge found about the answer."""
    found = view.evidence.get("verify_answer")
    return found.facts if found is not None and isinstance(found.facts, AnswerFacts) else None


def pieces(view: ExampleView) -> tuple[Piece, ...]:
    """The answer cut where its claims begin and end."""
    answer, facts = view.response.answer, answer_facts(view)
    if answer is None:
        return ()
    return tuple(_pieces(answer, facts.claims if facts else ()))


def _pieces(answer: str, claims: Sequence[Claim]) -> Iterator[Piece]:
    at = 0
    for claim in claims:
        if claim.start < at or claim.end <= claim.start:
            continue
        if claim.start > at:
            yield Piece(answer[at : claim.start])
        yield Piece(answer[claim.start : claim.end], claim.label or "failed", _title(claim), claim.n)
        at = claim.end
    if at < len(answer):
        yield Piece(answer[at:])


def _title(claim: Claim) -> str:
    if claim.label is None:
        return f"claim {claim.n}: no verdict ({claim.reason})"
    words = f"claim {claim.n}: {LABELS[claim.label]}"
    if claim.supporting:
        words += " " + ", ".join(str(number) for number in claim.supporting)
    if claim.contradicting:
        words += "; contradicted by " + ", ".join(str(number) for number in claim.contradicting)
    if claim.window is not None and claim.window.missing:
        words += f"; not found: {', '.join(claim.window.missing)}"
    return words + (f" (p {claim.p:.2f})" if claim.p is not None else "")


def shelves(view: ExampleView) -> tuple[Shelf, ...]:
    """The passages in rank order with their marks."""
    passages = view.response.passages or ()
    gold = {doc for item in view.example.relevant or () if item.grade >= 1 for doc in item.doc_ids}
    facts = answer_facts(view)
    used = {number for claim in facts.claims for number in claim.supporting} if facts else set()
    rated = view.evidence.get("rate_passages")
    ratings = (
        {rating.passage: rating.relevant for rating in rated.facts.ratings}
        if rated is not None and isinstance(rated.facts, RelevanceFacts)
        else {}
    )
    return tuple(
        Shelf(
            rank, passage.passage_id, _cut(passage.text or "(no text recorded)"), passage.doc_id in gold, rank in used,
            ratings.get(rank), passage.score, passage.superseded_by is not None,
        )
        for rank, passage in enumerate(passages, 1)
    )  # fmt: skip


def wanted(view: ExampleView) -> tuple[Wanted, ...]:
    """The reference claims and whether retrieval covered them."""
    found = view.evidence.get("verify_reference")
    if found is None or not isinstance(found.facts, ReferenceFacts):
        return ()
    return tuple(
        Wanted(claim.text, None if claim.supporting is None else bool(claim.supporting), claim.supporting or ())
        for claim in found.facts.claims
    )


def missed(view: ExampleView) -> tuple[str, ...]:
    """Labelled documents that were not handed on; of a group, its members joined by "or"."""
    returned = {passage.doc_id for passage in view.response.passages or ()}
    groups = [item.doc_ids for item in view.example.relevant or () if item.grade >= 1]
    return tuple(" or ".join(group) for group in groups if not returned & set(group))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} … ({len(text):,} characters)"
