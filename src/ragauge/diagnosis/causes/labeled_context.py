"""What labels say of one example, in place of its judge, and what would be right if a cause were mended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar, overload

from ragauge.core.example import Relevant, Span
from ragauge.core.facts import AgreementFacts, AnswerFacts, Claim, Evidence, JudgeFacts, Rating, RelevanceFacts
from ragauge.core.messages import format_count
from ragauge.core.ranking import has_uncovered_gap
from ragauge.core.response import ControlledFact, Passage
from ragauge.metrics.base import explain_unread
from ragauge.metrics.facts import Facts

LABELED_WRONG = "a person labeled this answer as wrong"
LABELED_OFF_QUESTION = "a person labeled this answer as not fully addressing the question"
NOT_ASKED = AnswerFacts((), None, None, support_asked=False)


def merge_labels(facts: Facts) -> Facts:
    """The facts with people's labels as verdicts without probabilities; what nobody labeled stays the judge's.

    Labels of support take the place of the claims that they cover; which reference claim each agrees with is then not
    known. Where people say of some passage that it holds evidence, or of every passage that it holds none, that also
    decides whether evidence is missing: the judge's search for reference claims does not count.
    """
    labeled = facts.labels.facts
    if not labeled:
        return facts
    evidence, certain = dict(facts.evidence), set[ControlledFact]()
    answer, relevance = labeled.get("verify_answer"), labeled.get("rate_passages")
    if isinstance(answer, AnswerFacts):
        judge_facts = _find_facts(facts, "verify_answer")
        evidence["verify_answer"] = _wrap_evidence("verify_answer", _merge_answer(answer, judge_facts, facts))
        certain |= {"support"} if answer.support_asked else set()
        certain |= {"address"} if answer.address is not None else set()
        agreement = _find_facts(facts, "agree")
        if answer.support_asked and isinstance(agreement, AgreementFacts):
            evidence["agree"] = replace(evidence["agree"], facts=replace(agreement, answer=(), answer_p=()))
    if isinstance(relevance, RelevanceFacts):
        certain.add("relevance")
        merged = _merge_ratings(relevance, _find_facts(facts, "rate_passages"))
        evidence["rate_passages"] = _wrap_evidence("rate_passages", merged)
        if evidence_is_labeled(facts):
            evidence.pop("verify_reference", None)
    readability = facts.readability and replace(facts.readability, labeled=frozenset(certain))
    return replace(facts, evidence=evidence, readability=readability)


def evidence_is_labeled(facts: Facts) -> bool:
    """Whether people say of some passage that it holds evidence, or of every passage that it holds none."""
    relevance = facts.labels.facts.get("rate_passages")
    verdicts = [rating.relevant for rating in relevance.ratings] if isinstance(relevance, RelevanceFacts) else []
    return bool(verdicts) and (any(verdicts) or None not in verdicts)


def find_labeled_failure(facts: Facts) -> str:
    """The failure that people's labels of the response show, in words; "" for none."""
    if facts.labels.right is False:
        return LABELED_WRONG
    return find_unsupported(facts) or (LABELED_OFF_QUESTION if is_off_question(facts) else "")


def find_unsupported(facts: Facts) -> str:
    """That people labeled claims of the answer not supported, in words; "" where they labeled none so."""
    answer = facts.labels.facts.get("verify_answer")
    claims = [claim for claim in answer.claims if claim.status == "ok"] if isinstance(answer, AnswerFacts) else []
    unsupported = [claim for claim in claims if not claim.supporting]
    if not unsupported or not (isinstance(answer, AnswerFacts) and answer.support_asked):
        return ""
    if len(claims) == len(unsupported) == 1:
        return "a person labeled this answer as not supported by its passages"
    return (
        f"a person labeled {len(unsupported)} of {format_count(len(claims), 'claim')} as not supported by the passages"
    )


def is_off_question(facts: Facts) -> bool:
    """Whether people labeled that the answer addresses the question in part or not at all, and it does not decline.

    An answer that they call right is not off its question.

    Args:
        facts: with the labels merged.
    """
    answer, evidence = facts.labels.facts.get("verify_answer"), facts.evidence.get("verify_answer")
    if not isinstance(answer, AnswerFacts) or evidence is None or not isinstance(evidence.facts, AnswerFacts):
        return False
    return facts.labels.right is None and answer.address in ("partly", "no") and not evidence.facts.refuse


def _find_facts(facts: Facts, question: str) -> Any:
    """What the judge found by a question; None where it found nothing or cannot read it."""
    evidence = facts.evidence.get(question)
    if evidence is None or evidence.status == "failed":
        return None
    return None if explain_unread(question, facts.readability, facts.response) else evidence.facts


def _wrap_evidence(question: str, labeled: JudgeFacts) -> Evidence:
    return Evidence("", question, 0, "people", "ok", labeled)


def _merge_answer(labeled: AnswerFacts, judge_facts: Any, facts: Facts) -> AnswerFacts:
    merged = judge_facts if isinstance(judge_facts, AnswerFacts) else NOT_ASKED
    if labeled.support_asked:
        unread = explain_unread("verify_answer.support", facts.readability, facts.response)
        others = merged.claims if merged.support_asked and unread is None else ()
        merged = replace(merged, claims=_merge_claims(labeled.claims, others), support_asked=True, unread="")
    if labeled.address is not None:
        merged = replace(merged, address=labeled.address, address_p=None)
    if labeled.refuse is not None:
        merged = replace(merged, refuse=labeled.refuse, unread="")
    return merged


def _merge_claims(labeled: Sequence[Claim], judge_claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """People's claims; in place of a sentence that they left open, the judge's claims of it."""
    merged: dict[Claim, None] = {}
    for claim in labeled:
        if claim.status == "ok":
            merged[replace(claim, p=None)] = None
        else:
            overlapping = [other for other in judge_claims if other.start < claim.end and claim.start < other.end]
            merged.update(dict.fromkeys(overlapping or [claim]))
    return tuple(replace(claim, n=n) for n, claim in enumerate(merged, 1))


def _merge_ratings(labeled: RelevanceFacts, judge_facts: Any) -> RelevanceFacts:
    """People's ratings; the judge's of passages that they left open, unless they know where the evidence is."""
    has_labeled_evidence = any(rating.relevant for rating in labeled.ratings)
    others: dict[int, Rating] = {}
    if isinstance(judge_facts, RelevanceFacts) and judge_facts.unit == "passage" and not has_labeled_evidence:
        others = {rating.passage: rating for rating in judge_facts.ratings}
    ratings = (
        rating if rating.relevant is not None else others.get(rating.passage, rating) for rating in labeled.ratings
    )
    return RelevanceFacts(tuple(ratings))


T = TypeVar("T")


class Lazy(Generic[T]):
    """As functools.cached_property, without the lock that makes it three times as slow before Python 3.12.

    Two threads may both compute a value; facts of an example do not change, so it is the same one.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self._name, self.__doc__ = make, make.__name__, make.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object | None, kind: type) -> Self | T:
        """The value, which stands in the owner from then on."""
        if owner is None:
            return self
        value = self._make(owner)
        owner.__dict__[self._name] = value
        return value


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """What would be right if a cause were mended: no other cause is looked for in it."""

    everything: bool = False  #: nothing else can be known, or the answer should not be there at all.
    documents: frozenset[tuple[str, ...]] = frozenset()  #: missed documents, each by the members of its group.
    #: what the passages lack: reference claims in none of them, spans cut through, a refusal for want of them, an
    #: answer in part.
    evidence: bool = False
    claims: frozenset[int] = frozenset()  #: numbers of the answer's claims that are wrong or without support.
    usage: bool = False  #: which passages the answer uses.
    answer: bool = False  #: what the answer leaves out.
    criteria: bool = False  #: that the answer does not meet a required criterion.


NOTHING = Counterfactual()


class LabeledContext:
    """What no judge is asked for. Nothing is computed before it is asked for; None is not known.

    Attributes:
        example: the question and its labels.
        response: what the system returned.
        passages: handed on; None when not recorded.
        n: passages handed on; 0 when not recorded too.
        mended: what is taken to be right, whatever the facts say.
    """

    def __init__(self, facts: Facts, mended: Counterfactual) -> None:
        self.example, self.response, self.mended = facts.example, facts.response, mended
        self.passages: Sequence[Passage] | None = facts.response.passages
        self.n = len(self.passages or ())

    @Lazy
    def relevant(self) -> tuple[Relevant, ...]:
        """Documents that hold the answer: labelled with a grade of at least 1, else those of the gold spans."""
        if self.example.relevant:
            return tuple(item for item in self.example.relevant if item.grade >= 1)
        return tuple(Relevant((doc_id,)) for doc_id in dict.fromkeys(span.doc_id for span in self.gold_spans))

    @property
    def gold_spans(self) -> tuple[Span, ...]:
        """Where the evidence stands in the documents."""
        return self.example.gold_spans or ()

    @Lazy
    def missed(self) -> tuple[Relevant, ...] | None:
        """Labelled documents none of whose members was handed on; None without labels or recorded passages."""
        if not self.relevant or self.passages is None:
            return None
        passed_doc_ids = {passage.doc_id for passage in self.passages}
        excused = self.mended.documents
        return tuple(i for i in self.relevant if i.doc_ids not in excused and passed_doc_ids.isdisjoint(i.doc_ids))

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
        return tuple(
            span
            for span in self.gold_spans
            if self._list_passage_bounds(span) and has_uncovered_gap(span, self._list_passage_bounds(span))
        )

    @Lazy
    def low_ranked_spans(self) -> tuple[tuple[Span, int], ...]:
        """Of `cut_spans`, those that one candidate beyond the passages handed on holds whole, with its rank from 1."""
        later = list(enumerate(self.response.candidates or (), 1))[self.n :]
        reached = []
        for span in self.cut_spans:
            for rank, passage in later:
                passage_span = passage.span if passage.doc_id == span.doc_id else None
                if passage_span is not None and not has_uncovered_gap(span, [(passage_span.start, passage_span.end)]):
                    reached.append((span, rank))
                    break
        return tuple(reached)

    @Lazy
    def has_span_positions(self) -> bool:
        """Whether every passage of the gold documents says where it stands in them."""
        docs = {span.doc_id for span in self.gold_spans}
        return all(passage.span is not None for passage in self.passages or () if passage.doc_id in docs)

    @Lazy
    def has_all_spans(self) -> bool:
        """Whether labels say that all of the evidence was handed on: every gold span, from end to end."""
        return (
            bool(self.gold_spans)
            and self.has_span_positions
            and all(
                self._list_passage_bounds(span) and not has_uncovered_gap(span, self._list_passage_bounds(span))
                for span in self.gold_spans
            )
        )

    def _list_passage_bounds(self, span: Span) -> list[tuple[int, int]]:
        passage_spans = [passage.span for passage in self.passages or () if passage.doc_id == span.doc_id]
        return (
            []
            if None in passage_spans
            else sorted(
                (passage_span.start, passage_span.end) for passage_span in passage_spans if passage_span is not None
            )
        )

    # ---- versions ----

    @Lazy
    def has_dates(self) -> bool:
        """Whether some passage says how old it is."""
        return any(passage.superseded_by or passage.updated_at for passage in self.passages or ())

    @Lazy
    def outdated_passages(self) -> frozenset[int]:
        """Numbers of the passages older than the newest version of their document, candidates included."""
        newest: dict[str, str] = {}
        for passage in (*(self.passages or ()), *(self.response.candidates or ())):
            if passage.updated_at:
                newest[passage.doc_id] = max(passage.updated_at, newest.get(passage.doc_id, ""))
        return frozenset(
            n
            for n, passage in enumerate(self.passages or (), 1)
            if passage.updated_at and _is_older(passage.updated_at, newest[passage.doc_id])
        )

    @Lazy
    def stale(self) -> frozenset[int]:
        """Numbers of the passages that are outdated or superseded by another document."""
        return self.outdated_passages | {n for n, passage in enumerate(self.passages or (), 1) if passage.superseded_by}

    def split_by_version(self, item: Relevant) -> tuple[list[int], list[int]]:
        """Numbers of a labelled item's passages: current ones, and outdated ones or of documents that it replaces.

        A document that is labelled counts as current even where another supersedes it: the label says that it holds
        the answer.
        """
        current: list[int] = []
        old: list[int] = []
        for n, passage in enumerate(self.passages or (), 1):
            if passage.doc_id in item.doc_ids:
                (old if n in self.outdated_passages else current).append(n)
            elif passage.superseded_by in item.doc_ids:
                old.append(n)
        return current, old


def _is_older(date: str, newest: str) -> bool:
    """Whether an ISO date lies before another one, at the precision that both have."""
    return date[: len(newest)] < newest[: len(date)]
