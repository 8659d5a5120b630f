"""Causes of a judge with probabilities: decided where a component is more likely than not, unclear elsewhere."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from ragauge.core.example import Example, Relevant
from ragauge.core.facts import (
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
from ragauge.core.response import ControlledFact, ControlScale, Passage, Readability, Response
from ragauge.diagnosis.causes.attribution import DECISION_ROWS, ROWS, attribute_failure, judge_example, weigh_components
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.metrics.facts import Facts
from ragauge.scores.results.scorecard import Cause
from ragauge.text.table_rows import Layout

HANDED_ON = (Passage("p1", "a", "one"), Passage("p2", "b", "two"))


def example(
    support: float | None,
    found: float | None,
    *,
    labels: tuple[str, ...] = (),
    stated: float = 0.9,
    relevant: float | None = None,
) -> Facts:
    """One claim, one reference claim, and how likely the judge holds each to be in the passages."""
    asked: dict[str, JudgeFacts] = {}
    if support is not None:
        claim = Claim(1, "one", 0, 3, supporting=(1,) if support >= 0.5 else (), p=support)
        asked["verify_answer"] = AnswerFacts((claim,), "fully", False, address_p=(0.9, 0.05, 0.05))
    if found is not None:
        asked["verify_reference"] = ReferenceFacts((ReferenceClaim(1, "r", (1,) if found >= 0.5 else (), found),))
        said = stated >= 0.5
        asked["agree"] = AgreementFacts(("agrees" if said else "absent",), (said,), (stated,), (stated,))
    if relevant is not None:
        asked["rate_passages"] = RelevanceFacts(tuple(Rating(n, relevant >= 0.5, p=relevant) for n in (1, 2)))
    evidence = {name: Evidence("k", name, 1, "test", "ok", facts) for name, facts in asked.items()}
    gold = tuple(Relevant((doc,)) for doc in labels) or None
    references = () if found is None else ("R.",)
    asks = Example("q", "Which?", references=references, relevant=gold)
    says = Response("q", passages=HANDED_ON, answer="one")
    return Facts(asks, says, evidence)


def without_probabilities(facts: Facts) -> Facts:
    """The same by a judge that has verdicts alone."""
    names = ("verify_answer", "verify_reference", "agree")
    answer, reference, agreement = (facts.evidence[name].facts for name in names)
    assert isinstance(answer, AnswerFacts)
    assert isinstance(reference, ReferenceFacts)
    assert isinstance(agreement, AgreementFacts)
    found: dict[str, JudgeFacts] = {
        "verify_answer": replace(answer, claims=tuple(replace(c, p=None) for c in answer.claims), address_p=None),
        "verify_reference": replace(reference, claims=tuple(replace(c, p=None) for c in reference.claims)),
        "agree": replace(agreement, answer_p=(), reference_p=()),
    }
    return replace(facts, evidence={name: replace(facts.evidence[name], facts=value) for name, value in found.items()})


def cause(facts: Facts) -> Cause | None:
    return attribute_failure(facts)


@pytest.mark.parametrize(
    ("support", "found", "name", "p"),
    [
        (0.10, 0.95, "ignored", 0.90),  # 0.05 retrieval, 0.86 generation
        (0.10, 0.60, "ignored", 0.90),  # 0.40, 0.54
        (0.10, 0.52, "", 0.052),  # 0.48, 0.468
        (0.25, 0.60, "", 0.15),  # 0.40, 0.45
        (0.25, 0.20, "retrieval_miss", 0.80),
        (0.10, 0.10, "retrieval_miss", 0.90),
    ],
)
def test_cause_follows_the_probabilities(support: float, found: float, name: str, p: float) -> None:
    """A component is blamed from 0.5 on: evidence missing, R; the answer at fault although it is there, (1 - R) G."""
    decided = cause(example(support, found))
    assert decided is not None
    assert decided.name == name
    assert decided.p == pytest.approx(p, abs=0.001)


def test_unclear_says_what_would_settle_it() -> None:
    """An unclear example names no cause but both odds, the likely causes and what would tell them apart."""
    facts = example(0.1, 0.52)
    decided = cause(facts)
    assert decided is not None
    assert decided.decided_by == "retrieval 0.48, generation 0.47: neither reaches 0.5 (ignored)"
    assert (decided.name, decided.component) == ("", "unclear")
    for remedy in ("gold documents", "--judge", "labels", "ragauge confirm"):
        assert remedy in decided.fix
        assert remedy in decided.lacking[0]


def test_labels_settle_what_the_judge_cannot_tell() -> None:
    """Gold documents that were handed on clear retrieval; one that was missed is a miss for certain."""
    there = cause(example(0.1, 0.52, labels=("a", "b")))
    missed = cause(example(0.9, 0.9, labels=("a", "z")))
    assert there is not None
    assert there.name == "ignored"
    assert missed is not None
    assert (missed.name, missed.p, missed.basis) == ("retrieval_miss", 1.0, "labels")


def test_gold_documents_without_the_claim_have_two_readings() -> None:
    """Documents labelled and there, a reference claim in none: cut away, or more than they say, at even odds."""
    decided = cause(example(0.9, 0.1, labels=("a", "b"), stated=0.2))
    assert decided is not None
    assert decided.name == ""
    certain = cause(example(None, 0.0, labels=("a", "b"), stated=0.2))
    assert certain is not None
    assert (certain.name, certain.p) == ("span_cut", 0.5)


def test_without_a_reference_the_passages_relevance_stands_for_evidence() -> None:
    """No reference: that no passage is relevant says that evidence is missing; that one is, not that it holds any."""
    names = {p: decided.name for p in (0.1, 0.9) for decided in [cause(example(0.2, None, relevant=p))] if decided}
    assert names == {0.1: "retrieval_miss", 0.9: "hallucinated"}


@pytest.mark.parametrize("ratings", [(0.97, 0.99), (0.60, 0.10), (0.05, 0.02)])
def test_topic_alone_never_makes_a_refusal_wrong(ratings: tuple[float, float]) -> None:
    """How likely passages are on the topic does not tell whether they hold the answer: the refusal is unclear.

    With gold documents that came, or a reference that is in the passages, it is the generator's fault.
    """
    found: dict[str, JudgeFacts] = {
        "verify_answer": AnswerFacts((), "no", True, address_p=(0.02, 0.03, 0.95)),
        "rate_passages": RelevanceFacts(tuple(Rating(n, p >= 0.5, p=p) for n, p in enumerate(ratings, 1))),
    }
    response = Response("q", passages=HANDED_ON, answer="I do not know.")

    def judge(question: Example, **more: JudgeFacts) -> tuple[str, str]:
        evidence = {key: Evidence("k", key, 1, "test", "ok", facts) for key, facts in {**found, **more}.items()}
        verdict, decided = judge_example(Facts(question, response, evidence))
        return verdict.verdict, "" if decided is None else decided.name

    assert judge(Example("q", "Which?")) == ("unclear", "")
    assert judge(Example("q", "Which?", relevant=(Relevant(("a",)),))) == ("failed", "wrong_refusal")
    there = ReferenceFacts((ReferenceClaim(1, "r", (1,), 0.95),))
    assert judge(Example("q", "Which?", references=("R.",)), verify_reference=there) == ("failed", "wrong_refusal")


def test_certain_verdicts_decide_as_ever() -> None:
    """Of a judge without probabilities nothing is unclear: the first row of the table decides."""
    rng = Random(8)
    for _ in range(300):
        facts = without_probabilities(
            example(float(rng.random() < 0.5), float(rng.random() < 0.5), stated=float(rng.random() < 0.5))
        )
        decided = cause(facts)
        first = next((row.name for row in DECISION_ROWS if hasattr(row.decide(CauseContext(facts)), "basis")), None)
        assert (decided.name if decided else None) == first


def test_odds_are_probabilities() -> None:
    """Over random probabilities the odds lie in [0, 1], also together, and unclear means that neither is 0.5."""
    rng = Random(9)
    seen = 0
    for _ in range(500):
        facts = example(rng.random(), rng.random(), stated=rng.random())
        found, decided = weigh_components(CauseContext(facts), DECISION_ROWS), cause(facts)
        assert 0 <= found.retrieval <= 1
        assert 0 <= found.generation <= 1 - found.retrieval + 1e-12
        if decided is not None and not decided.name:
            seen += 1
            assert max(found.retrieval, found.generation) < 0.5
        elif decided is not None:
            assert max(found.retrieval, found.generation) >= 0.5
    assert 10 < seen < 250
    assert [row.name for row in ROWS][:2] == ["system_failed", "unclear"]


NO = (0.01,) * 45 + (0.02, 0.05, 0.1, 0.2, 0.4)  # known-no pairs: three in fifty score 0.1 or more


def readable(layout: Layout = "prose", yes: float = 0.95) -> Readability:
    """A judge that tells both ends apart, unless known-yes pairs score as low as known-no ones."""
    scale, clear = ControlScale((yes,) * 20, NO), ControlScale((1.0,) * 20, (0.0,) * 20)
    scales: dict[ControlledFact, ControlScale] = {"support": clear, "address": clear, "agreement": clear}
    return Readability("en", layout, {**scales, "reference": scale, "relevance": scale})


@pytest.mark.parametrize(("found", "name"), [(0.02, "retrieval_miss"), (0.1, "retrieval_miss"), (0.2, ""), (0.4, "")])
def test_retrieval_is_blamed_by_scores_of_known_no_pairs_alone(found: float, name: str) -> None:
    """A score that hardly any false pair reaches is open: neither retrieval nor generation is blamed."""
    for facts in (example(0.1, found), example(0.1, None, relevant=found)):
        decided = cause(replace(facts, readability=readable()))
        assert decided is not None
        assert (decided.name, decided.component) == (name, "retrieval" if name else "unclear")
        without = cause(facts)
        assert without is not None
        assert without.name == "retrieval_miss"  # no controls: below 0.5 is a no


def test_nothing_unread_is_blamed() -> None:
    """A judge that cannot read these texts, or a table of one cell a line, lays no failure in either component."""
    for readability in (readable(yes=0.02), readable("cells")):
        for facts in (example(0.1, 0.01), example(0.1, None, relevant=0.01)):
            decided = cause(replace(facts, readability=readability))
            assert decided is not None
            assert (decided.name, decided.component) == ("", "unclear")
    missed = cause(replace(example(0.9, 0.9, labels=("z",)), readability=readable("cells")))
    assert missed is not None
    assert (missed.name, missed.basis) == ("retrieval_miss", "labels")


@pytest.mark.parametrize(
    "query",
    [
        "Summarise the document.",
        "Translate this to French",
        "Hello!",
        "Fasse diesen Text zusammen",
        "请总结这篇文章",
        "この文書を要約してください",
        "이 문서를 요약해 주세요",
        "لخص هذا النص",
    ],
)
def test_a_question_without_a_topic_has_no_retrieval_to_blame(query: str) -> None:
    """A greeting, or a request about the text that is given, is no search: no score of any passage blames retrieval."""
    for facts in (example(0.1, 0.02), example(0.1, None, relevant=0.02), example(0.0, 0.0)):
        asked = replace(facts, example=replace(facts.example, query=query))
        decided = cause(asked)
        assert decided is not None
        assert decided.component != "retrieval"


def test_the_wrong_piece_of_the_right_document_makes_no_wrong_refusal() -> None:
    """Document labels clear retrieval of a refusal only where the passages hold half of the reference, or no pieces."""
    says = Response("q", passages=HANDED_ON, answer="I do not know.")
    refusal = AnswerFacts((), "no", True, address_p=(0.02, 0.03, 0.95))
    gold = Example("q", "Which?", references=("R.",), relevant=(Relevant(("a",)),))
    names = {}
    for found in (0.1, 0.45, 0.9):
        reference = ReferenceFacts((ReferenceClaim(1, "r", (), found),))
        facts: dict[str, JudgeFacts] = {"verify_answer": refusal, "verify_reference": reference}
        evidence = {name: Evidence("k", name, 1, "test", "ok", one) for name, one in facts.items()}
        decided = cause(Facts(gold, says, evidence))
        names[found] = "" if decided is None else decided.name
    assert names == {0.1: "", 0.45: "", 0.9: "wrong_refusal"}
    pieces = replace(says, passages=(Passage("a#1", "a", "one"), Passage("a#2", "a", "two")))
    only = {"verify_answer": Evidence("k", "verify_answer", 1, "test", "ok", refusal)}
    decided = cause(Facts(replace(gold, references=()), pieces, only))
    assert decided is not None
    assert decided.name == ""
