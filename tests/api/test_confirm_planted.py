"""Confirmed causes against faults that were planted in the reference system over the demo's corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from tests.faults.demo_faults import DONORS
from tests.faults.generation import AnswerAnyway, RefuseAnyway
from tests.faults.reference_faults import DropGold, Fault, FaultySystem, IgnorePassages, PushGoldLow

import ragauge as rg
from ragauge.diagnosis.causes.attribution import ROWS_BY_NAME
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.counterfactuals import RIGHT, grade_answer
from ragauge.evaluation.demo.demo_systems import read_documents, read_eval_set
from ragauge.metrics.facts import Facts
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.store.store_access import open_store
from ragauge.systems.base import ALL_VARIANTS, Question, System
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag

GOLDEN = read_eval_set()
CORPUS = {document.doc_id: document.text for document in read_documents()}
pytestmark = pytest.mark.prove


class Broken(System):
    """The reference system with a faulty retriever, or a generator that is faulty whatever passages it gets."""

    def __init__(self, rag: ReferenceRag, retrieval: Sequence[Fault] = (), generation: Sequence[Fault] = ()) -> None:
        super().__init__("broken", {}, ALL_VARIANTS)
        self.rag, self.faulty, self.generation = rag, FaultySystem(rag, retrieval), generation
        self.struck: set[str] = set()
        self.examples = {example.query_id: example for example in GOLDEN.examples}

    async def respond(self, question: Question, passages: Sequence[rg.Passage] | None = None) -> rg.Response:
        example = self.examples[question.query_id]
        if passages is None:
            found = self.faulty.respond(example)
            self.struck |= self.faulty.planted_faults.keys()
        else:
            found = self.rag.respond_from(example, passages, every=True)
        for fault in self.generation:
            spoilt = fault.inject_fault(example, found, self.rag) if fault.is_struck(example) else None
            if spoilt is not None:
                self.struck.add(example.query_id)
                return spoilt
        return found


@pytest.fixture(scope="module")
def rag() -> ReferenceRag:
    return ReferenceRag(ReferenceConfig(), read_documents(), WordLlamaEmbedder().embed)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One for all runs: what a fault did not strike is not judged again."""
    return f"sqlite:///{tmp_path_factory.mktemp('planted')}/s.db"


@pytest.fixture(scope="module")
def right(rag: ReferenceRag, store: str) -> set[str]:
    """Questions that the system without a fault answers rightly: there a fault changes the outcome."""
    run = rg.run(Broken(rag), GOLDEN, store=store, name="right")
    rg.evaluate(run)
    with open_store(run.url) as opened:
        (judge,) = opened.scores.judges(run.run.run_id)
        found: dict[str, Any] = {
            query_id: evidence for query_id, _, evidence in opened.evidence.iter_for_run(run.run.run_id, judge)
        }
        return {
            example.query_id
            for example, response in opened.runs.pairs(run.run.run_id)
            if grade_answer(CauseContext(Facts(example, response, found.get(example.query_id, {})))).grade == RIGHT
        }


def counted(system: Broken, right: set[str], store: str, name: str) -> Counter[tuple[str, str]]:
    """(component of the cause, verdict) of the experiments on planted faults that changed the outcome."""
    run = rg.run(system, GOLDEN, store=store, name=name)
    rg.evaluate(run)
    struck = frozenset(system.struck)
    found = rg.confirm(run, system, corpus=CORPUS, limit=200)
    return Counter(
        (ROWS_BY_NAME[one.experiment.cause].component, one.verdict)
        for one in found.outcomes
        if one.experiment.query_id in struck & right
    )


@pytest.mark.parametrize(
    "fault",
    [DropGold(share=0.5, seed=1), pytest.param(PushGoldLow(share=0.5, seed=2), marks=pytest.mark.prove)],
    ids=lambda f: f.name,
)
def test_retrieval_faults_are_confirmed(rag: ReferenceRag, right: set[str], store: str, fault: Fault) -> None:
    """Of retrieval faults that changed the outcome at least four of five are confirmed, all as retrieval or data."""
    found = counted(Broken(rag, retrieval=[fault]), right, store, fault.name)
    assert found.total() >= 12
    assert {component for component, _ in found} <= {"retrieval", "data"}
    assert sum(count for (_, verdict), count in found.items() if verdict == "confirmed") >= 0.8 * found.total()


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(RefuseAnyway(share=0.4, seed=3), marks=pytest.mark.prove),
        IgnorePassages(share=0.4, seed=4, donors=DONORS),
    ],
    ids=lambda f: f.name,
)
def test_generator_faults_are_not_confirmed_as_retrieval(
    rag: ReferenceRag, right: set[str], store: str, fault: Fault
) -> None:
    """Of generator faults that changed the outcome none is confirmed as retrieval, none refuted as generation."""
    found = counted(Broken(rag, generation=[fault]), right, store, fault.name)
    assert found["generation", "confirmed"] >= 6
    assert found["retrieval", "confirmed"] == found["data", "confirmed"] == 0
    assert found["generation", "refuted"] == 0


def test_answers_to_the_unanswerable_are_left_alone(rag: ReferenceRag, right: set[str], store: str) -> None:
    """A generator that never refuses is no case for other passages: no experiment is made of it."""
    system = Broken(rag, generation=[AnswerAnyway(share=1.0, seed=5)])
    assert counted(system, right, store, "answers").total() == 0
    assert system.struck & right
