"""RAGChecker's arithmetic, derived again from the formulas of its paper (arXiv:2408.08067, section 3).

The paper speaks of sets: claims of the model's answer in the ground truth or not, in a chunk or not; relevant chunks
are those that hold a claim of the ground truth. Its code keeps noise from irrelevant chunks apart from noise that a
relevant chunk holds as well, so that the parts add up to one; so do we.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from tests.building import agreement_facts, answer_facts, claim, evidence, example, reference_facts, response

from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric

META = Path(__file__).resolve().parents[3] / "shared/data/ragchecker_meta/baseline_ragchecker.json"

OURS = {
    "precision": "answer_precision",
    "recall": "answer_recall",
    "f1": "answer_correctness",
    "claim_recall": "context_recall",
    "context_precision": "context_precision:by=reference",
    "context_utilization": "evidence_utilization",
    "noise_sensitivity_in_relevant": "noise_sensitivity:source=relevant",
    "noise_sensitivity_in_irrelevant": "noise_sensitivity:source=irrelevant",
    "hallucination": "hallucination:by=reference",
    "self_knowledge": "self_knowledge",
    "faithfulness": "faithfulness",
}


def by_the_paper(
    correct: set[int], stated: set[int], chunks: list[set[int]], truths: list[set[int]], c: int, m: int
) -> dict[str, Fraction | None]:
    """RAGChecker's eleven numbers; None where its formula divides by nothing.

    correct: answer claims in the ground truth. stated: ground-truth claims in the answer. chunks[j]: answer claims in
    chunk j. truths[j]: ground-truth claims in chunk j. c, m: how many claims of each there are.
    """

    def share(part: set[int], whole: int) -> Fraction | None:
        return Fraction(len(part), whole) if whole else None

    answer, k = set(range(c)), len(chunks)
    relevant = {j for j in range(k) if truths[j]}
    in_relevant = {i for j in relevant for i in chunks[j]}
    in_any, recalled = {i for each in chunks for i in each}, {h for each in truths for h in each}
    precision, recall = share(correct, c), share(stated, m)
    joint = (precision or 0) + (recall or 0)
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * (precision or Fraction(0)) * (recall or Fraction(0)) / joint if joint else Fraction(0),
        "claim_recall": share(recalled, m),
        "context_precision": share(relevant, k),
        "context_utilization": share(recalled & stated, len(recalled)),
        "noise_sensitivity_in_relevant": share(in_relevant - correct, c),
        "noise_sensitivity_in_irrelevant": share(in_any - in_relevant - correct, c),
        "hallucination": share(answer - in_any - correct, c),
        "self_knowledge": share((answer - in_any) & correct, c),
        "faithfulness": share(in_any, c),
    }


def as_facts(
    correct: set[int], stated: set[int], chunks: list[set[int]], truths: list[set[int]], c: int, m: int, rng: Random
) -> Facts:
    """The same table as our evidence; what does not agree contradicts or is absent, which RAGChecker does not ask."""
    return Facts(
        example(*(f"Claim {h}." for h in range(m))),
        response(len(chunks)),
        evidence(
            answer_facts(*(claim(*(j for j, held in enumerate(chunks, 1) if i in held)) for i in range(c))),
            reference_facts(*([j for j, held in enumerate(truths, 1) if h in held] for h in range(m))),
            agreement_facts(
                ["agrees" if i in correct else rng.choice(["contradicts", "absent"]) for i in range(c)],
                [h in stated for h in range(m)],
            ),
        ),
    )


@pytest.mark.parametrize("seed", range(300))
def test_equals_ragchecker(seed: int) -> None:
    """All eleven RAGChecker numbers equal ours on random tables; where it divides by nothing, ours is undefined.

    Only an answer without claims that states the reference all the same ("Yes.") has its recall for its correctness:
    RAGChecker's is 0.
    """
    rng = Random(seed)
    c, m, k = rng.randint(0, 6), rng.randint(1, 5), rng.randint(0, 5)

    def some(size: int) -> set[int]:
        return {i for i in range(size) if rng.random() < 0.4}

    table = (some(c), some(m), [some(c) for _ in range(k)], [some(m) for _ in range(k)], c, m)
    facts = as_facts(*table, rng)
    expected = by_the_paper(*table)
    if not table[4]:
        expected["f1"] = Fraction(len(table[1]), table[5])
    for name, theirs in expected.items():
        ours = measure_metric(parse_metric(OURS[name]), facts)
        if theirs is None:
            assert ours.status == "undefined", name
        else:
            assert ours.value == pytest.approx(float(theirs), abs=1e-15), name


def test_worked_example() -> None:
    """One table worked by hand.

    Answer claims 0-4, of which 0 and 1 are correct; ground truth has 3 claims, the answer states 0 and 1. Chunk 0
    holds answer claims {0, 2} and truth {0}; chunk 1 holds {3} and no truth; chunk 2 holds {2} and truth {2}.
    precision 2/5, recall 2/3, f1 1/2; truths found {0, 2}: claim recall 2/3, utilization 1/2; relevant chunks 0, 2 of
    3; wrong claims 2 (from a relevant chunk), 3 (from an irrelevant one), 4 (from nowhere); 1 is right from nowhere.
    """
    table = ({0, 1}, {0, 1}, [{0, 2}, {3}, {2}], [{0}, set(), {2}], 5, 3)
    facts = as_facts(*table, Random(0))
    by_hand = {
        "precision": 2 / 5,
        "recall": 2 / 3,
        "f1": 1 / 2,
        "claim_recall": 2 / 3,
        "context_precision": 2 / 3,
        "context_utilization": 1 / 2,
        "noise_sensitivity_in_relevant": 1 / 5,
        "noise_sensitivity_in_irrelevant": 1 / 5,
        "hallucination": 1 / 5,
        "self_knowledge": 1 / 5,
        "faithfulness": 3 / 5,
    }
    for name, expected in by_hand.items():
        assert measure_metric(parse_metric(OURS[name]), facts).value == pytest.approx(expected, abs=1e-15), name


@pytest.mark.realdata
@pytest.mark.skipif(not META.exists(), reason="the public data sets are not beside the repository")
def test_published_f1_follows_from_published_precision_and_recall() -> None:
    """Of 560 answers scored by RAGChecker, its published F1 equals answer_correctness at its precision and recall."""
    answers = [pair[side]["ragchecker"] for pair in json.loads(META.read_text()) for side in ("model1", "model2")]
    assert len(answers) == 560
    for scores in answers:
        precision, recall = (
            Fraction(scores[f"{name}_label"]).limit_denominator(300) for name in ("correctness", "completeness")
        )
        agrees = [1.0] * precision.numerator + [0.0] * (precision.denominator - precision.numerator)
        stated = [1.0] * recall.numerator + [0.0] * (recall.denominator - recall.numerator)
        result = parse_metric("answer_correctness").value(agrees, stated, refuse=False)
        assert result == pytest.approx(scores["overall_label"], abs=1e-12)
