"""Acceptance cases about evidence arithmetic, failures and names, by their numbers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from random import Random
from typing import Any

import pytest
from tests.building import (
    agreement_facts,
    answer_facts,
    claim,
    evidence,
    example,
    passage,
    reference_facts,
    relevance_facts,
    response,
)

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import Example, Relevant, Span
from ragauge.core.facts import Claim, Evidence, SimilarityFacts
from ragauge.core.response import REDACTED, Response
from ragauge.judges.inputs import build_evidence_key, build_inputs
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import list_classes, list_questions, parse_metric
from ragauge.metrics.catalogue_entries import list_samples
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric

ABOUT_PASSAGES = [m for m in list_samples() if any(fact.endswith(".support") for fact in m.needs.values())]


def scored(
    name: str, found: dict[str, Evidence], of: Response | None = None, about: Example | None = None
) -> MetricResult:
    return measure_metric(parse_metric(name), Facts(about or example("One.", "Two."), of or response(2), found))


@pytest.mark.parametrize(("relevant", "plain", "ranked"), [([1] + [0] * 9, 0.1, 1.0), ([0, 1], 0.5, 0.5)])
def test_case_14_ranked_precision_is_exact(relevant: list[int], plain: float, ranked: float) -> None:
    """One relevant passage on top gives ranked precision of exactly 1; noise after the last hit does not count."""
    found = evidence(relevance_facts(*map(bool, relevant)))
    assert scored("context_precision", found, response(len(relevant))).value == plain
    assert scored("context_precision:ranked=true", found, response(len(relevant))).value == ranked


def test_case_15_two_thirds_faithful_and_half_recalled() -> None:
    """Two of three claims supported and one of two reference claims found: .667 and .5."""
    found = evidence(answer_facts(claim(1), claim(2), claim()), reference_facts([1], []))
    assert scored("faithfulness", found).value == pytest.approx(2 / 3, abs=1e-15)
    assert scored("context_recall", found).value == 0.5


@pytest.mark.parametrize(
    ("answerable", "correct", "relevance"), [(False, 1.0, "undefined"), (True, 0.0, 0.0), (None, 0.0, 0.0)]
)
def test_case_16_refusal(answerable: bool | None, correct: float, relevance: float | str) -> None:
    """A refusal has no faithfulness; it is right on an unanswerable question and worth 0 on any other."""
    about = example("One.", answerable=answerable, aspects=("a",))
    found = evidence(
        answer_facts(refuse=True, address="no"),
        agreement_facts([], [False]),
        cover_aspects="not asked of a refusal",
        rate_answer="no reply",
    )
    assert scored("faithfulness", found, about=about).status == "undefined"
    assert scored("answer_precision", found, about=about).status == "undefined"
    assert scored("answer_recall", found, about=about).value == 0
    assert scored("answer_correctness", found, about=about).value == 0
    assert scored("answer_grade", found, about=about).value == 0
    assert scored("refusal_correctness", found, about=about).value == correct
    for name in ("answer_relevance", "answer_relevance:by=sentence", "completeness"):
        result = scored(name, found, about=about)
        assert (result.status if isinstance(relevance, str) else result.value) == relevance


@pytest.mark.parametrize(
    ("labels", "correct", "over"),
    [
        ({"relevant": (Relevant(("d1",)),)}, 0.0, 1.0),
        ({"relevant_chunks": (Relevant(("c1", "c2")),)}, 0.0, 1.0),
        ({"gold_spans": (Span("d1", 0, 4),)}, 0.0, 1.0),
        ({"references": ("王明经营磨坊。",)}, 0.0, 1.0),
        ({"references": ("Die Mühle führt Ada Brandt.",), "answerable": False}, 1.0, None),
        ({"references": ("I don't know.", "Ada Brandt")}, None, None),
        ({"relevant": (Relevant(("d1",), 0.0),)}, None, None),
        ({"relevant": (), "references": ()}, None, None),
        ({}, None, None),
    ],
)
def test_gold_or_a_reference_makes_a_question_answerable(
    labels: dict[str, Any], correct: float | None, over: float | None
) -> None:
    """A refusal of a question with gold or an answer is wrong; what the set says comes first; else it is not known."""
    of, found = Example("q1", "Who runs the mill?", **labels), evidence(answer_facts(refuse=True, address="no"))
    assert scored("refusal_correctness", found, about=of).value == correct
    assert scored("over_refusal", found, about=of).value == over
    answered = evidence(answer_facts(claim(1), refuse=False))
    assert scored("refusal_correctness", answered, about=of).value == (None if correct is None else 1.0 - correct)


@pytest.mark.parametrize(
    ("answer", "marks", "value", "bounds"),
    [
        ("One. Two. Three.", (True, False, True), 2 / 3, None),
        ("One. Two. Three.", (True, None, False), None, (1 / 3, 2 / 3)),
        ("", (), "undefined", None),
        (None, (), "not_applicable", None),
    ],
)
def test_relevance_by_sentence(
    answer: str | None, marks: tuple[bool | None, ...], value: float | str | None, bounds: tuple[float, float] | None
) -> None:
    """The share of sentences on the question; one without verdict bounds it, none leave it undefined."""
    found = evidence(answer_facts(claim(1)), rate_answer=relevance_facts(*marks, unit="sentence"))
    result = measure_metric(
        parse_metric("answer_relevance:by=sentence"), Facts(example(), response(answer=answer), found)
    )
    if isinstance(value, str):
        assert result.status == value
    else:
        assert result.value == (None if value is None else pytest.approx(value))
        assert (result.low, result.high) == pytest.approx(bounds or (value, value))


def test_case_17_claim_that_passages_are_silent_on_is_unfaithful() -> None:
    """A claim neither supported nor contradicted is unfaithful and counts as not_in_context."""
    found = evidence(answer_facts(claim()))
    values = [scored(name, found).value for name in ("faithfulness", "not_in_context", "contradicted", "unsupported")]
    assert values == [0, 1, 0, 1]


@pytest.mark.parametrize("support_asked", [True, False])
def test_case_18_claims_without_passages(support_asked: bool) -> None:
    """With claims and nothing retrieved, faithfulness is 0 whether or not support was asked; the identities hold."""
    found = evidence(
        answer_facts(claim(), claim(), claim(), support_asked=support_asked),
        agreement_facts(["agrees", "absent", "contradicts"], [True, False]),
        reference_facts([], []),
        relevance_facts(),
    )
    empty = response(0)
    assert scored("faithfulness", found, empty).value == 0
    assert scored("hallucination:by=reference", found, empty).value == pytest.approx(2 / 3)
    assert scored("self_knowledge", found, empty).value == pytest.approx(1 / 3)
    assert scored("not_in_context", found, empty).value == 1
    assert scored("answer_precision", found, empty).value == pytest.approx(1 / 3)
    assert scored("context_recall", found, empty).value == 0
    for name in ("context_precision", "context_precision:by=reference", "passages_used", "context_utilization"):
        assert scored(name, found, empty).status == "undefined"
    assert scored("ignored_top_ranked", found, empty).status == "undefined"


def test_case_23_citation_of_nothing_retrieved() -> None:
    """A citation of [9] among five passages lowers citation precision."""
    found = evidence(answer_facts(claim(1), claim(2)))
    right = response(5, citations=[(0, 10, "d1"), (10, 20, "d2")])
    wrong = response(5, citations=[(0, 10, "d1"), (10, 20, "d9")])
    assert scored("citation_precision", found, right).value == 1
    assert scored("citation_precision", found, wrong).value == 0.5
    if "invented_citations" in list_classes():
        assert scored("invented_citations", found, wrong).value == 0.5


def test_case_24_citation_of_another_claims_passage() -> None:
    """A cited passage that supports another claim only is a wrong citation."""
    found = evidence(answer_facts(claim(1), claim(2)))
    swapped = response(2, citations=[(0, 10, "d2"), (10, 20, "d1")])
    assert scored("citation_precision", found, swapped).value == 0
    assert scored("citation_recall", found, swapped).value == 0
    assert scored("citation_f1", found, swapped).value == 0


def test_citation_names_passage_or_document() -> None:
    """A citation may name a passage or a document; the document stands for any of its passages."""
    passages = [passage("d1", passage_id="p1"), passage("d1", passage_id="p2"), passage("d2", passage_id="p3")]
    found = evidence(answer_facts(claim(2)))
    for target, right in (("p1", 0), ("p2", 1), ("d1", 1), ("d2", 0), ("p7", 0)):
        assert scored("citation_precision", found, response(passages, citations=[(0, 10, target)])).value == right
    both = evidence(answer_facts(claim(1, 2)))
    for target, every in (("p1", 0), ("d1", 1)):
        cited = response(passages, citations=[(0, 5, target)])
        assert scored("citation_recall", both, cited).value == 1
        assert scored("citation_recall:cited=all", both, cited).value == every


def test_citation_counts_where_it_overlaps() -> None:
    """A citation belongs to the claims whose sentence it overlaps; a point at its end belongs to the sentence."""
    found = evidence(answer_facts(claim(1), claim(1), claim(1)))  # sentences [0, 10), [10, 20), [20, 30)
    for citation, recall in (((0, 10, "d1"), 1), ((9, 11, "d1"), 2), ((20, 20, "d1"), 1), ((0, 30, "d1"), 3)):
        result = scored("citation_recall", found, response(2, citations=[citation]))
        assert (result.numerator, result.denominator) == (recall, 3)
    twice = response(2, citations=[(0, 4, "d1"), (5, 9, "d1"), (5, 9, "d2")])
    assert scored("citation_precision", found, twice).denominator == 2


@pytest.mark.parametrize(
    ("claims", "ignored", "misaligned"),
    [
        ([claim(2), claim(3)], 1.0, 1.0),
        ([claim()], 1.0, 0.0),
        ([claim(1, 2)], 0.0, 0.0),
        ([], "undefined", "undefined"),
    ],
)
def test_case_25_top_passage(claims: list[Claim], ignored: float | str, misaligned: float | str) -> None:
    """Used {2,3}, none, {1,2}, a refusal: ignored_top_ranked 1, 1, 0, undefined; misalignment 1, 0, 0, undefined."""
    found = evidence(answer_facts(*claims, refuse=not claims), relevance_facts(True, False, False))
    expected = {"ignored_top_ranked": ignored, "ignored_top_relevant": ignored, "misalignment": misaligned}
    for name, outcome in expected.items():
        result = scored(name, found, response(3))
        assert (result.status if isinstance(outcome, str) else result.value) == outcome


def test_case_25_citation_alone_is_use() -> None:
    """A passage that is cited counts as used although it supports nothing."""
    found = evidence(answer_facts(claim(2)), relevance_facts(False, True))
    cited = response(2, citations=[(0, 10, "d1")])
    assert scored("ignored_top_ranked", found, cited).value == 0
    assert scored("passages_used", found, cited).value == 1
    assert scored("ignored_top_relevant", found, cited).status == "not_applicable"


@pytest.mark.parametrize(
    ("of", "why"),
    [
        (response(None), "passages not recorded"),
        (response(None, missing={"passages": "no such column"}), "passages not recorded: no such column"),
        (response([passage(text=REDACTED)]), "texts of the passages not recorded: redacted"),
        (response([passage(text=None)]), "texts of the passages not recorded: no text"),
    ],
)
def test_case_26_passages_not_recorded(of: Response, why: str) -> None:
    """Without recorded passages metrics about support are not_applicable, with the reason; correctness still works."""
    found = evidence(
        answer_facts(claim(), support_asked=False), agreement_facts(["agrees"], [True, False]), verify_reference="x"
    )
    assert len(ABOUT_PASSAGES) > 10
    for metric in ABOUT_PASSAGES:
        result = measure_metric(metric, Facts(example("One.", "Two."), replace(of, citations=()), found))
        assert (result.status, result.reason) == ("not_applicable", why)
    assert scored("context_recall", found, of).reason == why
    assert scored("context_precision", found, of).reason == why
    assert scored("answer_precision", found, of).value == 1
    assert scored("answer_recall", found, of).value == 0.5
    assert scored("answer_relevance", found, of).value == 1


def test_case_26_label_missing_comes_before_failure() -> None:
    """What lacks a label is not_applicable even where the judge or the system failed as well."""
    about = example()
    dead = evidence(verify_answer="timed out", agree="timed out", verify_reference="timed out")
    for of in (response(2), response(None, error="boom")):
        for name in ("answer_precision", "context_recall", "answer_correctness", "hallucination:by=reference"):
            result = scored(name, dead, of, about)
            assert (result.status, result.reason) == ("not_applicable", "no reference answer")
        assert scored("refusal_correctness", dead, of, Example("q1", "Who?")).status == "not_applicable"
        assert scored("faithfulness", dead, of, about).status == "failed"
    unanswerable = replace(about, answerable=False)
    assert scored("over_refusal", dead, about=unanswerable).status == "not_applicable"
    assert scored("missed_refusal", dead, about=unanswerable).status == "failed"


def test_case_20_reference_without_claims() -> None:
    """A reference that makes no claims leaves answer_correctness not_applicable, never 1."""
    about = example("Hm.", reference_claims=())
    found = evidence(answer_facts(claim(1)), agreement_facts(["absent"], []), reference_facts())
    for name in ("answer_correctness", "answer_recall", "answer_grade", "context_recall", "evidence_utilization"):
        result = scored(name, found, about=about)
        assert (result.status, result.reason) == ("not_applicable", "the reference makes no claims")


# ---- failures and means ----


def outcomes(count: int, failing: Callable[[int], bool]) -> list[MetricResult]:
    """Faithfulness of examples whose first half is bad; the judge fails on some."""
    results = []
    for i in range(count):
        good = evidence(answer_facts(claim(1) if i >= count // 2 else claim()))
        results.append(scored("faithfulness", evidence(verify_answer="timed out") if failing(i) else good))
    return results


def test_case_41_judge_dies_on_the_worst() -> None:
    """A judge that dies on the five worst of ten leaves five failed scores that could be anything, not five zeros."""
    results = outcomes(10, lambda i: i < 5)
    assert Counter(result.status for result in results) == {"scored": 5, "failed": 5}
    assert [result.value for result in results] == [None] * 5 + [1.0] * 5
    assert sum(result.low or 0.0 for result in results) / 10 == 0.5  # the mean, for all that is known, is .5 …
    assert sum(result.high or 0.0 for result in results) / 10 == 1.0  # … to 1


def test_case_42_bounds_of_the_mean_enclose_it(draw: Callable[..., Facts]) -> None:
    """Whichever examples fail, the mean over all lies between the means with failed scores at low and at high."""
    rng = Random(42)
    for metric in (
        parse_metric("faithfulness"),
        parse_metric("answer_recall"),
        parse_metric("context_precision:ranked=true"),
    ):
        examples = [draw(rng) for _ in range(40)]
        whole = [measure_metric(metric, facts) for facts in examples]
        true = [result for result in whole if result.value is not None]
        hit = [
            measure_metric(metric, silenced(facts)) if rng.random() < 0.5 else result
            for facts, result in zip(examples, whole, strict=True)
        ]
        low = sum(new.low or 0.0 for new, old in zip(hit, whole, strict=True) if old.value is not None)
        high = sum(new.high or 0.0 for new, old in zip(hit, whole, strict=True) if old.value is not None)
        assert low - 1e-12 <= sum(result.value or 0.0 for result in true) <= high + 1e-12


def silenced(facts: Facts) -> Facts:
    """The example with every question failed."""
    dead = {name: replace(one, status="failed", facts=None) for name, one in facts.evidence.items()}
    return replace(facts, evidence=dead)


def test_case_43_all_failed_is_valid_json() -> None:
    """Where everything failed there is no value, not 0 and not NaN, and the results are valid JSON."""
    results = outcomes(4, lambda _: True)
    assert [result.value for result in results] == [None] * 4
    assert '"value": null' in json.dumps([asdict(result) for result in results], allow_nan=False)


# ---- judge once, name once ----


def test_case_95_reference_is_not_seen_by_verify_answer() -> None:
    """Two examples that differ only in the reference are one verify_answer, by input and by key."""
    of = response(2, "Bern.")
    first, second = (build_inputs("verify_answer", example(text), of, {}) for text in ("Bern.", "Basel."))
    assert first is not None
    assert second is not None
    assert first == second
    assert build_evidence_key("judge", 1, first) == build_evidence_key("judge", 1, second)


def test_case_96_new_answer_leaves_retrieval_facts() -> None:
    """With the same passages and a new answer only verify_answer is asked again; context metrics stay as they are."""
    about, old, new = example("One.", "Two."), response(2, "Bern."), response(2, "Basel.")
    for question, same in (("verify_reference", True), ("rate_passages", True), ("verify_answer", False)):
        seen = [build_inputs(question, about, of, {}) for of in (old, new)]
        keys = {build_evidence_key("judge", 1, inputs) for inputs in seen if inputs is not None}
        assert None not in seen
        assert (len(keys) == 1) is same
    kept = evidence(reference_facts([1], []), relevance_facts(True, False))
    for name in ("context_recall", "context_precision", "context_precision:by=reference"):
        assert not {"verify_answer", "agree"} & {*list_questions([parse_metric(name)])}
        assert scored(name, kept, old, about) == scored(name, kept, new, about)


def test_case_99_names() -> None:
    """Aliases print as main names, parameters in declared order, and a bare hallucination is unsupported."""
    assert str(parse_metric("context_utilization")) == "context_precision:by=answer:ranked=true"
    assert (
        str(parse_metric("context_precision:ranked=true:by=reference")) == "context_precision:by=reference:ranked=true"
    )
    assert str(parse_metric("hallucination")) == "unsupported"
    assert str(parse_metric("hallucination:by=reference")) == "hallucination:by=reference"
    assert str(parse_metric("answer_relevance:method=judged")) == "answer_relevance"


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("answer_relevance:method=questions:by=sentence", UsageError, "by=sentence needs method=judged"),
        ("context_precision:by=answer:unit=sentence", UsageError, "unit=sentence needs by=question, got by=answer"),
        ("noise_sensitivity", UsageError, "noise_sensitivity:source=relevant or noise_sensitivity:source=irrelevant"),
        ("hallucination:by=judge", UnknownName, "no value of hallucination:by 'judge'"),
        ("faithfulnes", UnknownName, "nearest: faithfulness"),
        ("citation_recall:cited=none", UnknownName, "Known: all, any."),
    ],
)
def test_wrong_names_say_what_to_write(name: str, error: type[Exception], text: str) -> None:
    """A wrong name or parameter says what was wrong and what would do."""
    with pytest.raises(error, match=text.replace("(", r"\(")):
        parse_metric(name)


def test_similarity_is_the_cosine_that_was_found() -> None:
    """The score is the cosine; a blank text has none, a call that failed fails, no reference does not apply."""
    about, of = example("One."), response()
    metric = parse_metric("semantic_similarity")

    def status(found: SimilarityFacts | None) -> tuple[str, float | None]:
        evidence = {} if found is None else {"similarity": Evidence("k", "similarity", 1, "local:1", "ok", found)}
        result = measure_metric(metric, Facts(about, of, evidence))
        return result.status, result.value

    assert status(SimilarityFacts(0.96)) == ("scored", 0.96)
    assert status(SimilarityFacts(-1.0)) == ("scored", -1.0)
    assert status(SimilarityFacts(None, blank=True)) == ("undefined", None)
    assert status(SimilarityFacts(None)) == ("failed", None)
    assert status(None) == ("not_applicable", None)
    assert measure_metric(metric, Facts(example(), of)).status == "not_applicable"
