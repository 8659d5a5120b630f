"""The generator of cases with known causes: what it makes is sound, honest, and the same everywhere."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.planted import pieces, words
from tests.planted.cases import FAULTS, Case, planted_cases
from tests.planted.topics import outdated, pages, topics, unanswerable

from ragauge.core.example import Example
from ragauge.core.facts import AnswerFacts, Evidence, ReferenceFacts
from ragauge.core.identity import to_canonical_json, to_json_value
from ragauge.core.response import Response
from ragauge.diagnosis.causes.attribution import ROWS
from ragauge.metrics.base import MetricResult
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_all
from ragauge.metrics.retrieval.ranks import rank_responses
from ragauge.text.tokens import split_words as tokens

NAMES = (
    "recall",
    "context_recall",
    "faithfulness",
    "answer_recall",
    "answer_relevance",
    "refusal_correctness",
    "citation_precision",
)
METRICS = [parse_metric(name) for name in NAMES]


def measured(example: Example, response: Response, evidence: Mapping[str, Evidence]) -> dict[str, MetricResult]:
    (ranking,) = rank_responses([(example, response)])
    return dict(zip(NAMES, measure_all(METRICS, Facts(example, response, evidence, ranking)), strict=True))


def below(results: Mapping[str, MetricResult]) -> set[str]:
    """Metrics that failed or are not perfect."""
    return {n for n, r in results.items() if r.status == "failed" or (r.status == "scored" and (r.value or 0) < 1)}


def test_every_cause_has_its_cases() -> None:
    """Every cause of the table but unclear has at least 30 cases, on as many questions as there are."""
    counts = Counter(case.cause for case in planted_cases())
    assert list(counts) == [row.name for row in ROWS if row.name != "unclear"] == list(FAULTS)
    assert min(counts.values()) >= 30
    assert len({case.example.query_id for case in planted_cases()}) == len(planted_cases())
    for cause, fault in FAULTS.items():
        asked = {case.example.query for case in planted_cases() if case.cause == cause}
        assert len(asked) == min(36, len(fault.topics()))


def test_a_fault_changed_the_outcome() -> None:
    """By the metrics: the answer without the fault is perfect wherever it is scored, the one with it is not."""
    for case in planted_cases():
        assert not below(measured(case.example, case.sound, case.sound_evidence)), case.example.query_id
        assert below(measured(case.example, case.response, case.evidence)) - {"citation_precision"}, case.example


@pytest.mark.parametrize(
    ("cause", "metric"),
    [
        ("system_failed", "faithfulness"),
        ("missed_refusal", "refusal_correctness"),
        ("empty_retrieval", "recall"),
        ("stale_source", "recall"),
        ("compound", "faithfulness"),
        ("not_in_index", "recall"),
        ("ranked_low", "recall"),
        ("retrieval_miss", "context_recall"),
        ("lost_before_prompt", "recall"),
        ("span_cut", "context_recall"),
        ("wrong_refusal", "refusal_correctness"),
        ("off_topic", "answer_relevance"),
        ("contradicted", "faithfulness"),
        ("noise", "answer_recall"),
        ("ignored", "faithfulness"),
        ("hallucinated", "faithfulness"),
        ("wrong_answer", "answer_recall"),
        ("misattributed", "citation_precision"),
        ("incomplete", "answer_recall"),
    ],
)
def test_the_planted_fault_shows(cause: str, metric: str) -> None:
    """Every case of a cause fails the metric that is about it."""
    for case in (case for case in planted_cases() if case.cause == cause):
        assert metric in below(measured(case.example, case.response, case.evidence)), case.example.query_id


def digest_of(cases: tuple[Case, ...]) -> str:
    content = to_json_value([[case.cause, case.example, case.response, case.evidence] for case in cases])
    return hashlib.sha256(to_canonical_json(content).encode()).hexdigest()


@pytest.mark.prove
def test_cases_are_the_same_everywhere() -> None:
    """Another process, with other hashes of texts, makes the same cases; another seed makes others."""
    code = "import tests.systems.test_planted_cases as t; print(t.digest_of(t.planted_cases(4)))"
    root = Path(__file__).resolve().parents[2]
    env = os.environ | {"PYTHONHASHSEED": "7"}
    other = subprocess.run([sys.executable, "-c", code], cwd=root, env=env, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest_of(planted_cases(4))
    assert digest_of(planted_cases(4, seed=1)) != digest_of(planted_cases(4))


def test_nothing_looks_at_the_attribution() -> None:
    """No module of the generator imports the analysis or a judge: a label is what was planted, nothing else."""
    banned = ("ragauge.analysis", "ragauge.judges", "ragauge.engine")
    for path in Path(words.__file__).parent.glob("*.py"):
        names = [
            node.module or ""
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
        ]
        assert not [name for name in names if name.startswith(banned)], path.name


def test_evidence_stands_where_it_is_said_to() -> None:
    """Claims stand at their offsets in the answer, and passages that support a reference claim hold its sentence."""
    sentences = {part.claim: part.sentence.text for topic in (*topics(), *outdated()) for part in topic.parts}
    for case in planted_cases():
        answer = case.response.answer or ""
        for evidence in case.evidence.values():
            if isinstance(evidence.facts, AnswerFacts):
                for claim in evidence.facts.claims:
                    assert answer[claim.start : claim.end].endswith(claim.text or "?"), case.example.query_id
            if isinstance(evidence.facts, ReferenceFacts):
                for reference in evidence.facts.claims:
                    texts = [passage.text or "" for passage in case.response.passages or ()]
                    holding = {n for n, text in enumerate(texts, 1) if sentences[reference.text] in text}
                    assert holding == set(reference.supporting or ()), case.example.query_id


def test_passages_are_what_the_pages_say() -> None:
    """A passage's text ends with the stretch of its page that its span names; only user posts are of no page."""
    for case in planted_cases():
        for passage in (*(case.response.passages or ()), *(case.response.candidates or ())):
            if passage.span is None:
                assert passage.doc_id.startswith("community-")
                continue
            body = pages()[passage.doc_id].text[passage.span.start : passage.span.end]
            assert (passage.text or "").endswith(body)


def folded(text: str) -> str:
    return f" {' '.join(word.casefold() for word in tokens(text))} "


def test_made_up_statements_stand_in_no_page() -> None:
    """What is altered, invented or from general knowledge is no sentence of the corpus, and no other's wording."""
    corpus = folded(" ".join(page.text for page in pages().values()))
    for topic in (*topics(), *outdated(), *unanswerable()):
        true = {folded(wording) for part in topic.parts for wording in part.sentence.said}
        made_up = [text for part in topic.parts for text in part.wrong]
        made_up += [topic.general, topic.extra, *topic.invented]
        for text in filter(None, made_up):
            assert folded(text) not in corpus, text
            assert folded(text) not in true, text


def test_wordings_vary() -> None:
    """Answers are more than copies: most of what is true is said in another wording than the page's."""
    assert len(set(words.REFUSALS)) >= 10
    for topic in topics():
        for part in topic.parts:
            assert len(set(part.sentence.said)) == 3
            assert len(set(part.wrong)) == 2
    said = [case.sound.answer for case in planted_cases()]
    assert len(set(said)) > 300


def test_distractors_hold_no_answer() -> None:
    """No passage that is handed on by chance is of a page of the answer, or says what the answer says."""
    for topic in topics():
        found = pieces.distractors(topic)
        assert len(found) > 100
        assert not {piece.doc_id for piece in found} & {*topic.docs, *topic.besides}
