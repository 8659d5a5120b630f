"""People's labels of an answer decide its verdicts and its cause before any score of a judge does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest

from ragauge.core.example import Example, Relevant
from ragauge.core.facts import (
    AgreementFacts,
    AnswerFacts,
    Claim,
    Evidence,
    JudgeFacts,
    LabelFacts,
    Rating,
    ReferenceClaim,
    ReferenceFacts,
    RelevanceFacts,
)
from ragauge.core.response import Controls, ControlScale, Passage, Response
from ragauge.diagnosis.causes.attribution import ROWS_BY_NAME, judge_example
from ragauge.metrics.facts import Facts

ANSWER = "The tower is 300 metres tall. It stands in Porto."
SPANS = ((0, 29), (30, 49))
SCORES = (0.02, 0.3, 0.5, 0.7, 0.98)  # of a judge, from a clear no to a clear yes
UNREADABLE = Controls({})  # without any control pair the judge can read nothing


def evidence(question: str, facts: JudgeFacts) -> Evidence:
    """What a judge found."""
    return Evidence("", question, 1, "local#1", "ok", facts)


def judged(p: float, *, stated: float | None = None, held: float | None = None) -> dict[str, Evidence]:
    """A local judge's findings: all claims and passages as likely as p; `stated`, `held` of the one reference claim."""
    claims = tuple(
        Claim(n, ANSWER[start:end], start, end, supporting=(1,) if p >= 0.5 else (), p=p)
        for n, (start, end) in enumerate(SPANS, 1)
    )
    found = {
        "verify_answer": evidence("verify_answer", AnswerFacts(claims, "fully", False, address_p=(0.9, 0.1, 0.0))),
        "rate_passages": evidence("rate_passages", RelevanceFacts(tuple(Rating(n, p >= 0.5, p=p) for n in (1, 2)))),
    }
    if stated is not None:
        agreement = AgreementFacts(("agrees", "absent"), (stated >= 0.5,), (0.5, 0.5), (stated,))
        found["agree"] = evidence("agree", agreement)
    if held is not None:
        claim = ReferenceClaim(1, "It is 300 metres tall.", (1,) if held >= 0.5 else (), held)
        found["verify_reference"] = evidence("verify_reference", ReferenceFacts((claim,)))
    return found


def labeled(support: Sequence[bool | None] = (), relevance: Sequence[bool] = (), **rest: bool | None) -> LabelFacts:
    """What people labeled: each sentence supported or not (None = left open), each passage, and the answer right."""
    facts: dict[str, JudgeFacts] = {}
    if support:
        claims = tuple(
            Claim(
                n,
                ANSWER[start:end],
                start,
                end,
                status="failed" if holds is None else "ok",
                supporting=(1, 2) if holds else (),
                p=None if holds is None else float(holds),
            )
            for n, ((start, end), holds) in enumerate(zip(SPANS, support, strict=True), 1)
        )
        facts["verify_answer"] = AnswerFacts(claims, None, None, unasked=("address", "refuse"))
    if relevance:
        facts["rate_passages"] = RelevanceFacts(tuple(Rating(n, holds) for n, holds in enumerate(relevance, 1)))
    return LabelFacts(facts, rest.get("right"))


def facts_of(
    found: dict[str, Evidence], labels: LabelFacts, *, gold: tuple[str, ...] = (), controls: Controls | None = None
) -> Facts:
    """One answered question with two passages."""
    example = Example(
        "q",
        "How tall is the tower of Porto?",
        references=("It is 300 metres tall.",),
        relevant=tuple(Relevant((doc_id,)) for doc_id in gold),
    )
    passages = (Passage("d1#1", "d1", "The tower of Porto is 300 metres tall."), Passage("d2#1", "d2", "Porto is wet."))
    response = Response("q", passages=passages, answer=ANSWER)
    readability = None if controls is None else controls.build_readability(example, response)
    return Facts(example, response, found, readability=readability, labels=labels)


EVERY_JUDGE = [
    judged(p, stated=stated, held=held) for p, stated, held in product(SCORES, (None, *SCORES), (None, *SCORES))
]


@pytest.mark.parametrize("controls", [None, UNREADABLE], ids=["read", "not read"])
@pytest.mark.parametrize("right", [True, False])
def test_label_decides_right(right: bool, controls: Controls | None) -> None:
    """Whatever a judge scores and can read: an answer that a person calls right is right, one called wrong fails."""
    for found in EVERY_JUDGE:
        verdict, cause = judge_example(facts_of(found, labeled(right=right), controls=controls))
        assert verdict.right == ("passed" if right else "failed")
        if not right:
            assert (verdict.verdict, verdict.reason) == ("failed", "a person labeled this answer as wrong")
            assert cause is not None
            assert cause.shown_by == "people"


@pytest.mark.parametrize("controls", [None, UNREADABLE], ids=["read", "not read"])
def test_label_decides_grounded(controls: Controls | None) -> None:
    """Whatever a judge scores: an answer is grounded where people found every claim supported, and fails where not."""
    for found in EVERY_JUDGE:
        verdict, _ = judge_example(facts_of(found, labeled([True, True]), controls=controls))
        assert verdict.grounded == "passed"
        for support in ([True, False], [False, False]):
            verdict, cause = judge_example(facts_of(found, labeled(support), controls=controls))
            assert (verdict.verdict, verdict.grounded) == ("failed", "failed")
            share = f"{support.count(False)} of 2 claims"
            assert verdict.reason == f"a person labeled {share} as not supported by the passages"
            assert cause is not None
            assert cause.shown_by == "people"


def test_right_and_grounded_answer_passes() -> None:
    """An answer that people call right and supported passes, whatever a judge scores."""
    for found in EVERY_JUDGE:
        verdict, cause = judge_example(facts_of(found, labeled([True, True], right=True)))
        assert (verdict.verdict, verdict.right, verdict.grounded, cause) == ("passed", "passed", "passed", None)


def test_labeled_evidence_clears_retrieval() -> None:
    """Where a person found the evidence in a passage, no score of a judge lays a failure on retrieval."""
    blamed = 0
    for found, support in product(EVERY_JUDGE, [(), (True, False), (False, False)]):
        _, before = judge_example(facts_of(found, labeled(support)))
        blamed += before is not None and before.component == "retrieval"
        _, cause = judge_example(facts_of(found, labeled(support, relevance=[True, False])))
        assert cause is None or cause.component != "retrieval"
    assert blamed  # the law would hold of nothing else


def test_labeled_absence_blames_retrieval() -> None:
    """Where people found no evidence in any passage and the answer fails, retrieval missed it, by their labels."""
    for found in EVERY_JUDGE:
        _, cause = judge_example(facts_of(found, labeled(relevance=[False, False], right=False)))
        assert cause is not None
        assert (cause.name, cause.basis) == ("retrieval_miss", "labels")


def test_gold_document_still_counts() -> None:
    """Labels of the answer leave the labels of the eval set alone: a missed gold document fails the example."""
    for found in EVERY_JUDGE:
        verdict, cause = judge_example(facts_of(found, labeled([True, True], right=True), gold=("d9",)))
        assert (verdict.verdict, verdict.right, verdict.grounded) == ("failed", "passed", "passed")
        assert cause is not None
        assert (cause.component, cause.shown_by) == ("retrieval", "labels")


def test_open_sentence_keeps_its_judge() -> None:
    """A sentence that people left open keeps the judge's verdict beside the labels of the others."""
    failed, _ = judge_example(facts_of(judged(0.02), labeled([None, True])))
    passed, _ = judge_example(facts_of(judged(0.98), labeled([None, True])))
    assert (failed.grounded, passed.grounded) == ("unclear", "passed")
    nobody, _ = judge_example(facts_of({}, labeled([None, True])))
    assert nobody.grounded == "unclear"


def test_no_labels_change_nothing() -> None:
    """Without labels verdict and cause are the judge's own."""
    for found in EVERY_JUDGE:
        facts = facts_of(found, LabelFacts())
        assert judge_example(facts) == judge_example(Facts(facts.example, facts.response, facts.evidence))


def test_labeled_cause_has_a_row() -> None:
    """Every cause of an answer that people rejected is one of the table's, or none where it is unclear."""
    scale = Controls({("support", "en", "prose"): ControlScale((0.9,) * 20, (0.05,) * 20)})
    for found, controls in product(EVERY_JUDGE, (None, scale)):
        _, cause = judge_example(facts_of(found, labeled([False, False], right=False), controls=controls))
        assert cause is not None
        assert cause.name in ROWS_BY_NAME or (cause.name == "" and cause.component == "unclear")
