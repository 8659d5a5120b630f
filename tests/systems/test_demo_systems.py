"""The demo's three systems."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.conftest import OwnTime
from tests.faults.demo_faults import FAULTS, build_faulty_systems, list_planted

from ragauge.core.example import EvalSet, Example
from ragauge.core.identity import to_json_value
from ragauge.core.response import Response
from ragauge.evaluation.demo.demo_systems import DemoSystem, build_systems, read_documents, read_eval_set
from ragauge.systems.reference.extractive import REFUSAL

Answers = dict[str, dict[str, Response]]


@pytest.fixture(scope="module")
def systems() -> dict[str, DemoSystem]:
    return build_systems()


@pytest.fixture(scope="module")
def questions() -> EvalSet:
    return read_eval_set()


@pytest.fixture(scope="module")
def answers(systems: dict[str, DemoSystem], questions: EvalSet) -> Answers:
    return {
        name: {example.query_id: system.respond(example) for example in questions.examples}
        for name, system in systems.items()
    }


def recall(example: Example, response: Response) -> float:
    gold = {doc_id for item in example.relevant or () for doc_id in item.doc_ids}
    return len(gold & {passage.doc_id for passage in response.passages or ()}) / len(gold)


def mean_recall(questions: EvalSet, responses: dict[str, Response], kinds: tuple[str, ...] = ()) -> float:
    asked = [e for e in questions.examples if e.answerable and (not kinds or e.segments["type"] in kinds)]
    return sum(recall(example, responses[example.query_id]) for example in asked) / len(asked)


def quotes_gold(example: Example, response: Response) -> bool:
    texts = {document.doc_id: document.text for document in read_documents()}
    spans = [texts[span.doc_id][span.start : span.end] for span in example.gold_spans or ()]
    return any(span in (response.answer or "") for span in spans)


def test_three_systems_with_descriptions(systems: dict[str, DemoSystem]) -> None:
    """There are three named systems, each described, and all of the same settings."""
    assert list(systems) == ["good", "broken-retrieval", "corrupted-generation"]
    assert all(system.description.endswith(".") for system in systems.values())
    assert all({**system.config, "faults": []} == systems["good"].config for system in systems.values())


def test_set_and_corpus_are_whole(questions: EvalSet) -> None:
    """The set has 113 questions with labels where they are answerable, and the corpus 56 dated pages."""
    assert (questions.name, len(questions), len(read_documents())) == ("demo", 113, 56)
    assert all(bool(example.relevant) == example.answerable for example in questions.examples)
    assert all(document.updated_at and document.kind and document.title for document in read_documents())


@pytest.mark.prove
def test_good_is_decent(questions: EvalSet, answers: Answers) -> None:
    """The honest system finds most pages, mostly quotes a gold sentence, and mostly refuses only what it should."""
    good = answers["good"]
    answerable = [example for example in questions.examples if example.answerable]
    unanswerable = [example for example in questions.examples if not example.answerable]
    assert mean_recall(questions, good) > 0.85
    assert sum(quotes_gold(e, good[e.query_id]) for e in answerable) / len(answerable) > 0.6
    assert sum(good[e.query_id].answer == REFUSAL for e in answerable) / len(answerable) < 0.1
    assert sum(good[e.query_id].answer == REFUSAL for e in unanswerable) / len(unanswerable) >= 0.5


def test_good_has_nothing_planted(systems: dict[str, DemoSystem], answers: Answers) -> None:
    """Nothing is planted in the good system, and it cites the passages that it quotes."""
    assert systems["good"].planted == {}
    for response in answers["good"].values():
        texts = {passage.passage_id: passage.text or "" for passage in response.passages or ()}
        for citation in response.citations or ():
            assert (response.answer or "")[citation.start : citation.end] in texts[citation.target]


def test_broken_retrieval(systems: dict[str, DemoSystem], questions: EvalSet, answers: Answers) -> None:
    """Retrieval is broken for about 45 % of the questions, mostly multi-hop and boundary ones, and recall falls."""
    planted = {query_id: fault["fault"] for query_id, fault in systems["broken-retrieval"].planted.items()}
    kinds = {example.query_id: example.segments["type"] for example in questions.examples}
    hard = [query_id for query_id, kind in kinds.items() if kind in ("multi_hop", "retrieval_boundary")]
    assert answers["broken-retrieval"]
    assert 0.4 <= len(planted) / len(questions) <= 0.5
    assert sum(query_id in planted for query_id in hard) / len(hard) > 0.7
    assert set(planted.values()) == {"drop_gold", "push_gold_low", "find_nothing"}
    bad, good = answers["broken-retrieval"], answers["good"]
    assert mean_recall(questions, bad) < mean_recall(questions, good) - 0.3
    assert mean_recall(questions, bad, ("multi_hop",)) < mean_recall(questions, bad, ("temporal",)) - 0.2


def test_corrupted_generation(systems: dict[str, DemoSystem], questions: EvalSet, answers: Answers) -> None:
    """About 40 % of answerable questions get a wrong number, about 15 % an answer from elsewhere; passages stay."""
    planted = [fault["fault"] for fault in systems["corrupted-generation"].planted.values()]
    answerable = sum(bool(example.answerable) for example in questions.examples)
    assert answers["corrupted-generation"]
    assert 0.35 <= sum(name != "ignore_passages" for name in planted) / answerable <= 0.45
    assert 0.1 <= planted.count("ignore_passages") / answerable <= 0.2
    for query_id, response in answers["corrupted-generation"].items():
        good = answers["good"][query_id]
        assert (response.passages, response.candidates) == (good.passages, good.candidates)


@pytest.mark.parametrize("name", ["broken-retrieval", "corrupted-generation"])
def test_only_planted_questions_differ(name: str, systems: dict[str, DemoSystem], answers: Answers) -> None:
    """A question without a fault has the good system's response."""
    for query_id, response in answers[name].items():
        same = replace(response, latency_ms={}) == replace(answers["good"][query_id], latency_ms={})
        assert same == (query_id not in systems[name].planted)


def test_data_is_what_the_faults_do(systems: dict[str, DemoSystem], questions: EvalSet, answers: Answers) -> None:
    """Faults drawn anew strike the same questions and give the same responses as the demo's data."""
    for name, faulty in build_faulty_systems().items():
        assert list_planted(faulty) == systems[name].planted, "stale: python -m tests.faults.demo_faults"
        assert to_json_value(FAULTS[name]) == systems[name].faults
        for example in questions.examples:
            fresh, stored = faulty.respond(example), answers[name][example.query_id]
            assert replace(fresh, latency_ms={}) == replace(stored, latency_ms={})


def test_again_is_the_same(questions: EvalSet, answers: Answers) -> None:
    """A second build answers the same, question by question, apart from the times."""
    for name, system in build_systems().items():
        for example in questions.examples:
            again, before = system.respond(example), answers[name][example.query_id]
            assert replace(again, latency_ms={}) == replace(before, latency_ms={})


@pytest.mark.prove
def test_hash_seed_does_not_matter() -> None:
    """Processes that order their sets differently answer alike."""
    code = (
        "from dataclasses import replace\n"
        "from ragauge.core.identity import hash_json, to_json_value\n"
        "from ragauge.evaluation.demo.demo_systems import build_systems, read_eval_set\n"
        "examples = read_eval_set().examples\n"
        "for system in build_systems().values():\n"
        "    print(hash_json([to_json_value(replace(system.respond(e), latency_ms={})) for e in examples]))\n"
    )
    printed = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        printed.add(done.stdout)
    assert len(printed) == 1
    assert len(set(printed.pop().split())) == 3


@pytest.mark.prove
def test_is_quick(questions: EvalSet, own_time: OwnTime) -> None:
    """Building all three and answering every question takes less than 10 s of processor time."""

    def answered() -> None:
        for system in build_systems().values():
            for example in questions.examples:
                system.respond(example)

    own_time.within(10, answered, times=1)
