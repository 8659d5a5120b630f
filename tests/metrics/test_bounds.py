"""What missing verdicts leave open: the bounds against every completion, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from math import prod
from random import Random
from typing import Any, ClassVar

import pytest
from tests.building import (
    agreement_facts,
    answer_facts,
    claim,
    evidence,
    example,
    reference_facts,
    relevance_facts,
    response,
)

from ragauge.core.facts import AnswerFacts, Claim, Evidence, ReferenceClaim
from ragauge.metrics import measure
from ragauge.metrics.base import Metric, MetricResult
from ragauge.metrics.catalogue import list_questions, parse_metric
from ragauge.metrics.catalogue_entries import list_samples
from ragauge.metrics.facts import JUDGE_FACTS, Facts
from ragauge.metrics.measure import measure_all, measure_metric

Draw = Callable[..., Facts]
ASKING = [metric for metric in list_samples() if list_questions([metric])]
MOST = 500  # completions tried for one example
Place = tuple[str, str, int | None]  # question, field of its facts, index where the field is a tuple


def subsets(n: int) -> list[tuple[int, ...]]:
    numbers = range(1, n + 1)
    return list(chain.from_iterable(combinations(numbers, size) for size in range(n + 1)))


def places(found: Mapping[str, Evidence]) -> Iterator[Place]:
    """Every verdict there is: which question, which field, which item."""
    for question, one in found.items():
        fields = ("claims", "ratings", "answer", "reference", "met", "address", "refuse")
        for name in (name for name in fields if hasattr(one.facts, name)):
            value = getattr(one.facts, name)
            if isinstance(value, tuple):
                yield from ((question, name, index) for index in range(len(value)))
            else:
                yield question, name, None


def verdicts(place: Place, item: Any, n: int) -> list[Any]:
    """Everything that a verdict could be, by what the verdict is."""
    question, name, _ = place
    match question, name:
        case "verify_answer", "claims":
            return [
                replace(item, status="ok", supporting=s, contradicting=x, strength=strength, p=None)
                for s in subsets(n)
                for x in (subsets(n) if n < 3 else [(), (n,)])
                for strength in (("direct", "implied") if s else (None,))
            ]
        case "verify_reference", "claims":
            return [replace(item, supporting=numbers, p=None) for numbers in subsets(n)]
        case _, "ratings":
            return [replace(item, relevant=mark, p=None) for mark in (False, True)]
        case "agree", "answer":
            return ["agrees", "contradicts", "absent"]
        case _, "address":
            return ["fully", "partly", "no"]
    return [False, True]


def missing(place: Place, item: Any) -> Any:
    question, name, _ = place
    if question == "verify_answer" and name == "claims":
        return replace(item, status="failed", supporting=(), contradicting=(), strength=None)
    if name == "claims":
        return replace(item, supporting=None)
    return replace(item, relevant=None) if name == "ratings" else None


def item_at(found: Mapping[str, Evidence], place: Place) -> Any:
    question, name, index = place
    value = getattr(found[question].facts, name)
    return value if index is None else value[index]


def put(facts: Facts, filled: Mapping[Place, Any]) -> Facts:
    """The example with these verdicts in place of its own."""
    found = dict(facts.evidence)
    for (question, name, index), item in filled.items():
        held: Any = found[question].facts
        value = getattr(held, name)
        new = item if index is None else (*value[:index], item, *value[index + 1 :])
        changed = {name: new, **certain(held, name, index)}
        found[question] = replace(found[question], facts=replace(held, **changed))
    return replace(facts, evidence=found)


def certain(facts: Any, name: str, index: int | None) -> dict[str, Any]:
    """The field beside a verdict that holds its probability, without that of this verdict."""
    known = getattr(facts, f"{name}_p", None)
    if not known:
        return {}
    return {f"{name}_p": None if index is None else (*known[:index], None, *known[index + 1 :])}


def gaps(rng: Random, facts: Facts) -> list[Place]:
    """A few places whose verdicts will be missing, few enough to try every completion."""
    every = [place for place in places(facts.evidence) if place[0] != "guess_questions"]
    n = len(facts.response.passages or ())
    chosen: list[Place] = []
    for place in rng.sample(every, min(len(every), 8)):
        sizes = [len(verdicts(one, item_at(facts.evidence, one), n)) for one in [*chosen, place]]
        if prod(sizes) <= MOST:
            chosen.append(place)
    return chosen


def completions(facts: Facts, chosen: list[Place]) -> Iterator[Facts]:
    n = len(facts.response.passages or ())
    options = [verdicts(place, item_at(facts.evidence, place), n) for place in chosen]
    for choice in product(*options):
        yield put(facts, dict(zip(chosen, choice, strict=True)))


def agrees_with(metric: Metric, result: MetricResult, whole: list[MetricResult]) -> None:
    """The result is what all completions have in common, or fails with their exact bounds."""
    values = [one.value for one in whole if one.value is not None]
    if len({one.status for one in whole}) == 1 and (not values or max(values) - min(values) < 1e-12):
        assert result.status == whole[0].status, (metric, result)
        assert result.value == pytest.approx(whole[0].value, abs=1e-12)
        return
    assert result.status == "failed", (metric, result)
    assert result.reason
    if values:
        assert result.low == pytest.approx(min(values), abs=1e-12), (metric, result)
        assert result.high == pytest.approx(max(values), abs=1e-12), (metric, result)


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.prove) for n in range(6, 30))])
def test_bounds_are_those_of_all_completions(draw: Draw, seed: int) -> None:
    """With some verdicts missing every metric is scored if they cannot matter, else bounded exactly."""
    rng = Random(seed)
    facts = draw(rng, passages=rng.choice([0, 1, 2, 3, 4]), claims=4, reference=3)
    chosen = gaps(rng, facts)
    found = measure_all(ASKING, put(facts, {place: missing(place, item_at(facts.evidence, place)) for place in chosen}))
    whole = [measure_all(ASKING, one) for one in completions(facts, chosen)]
    for i, metric in enumerate(ASKING):
        agrees_with(metric, found[i], [one[i] for one in whole])


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.prove) for n in range(6, 30))])
def test_search_finds_the_same_bounds(draw: Draw, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """For separable metrics the search that is used where completions are too many finds the same bounds.

    Where a completion has no value the search answers with the metric's range, which encloses them.
    """
    rng = Random(1000 + seed)
    facts = draw(rng, passages=4, claims=5, reference=5)
    every = [place for place in places(facts.evidence) if place[0] != "guess_questions"]
    chosen = rng.sample(every, min(len(every), 4))
    open_facts = put(facts, {place: missing(place, item_at(facts.evidence, place)) for place in chosen})
    separable = [metric for metric in ASKING if metric.separable]
    monkeypatch.setattr(measure, "MAX_TRIED", 10**6)
    exact = measure_all(separable, open_facts)
    monkeypatch.setattr(measure, "MAX_TRIED", 1)
    for metric, tried, searched in zip(separable, exact, measure_all(separable, open_facts), strict=True):
        if tried != searched:
            assert (searched.status, (searched.low, searched.high)) == ("failed", metric.range), (metric, tried)


def test_ranking_bounds_hold_for_many_passages() -> None:
    """A claim without verdict among 20 passages: the ranked share is bounded by the best and the worst ranking."""
    facts = Facts(example(), response(20), evidence(answer_facts(claim(1), claim(20), claim(failed=True))))
    result = measure_metric(parse_metric("context_utilization"), facts)
    # best: the claim adds nothing but passages 2 to 19, so that all are used: 1. worst: the claim adds 11 to 19 or
    # more from the end; by hand the least of (1 + sum over i = t..20 of (i - t + 2) / i) / (22 - t) over t
    least = min((1 + sum((i - t + 2) / i for i in range(t, 21))) / (22 - t) for t in range(2, 21))
    assert result.status == "failed"
    assert result.high == pytest.approx(1, abs=1e-12)
    assert result.low == pytest.approx(least, abs=1e-12)


# ---- status rules ----


def of(name: str, answer: AnswerFacts, passages: int | None = 2) -> MetricResult:
    return measure_metric(parse_metric(name), Facts(example(), response(passages), evidence(answer)))


def test_one_missing_verdict_of_ten() -> None:
    """Of 10 claims 7 are supported and 1 has no verdict: no value, low 0.7, high 0.8."""
    result = of("faithfulness", answer_facts(*[claim(1)] * 7, *[claim()] * 2, claim(failed=True)))
    assert (result.status, result.value, result.low, result.high) == ("failed", None, 0.7, 0.8)
    assert result.reason == "1 verdict missing"


def test_missing_verdicts_of_many_claims_are_bounded() -> None:
    """Of 40 claims 20 lack a verdict: far too many completions to try, still exact bounds."""
    claims = answer_facts(*[claim(1)] * 10, *[claim(contradicting=[2])] * 10, *[claim(failed=True)] * 20)
    for name, low, high in (("faithfulness", 0.25, 0.75), ("contradicted", 0.25, 0.75), ("not_in_context", 0, 0.5)):
        result = of(name, claims, passages=8)
        assert (result.status, result.low, result.high) == ("failed", low, high)


def test_verdict_that_cannot_matter_leaves_it_scored() -> None:
    """A claim without verdict where nothing was retrieved, or a passage that is used anyway, changes no value."""
    assert of("faithfulness", answer_facts(claim(failed=True)), passages=0).value == 0
    assert of("ignored_top_ranked", answer_facts(claim(1), claim(failed=True))).value == 0
    assert of("passages_used", answer_facts(claim(1, 2), claim(failed=True))).value == 1


def test_failed_sentence_gives_the_range() -> None:
    """A sentence whose claims could not be had leaves every metric over claims failed, bounded by its range."""
    facts = Facts(
        example("One.", "Two."),
        response(3, citations=[(0, 10, "d1")]),
        evidence(
            answer_facts(claim(1), claim(text=None)),
            reference_facts([1], []),
            relevance_facts(True, False, False),
            agreement_facts(["agrees", None], [True, False]),
        ),
    )
    over_claims = [metric for metric in ASKING if {*metric.needs.values()} & CLAIM_FACTS]
    assert len(over_claims) > 15
    for metric in over_claims:
        result = measure_metric(metric, facts)
        assert result.status == "failed", metric
        assert (result.low, result.high) == metric.range, metric


CLAIM_FACTS = {"verify_answer.claims", "verify_answer.support", "verify_answer.used", "agree.answer"}


def test_unread_sentence_may_state_any_reference_claim() -> None:
    """A sentence that could not be read may state what the others do not: answer_recall is bounded from below only."""
    found = evidence(answer_facts(claim(1), claim(text=None)), agreement_facts(["agrees", None], [True, False]))
    result = measure_metric(parse_metric("answer_recall"), Facts(example("One.", "Two."), response(), found))
    assert (result.status, result.low, result.high) == ("failed", 0.5, 1.0)


def test_failed_question_that_cannot_matter() -> None:
    """A question that failed as a whole is not needed where the other facts decide."""
    refused = answer_facts(refuse=True, address="no")
    aspects = example("One.", aspects=("a", "b"))
    covered = evidence(refused, cover_aspects="timed out", agree="timed out")
    assert measure_metric(parse_metric("completeness"), Facts(aspects, response(), covered)).value == 0
    assert measure_metric(parse_metric("answer_recall"), Facts(aspects, response(), covered)).value == 0
    supported = evidence(answer_facts(claim(1), claim(2)), agree="timed out")
    assert measure_metric(parse_metric("hallucination:by=reference"), Facts(aspects, response(), supported)).value == 0
    half = evidence(answer_facts(claim(1), claim()), agree="timed out")
    result = measure_metric(parse_metric("hallucination:by=reference"), Facts(aspects, response(), half))
    assert (result.status, result.low, result.high, result.reason) == ("failed", 0.0, 0.5, "timed out")


def test_failed_refusal_and_address() -> None:
    """No verdict on whether the answer refuses, or addresses the question, fails what depends on it."""
    unknown = Facts(example(answerable=True), response(), evidence(answer_facts(claim(1), refuse=None)))
    assert (
        measure_metric(parse_metric("answer_relevance"), unknown).low,
        measure_metric(parse_metric("answer_relevance"), unknown).high,
    ) == (0, 1)
    assert measure_metric(parse_metric("refusal_correctness"), unknown).status == "failed"
    assert measure_metric(parse_metric("over_refusal"), unknown).status == "failed"
    assert measure_metric(parse_metric("missed_refusal"), unknown).status == "not_applicable"
    assert measure_metric(parse_metric("faithfulness"), unknown).value == 1
    for address, refuse, status, low in ((None, True, "scored", 0.0), (None, False, "failed", 0.0)):
        facts = Facts(example(), response(), evidence(answer_facts(claim(1), address=address, refuse=refuse)))
        result = measure_metric(parse_metric("answer_relevance"), facts)
        assert (result.status, result.low) == (status, low)
    unaddressed = Facts(example(), response(), evidence(answer_facts(address="no", refuse=None)))
    assert measure_metric(parse_metric("answer_relevance"), unaddressed).value == 0


def test_agree_fails_with_the_claims_that_it_works_on() -> None:
    """Where verify_answer failed, agree could not be asked: its metrics are failed, not not_applicable."""
    facts = Facts(example("One."), response(), evidence(verify_answer="timed out"))
    for name in ("answer_precision", "answer_recall", "answer_correctness", "answer_grade", "self_knowledge"):
        assert measure_metric(parse_metric(name), facts).status == "failed"
    assert measure_metric(parse_metric("answer_recall"), facts).reason == "timed out"


@dataclass(frozen=True, slots=True)
class OddSupport(Metric):
    """1 if the claims together rest on an odd number of passages: nothing that a search could climb."""

    measures: ClassVar = "generation"
    needs: ClassVar = {"claims": "verify_answer.support", "found": "verify_reference.claims"}

    def value(self, claims: Sequence[Claim], found: Sequence[ReferenceClaim]) -> float:
        used = {n for each in claims for n in each.supporting} | {n for each in found for n in each.supporting or ()}
        return float(len(used) % 2)


@pytest.mark.parametrize(("passages", "bounded"), [(0, False), (1, True), (4, True), (5, True), (20, True)])
def test_metric_that_is_not_separable(passages: int, bounded: bool) -> None:
    """A metric that declares nothing is tried on every completion, or bounded by its range where they are too many."""
    for answer, reference in (
        (answer_facts(claim(failed=True)), reference_facts([])),
        (answer_facts(claim()), reference_facts(None)),
    ):
        result = measure_metric(OddSupport(), Facts(example("One."), response(passages), evidence(answer, reference)))
        if bounded:
            assert (result.status, result.low, result.high) == ("failed", 0, 1)
        else:
            assert result.value == 0


def test_every_judged_fact_says_what_it_may_lack() -> None:
    """A fact that a judge gives is known to the measure, so that a missing verdict is never read as a verdict."""
    known = {*measure.SCALARS, *measure.MARKS, *measure.ITEMS}
    whole = {"verify_answer.claims", "meet_criteria.verdicts", "meet_criteria.required"}  # or failed as a whole
    assert {*JUDGE_FACTS} - known == whole


def test_unbounded_range_has_no_bounds() -> None:
    """A failed amount has no least or greatest value."""
    assert MetricResult.failed("gone", (0.0, float("inf"))) == MetricResult("failed", low=0.0, reason="gone")
