"""The verdicts of an example: right, grounded, and both together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.analysis.test_attribute import NO_REFERENCE, REFUSAL, UNLABELLED, case, claim

from ragauge.core.example import Example, Relevant
from ragauge.core.facts import (
    Agreement,
    AgreementFacts,
    AnswerFacts,
    Claim,
    Evidence,
    JudgeFacts,
    Rating,
    RelevanceFacts,
)
from ragauge.core.response import ControlledFact, ControlScale, Passage, Readability, Response
from ragauge.core.verdict import ExampleVerdict
from ragauge.diagnosis.causes.attribution import judge_example
from ragauge.diagnosis.causes.decided_facts import read_bands
from ragauge.metrics.facts import Facts


def likely(
    chances: tuple[float, ...],
    stated: float | None = None,
    *,
    readability: Readability | None = None,
    address_p: tuple[float, float, float] | None = None,
    contradicting: tuple[int, ...] = (),
) -> Facts:
    """An answer whose claims and reference claim have these probabilities."""
    claims = tuple(
        Claim(n, f"c{n}", supporting=(1,) if p >= 0.5 else (), contradicting=contradicting if p < 0.5 else (), p=p)
        for n, p in enumerate(chances, 1)
    )
    level: Any = None if address_p is None else "fully"
    found: dict[str, JudgeFacts] = {"verify_answer": AnswerFacts(claims, level, False, address_p=address_p)}
    if stated is not None:
        agrees: list[Agreement | None] = ["absent" for _ in claims]
        found["agree"] = AgreementFacts(tuple(agrees), (stated >= 0.5,), (stated,) * len(claims), (stated,))
    evidence = {name: Evidence("k", name, 1, "j", "ok", facts) for name, facts in found.items()}
    references = () if stated is None else ("r",)
    response = Response("q", passages=(Passage("p1", "d1", "one"),), answer="c1")
    return Facts(Example("q", "Which?", references=references), response, evidence, readability=readability)


def decide(facts: Facts) -> ExampleVerdict:
    return judge_example(facts)[0]


@pytest.mark.parametrize(("chances", "verdict"), [((0.9, 0.8), "passed"), ((0.1, 0.2), "failed")])
def test_claims_decide_whether_an_answer_is_grounded(chances: tuple[float, ...], verdict: str) -> None:
    """Without a reference nothing but the passages is asked; a failure has a reason, a pass none."""
    result = decide(likely(chances))
    assert (result.verdict, result.right, result.grounded) == (verdict, "not_judged", verdict)
    assert bool(result.reason) is (verdict == "failed")


def test_what_lies_between_the_thresholds_is_unclear() -> None:
    """Unclear has a reason and says what would settle it, and no cause is looked for."""
    band = read_bands()["grounded"]
    middle = (band.fail_below + band.pass_from) / 2
    result, cause = judge_example(likely((middle,)))
    assert (result.verdict, result.grounded, cause) == ("unclear", "unclear", None)
    assert result.reason
    assert result.settled_by


@pytest.mark.parametrize(("stated", "right"), [(0.95, "passed"), (0.05, "failed")])
def test_a_reference_decides_whether_an_answer_is_right(stated: float, right: str) -> None:
    """An answer may be grounded and wrong; then the example failed."""
    result = decide(likely((0.95,), stated))
    assert (result.right, result.grounded) == (right, "passed")
    assert result.verdict == right


def test_one_certain_contradiction_fails() -> None:
    """However well the rest is supported."""
    chances = (0.95,) * 9 + (0.05,)
    assert decide(likely(chances, contradicting=(1,))).grounded == "failed"
    assert decide(likely((0.95,) * 9 + (0.4,), contradicting=(1,))).grounded == "passed"


def test_a_conflict_fails_what_few_shared_words_leave_unclear() -> None:
    """A doubtful claim that a passage contradicts fails an answer whose mean does not pass."""
    chances = (0.6, 0.33)
    assert decide(likely(chances)).grounded == "unclear"
    disputed = decide(likely(chances, contradicting=(1,)))
    assert (disputed.grounded, disputed.reason) == ("failed", "a passage contradicts claim 2 (expected share 0.46)")
    assert decide(likely((0.9, 0.9, 0.33), contradicting=(1,))).grounded == "passed"


def test_without_probabilities_any_unsupported_claim_fails() -> None:
    """A verdict that is no probability stands."""
    result = decide(case(claims=(claim(1, 1), claim(2))).facts())
    assert (result.verdict, result.right, result.grounded) == ("failed", "passed", "failed")
    assert decide(case().facts()) == ExampleVerdict("passed", "passed", "passed")


def test_what_cannot_be_read_is_not_judged() -> None:
    """No verdict on grounds where controls show that the judge cannot tell support there."""
    result = decide(likely((0.1,), readability=Readability("xx", "prose")))
    assert (result.verdict, result.grounded) == ("not_judged", "not_judged")


def test_what_seems_off_the_question_is_unclear() -> None:
    """Whether an answer addresses the question is a judge's guess: a sure *no* is in doubt, *fully* proves nothing."""
    assert decide(likely((0.95,), address_p=(0.02, 0.03, 0.95))).right == "unclear"
    assert decide(likely((0.95,), address_p=(0.3, 0.6, 0.1))).right == "not_judged"
    assert decide(likely((0.95,), address_p=(0.9, 0.05, 0.05))).right == "not_judged"
    assert decide(case(**UNLABELLED, **NO_REFERENCE, address="no").facts()).right == "failed"


@pytest.mark.parametrize(
    ("relevance", "fully", "right"),
    [
        ("off", 0.95, "not_judged"),  # it addresses the question more surely than answers to other questions do
        ("off", 0.60, "unclear"),
        ("not read", 0.95, "not_judged"),
        ("not read", 0.60, "unclear"),
        ("not read", 0.10, "unclear"),
        ("on", 0.60, "not_judged"),
    ],
)
def test_only_a_sure_answer_passes_beside_passages_off_the_question(relevance: str, fully: float, right: str) -> None:
    """So an answer and passages of another question do not pass, whether the judge can read relevance or not."""
    clear = ControlScale((0.9,) * 20, (0.1,) * 15 + (0.7,) * 5)
    scales: dict[ControlledFact, ControlScale] = {"support": clear, "address": clear}
    if relevance != "not read":
        scales["relevance"] = ControlScale((0.9,) * 20, (0.1,) * 20)
    p = 0.8 if relevance == "on" else 0.05
    facts = likely((0.95,), address_p=(fully, 0.0, 1 - fully), readability=Readability("en", "prose", scales))
    rated = Evidence("k", "rate_passages", 1, "j", "ok", RelevanceFacts((Rating(1, p >= 0.5, p=p),)))
    result = decide(replace(facts, evidence={**facts.evidence, "rate_passages": rated}))
    assert (result.right, result.grounded) == (right, "passed")


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "unclear"),
        ({"ratings": (False, None, False)}, "unclear"),
        ({"ratings": (False, True, None)}, "failed"),
        ({"answerable": True}, "failed"),
        ({"answerable": False}, "passed"),
        ({"relevant": (Relevant(("a",)),)}, "failed"),
        ({"references": ("One.",)}, "failed"),
        ({"passages": ()}, "failed"),
    ],
)
def test_a_refusal_fails_where_something_tells_that_it_should_not_be(changes: dict[str, Any], verdict: str) -> None:
    """Labels, a reference, explicit ratings or no passages at all; else nobody knows."""
    refusal = case(**{**UNLABELLED, **NO_REFERENCE, **REFUSAL, "agrees": None, **changes})
    assert decide(refusal.facts()).verdict == verdict


def test_labels_alone_pass_a_run_without_answers() -> None:
    """Retrieval that found every gold document passed, where nobody asked for answers; an answer not judged did not."""
    nothing_judged: dict[str, Any] = {"references": (), "claims": None, "met": None, "agrees": None, "citations": None}
    assert decide(case(**nothing_judged, answer=None).facts()).verdict == "passed"
    assert decide(case(**nothing_judged).facts()).verdict == "not_judged"


def test_a_call_that_failed_is_no_pass() -> None:
    """What was asked and not answered leaves the example unclear, with the reason."""
    result = decide(case(failed=("agree",)).facts())
    assert result.verdict == "unclear"
    assert "time-out" in result.reason
