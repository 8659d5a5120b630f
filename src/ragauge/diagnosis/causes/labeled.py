"""People's labels of a response, put in place of what its judge found: they decide before any score does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragauge.core.facts import AgreementFacts, AnswerFacts, Claim, Evidence, JudgeFacts, Rating, RelevanceFacts
from ragauge.core.messages import format_count
from ragauge.core.readability import ControlledFact
from ragauge.metrics.facts import Facts
from ragauge.metrics.not_read import explain_unread

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
