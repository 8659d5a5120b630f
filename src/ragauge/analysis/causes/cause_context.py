"""One example's facts as the cause table asks for them: S, X, Z, U, T, E and the labelled documents."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

from ragauge.analysis.causes.decided_facts import EVEN, is_no
from ragauge.analysis.causes.labeled import merge_labels
from ragauge.analysis.causes.lazy import Lazy
from ragauge.analysis.causes.remedied import NOTHING, Counterfactual
from ragauge.data.example import Relevant, Span
from ragauge.data.facts import AgreementFacts, AnswerFacts, Claim, ReferenceClaim, ReferenceFacts, RelevanceFacts
from ragauge.data.ranking import open_in
from ragauge.data.readability import ControlledFact
from ragauge.data.response import Passage
from ragauge.metrics.facts import Absent, Facts, resolve
from ragauge.metrics.not_read import why_not_read
from ragauge.metrics.specifics import cited_for
from ragauge.metrics.topics import names_topic

WORD = re.compile(r"\w+")


class CauseContext:
    """What is known about one example. Nothing is computed before it is asked for.

    An attribute that is None is not known; a verdict that failed is never counted either way. People's labels stand in
    place of what the judge found.

    Attributes:
        facts: the example, its response and the evidence.
        indexed: the documents in the index, where a listing is known.
        mended: what is taken to be right, whatever the facts say.
        n: passages handed on; 0 when not recorded too.
        decided: what rows of the cause table say of it, by name.
    """

    def __init__(self, facts: Facts, indexed: Container[str] | None = None, mended: Counterfactual = NOTHING) -> None:
        self.facts, self.indexed = merge_labels(facts), indexed
        self.example, self.response = facts.example, facts.response
        self.passages: Sequence[Passage] | None = facts.response.passages
        self.n = len(self.passages or ())
        self.mended = mended
        self.decided: dict[str, Any] = {}

    def asked(self, question: str) -> Any:
        """A question's facts; None where it was not asked, failed, or cannot be read."""
        evidence = self.facts.evidence.get(question)
        return None if evidence is None or evidence.status == "failed" or not self.reads(question) else evidence.facts

    def reads(self, fact: str) -> bool:
        """Whether the judge can read a fact, or all facts of a question."""
        return why_not_read(fact, self.facts.readability, self.response) is None

    def is_no(self, fact: ControlledFact, p: float | None) -> bool:
        """Whether a score decides that something is not so; None = a verdict without a probability, which does."""
        return p is None or is_no(p, fact, self.facts.readability)

    def lack(self, fact: str) -> str:
        """Why a fact is not known, in words."""
        value = resolve(fact, self.facts)
        return value.reason if isinstance(value, Absent) else f"judge question {fact.partition('.')[0]} has no verdict"

    @Lazy
    def is_answerable(self) -> bool | None:
        """Whether the corpus holds the answer, as `Example.is_answerable` says, which reads the references."""
        return self.example.is_answerable

    @Lazy
    def relevant(self) -> tuple[Relevant, ...]:
        """Documents that hold the answer: labelled with a grade of at least 1, else those of the gold spans."""
        if self.example.relevant:
            return tuple(item for item in self.example.relevant if item.grade >= 1)
        return tuple(Relevant((doc_id,)) for doc_id in dict.fromkeys(span.doc_id for span in self.spans))

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where the evidence stands in the documents."""
        return self.example.gold_spans or ()

    @Lazy
    def missed(self) -> tuple[Relevant, ...] | None:
        """Labelled documents none of whose members was handed on; None without labels or recorded passages."""
        if not self.relevant or self.passages is None:
            return None
        there = {passage.doc_id for passage in self.passages}
        right = self.mended.documents
        return tuple(i for i in self.relevant if i.doc_ids not in right and there.isdisjoint(i.doc_ids))

    @Lazy
    def ranks(self) -> dict[str, int] | None:
        """Document -> its first rank among the candidates; None when they are not recorded."""
        if self.response.candidates is None:
            return None
        first_ranks: dict[str, int] = {}
        for rank, passage in enumerate(self.response.candidates, 1):
            first_ranks.setdefault(passage.doc_id, rank)
        return first_ranks

    def rank(self, item: Relevant) -> int | None:
        """The best rank of an item among the candidates."""
        ranks = self.ranks or {}
        return min((ranks[doc_id] for doc_id in item.doc_ids if doc_id in ranks), default=None)

    @Lazy
    def cut_spans(self) -> tuple[Span, ...]:
        """Gold spans that lack characters although their document was handed on."""
        if self.mended.evidence:
            return ()
        return tuple(span for span in self.spans if self._pieces(span) and open_in(span, self._pieces(span)))

    @Lazy
    def deep_spans(self) -> tuple[tuple[Span, int], ...]:
        """Of `cut_spans`, those that one candidate beyond the passages handed on holds whole, with its rank from 1."""
        later = list(enumerate(self.response.candidates or (), 1))[self.n :]
        reached = []
        for span in self.cut_spans:
            for rank, passage in later:
                piece = passage.span if passage.doc_id == span.doc_id else None
                if piece is not None and not open_in(span, [(piece.start, piece.end)]):
                    reached.append((span, rank))
                    break
        return tuple(reached)

    @Lazy
    def spans_known(self) -> bool:
        """Whether every passage of the gold documents says where it stands in them."""
        docs = {span.doc_id for span in self.spans}
        return all(passage.span is not None for passage in self.passages or () if passage.doc_id in docs)

    @Lazy
    def spans_whole(self) -> bool:
        """Whether labels say that all of the evidence was handed on: every gold span, from end to end."""
        return bool(self.spans) and self.spans_known and all(
            self._pieces(span) and not open_in(span, self._pieces(span)) for span in self.spans
        )     # fmt: skip

    def _pieces(self, span: Span) -> list[tuple[int, int]]:
        held = [passage.span for passage in self.passages or () if passage.doc_id == span.doc_id]
        return [] if None in held else sorted((piece.start, piece.end) for piece in held if piece is not None)

    # ---- versions ----

    @Lazy
    def dated(self) -> bool:
        """Whether some passage says how old it is."""
        return any(passage.superseded_by or passage.updated_at for passage in self.passages or ())

    @Lazy
    def outdated(self) -> frozenset[int]:
        """Numbers of the passages older than the newest version of their document, candidates included."""
        newest: dict[str, str] = {}
        for passage in (*(self.passages or ()), *(self.response.candidates or ())):
            if passage.updated_at:
                newest[passage.doc_id] = max(passage.updated_at, newest.get(passage.doc_id, ""))
        return frozenset(
            n
            for n, passage in enumerate(self.passages or (), 1)
            if passage.updated_at and _older(passage.updated_at, newest[passage.doc_id])
        )

    @Lazy
    def stale(self) -> frozenset[int]:
        """Numbers of the passages that are outdated or superseded by another document."""
        return self.outdated | {n for n, passage in enumerate(self.passages or (), 1) if passage.superseded_by}

    def versions(self, item: Relevant) -> tuple[list[int], list[int]]:
        """Numbers of a labelled item's passages: current ones, and outdated ones or of documents that it replaces.

        A document that is labelled counts as current even where another supersedes it: the label says that it holds
        the answer.
        """
        current: list[int] = []
        old: list[int] = []
        for n, passage in enumerate(self.passages or (), 1):
            if passage.doc_id in item.doc_ids:
                (old if n in self.outdated else current).append(n)
            elif passage.superseded_by in item.doc_ids:
                old.append(n)
        return current, old

    # ---- the answer ----

    @Lazy
    def answer(self) -> AnswerFacts | None:
        """What verify_answer found."""
        facts = self.asked("verify_answer")
        if not isinstance(facts, AnswerFacts):
            return None
        return facts if self.reads("verify_answer.address") else replace(facts, address=None, address_p=None)

    @property
    def refuse(self) -> bool | None:
        """Whether the answer declines."""
        declines = self.answer.refuse if self.answer else None
        return False if declines and self.mended.evidence else declines

    @property
    def address(self) -> str | None:
        """Whether the answer addresses the question: fully, partly, no; less than fully where that is likelier.

        An answer that states the whole reference addresses the question, however unlikely a judge that has but
        probabilities takes that to be.
        """
        if self.answer is None or self.answer.address is None:
            return None
        level: str = self.answer.address
        if self.answer.address_p is not None:
            fully, _, no = self.answer.address_p
            stated = self.agreement.reference if self.agreement is not None else ()
            answered = bool(stated) and all(stated)
            level = "fully" if answered or fully >= EVEN else "no" if no >= EVEN else "partly"
        excused = self.mended.evidence and (self.answer.refuse or level == "partly")
        return "fully" if excused or self.mended.answer else level

    @Lazy
    def claims(self) -> tuple[Claim, ...] | None:
        """Claims that have a verdict on their support; None when support is not known at all."""
        if self.answer is None or (not self.answer.support_asked and self.passages != ()):
            return None
        if not self.reads("verify_answer.support"):
            return None
        return tuple(claim for claim in self.answer.claims if claim.status == "ok")

    @Lazy
    def claims_whole(self) -> bool:
        """Whether every claim has its verdict."""
        return self.claims is not None and self.answer is not None and len(self.claims) == len(self.answer.claims)

    @Lazy
    def bare(self) -> tuple[Claim, ...]:
        """Claims that no passage supports or contradicts."""
        return tuple(claim for claim in self._unsupported if not claim.contradicting)

    @Lazy
    def against(self) -> tuple[Claim, ...]:
        """Claims that passages contradict and none supports."""
        return tuple(claim for claim in self._unsupported if claim.contradicting)

    @Lazy
    def _unsupported(self) -> tuple[Claim, ...]:
        right = self.mended.claims | self._by_reference
        return tuple(claim for claim in self.claims or () if not claim.supporting and claim.n not in right)

    @Lazy
    def _by_reference(self) -> frozenset[int]:
        """Claims that but a probability says are in no passage, though they are a reference's words that is there."""
        if self.agreement is None or all(claim.p is None for claim in self.claims or ()):
            return frozenset()
        if not self.reference or any(claim.chance < EVEN for claim in self.reference):
            return frozenset()
        words = _words(self.example.query, *self.example.references, *(claim.text for claim in self.reference))
        pairs = zip(self.answer.claims if self.answer else (), self.agreement.answer, strict=False)
        alike = (c for c, agrees in pairs if agrees == "agrees" and c.p is not None and not c.contradicting)
        return frozenset(claim.n for claim in alike if _words(claim.text or "") <= words)

    @Lazy
    def _by_answer(self) -> frozenset[int]:
        """Reference claims that but a probability says are in no passage, though a supported answer has their words."""
        supported = self.claims_whole and all(claim.supporting for claim in self.claims or ())
        if self.agreement is None or not self.claims or not supported:
            return frozenset()
        words = _words(self.example.query, self.response.answer or "")
        pairs = zip(self.reference or (), self.agreement.reference, strict=False)
        return frozenset(c.n for c, stated in pairs if stated and c.p is not None and _words(c.text) <= words)

    def cited(self, claim: Claim) -> frozenset[int]:
        """Z: numbers of the passages cited for a claim."""
        return cited_for(claim, self.response.citations or (), self.passages or ())

    @Lazy
    def used(self) -> frozenset[int]:
        """U: numbers of the passages that support a claim or are cited for one."""
        numbers: set[int] = set()
        for claim in self.answer.claims if self.answer else ():
            numbers.update(claim.supporting)
            if self.response.citations:
                numbers |= self.cited(claim)
        return frozenset(numbers)

    # ---- the reference ----

    @Lazy
    def reference(self) -> tuple[ReferenceClaim, ...] | None:
        """Reference claims with the passages that support them; None when verify_reference has no facts."""
        facts = self.asked("verify_reference")
        return facts.claims if isinstance(facts, ReferenceFacts) and facts.claims else None

    @Lazy
    def unmet(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims that no passage supports."""
        return () if self.mended.evidence else self._unmet

    @Lazy
    def _unmet(self) -> tuple[ReferenceClaim, ...]:
        missing = (claim for claim in self.doubtful if claim.supporting == () and claim.chance < EVEN)
        return tuple(claim for claim in missing if self.is_no("reference", claim.p))

    @Lazy
    def open_claims(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims of which nothing decides whether they are in the passages."""
        unsure = (claim for claim in self.doubtful if claim.chance < EVEN and claim not in self._unmet)
        return () if self.mended.evidence else tuple(unsure)

    @Lazy
    def doubtful(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims with a verdict, but for those that the answer, all supported, states."""
        known = (claim for claim in self.reference or () if claim.supporting is not None)
        return tuple(claim for claim in known if claim.n not in self._by_answer)

    @Lazy
    def lost(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims that no passage supports, unless labels say that all of the evidence was handed on.

        Where every labelled span came and a claim is still in no passage, the reference says more than the documents,
        or the judge overlooked it: the retriever lost nothing. Nor is it at fault where the question names no topic
        that it could look for: summarise this.
        """
        return () if self.spans_whole or not names_topic(self.example.query, self.facts.readability) else self.unmet

    @Lazy
    def met(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims that some passage supports."""
        return tuple(claim for claim in self.reference or () if claim.supporting)

    @Lazy
    def marks(self) -> dict[int, bool | None] | None:
        """Passage -> whether it is relevant to the question; None when rate_passages has no facts."""
        facts = self.asked("rate_passages")
        if not isinstance(facts, RelevanceFacts) or facts.unit != "passage":
            return None
        rated = {rating.passage: rating.relevant for rating in facts.ratings}
        return {n: rated.get(n) for n in range(1, self.n + 1)}

    @property
    def likely_only(self) -> bool:
        """Whether the judge of relevance has but probabilities: it tells the topic, not whether the answer is there."""
        facts = self.asked("rate_passages")
        return isinstance(facts, RelevanceFacts) and any(rating.p is not None for rating in facts.ratings)

    @property
    def rated_plainly(self) -> bool:
        """Whether every passage has a rating by verdict, and no claim's support is but a probability."""
        known = self.marks is not None and None not in self.marks.values() and not self.likely_only
        return known and all(claim.p is None for claim in self.claims or ())

    @Lazy
    def evidence(self) -> frozenset[int]:
        """E: numbers of the passages that support a reference claim; without those facts, the relevant ones."""
        if self.reference is not None:
            return frozenset(n for claim in self.met for n in claim.supporting or ())
        return frozenset(n for n, relevant in (self.marks or {}).items() if relevant)

    @Lazy
    def evidence_whole(self) -> bool:
        """Whether no missing verdict could add to `evidence`."""
        if self.reference is not None:
            return all(claim.supporting is not None for claim in self.reference)
        return self.marks is not None and None not in self.marks.values()

    @Lazy
    def agreement(self) -> AgreementFacts | None:
        """What agree found."""
        facts = self.asked("agree")
        return facts if isinstance(facts, AgreementFacts) else None

    @Lazy
    def wrong(self) -> tuple[Claim, ...]:
        """Claims that contradict the reference."""
        if self.agreement is None or self.answer is None:
            return ()
        pairs = zip(self.answer.claims, self.agreement.answer, strict=False)
        return tuple(c for c, agrees in pairs if agrees == "contradicts" and c.n not in self.mended.claims)

    @Lazy
    def unstated(self) -> tuple[int, ...]:
        """Numbers of the reference claims that the answer does not state; a sentence that failed may state any."""
        if self.agreement is None or any(claim.text is None for claim in (self.answer.claims if self.answer else ())):
            return ()
        right = {claim.n for claim in self._unmet} if self.mended.evidence else set()
        left = tuple(n for n, stated in enumerate(self.agreement.reference, 1) if stated is False and n not in right)
        # a claim that is wrong may stand where a right one belongs
        return () if self.mended.answer or len(left) <= len(self.mended.claims) else left

    def reference_text(self, n: int) -> str:
        """Reference claim n in its own words; "" where they are not known."""
        known = [claim.text for claim in self.reference or ()] or self.example.reference_claims
        return (known or self.example.references)[n - 1] if n <= len(known or self.example.references[:1]) else ""


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in WORD.findall(text.casefold()))


def _older(date: str, newest: str) -> bool:
    """Whether an ISO date lies before another one, at the precision that both have."""
    return date[: len(newest)] < newest[: len(date)]
