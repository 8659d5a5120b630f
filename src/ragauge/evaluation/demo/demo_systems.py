"""The demo: a corpus, an eval set, and three systems over it, of which two are broken on purpose.

`systems.json` says which fault strikes which question, and what a broken generator answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from typing import Any

from ragauge.core.document import Document
from ragauge.core.example import EvalSet, Example
from ragauge.core.identity import to_json_value
from ragauge.core.response import Citation, Passage, Response
from ragauge.readers.corpus import read_corpus
from ragauge.readers.source import read_set
from ragauge.systems.reference.pipeline import ReferenceConfig, ReferenceRag
from ragauge.text.tokens import count_tokens

DATA = "ragauge.evaluation.demo"
SYSTEMS_FILE = "systems.json"


@dataclass(frozen=True, slots=True)
class DemoSystem:
    """One of the demo's systems."""

    name: str  #: what its run is called.
    description: str  #: what it is and what was planted, for people.
    faults: Sequence[Mapping[str, Any]]  #: how the questions were drawn, for the record.
    #: query_id -> the fault that strikes it, and the answer with citations where it is the generator's.
    planted: Mapping[str, Mapping[str, Any]]
    rag: ReferenceRag  #: the honest system underneath, the same for all three, so that only the faults differ.

    @property
    def config(self) -> dict[str, Any]:
        """The system's settings, for the record."""
        config = self.rag.config
        return {"retriever": config.retriever, **to_json_value(config), "faults": list(self.faults)}

    def respond(self, example: Example) -> Response:
        """The honest response, or the broken one where a fault strikes the question."""
        honest = self.rag.respond(example)
        planted = self.planted.get(example.query_id)
        if planted is None:
            return honest
        if "answer" in planted:
            citations = tuple(Citation(*citation) for citation in planted["citations"])
            tokens = {**honest.tokens, "output": count_tokens(planted["answer"])}
            return replace(honest, answer=planted["answer"], citations=citations, tokens=tokens)
        ranking = _break_ranking(planted["fault"], example, honest)
        return self.rag.respond_from(example, ranking, retrieval_ms=honest.latency_ms["retrieval"])


def _break_ranking(fault: str, example: Example, honest: Response) -> Sequence[Passage]:
    """Nothing, or the candidates without the labeled documents, or with these behind what the generator sees."""
    gold = {doc_id for item in example.relevant or () if item.grade > 0 for doc_id in item.doc_ids}
    candidates, k = honest.candidates or (), len(honest.passages or ())
    others = [passage for passage in candidates if passage.doc_id not in gold]
    if fault != "push_gold_low":
        return others if fault == "drop_gold" else ()
    moved = [*others[:k], *(passage for passage in candidates if passage.doc_id in gold), *others[k:]]
    return [replace(passage, score=place.score) for passage, place in zip(moved, candidates, strict=True)]


def read_documents() -> tuple[Document, ...]:
    """The demo's corpus: 56 pages about a backup appliance that does not exist."""
    return read_corpus(files(DATA) / "corpus")


def read_eval_set() -> EvalSet:
    """The demo's eval set: 113 questions about the corpus with references, labels, spans and segments."""
    with as_file(files(DATA) / "golden.jsonl") as path:
        return read_set(path, name="demo")


def build_systems() -> dict[str, DemoSystem]:
    """The demo's systems by name, over one index; the good one first."""
    from ragauge.models.embedders.base import WordLlamaEmbedder

    rag = ReferenceRag(ReferenceConfig(), read_documents(), WordLlamaEmbedder().embed)
    systems = json.loads((files(DATA) / SYSTEMS_FILE).read_text(encoding="utf-8"))
    return {name: DemoSystem(name, **fields, rag=rag) for name, fields in systems.items()}
