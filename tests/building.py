"""Short ways to write examples, responses and evidence by hand.

>>> facts = answer_facts(claim(1, 2), claim(contradicting=[2]), claim())
>>> [(each.n, each.label) for each in facts.claims]
[(1, 'supported'), (2, 'contradicted'), (3, 'not_in_context')]
>>> sorted(evidence(facts, reference_facts([1], []), cover_criteria="timed out"))
['cover_criteria', 'verify_answer', 'verify_reference']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ragauge.core.example import Example, Relevant
from ragauge.core.facts import (
    Address,
    Agreement,
    AgreementFacts,
    AnswerFacts,
    Claim,
    CoverFacts,
    CriteriaFacts,
    Evidence,
    GuessedFacts,
    JudgeFacts,
    Rating,
    ReferenceClaim,
    ReferenceFacts,
    RelevanceFacts,
    SimilarityFacts,
    Strength,
)
from ragauge.core.response import Citation, Passage, Response
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.failures import FailedResponses
from ragauge.scores.results.comparison import MetricChange
from ragauge.scores.results.overview import MeanEstimate
from ragauge.scores.verdicts import FAILED, PASSED, ResponseVerdicts

SENTENCE = 10  # characters of the sentence that answer_facts gives to each claim


def claim(
    *supporting: int,
    contradicting: Sequence[int] = (),
    strength: Strength | None = None,
    text: str | None = "A claim.",
    n: int = 1,
    start: int = 0,
    end: int = 0,
    failed: bool = False,
    **rest: Any,
) -> Claim:
    """A claim of an answer, with the numbers of the passages that support it.

    Args:
        supporting: numbers of passages, from 1.
        contradicting: numbers of passages.
        strength: direct where there is support, unless given.
        text: the statement; None = the claims of its sentence could not be had.
        n: its number; `answer_facts` numbers its claims itself.
        start: first character of its sentence in the answer.
        end: one past the sentence's last character.
        failed: there is no verdict on it.
        rest: other fields of Claim.

    >>> claim(1, 3).supporting, claim(1).strength, claim(failed=True).label
    ((1, 3), 'direct', None)
    """
    return Claim(
        n=n,
        text=text,
        start=start,
        end=end,
        status="failed" if failed or text is None else "ok",
        supporting=supporting,
        contradicting=tuple(contradicting),
        strength=strength or ("direct" if supporting else None),
        **rest,
    )


def passage(doc_id: str = "d1", text: str | None = "Text of a passage.", **rest: Any) -> Passage:
    """A passage; its passage_id is the doc_id unless given.

    >>> passage("d7", passage_id="d7-2").passage_id
    'd7-2'
    """
    return Passage(**{"passage_id": doc_id, "doc_id": doc_id, "text": text, **rest})


def response(
    passages: Sequence[Passage | str] | int | None = 2,
    answer: str | None = "An answer.",
    *,
    citations: Sequence[tuple[int, int, str] | Citation] | None = None,
    query_id: str = "q1",
    **rest: Any,
) -> Response:
    """What a system returned.

    Args:
        passages: passages or doc_ids in order; a number for as many, d1, d2 …; 0 = nothing found, None = not recorded.
        answer: None = not recorded.
        citations: (start, end, target); None = the system does not cite.
        query_id: the example that it answers.
        rest: other fields of Response.

    >>> [each.doc_id for each in response(["a", "b"]).passages], response(0).passages
    (['a', 'b'], ())
    """
    if isinstance(passages, int):
        passages = [f"d{n}" for n in range(1, passages + 1)]
    return Response(
        query_id=query_id,
        passages=None if passages is None else tuple(passage(p) if isinstance(p, str) else p for p in passages),
        answer=answer,
        citations=None if citations is None else tuple(map(_citation, citations)),
        **rest,
    )


def _citation(given: tuple[int, int, str] | Citation) -> Citation:
    return given if isinstance(given, Citation) else Citation(*given)


def example(
    *reference_claims: str,
    relevant: Mapping[str, float] | Sequence[str] | None = None,
    query_id: str = "q1",
    query: str = "A question?",
    **rest: Any,
) -> Example:
    """A question with its labels.

    Args:
        reference_claims: facts of the reference answer; none given = there is no reference.
        relevant: doc_id -> grade, or doc_ids of grade 1.
        query_id: its identity.
        query: the question.
        rest: other fields of Example.

    >>> example("Paris is the capital.", relevant=["d1"], answerable=True).references
    ('Paris is the capital.',)
    """
    grades = relevant if isinstance(relevant, Mapping) else dict.fromkeys(relevant or (), 1.0)
    fields: dict[str, Any] = {
        "references": (" ".join(reference_claims),) if reference_claims else (),
        "reference_claims": reference_claims or None,
        "relevant": None if relevant is None else tuple(Relevant((doc,), grade) for doc, grade in grades.items()),
    }
    return Example(query_id=query_id, query=query, **{**fields, **rest})


def answer_facts(
    *claims: Claim, address: Address | None = "fully", refuse: bool | None = False, support_asked: bool = True
) -> AnswerFacts:
    """Facts of verify_answer: the claims are numbered, and each is a sentence of 10 characters unless it has its own.

    >>> [(each.n, each.start, each.end) for each in answer_facts(claim(1), claim()).claims]
    [(1, 0, 10), (2, 10, 20)]
    """
    numbered = tuple(
        replace(each, n=n, start=each.start if each.end else SENTENCE * (n - 1), end=each.end or SENTENCE * n)
        for n, each in enumerate(claims, 1)
    )
    return AnswerFacts(numbered, address, refuse, support_asked)


def reference_facts(*supporting: Sequence[int] | None) -> ReferenceFacts:
    """Facts of verify_reference: per reference claim the passages that support it; None = no verdict.

    >>> [each.supporting for each in reference_facts([1, 2], [], None).claims]
    [(1, 2), (), None]
    """
    return ReferenceFacts(
        tuple(
            ReferenceClaim(h, f"Reference claim {h}.", None if numbers is None else tuple(numbers))
            for h, numbers in enumerate(supporting, 1)
        )
    )


def relevance_facts(*relevant: bool | None, unit: Literal["passage", "sentence"] = "passage") -> RelevanceFacts:
    """Facts of rate_passages, or of rate_sentences with unit="sentence" (then all of one passage).

    >>> [each.relevant for each in relevance_facts(True, None).ratings]
    [True, None]
    """
    if unit == "sentence":
        return RelevanceFacts(tuple(Rating(1, mark, sentence=n) for n, mark in enumerate(relevant, 1)), unit)
    return RelevanceFacts(tuple(Rating(n, mark) for n, mark in enumerate(relevant, 1)))


def agreement_facts(answer: Sequence[Agreement | None], reference: Sequence[bool | None]) -> AgreementFacts:
    """Facts of agree: per answer claim whether it agrees, per reference claim whether the answer states it."""
    return AgreementFacts(tuple(answer), tuple(reference))


def evidence(*facts: JudgeFacts, **by_question: JudgeFacts | str) -> dict[str, Evidence]:
    """Evidence by question, for `Facts` and `measure`.

    Args:
        facts: facts whose type tells the question (CoverFacts: cover_aspects).
        by_question: question -> its facts, or why it failed.
    """
    asked: dict[str, JudgeFacts | str] = {**{_question(found): found for found in facts}, **by_question}
    return {
        question: Evidence(f"key of {question}", question, 1, "by hand", "failed", None, reason=found)
        if isinstance(found, str)
        else Evidence(f"key of {question}", question, 1, "by hand", "ok", found)
        for question, found in asked.items()
    }


def _question(found: JudgeFacts) -> str:
    match found:
        case AnswerFacts():
            return "verify_answer"
        case ReferenceFacts():
            return "verify_reference"
        case RelevanceFacts():
            return "rate_passages" if found.unit == "passage" else "rate_sentences"
        case AgreementFacts():
            return "agree"
        case CoverFacts():
            return "cover_aspects"
        case GuessedFacts():
            return "guess_questions"
        case SimilarityFacts():
            return "similarity"
        case CriteriaFacts():
            return "meet_criteria"


def metric_change(
    metric: str, base: float | None, new: float | None, difference: MeanEstimate, verdict: str, **more: Any
) -> MetricChange:
    """A metric in two runs, with a verdict that stands alone as it does after the correction, and no test.

    Args:
        metric: printed name; what it measures, its direction and its kind come from it.
        base: mean of the baseline.
        new: mean of the new run.
        difference: new − base with its interval.
        verdict: better, worse, changed, no change seen or not enough data.
        more: other fields by name.
    """
    known = parse_metric(metric)
    found = MetricChange(
        metric,
        known.measures,
        known.direction,
        known.scale,
        base,
        new,
        difference,
        p_value=None,
        test="",
        effect=None,
        wins=0,
        ties=0,
        losses=0,
        failed=0,
        verdict=verdict,
        alone=verdict,
    )
    return replace(found, **more)


def passed_but(failed: FailedResponses) -> ResponseVerdicts:
    """Verdicts on all responses: those that did not fail passed."""
    verdict = np.full(len(failed.index), PASSED, dtype=np.int8)
    verdict[failed.place] = FAILED
    return ResponseVerdicts(failed.index, verdict, verdict, verdict, np.zeros(len(verdict), dtype=np.int64), ("",))
