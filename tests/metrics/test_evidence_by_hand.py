"""One answer worked by hand through every metric that follows from evidence.

passages   1 p1/d1   2 p2/d2   3 p3/d1   4 p4/d4   5 p5/d5
claims     1 S={1} direct, agrees, cites p1            4 S={} X={}, agrees, cites p1
           2 S={2,4} implied, absent, cites d2         5 S={3} X={1} direct, contradicts, cites p4 and d1
           3 S={} X={2}, contradicts, cites p9
reference  1 T={1} stated   2 T={} stated   3 T={1,3} not stated   4 T={} not stated      so E = {1,3}
relevant   passages 2, 3, 5; sentences 3 of 10
"""

from __future__ import annotations

from fractions import Fraction

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

from ragauge.core.facts import Agreement, CoverFacts, GuessedFacts, SimilarityFacts
from ragauge.metrics.catalogue import list_questions, parse_metric
from ragauge.metrics.catalogue_entries import list_samples
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric

DOCUMENTS = {"p1": "d1", "p2": "d2", "p3": "d1", "p4": "d4", "p5": "d5"}
CITED = [(0, 10, "p1"), (10, 20, "d2"), (20, 30, "p9"), (30, 40, "p1"), (40, 50, "p4"), (40, 50, "d1")]
FACTS = Facts(
    example("1", "2", "3", "4", answerable=True, aspects=("a", "b", "c"), criteria=("a", "b", "c", "d")),
    response([passage(doc, passage_id=name) for name, doc in DOCUMENTS.items()], citations=CITED),
    evidence(
        answer_facts(
            claim(1),
            claim(2, 4, strength="implied"),
            claim(contradicting=[2]),
            claim(),
            claim(3, contradicting=[1]),
            address="partly",
        ),
        reference_facts([1], [], [1, 3], []),
        relevance_facts(False, True, True, False, True),
        relevance_facts(True, False, True, *[False] * 6, True, unit="sentence"),
        agreement_facts(["agrees", "absent", "contradicts", "agrees", "contradicts"], [True, True, False, False]),
        GuessedFacts((0.2, 0.9, 0.4)),
        SimilarityFacts(0.75),
        rate_answer=relevance_facts(True, False, True, True, unit="sentence"),
        cover_aspects=CoverFacts((True, True, False)),
        cover_criteria=CoverFacts((False, True, False, False)),
    ),
)
BY_HAND: dict[str, Fraction | str] = {
    "faithfulness": Fraction(3, 5),  # 1, 2, 5
    "faithfulness:support=direct": Fraction(2, 5),  # 1, 5
    "contradicted": Fraction(1, 5),  # 3; 5 is supported as well
    "not_in_context": Fraction(1, 5),  # 4
    "unsupported": Fraction(2, 5),  # 3, 4
    "hallucination:by=reference": Fraction(1, 5),  # 3
    "self_knowledge": Fraction(1, 5),  # 4
    "source_conflict": Fraction(1, 5),  # 5
    "evidence_utilization": Fraction(1, 2),  # of 1 and 3, 1 is stated
    "noise_sensitivity:source=relevant": Fraction(1, 5),  # 5, from passage 3
    "noise_sensitivity:source=irrelevant": Fraction(1, 5),  # 2, from passages 2 and 4
    "citation_precision": Fraction(3, 6),  # p1 for 1, d2 for 2, d1 (passage 3) for 5
    "citation_recall": Fraction(3, 5),  # 1, 2, 5
    "citation_recall:cited=all": Fraction(2, 5),  # 1, 5; passage 4 is not cited for 2
    "citation_f1": Fraction(6, 11),  # 2 (1/2) (3/5) / (1/2 + 3/5)
    "ignored_top_ranked": Fraction(0),
    "ignored_top_relevant": "not_applicable",  # passage 1 is not relevant
    "misalignment": Fraction(0),
    "passage_use": Fraction(1),  # thirds 1, 2 | 3 | 4, 5; used 1 to 4
    "passage_use:part=middle": Fraction(1),
    "passage_use:part=end": Fraction(1, 2),
    "context_precision": Fraction(3, 5),
    "context_precision:ranked=true": Fraction(53, 90),  # (1/2 + 2/3 + 3/5) / 3
    "context_precision:unit=sentence": Fraction(3, 10),
    "context_precision:ranked=true:unit=sentence": Fraction(59, 90),  # ranks 1, 3, 10: (1 + 2/3 + 3/10) / 3
    "context_precision:by=reference": Fraction(2, 5),  # 1, 3
    "context_precision:by=reference:ranked=true": Fraction(5, 6),  # (1 + 2/3) / 2
    "context_precision:by=answer": Fraction(4, 5),  # 1 to 4
    "context_precision:by=answer:ranked=true": Fraction(1),
    "context_recall": Fraction(2, 4),
    "answer_relevance": Fraction(1, 2),
    "composite": Fraction(17, 30),  # (3/5 + 3/5 + 1/2) / 3
    "semantic_similarity": Fraction(3, 4),
    "answer_relevance:by=sentence": Fraction(3, 4),  # all but the second
    "answer_relevance:method=questions": Fraction(1, 2),  # 1.5 / 3
    "completeness": Fraction(2, 3),
    "criteria_met": Fraction(1, 4),
    "answer_precision": Fraction(2, 5),  # 1, 4
    "answer_recall": Fraction(2, 4),  # 1, 2
    "answer_correctness": Fraction(4, 9),  # 2 (2/5) (1/2) / (2/5 + 1/2)
    "answer_grade": Fraction(1, 2),
    "refusal_correctness": Fraction(1),
    "over_refusal": Fraction(0),
    "missed_refusal": "not_applicable",
}


@pytest.mark.parametrize("name", BY_HAND)
def test_value_by_hand(name: str) -> None:
    """Each metric gives what counting by hand gives."""
    expected, result = BY_HAND[name], measure_metric(parse_metric(name), FACTS)
    if isinstance(expected, str):
        assert result.status == expected
    else:
        assert result.value == pytest.approx(float(expected), abs=1e-15)


def test_every_judged_metric_of_context_and_answer_is_worked() -> None:
    """No metric that asks a judge for verdicts on passages or claims is left out of the table."""
    deterministic_too = {"fabricated_specifics"}  # it reads the texts as well, and has rows of its own
    judged = {
        str(metric) for metric in list_samples() if list_questions([metric]) and metric.name() not in deterministic_too
    }
    assert judged == set(BY_HAND)


@pytest.mark.parametrize(
    ("agreement", "stated", "grade"),
    [
        (["agrees", "absent"], [True, True], 1.0),
        (["agrees", "contradicts"], [True, True], 0.5),
        (["agrees"], [True, False], 0.5),
        (["absent"], [False, False], 0.0),
    ],
)
def test_answer_grade_has_three_steps(agreement: list[Agreement], stated: list[bool], grade: float) -> None:
    """1 for all stated and nothing contradicted, whatever is added; 0 for nothing stated; else 0.5."""
    found = evidence(answer_facts(*[claim(1)] * len(agreement)), agreement_facts(agreement, stated))
    assert measure_metric(parse_metric("answer_grade"), Facts(example("1", "2"), response(), found)).value == grade
