"""Measuring: examples in docstrings, shared facts, and what it costs."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Callable

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
from tests.conftest import OwnTime

from ragauge.metrics.catalogue import list_classes, parse_metric
from ragauge.metrics.catalogue_entries import get_definition
from ragauge.metrics.docstring import parse_docstring
from ragauge.metrics.facts import Facts, resolve_fact
from ragauge.metrics.measure import measure_all

TWENTY = [
    parse_metric(name)
    for name in (
        "faithfulness",
        "contradicted",
        "not_in_context",
        "unsupported",
        "hallucination:by=reference",
        "self_knowledge",
        "source_conflict",
        "evidence_utilization",
        "noise_sensitivity:source=relevant",
        "noise_sensitivity:source=irrelevant",
        "context_precision",
        "context_precision:by=reference:ranked=true",
        "context_utilization",
        "context_recall",
        "answer_relevance",
        "answer_precision",
        "answer_recall",
        "answer_correctness",
        "refusal_correctness",
        "ignored_top_ranked",
    )
]


@pytest.mark.parametrize("name", list(list_classes()))
def test_example_of_metric_runs(name: str) -> None:
    """The example in a metric's docstring gives what it says."""
    result = doctest.testmod(sys.modules[list_classes()[name].__module__])
    assert result.attempted > 0
    assert result.failed == 0


def ordinary() -> Facts:
    return Facts(
        example("One.", "Two.", "Three.", answerable=True),
        response(8),
        evidence(
            answer_facts(claim(1), claim(2, 3), claim(), claim(contradicting=[2]), claim(5)),
            reference_facts([1], [2, 3], []),
            relevance_facts(*[True, False] * 4),
            agreement_facts(["agrees", "absent", "agrees", "contradicts", "agrees"], [True, False, True]),
        ),
    )


def test_measuring_costs_little(own_time: OwnTime) -> None:
    """Without gaps, twenty metrics of one example cost less than 10 microseconds each beyond their arithmetic."""
    one = ordinary()
    assert {result.status for result in measure_all(TWENTY, one)} == {"scored"}
    given = [
        (metric, {argument: resolve_fact(fact, one) for argument, fact in metric.needs.items()}) for metric in TWENTY
    ]

    def least(action: Callable[[], object]) -> float:
        return min(own_time.seconds(lambda: [action() for _ in range(100)]) for _ in range(9)) / 100

    whole = least(lambda: measure_all(TWENTY, one))
    own = least(lambda: [metric.value(**values) for metric, values in given])
    assert (whole - own) / len(TWENTY) < 10e-6


def test_description_follows_the_parameters() -> None:
    """A description says what the parameters that are set change, and gives the formula that holds for them."""
    sentence, formula, source = get_definition(parse_metric("context_precision:by=reference:ranked=true"))
    assert sentence.startswith("Share of the passages handed on that are useful. by=reference counts")
    assert "ranked=true rewards" in sentence
    assert "by=answer" not in sentence
    assert formula == "context_precision:ranked=true = sum over useful j of prec@j / #{j : v[j] = 1}"
    assert "arXiv:2408.08067" in source
    plain = "context_precision             = #{j : v[j] = 1} / n; Σ v[j] / n where the judge has probabilities"
    assert get_definition(parse_metric("context_precision"))[1] == plain
    assert get_definition(parse_metric("noise_sensitivity:source=irrelevant"))[1].startswith(
        "noise_sensitivity:source=irrelevant ="
    )
    assert "leaves out what is only implied" not in get_definition(parse_metric("faithfulness"))[0]
    assert get_definition(parse_metric("faithfulness:support=direct"))[0].endswith("leaves out what is only implied.")


def test_docstring_parts() -> None:
    """Symbols, parameters, cases and source of a docstring are told apart."""
    found = parse_docstring(list_classes()["citation_recall"])
    assert [symbol for symbol, _ in found.symbols] == ["c", "S[i]", "Z[i]"]
    assert found.parameters == ("cited=all asks for every supporting passage, equal copies included.",)
    assert found.cases.startswith("Undefined when c = 0. Not applicable when")
    assert found.source.startswith("ALCE, arXiv:2305.14627")
    assert found.example.startswith(">>> passages")
