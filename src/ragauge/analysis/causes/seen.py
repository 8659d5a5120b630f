"""One example's facts as the cause table asks for them: S, X, Z, U, T, E and the labelled documents."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ragauge.data.example import Relevant, Span
from ragauge.data.facts import AgreementFacts, AnswerFacts, Claim, ReferenceClaim, ReferenceFacts, RelevanceFacts
from ragauge.data.response import Passage
from ragauge.metrics.base import Failed, NotApplicable
from ragauge.metrics.facts import Facts, resolve
from ragauge.metrics.usage import cited_for

EVEN = 0.5         # a reference claim likelier there than not is not missing, though no passage can be named
LEAST_GAP = 3     # characters of a gold span: chunkers drop the white space between two chunks


@dataclass(frozen=True, slots=True)
class Mended:
    """What would be right if a cause were mended: no other cause is looked for in it.

    Attributes:
        everything: nothing else can be known, or the answer should not be there at all.
        documents: missed documents, each by the members of its group.
        evidence: what the passages lack: reference claims in none of them, spans cut through, a refusal for want of
            them, an answer in part.
        claims: numbers of the answer's claims that are wrong or without support.
        usage: which passages the answer uses.
        answer: what the answer leaves out.
    """

    everything: bool = False
    documents: frozenset[tuple[str, ...]] = frozenset()
    evidence: bool = False
    claims: frozenset[int] = frozenset()
    usage: bool = False
    answer: bool = False


NOTHING = Mended()


class Seen:
    """What is known about one example. Nothing is computed before it is asked for.

    An attribute that is None is not known; a verdict that failed is never counted either way.

    Attributes:
        facts: the example, its response and the evidence.
        indexed: the documents in the index, where a listing is known.
        mended: what is taken to be right, whatever the facts say.
        n: passages handed on; 0 when not recorded too.
    """

    def __init__(self, facts: Facts, indexed: Container[str] | None = None, mended: Mended = NOTHING) -> None:
        self.facts, self.example, self.response, self.indexed = facts, facts.example, facts.response, indexed
        self.passages: Sequence[Passage] | None = facts.response.passages
        self.n = len(self.passages or ())
        self.mended = mended

    def asked(self, question: str) -> Any:
        """A question's facts, or None."""
        found = self.facts.evidence.get(question)
        return None if found is None or found.status == "failed" else found.facts

    def lack(self, fact: str) -> str:
        """Why a fact is not known, in words."""
        value = resolve(fact, self.facts)
        return value.reason if isinstance(value, NotApplicable | Failed) else f"{fact.partition('.')[0]}: no verdict"

    # ---- labels ----

    @cached_property
    def relevant(self) -> tuple[Relevant, ...]:
        """Documents that hold the answer: labelled with a grade of at least 1, else those of the gold spans."""
        if self.example.relevant:
            return tuple(item for item in self.example.relevant if item.grade >= 1)
        return tuple(Relevant((doc_id,)) for doc_id in dict.fromkeys(span.doc_id for span in self.spans))

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where the evidence stands in the documents."""
        return self.example.gold_spans or ()

    @cached_property
    def missed(self) -> tuple[Relevant, ...] | None:
        """Labelled documents none of whose members was handed on; None without labels or recorded passages."""
        if not self.relevant or self.passages is None:
            return None
        there = {passage.doc_id for passage in self.passages}
        right = self.mended.documents
        return tuple(i for i in self.relevant if i.doc_ids not in right and there.isdisjoint(i.doc_ids))

    @cached_property
    def ranks(self) -> dict[str, int] | None:
        """Document -> its first rank among the candidates; None when they are not recorded."""
        if self.response.candidates is None:
            return None
        found: dict[str, int] = {}
        for rank, passage in enumerate(self.response.candidates, 1):
            found.setdefault(passage.doc_id, rank)
        return found

    def rank(self, item: Relevant) -> int | None:
        """The best rank of an item among the candidates."""
        ranks = self.ranks or {}
        return min((ranks[doc_id] for doc_id in item.doc_ids if doc_id in ranks), default=None)

    @cached_property
    def cut_spans(self) -> tuple[Span, ...]:
        """Gold spans that lack characters although their document was handed on."""
        if self.mended.evidence:
            return ()
        return tuple(span for span in self.spans if self._pieces(span) and _open(span, self._pieces(span)))

    @cached_property
    def deep_spans(self) -> tuple[tuple[Span, int], ...]:
        """Of `cut_spans`, those that one candidate beyond the passages handed on holds whole, with its rank from 1."""
        later = list(enumerate(self.response.candidates or (), 1))[self.n :]
        found = []
        for span in self.cut_spans:
            ranks = (
                rank for rank, one in later
                if one.doc_id == span.doc_id and one.span is not None
                and not _open(span, [(one.span.start, one.span.end)])
            )  # fmt: skip
            rank = next(ranks, None)
            if rank is not None:
                found.append((span, rank))
        return tuple(found)

    @cached_property
    def spans_known(self) -> bool:
        """Whether every passage of the gold documents says where it stands in them."""
        docs = {span.doc_id for span in self.spans}
        return all(passage.span is not None for passage in self.passages or () if passage.doc_id in docs)

    @cached_property
    def spans_whole(self) -> bool:
        """Whether labels say that all of the evidence was handed on: every gold span, from end to end."""
        return bool(self.spans) and self.spans_known and all(
            self._pieces(span) and not _open(span, self._pieces(span)) for span in self.spans
        )     # fmt: skip

    def _pieces(self, span: Span) -> list[tuple[int, int]]:
        found = [passage.span for passage in self.passages or () if passage.doc_id == span.doc_id]
        return [] if None in found else sorted((piece.start, piece.end) for piece in found if piece is not None)

    # ---- versions ----

    @cached_property
    def dated(self) -> bool:
        """Whether some passage says how old it is."""
        return any(passage.superseded_by or passage.updated_at for passage in self.passages or ())

    @cached_property
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

    @cached_property
    def stale(self) -> frozenset[int]:
        """Numbers of the passages that are outdated or superseded by another document."""
        superseded = (n for n, passage in enumerate(self.passages or (), 1) if passage.superseded_by)
        return self.outdated.union(superseded)

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

    @cached_property
    def answer(self) -> AnswerFacts | None:
        """What verify_answer found."""
        found = self.asked("verify_answer")
        return found if isinstance(found, AnswerFacts) else None

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

    @cached_property
    def claims(self) -> tuple[Claim, ...] | None:
        """Claims that have a verdict on their support; None when support is not known at all."""
        if self.answer is None or (not self.answer.support_asked and self.passages != ()):
            return None
        return tuple(claim for claim in self.answer.claims if claim.status == "ok")

    @cached_property
    def claims_whole(self) -> bool:
        """Whether every claim has its verdict."""
        return self.claims is not None and self.answer is not None and len(self.claims) == len(self.answer.claims)

    @cached_property
    def bare(self) -> tuple[Claim, ...]:
        """Claims that no passage supports or contradicts."""
        return tuple(claim for claim in self._unsupported if not claim.contradicting)

    @cached_property
    def against(self) -> tuple[Claim, ...]:
        """Claims that passages contradict and none supports."""
        return tuple(claim for claim in self._unsupported if claim.contradicting)

    @cached_property
    def _unsupported(self) -> tuple[Claim, ...]:
        right = self.mended.claims
        return tuple(claim for claim in self.claims or () if not claim.supporting and claim.n not in right)

    def cited(self, claim: Claim) -> frozenset[int]:
        """Z: numbers of the passages cited for a claim."""
        return cited_for(claim, self.response.citations or (), self.passages or ())

    @cached_property
    def used(self) -> frozenset[int]:
        """U: numbers of the passages that support a claim or are cited for one."""
        numbers: set[int] = set()
        for claim in self.answer.claims if self.answer else ():
            numbers.update(claim.supporting)
            if self.response.citations:
                numbers |= self.cited(claim)
        return frozenset(numbers)

    # ---- the reference ----

    @cached_property
    def reference(self) -> tuple[ReferenceClaim, ...] | None:
        """Reference claims with the passages that support them; None when verify_reference has no facts."""
        found = self.asked("verify_reference")
        return found.claims if isinstance(found, ReferenceFacts) and found.claims else None

    @cached_property
    def unmet(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims that no passage supports."""
        return () if self.mended.evidence else self._unmet

    @cached_property
    def _unmet(self) -> tuple[ReferenceClaim, ...]:
        return tuple(claim for claim in self.reference or () if claim.supporting == () and claim.chance < EVEN)

    @cached_property
    def lost(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims that no passage supports, unless labels say that all of the evidence was handed on.

        Where every labelled span came and a claim is still in no passage, the reference says more than the documents,
        or the judge overlooked it: the retriever lost nothing.
        """
        return () if self.spans_whole else self.unmet

    @cached_property
    def met(self) -> tuple[ReferenceClaim, ...]:
        """Reference claims that some passage supports."""
        return tuple(claim for claim in self.reference or () if claim.supporting)

    @cached_property
    def marks(self) -> dict[int, bool | None] | None:
        """Passage -> whether it is relevant to the question; None when rate_passages has no facts."""
        found = self.asked("rate_passages")
        if not isinstance(found, RelevanceFacts) or found.unit != "passage":
            return None
        rated = {rating.passage: rating.relevant for rating in found.ratings}
        return {n: rated.get(n) for n in range(1, self.n + 1)}

    @property
    def likely_only(self) -> bool:
        """Whether the judge of relevance has but probabilities: it tells the topic, not whether the answer is there."""
        found = self.asked("rate_passages")
        return isinstance(found, RelevanceFacts) and any(one.p is not None for one in found.ratings)

    @cached_property
    def evidence(self) -> frozenset[int]:
        """E: numbers of the passages that support a reference claim; without those facts, the relevant ones."""
        if self.reference is not None:
            return frozenset(n for claim in self.met for n in claim.supporting or ())
        return frozenset(n for n, relevant in (self.marks or {}).items() if relevant)

    @cached_property
    def evidence_whole(self) -> bool:
        """Whether no missing verdict could add to `evidence`."""
        if self.reference is not None:
            return all(claim.supporting is not None for claim in self.reference)
        return self.marks is not None and None not in self.marks.values()

    @cached_property
    def agreement(self) -> AgreementFacts | None:
        """What agree found."""
        found = self.asked("agree")
        return found if isinstance(found, AgreementFacts) else None

    @cached_property
    def wrong(self) -> tuple[Claim, ...]:
        """Claims that contradict the reference."""
        if self.agreement is None or self.answer is None:
            return ()
        pairs = zip(self.answer.claims, self.agreement.answer, strict=False)
        return tuple(c for c, agrees in pairs if agrees == "contradicts" and c.n not in self.mended.claims)

    @cached_property
    def unstated(self) -> tuple[int, ...]:
        """Numbers of the reference claims that the answer does not state; a sentence that failed may state any."""
        if self.agreement is None or any(claim.text is None for claim in (self.answer.claims if self.answer else ())):
            return ()
        right = {claim.n for claim in self._unmet} if self.mended.evidence else set()
        left = tuple(n for n, said in enumerate(self.agreement.reference, 1) if said is False and n not in right)
        # a claim that is wrong may stand where a right one belongs
        return () if self.mended.answer or len(left) <= len(self.mended.claims) else left


def _open(span: Span, pieces: Iterable[tuple[int, int]]) -> bool:
    """Whether a stretch of the span of some length lies in none of the pieces, which are sorted."""
    reached = span.start
    for start, end in pieces:
        if min(start, span.end) - reached >= LEAST_GAP:
            return True
        reached = max(reached, end)
    return span.end - reached >= LEAST_GAP


def _older(date: str, newest: str) -> bool:
    """Whether an ISO date lies before another one, at the precision that both have."""
    length = min(len(date), len(newest))
    return date[:length] < newest[:length]


def numbers(values: Iterable[int]) -> str:
    """Numbers in words: 2; 2 and 5; 2, 5 and 7."""
    listed = [str(value) for value in values]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}" if listed else "none"


def counted(noun: str, values: Collection[int]) -> str:
    """A noun with its numbers: passage 2; passages 2 and 5."""
    return f"{noun}{'s' if len(values) > 1 else ''} {numbers(sorted(values))}"


def documents(items: Sequence[Relevant], most: int = 3) -> str:
    """Documents in words, the first few: gold document d1; gold documents d1, d2 or d3 (any one), and 4 more."""
    listed = [item.doc_ids[0] if len(item.doc_ids) == 1 else " or ".join(item.doc_ids[:most]) for item in items[:most]]
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return f"gold document{'s' if len(items) > 1 else ''} {', '.join(listed)}{more}"


def members(items: Iterable[Relevant]) -> frozenset[tuple[str, ...]]:
    """Labelled items as `Mended` names them."""
    return frozenset(item.doc_ids for item in items)
