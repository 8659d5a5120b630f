"""Explanations: every symbol has its value, every count and every line of arithmetic gives the score."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from math import log2
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
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

from ragauge.core.example import Relevant, Span
from ragauge.core.facts import AnswerFacts, CoverFacts, GuessedFacts, ReferenceClaim, ReferenceFacts
from ragauge.core.response import Response
from ragauge.core.score import Score
from ragauge.diagnosis.causes.attribution import ROWS, attribute_failure
from ragauge.diagnosis.explain import causes as explaining
from ragauge.diagnosis.explain.causes import ExampleCase
from ragauge.diagnosis.explain.explanation import explain_example, explain_metric
from ragauge.metrics.base import ComputedNumber, Metric, MetricResult, Ratio
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.catalogue_entries import list_samples
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.metrics.retrieval.ranks import rank_responses
from ragauge.metrics.specifics import find_cited_passages
from ragauge.scores.results.explanation import ExampleExplained, Worked
from ragauge.scores.results.scorecard import Cause

FIRST, SECOND, THIRD = "It has 60 of them since 3 May 1999.", 'ACME said "there is nothing like it" of 12 %.', "Fine."
ANSWER = f"{FIRST} {SECOND} {THIRD}"
ENDS = (len(FIRST), len(FIRST) + 1 + len(SECOND), len(ANSWER))


def rich(**changes: Any) -> Facts:
    """Everything is known: three claims, four passages, two reference claims, labels with grades, citations."""
    labels = {"d1": 2, "d4": 1, "d9": 3, "d3": 0}
    asked = example(
        "Sixty of them.",
        "It weighs 9 kg.",
        relevant=labels,
        answerable=True,
        aspects=("how many", "how heavy"),
        criteria=("names the number", "is short"),
        relevant_chunks=(Relevant(("d1",)), Relevant(("d7",))),
    )
    dates = ["2023-01-01", "2024-05-01", "2024-05-01", "2024-02-01"]
    passages = [
        passage(f"d{n}", f"number {n}: 60 of them", score=1 / n, updated_at=date) for n, date in enumerate(dates, 1)
    ]
    got = response(
        passages,
        ANSWER,
        citations=[(0, 5, "d1"), (ENDS[0] + 2, ENDS[1], "d7"), (ENDS[1] + 2, ENDS[2], "d2")],
        latency_ms={"retrieval": 30.0, "generation": 70.0},
        tokens={"input": 90, "output": 10},
        cost=0.25,
    )
    found = evidence(
        answer_facts(
            claim(1, 2, start=0, end=ENDS[0]),
            claim(contradicting=[3], start=ENDS[0] + 1, end=ENDS[1]),
            claim(2, contradicting=[1], strength="implied", start=ENDS[1] + 1, end=ENDS[2]),
            address="partly",
        ),
        reference_facts([1], []),
        relevance_facts(True, False, True, True),
        agreement_facts(["agrees", "contradicts", "absent"], [True, False]),
        CoverFacts((True, False)),
        GuessedFacts((0.5, 0.9)),
        rate_sentences=relevance_facts(True, False, False, unit="sentence"),
        cover_criteria=CoverFacts((False, True)),
        rate_answer=relevance_facts(True, True, False, unit="sentence"),
    )
    return replace(Facts(asked, got, found, ranking_of(asked, got)), **changes)


def ranking_of(asked: Any, got: Response) -> Any:
    return rank_responses([(asked, got)])[0]


def explained(facts: Facts, *metrics: str | Metric, **more: Any) -> ExampleExplained:
    scores = {}
    for one in metrics:
        metric = parse_metric(one) if isinstance(one, str) else one
        result = asdict(measure_metric(metric, facts))
        scores[str(metric)] = Score("r", "q1", 0, str(metric), metric.version, None, 0, **result)
    return explain_example(facts, scores, **more)


def one(facts: Facts, metric: str) -> Worked:
    (worked,) = explained(facts, metric).metrics
    return worked


def symbols(facts: Facts, metric: str) -> dict[str, str]:
    return {symbol.name: symbol.value for symbol in one(facts, metric).symbols}


# what only a study knows: tokens of whole documents, the chunks of the index, distances of vectors
OF_STUDIES = [
    one
    for one in list_samples()
    if {"labels.token_spans", "labels.neighbours"} & {*one.needs.values()}
    or one.name() in ("precision_omega", "attainable_recall")
]


def spanned() -> Facts:
    """Two gold spans, one of which the first passage holds in part."""
    facts = rich()
    passages = tuple(replace(one, span=Span(one.doc_id, 0, 20)) for one in facts.response.passages or ())
    asked = replace(facts.example, gold_spans=(Span("d1", 5, 15), Span("d9", 0, 4)))
    return rich(example=asked, response=replace(facts.response, passages=passages))


@pytest.mark.parametrize("metric", OF_STUDIES, ids=str)
def test_what_only_a_study_knows_is_said(metric: Metric) -> None:
    """A metric that no stored answer can be scored by says why, and what can; some fact knows each of its symbols."""
    (worked,) = explained(spanned(), metric).metrics
    assert all(symbol.value for symbol in worked.symbols)
    assert worked.score.status == "not_applicable"
    assert re.search("ragauge component chunking|ragauge component ann|index are not available", worked.score.reason)


EXPLAINED = [one for one in list_samples() if one.name() != "semantic_similarity" and one not in OF_STUDIES]


@pytest.mark.parametrize("metric", EXPLAINED, ids=str)
def test_every_metric_is_explained(metric: Metric) -> None:
    """Where everything is known, each symbol has its value and the arithmetic ends in the score, worked out anew."""
    facts = rich(example=replace(rich().example, answerable=False)) if metric.name() == "missed_refusal" else rich()
    facts = spanned() if "labels.char_spans" in metric.needs.values() else facts
    (worked,) = explained(facts, metric).metrics
    assert worked.score.status == "scored", worked.score.reason
    assert all(symbol.value for symbol in worked.symbols)
    assert worked.formula
    assert not worked.note
    terms, _, value = worked.arithmetic.rpartition("= ")
    assert worked.score.value is not None
    assert float(value.replace(",", "")) == pytest.approx(worked.score.value, rel=0.005)
    for side in filter(None, map(str.strip, terms.split(" = "))):
        assert worth(side) == pytest.approx(worked.score.value, rel=0.01, abs=1e-9)


def worth(terms: str) -> float:
    """The value of written arithmetic: numbers, + - * / ^ log2 and brackets, and nothing else."""
    text = terms.replace("·", "*").replace("^", "**").replace(",", "").removesuffix("=")
    assert re.fullmatch(r"(?:log2|[0-9.+\-*/() e])*", text), terms
    value = eval(text, {"__builtins__": {}, "log2": log2})  # noqa: S307 - checked to be arithmetic
    return float(value)


def test_counts_add_up() -> None:
    """The items of every share are as many as its denominator says, and those that count as its numerator."""
    checked = 0
    for metric in list_samples():
        if metric.name() == "semantic_similarity":
            continue
        (worked,) = explained(rich(), metric).metrics
        ratio = worked.score.denominator
        if worked.items and ratio is not None and metric.name() not in ("precision", "r_precision", "f1", "judged"):
            pairs = metric.name() == "citation_precision"  # counted in pairs, shown by claim
            assert len(worked.items) == ratio or pairs, str(metric)
            assert sum(item.counts is True for item in worked.items) == worked.score.numerator, str(metric)
            checked += 1
    assert checked >= 25


def test_faithfulness_by_hand() -> None:
    """Three claims, one of them without support: c, each S, what counts and why, and 2 / 3."""
    worked = one(rich(), "faithfulness")
    assert worked.arithmetic == "2 / 3 = 0.667"
    assert symbols(rich(), "faithfulness") == {
        "support": "any",
        "c": "3",
        "S[i]": "S[1] = {1, 2}, S[2] = {}, S[3] = {2}",
        "p[i]": "p[1] = 1, p[2] = 0, p[3] = 1",
    }
    assert [item.counts for item in worked.items] == [True, False, True]
    assert worked.items[1].name == "claim 2"
    assert [item.why for item in worked.items] == [
        "supported by passages 1 and 2, direct",
        "contradicted by passage 3",
        "supported by passage 2, implied; contradicted by passage 1",
    ]
    direct = one(rich(), "faithfulness:support=direct")
    assert [item.counts for item in direct.items] == [True, False, False]


@dataclass(frozen=True, slots=True)
class CitedClaims(Metric):
    """Share of the claims that something is cited for.

    cited_claims = #{i : Z[i] is not empty} / c

    c     claims in the answer
    Z[i]  passages cited in the sentence of claim i
    """

    measures: ClassVar = "generation"
    needs: ClassVar = {
        "claims": "verify_answer.support",
        "citations": "response.citations",
        "passages": "response.passages",
    }

    def value(self, claims: Any, citations: Any, passages: Any) -> Ratio:
        return Ratio.count_items([bool(find_cited_passages(claim, citations, passages)) for claim in claims])


def test_a_new_share_is_explained_by_what_it_returns() -> None:
    """A metric over known facts has its symbols, its items and its arithmetic without a word in explanations."""
    facts = rich()
    score = Score("r", "q1", 0, "cited_claims", 1, None, 0, **asdict(measure_metric(CitedClaims(), facts)))
    worked = explain_metric(CitedClaims(), score, ExampleCase(facts))
    assert worked.arithmetic == "2 / 3 = 0.667"
    assert [(item.name, item.counts) for item in worked.items] == [
        ("claim 1", True),
        ("claim 2", False),
        ("claim 3", True),
    ]
    assert {symbol.name: symbol.value for symbol in worked.symbols} == {
        "c": "3",
        "Z[i]": "Z[1] = {1}, Z[2] = {}, Z[3] = {2}",
    }


def test_arithmetic_is_written_only_where_it_is_asked_for() -> None:
    """A score is made of a number without writing out how it was computed."""
    written = iter(["1 / 2"])
    number = ComputedNumber(0.5, lambda: next(written))
    assert MetricResult.of(number).value == 0.5
    assert number.write() == "1 / 2"  # so nobody wrote it before


def test_probabilities_are_worked_out() -> None:
    """Of a judge with probabilities every claim counts by its own, and the arithmetic shows their sum."""
    facts = rich()
    answer = facts.evidence["verify_answer"]
    assert isinstance(answer.facts, AnswerFacts)
    claims = tuple(replace(one, p=p) for one, p in zip(answer.facts.claims, (0.9, 0.2, 0.7), strict=True))
    judged = replace(answer, facts=replace(answer.facts, claims=claims))
    likely = replace(facts, evidence={**facts.evidence, "verify_answer": judged})
    worked = one(likely, "faithfulness")
    assert worked.arithmetic == "1.8 / 3 = 0.6"
    assert symbols(likely, "faithfulness")["p[i]"] == "p[1] = 0.9, p[2] = 0.2, p[3] = 0.7"
    assert [item.counts for item in worked.items] == pytest.approx([0.9, 0.2, 0.7])
    assert worked.items[1].why == "contradicted by passage 3 (p 0.20)"


def test_retrieval_by_hand() -> None:
    """d1 (grade 2) at rank 1, d4 at rank 4, d9 (grade 3) not returned: L, ranks and the sums behind the numbers."""
    assert symbols(rich(), "recall@2") == {
        "rel": "1",
        "unit": "document",
        "k": "2",
        "top_k": "ranks 1 to 2; 1 of L among them: d1",
        "L": "3: d1 (grade 2, rank 1), d4 (rank 4), d9 (grade 3, not returned)",
    }
    assert one(rich(), "recall@2").arithmetic == "1 / 3 = 0.333"
    assert [(item.name, item.counts, item.why) for item in one(rich(), "recall@2").items] == [
        ("d1", True, "rank 1, grade 2"),
        ("d4", False, "rank 4, beyond 2"),
        ("d9", False, "not returned, grade 3"),
    ]
    assert one(rich(), "mrr").arithmetic == "1 / 1 = 1"
    assert one(rich(), "map").arithmetic == "(1/1 + 2/4) / 3 = 0.5"
    # DCG = 2/log2(2) + 1/log2(5) = 2.431; IDCG = 3/1 + 2/log2(3) + 1/2 = 4.762
    assert one(rich(), "ndcg").arithmetic == (
        "(2/log2(2) + 1/log2(5)) / (3/log2(2) + 2/log2(3) + 1/log2(4)) = 2.43 / 4.76 = 0.51"
    )


def test_what_was_a_candidate_is_not_called_unreturned() -> None:
    """Where the longer ranking is recorded, a labelled document without a rank was not handed on."""
    facts = rich()
    kept = replace(facts, response=replace(facts.response, candidates=facts.response.passages))
    assert "d9 (grade 3, not in the context)" in symbols(kept, "recall@2")["L"]
    assert one(kept, "recall@2").items[2].why == "not in the context, grade 3"


def test_composed_metrics_by_hand() -> None:
    """A harmonic mean shows its two parts with their own fractions."""
    found = symbols(rich(), "answer_correctness")
    assert (found["P"], found["R"]) == ("1 / 3 = 0.333", "1 / 2 = 0.5")
    assert one(rich(), "answer_correctness").arithmetic == "2 · 0.333 · 0.5 / (0.333 + 0.5) = 0.4"
    assert one(rich(), "context_precision:ranked=true").arithmetic == "(1/1 + 2/3 + 3/4) / 3 = 0.806"


def test_no_value_says_why() -> None:
    """Undefined, not applicable and failed: no arithmetic but the bounds, the reason, and the metric's own cases."""
    empty = rich(evidence=evidence(answer_facts(refuse=True)))
    worked = one(empty, "faithfulness")
    assert (worked.score.status, worked.arithmetic, worked.items) == ("undefined", "", ())
    assert "Undefined when c = 0" in worked.cases
    assert symbols(empty, "faithfulness")["c"] == "0"
    bare = one(rich(example=example()), "context_recall")
    assert (bare.score.status, bare.score.reason) == ("not_applicable", "no reference answer")
    assert symbols(rich(example=example()), "context_recall")["m"] == "unknown: no reference answer"
    gap = rich(evidence=evidence(answer_facts(claim(1), claim(failed=True, reason="cut off"))))
    worked = one(gap, "faithfulness")
    assert worked.arithmetic == "between 0.5 and 1, depending on the missing verdicts"
    assert [(item.counts, item.why) for item in worked.items] == [
        (True, "supported by passage 1, direct"),
        (None, "no verdict: cut off"),
    ]
    assert symbols(gap, "faithfulness")["S[i]"] == "S[1] = {1}, S[2] = ?"


def test_stored_score_of_other_facts_is_noted() -> None:
    """A score that the facts no longer give is shown as stored, with a note; so is one of another version."""
    facts = rich()
    stored = Score("r", "q1", 0, "faithfulness", 2, None, 0, "scored", 1.0, 3.0, 3.0, 1.0, 1.0)
    (worked,) = explain_example(facts, {"faithfulness": stored}).metrics
    assert worked.arithmetic == "3 / 3 = 1"
    assert worked.note == "with the facts stored now, it would be scored 0.667"
    (old,) = explain_example(facts, {"faithfulness": replace(stored, metric_version=7)}).metrics
    assert "version 7" in old.note


def test_facts_are_told_once() -> None:
    """What all formulas draw on: claims with S, X, Z and R, passages, reference claims and labels."""
    told = {(fact.about, fact.name): fact.says for fact in explained(rich()).facts}
    assert told["answer", "claim 2"] == "S = {} · X = {3} · Z = {} · R = contradicts · contradicted by passage 3"
    assert told["passages", "passage 1"] == "d1 · gold · q = 1 · used · contains reference claim 1"
    assert told["reference", "claim 2"] == "T = {} · not stated"
    assert told["labels", "d9"] == "grade 3 · not in the context"
    assert told["record", "address"] == "partly · declines: no"


def test_cause_table_in_order() -> None:
    """Every row of the table, in order, with its verdict: the cause is the first that applies."""
    found = explained(rich())
    assert found.cause == attribute_failure(rich())
    assert [row.cause for row in found.rows] == [row.name for row in ROWS]
    verdicts = [row.verdict for row in found.rows]
    assert verdicts.count("yes") == 1
    first = verdicts.index("yes")
    assert found.cause is not None
    assert found.rows[first].cause == (found.cause.name or found.cause.component)
    assert set(verdicts[:first]) <= {"no", "unknown"}
    assert all(row.rule and row.why for row in found.rows)
    assert all(row.verdict != "second" or row.cause == found.cause.second for row in found.rows)
    assert found.sign == "1 of 3 gold documents missed"  # d9


def test_second_opinion_is_marked() -> None:
    """Where two causes tie, the second stands in the table as such, with what decided it."""
    asked = example("One.", "Two.", answerable=True, relevant=["d1"])
    found = evidence(answer_facts(claim(contradicting=[1]), claim(1), address="partly"), reference_facts([1], [1]))
    facts = Facts(asked, response(2), found)
    cause = attribute_failure(facts)
    assert cause is not None
    assert cause.second
    rows = {row.cause: row for row in explained(facts).rows}
    assert (rows[cause.name].verdict, rows[cause.second].verdict) == ("yes", "second")
    assert rows[cause.second].why == cause.second_by


def test_example_that_did_not_fail() -> None:
    """A good answer has no cause, no sign and no table."""
    asked = example("One.", answerable=True)
    facts = Facts(asked, response(1), evidence(answer_facts(claim(1)), reference_facts([1])))
    found = explained(facts, "faithfulness")
    assert (found.cause, found.sign, found.rows) == (None, "", ())


def test_every_row_can_say_why_not() -> None:
    """Each row of the cause table says which facts rule it out."""
    assert set(explaining.CONTRARY_FACTS) == {row.name for row in ROWS}
    assert all(row.decide.__doc__ for row in ROWS)


def test_stored_cause_of_another_time() -> None:
    """Where evaluating found another cause, both are named."""
    assert explained(rich(), stored=Cause("noise")).note == "at evaluation time, the cause was noise"
    assert explained(rich(), stored=attribute_failure(rich())).note == ""


marks = st.lists(st.booleans(), min_size=0, max_size=5)


@given(st.lists(st.tuples(st.sets(st.integers(1, 3)), st.sets(st.integers(1, 3))), max_size=5), marks, st.booleans())
def test_explaining_never_fails(claims: Any, relevant: list[bool], refuses: bool) -> None:
    """Whatever the facts are, everything is explained, and counted items add up to the numerator."""
    made = [claim(*sorted(for_it), contradicting=sorted(against)) for for_it, against in claims]
    found = evidence(
        answer_facts(*made, refuse=refuses),
        reference_facts(*([1] if mark else [] for mark in relevant)),
        agreement_facts(["agrees"] * len(made), relevant),
        relevance_facts(*(relevant + [None] * 3)[:3]),
    )
    asked = example(*(f"r{n}" for n in range(len(relevant))), relevant=["d1", "d5"])
    got = response(3, ANSWER)
    facts = Facts(asked, got, found, ranking_of(asked, got))
    for worked in explained(facts, *[one for one in list_samples() if one.name() != "semantic_similarity"]).metrics:
        known = worked.score.status == "scored" and worked.score.numerator is not None
        if known and worked.items and worked.measures == "generation" and None not in [i.counts for i in worked.items]:
            assert sum(bool(item.counts) for item in worked.items) == worked.score.numerator


def test_a_reference_claim_in_no_one_passage_agrees_with_its_probability() -> None:
    """A claim likelier there than not is in none that is named, never "in no passage": so all lines say the same.

    Two reference claims without a passage, p 0.85 and 0.2: recall is their mean, and one of the two is missing.
    """
    asked = example("A hub blinks twice. It is blue.")
    claims = ReferenceClaim(1, "A hub blinks twice.", (), 0.85), ReferenceClaim(2, "It is blue.", (), 0.2)
    got = Facts(
        asked,
        response([passage("d1", "Two blinks.")], "Fine."),
        evidence(
            answer_facts(claim(1, start=0, end=5)), ReferenceFacts(claims), agreement_facts(["absent"], [True, False])
        ),
    )
    found = explained(got, "context_recall", stored=attribute_failure(got))
    (worked,) = found.metrics
    assert [item.why for item in worked.items] == ["found, but no passage named (p 0.85)", "in no passage (p 0.20)"]
    values = {symbol.name: symbol.value for symbol in worked.symbols}
    assert values["T[h]"] == "T[1] = none named, T[2] = {}"
    assert values["t[h]"] == "t[1] = 0.85, t[2] = 0.2"
    said = {fact.name: fact.says for fact in found.facts if fact.about == "reference"}
    assert said == {
        "claim 1": "T = none named · p 0.85 · stated",
        "claim 2": "T = {} · p 0.20 · not stated",
        "all claims": "1 of 2 reference claims found in the passages; expected share 0.53",
    }
    rows = {row.cause: row.why for row in found.rows}
    assert "1 of 2 reference claims" in rows["retrieval_miss"]
