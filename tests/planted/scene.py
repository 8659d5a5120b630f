"""One case before it is written down: what was retrieved, what was said, and the facts that follow from both.

The facts are read off the pieces and statements of the scene: which pieces hold the evidence, what each statement says.
They do not know which fault was planted, and nothing here knows how causes are attributed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.planted.pieces import Piece
from tests.planted.topics import Topic

from ragauge.core.document import IndexListing
from ragauge.core.example import Example, Relevant, Span
from ragauge.core.facts import (
    Address,
    Agreement,
    AgreementFacts,
    AnswerFacts,
    Claim,
    Evidence,
    JudgeFacts,
    Rating,
    ReferenceClaim,
    ReferenceFacts,
    RelevanceFacts,
)
from ragauge.core.response import Citation, Response

JUDGE = "perfect"


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer, and what it is.

    Attributes:
        text: the sentence.
        says: part of the topic (from 0) that it states; None for none.
        quotes: stretch of a page that it says; None for none.
        about: parts of the question that it speaks to.
        conflicts: it says otherwise than those parts.
        cited: passage_id that is cited for it whatever supports it; "" = the first piece that does.
    """

    text: str
    says: int | None = None
    quotes: Span | None = None
    about: frozenset[int] = frozenset()
    conflicts: bool = False
    cited: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """What the system did with one question.

    Attributes:
        topic: the question with its true answer.
        passages: what was handed on, in order.
        candidates: the ranking before; None = not recorded.
        statements: the answer's sentences; () with a refusal.
        refusal: what was said instead of an answer.
        error: the system's failure.
        cites: whether the system cites.
        opening: words before the answer.
        closing: courtesy after it, which claims nothing.
        labelled: whether the documents are labelled.
        spans: whether the place of the evidence is labelled.
        listing: what is in the index, where that is known.
    """

    topic: Topic
    passages: tuple[Piece, ...]
    candidates: tuple[Piece, ...] | None
    statements: tuple[Statement, ...] = ()
    refusal: str = ""
    error: str | None = None
    cites: bool = True
    opening: str = ""
    closing: str = ""
    labelled: bool = True
    spans: bool = True
    listing: IndexListing | None = None

    def example(self, query_id: str) -> Example:
        """The question with its labels."""
        parts, docs = self.topic.parts, self.topic.docs
        return Example(
            query_id=query_id,
            query=self.topic.query,
            references=(" ".join(part.claim for part in parts),) if parts else (),
            reference_claims=tuple(part.claim for part in parts) if parts else None,
            relevant=tuple(Relevant((doc_id,)) for doc_id in docs) if docs and self.labelled else None,
            gold_spans=tuple(part.sentence.span for part in parts) if parts and self.labelled and self.spans else None,
            answerable=bool(parts) if self.labelled else None,
        )

    def response(self, query_id: str) -> Response:
        """What the system returned."""
        if self.error is not None:
            return Response(query_id, error=self.error)
        return Response(
            query_id=query_id,
            passages=tuple(piece.passage for piece in self.passages),
            candidates=None if self.candidates is None else tuple(piece.passage for piece in self.candidates),
            answer=self.answer,
            citations=tuple(self._citations()) if self.cites else None,
        )

    @property
    def answer(self) -> str:
        """The words."""
        said = self.refusal or f"{self.opening}{' '.join(statement.text for statement in self.statements)}"
        return f"{said} {self.closing}" if self.closing else said

    def evidence(self) -> dict[str, Evidence]:
        """What a judge without error finds; nothing where the system failed."""
        if self.error is not None:
            return {}
        found: dict[str, JudgeFacts] = {"verify_answer": self._verify_answer(), "rate_passages": self._rate_passages()}
        parts = self.topic.parts
        if parts:
            claims = (ReferenceClaim(n, p.claim, self.holding(p.sentence.span)) for n, p in enumerate(parts, 1))
            said = {statement.says for statement in self.statements}
            answer = tuple(_agreement(statement) for statement in self.statements)
            found["verify_reference"] = ReferenceFacts(tuple(claims))
            found["agree"] = AgreementFacts(answer, tuple(n in said for n in range(len(parts))))
        return {name: Evidence(f"{JUDGE}-{name}", name, 1, JUDGE, "ok", facts) for name, facts in found.items()}

    def holding(self, span: Span) -> tuple[int, ...]:
        """Numbers of the passages that a stretch of a page stands in."""
        return tuple(n for n, piece in enumerate(self.passages, 1) if piece.holds(span))

    def held(self) -> list[int]:
        """Parts whose evidence was handed on."""
        return [n for n, part in enumerate(self.topic.parts) if self.holding(part.sentence.span)]

    def _verify_answer(self) -> AnswerFacts:
        if self.refusal:
            return AnswerFacts((), "no", True)
        return AnswerFacts(tuple(self._claims()), self._address(), False)

    def _address(self) -> Address:
        about = {n for statement in self.statements for n in statement.about}
        if not self.topic.parts:
            return "fully"
        return "fully" if len(about) == len(self.topic.parts) else "partly" if about else "no"

    def _claims(self) -> Iterator[Claim]:
        start = len(self.opening)
        for n, statement in enumerate(self.statements, 1):
            supporting = self.supporting(statement)
            end = start + len(statement.text)
            yield Claim(
                n,
                statement.text,
                start if n > 1 else 0,
                end,
                supporting=supporting,
                contradicting=self._contradicting(statement),
                strength="direct" if supporting else None,
            )
            start = end + 1

    def supporting(self, statement: Statement) -> tuple[int, ...]:
        """Numbers of the passages that say what a statement says."""
        if statement.says is not None:
            return self.holding(self.topic.parts[statement.says].sentence.span)
        if statement.quotes is not None:
            return self.holding(statement.quotes)
        return tuple(n for n, piece in enumerate(self.passages, 1) if statement.text in piece.states)

    def _contradicting(self, statement: Statement) -> tuple[int, ...]:
        if not statement.conflicts:
            return ()
        against = {n for part in statement.about for n in self.holding(self.topic.parts[part].sentence.span)}
        return tuple(sorted(against.difference(self.supporting(statement))))

    def _rate_passages(self) -> RelevanceFacts:
        return RelevanceFacts(tuple(Rating(n, self._relevant(piece)) for n, piece in enumerate(self.passages, 1)))

    def _relevant(self, piece: Piece) -> bool:
        spans = [part.sentence.span for part in self.topic.parts]
        if self.topic.decoy is not None:
            spans.append(self.topic.decoy.sentence.span)
        return bool(piece.states) or any(piece.holds(span) for span in spans)

    def _citations(self) -> Iterator[Citation]:
        for claim, statement in zip(self._claims(), self.statements, strict=True):
            target = statement.cited
            if not target and claim.supporting:
                target = self.passages[claim.supporting[0] - 1].passage.passage_id
            if target:
                yield Citation(claim.start, claim.end, target)


def _agreement(statement: Statement) -> Agreement:
    if statement.says is not None:
        return "agrees"
    return "contradicts" if statement.conflicts else "absent"
