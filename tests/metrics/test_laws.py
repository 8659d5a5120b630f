"""Laws over every metric that is registered, and the algebra between those that count the same claims."""

from __future__ import annotations

import copy
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from itertools import combinations
from math import inf, isclose
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
import yaml

import ragauge.metrics
from ragauge.core.facts import (
    AgreementFacts,
    AnswerFacts,
    CoverFacts,
    Evidence,
    GuessedFacts,
    JudgeFacts,
    ReferenceFacts,
    RelevanceFacts,
)
from ragauge.metrics.base import Direction, Measures, Metric, MetricResult, Scale
from ragauge.metrics.catalogue import BUILT_IN, QUESTIONS, list_aliases, list_classes, parse_metric
from ragauge.metrics.catalogue_entries import list_entries, list_samples
from ragauge.metrics.docstring import parse_docstring
from ragauge.metrics.facts import FREE_FACTS, JUDGE_FACTS, Facts, find_question
from ragauge.metrics.measure import measure_all, measure_metric

Draw = Callable[..., Facts]
SAMPLES = list_samples()
CLASSES = list(list_classes().values())
SEEDS = range(60)
# a source that anybody can find
PUBLIC = re.compile(r"arXiv:\d{4}\.\d{5}|doi:|https://|trec_eval|ir_measures|, (19|20)\d\d\b|^ours\b")
each_metric = pytest.mark.parametrize("metric", SAMPLES, ids=str)
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.name())


# ---- names ----


@each_metric
def test_printed_name_is_identity(metric: Metric) -> None:
    """Every metric's printed name parses back to an equal metric with the same name and hash."""
    again = parse_metric(str(metric))
    assert again == metric
    assert str(again) == str(metric)
    assert hash(again) == hash(metric)


@each_metric
def test_printed_name_is_safe_in_shell_and_yaml(metric: Metric) -> None:
    """Case 99: one spelling, unquoted, in a shell and in YAML as a block value, a flow value and a key."""
    name = str(metric)
    assert shlex.quote(name) == name
    assert yaml.safe_load(f"metric: {name}\nlist:\n  - {name}\n") == {"metric": name, "list": [name]}
    assert yaml.safe_load(f"[{{metric: {name}, min: 1}}, {name}]") == [{"metric": name, "min": 1}, name]
    assert yaml.safe_load(f"{name}: 0.5") == {name: 0.5}


def test_aliases_print_as_main_names() -> None:
    """Every alias stands for a registered metric that prints under its main name; a bare name is never two things."""
    for alias, (name, _) in list_aliases().items():
        assert str(parse_metric(alias)).partition(":")[0] == name
        assert alias not in list_classes() or alias == "hallucination"


def test_a_name_belongs_to_one_family() -> None:
    """No name or alias stands in two families, so that looking into them one after the other finds the only one."""
    for one, other in combinations(BUILT_IN, 2):
        assert not {*list_classes((one,)), *list_aliases((one,))} & {*list_classes((other,)), *list_aliases((other,))}


def test_other_families_are_not_imported() -> None:
    """Choosing retrieval metrics loads no metric that reads an answer; an unknown name is compared with all of them."""
    script = (
        "import sys; from ragauge.metrics.catalogue import parse_metric; from ragauge.core.errors import UnknownName\n"
        "parse_metric('recall@5'), parse_metric('ndcg:gain=exp@10')\n"
        "assert 'ragauge.metrics.answer' not in sys.modules and 'ragauge.text' not in sys.modules\n"
        "try: parse_metric('faithfulnes')\n"
        "except UnknownName as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "faithfulness" in found.stdout


def test_every_class_in_a_family_is_registered() -> None:
    """A metric class whose file lies in a family's folder is in the catalogue; the line to add is printed.

    What several metrics of a family derive from is none itself.
    """
    root = Path(next(iter(ragauge.metrics.__path__)))
    lines = []
    for file in sorted(root.glob("*/*.py")):
        if file.name == "__init__.py":
            continue
        module = import_module(f"ragauge.metrics.{file.parent.name}.{file.stem}")
        for name, cls in vars(module).items():
            here = isinstance(cls, type) and issubclass(cls, Metric) and cls.__module__ == module.__name__
            if here and not cls.__subclasses__() and cls not in list_classes().values():
                lines.append(f"in metrics/{file.parent.name}/__init__.py: from {module.__name__} import {name}")
                lines.append(f"and in its METRICS: {name},")
    assert not lines, "\n".join(lines)


# ---- class facts and docstrings ----


@each_metric
def test_class_facts_are_declared(metric: Metric) -> None:
    """What it measures, its direction, kind, version and range are declared, and every need is a known fact."""
    assert metric.measures in get_args(Measures)
    assert metric.direction in get_args(Direction)
    assert metric.scale in get_args(Scale)
    assert metric.version >= 1
    assert -inf <= metric.range[0] < metric.range[1] <= inf
    assert metric.needs
    for fact in metric.needs.values():
        assert fact in JUDGE_FACTS or fact in FREE_FACTS
        assert find_question(fact) in (None, *QUESTIONS)


@each_class
def test_docstring_defines_the_metric(cls: type[Metric]) -> None:
    """A docstring has a sentence, a formula, its symbols, the cases without a value, a source and an example."""
    found = parse_docstring(cls)
    assert found.sentence.endswith(".")
    assert "=" in found.formula
    assert found.formula.startswith(cls.name())
    assert found.symbols
    assert found.cases
    assert PUBLIC.search(found.source), f"{found.source}: write where a reader finds it, such as arXiv:2309.15217"
    assert found.example.startswith(">>>")


def test_entries_are_plain_and_complete() -> None:
    """The listing has one entry a class, its example parses, and no value in it is infinite."""
    listed = list_entries()
    assert [entry["name"] for entry in listed] == list(list_classes())
    for entry in listed:
        assert parse_metric(entry["example"]).name() == entry["name"]
        assert inf not in entry["range"]
        assert set(entry["asks"]) <= set(QUESTIONS)


# ---- values ----


@pytest.fixture(scope="module")
def tables(draw: Draw) -> list[Facts]:
    """Sixty seeded examples without a missing verdict."""
    return [draw(Random(seed)) for seed in SEEDS]


@each_metric
def test_value_is_in_range(metric: Metric, tables: list[Facts]) -> None:
    """A value lies in the declared range, a rate is 0 or 1, and low and high equal it where nothing is missing."""
    for facts in tables:
        result = measure_metric(metric, facts)
        if result.value is None:
            assert result.status in ("undefined", "not_applicable")
            assert result.reason
            continue
        assert result.status == "scored"
        assert metric.range[0] <= result.value <= metric.range[1]
        assert result.low == result.value == result.high
        if metric.scale == "rate":
            assert result.value in (0.0, 1.0)


@each_metric
def test_ratio_is_value(metric: Metric, tables: list[Facts]) -> None:
    """Where numerator and denominator are kept, their quotient is the value."""
    for result in (measure_metric(metric, facts) for facts in tables):
        if result.value is not None and result.denominator is not None:
            assert result.numerator is not None
            assert result.numerator / result.denominator == result.value


@each_metric
def test_measuring_is_pure(metric: Metric, tables: list[Facts]) -> None:
    """Measuring changes none of its inputs, and again gives the same."""
    for facts in tables[:10]:
        before = copy.deepcopy(facts)
        first = measure_metric(metric, facts)
        assert facts == before
        assert measure_metric(metric, facts) == first
        assert measure_metric(parse_metric(str(metric)), before) == first


def test_order_and_company_do_not_matter(tables: list[Facts]) -> None:
    """The order of examples and of metrics, and measuring all at once or one by one, give the same results."""
    together = [measure_all(SAMPLES, facts) for facts in tables]
    backwards = [measure_all(SAMPLES[::-1], facts)[::-1] for facts in reversed(tables)][::-1]
    assert together == backwards
    assert together[0] == [measure_metric(metric, tables[0]) for metric in SAMPLES]


# ---- failures ----


def spoiled(facts: JudgeFacts) -> Iterator[JudgeFacts]:
    """The same facts with one verdict missing, for every verdict."""

    def without(items: tuple[Any, ...], lost: Callable[[Any], Any]) -> Iterator[tuple[Any, ...]]:
        for i, item in enumerate(items):
            yield (*items[:i], lost(item), *items[i + 1 :])

    match facts:
        case AnswerFacts():
            for claims in without(facts.claims, lambda c: replace(c, status="failed", supporting=(), contradicting=())):
                yield replace(facts, claims=claims)
            for claims in without(facts.claims, lambda c: replace(c, status="failed", text=None, supporting=())):
                yield replace(facts, claims=claims)
            yield replace(facts, address=None)
            yield replace(facts, refuse=None)
        case ReferenceFacts():
            yield from map(ReferenceFacts, without(facts.claims, lambda c: replace(c, supporting=None)))
        case RelevanceFacts():
            for ratings in without(facts.ratings, lambda rating: replace(rating, relevant=None)):
                yield replace(facts, ratings=ratings)
        case AgreementFacts():
            for answer in without(facts.answer, lambda _: None):
                yield replace(facts, answer=answer)
            for reference in without(facts.reference, lambda _: None):
                yield replace(facts, reference=reference)
        case CoverFacts():
            yield from map(CoverFacts, without(facts.met, lambda _: None))
        case GuessedFacts():
            yield from map(GuessedFacts, without(facts.cosines, lambda _: None))


def failures(facts: Facts) -> Iterator[Facts]:
    """The example with one verdict missing, or one question failed as a whole, or the system failed."""
    for question, found in facts.evidence.items():
        dead = replace(found, status="failed", facts=None, reason="timed out")
        others: list[Evidence] = [replace(found, facts=one) for one in spoiled(found.facts)] if found.facts else []
        for one in [dead, *others]:
            yield replace(facts, evidence={**facts.evidence, question: one})
    yield replace(facts, response=replace(facts.response, error="boom"))


def test_failed_facts_never_raise_a_value(tables: list[Facts]) -> None:
    """Case 42: a fact turned into a failure leaves the value as it was, or fails with bounds that enclose it."""
    kept = bounded = 0
    for facts in tables[:2]:
        before = measure_all(SAMPLES, facts)
        for failed in failures(facts):
            for metric, old, new in zip(SAMPLES, before, measure_all(SAMPLES, failed), strict=True):
                kept += new == old
                bounded += new.status == "failed"
                encloses(metric, old, new)
    assert kept > 100
    assert bounded > 100


def encloses(metric: Metric, old: MetricResult, new: MetricResult) -> None:
    """The new result, with less known, does not claim more than the old one."""
    if new.status == "scored":
        assert old.status == "scored", (metric, old, new)
        assert new.value == pytest.approx(old.value, abs=1e-12), (metric, old, new)
    elif new.status == "failed":
        assert new.reason
        assert new.value is None
        if old.value is not None:
            assert (-inf if new.low is None else new.low) <= old.value + 1e-12, (metric, old, new)
            assert (inf if new.high is None else new.high) >= old.value - 1e-12, (metric, old, new)
    else:
        assert new.status == old.status, (metric, old, new)


# ---- algebra ----


def refuses(facts: Facts) -> bool:
    answer = facts.evidence["verify_answer"].facts
    return isinstance(answer, AnswerFacts) and answer.refuse is True


def supported_and_agreeing(facts: Facts) -> float:
    """#{i : S[i] is not empty, R[i] = agrees} / c, counted here; its expectation where there are probabilities."""
    answer, agreement = facts.evidence["verify_answer"].facts, facts.evidence["agree"].facts
    assert isinstance(answer, AnswerFacts)
    assert isinstance(agreement, AgreementFacts)
    agrees = agreement.answer_p or tuple(float(one == "agrees") for one in agreement.answer)
    pairs = zip(answer.claims, agrees, strict=True)
    return sum(claim.chance * (r or 0.0) for claim, r in pairs) / len(answer.claims)


@pytest.mark.parametrize("n", [200, pytest.param(1_000, marks=pytest.mark.prove)])
def test_laws_hold_on_random_evidence(draw: Draw, n: int) -> None:
    """Case 19: on 1,000 random evidence tables every law between the claim metrics holds to 1e-12."""
    rng = Random(19)
    checked = dict.fromkeys(("claims", "no claims", "refusal", "no passages", "repeated documents", "recall"), 0)
    for _ in range(n):
        facts = draw(rng, passages=5, claims=6)
        found = {str(metric): result.value for metric, result in zip(SAMPLES, measure_all(SAMPLES, facts), strict=True)}
        passages = facts.response.passages or ()
        checked["no passages"] += not passages
        checked["repeated documents"] += len({each.doc_id for each in passages}) < len(passages)
        checked["refusal"] += refuses(facts)
        if found["faithfulness"] is None:
            assert all(found[name] is None for name in CLAIM_METRICS)
            checked["no claims"] += 1
        else:
            checked["claims"] += 1
            claim_laws({name: found[name] or 0.0 for name in CLAIM_METRICS}, supported_and_agreeing(facts))
            if found["ignored_top_ranked"] is not None:
                assert (found["misalignment"] or 0.0) <= found["ignored_top_ranked"]
        if found["evidence_utilization"] is not None:
            checked["recall"] += 1
            least = (found["context_recall"] or 0.0) * found["evidence_utilization"]
            assert (found["answer_recall"] or 0.0) >= least - 1e-12
    assert min(checked.values()) > n / 20, checked


CLAIM_METRICS = (
    "faithfulness",
    "faithfulness:support=direct",
    "contradicted",
    "not_in_context",
    "unsupported",
    "hallucination:by=reference",
    "self_knowledge",
    "noise_sensitivity:source=relevant",
    "noise_sensitivity:source=irrelevant",
    "answer_precision",
    "misalignment",
)


def claim_laws(v: dict[str, float], supported_agrees: float) -> None:
    def same(left: float, right: float) -> bool:
        return isclose(left, right, rel_tol=0, abs_tol=1e-12)

    noise = v["noise_sensitivity:source=relevant"] + v["noise_sensitivity:source=irrelevant"]
    assert same(v["faithfulness"] + v["hallucination:by=reference"] + v["self_knowledge"], 1)
    assert same(v["faithfulness"] + v["contradicted"] + v["not_in_context"], 1)
    assert same(supported_agrees + noise, v["faithfulness"])
    assert same(v["answer_precision"], v["faithfulness"] - noise + v["self_knowledge"])
    assert same(v["unsupported"], 1 - v["faithfulness"])
    assert v["unsupported"] >= v["hallucination:by=reference"] - 1e-12
    assert v["faithfulness"] >= v["faithfulness:support=direct"]
