"""One example's facts as the cause table asks for them: S, X, Z, U, T, E and the labelled documents."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import replace
from typing import Any

from ragauge.core.facts import AgreementFacts, AnswerFacts, Claim, ReferenceClaim, ReferenceFacts, RelevanceFacts
from ragauge.core.response import ControlledFact
from ragauge.diagnosis.causes.decided_facts import EVEN_P, Decision, decide, is_clear_no, is_passing
from ragauge.diagnosis.causes.labeled_context import NOTHING, Counterfactual, LabeledContext, Lazy, merge_labels
from ragauge.metrics.base import explain_unread
from ragauge.metrics.facts import Absent, Facts, resolve_fact
from ragauge.metrics.specifics import find_cited_passages
from ragauge.metrics.topics import has_named_topic

WORD_PATTERN = re.compile(r"\w+")


class CauseContext(LabeledContext):
    """What is known about one example. Nothing is computed before it is asked for.

    An attribute that is None is not known; a verdict that failed is never counted either way. People's labels stand in
    place of what the judge found.

    Attributes:
        facts: the example, its response and the evidence.
        indexed: the documents in the index, where a listing is known.
        decided: what rows of the cause table say of it, by name.
    """

    def __init__(self, facts: Facts, indexed: Container[str] | None = None, mended: Counterfactual = NOTHING) -> None:
        super().__init__(facts, mended)
        self.facts, self.indexed = merge_labels(facts), indexed
        self.decided: dict[str, Any] = {}

    def asked(self, question: str) -> Any:
        """A question's facts; None where it was not asked, failed, or cannot be read."""
        evidence = self.facts.evidence.get(question)
        return (
            None if evidence is None or evidence.status == "failed" or not self.can_read(question) else evidence.facts
        )

    def can_read(self, fact: str) -> bool:
        """Whether the judge can read a fact, or all facts of a question."""
        return explain_unread(fact, self.facts.readability, self.response) is None

    def is_clear_no(self, fact: ControlledFact, p: float | None) -> bool:
        """Whether a score decides that something is not so; None = a verdict without a probability, which does."""
        return p is None or is_clear_no(p, fact, self.facts.readability)

    def describe_missing_fact(self, fact: str) -> str:
        """Why a fact is not known, in words."""
        value = resolve_fact(fact, self.facts)
        return value.reason if isinstance(value, Absent) else f"judge question {fact.partition('.')[0]} has no verdict"

    @Lazy
    def is_answerable(self) -> bool | None:
        """Whether the corpus holds the answer, as `Example.is_answerable` says, which reads the references."""
        return self.example.is_answerable

    # ---- the answer ----

    @Lazy
    def answer(self) -> AnswerFacts | None:
        """What verify_answer found."""
        facts = self.asked("verify_answer")
        if not isinstance(facts, AnswerFacts):
            return None
        return facts if self.can_read("verify_answer.address") else replace(facts, address=None, address_p=None)

    @property
    def is_refusal(self) -> bool | None:
        """Whether the answer declines."""
        declines = self.answer.refuse if self.answer else None
        return False if declines and self.mended.evidence else declines

    @property
    def address_level(self) -> str | None:
        """Whether the answer addresses the question: fully, partly, no; less than fully where that is likelier.

        An answer that states the whole reference addresses the question, however unlikely a judge that has but
        probabilities takes that to be.
        """
        if self.answer is None or self.answer.address is None:
            return None
        level: str = self.answer.address
        if self.answer.address_p is not None:
            fully_p, _, no_p = self.answer.address_p
            stated = self.agreement.reference if self.agreement is not None else ()
            answered = bool(stated) and all(stated)
            level = "fully" if answered or fully_p >= EVEN_P else "no" if no_p >= EVEN_P else "partly"
        excused = self.mended.evidence and (self.answer.refuse or level == "partly")
        return "fully" if excused or self.mended.answer else level

    @Lazy
    def claims(self) -> tuple[Claim, ...] | None:
        """Claims that have a verdict on their support; None when support is not known at all."""
        if self.answer is None or (not self.answer.support_asked and self.passages != ()):
            return None
        if not self.can_read("verify_answer.support"):
            return None
        return tuple(claim for claim in self.answer.claims if claim.status == "ok")

    @Lazy
    def has_all_claim_verdicts(self) -> bool:
        """Whether every claim has its verdict."""
        return self.claims is not None and self.answer is not None and len(self.claims) == len(self.answer.claims)

    @Lazy
    def unsupported_claims(self) -> tuple[Claim, ...]:
        """Claims of which the judge names no passage that supports them, whether or not that decides it."""
        excused = self.mended.claims | self._claims_in_reference_words
        return tuple(claim for claim in self.claims or () if not claim.supporting and claim.n not in excused)

    @Lazy
    def bare(self) -> tuple[Claim, ...]:
        """Claims that no passage supports or contradicts."""
        return tuple(c for c in self.unsupported_claims if not c.contradicting and self.is_supported(c) == "no")

    @Lazy
    def against(self) -> tuple[Claim, ...]:
        """Claims that passages contradict and none supports."""
        return tuple(c for c in self.unsupported_claims if c.contradicting and self.is_supported(c) == "no")

    @Lazy
    def unclear_claims(self) -> tuple[Claim, ...]:
        """Claims of which nothing decides whether the passages support them."""
        return tuple(claim for claim in self.unsupported_claims if self.is_supported(claim) == "open")

    def is_supported(self, claim: Claim) -> Decision | None:
        """Whether the passages support a claim of the answer; None without a verdict."""
        if claim.status == "failed":
            return None
        if claim.n in self._claims_in_reference_words:
            return "yes"
        against = bool(claim.contradicting) and not claim.supporting
        return decide(claim.p, bool(claim.supporting), "support", self.facts.readability, self._is_grounded, against)

    @Lazy
    def _is_grounded(self) -> bool:
        return is_passing(
            (claim.p for claim in self.claims or () if claim.n not in self._claims_in_reference_words), "grounded"
        )

    @Lazy
    def _claims_in_reference_words(self) -> frozenset[int]:
        """Claims that but a probability says are in no passage, though they are a reference's words that is there."""
        if self.agreement is None or all(claim.p is None for claim in self.claims or ()):
            return frozenset()
        if not self.reference or any(claim.chance < EVEN_P for claim in self.reference):
            return frozenset()
        words = _split_words(self.example.query, *self.example.references, *(claim.text for claim in self.reference))
        pairs = zip(self.answer.claims if self.answer else (), self.agreement.answer, strict=False)
        agreeing = (c for c, agrees in pairs if agrees == "agrees" and c.p is not None and not c.contradicting)
        return frozenset(claim.n for claim in agreeing if _split_words(claim.text or "") <= words)

    @Lazy
    def _reference_claims_in_answer(self) -> frozenset[int]:
        """Reference claims that but a probability says are in no passage, though a supported answer has their words."""
        supported = self.has_all_claim_verdicts and all(claim.supporting for claim in self.claims or ())
        if self.agreement is None or not self.claims or not supported:
            return frozenset()
        words = _split_words(self.example.query, self.response.answer or "")
        pairs = zip(self.reference or (), self.agreement.reference, strict=False)
        return frozenset(c.n for c, stated in pairs if stated and c.p is not None and _split_words(c.text) <= words)

    def cited(self, claim: Claim) -> frozenset[int]:
        """Z: numbers of the passages cited for a claim."""
        return find_cited_passages(claim, self.response.citations or (), self.passages or ())

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
    def missing_reference_claims(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims that no passage supports."""
        return () if self.mended.evidence else self._missing_reference_claims

    @Lazy
    def _missing_reference_claims(self) -> tuple[ReferenceClaim, ...]:
        return tuple(claim for claim in self.doubtful_reference_claims if self.is_found(claim) == "no")

    @Lazy
    def unclear_reference_claims(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims of which nothing decides whether they are in the passages."""
        unsure = (claim for claim in self.doubtful_reference_claims if self.is_found(claim) == "open")
        return () if self.mended.evidence else tuple(unsure)

    def is_found(self, claim: ReferenceClaim) -> Decision | None:
        """Whether the passages hold a reference claim; None without a verdict."""
        if claim.supporting is None:
            return None
        if claim.n in self._reference_claims_in_answer:
            return "yes"
        return decide(claim.p, bool(claim.supporting), "reference", self.facts.readability)

    def is_stated(self, n: int) -> Decision | None:
        """Whether the answer states reference claim n, from 1; None without a verdict."""
        stated_claims = self.agreement.reference if self.agreement is not None else ()
        stated = stated_claims[n - 1] if n <= len(stated_claims) else None
        if self.agreement is None or stated is None:
            return None
        chances = self.agreement.reference_p
        p = chances[n - 1] if n <= len(chances) else None
        return decide(p, stated, "agreement", self.facts.readability, self._is_agreement_passed)

    @Lazy
    def _is_agreement_passed(self) -> bool:
        return self.agreement is not None and is_passing(self.agreement.reference_p, "right")

    @Lazy
    def doubtful_reference_claims(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims with a verdict, but for those that the answer, all supported, states."""
        with_verdict = (claim for claim in self.reference or () if claim.supporting is not None)
        return tuple(claim for claim in with_verdict if claim.n not in self._reference_claims_in_answer)

    @Lazy
    def lost(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims that no passage supports, unless labels say that all of the evidence was handed on.

        Where every labelled span came and a claim is still in no passage, the reference says more than the documents,
        or the judge overlooked it: the retriever lost nothing. Nor is it at fault where the question names no topic
        that it could look for: summarise this.
        """
        return (
            ()
            if self.has_all_spans or not has_named_topic(self.example.query, self.facts.readability)
            else self.missing_reference_claims
        )

    @Lazy
    def met(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims that some passage supports."""
        return tuple(claim for claim in self.reference or () if claim.supporting)

    @Lazy
    def relevance_by_passage(self) -> dict[int, bool | None] | None:
        """Passage -> whether it is relevant to the question; None when rate_passages has no facts."""
        facts = self.asked("rate_passages")
        if not isinstance(facts, RelevanceFacts) or facts.unit != "passage":
            return None
        rated = {rating.passage: rating.relevant for rating in facts.ratings}
        return {n: rated.get(n) for n in range(1, self.n + 1)}

    @property
    def has_relevance_probabilities(self) -> bool:
        """Whether the judge of relevance has but probabilities: it tells the topic, not whether the answer is there."""
        facts = self.asked("rate_passages")
        return isinstance(facts, RelevanceFacts) and any(rating.p is not None for rating in facts.ratings)

    @property
    def has_plain_ratings(self) -> bool:
        """Whether every passage has a rating by verdict, and no claim's support is but a probability."""
        is_rated = (
            self.relevance_by_passage is not None
            and None not in self.relevance_by_passage.values()
            and not self.has_relevance_probabilities
        )
        return is_rated and all(claim.p is None for claim in self.claims or ())

    @Lazy
    def evidence(self) -> frozenset[int]:
        """E: numbers of the passages that support a reference claim; without those facts, the relevant ones."""
        if self.reference is not None:
            return frozenset(n for claim in self.met for n in claim.supporting or ())
        return frozenset(n for n, relevant in (self.relevance_by_passage or {}).items() if relevant)

    @Lazy
    def has_all_evidence_verdicts(self) -> bool:
        """Whether no missing verdict could add to `evidence`."""
        if self.reference is not None:
            return all(claim.supporting is not None for claim in self.reference)
        return self.relevance_by_passage is not None and None not in self.relevance_by_passage.values()

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
    def unstated_claim_numbers(self) -> tuple[int, ...]:
        """Numbers of the reference claims that the answer does not state; a sentence that failed may state any."""
        if self.agreement is None or any(claim.text is None for claim in (self.answer.claims if self.answer else ())):
            return ()
        excused = {claim.n for claim in self._missing_reference_claims} if self.mended.evidence else set()
        numbers = range(1, len(self.agreement.reference) + 1)
        unstated_numbers = tuple(n for n in numbers if self.is_stated(n) == "no" and n not in excused)
        # a claim that is wrong may stand where a right one belongs
        return () if self.mended.answer or len(unstated_numbers) <= len(self.mended.claims) else unstated_numbers

    def find_reference_text(self, n: int) -> str:
        """Reference claim n in its own words; "" where they are not known."""
        claim_texts = [claim.text for claim in self.reference or ()] or self.example.reference_claims
        return (
            (claim_texts or self.example.references)[n - 1]
            if n <= len(claim_texts or self.example.references[:1])
            else ""
        )


def _split_words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in WORD_PATTERN.findall(text.casefold()))
